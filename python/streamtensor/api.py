"""The library's verbs beside `export`: compile a module or a model, and run a design."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from streamtensor.errors import StreamTensorError
from streamtensor.module_compiler import INTERFACE, compile_module
from streamtensor.output import scratch_directory
from streamtensor.precision import DETAILS, Precision, module_precision
from streamtensor.toolchain import run_tool
from streamtensor.weights import write_safetensors

# Arguments that a design has its own memory for, or that it writes.
OWN_ROLES = ("output", "workspace")


def compile(
    model: torch.nn.Module | str,
    example_inputs: Any = None,
    *,
    output_dir: str | os.PathLike | None = None,
    target: str = "u55c",
    precision: str = "f32",
    dynamic_shapes: Any = None,
    **options: Any,
) -> Any:
    """Compiles a module called on `example_inputs`, or a language model by name or path.

    Without `output_dir`, a module becomes a module: one that computes the same, on the
    device as far as it can (`streamtensor.backend.module.CompiledModule`). With it, the
    whole of the module becomes one design in that directory, which is returned; so is
    that of a language model. A `precision` other than f32 is that of a copy of the module
    (`streamtensor.module_precision`); f32 leaves the module in the types that it has.

    `options` are `activations` and `weights` (what shares a scale, see
    `streamtensor.precision`), and of a language model also `max_length`, `chunk`, `cache`
    and `random_weights` (a seed). Raises `StreamTensorError` with the reason; a directory
    is then as it was.
    """
    details = {name: options.pop(name) for name in DETAILS if name in options}
    if isinstance(model, str):
        if output_dir is None:
            raise StreamTensorError(
                f"expected output_dir for the language model '{model}': its designs are kept there"
            )
        from streamtensor.models.compiler import CompileOptions, compile_model
        from streamtensor.models.sources import resolve

        source = resolve(model, options.pop("random_weights", None))
        chosen = Precision(precision, **details)
        return compile_model(
            source, Path(output_dir), CompileOptions(target=target, precision=chosen, **options)
        )
    chosen = module_precision(precision, **details)
    if options:
        raise TypeError(f"unexpected options for a module: {', '.join(options)}")
    if output_dir is not None:
        compile_module(model, example_inputs, Path(output_dir), target, dynamic_shapes, chosen)
        return Path(output_dir)
    if dynamic_shapes is not None:
        raise StreamTensorError(
            "expected output_dir with dynamic_shapes: a module is compiled anew for each set of "
            "sizes, a design of run-time sizes is kept in a directory"
        )
    from streamtensor.backend.module import CompiledModule

    return CompiledModule(model, example_inputs, target, chosen)


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
    with scratch_directory("streamtensor-run-") as scratch:
        source, result = scratch / "in.safetensors", scratch / "out.safetensors"
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
