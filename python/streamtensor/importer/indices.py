"""Indexing by lists that are known: slices and their concatenation.

`x[..., [-1], :]` or `x[:, [0, 2, 3]]` reach the graph as a gather by a constant tensor. A gather
needs random access, a slice only needs an order, and what is known at compile time is one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.export.graph_signature import InputKind

aten = torch.ops.aten
# Elements of a list of indices, and slices that one may become.
MOST_INDICES = 1 << 16
MOST_SLICES = 64


def slice_known_indices(exported: torch.export.ExportedProgram) -> None:
    """Replaces each gather along one dimension whose indices are constant."""
    constants = {
        spec.arg.name: exported.constants[spec.target]
        for spec in exported.graph_signature.input_specs
        if spec.kind == InputKind.CONSTANT_TENSOR
    }
    slice_gathers(exported.graph, constants)


def slice_gathers(graph: torch.fx.Graph, constants: dict[str, torch.Tensor]) -> None:
    """The same of a graph whose nodes of these names are `constants`."""
    for node in list(graph.nodes):
        found = gather_of(node)
        if found is None:
            continue
        source, dim, indices = found
        value = known_value(indices, constants)
        slices = None if value is None else slices_of(value, source.meta["val"].shape[dim])
        if not slices:
            continue
        with graph.inserting_before(node):
            parts = [
                add(graph, node, aten.slice.Tensor, (source, dim, *bounds)) for bounds in slices
            ]
            whole = (
                parts[0] if len(parts) == 1 else add(graph, node, aten.cat.default, (parts, dim))
            )
        node.replace_all_uses_with(whole)
    graph.eliminate_dead_code()


def gather_of(node: torch.fx.Node) -> tuple[torch.fx.Node, int, torch.fx.Node] | None:
    """Returns (source, dimension, indices) of a gather along one dimension."""
    if node.target == aten.index_select.default:
        source, dim, indices = node.args
        rank = source.meta["val"].dim()
        return (source, dim % rank, indices) if rank else None
    if node.target == aten.index.Tensor:
        source, entries = node.args
        given = [(dim, entry) for dim, entry in enumerate(entries) if entry is not None]
        if len(given) == 1:
            return source, given[0][0], given[0][1]
    return None


def known_value(node: Any, constants: dict[str, torch.Tensor]) -> torch.Tensor | None:
    """Computes a vector of integers that depends on constants only."""
    value = node.meta.get("val")
    is_vector = isinstance(value, torch.Tensor) and value.dim() == 1
    if not is_vector or value.dtype not in (torch.int32, torch.int64):
        return None
    if not isinstance(value.shape[0], int) or not 0 < value.shape[0] <= MOST_INDICES:
        return None

    # Each node once: in a residual network the ways to a node are exponentially many.
    known: dict[torch.fx.Node, Any] = {}

    def evaluate(node: torch.fx.Node) -> Any:
        if node not in known:
            known[node] = compute(node)
        return known[node]

    def compute(node: torch.fx.Node) -> Any:
        if node.name in constants:
            return constants[node.name]
        if node.op != "call_function":
            return None
        inputs = {}
        for source in node.all_input_nodes:
            inputs[source] = evaluate(source)
            if inputs[source] is None:
                return None
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), inputs.__getitem__)
        return node.target(*args, **kwargs)

    return evaluate(node)


def slices_of(indices: torch.Tensor, extent: Any) -> list[tuple[int, int, int]] | None:
    """Returns slices (begin, end, step) that together are `indices`; None where that takes too many.

    `extent` is the size of the dimension; indices below zero count from its end.
    """
    values = indices.tolist()
    if min(values) < 0:
        if not isinstance(extent, int):
            return None
        values = [value % extent for value in values]
    slices: list[tuple[int, int, int]] = []
    begin = 0
    while begin < len(values):
        end = begin + 1
        step = values[end] - values[begin] if end < len(values) else 1
        if step > 0:
            while end < len(values) and values[end] - values[end - 1] == step:
                end += 1
        else:
            step = 1
        slices.append((values[begin], values[end - 1] + 1, step if end - begin > 1 else 1))
        begin = end
        if len(slices) > MOST_SLICES:
            return None
    return slices


def add(graph: torch.fx.Graph, like: torch.fx.Node, target: Any, args: tuple) -> torch.fx.Node:
    """Adds a call in place of `like`, which lends its line of the model."""
    node = graph.call_function(target, args)
    node.meta = dict(like.meta)
    # Of another shape; torch-mlir would look here first.
    node.meta.pop("tensor_meta", None)
    values = torch.fx.node.map_arg(args, lambda argument: argument.meta["val"])
    node.meta["val"] = target(*values)
    return node
