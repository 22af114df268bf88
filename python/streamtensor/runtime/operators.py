"""Compares a design with PyTorch operator by operator, by what its FIFOs have carried.

The simulation keeps the tokens of every FIFO that carries a value of the model
(`streamtensor-run --values`). PyTorch runs the same graph node by node; behind each node whose
value a FIFO has, that value takes the place of PyTorch's own. So every operator gets the inputs
that it had in the design: an error shows where it is made and nowhere else, and neither rounding
nor a code that fell on the other side of a half grows over the operators.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from streamtensor.designs import INTERFACE, read_json
from streamtensor.importer.locations import model_line
from streamtensor.importer.program import Program
from streamtensor.manifest import write_json
from streamtensor.output import scratch_directory
from streamtensor.toolchain import run_tool
from streamtensor.weights import write_safetensors

# The largest difference that rounding explains, over the largest value: sums are added up in
# another order, and functions such as exp are other implementations.
FLOAT = 1e-5
# Units in the last place, of a type of fewer bits than f32: the number of roundings is free.
PLACES = 5
# A float that becomes an integer may lie at a half.
CODE = 1
# Of more dimensions not all orders are tried.
MOST_DIMENSIONS = 6


@dataclass(frozen=True)
class OperatorError:
    """The difference of one operator from PyTorch, in one FIFO that carries its value.

    `error` is the largest difference of an element, `tolerance` what rounding explains; the
    values are those of the element with the largest difference.
    """

    node: str
    operator: str
    line: str
    fifo: str
    task: str
    element: list[int]
    error: float
    tolerance: float
    expected: float
    actual: float
    # The other operators that the task computes; they are judged together.
    others: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        # A NaN is wrong.
        return self.error <= self.tolerance

    @property
    def share(self) -> float:
        """The error as a share of its tolerance."""
        if self.error == 0.0:
            return 0.0
        return self.error / self.tolerance if self.tolerance else float("inf")

    def __str__(self) -> str:
        text = (
            f"{self.operator} '{self.node}' at {self.line}: fifo '{self.fifo}' of task "
            f"'{self.task}' has {self.actual:.9g} for element {self.element} where PyTorch has "
            f"{self.expected:.9g} ({self.tolerance:.3g} of difference are allowed)"
        )
        return f"{text}; the task also computes {', '.join(self.others)}" if self.others else text


@dataclass
class OperatorComparison:
    """What was compared, in the order of the model; `operators` are all that it has."""

    errors: list[OperatorError]
    operators: int

    @property
    def wrong(self) -> list[OperatorError]:
        return [error for error in self.errors if not error.is_right]

    @property
    def closest(self) -> float:
        """The largest error, as a share of its tolerance."""
        return max((error.share for error in self.errors), default=0.0)

    @property
    def compared(self) -> int:
        """How many operators were compared. The others are parts of a task with these."""
        return len({error.node for error in self.errors})


@dataclass(frozen=True)
class Recording:
    """What a run of a design in C simulation gave: results, and values by the FIFO."""

    results: dict[str, torch.Tensor]
    values: dict[str, torch.Tensor]

    def of_pass(self, index: int, passes: int) -> Recording:
        """One of several passes of a launch through its body: of one layer of many."""
        if passes == 1:
            return self
        results = {name: tensor[index] for name, tensor in self.results.items()}
        # A FIFO that carries nothing says nothing of passes.
        values = {
            name: tensor[index] if tensor.numel() else tensor
            for name, tensor in self.values.items()
        }
        return Recording(results, values)


def record(
    directory: Path,
    inputs: Mapping[str, torch.Tensor],
    weights: Mapping[str, Path] | None = None,
) -> Recording:
    """Runs a design once in C simulation on the tensors `inputs`, by argument.

    `weights` are files of packed weights that the design does not have, by argument.
    """
    from safetensors.torch import load_file

    with scratch_directory("streamtensor-compare-") as scratch:
        files = {name: scratch / f"{name}.safetensors" for name in ("inputs", "outputs", "values")}
        write_safetensors(files["inputs"], {name: inputs[name].contiguous() for name in inputs})
        if weights:
            files["weights"] = scratch / "weights.json"
            write_json(
                files["weights"],
                {"weights": {name: str(path.absolute()) for name, path in weights.items()}},
            )
        arguments = [part for name, path in files.items() for part in (f"--{name}", path)]
        run_tool("streamtensor-run", [directory, *arguments])
        return Recording(load_file(files["outputs"]), load_file(files["values"]))


def compare_operators(
    directory: Path,
    program: Program,
    inputs: Sequence[torch.Tensor],
    values: Mapping[str, torch.Tensor],
    weights: Sequence[torch.Tensor] | None = None,
) -> OperatorComparison:
    """Compares what FIFOs of the design in `directory` have carried with `program` in PyTorch.

    `inputs` are those of the run, in the order of the program; `weights` replaces the program's.
    """
    if weights is None:
        weights = [argument.value for argument in program.weights]
    with torch.no_grad():
        sizes = Sizes(program)
        sizes.run(*weights, *inputs)
        follower = Follower(program, carried_values(directory, sizes.elements, values))
        follower.run(*weights, *inputs)
    return OperatorComparison(follower.errors, len(sizes.elements))


@dataclass(frozen=True)
class Carried:
    """A FIFO with what it has carried."""

    name: str
    task: str
    value: torch.Tensor
    others: list[str]


def carried_values(
    directory: Path, elements: Mapping[str, int], values: Mapping[str, torch.Tensor]
) -> dict[str, list[Carried]]:
    """Returns the FIFOs that carry the value of each node, in the order of the design.

    `elements` says how many elements the value of each node has, in the order of the model. A
    task makes the last of its values, or one that later ones are only other shapes of.
    """
    place = {name: index for index, name in enumerate(elements)}
    carried: dict[str, list[Carried]] = {}
    for fifo in read_json(directory / INTERFACE)["fifos"]:
        if fifo["name"] not in values:
            continue
        value = values[fifo["name"]]
        names = [name for name in fifo["value"]["names"] if elements.get(name) == value.numel()]
        if names:
            last = max(names, key=place.__getitem__)
            others = [name for name in fifo["value"]["names"] if name in place and name != last]
            found = Carried(fifo["name"], fifo["producer"], value, others)
            carried.setdefault(last, []).append(found)
    return carried


class Sizes(torch.fx.Interpreter):
    """Runs a program and keeps how many elements each tensor that is computed has."""

    def __init__(self, program: Program) -> None:
        super().__init__(torch.nn.Module(), graph=program.graph)
        self.elements: dict[str, int] = {}

    def run_node(self, node: torch.fx.Node) -> Any:
        value = super().run_node(node)
        if node.op == "call_function" and isinstance(value, torch.Tensor):
            self.elements[node.name] = value.numel()
        return value


class Follower(torch.fx.Interpreter):
    """Runs a program in PyTorch, and goes on behind each operator with the design's value."""

    def __init__(self, program: Program, carried: Mapping[str, list[Carried]]) -> None:
        super().__init__(torch.nn.Module(), graph=program.graph)
        self.program = program
        self.carried = carried
        self.errors: list[OperatorError] = []
        self.nodes = {node.name: node for node in program.graph.nodes}

    def run_node(self, node: torch.fx.Node) -> Any:
        value = super().run_node(node)
        for index, fifo in enumerate(self.carried.get(node.name, [])):
            tolerance = tolerance_of(node, value, fifo.value.dtype)
            arranged = arrange(fifo.value, value, tolerance)
            self.errors.append(self.compare(node, fifo, value, arranged, tolerance))
            # The first FIFO is that of the task that makes the value, others move it.
            if index == 0:
                followed = arranged.to(value.dtype)
        return followed if node.name in self.carried else value

    def compare(
        self,
        node: torch.fx.Node,
        fifo: Carried,
        value: torch.Tensor,
        actual: torch.Tensor,
        tolerance: float,
    ) -> OperatorError:
        difference = distance(actual, value)
        worst = int(difference.argmax()) if value.numel() else 0
        return OperatorError(
            node=node.name,
            operator=str(node.target),
            line=self.line_of(node),
            fifo=fifo.name,
            task=fifo.task,
            element=[int(index) for index in torch.unravel_index(torch.tensor(worst), value.shape)],
            error=float(difference.reshape(-1)[worst]) if value.numel() else 0.0,
            tolerance=tolerance,
            expected=float(value.reshape(-1)[worst]) if value.numel() else 0.0,
            actual=float(actual.reshape(-1)[worst]) if value.numel() else 0.0,
            others=tuple(
                f"{self.nodes[name].target} '{name}' at {self.line_of(self.nodes[name])}"
                for name in fifo.others
            ),
        )

    def line_of(self, node: torch.fx.Node) -> str:
        return str(model_line(node, self.program.prefix))


