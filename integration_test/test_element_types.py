"""Every element type through the whole chain, against PyTorch.

Each module computes many small things at once, so that one export, one compile
(with --validate: every phase against MLIR's own execution) and one build of the C
simulation serve them all. Expected values are PyTorch's, integers to the bit.
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
    compile_and_simulate,
    register_in,
    same_bits,
    simulate,
)

pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")

Tensor = torch.Tensor
CASES: dict[str, tuple[Callable, Callable[[torch.Generator], tuple[Tensor, ...]]]] = {}


def integers(dtype: torch.dtype, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Numbers of the whole range, among them the least and the greatest."""
    info = torch.iinfo(dtype)
    value = torch.randint(info.min, info.max, shape, generator=generator, dtype=dtype)
    value.view(-1)[0], value.view(-1)[1] = info.min, info.max
    return value


def case(inputs: Callable[[torch.Generator], tuple[Tensor, ...]]) -> Callable:
    """Registers a function as a case, with what draws its arguments."""
    return register_in(CASES, inputs)


@case(lambda g: (integers(torch.int8, (4, 16), g), integers(torch.int8, (4, 16), g)))
def int8(a, b):
    return (
        a + b,  # wraps
        a - b,
        a * b,
        a & b,
        a | b,
        a ^ b,
        ~a,
        a >> 2,
        torch.minimum(a, b),
        torch.maximum(a, b),
        a.clamp(-5, 7),
        torch.where(a > b, a, b + 1),
        a.to(torch.int32) * b.to(torch.int32),
        a.to(torch.float32) / 3,
        a.sum(-1),
        a.amax(-1),
        a.amin(0),
    )


@case(lambda g: tuple(integers(t, (3, 8), g) for t in (torch.int16, torch.int32, torch.int64)))
def wide_integers(a, b, c):
    return (
        a + a,
        a * 3,
        b * b,
        b - 1,
        b.sum(-1),
        (b >> 3) & 15,
        c + b,
        c * c,
        c.sum(-1),
        c.amax(),
        c.to(torch.int8),  # the lower bits
        b.to(torch.int16),
        a.to(torch.float32),
        torch.div(b, 7, rounding_mode="trunc"),
        (c >= 0) | (a < 0),
    )


@case(
    lambda g: (
        integers(torch.uint8, (4, 8), g),
        torch.rand((4, 8), generator=g) < 0.5,
        torch.randn((4, 8), generator=g),
    )
)
def bytes_and_booleans(u, m, x):
    return (
        u.to(torch.int32),  # not sign-extended
        u.to(torch.float32),
        u + 200,  # wraps at 256
        torch.maximum(u, 255 - u),
        u > 127,
        m & (x > 0),
        m ^ (x > 0),
        ~m,
        m.any(-1),
        m.all(0),
        m.sum(-1),
        torch.where(m, x, -x),
        m.to(torch.float32) + x,
        m.to(torch.int8),
    )


# Halves round to even; the rest lies on both sides of them.
@case(
    lambda g: (
        torch.cat([torch.arange(-4.5, 5), torch.randn(6, generator=g)]).view(2, 8),
        torch.randint(-128, 128, (24, 8), generator=g, dtype=torch.int8),
        torch.rand(24, generator=g),
    )
)
def rounding(x, w, s):
    scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-8) / 127
    q = (x / scale).round().clamp(-128, 127).to(torch.int8)
    return (
        x.round(),
        x.floor().to(torch.int32),
        x.ceil().to(torch.int64),
        x.trunc().to(torch.int16),
        q,
        (q.to(torch.int32) @ w.to(torch.int32).t()).to(torch.float32) * scale * s,
    )


def half_inputs(dtype: torch.dtype) -> Callable[[torch.Generator], tuple[Tensor, ...]]:
    shapes = ((6, 16), (16, 8), (16,))
    return lambda g: tuple(torch.randn(shape, generator=g).to(dtype) for shape in shapes)


