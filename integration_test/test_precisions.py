"""Quantized and 16-bit arithmetic: the layers alone against numpy, models against PyTorch.

Expected values of layers are computed in float64 from what gguf itself dequantizes, and from
activations that numpy quantizes. Models are compared with PyTorch in the same arithmetic.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from design_runs import TOOLS_ARE_BUILT
from gguf import GGMLQuantizationType, quants
from torch import nn

import streamtensor
from streamtensor import StreamTensorError
from streamtensor.models.quantize import quantize_model
from streamtensor.models.quantized_linear import GroupedLinear
from streamtensor.models.quantized_weights import GroupedWeight, quantize
from streamtensor.models.sources import load_model, resolve
from streamtensor.precision import Precision
from streamtensor.runtime.check import layerwise_reference
from streamtensor.runtime.generation import Generation

BLOCKS = ["q4_0", "q4_1", "q8_0"]
CHANNELS = {"channel4": 7, "channel8": 127}
KINDS = [*BLOCKS, *CHANNELS]
pytestmark = pytest.mark.usefixtures("model_cache")
needs_tools = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")


def rounded_weight(weight: numpy.ndarray, kind: str) -> numpy.ndarray:
    """What quantized weights stand for: gguf's own, or a row rounded by its largest value."""
    if kind in CHANNELS:
        scale = numpy.abs(weight).max(1, keepdims=True) / numpy.float32(CHANNELS[kind])
        return numpy.rint(weight / scale) * scale
    blocks = quants.quantize(weight, GGMLQuantizationType[kind.upper()])
    return quants.dequantize(blocks, GGMLQuantizationType[kind.upper()])


def expected_product(
    weight: torch.Tensor, kind: str, x: torch.Tensor, per_token: bool
) -> numpy.ndarray:
    """x W^T in float64, of gguf's weights and activations rounded by numpy."""
    dense = rounded_weight(weight.numpy(), kind).astype(numpy.float64)
    groups = x.numpy().reshape(x.shape[0], -1, 32)
    largest = numpy.abs(groups).max(-1, keepdims=True)
    if per_token:
        largest = largest.max(1, keepdims=True)
    scale = (largest / numpy.float32(127)).astype(numpy.float32)
    codes = numpy.zeros_like(groups)
    numpy.divide(groups, scale, out=codes, where=scale != 0)
    rounded = numpy.rint(codes).astype(numpy.float64) * scale
    return rounded.reshape(x.shape) @ dense.T


