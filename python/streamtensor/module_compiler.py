"""Compiles any PyTorch module: export, then the compiler, into one directory."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from streamtensor.errors import StreamTensorError
from streamtensor.exporter import FUNCTION, load_factory, split_inputs, write
from streamtensor.importer.program import Program, capture
from streamtensor.manifest import MANIFEST, MODULE
from streamtensor.output import check_replaceable, replace_directory, scratch_directory
from streamtensor.precision import UNCHANGED, Precision
from streamtensor.progress import step
from streamtensor.toolchain import check_target, run_tool

# The compiler's own mark of a finished design.
INTERFACE = "interface.json"


def compile_factory(
    spec: str, output_dir: Path, target: str, precision: Precision = UNCHANGED
) -> Path:
    """Exports FILE.py:FACTORY and compiles it; returns the path of interface.json."""
    check_target(target)
    module, inputs, dynamic_shapes = load_factory(spec)
    return compile_module(module, inputs, output_dir, target, dynamic_shapes, precision)


def compile_module(
    module: torch.nn.Module,
    inputs: Any,
    output_dir: Path,
    target: str,
    dynamic_shapes: Any = None,
    precision: Precision = UNCHANGED,
) -> Path:
    """Exports a module and compiles it; returns the path of interface.json.

    In f32 it is compiled in the types that it has, otherwise as a copy in `precision`.
    """

    def write_module(directory: Path) -> None:
        with step("exporting the module"):
            program, _ = capture_module(module, inputs, dynamic_shapes, precision)
            write(directory, program)

    return compile_into(output_dir, target, write_module)


def capture_module(
    module: torch.nn.Module,
    inputs: Any,
    dynamic_shapes: Any = None,
    precision: Precision = UNCHANGED,
) -> tuple[Program, Any]:
    """Captures a module, in f32 in the types that it has, otherwise a copy in `precision`.

    Returns the program, and the inputs in the same types.
    """
    rounding = {}
    if precision != UNCHANGED:
        from streamtensor.module_precision import in_precision

        module, inputs = in_precision(module, inputs, precision)
        rounding = {"tolerance": precision.layer_rounding}
    args, kwargs = split_inputs(inputs)
    program = capture(
        module, args, kwargs, function=FUNCTION, dynamic_shapes=dynamic_shapes, **rounding
    )
    return program, inputs


def compile_program(program: Program, output_dir: Path, target: str) -> Path:
    """Compiles a captured module; returns the path of interface.json."""
    return compile_into(output_dir, target, lambda directory: write(directory, program))


def compile_into(
    output_dir: Path,
    target: str,
    write: Callable[[Path], object],
    arguments: Sequence[str] = (),
) -> Path:
    """Compiles what `write` exports into a directory; returns the path of interface.json.

    The design keeps the export beside itself. Nothing is left of what fails.
    """
    check_target(target)
    output_dir = output_dir.absolute()
    check_replaceable(output_dir, [INTERFACE])
    output_dir.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{output_dir.name}.export-"
    with scratch_directory(prefix, output_dir.parent) as scratch:
        exported = scratch / "export"
        design = scratch / "design"
        write(exported)
        with step(f"compiling for {target}"):
            compile_export(exported, design, target, arguments)
        shutil.move(exported, design / "export")
        replace_directory(design, output_dir)
    return output_dir / INTERFACE


def compile_export(
    exported: Path, design: Path, target: str, arguments: Sequence[str] = ()
) -> None:
    """Compiles what an export wrote to `exported` into the new directory `design`."""
    run_tool(
        "streamtensor-compile",
        [
            exported / MODULE,
            f"--manifest={exported / MANIFEST}",
            f"--target={target}",
            f"--output-dir={design}",
            *arguments,
        ],
    )
    if not (design / INTERFACE).is_file():
        raise StreamTensorError(f"streamtensor-compile wrote no {INTERFACE}")
