"""Which operators of a graph a design may compute; the others stay in PyTorch, with a reason."""

from __future__ import annotations

import operator
from typing import Any

import torch

from streamtensor.dtypes import NAMES

aten = torch.ops.aten

# Operators that need random access to memory at places known at run time only.
GATHERS = (
    aten.embedding.default,
    aten.index.Tensor,
    aten.index_select.default,
    aten.gather.default,
)
# Operators that move elements or make constants, and compute nothing.
MOVES = (
    aten.alias,
    aten.arange,
    aten.as_strided,
    aten.cat,
    aten.clone,
    aten.expand,
    aten.full,
    aten.permute,
    aten.scalar_tensor,
    aten.select,
    aten.slice,
    aten.split_with_sizes,
    aten.squeeze,
    aten.t,
    aten.transpose,
    aten.unsqueeze,
    aten.view,
    aten._unsafe_view,
)
# PyTorch's fused layers for inference, which nothing takes apart.
FAST_PATH = (aten._transformer_encoder_layer_fwd.default, aten._native_multi_head_attention.default)
TABLES = "makes constants, positions or masks: no activation reaches it"


def is_call(node: torch.fx.Node) -> bool:
    return node.op == "call_function"


def is_operator(node: torch.fx.Node) -> bool:
    """Tells an operator from Python's own functions, such as taking one of several results."""
    return isinstance(node.target, torch._ops.OpOverload)


def maker(node: torch.fx.Node) -> torch.fx.Node:
    """The operator that makes the value of a call; what takes results apart stays with it."""
    return node.args[0] if node.target is operator.getitem else node


def computes(node: torch.fx.Node) -> bool:
    """Tells an operator that calculates from one that moves elements."""
    return is_operator(node) and node.target.overloadpacket not in MOVES


def values_of(node: torch.fx.Node) -> list[Any]:
    value = node.meta.get("val")
    return list(value) if isinstance(value, (tuple, list)) else [value]


def refusal(node: torch.fx.Node) -> str | None:
    """Returns why a design cannot have `node`, None where only the compiler can tell."""
    if maker(node) is not node:
        return refusal(maker(node))
    if not is_operator(node):
        return "it is no operator on tensors"
    if node.target in GATHERS:
        return "it reads memory at places that its input says, which a stream cannot"
    if node.target in FAST_PATH:
        return "a fused layer of PyTorch; torch.backends.mha.set_fastpath_enabled(False) takes it apart"
    if torch.Tag.nondeterministic_seeded in node.target.tags:
        return "it draws random numbers"
    if {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output} & set(node.target.tags):
        return "the shape of its result depends on values"
    if node.target._schema.is_mutable:
        return "it writes into its input"
    if node.target.overloadpacket is aten.as_strided:
        return "it addresses memory directly"
    return refused_value(node)


def refused_value(node: torch.fx.Node) -> str | None:
    """Looks at the tensors that a node takes and gives."""
    for source in (node, *node.all_input_nodes):
        for value in values_of(source):
            if value is None:
                continue
            if not isinstance(value, torch.Tensor):
                return f"it works with a value of type {type(value).__name__}"
            if any(not isinstance(extent, int) for extent in value.shape):
                return "a size of its tensors is not constant"
            if not value.numel():
                return "a tensor of it is empty"
            if value.dtype not in NAMES:
                return f"its element type is {str(value.dtype).removeprefix('torch.')}"
            if value.device.type != "cpu" or value.layout != torch.strided:
                return f"a tensor of it is {value.layout} on {value.device}"
    return None


def prepares_tables(
    graph: torch.fx.Graph, weights: set[torch.fx.Node], on_host: set[torch.fx.Node]
) -> set[torch.fx.Node]:
    """Returns the operators that only integers, constants and weights reach.

    They compute positions, rotary tables and masks, once and small, beside the
    activations: floating-point inputs, and what the host makes of integers, such as
    embeddings. Where no operator is reached by activations there is no such
    difference, and the set is empty.
    """
    active: set[torch.fx.Node] = set()
    integral: set[torch.fx.Node] = set()
    for node in graph.nodes:
        if node.op == "placeholder" and node not in weights:
            value = node.meta.get("val")
            is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
            (active if is_float else integral).add(node)
        if not is_call(node):
            continue
        sources = node.all_input_nodes
        if any(source in active for source in sources) or is_activation(node, on_host):
            active.add(node)
        elif not sources or any(source in integral for source in sources):
            integral.add(node)
    tables = {node for node in integral if is_call(node)}
    reached = any(is_call(node) and node not in on_host for node in active)
    return tables if reached else set()


def is_activation(node: torch.fx.Node, on_host: set[torch.fx.Node]) -> bool:
    value = node.meta.get("val")
    return node in on_host and isinstance(value, torch.Tensor) and value.is_floating_point()
