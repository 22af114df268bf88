"""Integers are exact: bytes, negatives and quotients, against PyTorch's own integers.

Skipped where the C++ tools are not built.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from design_runs import TOOLS_ARE_BUILT, assert_equal, compile_text, run_batch
from test_torch_compile import compare

import streamtensor
from streamtensor.api import input_names
from streamtensor.importer.indices import slice_gathers

U = torch.tensor([200, 255, 0, 1, 128], dtype=torch.uint8)
# Beyond what f32 and f64 hold exactly, and the ends of the types.
I32 = torch.tensor(
    [-7, -6, -1, 0, 1, 5, 7, 16777217, 2**31 - 1, -(2**31), 1 - 2**31, -16777217],
    dtype=torch.int32,
)
I64 = torch.tensor([-7, -1, 0, 1, 5, 2**31 - 1, -(2**31), 2**53 + 1, -(2**53) - 1, 2**62 + 1])
OTHERS = torch.tensor([3, -3, 7, -7, 2, -2, 10, 1, -5, 9, 3, -2])
S = torch.tensor([44, -128, 127, -5, 0, -1], dtype=torch.int8)
SIGNED = torch.tensor([-1, -2, 3, 4, 5], dtype=torch.int8)

CASES: dict[str, tuple[Callable, ...]] = {
    "byte_quotient": (lambda x: x / 2, U),
    "byte_normalized": (lambda x: (x - 127.5) / 127.5, U),
    "byte_times_float": (lambda x, y: x * y, U, torch.tensor([0.5, 1.0, 2.0, 3.0, -1.0])),
    "byte_times_long": (lambda x, y: x * y, U, torch.arange(5)),
    "byte_equals_long": (lambda x, y: x == y, U, torch.tensor([200, -1, 0, 1, -128])),
    "byte_plus_signed": (lambda x, y: x + y, U, SIGNED),
    "byte_sum": (lambda x: x.sum(), U),
    "byte_sum_of_floats": (lambda x: x.sum(dtype=torch.float32), U),
    "byte_product": (lambda x: x[3:].prod(), U),
    "byte_compared": (lambda x: x > 2.5, U),
    "byte_masked": (lambda x: x.masked_fill(x > 150, 7), U),
    "byte_mixed": (lambda x: x.int() * x, U),
    "byte_trunc": (lambda x: torch.div(x, 3, rounding_mode="trunc"), U),
    "byte_floor": (lambda x: x // 3, U),
    "byte_negative": (lambda x: -x, U),
    "byte_not": (lambda x: ~x, U),
    "byte_shifts": (lambda x: (x >> 1) + (x << 1), U),
    "byte_limits": (lambda x: x.clamp(max=128), U),
    "byte_largest": (lambda x: x.amax(), U),
    "byte_largest_of_rows": (lambda x: x.view(1, 5).max(1)[0], U),
    "byte_choice": (lambda x, y: torch.where(x > y, x, y), U, U.flip(0)),
    "byte_moved": (lambda x: torch.cat([x, x]).view(2, 5).t() / 255.0, U),
    "byte_image": (
        lambda x: F.conv2d(x / 255.0, torch.ones(2, 1, 3, 3)),
        (torch.arange(36) * 7 % 256).to(torch.uint8).view(1, 1, 6, 6),
    ),
    "byte_number_wraps": (lambda x: (x % 300) * 300 - 300, U),
    "byte_equals_number": (lambda x: x == 456, U),
    "byte_over_number": (lambda x: x / 300, U),
    "byte_floor_by_negative": (lambda x: x // -3, U),
    "signed_number": (lambda x: x * 3 - 100, S),
    "signed_number_wraps": (lambda x: (x % 300) * 300, S),
    "signed_equals_number": (lambda x: x == 300, S),
    "signed_over_number": (lambda x: x / 300, S),
    "signed_negative": (lambda x: -x, S),
    "signed_floor": (lambda x: x // 3, S),
    "signed_floor_wraps": (lambda x: x // 200, S),
    "signed_floor_of_tensors": (lambda x, y: x // y, S, S.flip(0) | 1),
    "signed_floor_by_sum": (lambda x: x // x.sum(), S),
    "signed_trunc": (lambda x: torch.div(x, -3, rounding_mode="trunc"), S),
    "signed_remainder": (lambda x: x % 3, S),
    "signed_remainder_to_zero": (lambda x: torch.fmod(x, -3), S),
    "signed_and_long": (lambda x, y: x & y, S, torch.tensor(300)),
    "signed_bits": (lambda x: (x | 300) ^ 5, S),
    "signed_shift": (lambda x, y: (x << y) + (x >> y), S, torch.tensor(2)),
    "signed_masked": (lambda x: x * (x > 0), S),
    "signed_choice": (lambda x, y: torch.where(x > 0, x, y), S, torch.tensor(300)),
    "signed_larger": (lambda x, y: torch.maximum(x, y), S, torch.tensor(300)),
    "signed_largest": (lambda x: x.max(), S),
    "signed_smallest": (lambda x: x.min(), S),
    "signed_product": (lambda x: x[None] @ torch.stack([x, x * 2], 1), S),
    "signed_products": (lambda x: x.view(1, 1, 6) @ x.view(1, 6, 1), S),
    "signed_convolution": (lambda x: F.conv1d(x.view(1, 1, 6), x[:3].view(1, 1, 3)), S),
    "signed_power": (lambda x: x**3, S),
    "sum_in_a_byte": (lambda x: x.sum(dtype=torch.int8), I32),
    "square": (lambda x: x.square(), I32),
    "power_of_long": (lambda x: x**5, I64),
    "bits": (lambda x: (x | 12) ^ -5, I32),
    "remainder_to_zero": (lambda x: torch.fmod(x, 3), I32),
    "negative": (lambda x: -x, I32),
    "negative_long": (lambda x: -x, I64),
    "floor": (lambda x: x // 3, I32),
    "floor_by_negative": (lambda x: x // -3, I32),
    "floor_long": (lambda x: x // 7, I64),
    "floor_of_tensors": (lambda x, y: x // y, I32, OTHERS.int()),
    "floor_of_types": (lambda x, y: x // y, I32, OTHERS),
    "floor_mode": (lambda x: torch.div(x, 7, rounding_mode="floor"), I32),
    "remainder": (lambda x: x % 3, I32),
}


class Case(torch.nn.Module):
    def __init__(self, function: Callable) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


@pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")
def test_equal_to_pytorch(tmp_path: Path) -> None:
    runs, expected = [], []
    for name, (function, *inputs) in CASES.items():
        exported, design = tmp_path / f"{name}.export", tmp_path / name
        streamtensor.export(Case(function), tuple(inputs), exported, function=name)
        manifest = f"--manifest={exported}/manifest.json"
        compiled = compile_text(exported / "module.mlir", design, manifest)
        assert compiled.returncode == 0, f"{name}: {compiled.stderr}"
        # Constants are arguments in front of the inputs, and lie in files.
        runs.append((design, dict(zip(input_names(design), inputs, strict=True))))
        expected.append({"result0": function(*inputs)})
    for name, result, want in zip(
        CASES, run_batch(runs, tmp_path / "batch"), expected, strict=True
    ):
        assert not isinstance(result, str), f"{name}: {result}"
        try:
            assert_equal(result, want)
        except AssertionError as error:
            raise AssertionError(f"{name}: {result} instead of {want}") from error


@pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")
def test_bytes_by_torch_compile() -> None:
    compare(lambda x: (x / 255.0) @ torch.ones(5, 2), U[None].expand(3, 5).contiguous())
    compare(lambda x: (-x * 3 // 7 % 300, x @ x.T), S[None].expand(3, 6).contiguous())


def test_indices_behind_a_residual_network() -> None:
    """Each node is looked at once: there are 2^64 ways to the last one."""
    graph = torch.fx.Graph()
    node = graph.placeholder("x")
    node.meta["val"] = torch.zeros(4, dtype=torch.int64)
    source = node
    for _ in range(64):
        value = torch.zeros(4, dtype=torch.int64)
        other = graph.call_function(torch.ops.aten.abs.default, (node,))
        other.meta["val"] = value
        node = graph.call_function(torch.ops.aten.add.Tensor, (node, other))
        node.meta["val"] = value
    gather = graph.call_function(torch.ops.aten.index_select.default, (source, 0, node))
    gather.meta["val"] = torch.zeros(4, dtype=torch.int64)
    graph.output(gather)
    slice_gathers(graph, {})
    assert any(each is gather for each in graph.nodes)
