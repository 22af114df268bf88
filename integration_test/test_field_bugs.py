"""Kinds of faults that users of similar systems met (docs/field-bugs.md), where no other
test shows that they cannot happen here.

Each module computes several small things, so that few designs are exported, compiled
with --validate and built. Expected values are PyTorch's.
"""

from __future__ import annotations

import json
import re
import shutil
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


# Logits that are far apart, by 60 and more, and rows that are nearly equal (c36, c37): the
# probabilities themselves are compared, so their order is too.
@case((3, 40), (3, 40))
def probabilities(x, y):
    return (20 * x).softmax(-1), (1e-3 * y).softmax(-1), (20 * x).log_softmax(-1)


# One to four queries against 32 keys, whose last ones are those of the queries (c39); a window
# of 4 keys over 10, and soft caps (d61).
@case((1, 2, 1, 8), (1, 2, 3, 8), (1, 2, 4, 8), (1, 2, 32, 8), (1, 2, 32, 8), (1, 2, 10, 8))
def masks(one, three, four, keys, values, window):
    def attend(queries, past, width=1 << 20):
        rows = torch.arange(queries.shape[2])[:, None] + past
        columns = torch.arange(past + queries.shape[2])
        keep = (columns <= rows) & (columns > rows - width)
        count = past + queries.shape[2]
        mask = torch.zeros(keep.shape).masked_fill(~keep, torch.finfo(torch.float32).min)
        scores = queries @ keys[:, :, :count].transpose(2, 3) / 8**0.5
        scores = 50 * (scores / 50).tanh() + mask
        return scores.softmax(-1) @ values[:, :, :count]

    return attend(one, 31), attend(three, 29), attend(four, 28), attend(window, 0, 4)


# Norms behind norms: an error of one of them grows with each, and eps shows in small rows
# (c40); rows with little variance beside their mean (c41).
@case((4, 32), (32,))
def norms(x, weight):
    def chain(rows, eps):
        for _ in range(12):
            mean = rows.pow(2).mean(-1, keepdim=True)
            rows = rows * torch.rsqrt(mean + eps) * (1 + weight / 8)
        return rows

    flat = 1 + 1e-2 * x
    return (
        chain(x / 256, 1e-6),
        chain(x / 256, 1e-5),
        F.layer_norm(flat, (32,), eps=1e-12),
        F.layer_norm(flat.roll(1, 1), (32,), 1 + weight, weight, eps=1e-5),
    )


# Rotation of halves and of neighbours (d54), two sequences at once (d55), 14 query heads for
# two heads of keys (d56).
@case((2, 3, 14 * 8), (2, 3, 2 * 8), (2, 3, 2 * 8), (3, 8))
def rotated_heads(q, k, v, angle):
    q = q.view(2, 3, 14, 8).transpose(1, 2)
    k, v = (part.view(2, 3, 2, 8).transpose(1, 2) for part in (k, v))
    cos, sin = angle.cos(), angle.sin()

    def halves(x):
        low, high = x.chunk(2, -1)
        return x * cos + torch.cat([-high, low], -1) * sin

    def neighbours(x):
        even, odd = x[..., ::2], x[..., 1::2]
        return x * cos + torch.stack([-odd, even], -1).flatten(-2) * sin

    return (
        F.scaled_dot_product_attention(halves(q), halves(k), v, enable_gqa=True),
        neighbours(q),
        neighbours(k),
    )


# A residual that is added in place, slices and repetitions (d51, d62).
@case((2, 6, 8), (8, 8))
def in_place(x, w):
    hidden = x * 1.0
    hidden += hidden @ w
    hidden[..., :4] = hidden[..., :4].tanh()
    return hidden, x[:, 1:4].repeat(1, 2, 1) + 1, x.repeat_interleave(2, dim=1) * 2


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


def test_largest_sums(tmp_path: Path) -> None:
    """int8 times 4-bit numbers over 4,096 terms: -128 * -8 * 4096 = 2^22 needs 24 bits (c43)."""
    x = torch.full((3, 4096), -128, dtype=torch.int8)
    x[1] = 127
    x[2, ::2] = 127
    w = torch.full((4096, 2), -8, dtype=torch.int8)
    w[:, 1] = 7
    assert (x.long() @ w.long()).max() == 1 << 22
    compile_and_simulate(lambda x, w: (x.int() @ w.int(),), (x, w), tmp_path / "sums")


def nibbles(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor]:
    return (((x & 15).int() * y.int()).sum(-1, dtype=torch.int32),)


def codes(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor]:
    return ((x.clamp(min=-127).int() * y.int()).sum(-1, dtype=torch.int32),)


# What is summed, how many terms, and the two ends of a term: 0 to 15 or -127 to 127, times -128
# to 127.
SUMS = {
    "nibbles_32": (nibbles, 32, (-15 * 128, 15 * 127)),
    "nibbles_35": (nibbles, 35, (-15 * 128, 15 * 127)),
    "codes_32": (codes, 32, (-127 * 128, 127 * 128)),
    "codes_33": (codes, 33, (-127 * 128, 127 * 128)),
    "codes_600": (codes, 600, (-127 * 128, 127 * 128)),
}


def test_sums_have_the_bits_that_they_need(tmp_path: Path) -> None:
    """Accumulators are as narrow as the ends of their sums allow, and not narrower (c43).

    The width is worked out here from the ends; sums at the ends must be PyTorch's under AMD's
    headers, where numbers of that width wrap, and must not be with one bit less.
    """
    arguments, expected = {}, {}
    for name, (function, terms, _) in SUMS.items():
        x = torch.full((4, terms), 127, dtype=torch.int8)
        y = torch.full((4, terms), -128, dtype=torch.int8)
        y[1] = 127
        # Positive sums of products with -128, and numbers between.
        x[2] = -128
        generator = torch.Generator().manual_seed(terms)
        x[3] = torch.randint(-128, 128, (terms,), generator=generator).to(torch.int8)
        compile_and_simulate(function, (x, y), tmp_path / name)
        arguments[name] = {"arg0": x, "arg1": y}
        expected[name] = function(x.long(), y.long())[0]
    narrower = {}
    for name, (_, terms, ends) in SUMS.items():
        # Signed numbers of w bits go from -2^(w - 1) to 2^(w - 1) - 1.
        low, high = (terms * end for end in ends)
        bits = 1 + max((-low - 1).bit_length(), high.bit_length())
        kernel = tmp_path / name / "hls" / "kernel.cpp"
        text = kernel.read_text()
        assert f"st::sint<{bits}>" in text, name
        copy = tmp_path / f"{name}_narrower"
        shutil.copytree(tmp_path / name, copy)
        changed = text.replace(f"st::sint<{bits}>", f"st::sint<{bits - 1}>")
        function = json.loads((copy / "interface.json").read_text())["function"]
        changed = re.sub(rf"\b{function}\b", f"{function}_narrower", changed)
        (copy / "hls" / "kernel.cpp").write_text(changed)
        interface = (copy / "interface.json").read_text()
        (copy / "interface.json").write_text(
            interface.replace(f'"{function}"', f'"{function}_narrower"', 1)
        )
        narrower[copy.name] = copy
    vendor = VendorKernels({name: tmp_path / name for name in SUMS} | narrower, tmp_path)
    for name in SUMS:
        result = vendor.run(name, arguments[name])["result0"]
        assert torch.equal(result.long(), expected[name]), name
        wrapped = vendor.run(f"{name}_narrower", arguments[name])["result0"]
        assert not torch.equal(wrapped.long(), expected[name]), name
