"""The command `streamtensor compare`: a module or a model against PyTorch, operator by operator."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch.utils import _pytree as pytree

from streamtensor.designs import DEFAULT_TARGET, chunks_of
from streamtensor.errors import StreamTensorError, UsageError
from streamtensor.exporter import load_factory
from streamtensor.manifest import write_json
from streamtensor.models.host import load_host
from streamtensor.models.quantize import load_in_precision
from streamtensor.module_compiler import capture_module, compile_program
from streamtensor.output import require_parent, scratch_directory
from streamtensor.precision import Precision
from streamtensor.progress import step
from streamtensor.runtime.command import find_model, prompt_ids
from streamtensor.runtime.generation import ModelDescription, check_request
from streamtensor.runtime.model_operators import ModelOperators
from streamtensor.runtime.operators import (
    OperatorComparison,
    compare_operators,
    record,
)

# What was compared, and how.
Comparisons = Iterator[tuple[str, OperatorComparison]]


def command_compare(options: argparse.Namespace, precision: Precision | None) -> int:
    """Compares each operator with PyTorch; returns 1 where one is wrong.

    `precision` is that of a module of one's own, None for a language model.
    """
    if options.json:
        require_parent(Path(options.json))
    is_module = precision is not None
    if is_module == (options.prompt is not None or options.prompt_ids is not None):
        raise UsageError(
            "a module is compared on its example inputs; leave --prompt and --prompt-ids out"
            if is_module
            else "expected --prompt or --prompt-ids: the tokens on which a language model is compared"
        )
    compared = compare_factory(options, precision) if is_module else compare_model(options)
    results = []
    for name, comparison in compared:
        results.append((name, comparison))
        print(describe(name, comparison), flush=True)
    if not any(comparison.compared for _, comparison in results):
        raise StreamTensorError(
            "nothing could be compared: the design has no operators, it only moves data"
        )
    if options.json:
        write_json(Path(options.json), to_json(results))
    wrong = [(name, error) for name, comparison in results for error in comparison.wrong]
    for name, error in wrong:
        print(f"different: {name}: {error}")
    if not wrong:
        return 0
    print(f"the first operator that leaves its tolerance: {wrong[0][0]}: {wrong[0][1]}")
    return 1


def compare_factory(options: argparse.Namespace, precision: Precision) -> Comparisons:
    """Compiles the module of FILE.py:FACTORY and compares it on its example inputs."""
    module, inputs, dynamic_shapes = load_factory(options.model)
    with step("exporting the module"):
        program, inputs = capture_module(module, inputs, dynamic_shapes, precision)
    leaves = pytree.tree_leaves(inputs)
    chosen = [leaves[argument.input_index] for argument in program.inputs]
    with scratch_directory("streamtensor-compare-") as scratch:
        design = scratch / "design"
        compile_program(program, design, options.target or DEFAULT_TARGET)
        names = [argument.name for argument in program.inputs]
        with step("running it in C simulation"):
            recording = record(design, dict(zip(names, chosen, strict=True)))
        yield options.model, compare_operators(design, program, chosen, recording.values)


def compare_model(options: argparse.Namespace) -> Comparisons:
    """Compares the last steps of a prompt: of the tokens that a launch takes, and of one."""

    directory = find_model(options, 1)
    description = ModelDescription.read(directory)
    host = load_host(directory / "host")
    prompt = prompt_ids(options, host.tokenizer)
    check_request(description, prompt, 1)
    with step(f"loading PyTorch's {host.source.name} in {host.precision}"):
        model, _ = load_in_precision(host.source, host.precision)
    with step("importing the layer and the head"):
        operators = ModelOperators(directory, model, host.precision)
    positions = [position for position, _ in chunks_of(len(prompt), description.chunk)][-1:]
    if positions[0] != len(prompt) - 1:
        positions.append(len(prompt) - 1)
    for position in positions:
        count = len(prompt) - position
        tokens = f"{count} tokens" if count > 1 else "one token"
        for name, comparison in operators.compare(prompt, position):
            yield f"{name}, {tokens} at position {position}", comparison


def describe(name: str, comparison: OperatorComparison) -> str:
    """One line about a design that was run."""
    return (
        f"{name}: {comparison.compared} values compared in {len(comparison.errors)} FIFOs, "
        f"{len(comparison.wrong)} different; the largest error is {comparison.closest:.3g} of what is allowed"
    )


def to_json(results: list[tuple[str, OperatorComparison]]) -> dict[str, Any]:
    """The content of the --json file."""

    return {
        "label": "simulated",
        "designs": [
            {
                "name": name,
                "operators": comparison.operators,
                "compared": comparison.compared,
                "different": len(comparison.wrong),
                "values": [
                    dataclasses.asdict(error) | {"right": error.is_right}
                    for error in comparison.errors
                ],
            }
            for name, comparison in results
        ],
    }
