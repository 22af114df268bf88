"""Conditions on sizes that torch.export asks of a graph, checked at every size.

Where torch.export cannot prove that a condition holds for all values of a dynamic
dimension, such as min(8 n, 24 n) == 8 n, it can leave it to the graph. The limits
of the dimensions are known, so that it can be tried for each of their values.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch

from streamtensor.errors import StreamTensorError

# Checks on types that torch.export inserts for itself; they hold by construction
# and would keep dead inputs alive.
METADATA = torch.ops.aten._assert_tensor_metadata.default
SIZES = torch.ops.aten._assert_scalar.default
# Combinations of sizes that are tried.
MAX_COMBINATIONS = 1 << 16


def remove_assertions(exported: torch.export.ExportedProgram) -> None:
    """Removes the assertions of a graph; fails where one does not hold for all sizes."""
    graph = exported.graph
    conditions = [node for node in graph.nodes if node.target == SIZES]
    if conditions:
        check_conditions(exported, [node.args[0] for node in conditions])
    for node in list(graph.nodes):
        if node.target in (METADATA, SIZES):
            graph.erase_node(node)
    graph.eliminate_dead_code()


def check_conditions(exported: torch.export.ExportedProgram, conditions: list[Any]) -> None:
    """Evaluates conditions for all values of the symbols that sizes of inputs consist of."""
    sizes: dict[tuple[str, int], Any] = {}
    for node in exported.graph.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder" and isinstance(value, torch.Tensor):
            for dim, extent in enumerate(value.shape):
                sizes[node.name, dim] = extent if isinstance(extent, int) else extent.node.expr
    symbols = sorted(
        {s for size in sizes.values() if not isinstance(size, int) for s in size.free_symbols},
        key=str,
    )
    ranges = [symbol_range(exported, symbol) for symbol in symbols]
    count = 1
    for values in ranges:
        count *= len(values)
    if count > MAX_COMBINATIONS:
        raise StreamTensorError(
            f"the dynamic dimensions cannot be kept: {count} combinations of sizes are too many "
            f"to try a condition that PyTorch cannot prove; give them limits with "
            f"{MAX_COMBINATIONS} combinations or fewer"
        )
    for combination in itertools.product(*ranges):
        at = dict(zip(symbols, combination, strict=True))
        known = {
            key: size if isinstance(size, int) else int(size.subs(at))
            for key, size in sizes.items()
        }
        values: dict[Any, Any] = {}
        for condition in conditions:
            if not evaluate(condition, known, values):
                found = ", ".join(f"{name} = {value}" for name, value in at.items())
                raise StreamTensorError(
                    f"the dynamic dimensions cannot be kept: {condition.meta['val']} does not "
                    f"hold for {found}; narrow the limits of the dimensions"
                )


def symbol_range(exported: torch.export.ExportedProgram, symbol: Any) -> range:
    limits = exported.range_constraints.get(symbol)
    upper = getattr(limits, "upper", None)
    bounded = upper is not None and upper.is_finite and int(upper) < 2**31
    return range(int(limits.lower), int(upper) + 1) if bounded else range(MAX_COMBINATIONS + 1)


def evaluate(node: Any, sizes: dict[tuple[str, int], int], values: dict[Any, Any]) -> Any:
    """Computes a scalar node from the sizes of the inputs; `values` holds what is known."""
    if not isinstance(node, torch.fx.Node):
        return node
    if node not in values:
        if node.target == torch.ops.aten.sym_size.int and node.args[0].op == "placeholder":
            values[node] = sizes[node.args[0].name, node.args[1]]
        else:
            arguments = [evaluate(argument, sizes, values) for argument in node.args]
            values[node] = node.target(*arguments)
    return values[node]
