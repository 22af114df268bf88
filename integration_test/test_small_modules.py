"""Small modules through the real compiler: C simulation against PyTorch's results.

The expected values are PyTorch's (integration_test/data/README.md): stored beside
the small modules, computed here for the published benchmarks.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from conftest import ROOT
from design_runs import (
    TOOLS_ARE_BUILT,
    Tensors,
    VendorKernels,
    assert_equal,
    compile_text,
    same_bits,
    simulate,
)
from safetensors.torch import load_file

DATA = ROOT / "integration_test" / "data"
SMALL = sorted(path.stem for path in (DATA / "linalg").glob("*.safetensors"))
pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")


def attention(x, wq, bq, wk, bk, wv, bv, wo, bo):
    q, k, v = (
        F.linear(x, w, b).view(1, -1, 8, 16).transpose(1, 2)
        for w, b in ((wq, bq), (wk, bk), (wv, bv))
    )
    rows = (q @ k.transpose(2, 3) / 4).softmax(-1) @ v
    return F.linear(rows.transpose(1, 2).reshape(x.shape), wo, bo)


def residual(x, w, s, b, v, t, c):
    def per_channel(y, factor, offset):
        return y * factor.view(-1, 1, 1) + offset.view(-1, 1, 1)

    y = per_channel(F.conv2d(x, w, padding=1), s, b).relu()
    return (per_channel(F.conv2d(y, v, padding=1), t, c) + x).relu()


# What data/bench computes, with the shapes of the arguments.
BENCH: dict[str, tuple[Callable, list[tuple[int, ...]]]] = {
    "atax": (lambda a, x: a.T @ (a @ x), [(390, 410), (410,)]),
    "bicg": (
        lambda a, b, r, p: (r @ a, b @ p),
        [(410, 390), (410, 390), (410,), (390,)],
    ),
    "feedforward": (
        lambda x, w, b, v, c: F.linear(F.linear(x, w, b).relu(), v, c),
        [(1, 512, 128), (256, 128), (256,), (128, 256), (128,)],
    ),
    "gemm": (lambda a, b, c: 0.1 * (a @ b) + 0.1 * c, [(200, 240), (240, 220), (200, 220)]),
    "k2mm": (
        lambda a, b, c, d: 0.1 * (a @ b @ c) + 0.1 * d,
        [(180, 210), (210, 190), (190, 220), (180, 220)],
    ),
    "k3mm": (
        lambda a, b, c, d: (a @ b) @ (c @ d),
        [(180, 200), (200, 190), (190, 220), (220, 210)],
    ),
    "mhsa": (attention, [(1, 64, 128), *4 * [(128, 128), (128,)]]),
    "residual_block": (
        residual,
        [(1, 16, 56, 56), *2 * [(16, 16, 3, 3), (16,), (16,)]],
    ),
}
MODULES = [*SMALL, *BENCH]


def tensors_of(name: str) -> tuple[Tensors, Tensors]:
    """The arguments of a module and PyTorch's results."""
    if name in BENCH:
        function, shapes = BENCH[name]
        generator = torch.Generator().manual_seed(0)
        # Matrices keep the variance of what they are multiplied with.
        arguments = [
            torch.randn(shape, generator=generator) / (shape[-1] ** 0.5 if len(shape) == 2 else 1)
            for shape in shapes
        ]
        results = function(*arguments)
        results = results if isinstance(results, tuple) else (results,)
        return (
            {f"arg{i}": value for i, value in enumerate(arguments)},
            {f"result{i}": value for i, value in enumerate(results)},
        )
    stored = load_file(DATA / "linalg" / f"{name}.safetensors")
    arguments = {k: v for k, v in stored.items() if k.startswith("arg")}
    return arguments, {k: v for k, v in stored.items() if k.startswith("result")}


def compile_module(name: str, design: Path, *options: str):
    folder = "bench" if name in BENCH else "linalg"
    return compile_text(DATA / folder / f"{name}.mlir", design, *options)


@pytest.fixture(scope="module")
def designs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One directory for the designs of this file; each is compiled and built once."""
    return tmp_path_factory.mktemp("designs")


def design_of(name: str, designs: Path) -> Path:
    design = designs / name
    if not design.exists():
        # The interpreter takes its time with what is not small.
        options = [] if name in BENCH else ["--validate"]
        compiled = compile_module(name, design, *options)
        assert compiled.returncode == 0, compiled.stderr
    return design


@pytest.mark.parametrize("name", MODULES)
def test_simulation_equals_pytorch(name: str, designs: Path) -> None:
    design = design_of(name, designs)
    arguments, expected = tensors_of(name)
    results, statistics = simulate(design, arguments)
    assert_equal(results, expected)

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


def test_a_rounded_quotient_is_divided(designs: Path) -> None:
    """x / scale decides a rounding: a product with 1 / scale would round otherwise."""
    for name in ("w8a8_int_mm", "w4a8_group"):
        kernel = (design_of(name, designs) / "hls" / "kernel.cpp").read_text()
        rounded = re.search(r"hls::roundeven\((.*)\)", kernel)
        assert rounded and "/" in rounded[1], kernel
        assert "1.0f /" not in kernel


def test_memory_between_kernels_gives_the_same_results(designs: Path, tmp_path: Path) -> None:
    """Without fusion every operation is a kernel of its own, and memory lies between them."""
    for name in ("prime_sizes", "w4a8_group"):
        unfused = compile_module(name, tmp_path / name, "--onchip-budget-bytes=0")
        assert unfused.returncode == 0, unfused.stderr
        report = json.loads((tmp_path / name / "report.json").read_text())
        assert len(report["fusion"]["groups"]) > 1
        arguments, _ = tensors_of(name)
        separate, _ = simulate(tmp_path / name, arguments)
        fused, _ = simulate(design_of(name, designs), arguments)
        assert separate.keys() == fused.keys()
        for key, value in fused.items():
            assert torch.equal(separate[key], value), key


def test_amd_headers_give_the_same_bits(designs: Path, tmp_path: Path) -> None:
    """kernel.cpp also compiles and runs, task after task, against AMD's own headers."""
    vendor = VendorKernels({name: design_of(name, designs) for name in MODULES}, tmp_path)
    for name in MODULES:
        arguments, _ = tensors_of(name)
        simulated, _ = simulate(design_of(name, designs), arguments)
        sequential = vendor.run(name, arguments)
        assert sequential.keys() == simulated.keys(), name
        for key, value in simulated.items():
            assert same_bits(sequential[key], value), (name, key)
