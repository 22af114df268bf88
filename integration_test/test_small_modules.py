"""Small modules through the real compiler: C simulation against PyTorch's results.

The expected values are PyTorch's (integration_test/data/README.md).
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from safetensors.numpy import load_file, save_file

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
DATA = Path(__file__).resolve().parent / "data" / "linalg"
MODULES = sorted(path.stem for path in DATA.glob("*.safetensors"))
VENDOR_MODULES = ["gqa_attention", "layernorm", "prime_sizes"]
REFUSED = ["bf16_linear", "w8a8_int_mm"]
pytestmark = pytest.mark.skipif(
    not (BIN / "streamtensor-compile").is_file(), reason="the C++ tools are not built"
)


def run(*command: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=600
    )


def compile_module(name: str, output: Path, *options: str) -> subprocess.CompletedProcess:
    return run(
        BIN / "streamtensor-compile", DATA / f"{name}.mlir", f"--output-dir={output}", *options
    )


@pytest.fixture(scope="module")
def designs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One directory for the designs of this file; each is compiled and built once."""
    return tmp_path_factory.mktemp("designs")


def simulate(name: str, designs: Path) -> tuple[Path, dict[str, np.ndarray], dict]:
    """Compiles (if needed) and runs the module; returns design, results and statistics."""
    design = designs / name
    if not design.exists():
        compiled = compile_module(name, design, "--validate")
        assert compiled.returncode == 0, compiled.stderr
    inputs, outputs = designs / f"{name}.in.safetensors", designs / f"{name}.out.safetensors"
    statistics = designs / f"{name}.json"
    arguments = {k: v for k, v in load_file(DATA / f"{name}.safetensors").items() if k[0] == "a"}
    save_file(arguments, inputs)
    ran = run(
        BIN / "streamtensor-run",
        design,
        *("--inputs", inputs, "--outputs", outputs, "--json", statistics),
    )
    assert ran.returncode == 0, ran.stderr
    return design, load_file(outputs), json.loads(statistics.read_text())


@pytest.mark.parametrize("name", MODULES)
def test_simulation_equals_pytorch(name: str, designs: Path) -> None:
    design, results, statistics = simulate(name, designs)
    expected = {k: v for k, v in load_file(DATA / f"{name}.safetensors").items() if k[0] == "r"}
    assert results.keys() == expected.keys()
    for key, value in expected.items():
        assert results[key].shape == value.shape
        tolerance = 1e-4 * (np.abs(value) + np.abs(value).max())
        assert (np.abs(results[key] - value) <= tolerance).all(), key

    report = json.loads((design / "report.json").read_text())
    kernel = (design / "hls" / "kernel.cpp").read_text()
    digest = hashlib.sha256(kernel.encode()).hexdigest()
    assert report["artifacts"]["kernel_sha256"] == digest
    # No double, no preprocessor conditionals in what Vitis gets.
    assert not re.search(r"\bdouble\b", kernel)
    assert not re.search(r"^\s*#\s*(if|ifdef|ifndef|else|elif|endif)\b", kernel, re.MULTILINE)
    # What the simulation moved is what the report says.
    moved = {dma["name"]: dma["bytes"] for dma in statistics["dma"]}
    assert moved == {dma["name"]: dma["bytes"] for dma in report["dma"]}
    assert all(fifo["peak"] <= fifo["depth"] for fifo in statistics["fifos"])


def test_same_input_same_bytes(tmp_path: Path) -> None:
    for attempt in ("first", "second"):
        assert compile_module("gqa_attention", tmp_path / attempt).returncode == 0
    for name in ("hls/kernel.cpp", "interface.json", "connectivity.cfg"):
        first, second = ((tmp_path / a / name).read_bytes() for a in ("first", "second"))
        assert first == second, name


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_types_and_operators_are_refused(name: str, tmp_path: Path) -> None:
    compiled = compile_module(name, tmp_path / "design")
    assert compiled.returncode == 1
    assert "not supported" in compiled.stderr
    assert not (tmp_path / "design" / "interface.json").exists()


def test_memory_between_kernels_gives_the_same_results(designs: Path, tmp_path: Path) -> None:
    """Without fusion every operation is a kernel of its own, and memory lies between them."""
    name = "prime_sizes"
    unfused = compile_module(name, tmp_path / name, "--onchip-budget-bytes=0")
    assert unfused.returncode == 0, unfused.stderr
    report = json.loads((tmp_path / name / "report.json").read_text())
    assert len(report["fusion"]["groups"]) > 1
    _, separate, _ = simulate(name, tmp_path)
    _, fused, _ = simulate(name, designs)
    assert separate.keys() == fused.keys()
    for key, value in fused.items():
        assert separate[key].tobytes() == value.tobytes()


def amd_headers() -> Path:
    """AMD's open simulation headers, inside the hls4ml wheel."""
    files = importlib.metadata.distribution("hls4ml").files or []
    return next(Path(f.locate()) for f in files if f.name == "hls_stream.h").parent


@pytest.mark.parametrize("name", VENDOR_MODULES)
def test_amd_headers_give_the_same_bits(name: str, designs: Path, tmp_path: Path) -> None:
    """kernel.cpp also compiles and runs, task after task, against AMD's own headers."""
    design, simulated, _ = simulate(name, designs)
    library = tmp_path / "kernel.so"
    include = ROOT / "runtime"
    built = run(
        *("g++", "-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-w"),
        *(f"-I{include / 'include-plain'}", f"-I{include / 'include' / 'common'}"),
        *(f"-I{amd_headers()}", design / "hls" / "kernel.cpp", "-o", library),
    )
    assert built.returncode == 0, built.stderr
    interface = json.loads((design / "interface.json").read_text())
    inputs = load_file(DATA / f"{name}.safetensors")
    buffers = {}
    for argument in interface["arguments"]:
        if argument["role"] in ("output", "workspace"):
            shape = argument["shape"]
            buffers[argument["name"]] = np.zeros(shape, np.float32)
        else:
            buffers[argument["name"]] = np.ascontiguousarray(inputs[argument["name"]])
    top = getattr(ctypes.CDLL(str(library)), interface["function"])
    top(*(ctypes.c_void_p(buffer.ctypes.data) for buffer in buffers.values()))
    for key, value in simulated.items():
        assert buffers[key].tobytes() == value.tobytes(), key
