"""A partition as a program of the importer, written so that equal partitions have equal text.

Names of the model and its lines are left out: the operators of a partition are
numbered, and messages of the compiler name those numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx.passes.utils.fuser_utils import fuse_as_graphmodule

from streamtensor.importer.locations import model_line
from streamtensor.importer.program import Argument, Program, Result

# The file of a design's export that lists its operators; line numbers are their places.
OPERATORS = "operators.txt"
PLACE = re.compile(re.escape(OPERATORS) + r":(\d+)")
FUNCTION = "partition"
SUMMARY = re.compile(r"function '.*' cannot be compiled")


@dataclass
class Partition:
    """Operators that become one design.

    `nodes` are those of the whole graph, in order; operator number i (from 1) of
    `program` is `nodes[i - 1]`. `structure` is equal for partitions that one design
    serves.
    """

    nodes: list[torch.fx.Node]
    program: Program
    structure: str
    lines: list[str]


def make_partition(
    module: torch.fx.GraphModule, nodes: list[torch.fx.Node], weights: set[str]
) -> Partition:
    """Copies `nodes` out of a graph; `weights` are the names of nodes that are parameters."""
    part, sources, _ = fuse_as_graphmodule(module, nodes, FUNCTION, always_return_tuple=True)
    graph = part.graph
    arguments = []
    for index, source in enumerate(sources):
        value = source.meta["val"]
        role = "weight" if source.name in weights else "input"
        arguments.append(
            Argument(f"arg{index}", role, tuple(value.shape), value.dtype, f"{role} {index}")
        )
    calls = [node for node in graph.nodes if node.op == "call_function"]
    results = []
    for node in graph.output_node().args[0]:
        value = node.meta["val"]
        source = f"operator {calls.index(node) + 1}"
        results.append(Result(f"result{len(results)}", tuple(value.shape), value.dtype, source))
    structure = describe_graph(graph, [argument.role for argument in arguments])
    lines = [f"{node.target} at {model_line(node)}" for node in calls]
    for number, node in enumerate(calls, 1):
        node.meta["stack_trace"] = f'File "{OPERATORS}", line {number}'
        node.meta["nn_module_stack"] = {}
    return Partition(nodes, Program(FUNCTION, graph, arguments, results), structure, lines)


def describe_graph(graph: torch.fx.Graph, roles: Sequence[str]) -> str:
    """A text that two graphs share exactly if they compute the same from the same types."""
    numbers: dict[torch.fx.Node, int] = {}
    lines = []

    def spell(argument: Any) -> str:
        def numbered(node: torch.fx.Node) -> str:
            return f"%{numbers[node]}"

        return repr(torch.fx.node.map_arg(argument, numbered))

    remaining = iter(roles)
    for node in graph.nodes:
        if node.op == "placeholder":
            value = node.meta["val"]
            text = f"{next(remaining)} {value.dtype} {list(value.shape)}"
        else:
            text = f"{node.target} {spell(node.args)} {spell(node.kwargs)}"
        lines.append(text)
        numbers[node] = len(numbers)
    return "\n".join(lines)


def refused_operators(messages: str) -> dict[int, str]:
    """Reads from the compiler's messages which operators it refuses, by number, and why."""
    found: dict[int, str] = {}
    for line in messages.splitlines():
        _, is_error, reason = line.partition("error: ")
        place = PLACE.search(line)
        # The sum of the others, which stands at the first operator.
        if SUMMARY.match(reason):
            continue
        if is_error and place:
            found.setdefault(int(place.group(1)), PLACE.sub("this operator", reason).strip())
    return found


def first_error(messages: str) -> str:
    """The first error of the compiler, or its first line."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return (errors or lines or ["it gave no reason"])[0]
