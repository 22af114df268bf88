"""Compares the operators of a language model's designs with PyTorch: one step of some tokens.

All layers run in one launch, as they do when text is generated, or each in its own. A layer of
PyTorch gets the hidden state that the accelerator had before it, and the rows that PyTorch's own
layers make of the tokens before the step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from streamtensor.designs import INTERFACE, MODEL_JSON, read_json
from streamtensor.models.compiler import (
    HEAD,
    LAYER,
    LAYERS,
    CompileOptions,
    capture_any_layer,
    split_model,
)
from streamtensor.models.steps import ConcatCache, capture_head, layer_weights
from streamtensor.precision import Precision
from streamtensor.runtime.operators import OperatorComparison, compare_operators, record

# What a layer gets, by argument.
Tensors = dict[str, torch.Tensor]


def compare_step(
    directory: Path,
    model: torch.nn.Module,
    precision: Precision,
    tokens: Sequence[int],
    position: int,
) -> Iterator[tuple[str, OperatorComparison]]:
    """Runs `tokens` from `position` on, behind those before, and compares all operators.

    `directory` holds the compiled model, `model` is PyTorch's in the same arithmetic. Yields
    ("layer 0", its comparison), ..., and ("head", that of the last token).
    """
    description = read_json(directory / MODEL_JSON)
    options = CompileOptions(
        max_length=description["max_length"], chunk=description["chunk"], precision=precision
    )
    split = split_model(model, options)
    layer = capture_any_layer(split, options)

    hosts = split.host_step(list(tokens[position:]), position)
    inputs: list[Tensors] = []
    for index, (key, value) in enumerate(rows_of(split, tokens[:position])):
        own = {layer.past_key: key, layer.past_value: value}
        for argument, path in layer.hosts.items():
            own[argument] = hosts[split.layer_hosts[index][path]]
        inputs.append(own)
    inputs[0][layer.hidden] = hosts["hidden"]
    result = layer.program.results[0].name

    def compare(index: int, values: Tensors) -> OperatorComparison:
        return compare_operators(
            directory / LAYER,
            layer.program,
            [inputs[index][argument.name] for argument in layer.program.inputs],
            values,
            list(layer_weights(split, layer.program, index).values()),
        )

    hidden = hosts["hidden"]
    if description["layer"]["layers"]:
        recording = record(
            directory / LAYER,
            stack_inputs(directory / LAYER, inputs),
            files(directory, description["layer"]["weights"]),
        )
        states = recording.results[result].reshape(len(inputs), *hidden.shape)
        for index in range(len(inputs)):
            inputs[index][layer.hidden] = hidden
            # Where there is one layer only, nothing has a place for each of them.
            values = {
                name: value[index] if len(inputs) > 1 else value
                for name, value in recording.values.items()
            }
            yield f"layer {index}", compare(index, values)
            hidden = states[index]
    else:
        for index, entry in enumerate(description["layers"]):
            inputs[index][layer.hidden] = hidden
            recording = record(directory / LAYER, inputs[index], files(directory, entry["weights"]))
            yield f"layer {index}", compare(index, recording.values)
            hidden = recording.results[result].reshape(hidden.shape)
    head = capture_head(split)
    last = hidden[:, -1:].contiguous()
    recording = record(
        directory / HEAD,
        {head.inputs[0].name: last},
        files(directory, description["head"]["weights"]),
    )
    yield "head", compare_operators(directory / HEAD, head, [last], recording.values)


def files(directory: Path, weights: dict[str, str]) -> dict[str, Path]:
    """The files of packed weights, by argument."""
    return {argument: directory / file for argument, file in weights.items()}


def stack_inputs(design: Path, inputs: Sequence[Tensors]) -> Tensors:
    """Returns the tensors of a launch of all layers: what differs has a place for each."""
    stacked = {
        argument["name"]
        for argument in read_json(design / INTERFACE)["arguments"]
        if argument.get("dims", [""])[0] == LAYERS
    }
    return {
        name: torch.stack([own[name] for own in inputs]) if name in stacked else value
        for name, value in inputs[0].items()
    }


def rows_of(split, tokens: Sequence[int]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yields the rows that PyTorch's layers make of `tokens`, for each layer: keys, values."""
    stack = split.stack
    # Without tokens the rows of one tell the shapes.
    ids = torch.tensor([list(tokens) or [0]])
    calls = stack.record(ids, torch.arange(ids.shape[1])[None])
    hidden = calls[0].get(stack.hidden_path)
    with torch.no_grad():
        for layer, call in zip(stack.layers, calls, strict=True):
            leaves = [
                hidden if path == stack.hidden_path else leaf
                for path, leaf in zip(call.paths, call.leaves, strict=True)
            ]
            cache = ConcatCache(None, None, split.cache_dtype)
            hidden = stack.call_layer(layer, leaves, call.spec, cache)
            key, value = cache.rows()
            yield key[..., : len(tokens), :], value[..., : len(tokens), :]
