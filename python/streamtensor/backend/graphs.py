"""A graph of ATen operators: made from what torch.compile hands over, tidied, and its work counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry

from streamtensor.importer.decompositions import decomposition_table
from streamtensor.importer.indices import slice_gathers
from streamtensor.importer.integers import widen_bytes

aten = torch.ops.aten

# Tensors of one value that take shape and type of another one; they only need these.
FILLS: dict[Any, float] = {
    aten.zeros_like.default: 0,
    aten.ones_like.default: 1,
    aten.new_zeros.default: 0,
    aten.new_ones.default: 1,
}
VALUED_FILLS = (aten.full_like.default, aten.new_full.default)


def trace_graph(
    module: torch.fx.GraphModule,
    inputs: Sequence[Any],
    compile_graph: Callable[[torch.fx.GraphModule], Callable],
) -> Callable:
    """Returns a callable like `module`, whose operators are those that the importer lowers.

    Writes into inputs, results that are views of inputs, and inputs that share memory
    are PyTorch's part: `compile_graph` gets a graph that is free of them, with constant
    sizes, which are those of `inputs`.
    """
    from functorch.compile import aot_module_simplified

    return aot_module_simplified(
        module,
        list(inputs),
        fw_compiler=lambda graph, _: compile_graph(graph),
        decompositions=decomposition_table(has_runtime_sizes=False),
        keep_inference_input_mutations=False,
    )


def tidy(module: torch.fx.GraphModule) -> None:
    """Brings a traced graph into the form in which it can be cut and lowered."""
    graph = module.graph
    constants = {
        node.name: value
        for node in graph.nodes
        if node.op == "get_attr" and isinstance(value := attribute(module, node), torch.Tensor)
    }
    slice_gathers(graph, constants)
    for node in list(graph.nodes):
        if node.op == "get_attr":
            inline_scalar(node, constants.get(node.name))
        elif node.target == aten.cat.default:
            drop_empty_parts(node)
        elif node.target in FILLS or node.target in VALUED_FILLS:
            fill_by_shape(node)
    widen_bytes(graph)
    graph.eliminate_dead_code()
    module.recompile()


def attribute(module: torch.nn.Module, node: torch.fx.Node) -> Any:
    value: Any = module
    for part in str(node.target).split("."):
        value = getattr(value, part)
    return value


def replace(node: torch.fx.Node, target: Any, args: tuple, kwargs: dict | None = None) -> None:
    """Puts another call with the same value in place of `node`."""
    with node.graph.inserting_before(node):
        new = node.graph.call_function(target, args, kwargs or {})
    new.meta = dict(node.meta)
    node.replace_all_uses_with(new)
    node.graph.erase_node(node)


def inline_scalar(node: torch.fx.Node, value: torch.Tensor | None) -> None:
    """A constant of rank 0 becomes a number in the text, where it can be folded."""
    if value is None:
        return
    node.meta.setdefault("val", value)
    if value.dim() == 0 and not value.is_complex() and value.device.type == "cpu":
        replace(node, aten.scalar_tensor.default, (value.item(),), {"dtype": value.dtype})


def drop_empty_parts(node: torch.fx.Node) -> None:
    """Concatenation with nothing, as caches begin: designs have no empty tensors."""
    parts = list(node.args[0])
    kept = [part for part in parts if part.meta["val"].numel()]
    if len(kept) == len(parts) or not kept:
        return
    if len(kept) > 1:
        node.args = (kept, *node.args[1:])
    elif kept[0].meta["val"].dtype == node.meta["val"].dtype:
        # A copy, as the concatenation is one.
        replace(node, aten.clone.default, (kept[0],))


def fill_by_shape(node: torch.fx.Node) -> None:
    """A filled tensor needs the shape of another one, which is known, and not its values."""
    result = node.meta["val"]
    value = FILLS[node.target] if node.target in FILLS else node.args[-1]
    if isinstance(value, torch.fx.Node) or result.device.type != "cpu":
        return
    replace(node, aten.full.default, (list(result.shape), value), {"dtype": result.dtype})


def macs_of(node: torch.fx.Node) -> int:
    """Multiply-accumulates of a product or convolution by PyTorch's own count; else 0.

    PyTorch knows none of whole numbers: of a quantized product, it is the products that are summed.
    """
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return 0
    values = torch.fx.node.map_arg((node.args, node.kwargs), lambda each: each.meta.get("val"))
    if node.target.overloadpacket in (aten.mv, aten.dot):
        return math.prod(values[0][0].shape)
    if is_quantized_product(node):
        return node.args[0].meta["val"].numel()
    formula = flop_registry.get(node.target.overloadpacket)
    if formula is None:
        return 0
    return int(formula(*values[0], **values[1], out_val=node.meta.get("val"))) // 2


def is_quantized_product(node: torch.fx.Node) -> bool:
    """Tells the sum of products of integers that `GroupedLinear` makes."""
    if node.target is not aten.sum.dim_IntList or node.args[0].target is not aten.mul.Tensor:
        return False
    operands = node.args[0].args
    return all(
        isinstance(each, torch.fx.Node) and each.meta["val"].dtype == torch.int32
        for each in operands
    )
