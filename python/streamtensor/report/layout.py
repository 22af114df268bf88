"""A layered layout of the tasks of a design.

Edges that close a circle are set aside (in the order of the tasks, so that the result is the same
each time). A task stands one layer behind the last that it reads from; a task that reads nothing
stands just in front of the first that reads from it. An edge takes a place in each layer that it
passes. Inside its layer everything goes to the mean position of its neighbours, from layer to layer,
forwards and backwards (Sugiyama, Tagawa and Toda, 1981). Ties keep the order of the design.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 6


@dataclass(frozen=True)
class Layout:
    """Layers of names and of places of edges, from the inputs on."""

    layers: list[list[str]]
    # For each edge the places on its way, which are in `layers` too.
    routes: list[list[str]]


def lay_out(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> Layout:
    """Places `names`; each edge is a pair (from, to) of them."""
    layer = layers_of(names, without_circles(names, edges))
    names = list(names)
    forward: list[tuple[str, str]] = []
    routes: list[list[str]] = []
    for index, (source, target) in enumerate(edges):
        # No name has a space.
        between = range(layer[source] + 1, layer[target])
        route = [f"edge {index} {at}" for at in between]
        layer |= dict(zip(route, between, strict=True))
        names += route
        routes.append(route)
        if layer[source] < layer[target]:
            stops = [source, *route, target]
            forward += pairwise(stops)
    count = 1 + max(layer.values(), default=-1)
    layers: list[list[str]] = [[] for _ in range(count)]
    for name in names:
        layers[layer[name]].append(name)
    before = neighbours(names, [(b, a) for a, b in forward])
    after = neighbours(names, forward)
    for sweep in range(SWEEPS):
        backwards = sweep % 2 == 1
        order = range(count - 2, -1, -1) if backwards else range(1, count)
        for index in order:
            arrange(layers, index, after if backwards else before)
    return Layout(layers, routes)


def neighbours(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {name: [] for name in names}
    for source, target in edges:
        result[source].append(target)
    return result


def without_circles(
    names: Sequence[str], edges: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The edges without those that lead back to a task on the way (depth first)."""
    after = neighbours(names, edges)
    done: set[str] = set()
    back: set[tuple[str, str]] = set()
    for root in names:
        if root in done:
            continue
        path = {root}
        stack = [(root, iter(after[root]))]
        while stack:
            name, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                path.discard(name)
                done.add(name)
            elif following in path:
                back.add((name, following))
            elif following not in done:
                path.add(following)
                stack.append((following, iter(after[following])))
    return [edge for edge in edges if edge not in back]


def layers_of(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    before = neighbours(names, [(b, a) for a, b in edges])
    after = neighbours(names, edges)
    missing = {name: len(before[name]) for name in names}
    ready = [name for name in names if missing[name] == 0]
    layer = dict.fromkeys(names, 0)
    for name in ready:
        for following in after[name]:
            layer[following] = max(layer[following], layer[name] + 1)
            missing[following] -= 1
            if missing[following] == 0:
                ready.append(following)
    for name in names:
        if not before[name] and after[name]:
            layer[name] = min(layer[following] for following in after[name]) - 1
    return layer


def arrange(layers: list[list[str]], index: int, beside: dict[str, list[str]]) -> None:
    """Orders one layer by the mean position of the neighbours, relative to their layers."""
    position = {
        name: (place + 0.5) / len(names)
        for other, names in enumerate(layers)
        if other != index
        for place, name in enumerate(names)
    }
    current = layers[index]

    def mean(item: tuple[int, str]) -> tuple[float, int]:
        place, name = item
        known = [position[other] for other in beside[name] if other in position]
        here = (place + 0.5) / len(current)
        return (sum(known) / len(known) if known else here, place)

    layers[index] = [name for _, name in sorted(enumerate(current), key=mean)]
