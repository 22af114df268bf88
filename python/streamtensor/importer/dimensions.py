"""Dynamic dimensions: which argument dimensions share a name, and their limits."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

from streamtensor.errors import StreamTensorError
from streamtensor.importer.diagnosis import OTHER_MODEL
from streamtensor.importer.locations import model_line


@dataclass
class Dimensions:
    """`expressions` maps (argument, dimension) to a text such as 'past + seq'."""

    expressions: dict[tuple[str, int], str] = field(default_factory=dict)
    minimum: dict[str, int] = field(default_factory=dict)
    maximum: dict[str, int] = field(default_factory=dict)

    def of_arguments(self, arguments: list[Any]) -> Dimensions:
        """Returns these with names of arguments instead of those of placeholders.

        Placeholders that have become no arguments are left out.
        """
        by_source = {argument.source: argument.name for argument in arguments}
        expressions = {
            (by_source[name], dim): text
            for (name, dim), text in self.expressions.items()
            if name in by_source
        }
        return Dimensions(expressions, self.minimum, self.maximum)

    def to_json(self) -> dict[str, Any]:
        """Returns the content of a .dims.json file; keys are 'argN.dimension'."""
        return {
            "dims": {f"{name}.{dim}": text for (name, dim), text in self.expressions.items()},
            "min": self.minimum,
            "max": self.maximum,
        }


def read_dimensions(
    exported: torch.export.ExportedProgram, specs: Sequence[Any]
) -> Dimensions | None:
    """Collects the symbolic sizes of a program's placeholders, None where all are static.

    `specs` says for each flattened input which Dim its dimensions were given.

    A dimension without a largest value is refused: buffers on the accelerator are
    sized by it.
    """
    named = user_dimensions(exported, specs)
    names = {symbol: dim.__name__ for symbol, dim in named.items()}
    dims = Dimensions()
    unbounded: list[str] = []
    for node in exported.graph.nodes:
        value = node.meta.get("val")
        if node.op != "placeholder" or not isinstance(value, torch.Tensor):
            continue
        for dim, extent in enumerate(value.shape):
            if isinstance(extent, int):
                continue
            expression = extent.node.expr
            for symbol in sorted(expression.free_symbols, key=str):
                name = names.setdefault(symbol, str(symbol))
                # Where a symbol stands in no dimension alone, torch.export has
                # other limits than the user.
                limits = named.get(symbol) or exported.range_constraints.get(symbol)
                lower = getattr(limits, "min", getattr(limits, "lower", None))
                upper = getattr(limits, "max", getattr(limits, "upper", None))
                if not isinstance(upper, (int, sympy.Integer)) or int(upper) >= 2**31:
                    unbounded.append(f"dimension {dim} of '{node.name}' ({name})")
                    continue
                dims.minimum[name] = int(lower)
                dims.maximum[name] = int(upper)
            renamed = expression.subs({s: sympy.Symbol(n) for s, n in names.items()})
            dims.expressions[(node.name, dim)] = str(renamed)
    if unbounded:
        raise StreamTensorError(
            f"dynamic dimension without a hint: {', '.join(unbounded)} has no largest size; "
            "give one, for example torch.export.Dim('seq', min=1, max=128)"
        )
    return dims if dims.expressions else None


def user_dimensions(
    exported: torch.export.ExportedProgram, specs: Sequence[Any]
) -> dict[Any, torch.export.Dim]:
    """Maps the program's symbols to the user's torch.export.Dim objects."""
    named: dict[Any, torch.export.Dim] = {}
    placeholders = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    inputs = [
        placeholders[spec.arg.name]
        for spec in exported.graph_signature.input_specs
        if spec.kind == InputKind.USER_INPUT
    ]
    for spec, node in zip(specs, inputs, strict=True):
        if spec is None:
            continue
        items = spec.items() if isinstance(spec, dict) else enumerate(spec)
        for dim, chosen in items:
            extent = node.meta["val"].shape[dim]
            # The name is that of n in a dimension such as 2 * n + 1.
            root = getattr(chosen, "root", chosen)
            symbols = () if isinstance(extent, int) else extent.node.expr.free_symbols
            if len(symbols) == 1 and getattr(root, "__name__", None):
                named[next(iter(symbols))] = root
    return named


def spec_of_inputs(
    module: torch.nn.Module, args: tuple, kwargs: dict[str, Any], dynamic_shapes: Any
) -> list[Any]:
    """Returns, for each flattened input, what `dynamic_shapes` says of it, or None.

    As for torch.export, `dynamic_shapes` is by name or by position of the arguments of
    forward, and nested like them.
    """
    bound = inspect.signature(module.forward).bind(*args, **kwargs)
    arguments = dict(bound.arguments)
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind == inspect.Parameter.VAR_KEYWORD:
            arguments |= arguments.pop(name, {})
    if isinstance(dynamic_shapes, (tuple, list)):
        dynamic_shapes = dict(zip(arguments, dynamic_shapes, strict=False))
    found: dict[int, Any] = {}

    def walk(value: Any, spec: Any) -> None:
        if spec is None:
            return
        if isinstance(value, torch.Tensor):
            found[id(value)] = spec
        elif isinstance(value, dict):
            for key, item in value.items():
                walk(item, spec.get(key))
        elif isinstance(value, (tuple, list)):
            for item, own in zip(value, spec, strict=False):
                walk(item, own)

    walk(arguments, dynamic_shapes)
    return [found.get(id(leaf)) for leaf in pytree.tree_leaves((args, kwargs))]


def sizes_of_used_inputs(graph: torch.fx.Graph) -> None:
    """Reads sizes off inputs whose elements are used, where these have them too.

    An input of which only the size is read, such as a list of positions, is dead then.
    """
    size_of = torch.ops.aten.sym_size.int
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    used = [
        node
        for node in inputs
        if isinstance(node.meta.get("val"), torch.Tensor)
        and any(user.target != size_of for user in node.users)
    ]
    for node in inputs:
        if node in used:
            continue
        for size in list(node.users):
            wanted = size.meta["val"].node.expr
            for other in used:
                for dim, extent in enumerate(other.meta["val"].shape):
                    if not isinstance(extent, int) and extent.node.expr == wanted:
                        size.args = (other, dim)


def refuse_runtime_offsets(graph: torch.fx.Graph, prefix: str) -> None:
    """Fails where a tensor is cut at a place that depends on a size known at run time."""
    for node in graph.nodes:
        if node.target != torch.ops.aten.slice.Tensor or len(node.args) < 3:
            continue
        if isinstance(node.args[2], torch.fx.Node):
            raise StreamTensorError(
                f"{model_line(node, prefix)} takes a part of a tensor at an offset that is known "
                f"at run time only; {OTHER_MODEL if prefix else 'pass that part in as an input'}"
            )