def distance(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Returns the difference of each element; equal infinities and two NaNs have none."""
    actual, expected = actual.double(), expected.double()
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    difference = torch.where(same, 0.0, (actual - expected).abs())
    return difference.nan_to_num(nan=torch.inf, posinf=torch.inf)


def tolerance_of(node: torch.fx.Node, value: torch.Tensor, carried: torch.dtype) -> float:
    """The largest difference of an element of a node's value that rounding explains."""
    if not value.is_floating_point():
        operands = [arg for arg in node.all_input_nodes if "val" in arg.meta]
        rounds = any(torch.is_floating_point(arg.meta["val"]) for arg in operands)
        return CODE if rounds and value.dtype != torch.bool else 0
    largest = (
        float(value.double().abs().nan_to_num(posinf=0.0, nan=0.0).max()) if value.numel() else 0
    )
    last_place = max(
        torch.finfo(dtype).eps for dtype in (value.dtype, carried) if dtype.is_floating_point
    )
    return (
        max(FLOAT, PLACES * last_place if last_place > torch.finfo(torch.float32).eps else 0)
        * largest
    )


def arrange(carried: torch.Tensor, value: torch.Tensor, tolerance: float) -> torch.Tensor:
    """Returns the elements of `carried` in the shape of `value`.

    The compiler may have split and transposed dimensions: an order with which no element differs
    by more than `tolerance` counts, else the one that is closest.
    """
    flat = carried.reshape([size for size in carried.shape if size != 1])
    best, least = None, torch.inf
    for order in itertools.permutations(range(flat.dim())):
        arranged = flat.permute(order).reshape(value.shape)
        if not value.numel():
            return arranged
        difference = distance(arranged, value)
        if float(difference.max()) <= tolerance:
            return arranged
        error = float(difference.sum())
        if best is None or error < least:
            best, least = arranged, error
        if len(order) > MOST_DIMENSIONS:
            break
    return best
