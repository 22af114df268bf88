"""Softmax, attention and norms where floats are delicate: C simulation against PyTorch.

Each row of the inputs is one case: masked out completely, a spread of 60, huge and
tiny values, a variance near zero; in 16-bit floats also sums and squares that they
cannot hold. docs/numerics.md says what is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from design_runs import TOLERANCES, TOOLS_ARE_BUILT, FunctionModule, compile_text, simulate

from streamtensor import export

pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")

Tensor = torch.Tensor
LOWEST = torch.finfo(torch.float32).min
WIDTH = 48


def spread_rows() -> Tensor:
    torch.manual_seed(0)
    rows = torch.randn(8, WIDTH)
    rows[1] *= 60 / (rows[1].max() - rows[1].min())
    rows[2] *= 1e4
    rows[3] = 0
    rows[4] = 1e30
    rows[5] = -1e30
    rows[6, 1:] = -3e38
    rows[7] *= 1e-30
    return rows


def masks() -> Tensor:
    """Additive masks: nothing, half, all but one, everything, as the lowest float and as -inf."""
    rows = torch.zeros(8, WIDTH)
    rows[1, WIDTH // 2 :] = LOWEST
    rows[2, 1:] = LOWEST
    rows[3] = LOWEST
    rows[5, WIDTH // 2 :] = -torch.inf
    rows[6, 1:] = -torch.inf
    rows[7] = -torch.inf
    return rows


def flat_rows() -> Tensor:
    """Rows of almost no variance, and one of none."""
    torch.manual_seed(1)
    rows = 1 + 1e-4 * torch.randn(8, WIDTH)
    rows[1] = 3
    rows[2] = 0
    rows[3] = 1e-6 * torch.randn(WIDTH)
    rows[4] = 1e3 * torch.randn(WIDTH)
    rows[5] *= 1e-12
    rows[6] = 30 + torch.randn(WIDTH)
    rows[7] = 1e12 * torch.randn(WIDTH)
    return rows


def half_rows(dtype: torch.dtype) -> Tensor:
    """Rows whose sums or squares exceed f16, rows of almost no variance, and one of none."""
    torch.manual_seed(2)
    rows = 1 + torch.finfo(dtype).eps * torch.randint(-1, 2, (8, WIDTH))
    rows[1] = 3
    rows[2] = 0
    rows[3] = 1e-6 * torch.randn(WIDTH)
    rows[4] = 1e3 * torch.randn(WIDTH)
    rows[5] = 3000 + 300 * torch.randn(WIDTH)
    rows[6] = 30 + torch.randn(WIDTH)
    rows[7] = 6e4 * (2 * torch.rand(WIDTH) - 1)
    return rows.to(dtype)


def attention_inputs() -> tuple[Tensor, ...]:
    """Queries and keys whose scores spread by 60, values, and a mask without its third row."""
    torch.manual_seed(3)
    q, k, v = torch.randn(8, 16), torch.randn(WIDTH, 16), torch.randn(WIDTH, 16)
    scores = q @ k.t() / 4
    q *= 60 / (scores.amax(-1) - scores.amin(-1))[:, None]
    mask = torch.rand(8, WIDTH) < 0.7
    mask[1] = True
    mask[2] = False
    mask[3] = torch.arange(WIDTH) == 5
    return q, k, v, mask


def norms(x: Tensor) -> tuple[Tensor, ...]:
    """Layer norm, root mean square norm, and the latter as models write it."""
    wide = x.to(torch.float32)
    scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return F.layer_norm(x, (WIDTH,)), F.rms_norm(x, (WIDTH,), eps=1e-6), scaled.to(x.dtype)


def softmax(x: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    return torch.softmax(x + mask, -1), torch.log_softmax(x, -1)


def means(x: Tensor) -> tuple[Tensor, ...]:
    """What divides a sum, or takes its root."""
    return tuple(
        f(x)[:, None]
        for f in (
            lambda x: x.mean(-1),
            lambda x: torch.linalg.vector_norm(x / 256, dim=-1),
            lambda x: (x / 256).var(-1),
            lambda x: x.logsumexp(-1),
            lambda x: F.adaptive_avg_pool1d(x[None], 1)[0, :, 0],
            lambda x: F.avg_pool1d(x[None], WIDTH)[0, :, 0],
        )
    )


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    """A row without keys is 0 in PyTorch's attention, and NaN in a softmax."""
    float_mask = torch.zeros_like(q[:, :1] * k[:, 0]).masked_fill(~mask, -torch.inf)
    scores = (q @ k.t() / 4).masked_fill(~mask, -torch.inf)
    return (
        F.scaled_dot_product_attention(q[None], k[None], v[None], mask)[0],
        F.scaled_dot_product_attention(q[None], k[None], v[None], float_mask)[0],
        scores.softmax(-1) @ v,
    )


