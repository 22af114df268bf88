"""Gives a module of one's own another arithmetic than it has: a copy that is converted.

16-bit floats are `module.to(dtype)`. With the integer precisions, linear layers become
`GroupedLinear`, as those of language models do (`models/quantize.py`).
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.utils import _pytree as pytree

from streamtensor.errors import StreamTensorError
from streamtensor.exporter import split_inputs
from streamtensor.importer.tracing import evaluation_mode, first_line, place, unchanged_buffers
from streamtensor.models.quantize import Quantization, grouped_linear, is_linear
from streamtensor.precision import Precision
from streamtensor.progress import say

# Layers with products that stay float.
FLOAT_PRODUCTS = (
    torch.nn.Linear,
    torch.nn.Bilinear,
    torch.nn.MultiheadAttention,
    torch.nn.RNNBase,
    torch.nn.modules.conv._ConvNd,
)


def in_precision(
    module: torch.nn.Module, example_inputs: Any, precision: Precision
) -> tuple[torch.nn.Module, Any]:
    """Returns a copy of `module` for inference in the arithmetic of `precision`, and its inputs.

    Says on stderr what was quantized and what stays float. The copy has been run once on the
    inputs. Raises `StreamTensorError` where it fails there, where a quantized precision finds
    no linear layer, and for weights that have no place in the format.
    """
    if not isinstance(module, torch.nn.Module):
        raise StreamTensorError(
            f"expected a torch.nn.Module to convert to {precision} but got {type(module).__name__}; "
            "wrap the computation in the forward of a module"
        )
    converted = copied(module).to(precision.dtype).eval().requires_grad_(False)
    if precision.is_quantized:
        converted, quantization = quantize_linears(converted, precision)
        report(quantization)
    inputs = convert_inputs(example_inputs, precision)
    run_once(converted, inputs, precision)
    return converted, inputs


def copied(module: torch.nn.Module) -> torch.nn.Module:
    try:
        return copy.deepcopy(module)
    except Exception as error:
        raise StreamTensorError(
            f"the module cannot be copied, so it cannot be converted: {type(error).__name__}: "
            f"{first_line(error)}; convert it yourself and compile it in f32, which leaves a "
            "module as it is"
        ) from error


def convert_inputs(inputs: Any, precision: Precision) -> Any:
    """Returns inputs of any structure with the floats among them in the type of `precision`."""

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(precision.dtype) if tensor.is_floating_point() else tensor

    return pytree.tree_map_only(torch.Tensor, convert, inputs)


def quantize_linears(
    module: torch.nn.Module, precision: Precision
) -> tuple[torch.nn.Module, Quantization]:
    """Replaces the linear layers of `module`, in place; returns it, or what stands for it.

    A language model's head has weights of 8 bits, as where it is compiled by name. A layer with
    hooks or a forward of its own stays float, and so do products in layers that are not linear.
    """
    result = Quantization()
    replaced: dict[int, torch.nn.Module] = {}
    head = getattr(module, "get_output_embeddings", lambda: None)()
    precise = Precision("w8a8", precision.activations, precision.weights)
    for path, part in list(module.named_modules()):
        reason = why_float(part)
        if reason is not None:
            result.left.append(f"{path or 'the module'}: {reason}")
        elif is_linear(part):
            chosen = precise if part is head else precision
            name = f"{path}.weight" if path else "weight"
            replaced[id(part)] = grouped_linear(part, None, chosen, result, name)
    if not replaced:
        left = f" ({'; '.join(result.left)})" if result.left else ""
        raise StreamTensorError(
            f"expected a module with linear layers for the precision {precision} but there is none "
            f"to quantize{left}; choose f32, f16 or bf16"
        )
    # A layer that stands in several places is one layer afterwards, too; `named_children` gives it
    # once.
    for parent in list(module.modules()):
        for name, part in list(parent._modules.items()):
            if id(part) in replaced:
                setattr(parent, name, replaced[id(part)])
    return replaced.get(id(module), module), result


def why_float(module: torch.nn.Module) -> str | None:
    """Why a layer with products is not quantized; None where it is, and where it has none."""
    if is_linear(module):
        if module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module):
            return "it has hooks, or a forward of its own, that a quantized layer would lose"
        return None if module.weight.numel() else "its weight is empty"
    if isinstance(module, FLOAT_PRODUCTS):
        return f"a {type(module).__name__} is no plain linear layer"
    return None


def run_once(module: torch.nn.Module, example_inputs: Any, precision: Precision) -> None:
    """Fails where the converted module does, with what the user can do."""
    args, kwargs = split_inputs(example_inputs)
    args, kwargs = pytree.tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
    try:
        with evaluation_mode(module), unchanged_buffers(module), torch.no_grad():
            module(*args, **kwargs)
    except Exception as error:
        advice = f"make module.to({precision.dtype}) work in PyTorch on inputs of that type first"
        if precision.is_quantized:
            advice = (
                "its linear layers are modules without a float weight now, so code that reads the "
                "weight itself cannot be quantized; see whether the module works in f32, and "
                "choose f32, f16 or bf16"
            )
        raise StreamTensorError(
            f"the module in {precision} fails on its example inputs{place(error)}: "
            f"{first_line(error)}; {advice}"
        ) from error


def report(quantization: Quantization) -> None:
    """Says what became of the products."""
    say(f"products: {quantization.summary()}")
    for line in quantization.left:
        say(f"stays float: {line}")