@pytest.mark.parametrize("per_token", [False, True], ids=["group", "token"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(1, 32, 1), (7, 96, 5), (3, 64, 70), (2, 1024, 128)], ids=str)
def test_linear(kind: str, per_token: bool, shape: tuple[int, int, int]) -> None:
    """A group of zeros, rows that are filled up, one row and one group."""
    tokens, columns, rows = shape
    generator = torch.Generator().manual_seed(rows)
    weight = torch.randn(rows, columns, generator=generator)
    x = torch.randn(tokens, columns, generator=generator)
    x[0, :32] = 0.0
    layer = GroupedLinear(quantize(weight, kind), columns, per_token=per_token)
    want = expected_product(weight, kind, x, per_token)
    assert layer(x).shape == want.shape
    numpy.testing.assert_allclose(layer(x).numpy(), want, rtol=1e-5, atol=1e-5 * columns**0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_exported_program_multiplies_integers(kind: str) -> None:
    """And gives the same bits: products are exact, the rest is the same operations."""
    generator = torch.Generator().manual_seed(0)
    weight, bias = (torch.randn(*shape, generator=generator) for shape in ((70, 64), (70,)))
    layer = GroupedLinear(quantize(weight, kind), 64, bias)
    x = torch.randn(1, 5, 64, generator=generator)
    program = torch.export.export(layer, (x,))
    assert torch.equal(program.module()(x), layer(x))
    assert "bmm" not in program.graph_module.code and "int32" in program.graph_module.code


def test_columns_are_filled_with_zeros() -> None:
    """176 columns are five and a half groups."""
    generator = torch.Generator().manual_seed(0)
    linear = nn.Linear(176, 64)
    weight = torch.nn.functional.pad(linear.weight.detach(), (0, 16))
    layer = GroupedLinear(quantize(weight, "q8_0"), 176, linear.bias)
    x = torch.randn(3, 176, generator=generator)
    want = expected_product(weight, "q8_0", torch.nn.functional.pad(x, (0, 16)), False)
    bias = linear.bias.detach().numpy()
    numpy.testing.assert_allclose(layer(x).numpy(), want + bias, rtol=1e-5, atol=1e-5)


class Nibbles(nn.Module):
    """All 256 bytes as weights: row r, byte j of its one group is 16 * r + j."""

    def __init__(self) -> None:
        super().__init__()
        codes = torch.arange(256).to(torch.uint8).view(torch.int8).reshape(16, 1, 16)
        ones = torch.ones((16, 1), dtype=torch.float16)
        self.linear = GroupedLinear(GroupedWeight(4, codes, ones, -8 * ones), 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


@needs_tools
def test_all_pairs_of_nibbles_on_the_accelerator(tmp_path: Path) -> None:
    """Two nibbles a byte in memory; each is found by a token that is 127 in one place.

    By GGUF's layout, element j of a group is the low half of byte j, element j + 16 the high one.
    """
    design = streamtensor.compile(Nibbles(), (torch.eye(32) * 127,), output_dir=tmp_path / "d")
    files = [path for path in (design / "weights").iterdir() if path.stat().st_size == 256]
    assert [sorted(path.read_bytes()) for path in files] == [list(range(256))]
    (result,) = streamtensor.run(design, torch.eye(32) * 127)
    for byte in range(256):
        row, place = divmod(byte, 16)
        assert result[place, row] == 127 * ((byte & 15) - 8), byte
        assert result[place + 16, row] == 127 * ((byte >> 4) - 8), byte


@needs_tools
@pytest.mark.parametrize("kind", KINDS)
def test_chain_on_the_accelerator(kind: str, tmp_path: Path) -> None:
    """Two products, so that both loop orders are run, with a filled row count between them."""

    def layer(rows: int, columns: int, per_token: bool) -> GroupedLinear:
        weight = torch.randn(rows, columns, generator=torch.Generator().manual_seed(rows))
        return GroupedLinear(quantize(weight, kind), columns, torch.ones(rows), per_token)

    module = nn.Sequential(layer(160, 64, False), nn.ReLU(), layer(70, 160, True))
    x = torch.randn(3, 64, generator=torch.Generator().manual_seed(1))
    design = streamtensor.compile(module, (x,), output_dir=tmp_path / "design")
    (result,) = streamtensor.run(design, x)
    want = module(x)
    # A code that falls on the other side of a half is far above this.
    assert (result - want).abs().max() <= 1e-5 * want.abs().max()


def command(*arguments: Any) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "streamtensor", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )


@needs_tools
@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("gpt2-medium-tiny", ["w4a8"]),
        ("gemma3-1b-tiny", ["w4a8"]),
        ("qwen2.5-0.5b-tiny", ["w4a8", "--activations", "token"]),
        ("tinyllama-1.1b-tiny", ["w8a8", "--weights", "channel"]),
        ("gpt2-medium-tiny", ["f16"]),
        ("qwen2.5-0.5b-tiny", ["f32", "--cache", "f16"]),
        ("smollm2-135m-tiny", ["bf16"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value[::2]),
)
def test_model(model: str, options: list[str], tmp_path: Path) -> None:
    """A padded chunk, a full one and single tokens, each equal to PyTorch's."""
    prompt = ",".join(str(7 * index % 256) for index in range(21))
    done = command(
        "generate", model, "--precision", *options, "--prompt-ids", prompt, "--max-new-tokens", 8,
        "--check", "--max-length", 48, "--json", tmp_path / "result.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    check = json.loads((tmp_path / "result.json").read_text())["check"]
    if options[0].endswith("a8"):
        assert "tokens equal: 8/8" in done.stdout.splitlines()[-1]
        assert check["max_layer_error"] <= 5e-2
        assert check["max_abs_logit_error"] <= 1e-3 * check["max_abs_logit"]
    elif "--cache" in options:
        # A key that is rounded to the other side: 2^-11 of one of a row's numbers.
        assert 0 < check["max_layer_error"] <= 2e-4
        assert check["max_abs_logit_error"] <= 1e-5 * check["max_abs_logit"]
    else:
        # Two layers of 16-bit floats, rounded in other places than PyTorch rounds them.
        eps = torch.finfo({"f16": torch.float16, "bf16": torch.bfloat16}[options[0]]).eps
        assert check["max_abs_logit_error"] <= 8 * eps * check["max_abs_logit"]


def quantized(name: str) -> nn.Module:
    model = load_model(resolve(name, None))
    quantize_model(model, {}, Precision("w4a8"))
    return model


class Skipped(nn.Module):
    """Leaves its input as it is, and remembers the module that it stands for."""

    def forward(self, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return x


def test_a_missing_part_leaves_the_tolerance() -> None:
    """What the comparison by layers allows is far below what any missing part moves."""
    name, prompt = "tinyllama-1.1b-tiny", [7 * index % 256 for index in range(12)]
    model = quantized(name)
    ids, states = torch.tensor([prompt]), []
    layers = model.model.layers
    for layer in layers:
        layer.register_forward_hook(lambda _, args, result: states.append(result))
    with torch.no_grad():
        logits = model(input_ids=ids, use_cache=False).logits[0]
    generation = Generation(ids=[int(logits[-1].argmax())])
    generation.taps = torch.cat(states)
    assert layerwise_reference(model, prompt, generation)[1].largest == 0.0
    for part in ("self_attn.o_proj", "mlp.down_proj", "mlp.gate_proj", "self_attn.v_proj"):
        broken = quantized(name)
        broken.model.layers[1].get_submodule(part).scale.zero_()
        errors = layerwise_reference(broken, prompt, generation)[1]
        assert errors.errors[0].max() == 0.0 and errors.largest > 0.3, part
        assert errors.first_above(5e-2)[1].startswith("layer 1 at position 0"), part


def test_stored_groups_are_taken_and_others_quantized() -> None:
    """Blocks that differ in form are quantized anew, all of them: one design serves them."""
    model = load_model(resolve("gemma3-1b-tiny", None))
    stored = {
        f"model.layers.{index}.mlp.up_proj.weight": quantize(layer.mlp.up_proj.weight, "q4_0")
        for index, layer in enumerate(model.model.layers)
    }
    stored["model.layers.0.mlp.down_proj.weight"] = quantize(
        model.model.layers[0].mlp.down_proj.weight, "q8_0"
    )
    stored["model.embed_tokens.weight"] = quantize(model.model.embed_tokens.weight, "q8_0")
    result = quantize_model(model, stored, Precision("w4a8"))
    count = len(model.model.layers)
    assert result.counts == {
        "weights of 4 bits as stored": count,
        "weights of 8 bits as stored": 1,
        "weights quantized to q4_1": 6 * count,
    }
    up, down = model.model.layers[1].mlp.up_proj, model.model.layers[0].mlp.down_proj
    assert (up.offset, up.minimum, down.bits) == (8, None, 4)
    assert torch.equal(model.lm_head.codes[:288], stored["model.embed_tokens.weight"].codes)


def test_weights_that_are_no_numbers() -> None:
    model = load_model(resolve("smollm2-135m-tiny", None))
    model.model.layers[1].mlp.up_proj.weight[3, 5] = float("nan")
    with pytest.raises(StreamTensorError, match=r"model\.layers\.1\.mlp\.up_proj\.weight"):
        quantize_model(model, {}, Precision("w8a8"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--activations", "token"], "only have a meaning with w8a8 or w4a8, not with f32"),
        (["--precision", "w4a4"], "invalid choice: 'w4a4'"),
    ],
)
def test_options_that_make_no_sense(options: list[str], message: str, tmp_path: Path) -> None:
    done = command("compile", "gpt2-medium-tiny", *options, "--output-dir", tmp_path / "d")
    assert done.returncode == 2 and message in done.stderr
    assert not (tmp_path / "d").exists()


def test_a_compiled_model_keeps_its_precision(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(
        json.dumps({"precision": {"name": "w4a8", "activations": "group"}})
    )
    done = command(
        "generate", tmp_path, "--precision", "w8a8", "--prompt-ids", "1", "--max-new-tokens", 1
    )
    assert done.returncode == 2
    assert "is compiled with --precision w4a8, not w8a8" in done.stderr
