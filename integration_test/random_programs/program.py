"""A random program: a list of operations on numbered values, as plain data.

The inputs are the first values, each operation adds one. The same program is a
PyTorch module, a JSON text (regressions) and something that can be made smaller.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from random_programs.operations import OPERATIONS

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


@dataclass
class Input:
    """An argument of the module; a weight is a parameter of it instead."""

    shape: list[int]
    role: str = "input"


@dataclass
class Step:
    """One operation: its name in OPERATIONS, the numbers of its operands, attributes."""

    op: str
    args: list[int]
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass
class Size:
    """A size that is known at run time: the dimensions [input, dimension] that have it.

    The inputs' shapes have the size at which the program is traced; `others` are
    sizes at which it is run too, on the same design.
    """

    dims: list[list[int]]
    others: list[int]


@dataclass
class Program:
    inputs: list[Input]
    steps: list[Step]
    results: list[int]
    seed: int = 0
    dtype: str = "f32"
    # Options of the compiler, without dashes.
    options: dict[str, str] = field(default_factory=dict)
    # Why the program is kept, in a regression.
    reason: str = ""
    sizes: list[Size] = field(default_factory=list)

    @staticmethod
    def from_json(text: str) -> Program:
        data = json.loads(text)
        return Program(
            inputs=[Input(**entry) for entry in data.pop("inputs")],
            steps=[Step(**entry) for entry in data.pop("steps")],
            sizes=[Size(**entry) for entry in data.pop("sizes", [])],
            **data,
        )

    @staticmethod
    def load(path: Path) -> Program:
        return Program.from_json(path.read_text())

    def to_json(self) -> str:
        """One line per input and step, so that a difference is readable."""
        data = asdict(self)
        lines = [
            f' "{key}": {json.dumps(data[key])}'
            for key in ("reason", "seed", "dtype", "options", "results")
        ]
        for key in ("inputs", "steps", "sizes"):
            entries = ",\n".join(f"  {json.dumps(entry)}" for entry in data[key])
            lines.append(f' "{key}": [\n{entries}\n ]' if entries else f' "{key}": []')
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def text(self) -> str:
        """The program as a person reads it."""
        lines = [
            f"v{index} = {entry.role}({', '.join(map(str, entry.shape))})"
            for index, entry in enumerate(self.inputs)
        ]
        for index, step in enumerate(self.steps, len(self.inputs)):
            words = [f"v{argument}" for argument in step.args]
            words += [f"{key}={value}" for key, value in step.attrs.items()]
            lines.append(f"v{index} = {step.op}({', '.join(words)})")
        for size in self.sizes:
            places = ", ".join(f"v{index}.{dim}" for index, dim in size.dims)
            lines.append(f"{places}: at run time, also {', '.join(map(str, size.others))}")
        lines += [f"--{key}={value}" for key, value in self.options.items()]
        lines.append("return " + ", ".join(f"v{index}" for index in self.results))
        return "\n".join(lines)

    def lengths(self) -> list[Program]:
        """The program with each of its run-time sizes, the traced one first, as constants."""
        count = min((len(size.others) for size in self.sizes), default=0)
        return [self.at(None), *(self.at(index) for index in range(count))]

    def at(self, index: int | None) -> Program:
        """The program with the other sizes `index`, or the traced ones, as constants."""
        inputs = [Input(list(entry.shape), entry.role) for entry in self.inputs]
        for size in self.sizes:
            for number, dim in size.dims:
                if index is not None:
                    inputs[number].shape[dim] = size.others[index]
        return replace(self, inputs=inputs, sizes=[])

    def dynamic_shapes(self) -> tuple | None:
        """What torch.export is told of the inputs."""
        if not self.sizes:
            return None
        shapes: list[dict[int, Any]] = [{} for _ in self.inputs]
        for number, size in enumerate(self.sizes):
            traced = self.inputs[size.dims[0][0]].shape[size.dims[0][1]]
            dim = torch.export.Dim(f"n{number}", min=1, max=max(traced, *size.others))
            for index, axis in size.dims:
                shapes[index][axis] = dim
        given = [s for s, e in zip(shapes, self.inputs, strict=True) if e.role != "weight"]
        return (tuple(given),)

    def data(self) -> list[torch.Tensor]:
        """The values of the inputs: normal numbers that only the seed decides."""
        values = []
        for index, entry in enumerate(self.inputs):
            generator = torch.Generator().manual_seed(self.seed * 1009 + index)
            value = torch.randn(entry.shape, generator=generator)
            if entry.role == "weight" and len(entry.shape) > 1:
                value = value / entry.shape[-1] ** 0.5
            values.append(value.to(DTYPES[self.dtype]))
        return values

    def run(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Returns all values, the inputs first."""
        values = list(inputs)
        for step in self.steps:
            operands = [values[index] for index in step.args]
            values.append(OPERATIONS[step.op].apply(*operands, **step.attrs))
        return values

    def pruned(self, keep_dead_steps: bool = False) -> Program:
        """Without inputs that no result needs, and without steps that none needs.

        `keep_dead_steps` keeps those dead steps that need no dead input.
        """
        count = len(self.inputs)
        live = set(self.results)
        for index in reversed(range(count, count + len(self.steps))):
            if index in live:
                live.update(self.steps[index - count].args)
        if keep_dead_steps:
            for index, step in enumerate(self.steps, count):
                if live.issuperset(step.args):
                    live.add(index)
        number = {old: new for new, old in enumerate(sorted(live))}
        return Program(
            inputs=[entry for index, entry in enumerate(self.inputs) if index in live],
            steps=[
                Step(step.op, [number[argument] for argument in step.args], dict(step.attrs))
                for index, step in enumerate(self.steps, count)
                if index in live
            ],
            results=[number[index] for index in self.results],
            seed=self.seed,
            dtype=self.dtype,
            options=dict(self.options),
            reason=self.reason,
            sizes=[
                Size(dims, list(size.others))
                for size in self.sizes
                if (dims := [[number[i], dim] for i, dim in size.dims if i in live])
            ],
        )


class Module(torch.nn.Module):
    """A program as PyTorch sees it: weights are parameters, inputs arguments."""

    def __init__(self, program: Program, data: list[torch.Tensor]) -> None:
        super().__init__()
        self.program = program
        for index, (entry, value) in enumerate(zip(program.inputs, data, strict=True)):
            if entry.role == "weight":
                self.register_parameter(f"w{index}", torch.nn.Parameter(value, False))

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = iter(inputs)
        values = self.program.run(
            [
                getattr(self, f"w{index}") if entry.role == "weight" else next(given)
                for index, entry in enumerate(self.program.inputs)
            ]
        )
        return tuple(values[index] for index in self.program.results)
