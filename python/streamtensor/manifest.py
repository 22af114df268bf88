"""Writes an exported module: module.mlir, manifest.json, weights.safetensors.

The manifest tells the compiler what each argument is (its role and where it comes
from) and where the weights lie.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamtensor.dtypes import NAMES
from streamtensor.importer.program import Program
from streamtensor.weights import write_safetensors

MODULE = "module.mlir"
MANIFEST = "manifest.json"
WEIGHTS = "weights.safetensors"
DIMS = "module.dims.json"


def manifest_of(program: Program, with_weights: bool) -> dict[str, Any]:
    """Returns a manifest; without weights its `weights` is null."""
    arguments = []
    for argument in program.arguments:
        entry: dict[str, Any] = {
            "name": argument.name,
            "role": argument.role,
            "shape": list(argument.shape),
            "dtype": NAMES[argument.dtype],
            "source": argument.source,
        }
        if argument.buffer_shape is not None:
            entry["buffer_shape"] = list(argument.buffer_shape)
        arguments.append(entry)
    results = [
        {
            "name": result.name,
            "shape": list(result.shape),
            "dtype": NAMES[result.dtype],
            "source": result.source,
        }
        for result in program.results
    ]
    return {
        "schema": 1,
        "function": program.function,
        "arguments": arguments,
        "results": results,
        "weights": WEIGHTS if with_weights and program.weights else None,
    }


def write_export(
    directory: Path,
    program: Program,
    text: str,
    with_weights: bool = True,
    repeat: dict[str, Any] | None = None,
) -> None:
    """Writes the files of an export into an existing directory; `repeat` as `write_manifest`."""
    if with_weights and program.weights:
        tensors = {argument.name: argument.value for argument in program.weights}
        write_safetensors(directory / WEIGHTS, tensors)
    if program.dims is not None:
        write_json(directory / DIMS, program.dims.to_json())
    write_manifest(directory, program, with_weights, repeat)
    (directory / MODULE).write_text(text)


def write_manifest(
    directory: Path, program: Program, with_weights: bool, repeat: dict[str, Any] | None = None
) -> None:
    """Writes the manifest; `repeat` says that the program is one layer of many, and how all are
    made of it (`repetition` of models/compiler.py)."""
    manifest = manifest_of(program, with_weights)
    write_json(directory / MANIFEST, manifest | ({"repeat": repeat} if repeat else {}))


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
