"""A captured module: a functional graph whose arguments are weights, then inputs.

`capture` traces a module by torch.export, turns its parameters, buffers and
constant tensors into leading arguments, removes what is dead, and runs the graph
against the module. What comes out is a `Program`; `lowering.py` makes its text.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from torch.utils import _pytree as pytree

from streamtensor.dtypes import NAMES, dtype_name
from streamtensor.errors import StreamTensorError
from streamtensor.importer.assertions import remove_assertions
from streamtensor.importer.decompositions import decomposition_table
from streamtensor.importer.dimensions import (
    Dimensions,
    read_dimensions,
    refuse_runtime_offsets,
    sizes_of_used_inputs,
    spec_of_inputs,
)
from streamtensor.importer.indices import slice_known_indices
from streamtensor.importer.integers import widen_bytes
from streamtensor.importer.locations import model_line, strip_prefix
from streamtensor.importer.tracing import trace


@dataclass
class Argument:
    """One argument of the function.

    `shape` has -1 for a dynamic dimension. `value` is the tensor of a weight, None
    for an input. `input_index` counts the flattened example inputs.
    """

    name: str
    role: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    source: str
    value: torch.Tensor | None = None
    input_index: int | None = None
    buffer_shape: tuple[int, ...] | None = None


@dataclass
class Result:
    """One result of the function."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    source: str


@dataclass
class Program:
    """A captured module, ready to be lowered."""

    function: str
    graph: torch.fx.Graph
    arguments: list[Argument]
    results: list[Result]
    prefix: str = ""
    dims: Dimensions | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_part_of_model(self) -> bool:
        """Whether a wrapper of ours holds a part of a language model, or a module is the user's."""
        return bool(self.prefix)

    @property
    def weights(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.role == "weight"]

    @property
    def inputs(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.role != "weight"]

    def run(
        self, inputs: Sequence[torch.Tensor], weights: Sequence[torch.Tensor] | None = None
    ) -> list[torch.Tensor]:
        """Computes the graph in PyTorch; `weights` replaces the captured ones."""
        if weights is None:
            weights = [argument.value for argument in self.weights]
        interpreter = torch.fx.Interpreter(torch.nn.Module(), graph=self.graph)
        with torch.no_grad():
            return list(interpreter.run(*weights, *inputs))


