"""The library's verbs beside `export`: compile a module or a model, and run a design."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from streamtensor.errors import StreamTensorError
from streamtensor.module_compiler import INTERFACE, compile_module
from streamtensor.toolchain import run_tool
from streamtensor.weights import write_safetensors

# Arguments that a design has its own memory for, or that it writes.
OWN_ROLES = ("output", "workspace")


def compile(
    model: torch.nn.Module | str,
    example_inputs: Any = None,
    *,
    output_dir: str | os.PathLike,
    target: str = "u55c",
    dynamic_shapes: Any = None,
    **options: Any,
) -> Path:
    """Compiles a module called on `example_inputs`, or a language model by name or path.

    For a language model `options` are `max_length`, `chunk` and `random_weights` (a
    seed). Returns the directory. Raises `StreamTensorError` with the reason; the
    directory is then as it was.
    """
    output = Path(output_dir)
    if isinstance(model, str):
        from streamtensor.models.compiler import CompileOptions, compile_model
        from streamtensor.models.sources import resolve

        source = resolve(model, options.pop("random_weights", None))
        return compile_model(source, output, CompileOptions(target=target, **options))
    if options:
        raise TypeError(f"unexpected options for a module: {', '.join(options)}")
    compile_module(model, example_inputs, output, target, dynamic_shapes)
    return output


def run(
    directory: str | os.PathLike,
    inputs: Mapping[str, torch.Tensor] | Sequence[torch.Tensor] | torch.Tensor,
) -> list[torch.Tensor]:
    """Runs a compiled design by C simulation; returns its results in order.

    `inputs` are the run-time arguments in order, or by name (`arg3`). Raises
    `StreamTensorError` where they do not fit the design.
    """
    from safetensors.torch import load_file

    directory = Path(directory)
    if isinstance(inputs, torch.Tensor):
        inputs = [inputs]
    if not isinstance(inputs, Mapping):
        names = input_names(directory)
        if len(names) != len(inputs):
            raise StreamTensorError(
                f"expected {len(names)} inputs ({', '.join(names)}) but got {len(inputs)}"
            )
        inputs = dict(zip(names, inputs, strict=True))
    with tempfile.TemporaryDirectory(prefix="streamtensor-run-") as scratch:
        source, result = Path(scratch) / "in.safetensors", Path(scratch) / "out.safetensors"
        write_safetensors(source, inputs)
        run_tool("streamtensor-run", [directory, "--inputs", source, "--outputs", result])
        outputs = load_file(result)
    return [outputs[f"result{index}"] for index in range(len(outputs))]


def input_names(directory: Path) -> list[str]:
    """Returns the names of the arguments that come with a run, in order."""
    path = directory / INTERFACE
    try:
        arguments = json.loads(path.read_text())["arguments"]
        return [
            argument["name"]
            for argument in arguments
            if argument["role"] not in OWN_ROLES
            and not (argument["role"] == "weight" and argument.get("file"))
        ]
    except (OSError, ValueError, KeyError) as error:
        raise StreamTensorError(
            f"'{directory}' holds no compiled design ({type(error).__name__}: {error})"
        ) from error
