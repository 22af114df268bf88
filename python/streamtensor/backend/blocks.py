"""Finds the blocks that a model repeats, such as its decoder layers.

A design serves all blocks of the same structure, so the graph is cut where one
begins. A block is an element of a container of modules of one class, the outermost
one that an operator stands in.
"""

from __future__ import annotations

import re
from collections import defaultdict

import torch

# The last part of the path of an element: `layers.3`, `layers[3]`, `_modules['3']`.
ELEMENT = re.compile(r"^(.*?)(?:\.|\[|_modules\[')(\d+)(?:\]|'\])?$")


def module_paths(node: torch.fx.Node) -> list[tuple[str, str]]:
    """The modules that a node was executed in from the outside in: path, class."""
    stack = node.meta.get("nn_module_stack") or {}
    return [(str(path), getattr(kind, "__name__", str(kind))) for path, kind in stack.values()]


def repeated_blocks(graph: torch.fx.Graph) -> dict[torch.fx.Node, tuple[str, str]]:
    """Maps each operator in a repeated block to the container's path and the block's."""
    classes: dict[str, dict[str, str]] = defaultdict(dict)
    for node in graph.nodes:
        for path, kind in module_paths(node):
            element = ELEMENT.match(path)
            if element:
                classes[element.group(1)][path] = kind
    containers = {
        container
        for container, elements in classes.items()
        if len(elements) > 1 and len(set(elements.values())) == 1
    }
    blocks = {}
    for node in graph.nodes:
        for path, _ in module_paths(node):
            element = ELEMENT.match(path)
            if node.op == "call_function" and element and element.group(1) in containers:
                blocks[node] = (element.group(1), path)
                break
    return blocks


def display_path(path: str) -> str:
    """A module path as a user writes it, without what torch.compile puts in front."""
    path = re.sub(r"^L\['(?:self|[^']*)'\](?:\[\d+\])?\.?", "", path)
    path = re.sub(r"\.?_modules\['([^']*)'\]", r".\1", path)
    return path.strip(".") or "the module"