def capture(
    module: torch.nn.Module,
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    function: str,
    dynamic_shapes: Any = None,
    prefix: str = "",
    drop_dead_inputs: bool = False,
    role_of: Callable[[int], str] = lambda index: "input",
    tolerance: float = 1e-4,
) -> Program:
    """Captures `module` as called on the example inputs `args` and `kwargs`.

    `role_of` names the role of each flattened input, `prefix` is taken off weight
    names. Fails with a `StreamTensorError` where the module cannot be traced,
    changes its state, has an input that nothing depends on (unless
    `drop_dead_inputs`), or where the graph does not compute what the module does
    (largest difference over largest value above `tolerance`).
    """
    args, kwargs = distinct_tensors(args, kwargs or {})
    expected, exported = trace(module, args, kwargs, dynamic_shapes)
    dims = read_dimensions(exported, spec_of_inputs(module, args, kwargs, dynamic_shapes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = exported.run_decompositions(
            decomposition_table(has_runtime_sizes=dims is not None)
        )
    # Only now: the decomposition turns writes into memory into results.
    refuse_mutation(exported)
    remove_assertions(exported)
    sizes_of_used_inputs(exported.graph)
    slice_known_indices(exported)
    widen_bytes(exported.graph)
    refuse_runtime_offsets(exported.graph, prefix)
    program = clean(exported, function, prefix, drop_dead_inputs, role_of)
    program.dims = dims and dims.of_arguments(program.arguments)
    check(program, pytree.tree_leaves((args, kwargs)), expected, tolerance)
    return program


def distinct_tensors(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple, dict]:
    """Clones a tensor that is given twice: torch.export would merge the two inputs."""
    seen: set[int] = set()

    def distinct(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) in seen:
            return leaf.clone()
        seen.add(id(leaf))
        return leaf

    return pytree.tree_map(distinct, (tuple(args), dict(kwargs)))


def refuse_mutation(exported: torch.export.ExportedProgram) -> None:
    """A design has no state: a buffer or input that forward changes would be lost."""
    signature = exported.graph_signature
    changed = [f"buffer '{name}'" for name in signature.buffers_to_mutate.values()]
    changed += [f"input '{name}'" for name in signature.user_inputs_to_mutate.values()]
    if changed:
        raise StreamTensorError(
            f"the module changes {', '.join(changed)} in its forward, but a design keeps no state "
            "between calls; return the new value as a result and pass it in as an input"
        )


def clean(
    exported: torch.export.ExportedProgram,
    function: str,
    prefix: str,
    drop_dead_inputs: bool,
    role_of: Callable[[int], str],
) -> Program:
    """Makes every tensor that enters the graph an argument and removes the dead ones."""
    graph = exported.graph
    program = Program(function, graph, [], [], prefix)
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    dead: list[str] = []
    input_index = 0
    for spec in exported.graph_signature.input_specs:
        node = placeholders[spec.arg.name]
        is_input = spec.kind == InputKind.USER_INPUT
        if is_input:
            input_index += 1
        if not node.users:
            if is_input and isinstance(spec.arg, TensorArgument):
                dead.append(node.name)
            graph.erase_node(node)
            continue
        if not isinstance(spec.arg, TensorArgument):
            refuse_input(node, spec.arg)
        if is_input:
            program.arguments.append(
                input_argument(node, role_of(input_index - 1), input_index - 1)
            )
            continue
        value = weight_value(exported, spec)
        if spec.kind == InputKind.CONSTANT_TENSOR and value.numel() == 1:
            # A scalar stays in the text, where it can be folded.
            node.replace_all_uses_with(value)
            graph.erase_node(node)
            continue
        source = strip_prefix(spec.target, prefix)
        if spec.kind == InputKind.CONSTANT_TENSOR:
            source = f"constant {spec.target} at {model_line(next(iter(node.users)), prefix)}"
        program.arguments.append(
            Argument("", "weight", tuple(value.shape), value.dtype, source, value.detach())
        )
    set_results(program, exported)
    if dead and not drop_dead_inputs:
        raise StreamTensorError(
            f"the results do not depend on {', '.join(repr(name) for name in dead)}; "
            "take such inputs out of the example inputs and of the module's forward"
        )
    for index, argument in enumerate(program.arguments):
        argument.name = f"arg{index}"
    refuse_types(program)
    return program


def refuse_input(node: torch.fx.Node, argument: Any) -> None:
    kind = type(argument).__name__
    raise StreamTensorError(
        f"input '{node.name}' is no tensor ({kind}) and not constant; pass it as a tensor"
    )


def input_argument(node: torch.fx.Node, role: str, index: int) -> Argument:
    value = node.meta["val"]
    shape = tuple(extent if isinstance(extent, int) else -1 for extent in value.shape)
    return Argument("", role, shape, value.dtype, node.name, input_index=index)


def weight_value(exported: torch.export.ExportedProgram, spec: Any) -> torch.Tensor:
    persistent = spec.kind == InputKind.PARAMETER or (
        spec.kind == InputKind.BUFFER and spec.persistent
    )
    return (exported.state_dict if persistent else exported.constants)[spec.target]


def set_results(program: Program, exported: torch.export.ExportedProgram) -> None:
    """Lists the tensors that the graph returns; constants such as None are dropped."""
    output = next(node for node in program.graph.nodes if node.op == "output")
    kept = []
    specs = exported.graph_signature.output_specs
    for spec, node in zip(specs, output.args[0], strict=True):
        if spec.kind != OutputKind.USER_OUTPUT or isinstance(spec.arg, ConstantArgument):
            continue
        kept.append(node)
        if isinstance(node, torch.Tensor):
            raise StreamTensorError(
                "a result of the module is a constant; take it out of what forward returns"
            )
        value = node.meta["val"]
        shape = tuple(extent if isinstance(extent, int) else -1 for extent in value.shape)
        source = str(model_line(node, program.prefix)) if node.op != "placeholder" else node.name
        program.results.append(Result(f"result{len(kept) - 1}", shape, value.dtype, source))
    if not kept:
        raise StreamTensorError("the module returns no tensor; return what the design computes")
    output.args = (tuple(kept),)


def refuse_types(program: Program) -> None:
    wrong = [
        f"{value.name} ('{value.source}') is {str(value.dtype).removeprefix('torch.')}"
        for value in [*program.arguments, *program.results]
        if dtype_name(value.dtype) is None
    ]
    if wrong:
        raise StreamTensorError(
            f"expected element types {', '.join(NAMES.values())} but {'; '.join(wrong)}; "
            "convert the module and its inputs, for example by .float()"
        )


def check(
    program: Program, inputs: Sequence[Any], expected: Sequence[torch.Tensor], tolerance: float
) -> None:
    """Runs the graph on the example inputs and compares with the module's results."""
    chosen = [inputs[argument.input_index] for argument in program.inputs]
    results = program.run(chosen)
    for result, got, want in zip(program.results, results, expected, strict=True):
        difference = relative_difference(got, want)
        allowed = tolerance
        if want.is_floating_point():
            # Five units in the last place of a 16-bit float: a decomposition
            # rounds in other places.
            allowed = max(tolerance, 2.5 * torch.finfo(want.dtype).eps)
        if not difference <= allowed:
            raise StreamTensorError(
                f"the captured graph does not compute what the module does: {result.name} "
                f"({result.source}) differs by {difference:.2g} of its largest value; is the "
                "module random, or does it depend on something besides its inputs?"
            )


def relative_difference(got: torch.Tensor, want: torch.Tensor) -> float:
    """Returns the largest difference over the largest value; equal infinities are equal."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if not want.numel():
        return 0.0
    if not want.is_floating_point():
        return 0.0 if torch.equal(got, want) else float("inf")
    got, want = got.double(), want.double()
    same = (got == want) | (got.isnan() & want.isnan())
    error = torch.where(same, 0.0, (got - want).abs()).max().item()
    scale = want.abs().nan_to_num(posinf=0.0, nan=0.0).max().item()
    return error / scale if scale else error
