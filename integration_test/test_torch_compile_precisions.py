"""`streamtensor.compile(module, ..., precision=...)`: a converted copy of a module, on the device.

Results are compared with PyTorch's eager mode of that copy, and of integers with products in
float64 of what numpy and gguf round. Each must also differ from f32.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT
from design_runs import BIN, TOOLS_ARE_BUILT
from test_precisions import expected_product
from torch import nn
from torch.nn.functional import pad

import streamtensor
from streamtensor.backend.listing import DEVICE, HOST
from streamtensor.models.quantized_linear import GroupedLinear
from streamtensor.models.sources import load_model, resolve
from streamtensor.module_precision import in_precision, quantize_linears
from streamtensor.precision import Precision

needs_tools = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")
pytestmark = pytest.mark.usefixtures("model_cache")
KINDS = {"w8a8": "q8_0", "w4a8": "q4_1"}
CHANNELS = {"w8a8": "channel8", "w4a8": "channel4"}
INTEGERS = [
    ("w8a8", {}),
    ("w4a8", {}),
    ("w8a8", {"activations": "token"}),
    ("w4a8", {"activations": "token", "weights": "channel"}),
]


@pytest.fixture(autouse=True)
def inference(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    monkeypatch.setenv("STREAMTENSOR_CXXFLAGS", "-O1")
    with torch.no_grad():
        yield


class Chain(nn.Module):
    """Sizes that are no multiples of 32 columns or 64 rows, and a layer that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(48, 70)
        self.norm = nn.LayerNorm(70)
        self.twice = nn.ModuleList([nn.Linear(70, 70)] * 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.first(x)).relu()
        for layer in self.twice:
            x = layer(x)
        return x


class Rounded(nn.Module):
    """A linear layer in float64, of rounded weights and activations."""

    def __init__(self, linear: nn.Linear, kind: str, per_token: bool) -> None:
        super().__init__()
        self.linear, self.kind, self.per_token = linear, kind, per_token

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        missing = -x.shape[-1] % 32
        weight, rows = pad(self.linear.weight, (0, missing)), pad(x, (0, missing)).flatten(0, -2)
        product = torch.from_numpy(expected_product(weight, self.kind, rows, self.per_token))
        return (product.unflatten(0, x.shape[:-1]) + self.linear.bias).float()


def rounded(module: Chain, name: str, options: dict[str, str]) -> Chain:
    kind = (CHANNELS if options.get("weights") == "channel" else KINDS)[name]
    per_token = options.get("activations") == "token"
    result = copy.deepcopy(module)
    result.first = Rounded(result.first, kind, per_token)
    result.twice = nn.ModuleList([Rounded(layer, kind, per_token) for layer in result.twice])
    return result


def error(got: torch.Tensor, want: torch.Tensor) -> float:
    assert got.shape == want.shape
    return float((got.float() - want.float()).abs().max() / want.float().abs().max())


@needs_tools
@pytest.mark.parametrize(("name", "options"), INTEGERS)
def test_integers(name: str, options: dict[str, str], tmp_path: Path) -> None:
    module, x = Chain().train(), torch.randn(2, 3, 48)
    state = copy.deepcopy(module.state_dict())
    compiled = streamtensor.compile(module, (x,), precision=name, **options)
    result = compiled(x)
    assert error(result, compiled.module(x)) <= 1e-5
    assert error(result, rounded(module, name, options)(x)) <= 1e-5
    # Half a code of 127 for w8a8, of 15 for w4a8, is far above that.
    assert error(result, module(x)) > 2e-3
    # Weights are filled up to groups of 32 columns, and from 64 rows on to multiples of 64.
    assert compiled.explain().macs_on_device == 6 * 128 * (64 + 96 + 96)
    assert compiled.explain().share_on_device == 1.0
    # Codes reach the device as they are, and are unpacked there.
    assert not compiled.explain().parts(HOST)
    # The original is as it was; the copy has one layer in the two places.
    assert module.training and all(map(torch.equal, state.values(), module.state_dict().values()))
    assert compiled.module.twice[0] is compiled.module.twice[1]
    design = streamtensor.compile(
        module, (x,), precision=name, output_dir=tmp_path / "design", **options
    )
    (again,) = streamtensor.run(design, x)
    assert error(again, compiled.module(x)) <= 1e-5


