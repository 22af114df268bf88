"""Integers that torch-mlir computes otherwise than PyTorch: unsigned bytes, and ways through floats.

torch-mlir forgets that a tensor of uint8 has no sign where it meets another type, and computes the
negative and the floor of a quotient of integers in floats.
"""

from __future__ import annotations

import operator

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


def exact_neg(x: torch.Tensor) -> torch.Tensor:
    """The negative of integers; the smallest one wraps."""
    if x.is_floating_point() or x.is_complex() or x.dtype == torch.bool:
        return NotImplemented
    return x * -1


def exact_floor_divide(x: torch.Tensor, y: torch.Tensor | int | float) -> torch.Tensor:
    """The floor of a quotient of integers, from the exact one towards zero."""
    if torch.result_type(x, y).is_floating_point:
        return NotImplemented
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


def is_byte(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.uint8


def widen_bytes(graph: torch.fx.Graph) -> None:
    """Lets operators on tensors of uint8 compute in int32, with results of the type they had."""
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        sources = [source for source in node.all_input_nodes if is_byte(source)]
        if not sources or name_of(node) in MOVES:
            continue
        with graph.inserting_before(node):
            wide = {source: convert(graph, source, torch.int32, node) for source in sources}
        node.args, node.kwargs = torch.fx.node.map_arg(
            (node.args, node.kwargs), lambda source, wide=wide: wide.get(source, source)
        )
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
