"""The decomposition table of the import: torch-mlir's own, and exact forms of ours."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp.decompositions import matmul as python_matmul
from torch.fx.experimental.symbolic_shapes import statically_known_true

from streamtensor.importer.integers import EXACT_FORMS


def exact_gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """GELU in both forms, as PyTorch defines them.

    torch-mlir's own tanh form has 0.797724 where sqrt(2/pi) = 0.7978846 belongs,
    which costs 5e-5 per element.
    """
    if approximate == "tanh":
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * (x * x * x))
        return 0.5 * x * (1.0 + torch.tanh(inner))
    return 0.5 * x * (1.0 + torch.erf(x * math.sqrt(0.5)))


def cropped_pad(x: torch.Tensor, pad: list[int], value: float = 0.0) -> torch.Tensor:
    """Padding by negative amounts as slices; what is left pads only.

    MLIR's folder takes a padding for nothing when the shape stays the same, which
    it does when as much is cropped as is padded.
    """
    if all(not isinstance(amount, int) or amount >= 0 for amount in pad):
        return NotImplemented
    for pair in range(len(pad) // 2):
        before, after = pad[2 * pair], pad[2 * pair + 1]
        dim = x.dim() - 1 - pair
        if before < 0 or after < 0:
            x = x.narrow(dim, max(-before, 0), x.shape[dim] + min(before, 0) + min(after, 0))
    return torch.ops.aten.constant_pad_nd(x, [max(amount, 0) for amount in pad], value)


def has_shape(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Tells equal shapes without asking about run-time sizes.

    A plain comparison takes the sizes of the example for all of them (even one of
    lists of different lengths, which begins with their first elements).
    """
    return x.dim() == y.dim() and all(
        statically_known_true(a == b) for a, b in zip(x.shape, y.shape, strict=True)
    )


def broadcast_where(condition: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """A choice whose branches are both smaller than the condition, with one expanded.

    torch-mlir replaces a choice between equal branches by the branch, and forgets
    that the condition made it larger.
    """
    wide = torch.broadcast_tensors(condition, x, y)[1]
    if has_shape(x, wide) or has_shape(y, wide):
        return NotImplemented
    return torch.ops.aten.where.self(condition, wide, y)


def concatenated_stack(tensors: list[torch.Tensor], dim: int = 0) -> torch.Tensor:
    """A stack along a dimension of its own.

    PyTorch's form concatenates along the next one and cuts the result, which
    a tensor with that dimension of run-time size cannot be.
    """
    return torch.cat([tensor.unsqueeze(dim) for tensor in tensors], dim)


def concatenated_repeat(x: torch.Tensor, repeats: list[int]) -> torch.Tensor:
    """Repetitions of dimensions of run-time size as concatenations.

    torch-mlir adds a dimension and joins it to the repeated one, which a tensor of
    run-time size cannot do.
    """
    sizes = [1] * (len(repeats) - x.dim()) + list(x.shape)
    dynamic = [
        isinstance(count, int) and count > 1 and isinstance(size, torch.SymInt)
        for count, size in zip(repeats, sizes, strict=True)
    ]
    if not any(dynamic):
        return NotImplemented
    x = x.reshape(sizes)
    for dim, count in enumerate(repeats):
        if dynamic[dim]:
            x = torch.cat([x] * count, dim)
    rest = [1 if done else count for done, count in zip(dynamic, repeats, strict=True)]
    return x if all(count == 1 for count in rest) else x.repeat(rest)


def joins_runtime_sizes(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Tells a product of a matrix with batches of rows that both have a run-time size.

    PyTorch's form joins them to one dimension, whose size is no sum of such sizes.
    """
    return (
        x.dim() == 3
        and y.dim() == 2
        and all(isinstance(size, torch.SymInt) for size in x.shape[:2])
    )


def batched_matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Keeps such dimensions apart; any other product is PyTorch's own."""
    if joins_runtime_sizes(x, y):
        return torch.bmm(x, y.unsqueeze(0).expand(x.shape[0], -1, -1))
    return python_matmul(x, y)


def batched_linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """The same of a linear layer."""
    if weight.dim() != 2 or not joins_runtime_sizes(x, weight.t()):
        return NotImplemented
    product = batched_matmul(x, weight.t())
    return product if bias is None else product + bias


def reduced_in_f32(operator: Any) -> Callable:
    """A reduction of 16-bit floats as PyTorch computes it: in f32, rounded once at its end.

    torch-mlir rounds in between, before a sum is divided or its root is taken; in f16
    the sum of 48 numbers of 3000 is infinite, their mean is not.
    """

    def reduced(x: torch.Tensor, *arguments: Any, **keywords: Any) -> torch.Tensor:
        if x.dtype not in (torch.float16, torch.bfloat16):
            return NotImplemented
        dtype = keywords.pop("dtype", None) or x.dtype
        return operator(x.to(torch.float32), *arguments, **keywords).to(dtype)

    return reduced


# Reductions that do something to the sum.
REDUCTIONS = (
    torch.ops.aten.mean.default,
    torch.ops.aten.mean.dim,
    torch.ops.aten.linalg_vector_norm.default,
    torch.ops.aten.norm.Scalar,
    torch.ops.aten.norm.ScalarOpt_dim,
    torch.ops.aten.avg_pool1d.default,
    torch.ops.aten.avg_pool2d.default,
    torch.ops.aten.avg_pool3d.default,
    torch.ops.aten.adaptive_avg_pool1d.default,
    torch.ops.aten._adaptive_avg_pool2d.default,
    torch.ops.aten._adaptive_avg_pool3d.default,
)


def wide_rms_norm(
    x: torch.Tensor,
    shape: list[int],
    weight: torch.Tensor | None = None,
    epsilon: float | None = None,
) -> torch.Tensor:
    """A root mean square norm of 16-bit floats, in f32 up to its end, as in PyTorch."""
    if x.dtype not in (torch.float16, torch.bfloat16):
        return NotImplemented
    wide = x.to(torch.float32)
    if epsilon is None:
        epsilon = torch.finfo(torch.float32).eps
    axes = list(range(-len(shape), 0))
    result = wide * torch.rsqrt(wide.pow(2).mean(axes, keepdim=True) + epsilon)
    if weight is not None:
        result = result * weight
    return result.to(x.dtype)


def decomposition_table(*, has_runtime_sizes: bool) -> dict[Any, Callable]:
    """Returns the table for `ExportedProgram.run_decompositions`."""
    from torch_mlir.fx import get_decomposition_table

    table = dict(get_decomposition_table())
    table[torch.ops.aten.gelu.default] = exact_gelu
    table[torch.ops.aten.constant_pad_nd.default] = cropped_pad
    table[torch.ops.aten.where.self] = broadcast_where
    if has_runtime_sizes:
        # Any entry replaces PyTorch's form of all products, so only where needed.
        table[torch.ops.aten.matmul.default] = batched_matmul
    table[torch.ops.aten.linear.default] = batched_linear
    table[torch.ops.aten.stack.default] = concatenated_stack
    table[torch.ops.aten.repeat.default] = concatenated_repeat
    table[torch.ops.aten.rms_norm.default] = wide_rms_norm
    table.update(EXACT_FORMS)
    for operator in REDUCTIONS:
        table[operator] = reduced_in_f32(operator)
    return table
