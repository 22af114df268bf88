"""Kinds of faults that users of similar systems met (docs/field-bugs.md), where no other
test shows that they cannot happen here.

Each module computes several small things, so that few designs are exported, compiled
with --validate and built. Expected values are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from design_runs import (
    TOOLS_ARE_BUILT,
    VendorKernels,
    check_fifos,
    compile_and_simulate,
    register_in,
    same_bits,
    simulate,
)

pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")

Tensor = torch.Tensor
CASES: dict[str, tuple[Callable, tuple[tuple[int, ...], ...]]] = {}


def case(*shapes: tuple[int, ...]) -> Callable[[Callable], Callable]:
    """Registers a function of tensors of these shapes as a case."""
    return register_in(CASES, shapes)


def arguments_of(name: str) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(shape, generator=generator) for shape in CASES[name][1])


# Heads apart and together again with work on both sides (b24); a weight of three
# dimensions permuted, whose order in memory is none of its own (b25); a square that is
# transposed beside itself (b26); square weights, which no shape tells from their
# transposes (b32).
@case((2, 6, 8), (3, 16, 4), (2, 2), (16, 16), (4, 16))
def layouts(x, w, square, weight, y):
    heads = x.exp().view(2, 6, 4, 2).transpose(1, 2)
    together = (heads * 2).transpose(1, 2).reshape(2, 6, 8)
    return (
        together + x,
        heads.transpose(2, 3).reshape(2, 8, 6).tanh(),
        y[None].expand(3, 4, 16) @ w,
        w.permute(1, 0, 2).reshape(16, 12).sum(0),
        (w.permute(2, 1, 0) * 2).reshape(4, 48) + 1,
        square + square.t(),
        square.t() @ square,
        F.linear(y, weight),
        y @ weight,
    )


# Sizes that no power of two divides, next to ones that 16 does (b27, b29); tokens of
# 8 and of 16 elements on the two sides of a reshape (b29); a producer by rows and a
# consumer by columns (b30).
@case((5, 24), (24, 53), (53, 16), (16, 7), (7, 179))
def sizes(x, a, b, c, d):
    y = x @ a
    z = (y @ b).tanh()
    return (
        (z @ c) @ d,
        (x * 2).view(15, 8).exp().sum(0),
        (torch.cat([x, x[:3]]) + 1).view(12, 16).amax(-1),
        y.t().softmax(-1),
    )


# Every loop of a decode step's attention makes one trip (b34); operands that do not
# depend on an inner, a middle or an outer loop (b35).
@case((1, 1, 1, 4), (1, 1, 1, 4), (1, 1, 1, 4), (3, 8), (8,), (3, 4, 8), (3,))
def trips(q, k, v, x, row, block, column):
    return (
        F.scaled_dot_product_attention(q, k, v),
        (q @ k.transpose(-1, -2)).softmax(-1),
        x + row,
        x[:, None, :] * block,
        (block + row).sum(1) - x,
        block * column[:, None, None],
        (x @ block[0].t())[:, None, :] + (block @ row)[:, :, None],
    )


# A skip connection around a block that needs its whole row first (a4, a5), one tensor
# that three projections and the skip read (a6).
@case((64, 32), (32, 32), (32, 32), (32, 32), (32, 64), (64, 32))
def residual(x, wq, wk, wv, up, down):
    rows = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
    mixed = ((rows @ wq) @ (rows @ wk).t() / 32).softmax(-1) @ (rows @ wv) / 8 + x
    return mixed, mixed + (mixed @ up / 8).relu() @ down / 8


# One operand that goes to four products, each of which wants it twice: once per row of
# its own (a14).
@case((4, 2, 16), (16, 32), (16,))
def broadcast(x, w, row):
    weight = w.tanh() + row[:, None]
    return tuple(x[lane] @ weight for lane in range(4))


@pytest.fixture(scope="module")
def designs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


@pytest.mark.parametrize("name", CASES)
def test_simulation_equals_pytorch(name: str, designs: Path) -> None:
    compile_and_simulate(CASES[name][0], arguments_of(name), designs / name)
    # Depths (a7, a21) and widths (b31).
    check_fifos(designs / name)


def test_amd_headers_give_the_same_bits(designs: Path, tmp_path: Path) -> None:
    """Task after task, where a stream that two tasks read would be empty for the second (a6)."""
    names = [name for name in CASES if (designs / name).exists()]
    assert names, "no design was compiled"
    vendor = VendorKernels({name: designs / name for name in names}, tmp_path)
    for name in names:
        arguments = {f"arg{i}": value for i, value in enumerate(arguments_of(name))}
        simulated, _ = simulate(designs / name, arguments)
        for key, value in vendor.run(name, arguments).items():
            assert same_bits(simulated[key], value), (name, key)
