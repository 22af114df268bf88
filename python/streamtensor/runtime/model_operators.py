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
from streamtensor.models.split import ModelSplit
from streamtensor.models.steps import ConcatCache, capture_head, layer_weights
from streamtensor.precision import Precision
from streamtensor.runtime.operators import (
    OperatorComparison,
    Recording,
    compare_operators,
    record,
)

# What a layer gets, by argument.
Tensors = dict[str, torch.Tensor]


class ModelOperators:
    """The compiled model in `directory`, and PyTorch's `model` in the same arithmetic."""

    def __init__(self, directory: Path, model: torch.nn.Module, precision: Precision) -> None:
        self.directory = directory
        self.description = read_json(directory / MODEL_JSON)
        options = CompileOptions(
            max_length=self.description["max_length"],
            chunk=self.description["chunk"],
            precision=precision,
        )
        self.split = split_model(model, options)
        self.layer = capture_any_layer(self.split, options)
        self.head = capture_head(self.split)

    def compare(
        self, tokens: Sequence[int], position: int
    ) -> Iterator[tuple[str, OperatorComparison]]:
        """Runs `tokens` from `position` on, behind those before, and compares all operators.

        Yields ("layer 0", its comparison), ..., and ("head", that of the last token).
        """
        hosts = self.split.host_step(list(tokens[position:]), position)
        inputs: list[Tensors] = []
        for index, (key, value) in enumerate(rows_of(self.split, tokens[:position])):
            own = {self.layer.past_key: key, self.layer.past_value: value}
            for argument, path in self.layer.hosts.items():
                own[argument] = hosts[self.split.layer_hosts[index][path]]
            inputs.append(own)
        hidden = hosts["hidden"]
        for index, recording in enumerate(self.run_layers(inputs, hidden)):
            yield (
                f"layer {index}",
                compare_operators(
                    self.directory / LAYER,
                    self.layer.program,
                    [inputs[index][argument.name] for argument in self.layer.program.inputs],
                    recording.values,
                    list(layer_weights(self.split, self.layer.program, index).values()),
                ),
            )
            hidden = self.state_of(recording, hidden)
        last = hidden[:, -1:].contiguous()
        recording = record(
            self.directory / HEAD,
            {self.head.inputs[0].name: last},
            self.files(self.description["head"]["weights"]),
        )
        yield "head", compare_operators(self.directory / HEAD, self.head, [last], recording.values)

    def run_layers(self, inputs: list[Tensors], hidden: torch.Tensor) -> Iterator[Recording]:
        """Runs all layers from the state `hidden` on, which each one's inputs get added."""
        design = self.directory / LAYER
        inputs[0][self.layer.hidden] = hidden
        if not self.description["layer"]["layers"]:
            for index, entry in enumerate(self.description["layers"]):
                inputs[index][self.layer.hidden] = hidden
                recording = record(design, inputs[index], self.files(entry["weights"]))
                yield recording
                hidden = self.state_of(recording, hidden)
            return
        recording = record(
            design,
            stack_inputs(design, inputs),
            self.files(self.description["layer"]["weights"]),
        )
        for index in range(len(inputs)):
            inputs[index][self.layer.hidden] = hidden
            one = recording.of_pass(index, len(inputs))
            yield one
            hidden = self.state_of(one, hidden)

    def state_of(self, recording: Recording, like: torch.Tensor) -> torch.Tensor:
        """The hidden state behind a layer."""
        return recording.results[self.layer.program.results[0].name].reshape(like.shape)

    def files(self, weights: dict[str, str]) -> dict[str, Path]:
        """The files of packed weights, by argument."""
        return {argument: self.directory / file for argument, file in weights.items()}


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


def rows_of(
    split: ModelSplit, tokens: Sequence[int]
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yields the rows that PyTorch's layers make of `tokens`, for each layer: keys, values."""
    stack = split.stack
    # Without tokens the rows of one tell the shapes.
    ids = torch.tensor([list(tokens) or [0]])
    calls = stack.record(ids, torch.arange(ids.shape[1])[None])
    hidden = calls[0].get(stack.hidden_path)
    with torch.no_grad():
        for layer, call in zip(stack.layers, calls, strict=True):
            cache = ConcatCache(None, None, split.cache_dtype)
            hidden = stack.run_layer(layer, call, hidden, cache)
            key, value = cache.rows()
            yield key[..., : len(tokens), :], value[..., : len(tokens), :]
