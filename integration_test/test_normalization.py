"""The normalization keeps the meaning of imported Linalg.

Modules that stress one rewrite each are exported, and the import and its
normalized form, both compiled by stock MLIR tools, are run on PyTorch's inputs and
compared with PyTorch's results (utils/check_normalization.py does the work).
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from conftest import ROOT
from design_runs import register_in
from safetensors.torch import save_file

from streamtensor import export

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
OPT = BIN / "streamtensor-opt"
pytestmark = pytest.mark.skipif(not OPT.is_file(), reason="the C++ tools are not built")

Tensor = torch.Tensor
CASES: dict[str, tuple[Callable, tuple[tuple[int, ...], ...]]] = {}


def case(*shapes: tuple[int, ...]) -> Callable[[Callable], Callable]:
    """Registers a function of tensors of these shapes as a case."""
    return register_in(CASES, shapes)


class Module(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        return self.function(*inputs)


def split_heads(x: Tensor, heads: int) -> Tensor:
    batch, rows, width = x.shape
    return x.view(batch, rows, heads, width // heads).transpose(1, 2)


# Two sequences: reshapes that move must not mix batch, heads and rows.
@case((2, 6, 32), (32, 32), (16, 32), (16, 32), (32, 32), (1, 1, 6, 6))
def grouped_attention(x, wq, wk, wv, wo, mask):
    q, k, v = split_heads(x @ wq.T, 4), split_heads(x @ wk.T, 2), split_heads(x @ wv.T, 2)
    k = k[:, :, None].expand(2, 2, 2, 6, 8).reshape(2, 4, 6, 8)
    v = v[:, :, None].expand(2, 2, 2, 6, 8).reshape(2, 4, 6, 8)
    scores = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(8) + mask, -1)
    return (scores @ v).transpose(1, 2).reshape(2, 6, 32) @ wo.T + x


@case((2, 6, 16), (16, 48), (48,), (16, 16))
def joint_query_key_value(x, w, bias, wo):
    joint = torch.addmm(bias, x.view(-1, 16), w).view(2, 6, 48)
    q, k, v = (split_heads(part, 4) for part in joint.split(16, 2))
    scores = torch.softmax(q @ k.transpose(-1, -2) * 0.5, -1)
    return (scores @ v).transpose(1, 2).reshape(2, 6, 16) @ wo, k, v


@case((2, 6, 32), (32, 32), (2, 6, 8), (2, 6, 8))
def rotary_halves(x, w, cos, sin):
    q = split_heads(x @ w.T, 4)
    low, high = q.chunk(2, -1)
    return q * cos.unsqueeze(1) + torch.cat([-high, low], -1) * sin.unsqueeze(1)


@case((1, 6, 32), (32, 32), (1, 6, 8), (1, 6, 8))
def rotary_interleaved(x, w, cos, sin):
    q = split_heads(x @ w.T, 4)
    even, odd = q[..., ::2], q[..., 1::2]
    rotated = torch.stack([-odd, even], -1).flatten(-2)
    return q * cos.unsqueeze(1) + rotated * sin.unsqueeze(1)


@case((2, 6, 32), (32, 32), (2, 6, 4), (2, 6, 4))
def rotary_partial(x, w, cos, sin):
    q = split_heads(x @ w.T, 4)
    turned, kept = q[..., :4], q[..., 4:]
    low, high = turned.chunk(2, -1)
    turned = turned * cos.unsqueeze(1) + torch.cat([-high, low], -1) * sin.unsqueeze(1)
    return torch.cat([turned, kept], -1)


@case((1, 2, 6, 8), (1, 2, 6, 8), (1, 2, 6, 8))
def sdpa_causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@case((1, 4, 6, 8), (1, 2, 6, 8), (1, 2, 6, 8))
def sdpa_grouped(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


@case((2, 6, 6))
def mask_from_positions(x):
    mask = torch.tril(torch.ones(6, 6)).bool()
    return torch.softmax(x.masked_fill(~mask, float("-inf")), -1)


@case((2, 2, 5, 8), (2, 3, 16), (16, 16))
def cache_append(past, x, w):
    k = split_heads(x @ w.T, 2)
    return torch.cat([past, k], 2), k


@case((2, 5, 12), (12,), (12,))
def layer_norm(x, gain, bias):
    return F.layer_norm(x, (12,), gain, bias, 1e-5)


@case((2, 3, 4), (2, 3, 5), (2, 5, 4))
def product_into_tensor(start, x, y):
    return torch.baddbmm(start, x, y)


@case((2, 3, 4, 5), (60, 7))
def permutation_and_views(x, w):
    return x.permute(0, 3, 1, 2).reshape(2, 60) @ w


@case((3, 4))
def result_twice(x):
    y = x.exp()
    return y, y + 0, y.view(2, 6)


@case((3, 4))
def constant_results(x):
    return x * 2, torch.ones(2, 3), torch.arange(6.0).view(2, 3)


@case((6, 8))
def slices(x):
    return x[1:4], x[:, 3], x[::2], x[1::3, ::2], x[2, 3], x[-1:]


@case((3, 8))
def rare_functions(x):
    return F.softplus(x), torch.log1p(x.abs()), torch.expm1(x), torch.exp2(x), x.reciprocal()


@case((3, 5))
def reductions_to_scalars(x):
    return x.sum(), x.mean(), x.amax(), x.var(1), x.prod(1)


@pytest.mark.parametrize("name", CASES)
def test_meaning_is_kept(name: str, tmp_path: Path) -> None:
    function, shapes = CASES[name]
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(shape, generator=generator) for shape in shapes]
    module = Module(function)
    results = module(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    # A function named like one of the C library would be taken for it.
    export(module, tuple(inputs), tmp_path / "export", function="case_" + name)
    text = tmp_path / f"{name}.mlir"
    (tmp_path / "export" / "module.mlir").rename(text)
    tensors = {f"arg{i}": value.contiguous() for i, value in enumerate(inputs)}
    tensors |= {f"result{i}": value.clone().contiguous() for i, value in enumerate(results)}
    save_file(tensors, tmp_path / f"{name}.safetensors")
    done = subprocess.run(
        [sys.executable, ROOT / "utils" / "check_normalization.py", "--opt", OPT, text],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
