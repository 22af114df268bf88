"""Gives a language model the arithmetic that is asked for, by replacing its linear layers."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from streamtensor.models.quantized_linear import GroupedLinear
from streamtensor.models.quantized_weights import GROUP, GroupedWeight, gguf_weights, quantize
from streamtensor.models.recording import find_layers
from streamtensor.models.sources import ModelSource, header_of, load_model
from streamtensor.precision import Precision


@dataclass
class Quantization:
    """What became of the products of a model, by kind of weight: 'file q4_1', 'q8_0', 'f32'.

    `left` names the ones that stayed float, each with the reason.
    """

    counts: dict[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    def add(self, kind: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def summary(self) -> str:
        parts = [f"{count} {kind}" for kind, count in sorted(self.counts.items())]
        return ", ".join(parts)


def load_in_precision(
    source: ModelSource, precision: Precision
) -> tuple[torch.nn.Module, Quantization]:
    """Loads a model in the arithmetic of `precision`, ready for inference.

    With the integer precisions, the linear layers of the repeated blocks and the head become
    `GroupedLinear`. Where a GGUF file holds 4-bit groups, w4a8 takes them as they are, unless
    weights are asked for that share a scale per channel.
    """
    has_weights = source.seed is None
    header = header_of(source) if has_weights else None
    model = load_model(source, precision.dtype, header)
    if not precision.is_quantized:
        return model, Quantization()
    stored: dict[str, GroupedWeight] = {}
    if header and precision.name == "w4a8" and precision.weights == "group":
        stored = gguf_weights(header, model)
    return model, quantize_model(model, stored, precision)


def quantize_model(
    model: torch.nn.Module, stored: dict[str, GroupedWeight], precision: Precision
) -> Quantization:
    """Replaces the linear layers of the blocks and the head of `model`.

    `stored` are weights that come as they are, by parameter name. What one block keeps in
    another form than the others is quantized anew in all of them: all blocks are one design.
    """
    result = Quantization()
    name, layers = find_layers(model, model.config.get_text_config().num_hidden_layers)
    for path in linear_paths(layers[0]):
        own = [stored.get(f"{name}.{index}.{path}.weight") for index in range(len(layers))]
        is_uniform = all(weight is not None and form(weight) == form(own[0]) for weight in own)
        for index, layer in enumerate(layers):
            weight = own[index] if is_uniform else None
            replace(layer, path, weight, precision, result, f"{name}.{index}.{path}.weight")
    head = model.get_output_embeddings()
    if head is None:
        return result
    names = {id(module): path for path, module in model.named_modules()}
    # The head's weight often is the embedding's, and is called by that name only.
    weights = [stored.get(f"{names[id(head)]}.weight")]
    embedding = model.get_input_embeddings()
    if embedding is not None and embedding.weight is head.weight:
        weights.append(stored.get(f"{names[id(embedding)]}.weight"))
    kept = next((weight for weight in weights if weight is not None), None)
    path = names[id(head)]
    precise = Precision("w8a8", precision.activations, precision.weights)
    replace(model, path, kept, precise, result, f"{path}.weight")
    return result


def form(weight: GroupedWeight) -> tuple:
    """What must be equal in all blocks."""
    return (weight.bits, weight.offset, weight.minimum is None, tuple(weight.codes.shape))


def linear_paths(layer: torch.nn.Module) -> list[str]:
    """Returns the paths of the products with a weight in a block."""
    return [path for path, module in layer.named_modules() if is_linear(module)]


def is_linear(module: torch.nn.Module) -> bool:
    from transformers.pytorch_utils import Conv1D

    return type(module) in (torch.nn.Linear, Conv1D)


def replace(
    root: torch.nn.Module,
    path: str,
    stored: GroupedWeight | None,
    precision: Precision,
    result: Quantization,
    name: str,
) -> None:
    """Replaces the linear layer at `path` of `root`; `name` is its name in messages."""
    module = root.get_submodule(path)
    if not is_linear(module):
        result.left.append(f"{path}: a {type(module).__name__} is no plain linear layer")
        return
    parent, _, leaf = path.rpartition(".")
    linear = grouped_linear(module, stored, precision, result, name)
    setattr(root.get_submodule(parent), leaf, linear)


def grouped_linear(
    module: torch.nn.Module,
    stored: GroupedWeight | None,
    precision: Precision,
    result: Quantization,
    name: str,
) -> GroupedLinear:
    """Returns what stands for a linear layer, with `stored` as its weight or its own quantized."""
    # Linear keeps [out, in]; GPT-2's Conv1D keeps [in, out].
    weight = module.weight if isinstance(module, torch.nn.Linear) else module.weight.t()
    columns = weight.shape[1]
    kind = precision.kind
    if stored is not None:
        grouped = stored
        result.add(f"weights of {stored.bits} bits as stored")
    else:
        # Zeros up to whole groups.
        filled = torch.nn.functional.pad(weight.detach(), (0, -columns % GROUP))
        grouped = quantize(filled, kind, name)
        result.add(f"weights quantized to {kind}")
    return GroupedLinear(grouped, columns, module.bias, precision.per_token).eval()
