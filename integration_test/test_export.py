"""Export of any module: arguments, weights, manifest, and every kind of bad input."""

from __future__ import annotations

import errno
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from streamtensor import StreamTensorError, export, exporter
from streamtensor.importer import decompositions
from streamtensor.importer import program as capturing
from streamtensor.importer.indices import slices_of
from streamtensor.importer.program import capture

# Debian's MLIR, which is older than the one in torch-mlir and must read its text.
MLIR_OPT = shutil.which("mlir-opt-22") or "/usr/lib/llvm-22/bin/mlir-opt"


class TwoConsumers(nn.Module):
    """One product feeds two others; sizes are prime, so that nothing divides."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(17, 13)
        self.left = nn.Linear(13, 7, bias=False)
        self.right = nn.Linear(13, 7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        return self.left(y) * torch.sigmoid(self.right(y))


class Buffers(nn.Module):
    """A stored buffer, one that is not in the state_dict, an unused weight, a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.rand(5))
        self.register_buffer("table", torch.rand(5), persistent=False)
        self.unused = nn.Parameter(torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale + self.table * torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]) + 0.5


class Lambda(nn.Module):
    """A module made of one function."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def signature(directory: Path) -> tuple[list[str], list[str]]:
    """Returns the tensor types of the one public function's arguments and results."""
    text = (directory / "module.mlir").read_text()
    functions = re.findall(r"func\.func @main\((.*)\) -> (.*) \{", text)
    assert len(functions) == 1
    types = [re.findall(r"tensor<([^>]*)>", part) for part in functions[0]]
    return types[0], types[1]


def type_text(entry: dict[str, Any]) -> str:
    element = {"F32": "f32", "I64": "i64", "I32": "i32", "BOOL": "i1", "I8": "i8"}[entry["dtype"]]
    return "x".join([*map(str, entry["shape"]), element])


def check_export(directory: Path) -> dict[str, Any]:
    """Checks that text, manifest and weights of an export agree; returns the manifest."""
    manifest = json.loads((directory / "manifest.json").read_text())
    arguments, results = signature(directory)
    assert manifest["schema"] == 1
    assert [type_text(entry) for entry in manifest["arguments"]] == arguments
    assert [type_text(entry) for entry in manifest["results"]] == results
    names = [entry["name"] for entry in manifest["arguments"]]
    assert names == [f"arg{i}" for i in range(len(names))]
    roles = [entry["role"] for entry in manifest["arguments"]]
    assert roles == sorted(roles, key=["weight", "input"].index), "weights come first"
    weights = [entry["name"] for entry in manifest["arguments"] if entry["role"] == "weight"]
    if weights:
        assert list(load_file(directory / manifest["weights"])) == sorted(weights)
    else:
        assert manifest["weights"] is None
    if Path(MLIR_OPT).is_file():
        subprocess.run([MLIR_OPT, directory / "module.mlir"], check=True, stdout=subprocess.DEVNULL)
    return manifest


def sources(manifest: dict[str, Any]) -> list[str]:
    return [entry["source"] for entry in manifest["arguments"]]


def test_two_consumers(tmp_path: Path) -> None:
    module = TwoConsumers()
    directory = export(module, (torch.randn(5, 17),), tmp_path / "out")
    manifest = check_export(directory)
    state = module.state_dict()
    assert sources(manifest) == [*state, "x"]
    weights = load_file(directory / "weights.safetensors")
    for index, value in enumerate(state.values()):
        assert torch.equal(weights[f"arg{index}"], value)
    text = (directory / "module.mlir").read_text()
    line = TwoConsumers.forward.__code__.co_firstlineno + 1
    assert re.search(rf'loc\("[^"]*test_export\.py":{line}:', text), "lines of the model are kept"
    assert 'loc("first"' in text, "paths of modules are kept"


def test_buffers_and_constants_become_weights(tmp_path: Path) -> None:
    module = Buffers()
    directory = export(module, torch.randn(2, 5), tmp_path / "out")
    manifest = check_export(directory)
    names = sources(manifest)
    assert names[:2] == ["scale", "table"] and names[3] == "x"
    assert "test_export.py" in names[2], "a constant is named by its line"
    weights = load_file(directory / "weights.safetensors")
    assert torch.equal(weights["arg1"], module.table)
    assert torch.equal(weights["arg2"], torch.arange(1.0, 6.0))


def test_integer_inputs(tmp_path: Path) -> None:
    module = Lambda(lambda x, mask, k: torch.where(mask, x * k, x - k))
    inputs = (
        torch.arange(6, dtype=torch.int32).reshape(2, 3),
        torch.tensor([True, False, True]),
        torch.tensor(3, dtype=torch.int32),
    )
    manifest = check_export(export(module, inputs, tmp_path / "out"))
    assert [entry["dtype"] for entry in manifest["arguments"]] == ["I32", "BOOL", "I32"]
    assert manifest["arguments"][2]["shape"] == []


