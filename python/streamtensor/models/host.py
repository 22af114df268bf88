"""The host's share of a compiled model: saved beside the designs, loaded without the layers.

DIR/host holds the model's configuration, the tensors that the model reads before
its first layer (embedding, rotary frequencies), the tokenizer, and host.json.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from streamtensor.errors import StreamTensorError
from streamtensor.manifest import write_json
from streamtensor.models.recording import LayerStack
from streamtensor.models.sources import ModelSource, eos_ids, quiet_transformers
from streamtensor.models.split import ModelSplit, used_state
from streamtensor.models.tokenizer import ByteTokenizer, HubTokenizer, Tokenizer, load_directory
from streamtensor.precision import Precision
from streamtensor.weights import write_safetensors

HOST_JSON = "host.json"
STATE = "host.safetensors"
TOKENIZER = "tokenizer"


@dataclass
class Host:
    """What generation needs on the host side of a compiled model."""

    split: ModelSplit
    tokenizer: Tokenizer | None
    eos_ids: list[int]
    source: ModelSource
    precision: Precision


def save_host(
    directory: Path,
    split: ModelSplit,
    source: ModelSource,
    tokenizer: Tokenizer | None,
    precision: Precision,
) -> None:
    """Writes the host's share of a model into a new directory."""
    directory.mkdir()
    config = split.stack.model.config
    values = config.to_dict()
    # The weights here are plain tensors, whatever the checkpoint held.
    values.pop("quantization_config", None)
    write_json(directory / "config.json", values)
    write_safetensors(directory / STATE, used_state(split))
    kind = None
    if isinstance(tokenizer, ByteTokenizer):
        kind = "byte"
    elif isinstance(tokenizer, HubTokenizer):
        kind = "directory"
        tokenizer.tokenizer.save_pretrained(str(directory / TOKENIZER))
    write_json(
        directory / HOST_JSON,
        {
            "schema": 1,
            "source": source.to_json(),
            "precision": precision.to_json(),
            "max_length": split.max_length,
            "hidden_path": split.hidden_path,
            "fillings": [[index, values] for index, values in sorted(split.fillings.items())],
            "returns_tuple": split.stack.returns_tuple,
            "eos_token_ids": eos_ids(split.stack.model),
            "tokenizer": kind,
        },
    )


def load_host(directory: Path) -> Host:
    """Loads what `save_host` wrote; the layers stay without weights."""
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModelForCausalLM

    try:
        values = json.loads((directory / HOST_JSON).read_text())
        precision = Precision.from_json(values["precision"])
        with quiet_transformers(), torch.device("meta"):
            config = AutoConfig.from_pretrained(str(directory))
            model = AutoModelForCausalLM.from_config(
                config, dtype=precision.dtype, attn_implementation="eager"
            )
        set_state(model, load_file(directory / STATE))
        stack = LayerStack(model.eval(), values["hidden_path"], values["returns_tuple"])
        split = ModelSplit(model, values["max_length"], stack)
        for index, constants in values["fillings"]:
            split.fill(index, constants)
    except (OSError, ValueError, KeyError) as error:
        raise StreamTensorError(
            f"'{directory}' does not hold the host's share of a compiled model "
            f"({type(error).__name__}: {error}); compile the model again"
        ) from error
    tokenizer: Tokenizer | None = None
    if values["tokenizer"] == "byte":
        tokenizer = ByteTokenizer()
    elif values["tokenizer"] == "directory":
        with quiet_transformers():
            tokenizer = load_directory(directory / TOKENIZER)
    source = ModelSource.from_json(values["source"])
    return Host(split, tokenizer, values["eos_token_ids"], source, precision)


def set_state(model: torch.nn.Module, state: dict[str, torch.Tensor]) -> None:
    """Puts tensors into a model that was built without storage."""
    for name, tensor in state.items():
        path, _, leaf = name.rpartition(".")
        module: Any = model.get_submodule(path)
        if leaf in module._parameters:
            module._parameters[leaf] = torch.nn.Parameter(tensor, requires_grad=False)
        else:
            module._buffers[leaf] = tensor
