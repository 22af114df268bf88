#!/usr/bin/env python3
"""Runs imported Linalg and its normalized form on the same data and compares.

Both texts are compiled by the stock MLIR tools (mlir-opt, mlir-translate,
clang), loaded, and called with the same tensors: those of FILE.safetensors
beside FILE.mlir when it exists (then the results are also compared with the
recorded ones, which PyTorch computed), seeded random ones otherwise.

    check_normalization.py --opt build/bin/streamtensor-opt FILE.mlir...

Prints one line per file; exits 1 if one fails. Needs numpy.
"""

import argparse
import ctypes
import json
import re
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LLVM_BIN = Path("/usr/lib/llvm-22/bin")
LLVM_LIB = Path("/usr/lib/llvm-22/lib")
# From tensors to the LLVM dialect, with nothing of ours in between.
LOWERING = [
    "--math-expand-ops=ops=fpowi",
    "--one-shot-bufferize=bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map",
    "--convert-linalg-to-loops",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--llvm-request-c-wrappers",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--convert-arith-to-llvm",
    "--convert-index-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
]
SIGNATURE = re.compile(
    r"func\.func (?:public )?@(\w+)\((.*?)\)\s*->\s*(.*?)(?: attributes .*)?\{\s*$", re.M
)
TENSOR = re.compile(r"tensor<((?:\d+x)*)f32")


class CheckError(Exception):
    """A text that could not be normalized, compiled or compared."""


def run(command, what):
    """Runs `command`; raises with the first lines of its errors."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        first = "\n".join(done.stderr.splitlines()[:8])
        raise CheckError(f"{what} failed with exit code {done.returncode}: {first}")
    return done.stdout


def read_signature(text):
    """(name, argument shapes, result shapes) of the first function of `text`."""
    match = SIGNATURE.search(text)
    if not match:
        raise CheckError("expected a function with f32 tensors but found none")
    name, arguments, results = match.groups()

    def shapes(part):
        return [tuple(int(d) for d in dims.split("x") if d) for dims in TENSOR.findall(part)]

    return name, shapes(arguments), shapes(results)


def read_safetensors(path):
    """The f32 tensors of a safetensors file as numpy arrays."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for key, entry in json.loads(data[8 : 8 + length]).items():
        if key == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if entry["dtype"] != "F32":
            raise CheckError(f"{path}: expected F32 but got {entry['dtype']} in '{key}'")
        tensors[key] = np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"])
    return tensors


def random_arguments(shapes, seed=0):
    """Normal values; matrices scaled so that products keep their size."""
    rng = np.random.default_rng(seed)
    arguments = []
    for shape in shapes:
        scale = shape[-1] ** -0.5 if len(shape) == 2 else 1.0
        arguments.append((rng.standard_normal(shape) * scale).astype(np.float32))
    return arguments


def descriptor_type(rank):
    """The C struct that MLIR passes for a memref of `rank`."""
    fields = [("base", ctypes.c_void_p), ("data", ctypes.c_void_p), ("offset", ctypes.c_int64)]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type(f"MemRef{rank}", (ctypes.Structure,), {"_fields_": fields})


def to_descriptor(array):
    rank = array.ndim
    memref = descriptor_type(rank)()
    memref.base = memref.data = array.ctypes.data
    for dim in range(rank):
        memref.sizes[dim] = array.shape[dim]
        memref.strides[dim] = array.strides[dim] // array.itemsize
    return memref


def to_array(memref, shape):
    """Copies the memory behind a result, whose strides may be any."""
    strides = [memref.strides[dim] for dim in range(len(shape))]
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    address = memref.data + 4 * memref.offset
    flat = np.ctypeslib.as_array((ctypes.c_float * extent).from_address(address))
    return np.lib.stride_tricks.as_strided(flat, shape, [4 * s for s in strides]).copy()