def test_same_tensor_twice_stays_two_arguments(tmp_path: Path) -> None:
    x = torch.randn(3, 4)
    module = Lambda(lambda a, b: a - 2 * b)
    manifest = check_export(export(module, (x, x), tmp_path / "out"))
    assert len(manifest["arguments"]) == 2
    program = capture(module, (x, x), function="main")
    a, b = torch.randn(3, 4), torch.randn(3, 4)
    assert torch.allclose(program.run([a, b])[0], a - 2 * b)


def test_none_and_numbers_become_constants(tmp_path: Path) -> None:
    module = Lambda(lambda x, y=None, k=1: x * k if y is None else x + y)
    manifest = check_export(export(module, (torch.randn(3), None, 5), tmp_path / "out"))
    assert len(manifest["arguments"]) == 1


def test_keyword_inputs_and_passed_through_result(tmp_path: Path) -> None:
    class Scale(nn.Module):
        def forward(self, x: torch.Tensor, factor: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"scaled": x * factor, "same": x}

    manifest = check_export(
        export(Scale(), {"x": torch.randn(3), "factor": torch.randn(3)}, tmp_path / "out")
    )
    assert sources(manifest) == ["x", "factor"]
    assert len(manifest["results"]) == 2


def test_gelu_is_exact(tmp_path: Path) -> None:
    """torch-mlir's own constant for sqrt(2/pi) is 0.797724; it must not be in the text."""
    directory = export(nn.GELU(approximate="tanh"), torch.randn(7), tmp_path / "out")
    text = (directory / "module.mlir").read_text()
    assert "0.79788456" in text and "7.977240e-01" not in text


@pytest.mark.parametrize("indices", [[2], [-1], [0, 1, 2], [1, 3, 5], [4, 0, 0, -2], [5, 4, 3]])
def test_known_indices_become_slices(indices: list[int], tmp_path: Path) -> None:
    """Falcon takes keys and values out of one product by [-2] and [-1]."""
    parts = slices_of(torch.tensor(indices), 6)
    chosen = [row for begin, end, step in parts for row in range(6)[begin:end:step]]
    assert chosen == torch.arange(6)[indices].tolist()
    module = Lambda(lambda x: 2.0 * x[:, indices])
    directory = export(module, (torch.randn(2, 6, 3),), tmp_path / "out")
    manifest = check_export(directory)
    assert sources(manifest) == ["args_0"], "the list is no argument"
    text = (directory / "module.mlir").read_text()
    assert "tensor.extract " not in text and "tensor.extract_slice" in text


def test_indices_that_stay_a_gather() -> None:
    # Each its own slice, and one more than there may be.
    assert len(slices_of(torch.tensor([5] * 64), 6)) == 64
    assert slices_of(torch.tensor([5] * 65), 6) is None
    # From the end of a dimension whose size is not known.
    assert slices_of(torch.tensor([0, -1]), torch.export.Dim("n")) is None


def test_dropout_is_off_and_training_mode_kept(tmp_path: Path) -> None:
    module = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).train()
    check_export(export(module, torch.randn(2, 4), tmp_path / "out"))
    assert module.training and module[1].training


