"""Feeds mutated weights and descriptions of designs to their readers, with sanitizers.

Safetensors files, interface.json with the packing of weights, and model.json: each must be
read or give an error; a crash, undefined behaviour, a leak or more than a minute fails. A
seed gives the same files each time.

usage: fuzz_files.py [--first N] [--count N] [--scratch DIR]
"""

from __future__ import annotations

import sys
from pathlib import Path

from fuzz_networks import ROOT, fuzz

SOURCES = (
    "benchmarks/fuzz_files.cpp",
    "runtime/DesignInterface.cpp",
    "runtime/Device.cpp",
    "runtime/JsonFields.cpp",
    "runtime/ModelDescription.cpp",
    "runtime/PackWeights.cpp",
    "runtime/System.cpp",
    "runtime/TensorTransfer.cpp",
    "streamtensor/Support/*.cpp",
)


def descriptions(scratch: Path) -> list[Path]:
    """A directory to write to, and the descriptions that the tests of the runtime use."""
    folder = scratch / "mutated"
    folder.mkdir(exist_ok=True)
    return [folder, *sorted((ROOT / "unittests/Runtime/data").glob("*.json"))]


if __name__ == "__main__":
    sys.exit(fuzz("fuzz_files", SOURCES, __doc__.splitlines()[0], descriptions))
