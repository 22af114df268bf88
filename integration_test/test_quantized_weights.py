"""Weights in groups: the bytes are GGUF's, the values those of gguf and transformers."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy
import pytest
import torch
from gguf_files import FAMILIES, write_gguf

from streamtensor.errors import StreamTensorError
from streamtensor.models import gguf_header, quantized_weights
from streamtensor.models.gguf_header import read_gguf_header
from streamtensor.models.quantize import load_in_precision
from streamtensor.models.quantized_weights import (
    GroupedWeight,
    from_blocks,
    gguf_weights,
    quantize,
)
from streamtensor.models.sources import ModelSource, load_model, packaged_gguf
from streamtensor.precision import Precision

KINDS = ("q4_0", "q4_1", "q8_0")


def bits(values: torch.Tensor) -> torch.Tensor:
    """Tells -0 from 0, which a comparison of floats does not."""
    return values.contiguous().view(torch.int32)


# 16 groups hold all 256 bytes once. By the format, byte j of a group is element j in its low
# nibble and element j + 16 in its high one; the scale is 1 and the minimum, if any, 0.
@pytest.mark.parametrize(
    ("kind", "head", "offset"), [("q4_0", b"\x00\x3c", 8), ("q4_1", b"\x00\x3c\x00\x00", 0)]
)
def test_all_nibble_pairs(kind, head, offset):
    data = b"".join(head + bytes(range(16 * g, 16 * g + 16)) for g in range(16))
    weight = from_blocks(numpy.frombuffer(data, numpy.uint8).reshape(1, -1), kind, "golden")
    assert weight.codes.shape == (1, 16, 16) and weight.codes.dtype == torch.int8
    assert weight.codes.numpy().tobytes() == bytes(range(256))
    values = weight.dequantize().reshape(16, 32)
    for group in range(16):
        for j in range(16):
            assert values[group, j] == j - offset
            assert values[group, j + 16] == group - offset


@pytest.mark.parametrize("kind", KINDS)
def test_quantize_is_gguf(kind):
    generator = torch.Generator().manual_seed(7)
    weight = torch.randn(5, 96, generator=generator)
    weight[1] = 0
    weight[2, :32] = 1e-6
    weight[3] *= 300
    result = quantize(weight, kind)
    form = gguf.GGMLQuantizationType[kind.upper()]
    blocks = gguf.quants.quantize(weight.numpy(), form)
    assert torch.equal(
        bits(result.dequantize()), bits(torch.from_numpy(gguf.quants.dequantize(blocks, form)))
    )
    assert result.codes.shape == (5, 3, 32 if kind == "q8_0" else 16)
    assert result.scale.dtype == torch.float16 and result.scale.shape == (5, 3)
    assert (result.minimum is None) == (kind != "q4_1")
    assert result.packed_bytes() == blocks.nbytes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w[:, :40], r"'layer.up'.*multiple of 32 elements but got the shape \[4, 40\]"),
        (lambda w: w[0], r"'layer.up'.*got the shape \[64\]"),
        (lambda w: w[:0], r"got the shape \[0, 64\]"),
        (lambda w: w.index_fill(1, torch.tensor([3]), float("nan")), r"'layer.up' holds nan at"),
        (lambda w: w.index_fill(0, torch.tensor([2]), float("-inf")), r"holds -inf at \[2, 0\]"),
        # A scale of 1e7 / 7 has no place in float16.
        (lambda w: w * 1e7, r"'layer.up' has a scale or minimum .*row 0, group 0.*65504"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_quantize_refuses(kind, change, message):
    with pytest.raises(StreamTensorError, match=message):
        quantize(change(torch.ones(4, 64)), kind, "layer.up")


def test_unknown_kind():
    with pytest.raises(StreamTensorError, match=r"expected one of q4_0, .* but got 'q6_k'"):
        quantize(torch.ones(4, 64), "q6_k")


def load(path: Path) -> torch.nn.Module:
    return load_model(ModelSource(path.stem, path))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_families(tmp_path, family, kind):
    path = tmp_path / f"{family}.gguf"
    expected = write_gguf(path, family, kind.upper())
    model = load(path)
    weights = gguf_weights(read_gguf_header(path), model)
    for name, values in expected.items():
        assert torch.equal(bits(weights[name].dequantize()), bits(values)), name
        assert weights[name].bits == (8 if kind == "q8_0" else 4)
        assert weights[name].transposed == FAMILIES[family].is_transposed(name), name
    parameters = dict(model.named_parameters(remove_duplicate=False))
    tied = {n for n in parameters if parameters[n] is model.get_input_embeddings().weight}
    assert set(weights) == set(expected) | tied
    assert ("lm_head.weight" in expected) == (len(tied) == 1)


@pytest.mark.parametrize(("seed", "stored"), [(None, "as stored"), (3, "quantized to q4_1")])
def test_a_load_reads_the_header_once(tmp_path, monkeypatch, seed, stored):
    """It takes a tenth of a second for a real tokenizer. With random weights no group is taken."""
    path = tmp_path / "llama.gguf"
    write_gguf(path, "llama", "Q4_1")
    read = []
    real = gguf_header.parse
    monkeypatch.setattr(gguf_header, "parse", lambda cursor: read.append(cursor) or real(cursor))
    _, quantization = load_in_precision(ModelSource("llama", path, seed), Precision("w4a8"))
    assert len(read) == (1 if seed is None else 0)
    assert any(stored in kind for kind in quantization.counts)


def test_other_types_are_left_out(tmp_path):
    path = tmp_path / "qwen2.gguf"
    write_gguf(path, "qwen2", "F32")
    assert gguf_weights(read_gguf_header(path), load(path)) == {}


def test_a_wrong_order_is_named(tmp_path, monkeypatch):
    path = tmp_path / "llama.gguf"
    write_gguf(path, "llama", "Q4_1")
    model = load(path)
    real = quantized_weights.placement

    def wrong(*arguments):
        place = real(*arguments)
        return quantized_weights.Placement(place.name, place.rows.sort().values, place.transposed)

    monkeypatch.setattr(quantized_weights, "placement", wrong)
    with pytest.raises(StreamTensorError, match=r"'blk.0.attn_q.weight'.*llama.gguf'.*'model.lay"):
        gguf_weights(read_gguf_header(path), model)


def test_not_finite_scale_is_named():
    data = numpy.zeros((2, 18), numpy.uint8)
    data[1, :2] = (0x00, 0x7C)  # Infinity as float16.
    with pytest.raises(StreamTensorError, match=r"'blk.0.ffn_up.weight'.* inf in row 1, group 0"):
        from_blocks(data, "q4_0", "blk.0.ffn_up.weight")


def test_packaged_model():
    path = packaged_gguf()
    model = load(path)
    weights = gguf_weights(read_gguf_header(path), model)
    linear = {
        f"{name}.weight"
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear)
    }
    # 30 layers of 7 products, and the head, which is the embedding.
    assert len(linear) == 211
    assert set(weights) == linear | {"model.embed_tokens.weight"}
    state = model.state_dict()
    for name, weight in weights.items():
        assert isinstance(weight, GroupedWeight)
        assert torch.equal(bits(weight.dequantize()), bits(state[name])), name
    assert weights["lm_head.weight"] is weights["model.embed_tokens.weight"]
    kinds = {(w.bits, w.minimum is not None) for w in weights.values()}
    assert kinds == {(4, True), (8, False)}