@needs_tools
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_halves(name: str, tmp_path: Path) -> None:
    """Floats that come in 32 bits are converted; results are in 16."""
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[name]
    module, x = Chain(), torch.randn(2, 3, 48)
    compiled = streamtensor.compile(module, (x,), precision=name)
    want = copy.deepcopy(module).to(dtype)(x.to(dtype))
    result = compiled(x)
    # Rounded in other places than PyTorch rounds: a few units in the last place.
    allowed = 2.5 * torch.finfo(dtype).eps
    assert result.dtype == dtype and error(result, want) <= allowed
    assert 0 < error(result, module(x)) < 0.05
    assert module(x).dtype == torch.float32
    assert compiled.explain().share_on_device == 1.0
    design = streamtensor.compile(module, (x,), precision=name, output_dir=tmp_path / "design")
    (again,) = streamtensor.run(design, x.to(dtype))
    assert again.dtype == dtype and error(again, want) <= allowed


@needs_tools
def test_a_design_of_run_time_sizes(tmp_path: Path) -> None:
    module = nn.Sequential(nn.Linear(32, 40), nn.ReLU())
    tokens = torch.export.Dim("tokens", min=1, max=6)
    design = streamtensor.compile(
        module, (torch.randn(4, 32),), precision="w4a8", output_dir=tmp_path / "design",
        dynamic_shapes=({0: tokens},),
    )  # fmt: skip
    copied, _ = quantize_linears(copy.deepcopy(module), Precision("w4a8"))
    for count in (1, 6):
        x = torch.randn(count, 32)
        (result,) = streamtensor.run(design, x)
        assert error(result, copied(x)) <= 1e-5
        assert error(result, module(x)) > 2e-3


@needs_tools
@pytest.mark.parametrize("model", ["gpt2-medium-tiny", "qwen2.5-0.5b-tiny"])
def test_language_model(model: str) -> None:
    """Conv1D and Linear; 4-bit products inside of blocks, and a head of 8 bits."""
    module = load_model(resolve(model, 0))
    ids = torch.randint(200, (1, 5))
    inputs = {"input_ids": ids, "use_cache": False}
    compiled = streamtensor.compile(module, inputs, precision="w4a8")
    result = compiled(**inputs).logits
    assert error(result, compiled.module(**inputs).logits) <= 1e-4
    assert error(result, module(**inputs).logits) > 1e-2
    listing = compiled.explain()
    assert listing.share_on_device == 1.0
    assert [part.state for part in listing.parts(DEVICE)][1] == "reused"
    bits = [part.bits for part in compiled.module.modules() if isinstance(part, GroupedLinear)]
    assert bits[-1] == 8 and set(bits[:-1]) == {4}


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.linear.weight


def with_hook() -> nn.Module:
    linear = nn.Linear(4, 4)
    linear.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    return linear


class Mixed(nn.Module):
    """Products of which one alone can be quantized."""

    def __init__(self) -> None:
        super().__init__()
        self.image = nn.Conv1d(4, 4, 1)
        self.attention = nn.MultiheadAttention(4, 1, batch_first=True)
        self.hooked = with_hook()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.image(x.mT).mT
        return self.linear(self.hooked(self.attention(x, x, x, need_weights=False)[0]))


