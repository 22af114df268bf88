"""Products whose weight is larger than a memory channel of a device, cut by columns.

The head of a language model multiplies by a matrix of the whole vocabulary. It becomes
several products with an equal share of the columns each, which one design serves, and a
concatenation. The shares of the weight are views of it.
"""

from __future__ import annotations

from typing import Any

import torch

from streamtensor.importer.indices import add

aten = torch.ops.aten

# Half of the channels of the known devices with the smallest ones.
MOST_BYTES = 1 << 28
# Shares of equal size may be this many times as many as needed.
MOST_FACTOR = 4


def cut_large_products(
    graph: torch.fx.Graph, weights: set[str]
) -> dict[torch.fx.Node, tuple[str, str]]:
    """Cuts the large products of a graph; names of shares of weights are added to `weights`.

    Maps each operator of a share to the names of the product and of the share.
    """
    shares: dict[torch.fx.Node, tuple[str, str]] = {}
    for node in list(graph.nodes):
        if node.target not in (aten.mm.default, aten.addmm.default):
            continue
        factor = node.args[-1]
        is_transposed = factor.target in (aten.permute.default, aten.t.default)
        weight = factor.args[0] if is_transposed else factor
        value = weight.meta["val"]
        size = value.numel() * value.dtype.itemsize
        if weight.name not in weights or size <= MOST_BYTES:
            continue
        columns = value.shape[0 if is_transposed else 1]
        width = share_width(columns, size)
        parts = []
        for index, begin in enumerate(range(0, columns, width)):
            bounds = (begin, min(begin + width, columns))
            own = cut_product(node, weight, is_transposed, bounds, weights)
            shares |= dict.fromkeys(own, (node.name, f"{node.name}.{index}"))
            parts.append(own[-1])
        with graph.inserting_before(node):
            whole = add(graph, node, aten.cat.default, (parts, 1))
        node.replace_all_uses_with(whole)
        graph.erase_node(node)
    graph.eliminate_dead_code()
    return shares


def share_width(columns: int, size: int) -> int:
    """Columns of a share: the most that fit and divide them, or the most that fit."""
    fewest = -(-size // MOST_BYTES)
    for count in range(fewest, MOST_FACTOR * fewest + 1):
        if columns % count == 0:
            return columns // count
    return -(-columns // fewest)


def cut_product(
    node: torch.fx.Node,
    weight: torch.fx.Node,
    is_transposed: bool,
    bounds: tuple[int, int],
    weights: set[str],
) -> list[torch.fx.Node]:
    """Adds the product with one share of the columns; returns its operators, the last its result."""
    graph = node.graph

    def insert(target: Any, args: tuple) -> torch.fx.Node:
        with graph.inserting_before(node):
            return add(graph, node, target, args)

    share = insert(aten.slice.Tensor, (weight, 0 if is_transposed else 1, *bounds))
    weights.add(share.name)
    own = []
    factor = share
    if is_transposed:
        factor = insert(aten.permute.default, (share, [1, 0]))
        own.append(factor)
    arguments = list(node.args)
    arguments[-1] = factor
    if node.target == aten.addmm.default and arguments[0].meta["val"].shape[-1] > 1:
        rank = arguments[0].meta["val"].dim()
        arguments[0] = insert(aten.slice.Tensor, (arguments[0], rank - 1, *bounds))
        own.append(arguments[0])
    own.append(insert(node.target, tuple(arguments)))
    own[-1].kwargs = dict(node.kwargs)
    return own