class Compiled:
    """A text compiled to a shared library."""

    def __init__(self, path, directory, stem):
        self.name, self.arguments, self.results = read_signature(path.read_text())
        lowered = directory / f"{stem}.llvm.mlir"
        module = directory / f"{stem}.ll"
        library = directory / f"{stem}.so"
        run([LLVM_BIN / "mlir-opt", path, *LOWERING, "-o", lowered], "mlir-opt")
        run(
            [LLVM_BIN / "mlir-translate", "--mlir-to-llvmir", lowered, "-o", module],
            "mlir-translate",
        )
        run(
            [
                LLVM_BIN / "clang",
                "-O2",
                "-march=native",
                "-ffp-contract=off",
                "-fPIC",
                "-shared",
                "-Wno-override-module",
                "-x",
                "ir",
                module,
                "-Wl,--no-as-needed",
                f"-L{LLVM_LIB}",
                f"-Wl,-rpath,{LLVM_LIB}",
                "-lmlir_c_runner_utils",
                "-lm",
                "-o",
                library,
            ],
            "clang",
        )
        self.function = ctypes.CDLL(str(library))[f"_mlir_ciface_{self.name}"]
        self.function.restype = None

    def __call__(self, arguments):
        # An argument may be written in place: each call gets its own copies.
        copies = [np.array(a, np.float32, order="C") for a in arguments]
        memrefs = [to_descriptor(a) for a in copies]
        types = [descriptor_type(len(shape)) for shape in self.results]
        fields = {"_fields_": [(f"r{i}", t) for i, t in enumerate(types)]}
        results = type("Results", (ctypes.Structure,), fields)()
        self.function(ctypes.byref(results), *(ctypes.byref(m) for m in memrefs))
        return [to_array(getattr(results, f"r{i}"), shape) for i, shape in enumerate(self.results)]


def difference(actual, expected):
    """Largest absolute difference over the largest absolute expected value."""
    worst = 0.0
    for a, e in zip(actual, expected, strict=True):
        if a.shape != e.shape:
            raise CheckError(f"expected a result of shape {e.shape} but got {a.shape}")
        if not np.array_equal(np.isnan(a), np.isnan(e)):
            raise CheckError("expected NaN in the same places")
        largest = float(np.max(np.abs(e), initial=0.0, where=np.isfinite(e)))
        same = (a == e) | np.isnan(e)
        delta = float(np.max(np.abs(a - e), initial=0.0, where=~same))
        worst = max(worst, delta / largest if largest else delta)
    return worst


def count_generics(text):
    """Linalg operations that compute or move data (fills do not count)."""
    return len(re.findall(r"linalg\.(?!fill|yield|index)\w+ ", text))


def check(path, opt, tolerance, directory):
    """Checks one file; returns the line to print, raises CheckError."""
    normalized = directory / f"{path.stem}.normalized.mlir"
    start = time.perf_counter()
    run(
        [opt, path, "--st-normalize", "--mlir-print-op-on-diagnostic=false", "-o", normalized],
        "normalization",
    )
    seconds = time.perf_counter() - start
    before, after = path.read_text(), normalized.read_text()
    original = Compiled(path, directory, path.stem)
    reference = path.with_suffix(".safetensors")
    recorded = read_safetensors(reference) if reference.exists() else None
    if recorded:
        arguments = [recorded[f"arg{i}"] for i in range(len(original.arguments))]
    else:
        arguments = random_arguments(original.arguments)
    expected = original(arguments)
    actual = Compiled(normalized, directory, path.stem + ".normalized")(arguments)
    error = difference(actual, expected)
    line = (
        f"{path.stem}: {count_generics(before)} -> {count_generics(after)} operations, "
        f"normalized in {seconds:.2f} s, error {error:.1e} against the import"
    )
    if not all(np.isfinite(e).any() for e in expected):
        raise CheckError(f"{line}; expected finite results")
    if recorded:
        torch = difference(actual, [recorded[f"result{i}"] for i in range(len(actual))])
        line += f", {torch:.1e} against PyTorch"
        error = max(error, torch)
    if not error <= tolerance:
        raise CheckError(f"{line}; expected at most {tolerance:.1e}")
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--opt", required=True, type=Path, help="the streamtensor-opt to use")
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-5,
        help="relative to the largest value of a result (default: %(default)s)",
    )
    parser.add_argument("--keep", type=Path, help="write the intermediate files to this folder")
    options = parser.parse_args()
    failures = 0
    for path in options.files:
        with tempfile.TemporaryDirectory() as scratch:
            directory = options.keep or Path(scratch)
            directory.mkdir(parents=True, exist_ok=True)
            try:
                print(check(path, options.opt, options.tolerance, directory), flush=True)
            except CheckError as error:
                failures += 1
                print(f"{path.stem}: FAILED: {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
