"""Dynamic dimensions: which argument dimensions share a name, and their limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
from torch.utils import _pytree as pytree

from streamtensor.errors import StreamTensorError


@dataclass
class Dimensions:
    """`expressions` maps (placeholder name, dimension) to a text such as 'past + seq'."""

    expressions: dict[tuple[str, int], str] = field(default_factory=dict)
    minimum: dict[str, int] = field(default_factory=dict)
    maximum: dict[str, int] = field(default_factory=dict)

    def to_json(self, arguments: list[Any]) -> dict[str, Any]:
        """Returns the content of a .dims.json file; keys are 'argN.dimension'."""
        by_source = {argument.source: argument.name for argument in arguments}
        return {
            "dims": {
                f"{by_source[name]}.{dim}": text
                for (name, dim), text in self.expressions.items()
                if name in by_source
            },
            "min": self.minimum,
            "max": self.maximum,
        }


def read_dimensions(
    exported: torch.export.ExportedProgram, dynamic_shapes: Any
) -> Dimensions | None:
    """Collects the symbolic sizes of a program's inputs, None where all are static.

    A dimension without a largest value is refused: buffers on the accelerator are
    sized by it.
    """
    names = user_names(exported, dynamic_shapes)
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
                limits = exported.range_constraints.get(symbol)
                upper = getattr(limits, "upper", None)
                if not isinstance(upper, (int, sympy.Integer)) or int(upper) >= 2**31:
                    unbounded.append(f"dimension {dim} of '{node.name}' ({name})")
                    continue
                dims.minimum[name] = int(limits.lower)
                dims.maximum[name] = int(upper)
            renamed = expression.subs({s: sympy.Symbol(n) for s, n in names.items()})
            dims.expressions[(node.name, dim)] = str(renamed)
    if unbounded:
        raise StreamTensorError(
            f"dynamic dimension without a hint: {', '.join(unbounded)} has no largest size; "
            "give one, for example torch.export.Dim('seq', min=1, max=128)"
        )
    return dims if dims.expressions else None


def user_names(exported: torch.export.ExportedProgram, dynamic_shapes: Any) -> dict[Any, str]:
    """Maps the program's symbols to the names of the user's torch.export.Dim objects."""
    names: dict[Any, str] = {}
    if not dynamic_shapes:
        return names
    entries = pytree.tree_leaves(
        list(dynamic_shapes.values()) if isinstance(dynamic_shapes, dict) else dynamic_shapes,
        is_leaf=lambda x: x is None or is_shape_spec(x),
    )
    inputs = [
        node
        for node in exported.graph.nodes
        if node.op == "placeholder" and node.name in exported.graph_signature.user_inputs
    ]
    for spec, node in zip(entries, inputs, strict=False):
        if spec is None:
            continue
        items = spec.items() if isinstance(spec, dict) else enumerate(spec)
        for dim, chosen in items:
            extent = node.meta["val"].shape[dim]
            is_symbol = not isinstance(extent, int) and extent.node.expr.is_Symbol
            if is_symbol and getattr(chosen, "__name__", None):
                names[extent.node.expr] = chosen.__name__
    return names


def is_shape_spec(value: Any) -> bool:
    """Tells the spec of one tensor, {0: Dim} or (Dim, None), from a container of specs."""
    if isinstance(value, dict):
        return bool(value) and all(isinstance(key, int) for key in value)
    if isinstance(value, (tuple, list)):
        return not any(isinstance(item, (dict, tuple, list)) for item in value)
    return False
