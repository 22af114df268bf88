"""`streamtensor compare`: each operator of a design against PyTorch, by what FIFOs carry.

A fault is planted, and the operator that is blamed must be the one where it is: in a module by
compiling a changed module and comparing it with the original one, so that the line of the fault
is known from the source; in a language model by changing the emitted kernel. Without a fault,
nothing may be blamed. Skipped where the C++ tools are not built.
"""

from __future__ import annotations

import hashlib
import json
import linecache
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from conftest import ROOT
from random_programs.check import Module, inputs_of
from random_programs.generate import generate

from streamtensor import StreamTensorError
from streamtensor.models.compiler import CompileOptions
from streamtensor.models.quantize import load_in_precision
from streamtensor.models.sources import resolve
from streamtensor.module_compiler import capture_module, compile_program
from streamtensor.precision import Precision
from streamtensor.runtime.cache import compiled_model
from streamtensor.runtime.model_operators import ModelOperators
from streamtensor.runtime.operators import OperatorComparison, arrange, compare_operators, record

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
pytestmark = [
    pytest.mark.skipif(not (BIN / "streamtensor-run").is_file(), reason="the tools are not built"),
    pytest.mark.usefixtures("model_cache", "quick_builds"),
]
TOKENS = [3, 14, 15, 92, 65, 35, 89, 79, 32, 38]
TINY = "smollm2-135m-tiny"


@pytest.fixture
def quick_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMTENSOR_CXXFLAGS", "-O1")


class Block(torch.nn.Module):
    """One operator of each kind, with numbers that a fault changes."""

    def __init__(self, **fault: float) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = torch.nn.Parameter(torch.randn(24, 16, generator=generator))
        self.kernel = torch.nn.Parameter(torch.randn(4, 2, 3, generator=generator))
        numbers = {"eps": 1e-5, "bias": 0.5, "slope": 0.1, "scale": 2.0, "fill": -1.0, "shift": 1.0}
        for name, value in (numbers | fault).items():
            setattr(self, name, value)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        norm = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)
        wide = torch.nn.functional.linear(norm + self.bias, self.weight)
        active = torch.nn.functional.leaky_relu(wide, self.slope)
        scores = (active @ active.transpose(0, 1)) / self.scale
        masked = scores.masked_fill(torch.ones(6, 6).triu(1) > 0, self.fill)
        weights = torch.softmax(masked, -1)
        codes = (weights * 127 + self.shift).round().to(torch.int8)
        rows = (active @ self.weight).reshape(6, 2, 8)
        return codes, torch.conv1d(rows, self.kernel, padding=1)


def example() -> torch.Tensor:
    return torch.randn(6, 16, generator=torch.Generator().manual_seed(1))


def compare_module(
    module: torch.nn.Module, design_of: torch.nn.Module, directory: Path
) -> OperatorComparison:
    """Runs the design of one module and compares it with another one."""
    program, inputs = capture_module(design_of, (example(),))
    compile_program(program, directory, "u55c")
    right, _ = capture_module(module, (example(),))
    recording = record(directory, {right.inputs[0].name: inputs[0]})
    return compare_operators(directory, right, list(inputs), recording.values)


def test_nothing_is_blamed_without_a_fault(tmp_path: Path) -> None:
    comparison = compare_module(Block(), Block(), tmp_path / "design")
    assert not comparison.wrong
    assert comparison.compared >= 6