def test_same_input_same_bytes(tmp_path: Path) -> None:
    module, x = TwoConsumers(), torch.randn(5, 17)
    first, second = (export(module, x, tmp_path / name) for name in ("a", "b"))
    for name in ("module.mlir", "manifest.json", "weights.safetensors"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_dynamic_dimensions(tmp_path: Path) -> None:
    rows = torch.export.Dim("rows", min=1, max=128)
    directory = export(
        nn.Sequential(nn.Linear(4, 3), nn.ReLU()),
        torch.randn(6, 4),
        tmp_path / "out",
        dynamic_shapes=({0: rows},),
    )
    dims = json.loads((directory / "module.dims.json").read_text())
    assert dims == {"dims": {"arg2.0": "rows"}, "min": {"rows": 1}, "max": {"rows": 128}}
    assert signature(directory) == (["3x4xf32", "3xf32", "?x4xf32"], ["?x3xf32"])


def test_names_and_limits_of_derived_dimensions(tmp_path: Path) -> None:
    """n stands in no dimension alone, and a static input comes first."""
    n = torch.export.Dim("n", min=0, max=6)
    directory = export(
        Lambda(lambda w, x: x[1:] * w),
        (torch.randn(4), torch.randn(4, 4)),
        tmp_path / "out",
        dynamic_shapes=(({}, {0: n + 1}),),
    )
    dims = json.loads((directory / "module.dims.json").read_text())
    assert dims == {"dims": {"arg1.0": "n + 1"}, "min": {"n": 0}, "max": {"n": 6}}


def test_a_size_that_the_module_excludes(tmp_path: Path) -> None:
    """PyTorch cannot prove a condition for all sizes: each is tried, and one named."""
    rows = torch.export.Dim("rows", min=1, max=9)
    shapes = (({0: rows},),)
    message = refusal(Lambda(lambda x: x[1:]), torch.randn(4, 4), tmp_path, dynamic_shapes=shapes)
    assert "does not hold for" in message and "= 2; narrow the limits" in message


def refusal(module: nn.Module, inputs: Any, directory: Path, **options: Any) -> str:
    """Exports something that must be refused; returns the message."""
    with pytest.raises(StreamTensorError) as caught:
        export(module, inputs, directory / "out", **options)
    assert list(directory.iterdir()) == [], "nothing is left behind"
    return str(caught.value)


def test_all_unsupported_operators_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without our own forms of quotients and bytes: torch-mlir's end its process.
    monkeypatch.setattr(decompositions, "EXACT_FORMS", {})
    monkeypatch.setattr(capturing, "widen_bytes", lambda graph: None)

    def forward(x: torch.Tensor, i: torch.Tensor) -> Any:
        a = torch.topk(x, 3).values.sum()
        b = torch.sort(x).values
        c = torch.cumsum(x, 0)
        d = i // 16
        return a + b + c, d

    message = refusal(
        Lambda(forward), (torch.randn(6, 17), torch.ones(4, dtype=torch.uint8)), tmp_path
    )
    lines = message.splitlines()
    assert lines[0] == "4 unsupported operators"
    start = forward.__code__.co_firstlineno
    expected = [
        ("topk", "tm_tensor.sort"),
        ("sort", "tm_tensor.sort"),
        ("cumsum", "tm_tensor.scan"),
    ]
    for offset, (operator, reason) in enumerate(expected, start=1):
        line = lines[offset]
        assert f"aten.{operator}" in line and reason in line
        assert f"test_export.py:{start + offset}" in line
        assert line.count(";") == 1, "a reason, then what to do"
    assert "aten.div.Tensor_mode" in lines[4] and "crashes" in lines[4]


def test_dead_input(tmp_path: Path) -> None:
    class Unused(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + 1

    message = refusal(Unused(), (torch.randn(3), torch.randn(3)), tmp_path)
    assert "do not depend on 'y'" in message


def test_state_that_changes(tmp_path: Path) -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count += 1
            return x * self.count

    assert "changes buffer 'count'" in refusal(Counter(), torch.randn(3), tmp_path)

    def add_in_place(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 2

    assert "changes input" in refusal(Lambda(add_in_place), torch.randn(3), tmp_path)


def test_control_flow_on_data(tmp_path: Path) -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x - 1

    message = refusal(Lambda(forward), torch.randn(3), tmp_path)
    line = forward.__code__.co_firstlineno + 1
    assert "control flow" in message and f"test_export.py:{line}" in message


def test_module_that_fails(tmp_path: Path) -> None:
    message = refusal(nn.Linear(3, 4), torch.randn(5), tmp_path)
    assert "fails on its example inputs" in message and "shapes cannot be multiplied" in message


def test_random_module(tmp_path: Path) -> None:
    message = refusal(Lambda(lambda x: x + torch.rand(3)), torch.randn(3), tmp_path)
    assert "does not compute what the module does" in message


@pytest.mark.parametrize(
    ("module", "inputs", "part"),
    [
        (nn.Linear(3, 4).double(), torch.randn(2, 3).double(), "float64"),
        (Lambda(lambda x: 3), torch.randn(3), "returns no tensor"),
        ("no module", torch.randn(3), "expected a torch.nn.Module but got str"),
        (nn.Identity(), 5, "expected the example inputs as a tuple"),
    ],
)
def test_refusals(module: Any, inputs: Any, part: str, tmp_path: Path) -> None:
    assert part in refusal(module, inputs, tmp_path)


def test_dynamic_dimension_without_a_hint(tmp_path: Path) -> None:
    message = refusal(
        nn.Linear(4, 3),
        torch.randn(6, 4),
        tmp_path,
        dynamic_shapes={"input": {0: torch.export.Dim("rows", min=1)}},
    )
    assert "dynamic dimension without a hint" in message and "(rows)" in message


def test_an_earlier_export_is_replaced_other_files_are_not(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(nn.Linear(3, 4), torch.randn(2, 3), out)
    export(nn.Linear(3, 5), torch.randn(2, 3), out)
    assert signature(out)[1] == ["2x5xf32"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(StreamTensorError, match="is not empty"):
        export(nn.Linear(3, 4), torch.randn(2, 3), other)
    assert [path.name for path in other.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_nothing_half_written(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_some(directory: Path, *_: Any) -> None:
        (directory / "module.mlir").write_text("half")
        raise error

    monkeypatch.setattr(exporter.manifest, "write_export", write_some)
    with pytest.raises((StreamTensorError, KeyboardInterrupt)) as caught:
        export(nn.Linear(3, 4), torch.randn(2, 3), tmp_path / "out")
    if isinstance(error, OSError):
        assert "no space left" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
