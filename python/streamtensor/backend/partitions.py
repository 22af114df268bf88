"""Cuts a graph into partitions for the device, without a cycle between them.

Each operator for the device has a label: the repeated block that it stands in, or
none. First, operators get a level: that of the operators before them, one more where
label or place changes. Operators of one label and level form a group; an edge between
groups always leads to a higher level, so that groups have no cycle. Then groups of one
label are joined wherever no other path leads from one to the other. Operators that
only weights and constants reach, such as the transpose of a weight, could come at any
time: they get the highest level that their users allow, and so stand with these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any

import torch
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from streamtensor.backend.placement import is_call

PREFIX = "device_"
# The level of inputs: below all others.
FIRST = -(1 << 30)


def group_nodes(
    graph: torch.fx.Graph,
    label_of: Callable[[torch.fx.Node], Hashable | None],
    weights: Collection[str] = (),
) -> list[list[torch.fx.Node]]:
    """Returns groups of operators that can be run as a whole, each in the graph's order.

    `label_of` is None for an operator of the host, `weights` are names of inputs. The
    groups are in the order of their first operators.
    """
    labels = {node: label_of(node) if is_call(node) else None for node in graph.nodes}
    levels: dict[torch.fx.Node, int] = {}
    # In the order of the graph.
    free: dict[torch.fx.Node, None] = {}
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            levels[node] = FIRST
            if node.op == "get_attr" or node.name in weights:
                free[node] = None
        elif is_call(node) and all(source in free for source in node.all_input_nodes):
            free[node] = None
        else:
            levels[node] = max(
                (
                    levels[source] + (0 if is_same(labels, source, node) else 1)
                    for source in node.all_input_nodes
                    if source in levels
                ),
                default=0,
            )
    for node in reversed(free):
        if is_call(node):
            levels[node] = min(
                (levels[user] - (0 if is_same(labels, node, user) else 1) for user in node.users),
                default=0,
            )
    # An operator of the host is a group of its own.
    group_of = {
        node: (node if labels[node] is None else labels[node], levels[node]) for node in graph.nodes
    }
    return join_groups(graph, group_of, labels)


def is_same(labels: dict[torch.fx.Node, Any], one: torch.fx.Node, other: torch.fx.Node) -> bool:
    return labels[one] is not None and labels[one] == labels[other]


def join_groups(
    graph: torch.fx.Graph,
    group_of: dict[torch.fx.Node, Any],
    labels: dict[torch.fx.Node, Hashable | None],
) -> list[list[torch.fx.Node]]:
    members: dict[Any, list[torch.fx.Node]] = {}
    for node in graph.nodes:
        members.setdefault(group_of[node], []).append(node)
    users: dict[Any, set[Any]] = {group: set() for group in members}
    for node in graph.nodes:
        for source in node.all_input_nodes:
            if group_of[source] != group_of[node]:
                users[group_of[source]].add(group_of[node])
    by_label: dict[Hashable, list[Any]] = {}
    for group, nodes in members.items():
        label = labels[nodes[0]]
        if label is not None:
            by_label.setdefault(label, []).append(group)
    for groups in by_label.values():
        groups.sort(key=lambda group: group[1])
        kept: list[Any] = []
        for group in groups:
            for other in kept:
                if not has_detour(users, other, group) and not has_detour(users, group, other):
                    join(users, members, other, group)
                    break
            else:
                kept.append(group)
    order = {node: index for index, node in enumerate(graph.nodes)}
    found = [
        sorted(members[group], key=order.__getitem__)
        for groups in by_label.values()
        for group in groups
        if group in members
    ]
    return sorted(found, key=lambda nodes: order[nodes[0]])


def has_detour(users: dict[Any, set[Any]], start: Any, end: Any) -> bool:
    """Whether a path leads from `start` to `end` through another group."""
    todo = [group for group in users[start] if group != end]
    seen = set(todo)
    while todo:
        for group in users[todo.pop()]:
            if group == end:
                return True
            if group not in seen:
                seen.add(group)
                todo.append(group)
    return False


def join(
    users: dict[Any, set[Any]], members: dict[Any, list[torch.fx.Node]], kept: Any, gone: Any
) -> None:
    members[kept] += members.pop(gone)
    users[kept] = (users[kept] | users.pop(gone)) - {kept, gone}
    for targets in users.values():
        if gone in targets:
            targets.discard(gone)
            targets.add(kept)
    users[kept].discard(kept)


def cut(module: torch.fx.GraphModule, groups: list[list[torch.fx.Node]]) -> list[str]:
    """Makes each group a submodule that returns a tuple; returns their names in order."""
    fuse_by_partitions(
        module, [dict.fromkeys(group) for group in groups], PREFIX, always_return_tuple=True
    )
    module.recompile()
    return [f"{PREFIX}{index}" for index in range(len(groups))]