def half_results(x, w, b):
    return (
        x + b,
        x * b,
        x / (b.abs() + 1),
        x.exp(),
        torch.where(x > b, x, torch.zeros_like(b)),
        x @ w,
        x.sum(-1),
        x.amax(0),
        x.softmax(-1),
        F.layer_norm(x, (16,), b, b),
        F.gelu(x),
        x.to(torch.float32) * 2,
        x.pow(3),
        (x * 4).round().to(torch.int8),
    )


@case(half_inputs(torch.bfloat16))
def bfloat16(x, w, b):
    return half_results(x, w, b)


@case(half_inputs(torch.float16))
def float16(x, w, b):
    return half_results(x, w, b)


@case(
    lambda g: (
        torch.randn((3, 5), generator=g),
        torch.randn((2, 4, 6), generator=g),
        integers(torch.int8, (4, 4), g),
    )
)
def parts(x, y, q):
    inserted = y.clone()
    inserted[:, 1:3, 2:5] = x[:2, None, :3]
    row = y.clone()
    row[1] = 7
    return (
        F.pad(x, (1, 2)),
        F.pad(x, (2, 0, 0, 3), value=-1.5),
        F.pad(x * 2, (0, 3)) @ F.pad(x, (3, 0)).t(),
        F.pad(q, (4, 4), value=-3),
        inserted,
        row.sum(-1),
        x.roll(2, 1),
    )


@pytest.fixture(scope="module")
def designs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


def ends(dtype: torch.dtype, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Rows of the least and of the greatest number, and of numbers between."""
    value = integers(dtype, shape, generator)
    value[0], value[1] = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    return value


# Sums whose accumulators get the bits of their ranges: 65 terms, one more than a power of two,
# all at one end in the first two rows. PyTorch adds in 64 bits, which no sum here needs.
@case(
    lambda g: (
        ends(torch.int8, (6, 65), g),
        ends(torch.int16, (6, 65), g),
        ends(torch.uint8, (6, 65), g),
        torch.randn(6, 65, generator=g) * torch.tensor([1.0, 1e3, -1e30, 4.0, 4.0, 9.0])[:, None],
    )
)
def sums(a, b, c, x):
    def total(terms: Tensor) -> Tensor:
        return terms.long().sum(-1)

    codes = torch.clamp(torch.round(x), -8, 7).to(torch.int8)
    return (
        total(a),
        total(c),
        total(a > 0),
        total(a * a),  # terms that wrap
        total(-a),  # -128 is its own
        total(a.int() * b.int()),
        total(c.int() * a.int()),
        total(b.int().abs()),
        total(a.int() * a.int() - 16384),
        total(a >> 4),
        total(a.int() << 3),
        total(b & 15),
        total(b % 7),
        total(torch.where(a > 0, b, 7)),
        total(codes.int() * a.int()),
        total(torch.cat([c.clamp(0, 3).int(), a.clamp(-9, 100).int()], -1)),
        total(F.pad(a.clamp(0, 3), (2, 2), value=100)),
        total(a.int() * torch.arange(65, dtype=torch.int32)),
        (a.int() @ b.int().T).long(),
        (total(a)[:, None] * total(c)[None]).sum(-1),
        total(a) * 70000 + total(b),
    )


def arguments_of(name: str) -> tuple[Tensor, ...]:
    return CASES[name][1](torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", CASES)
def test_simulation_equals_pytorch(name: str, designs: Path) -> None:
    compile_and_simulate(CASES[name][0], arguments_of(name), designs / name)


def test_amd_headers_give_the_same_bits(designs: Path, tmp_path: Path) -> None:
    names = [name for name in CASES if (designs / name).exists()]
    assert names, "no design was compiled"
    vendor = VendorKernels({name: designs / name for name in names}, tmp_path)
    for name in names:
        arguments = {f"arg{i}": value for i, value in enumerate(arguments_of(name))}
        simulated, _ = simulate(designs / name, arguments)
        for key, value in vendor.run(name, arguments).items():
            assert same_bits(simulated[key], value), (name, key)
