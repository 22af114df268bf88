"""`streamtensor.export`: one PyTorch module as Linalg text, weights and a manifest."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from streamtensor import manifest
from streamtensor.errors import StreamTensorError, UsageError
from streamtensor.importer.lowering import lower
from streamtensor.importer.program import Program, capture
from streamtensor.importer.tracing import first_line, place
from streamtensor.output import check_replaceable, staged_directory

# What the function of a module is called.
FUNCTION = "main"


def export(
    module: torch.nn.Module,
    example_inputs: Sequence[Any] | torch.Tensor | dict[str, Any],
    output_dir: str | os.PathLike,
    *,
    dynamic_shapes: Any = None,
    function: str = FUNCTION,
    tolerance: float = 1e-4,
) -> Path:
    """Exports `module` as called on `example_inputs` into `output_dir`.

    `example_inputs` is a tuple of positional arguments, a dict of keyword arguments
    or one tensor. Parameters, buffers and constants become the first arguments of
    the function, the inputs follow; a None or a number among the inputs becomes a
    constant. `dynamic_shapes` is as for `torch.export.export`; each `Dim` needs a
    `max`. `tolerance` is the largest difference between the module and its graph, over the
    largest value of a result, that counts as rounding. Returns the directory. Raises `StreamTensorError` with the reason where
    the module cannot be exported; the directory is then as it was.
    """
    destination = Path(output_dir)
    check_replaceable(destination, [manifest.MODULE])
    args, kwargs = split_inputs(example_inputs)
    program = capture(
        module,
        args,
        kwargs,
        function=function,
        dynamic_shapes=dynamic_shapes,
        tolerance=tolerance,
    )
    write(destination, program)
    return destination


def write(destination: Path, program: Program) -> None:
    """Lowers a captured module into a new directory."""
    text = lower(program)
    with staged_directory(destination, [manifest.MODULE]) as directory:
        manifest.write_export(directory, program, text)


def split_inputs(example_inputs: Any) -> tuple[tuple, dict[str, Any]]:
    if isinstance(example_inputs, torch.Tensor):
        return (example_inputs,), {}
    if isinstance(example_inputs, dict):
        return (), example_inputs
    if isinstance(example_inputs, (tuple, list)):
        return tuple(example_inputs), {}
    raise StreamTensorError(
        "expected the example inputs as a tuple of arguments, a dict of keyword arguments or one "
        f"tensor but got {type(example_inputs).__name__}"
    )


def load_factory(spec: str) -> tuple[torch.nn.Module, Any, Any]:
    """Calls FILE.py:FACTORY; returns the module, its example inputs and dynamic shapes.

    FACTORY() gives (module, example_inputs) or (module, example_inputs,
    dynamic_shapes).
    """
    file, colon, name = spec.rpartition(":")
    if not colon or not file or not name.isidentifier():
        raise UsageError(f"expected FILE.py:FACTORY but got '{spec}'")
    path = Path(file)
    if not path.is_file():
        raise StreamTensorError(f"there is no file '{file}'")
    loader = importlib.util.spec_from_file_location(path.stem, path)
    if loader is None or loader.loader is None:
        raise StreamTensorError(f"expected a Python file ending in .py but got '{file}'")
    imported = importlib.util.module_from_spec(loader)
    # What the file imports from its own folder must be found, and found first.
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[path.stem] = imported
    try:
        loader.loader.exec_module(imported)
    except Exception as error:
        raise StreamTensorError(
            f"'{file}' cannot be imported: {type(error).__name__}{place(error)}: "
            f"{first_line(error)}"
        ) from error
    factory = getattr(imported, name, None)
    if factory is None:
        callables = [
            key
            for key, value in vars(imported).items()
            if callable(value) and getattr(value, "__module__", None) == path.stem
        ]
        known = ", ".join(callables) or "none"
        raise StreamTensorError(f"'{file}' has no '{name}'; it defines: {known}")
    return call_factory(factory, spec)


def call_factory(factory: Any, spec: str) -> tuple[torch.nn.Module, Any, Any]:
    # A module can be called, but not for its example inputs.
    if not callable(factory) or isinstance(factory, torch.nn.Module):
        raise StreamTensorError(
            f"'{spec}' is no function; expected one that returns (module, example_inputs)"
        )
    try:
        made = factory()
    except Exception as error:
        raise StreamTensorError(
            f"'{spec}' raised {type(error).__name__}{place(error)}: {first_line(error)}"
        ) from error
    parts = tuple(made) if isinstance(made, (tuple, list)) else ()
    module, inputs, dynamic_shapes = (*parts, None)[:3] if len(parts) in (2, 3) else (None,) * 3
    if not isinstance(module, torch.nn.Module) or not isinstance(
        dynamic_shapes, (dict, tuple, list, type(None))
    ):
        names = ", ".join(type(part).__name__ for part in parts)
        got = f"({names})" if parts else type(made).__name__
        raise StreamTensorError(
            f"expected '{spec}' to return (module, example_inputs) or "
            f"(module, example_inputs, dynamic_shapes) but got {got}"
        )
    return module, inputs, dynamic_shapes