def test_what_stays_float_is_listed(capfd: pytest.CaptureFixture) -> None:
    module, x = Mixed().eval(), torch.randn(1, 3, 4)
    converted, _ = in_precision(module, (x,), Precision("w8a8"))
    listed = [line for line in capfd.readouterr().err.splitlines() if "stays float" in line]
    assert [line.split(": ")[2] for line in listed] == [
        "image", "attention", "attention.out_proj", "hooked",
    ]  # fmt: skip
    assert type(converted.linear) is GroupedLinear
    want = module.linear.weight.detach()
    assert error(converted.linear(torch.eye(4)), want.T + module.linear.bias) < 0.02
    # All that is not quantized computes what it did.
    assert error(converted(x), module(x)) < 0.02


@pytest.mark.parametrize("shape", [(4,), (0, 4), (2, 1, 3, 4)])
def test_shapes_of_inputs(shape: tuple[int, ...]) -> None:
    linear = nn.Linear(4, 3)
    converted, _ = quantize_linears(copy.deepcopy(linear), Precision("w8a8"))
    x = torch.randn(shape)
    assert converted(x).shape == linear(x).shape
    assert torch.allclose(converted(x), linear(x), atol=0.05)


class NotCopied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        with torch.enable_grad():
            self.made = nn.Parameter(torch.ones(4)) * 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.made


def infinite() -> nn.Module:
    linear = nn.Linear(4, 4)
    linear.weight[1, 2] = float("inf")
    return nn.Sequential(linear)


@pytest.mark.parametrize(
    ("make", "precision", "message"),
    [
        (
            nn.ReLU,
            {"precision": "w8a8"},
            "with linear layers .* there is none to quantize; choose f32, f16 or bf16",
        ),
        (
            lambda: nn.Conv1d(4, 4, 1),
            {"precision": "w4a8"},
            "there is none to quantize .the module: a Conv1d is no plain linear layer.;",
        ),
        (with_hook, {"precision": "w8a8"}, "the module: it has hooks"),
        (Reader, {"precision": "w8a8"}, r"in w8a8 fails .* at .*: .*'weight'; its linear layers"),
        (lambda: nn.Linear(3, 3), {"precision": "f16"}, r"in f16 fails .* make module.to.torch.fl"),
        (NotCopied, {"precision": "f16"}, "cannot be copied, so it cannot be converted"),
        (infinite, {"precision": "w8a8"}, r"the weight '0.weight' holds inf at \[1, 2\]"),
        (lambda: torch.relu, {"precision": "f16"}, "expected a torch.nn.Module"),
        (nn.ReLU, {"precision": "f8"}, "expected a precision of f32, .* but got 'f8'"),
        (nn.ReLU, {"precision": "w8a8", "activations": "row"}, "expected activations per group"),
        (nn.ReLU, {"precision": "f16", "weights": "channel"}, "only have a meaning with w8a8"),
        (nn.ReLU, {"cache": "f16"}, "a cache in f16 can only be asked for with a language model"),
    ],
)
def test_refusals(make: Callable, precision: dict[str, str], message: str, tmp_path: Path) -> None:
    for where in ({}, {"output_dir": tmp_path / "design"}):
        with pytest.raises(streamtensor.StreamTensorError, match=message):
            streamtensor.compile(make(), (torch.ones(2, 4),), **precision, **where)
    assert not (tmp_path / "design").exists()


@needs_tools
def test_command(streamtensor: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import torch\n"
        "def make():\n    torch.manual_seed(0)\n"
        "    return torch.nn.Linear(32, 8), (torch.ones(2, 32),)\n"
    )
    real = {"STREAMTENSOR_BIN_DIR": str(BIN), "PYTHONPATH": str(ROOT / "python")}
    arguments = ("compile", "model.py:make", "--output-dir", "d", "--precision", "w8a8")
    done = streamtensor(*arguments, "--activations", "token", **real)
    assert done.returncode == 0, done.stderr
    assert "products: 1 weights quantized to q8_0" in done.stderr
    assert "i8" in (tmp_path / "d" / "export" / "module.mlir").read_text()
    done = streamtensor(*arguments, "--cache", "f16", **real)
    assert done.returncode == 2 and "leave --cache out" in done.stderr