HALVES = {"bf16": torch.bfloat16, "f16": torch.float16}
CASES: dict[str, tuple[Callable[..., tuple[Tensor, ...]], tuple[Tensor, ...]]] = {
    "softmax_spread": (softmax, (spread_rows(), torch.zeros(8, WIDTH))),
    "softmax_masked": (softmax, (torch.randn(8, WIDTH), masks())),
    "attention_masked": (attention, attention_inputs()),
    "norms": (norms, (flat_rows(),)),
    **{f"norms_{name}": (norms, (half_rows(dtype),)) for name, dtype in HALVES.items()},
    **{f"means_{name}": (means, (half_rows(dtype),)) for name, dtype in HALVES.items()},
    **{
        f"softmax_{name}": (softmax, (spread_rows().to(dtype), masks().to(dtype)))
        for name, dtype in HALVES.items()
    },
}


def rounding_of_mean(x: Tensor, result: Tensor) -> Tensor:
    """How far one rounding of the row's values, in f32, moves its normalized result."""
    centred = (x.double() - x.double().mean()).abs().max()
    if centred == 0:
        return torch.zeros(())
    gain = result.double().abs().max() / centred
    return torch.finfo(torch.float32).eps * x.double().abs().max() * gain


@pytest.mark.parametrize("name", CASES)
def test_equals_pytorch(name: str, tmp_path: Path) -> None:
    function, inputs = CASES[name]
    module, exported, design = FunctionModule(function), tmp_path / "export", tmp_path / "design"
    export(module, inputs, output_dir=exported)
    compiled = compile_text(exported / "module.mlir", design)
    assert compiled.returncode == 0, compiled.stderr
    got, _ = simulate(design, {f"arg{i}": value for i, value in enumerate(inputs)})
    for index, want in enumerate(module(*inputs)):
        have = got[f"result{index}"]
        assert (have.dtype, have.shape) == (want.dtype, want.shape), index
        for row in range(want.shape[0]):
            # Row by row: one huge row must not hide the others.
            assert (have[row].isnan() == want[row].isnan()).all(), (index, row)
            finite = want[row].isfinite()
            assert (
                (have[row][~finite] == want[row][~finite])
                .logical_or(want[row][~finite].isnan())
                .all()
            ), (index, row)
            if finite.any():
                values = want[row][finite].double()
                tolerance = TOLERANCES[want.dtype] * (values.abs() + values.abs().max())
                if function is norms:
                    tolerance += rounding_of_mean(inputs[0][row], values)
                difference = (have[row][finite].double() - values).abs()
                assert (difference <= tolerance).all(), (index, row)
    if function is softmax:
        # The most likely stays the most likely, and all of them make 1.
        want, have = module(*inputs)[0].double(), got["result0"].double()
        rows = want.isfinite().all(-1)
        best = want[rows].argmax(-1, keepdim=True)
        assert (have[rows].gather(-1, best) == have[rows].amax(-1, keepdim=True)).all()
        allowed = WIDTH * torch.finfo(got["result0"].dtype).eps
        assert ((have[rows].sum(-1) - 1).abs() <= allowed).all()