@pytest.mark.parametrize(
    ("fault", "changed"),
    [
        ({"eps": 1e-1}, "self.eps"),
        ({"bias": 0.51}, "self.bias"),
        ({"slope": 0.11}, "self.slope"),
        ({"scale": 2.01}, "self.scale"),
        ({"fill": -1.01}, "self.fill"),
        ({"shift": 3.0}, "self.shift"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_operator_with_the_fault_is_blamed(
    fault: dict[str, float], changed: str, tmp_path: Path
) -> None:
    comparison = compare_module(Block(), Block(**fault), tmp_path / "design")
    # Only there: what follows gets the design's value, right or wrong.
    assert len({error.node for error in comparison.wrong}) == 1
    error = comparison.wrong[0]
    lines = {error.line, *(other.split(" at ")[1] for other in error.others)}
    assert any(changed in source_of(line) for line in lines), str(error)
    # Where operators are one task, they are judged together.
    assert len(lines) <= 3


def source_of(line: str) -> str:
    """The source text of "file.py:12 (module.path)"."""
    file, number = line.split(" ")[0].rsplit(":", 1)
    found = [Path(file), ROOT / file, Path(transformers.__file__).parents[1] / file]
    path = next(path for path in found if path.is_file())
    return linecache.getline(str(path), int(number))


def test_random_programs(tmp_path: Path) -> None:
    compared, wrong = 0, []
    for seed in range(20):
        described = generate(seed)
        data = described.data()
        inputs = inputs_of(described, data)
        try:
            program, _ = capture_module(Module(described, data), inputs, described.dynamic_shapes())
            compile_program(program, tmp_path / str(seed), "u55c")
        except StreamTensorError:
            continue  # test_random_programs.py judges refusals
        chosen = [inputs[argument.input_index] for argument in program.inputs]
        names = (argument.name for argument in program.inputs)
        recording = record(tmp_path / str(seed), dict(zip(names, chosen, strict=True)))
        comparison = compare_operators(tmp_path / str(seed), program, chosen, recording.values)
        compared += comparison.compared
        wrong += [f"seed {seed}: {error}" for error in comparison.wrong]
    assert not wrong, "\n".join(wrong)
    assert compared >= 40


@pytest.mark.parametrize(
    "precision",
    [
        Precision(),
        Precision("bf16"),
        Precision("f16", cache="f16"),
        Precision("w8a8", activations="token", weights="channel"),
        Precision("w4a8", cache="f16"),
    ],
    ids=str,
)
def test_language_model(precision: Precision) -> None:
    source = resolve(TINY, 1)
    directory = compiled_model(source, CompileOptions(max_length=16, chunk=4, precision=precision))
    model, _ = load_in_precision(source, precision)
    # A first chunk, one behind a past, one token behind a past, the first token.
    operators = ModelOperators(directory, model, precision)
    for count, position in ((4, 0), (8, 4), (9, 8), (1, 0)):
        steps = dict(operators.compare(TOKENS[:count], position))
        assert list(steps) == ["layer 0", "layer 1", "head"]
        for name, comparison in steps.items():
            assert not comparison.wrong, f"{name} at {position}: {comparison.wrong[0]}"
            # Norm, head and, of layers, seven products, rotation, attention, two sums.
            assert comparison.compared >= (2 if name == "head" else 20), name


def test_fault_in_the_kernel_of_a_model(tmp_path: Path) -> None:
    """The command, and `generate --check`, name the operator; each layer is judged alone."""
    source = resolve(TINY, 1)
    directory = tmp_path / "model"
    shutil.copytree(compiled_model(source, CompileOptions(max_length=16, chunk=4)), directory)
    kernel = directory / "layer" / "hls" / "kernel.cpp"
    text = kernel.read_text()
    # The second norm of a layer: its epsilon.
    first, second, rest = text.partition("static void rsqrt_1(")
    assert second and "+ 1e-05f" in rest
    changed = first + second + rest.replace("+ 1e-05f", "+ 1e-01f", 1)
    kernel.write_text(changed)
    interface = directory / "layer" / "interface.json"
    hashes = [hashlib.sha256(each.encode()).hexdigest() for each in (text, changed)]
    interface.write_text(interface.read_text().replace(*hashes))
    prompt = ",".join(map(str, TOKENS[:6]))
    report = tmp_path / "compare.json"
    done = run("compare", directory, "--prompt-ids", prompt, "--json", report)
    assert done.returncode == 1, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("the first operator that leaves its tolerance: layer 0, 2 tokens at ")
    line = last.split(" at ")[2].split(": fifo")[0]
    assert "rsqrt" in source_of(line)
    result = json.loads(report.read_text())
    # The last chunk of the prompt, and its last token alone: two layers and a head each.
    assert [design["different"] > 0 for design in result["designs"]] == [True, True, False] * 2
    blamed = {
        value["node"]
        for design in result["designs"]
        for value in design["values"]
        if not value["right"]
    }
    assert len(blamed) == 1
    done = run("generate", directory, "--prompt-ids", prompt, "--max-new-tokens", "2", "--check")
    assert done.returncode == 1, done.stderr
    named = [line for line in done.stdout.splitlines() if "the first operator" in line]
    assert len(named) == 1
    assert f"'{blamed.pop()}'" in named[0]


def run(*arguments: Any) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "streamtensor", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


FACTORY = """
import torch

def moves():
    return torch.nn.Flatten(), (torch.randn(2, 3, 4),)

def linear():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 6), torch.nn.GELU()), (torch.randn(5, 8),)
"""


def test_command_on_modules(tmp_path: Path) -> None:
    file = tmp_path / "factory.py"
    file.write_text(FACTORY)
    for precision in ("f32", "w4a8"):
        done = run("compare", f"{file}:linear", "--precision", precision)
        assert done.returncode == 0, done.stderr
        assert "0 different" in done.stdout
    done = run("compare", f"{file}:moves")
    assert done.returncode == 1
    assert "nothing could be compared: the design has no operators" in done.stderr
    done = run("compare", f"{file}:linear", "--prompt-ids", "1,2")
    assert done.returncode == 2
    assert "leave --prompt and --prompt-ids out" in done.stderr
    done = run("compare", TINY, "--random-weights", "1")
    assert done.returncode == 2
    assert "expected --prompt or --prompt-ids" in done.stderr
    done = run("compare", TINY, "--random-weights", "1", "--prompt-ids", "1", "--json", "no/dir/x")
    assert done.returncode == 1
    assert "no/dir" in done.stderr


def test_transposed_and_split_dimensions_are_found() -> None:
    value = torch.randn(2, 6, 5)
    # Heads split in two, and rows outermost.
    carried = value.reshape(2, 3, 2, 5).permute(3, 0, 1, 2)
    assert torch.equal(arrange(carried, value, 0.0), value)
    # A value that is wrong stays wrong.
    other = carried.clone()
    other[1, 1, 1, 1] += 1
    assert (arrange(other, value, 0.5) != value).sum() == 1
    # Nothing is there to compare, and one number.
    assert arrange(torch.empty(2, 0, 3), torch.empty(0, 6), 0.0).shape == (0, 6)
    assert arrange(torch.ones(1, 1), torch.tensor(1.0), 0.0) == 1
