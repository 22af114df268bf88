"""Finds every operator of a graph that cannot be lowered, not only the first.

torch-mlir stops at the first operator it cannot legalize and may crash on some.
Here each distinct call of the graph is lowered alone, in child processes; a child
that crashes names the call it died on, and the next child goes on behind it.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from streamtensor.importer.child import run_in_child
from streamtensor.importer.locations import ModelLine, model_line

# What to do, by a part of the operator's name.
ADVICE = (
    (
        ("topk", "sort", "argmax", "kthvalue"),
        "return the tensor it selects from and select on the host",
    ),
    (
        ("cumsum", "cumprod", "cummax", "logcumsumexp"),
        "multiply by a triangular matrix of ones, or pass the sums in as an input",
    ),
    (
        ("index_put", "index_copy", "scatter", "put_", "index_add"),
        "return the new values as a result and write them on the host, or use torch.where",
    ),
    (
        ("rand", "dropout", "bernoulli", "multinomial", "normal"),
        "draw random numbers on the host and pass them in as an input",
    ),
    (
        ("nonzero", "unique", "masked_select"),
        "its result has no static shape; use torch.where with a full-size result",
    ),
    (
        ("fft", "complex", "polar", "view_as_real"),
        "write it with real tensors, such as a cosine and a sine part",
    ),
)
NUMBER_ADVICE = "pass the number in as an input, or export with a fixed size"
# For a part of a language model, whose code is not the user's.
OTHER_MODEL = (
    "no option changes that: take another model, such as a dense one instead of a mixture of "
    "experts; docs/language-models.md says which can be compiled"
)
DEFAULT_ADVICE = "rewrite it with supported operators, or compute it on the host and pass it in"


@dataclass
class Finding:
    """One operator that cannot be compiled; `advice` is for the author of a module."""

    operator: str
    line: ModelLine
    reason: str
    advice: str | None


def diagnose(
    program: Any,
    lower_graph: Callable[[torch.fx.Graph, str], str],
    foreign_ops: Callable[[str], list[str]],
) -> list[Finding]:
    """Returns the unsupported operators of `program` in the order of its graph.

    An operator that a line calls with several types is one of them.
    """
    calls = distinct_calls(program.graph)
    reasons: dict[int, str] = {}

    def probe_from(start: int, note: Callable[[Any], None]) -> None:
        for index in range(start, len(calls)):
            note(("start", index))
            reason = probe(calls[index], lower_graph, foreign_ops)
            if reason:
                note(("bad", (index, reason)))

    start = 0
    while start < len(calls):
        result = run_in_child(lambda note, start=start: probe_from(start, note))
        reasons.update(value for kind, value in result.notes if kind == "bad")
        if not result.crashed:
            break
        started = [value for kind, value in result.notes if kind == "start"]
        last = started[-1] if started else start
        reasons[last] = f"torch-mlir crashes on it ({result.error})"
        start = last + 1
    found = [
        Finding(
            operator_name(calls[index]),
            model_line(calls[index], program.prefix),
            reasons[index],
            None if program.is_part_of_model else advice_for(calls[index]),
        )
        for index in sorted(reasons)
    ]
    return [each for index, each in enumerate(found) if each not in found[:index]]


def distinct_calls(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    """Returns the graph's calls without repetitions on the same line with the same types."""
    seen: set[str] = set()
    calls = []
    for node in graph.nodes:
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        key = str(
            (node.target, str(model_line(node)), signature(node.args), signature(node.kwargs))
        )
        if key not in seen:
            seen.add(key)
            calls.append(node)
    return calls


def signature(argument: Any) -> str:
    """Describes a call's arguments by shape and type instead of by name."""

    def describe(node: torch.fx.Node) -> str:
        value = node.meta.get("val")
        return f"{getattr(value, 'dtype', value)}{list(getattr(value, 'shape', []))}"

    return str(torch.fx.node.map_arg(argument, lambda node: describe(node)))


def probe(
    node: torch.fx.Node,
    lower_graph: Callable[[torch.fx.Graph, str], str],
    foreign_ops: Callable[[str], list[str]],
) -> str | None:
    """Lowers one call alone; returns why that fails, None where it does not."""
    graph = torch.fx.Graph()
    placeholders: dict[torch.fx.Node, torch.fx.Node] = {}

    def placeholder(operand: torch.fx.Node) -> torch.fx.Node:
        if operand not in placeholders:
            placeholders[operand] = graph.placeholder(operand.name)
            placeholders[operand].meta = dict(operand.meta)
        return placeholders[operand]

    # Operands first, in order: a placeholder must stand before the call.
    torch.fx.node.map_arg((node.args, node.kwargs), placeholder)
    call = graph.node_copy(node, placeholder)
    value = node.meta.get("val")
    graph.output(tuple(outputs_of(graph, call, value)))
    printed = os.lseek(2, 0, os.SEEK_END)
    try:
        names = foreign_ops(lower_graph(graph, "probe"))
    except Exception as error:
        if is_number(node):
            return "it computes a number from a run-time size"
        # In a child, descriptor 2 is a file: what torch-mlir printed can be read back.
        text = os.pread(2, 1 << 20, printed).decode(errors="replace")
        reason = first_diagnostic(text) or str(error).strip().splitlines()[0]
        return f"torch-mlir refuses it ({reason})"
    if names:
        return f"torch-mlir lowers it to {', '.join(names)}, which stock MLIR does not have"
    return None


def outputs_of(graph: torch.fx.Graph, call: torch.fx.Node, value: Any) -> list[torch.fx.Node]:
    if not isinstance(value, (tuple, list)):
        return [call]
    results = []
    for index, item in enumerate(value):
        if item is None:
            continue
        element = graph.call_function(operator.getitem, (call, index))
        element.meta["val"] = item
        results.append(element)
    return results


def first_diagnostic(text: str) -> str | None:
    """Returns the first error of MLIR in `text`, without its location and operands."""
    for line in text.splitlines():
        _, found, message = line.partition("error: ")
        if found:
            return message.split(": %")[0].strip()
    return None


def is_number(node: torch.fx.Node) -> bool:
    """Tells a function of Python on sizes, such as sym_float, from an operator on tensors."""
    return not isinstance(node.target, torch._ops.OpOverload)


def operator_name(node: torch.fx.Node) -> str:
    return node.target.__name__ if is_number(node) else str(node.target)


def advice_for(node: torch.fx.Node) -> str:
    return NUMBER_ADVICE if is_number(node) else advice(operator_name(node))


def advice(name: str) -> str:
    for parts, text in ADVICE:
        if any(part in name for part in parts):
            return text
    return DEFAULT_ADVICE
