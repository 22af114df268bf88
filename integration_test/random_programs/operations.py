"""The operations of random programs: what each computes, and how one is drawn.

A draw takes a `Builder` (generate.py), picks operands among its values or asks for
new inputs, and returns operands and attributes, or None where nothing fits. Whether
the result is fit (finite, well conditioned, not too large) the builder decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F

if TYPE_CHECKING:
    from random_programs.generate import Builder

Tensor = torch.Tensor
Drawn = tuple[list[int], dict[str, Any]] | None


@dataclass
class Operation:
    """`margin` gives the quantities whose sign decides between two results."""

    apply: Callable[..., Tensor]
    draw: Callable[[Builder], Drawn]
    margin: Callable[..., Tensor] | None = None
    weight: float = 1.0


OPERATIONS: dict[str, Operation] = {}


def define(
    name: str,
    apply: Callable[..., Tensor],
    draw: Callable[[Builder], Drawn],
    margin: Callable[..., Tensor] | None = None,
    weight: float = 1.0,
) -> None:
    OPERATIONS[name] = Operation(apply, draw, margin, weight)


# --- element by element ----------------------------------------------------------


def draw_unary(builder: Builder) -> Drawn:
    return [builder.pick()], {}


UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "neg": torch.neg,
    "abs": torch.abs,
    "exp": lambda x: torch.exp(x.clamp(max=4.0)),
    "sqrt": lambda x: torch.sqrt(x.abs() + 0.25),
    "rsqrt": lambda x: torch.rsqrt(x * x + 0.25),
    "log": lambda x: torch.log(x.abs() + 0.5),
    "reciprocal": lambda x: torch.reciprocal(x.abs() + 0.5),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "sin": torch.sin,
    "cos": torch.cos,
    "erf": torch.erf,
    "relu": torch.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "softplus": F.softplus,
    "elu": F.elu,
    "leaky_relu": F.leaky_relu,
    "square": torch.square,
    "cube": lambda x: torch.pow(x, 3),
    "expm1": lambda x: torch.expm1(x.clamp(max=4.0)),
    "log1p": lambda x: torch.log1p(x.abs()),
    "mish": F.mish,
    "hardswish": F.hardswish,
    "exp2": lambda x: torch.exp2(x.clamp(max=4.0)),
    "contiguous": lambda x: x.contiguous(),
    "times_itself": lambda x: x * x,
    "plus_itself": lambda x: x + x,
}
for name, function in UNARY.items():
    define(name, function, draw_unary, weight=0.25)


def draw_constant(builder: Builder) -> Drawn:
    return [builder.pick()], {"value": builder.random.choice([0.5, -1.25, 2.0, 3.0, 1e-3, 0.1])}


SCALAR: dict[str, Callable[..., Tensor]] = {
    "add_scalar": lambda x, value: x + value,
    "rsub_scalar": lambda x, value: value - x,
    "mul_scalar": lambda x, value: x * value,
    "div_scalar": lambda x, value: x / value,
    "clamp_min": lambda x, value: x.clamp(min=value),
    "clamp": lambda x, value: x.clamp(-abs(value), abs(value)),
}
for name, function in SCALAR.items():
    define(name, function, draw_constant, weight=0.3)


def draw_binary(builder: Builder) -> Drawn:
    first = builder.pick()
    return [first, builder.partner(first)], {}


BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": lambda x, y: x / (y.abs() + 0.5),
    "maximum": torch.maximum,
    "minimum": torch.minimum,
}
for name, function in BINARY.items():
    weight = 3.0 if name in ("add", "mul") else 0.7
    define(name, function, draw_binary, weight=weight)

define(
    "addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), lambda builder: ternary(builder)
)
define("lerp", lambda x, y, z: torch.lerp(x, y, torch.sigmoid(z)), lambda builder: ternary(builder))


def ternary(builder: Builder) -> Drawn:
    first = builder.pick()
    return [first, builder.partner(first), builder.partner(first)], {}


# --- choices ------------------------------------------------------------------------

define(
    "where",
    lambda x, y, z: torch.where(x > y, z, x),
    ternary,
    margin=lambda x, y, z: x - y,
)
define(
    "where_scalar",
    lambda x, y, value: torch.where(x <= value, y, value),
    lambda builder: (draw_binary(builder)[0], {"value": builder.random.choice([0.0, 0.3, -0.2])}),
    margin=lambda x, y, value: x - value,
)
define(
    "masked_fill",
    lambda x, y, value: x.masked_fill(y < 0, value),
    lambda builder: (draw_binary(builder)[0], {"value": builder.random.choice([0.0, -2.0])}),
    margin=lambda x, y, value: y,
)
define(
    "step",
    lambda x: (x > 0).to(x.dtype),
    draw_unary,
    margin=lambda x: x,
    weight=0.3,
)


define(
    "where_both",
    lambda x, y, z: torch.where((x > 0) & ~(y > 0.5), z, y),
    ternary,
    margin=lambda x, y, z: torch.minimum(x.abs(), (y - 0.5).abs()),
    weight=0.5,
)
define("sign", torch.sign, draw_unary, margin=lambda x: x, weight=0.2)
define("floor", torch.floor, draw_unary, margin=lambda x: x - x.round(), weight=0.2)


def draw_matrix(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 2)
    return None if value is None else ([value], {})


def causal(x: Tensor) -> Tensor:
    rows, columns = x.shape[-2:]
    return torch.ones(rows, columns, dtype=torch.bool).tril(max(columns - rows, 0))


define("tril", torch.tril, draw_matrix, weight=0.5)
define("triu", torch.triu, draw_matrix, weight=0.5)
define(
    "causal_softmax",
    lambda x: torch.softmax(x.masked_fill(~causal(x), float("-inf")), -1),
    draw_matrix,
)


# --- products -------------------------------------------------------------------------


def draw_linear(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 1)
    if value is None:
        return None
    depth, width = builder.shape(value)[-1], builder.size()
    operands = [value, builder.new_input([width, depth], "weight")]
    if builder.random.random() < 0.5:
        operands.append(builder.new_input([width], "weight"))
    return operands, {}


def draw_matmul(builder: Builder) -> Drawn:
    first = builder.pick(lambda shape: len(shape) >= 1)
    if first is None:
        return None
    shape = builder.shape(first)
    depth = shape[-1]

    def fits(other: tuple[int, ...]) -> bool:
        if len(other) < 1 or other[-2 if len(other) > 1 else -1] != depth:
            return False
        return builder.broadcasts(shape[:-2], other[:-2])

    second = builder.pick(fits) if builder.random.random() < 0.6 else None
    if second is None:
        batch = [size if builder.random.random() < 0.6 else 1 for size in shape[:-2]]
        batch = batch[builder.random.randint(0, len(batch)) :]
        second = builder.new_input([*batch, depth, builder.size()], builder.role())
    return [first, second], {}


define("linear", F.linear, draw_linear, weight=2)
define("matmul", torch.matmul, draw_matmul, weight=3)
define("gram", lambda x: x @ x.transpose(-1, -2), draw_matrix)
define("gram_transposed", lambda x: x.transpose(-1, -2) @ x, draw_matrix, weight=0.5)


def draw_attention(builder: Builder) -> Drawn:
    query = builder.pick(lambda shape: len(shape) >= 2)
    if query is None:
        return None
    *batch, _, depth = builder.shape(query)
    same = builder.pick(
        lambda other: other[:-2] == tuple(batch) and other[-1:] == (depth,) and len(other) >= 2
    )
    rows = builder.size()
    key = (
        same
        if same is not None and builder.random.random() < 0.5
        else builder.new_input([*batch, rows, depth])
    )
    rows = builder.shape(key)[-2]
    value = (
        key if builder.random.random() < 0.3 else builder.new_input([*batch, rows, builder.size()])
    )
    return [query, key, value], {}


define("attention", F.scaled_dot_product_attention, draw_attention)
define(
    "causal_attention",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    draw_attention,
    weight=0.5,
)
define(
    "self_attention",
    lambda x: torch.softmax(x @ x.transpose(-1, -2) / x.shape[-1] ** 0.5, -1) @ x,
    draw_matrix,
)


# --- reductions and what is made of them --------------------------------------------------


def draw_reduction(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 1)
    if value is None:
        return None
    rank = len(builder.shape(value))
    dims = sorted(builder.random.sample(range(rank), builder.random.randint(1, rank)))
    if builder.random.random() < 0.3:
        dims = [dim - rank for dim in dims]
    return [value], {"dim": dims, "keepdim": builder.random.random() < 0.5}


REDUCTIONS: dict[str, Callable[..., Tensor]] = {
    "sum": torch.sum,
    "mean": torch.mean,
    "amax": torch.amax,
    "amin": torch.amin,
    "logsumexp": torch.logsumexp,
    "norm": lambda x, dim, keepdim: torch.sqrt((x * x).sum(dim, keepdim) + 1e-3),
    "var": lambda x, dim, keepdim: torch.var(x, dim, correction=0, keepdim=keepdim),
}
for name, function in REDUCTIONS.items():
    define(name, function, draw_reduction, weight=1.0 if name in ("sum", "mean", "amax") else 0.5)


def draw_dim(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 1)
    if value is None:
        return None
    return [value], {"dim": builder.dim(value)}


define("max_values", lambda x, dim: x.max(dim).values, draw_dim, weight=0.5)
define("prod", lambda x, dim: torch.prod(torch.tanh(x) + 1.5, dim), draw_dim, weight=0.3)
define("sum_all", torch.sum, draw_unary, weight=0.3)
define("softmax", lambda x, dim: torch.softmax(x, dim), draw_dim, weight=1.5)
define("log_softmax", lambda x, dim: torch.log_softmax(x, dim), draw_dim, weight=0.5)


def draw_norm(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 1)
    if value is None:
        return None
    operands = [value]
    for _ in range(builder.random.randint(0, 2)):
        operands.append(builder.new_input([builder.shape(value)[-1]], "weight"))
    return operands, {}


def layer_norm(x: Tensor, gain: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], gain, bias, 1e-2)


def rms_norm(x: Tensor, gain: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    scaled = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-2)
    scaled = scaled if gain is None else scaled * (1 + gain)
    return scaled if bias is None else scaled + bias


define("layer_norm", layer_norm, draw_norm)
define("rms_norm", rms_norm, draw_norm)


# --- shapes -----------------------------------------------------------------------------------


def draw_transpose(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 2)
    if value is None:
        return None
    first, second = builder.random.sample(range(len(builder.shape(value))), 2)
    return [value], {"first": first, "second": second}


def draw_permute(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 2)
    if value is None:
        return None
    order = list(range(len(builder.shape(value))))
    builder.random.shuffle(order)
    return [value], {"order": order}


def draw_reshape(builder: Builder) -> Drawn:
    value = builder.pick()
    return [value], {"shape": builder.factors(builder.values[value].numel())}


def draw_flatten(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 2)
    if value is None:
        return None
    first, last = sorted(builder.random.sample(range(len(builder.shape(value))), 2))
    return [value], {"first": first, "last": last}


def draw_unsqueeze(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) <= 3)
    if value is None:
        return None
    return [value], {"dim": builder.random.randint(0, len(builder.shape(value)))}


def draw_expand(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: 1 in shape or len(shape) <= 2)
    if value is None:
        return None
    shape = [builder.size() if size == 1 else size for size in builder.shape(value)]
    while len(shape) < 4 and builder.random.random() < 0.3:
        shape.insert(0, builder.size())
    return [value], {"shape": shape}


def draw_slice(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: max(shape, default=0) > 1)
    if value is None:
        return None
    dim = builder.dim(value)
    size = builder.shape(value)[dim]
    start = builder.random.randint(0, size - 1)
    stop = builder.random.randint(start + 1, size)
    step = builder.random.choice([1, 1, 1, 2, 3])
    return [value], {"dim": dim, "start": start, "stop": stop, "step": step}


def slice_of(x: Tensor, dim: int, start: int, stop: int, step: int) -> Tensor:
    index: list[Any] = [slice(None)] * x.dim()
    index[dim] = slice(start, stop, step)
    return x[tuple(index)]


def draw_select(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 1)
    if value is None:
        return None
    dim = builder.dim(value)
    return [value], {"dim": dim, "index": builder.random.randrange(builder.shape(value)[dim])}


def draw_chunk(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: max(shape, default=0) > 1)
    if value is None:
        return None
    shape = builder.shape(value)
    dim = builder.random.choice([dim for dim, size in enumerate(shape) if size > 1])
    count = builder.random.choice([2, 2, 3, shape[dim]])
    parts = len(torch.empty(shape).chunk(count, dim))
    return [value], {"count": count, "dim": dim, "index": builder.random.randrange(parts)}


def draw_cat(builder: Builder) -> Drawn:
    first = builder.pick(lambda shape: len(shape) >= 1)
    if first is None:
        return None
    shape = builder.shape(first)
    dim = builder.dim(first)

    def fits(other: tuple[int, ...]) -> bool:
        return len(other) == len(shape) and all(
            size == theirs or axis == dim
            for axis, (size, theirs) in enumerate(zip(shape, other, strict=True))
        )

    operands = [first] + [builder.pick(fits) for _ in range(builder.random.choice([1, 1, 2]))]
    builder.random.shuffle(operands)
    return operands, {"dim": dim}


def draw_stack(builder: Builder) -> Drawn:
    first = builder.pick(lambda shape: len(shape) <= 3)
    if first is None:
        return None
    shape = builder.shape(first)
    operands = [first] + [
        builder.pick(lambda other: other == shape) for _ in range(builder.random.choice([1, 1, 2]))
    ]
    return operands, {"dim": builder.random.randint(0, len(shape))}


def draw_pad(builder: Builder) -> Drawn:
    value = builder.pick(lambda shape: len(shape) >= 1)
    if value is None:
        return None
    before, after = builder.random.randint(-1, 2), builder.random.randint(-1, 3)
    return [value], {"before": before, "after": after, "value": builder.random.choice([0.0, 1.5])}


define("transpose", lambda x, first, second: x.transpose(first, second), draw_transpose, weight=2)
define("permute", lambda x, order: x.permute(order), draw_permute, weight=1.5)
define("reshape", lambda x, shape: x.reshape(shape), draw_reshape, weight=2)
define("flatten", lambda x, first, last: x.flatten(first, last), draw_flatten)
define("unsqueeze", lambda x, dim: x.unsqueeze(dim), draw_unsqueeze)
define("squeeze", lambda x: x.squeeze(), draw_unary, weight=0.5)
define("expand", lambda x, shape: x.expand(shape), draw_expand, weight=1.5)
define("slice", slice_of, draw_slice, weight=2)
define("select", lambda x, dim, index: x.select(dim, index), draw_select)
define("chunk", lambda x, count, dim, index: x.chunk(count, dim)[index], draw_chunk, weight=1.5)
define("cat", lambda *parts, dim: torch.cat(parts, dim), draw_cat, weight=2)
define("stack", lambda *parts, dim: torch.stack(parts, dim), draw_stack, weight=1.5)
define(
    "pad",
    lambda x, before, after, value: F.pad(x, (before, after), value=value),
    draw_pad,
    weight=0.5,
)
define(
    "repeat_interleave",
    lambda x, dim: x.repeat_interleave(2, dim),
    draw_dim,
    weight=0.5,
)
define(
    "repeat",
    lambda x, dim: x.repeat(*(1 + (axis == dim) for axis in range(x.dim()))),
    draw_dim,
    weight=0.5,
)
define("roll", lambda x, dim: torch.roll(x, 1, dim), draw_dim, weight=0.5)
define("flip", lambda x, dim: torch.flip(x, [dim]), draw_dim, weight=0.1)
