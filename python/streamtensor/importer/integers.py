"""Integers that torch-mlir computes otherwise than PyTorch: bytes, and ways through floats.

torch-mlir forgets that a tensor of uint8 has no sign where it meets another type, crashes where an
operator on int8 has to convert an operand or to accumulate, and computes the negative and the
floor of a quotient of integers in floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import torch

aten = torch.ops.aten
# Operators that only move elements, and conversions, which torch-mlir does right.
MOVES = frozenset(
    [
        "_reshape_copy",
        "_to_copy",
        "_unsafe_view",
        "alias",
        "as_strided",
        "cat",
        "clone",
        "constant_pad_nd",
        "convert_element_type",
        "detach",
        "expand",
        "flip",
        "gather",
        "index",
        "index_select",
        "permute",
        "repeat",
        "reshape",
        "roll",
        "select",
        "slice",
        "slice_scatter",
        "split",
        "split_with_sizes",
        "squeeze",
        "t",
        "transpose",
        "unbind",
        "unsqueeze",
        "view",
    ]
)


BYTES = (torch.int8, torch.uint8)
# Operators on int8 that torch-mlir cannot lower whatever their operands are.
ACCUMULATIONS = frozenset(["addmm", "baddbmm", "bmm", "convolution", "max", "min", "mm", "mv"])
# Operators that convert operands which do not take part in the type promotion (numbers, and
# tensors of rank 0 beside others) to the type of their result, or to the type they compare in.
CONVERTING = frozenset(
    [
        "add",
        "bitwise_and",
        "bitwise_left_shift",
        "bitwise_or",
        "bitwise_right_shift",
        "bitwise_xor",
        "div",
        "eq",
        "ge",
        "gt",
        "le",
        "lt",
        "maximum",
        "minimum",
        "mul",
        "ne",
        "remainder",
        "rsub",
        "sub",
        "where",
    ]
)


def exact_neg(x: torch.Tensor) -> torch.Tensor:
    """The negative of integers; the smallest one wraps."""
    if x.is_floating_point() or x.is_complex() or x.dtype == torch.bool:
        return NotImplemented
    return x * -1


def exact_floor_divide(x: torch.Tensor, y: torch.Tensor | int | float) -> torch.Tensor:
    """The floor of a quotient of integers, from the exact one towards zero."""
    dtype = torch.result_type(x, y)
    if dtype.is_floating_point:
        return NotImplemented
    x = x.to(dtype)
    y = y.to(dtype) if isinstance(y, torch.Tensor) else wrap(y, dtype)
    quotient = torch.div(x, y, rounding_mode="trunc")
    rest = x - quotient * y
    is_below = (
        (rest < 0) != (y < 0) if isinstance(y, torch.Tensor) else (rest > 0 if y < 0 else rest < 0)
    )
    return quotient - ((rest != 0) & is_below).to(quotient.dtype)


def exact_div(
    x: torch.Tensor, y: torch.Tensor | int | float, *, rounding_mode: str | None = None
) -> torch.Tensor:
    """The same of `torch.div` with `rounding_mode="floor"`."""
    return exact_floor_divide(x, y) if rounding_mode == "floor" else NotImplemented


def exact_remainder_to_zero(x: torch.Tensor, y: torch.Tensor | int | float) -> torch.Tensor:
    """`torch.fmod` of integers: what is left of the quotient towards zero."""
    dtype = torch.result_type(x, y)
    if dtype.is_floating_point:
        return NotImplemented
    x = x.to(dtype)
    return x - torch.div(x, y, rounding_mode="trunc") * y


def exact_power(x: torch.Tensor, exponent: int | float) -> torch.Tensor:
    """A power of integers by products."""
    if x.is_floating_point() or x.is_complex() or not isinstance(exponent, int) or exponent < 0:
        return NotImplemented
    if exponent == 0:
        return torch.ones_like(x)
    if exponent == 1:
        return x.clone()
    half = exact_power(x, exponent // 2)
    return half * half * x if exponent % 2 else half * half


def with_tensor(operator: Callable) -> Callable:
    """The form of an operator on a tensor and a number that takes the number as a tensor."""

    def apply(x: torch.Tensor, number: int) -> torch.Tensor:
        dtype = torch.result_type(x, number)
        return operator(x.to(dtype), torch.full((), wrap(number, dtype), dtype=dtype))

    return apply


# For a table of decompositions.
EXACT_FORMS = {
    aten.neg.default: exact_neg,
    aten.floor_divide.default: exact_floor_divide,
    aten.floor_divide.Scalar: exact_floor_divide,
    aten.div.Tensor_mode: exact_div,
    aten.div.Scalar_mode: exact_div,
    aten.fmod.Tensor: exact_remainder_to_zero,
    aten.fmod.Scalar: exact_remainder_to_zero,
    aten.pow.Tensor_Scalar: exact_power,
    aten.bitwise_or.Scalar: with_tensor(torch.bitwise_or),
    aten.bitwise_xor.Scalar: with_tensor(torch.bitwise_xor),
    aten.__lshift__.Tensor: torch.bitwise_left_shift,
    aten.__rshift__.Tensor: torch.bitwise_right_shift,
}


def wrap(number: int, dtype: torch.dtype) -> int:
    """A number as PyTorch converts it to an integer type: modulo two to the power of its bits."""
    if dtype == torch.bool:
        return int(number != 0)
    bits = torch.iinfo(dtype).bits
    low = number & ((1 << bits) - 1)
    return low - (1 << bits) if dtype.is_signed and low >> (bits - 1) else low


def dtype_of(value: object) -> torch.dtype | None:
    """The element type of a node of one tensor."""
    meta = value.meta.get("val") if isinstance(value, torch.fx.Node) else None
    return meta.dtype if isinstance(meta, torch.Tensor) else None


def widen_bytes(graph: torch.fx.Graph) -> None:
    """Lets operators on bytes compute in int32 where torch-mlir needs it, with results of the type
    they had: all operators on uint8, and those on int8 that accumulate or convert."""
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        if not node.all_input_nodes or name_of(node) in MOVES:
            continue
        convert_operands(graph, node)
        if needs_width(node):
            widen(graph, node)


def needs_width(node: torch.fx.Node) -> bool:
    """Whether torch-mlir crashes on an operator on bytes, or takes uint8 for int8."""
    types = {dtype_of(source) for source in node.all_input_nodes}
    if torch.uint8 in types or node.kwargs.get("dtype") in BYTES:
        return True
    if torch.int8 not in types:
        return False
    if name_of(node) in ACCUMULATIONS:
        return True
    has_number = any(isinstance(value, (int, float)) for value in node.args[:2])
    is_mixed = has_number or bool(types - {torch.int8})
    return name_of(node) in CONVERTING and dtype_of(node) == torch.int8 and is_mixed


def convert_operands(graph: torch.fx.Graph, node: torch.fx.Node) -> None:
    """Converts operands of an operator in bytes to the type that PyTorch computes it in."""
    if name_of(node) not in CONVERTING:
        return
    first = 1 if name_of(node) == "where" else 0
    operands = node.args[first : first + 2]
    if len(operands) < 2:
        return
    values = [each.meta["val"] if isinstance(each, torch.fx.Node) else each for each in operands]
    dtype = torch.result_type(*values)
    if dtype not in BYTES or dtype_of(node) not in (*BYTES, torch.bool):
        return
    converted = []
    for each in operands:
        if isinstance(each, int):
            each = wrap(each, dtype)
        elif dtype_of(each) not in (dtype, torch.bool, None):
            with graph.inserting_before(node):
                each = convert(graph, each, dtype, node)
        converted.append(each)
    node.args = (*node.args[:first], *converted, *node.args[first + 2 :])


def widen(graph: torch.fx.Graph, node: torch.fx.Node) -> None:
    """Lets `node` compute in int32 on operands of bytes, and converts its results back."""
    sources = [source for source in node.all_input_nodes if dtype_of(source) in BYTES]
    with graph.inserting_before(node):
        wide = {source: convert(graph, source, torch.int32, node) for source in sources}
    node.args, node.kwargs = torch.fx.node.map_arg(
        (node.args, node.kwargs), lambda source: wide.get(source, source)
    )
    if node.kwargs.get("dtype") in BYTES:
        node.kwargs = {**node.kwargs, "dtype": torch.int32}
    args, kwargs = torch.fx.node.map_arg(
        (node.args, node.kwargs), lambda source: source.meta["val"]
    )
    before, node.meta["val"] = node.meta["val"], node.target(*args, **kwargs)
    node.meta.pop("tensor_meta", None)
    results = [(node, before)]
    if not isinstance(before, torch.Tensor):
        parts = [user for user in node.users if user.target is operator.getitem]
        results = [(part, before[part.args[1]]) for part in parts]
        for part, _ in results:
            part.meta["val"] = node.meta["val"][part.args[1]]
    for result, own in results:
        restore(graph, result, own.dtype)


def name_of(node: torch.fx.Node) -> str:
    """The operator's name without its overload: "add"."""
    packet = getattr(node.target, "overloadpacket", None)
    return getattr(packet, "__name__", "")


def restore(graph: torch.fx.Graph, node: torch.fx.Node, dtype: torch.dtype) -> None:
    """Converts a result back to the type that it had."""
    if node.meta["val"].dtype == dtype:
        return
    users = list(node.users)
    with graph.inserting_after(node):
        back = convert(graph, node, dtype, node)
    for user in users:
        user.replace_input_with(node, back)


def convert(
    graph: torch.fx.Graph, source: torch.fx.Node, dtype: torch.dtype, like: torch.fx.Node
) -> torch.fx.Node:
    """Adds a conversion of `source` where `graph` inserts, at the line of `like`."""
    node = graph.call_function(aten._to_copy.default, (source,), {"dtype": dtype})
    node.meta = dict(like.meta)
    node.meta.pop("tensor_meta", None)
    node.meta["val"] = aten._to_copy.default(source.meta["val"], dtype=dtype)
    return node
