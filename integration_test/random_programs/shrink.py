"""Makes a failing program small: fewer results, fewer steps, smaller sizes.

Greedy: the first candidate that is a fit program and fails in the same way is the
next program, until none does.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import torch

from random_programs.generate import fit
from random_programs.program import Input, Program, Step


def shrink(
    program: Program, fails: Callable[[Program], bool], limit: int = 300
) -> tuple[Program, int]:
    """Returns the smallest program found, and how many candidates were tried."""
    tried = 0
    seen = {program.to_json()}
    progress = True
    while progress:
        progress = False
        for candidate in candidates(program):
            candidate = candidate.pruned()
            text = candidate.to_json()
            if text in seen or not candidate.steps or not fit(candidate):
                continue
            seen.add(text)
            if tried == limit:
                return program, tried
            tried += 1
            if fails(candidate):
                program, progress = candidate, True
                break
    return program, tried


def candidates(program: Program) -> Iterator[Program]:
    """Simpler programs, the boldest first."""
    yield from fewer_results(program)
    yield from fewer_steps(program)
    yield from plainer(program)
    yield from smaller_sizes(program)


def fewer_results(program: Program) -> Iterator[Program]:
    for result in dict.fromkeys(program.results):
        yield variant(program, results=[result])
    for index in range(len(program.results)):
        if len(program.results) > 1:
            yield variant(program, results=program.results[:index] + program.results[index + 1 :])
    # What a step in the middle computes, instead of the end.
    count = len(program.inputs)
    for value in range(count, count + len(program.steps)):
        if value not in program.results:
            yield variant(program, results=[value])


def fewer_steps(program: Program) -> Iterator[Program]:
    """A step becomes an input, or one of its operands of the same shape."""
    shapes = [tuple(value.shape) for value in program.run(program.data())]
    count = len(program.inputs)
    for position in reversed(range(len(program.steps))):
        value = count + position
        yield cut(program, position, list(shapes[value]))
        for argument in dict.fromkeys(program.steps[position].args):
            if shapes[argument] == shapes[value]:
                yield redirected(program, value, argument)


def plainer(program: Program) -> Iterator[Program]:
    """No options, fewer run-time sizes, weights as inputs, plain operations instead of odd ones."""
    for index, size in enumerate(program.sizes):
        changed = copy.deepcopy(program)
        del changed.sizes[index]
        yield changed
        for other in range(len(size.others)):
            if len(size.others) > 1:
                changed = copy.deepcopy(program)
                for remaining in changed.sizes:
                    del remaining.others[other]
                yield changed
    for option in program.options:
        changed = copy.deepcopy(program)
        del changed.options[option]
        yield changed
    for index, entry in enumerate(program.inputs):
        if entry.role != "input":
            changed = copy.deepcopy(program)
            changed.inputs[index].role = "input"
            yield changed
    for position, step in enumerate(program.steps):
        if len(step.args) == 1 and not step.attrs and step.op != "neg":
            changed = copy.deepcopy(program)
            changed.steps[position].op = "neg"
            yield changed
        elif len(step.args) == 2 and not step.attrs and step.op not in ("add", "matmul"):
            changed = copy.deepcopy(program)
            changed.steps[position].op = "add"
            yield changed


def smaller_sizes(program: Program) -> Iterator[Program]:
    """Every extent of one size becomes a smaller one, in inputs and attributes."""
    sizes = sorted({size for entry in program.inputs for size in entry.shape}, reverse=True)
    for size in sizes:
        for smaller in dict.fromkeys([1, 2, 3, size // 2, size - 1]):
            if 0 < smaller < size:
                yield resized(program, size, smaller)
    for index, entry in enumerate(program.inputs):
        for dim, size in enumerate(entry.shape):
            for smaller in dict.fromkeys([1, 2, size // 2]):
                if 0 < smaller < size:
                    changed = copy.deepcopy(program)
                    changed.inputs[index].shape[dim] = smaller
                    yield changed
        if entry.shape and entry.shape[0] == 1:
            changed = copy.deepcopy(program)
            del changed.inputs[index].shape[0]
            yield changed


def variant(program: Program, results: list[int]) -> Program:
    changed = copy.deepcopy(program)
    changed.results = results
    return changed


def redirected(program: Program, value: int, other: int) -> Program:
    changed = copy.deepcopy(program)
    for step in changed.steps:
        step.args = [other if argument == value else argument for argument in step.args]
    changed.results = [other if result == value else result for result in changed.results]
    return changed


def cut(program: Program, position: int, shape: list[int]) -> Program:
    """Step `position` becomes the last input; values are numbered anew."""
    count = len(program.inputs)
    cut_value = count + position

    def number(value: int) -> int:
        if value == cut_value:
            return count
        return value + (count <= value < cut_value)

    steps = [
        Step(step.op, [number(argument) for argument in step.args], copy.deepcopy(step.attrs))
        for index, step in enumerate(program.steps)
        if index != position
    ]
    changed = copy.deepcopy(program)
    changed.inputs.append(Input(shape))
    changed.steps = steps
    changed.results = [number(result) for result in program.results]
    return changed


def resized(program: Program, size: int, smaller: int) -> Program:
    changed = copy.deepcopy(program)
    for entry in changed.inputs:
        entry.shape = [smaller if extent == size else extent for extent in entry.shape]
    values: list[torch.Tensor] = changed.data()
    count = len(changed.inputs)
    for step in changed.steps:
        if "shape" in step.attrs:
            step.attrs["shape"] = [
                smaller if extent == size else extent for extent in step.attrs["shape"]
            ]
        if step.op == "slice" and step.args[0] < count:
            limit = values[step.args[0]].shape[step.attrs["dim"]]
            step.attrs["stop"] = min(step.attrs["stop"], limit)
            step.attrs["start"] = min(step.attrs["start"], max(step.attrs["stop"] - 1, 0))
    return changed
