"""Designs under a budget of on-chip memory: they split, say why, and still compute PyTorch's results."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import ROOT
from design_runs import run_batch
from safetensors.torch import load_file, save_file

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
DATA = Path(__file__).resolve().parent / "data" / "linalg"
MODULES = sorted(path.stem for path in DATA.glob("*.safetensors"))
FAMILIES = [
    f"{name}-tiny"
    for name in ("smollm2-135m", "gpt2-medium", "qwen2.5-0.5b", "tinyllama-1.1b", "gemma3-1b")
]
FRACTIONS = (2, 4, 16)
pytestmark = pytest.mark.skipif(
    not (BIN / "streamtensor-compile").is_file(), reason="the C++ tools are not built"
)


def compile_module(
    source: Path, design: Path, budget: int | None, *options: str
) -> subprocess.CompletedProcess:
    limit = [] if budget is None else [f"--onchip-budget-bytes={budget}"]
    return subprocess.run(
        [BIN / "streamtensor-compile", source, f"--output-dir={design}", *limit, *options],
        capture_output=True,
        text=True,
        timeout=300,
    )


def report_of(source: Path, design: Path, budget: int | None, *options: str) -> dict:
    done = compile_module(source, design, budget, *options)
    assert done.returncode == 0, done.stderr
    return json.loads((design / "report.json").read_text())


def need_of(report: dict) -> int:
    """The budget under which the design is what it is without one."""
    return max(group["onchip_bytes"] for group in report["fusion"]["groups"])


def check_split(free: dict, report: dict, budget: int) -> None:
    """The design keeps to the budget, differs from the free one, and says why."""
    groups = report["fusion"]["groups"]
    assert all(group["onchip_bytes"] <= budget for group in groups)
    changed = report["schedule"]["changed"]
    assert len(groups) > len(free["fusion"]["groups"]) or changed
    refused = [d for d in report["fusion"]["decisions"] if d["producer"] and not d["fused"]]
    assert all("budget" in d["reason"] or "comes back" in d["reason"] for d in refused)
    # Memory lies exactly where fusion was refused.
    between = {
        (edge["producer"], edge["consumer"])
        for edge in report["edges"]
        if any(via.startswith("workspace") for via in edge["via"])
    }
    assert between == {(d["producer"], d["op"]) for d in refused}
    assert len(groups) == 1 or between
    assert all(f"exceeds the limit of {budget}" in change["reason"] for change in changed)


def simulate(design: Path, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    save_file(inputs, design / "in.safetensors")
    files = ("--inputs", design / "in.safetensors", "--outputs", design / "out.safetensors")
    done = subprocess.run(
        [BIN / "streamtensor-run", design, *files], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return load_file(design / "out.safetensors")


def assert_close(got: torch.Tensor, want: torch.Tensor) -> None:
    assert got.shape == want.shape
    assert ((got - want).abs() <= 1e-4 * (want.abs() + want.abs().max())).all()


@pytest.mark.parametrize("name", MODULES)
def test_small_modules(name: str, tmp_path: Path) -> None:
    """Each phase of each split design in the interpreter; the smallest budget in C simulation."""
    source = DATA / f"{name}.mlir"
    free = report_of(source, tmp_path / "free", None)
    need = need_of(free)
    for fraction in FRACTIONS:
        budget = need // fraction
        design = tmp_path / str(fraction)
        # Under 4 bytes not even one float can be accumulated.
        if budget < 4:
            continue
        done = compile_module(source, tmp_path / "probe", budget)
        if done.returncode != 0:
            # The rows of a window cannot be cut: the messages name a budget that works.
            needs = re.findall(r"the smallest schedule needs (\d+)", done.stderr)
            smallest = max(int(need) for need in needs)
            assert budget < smallest
            budget = smallest
        check_split(free, report_of(source, design, budget, "--validate"), budget)
        last = design
    if need < 4 * FRACTIONS[0]:
        return
    tensors = load_file(DATA / f"{name}.safetensors")
    results = simulate(last, {k: v for k, v in tensors.items() if k.startswith("arg")})
    for key, value in results.items():
        assert_close(value, tensors[key])


@pytest.mark.parametrize("family", FAMILIES)
def test_layers(family: str, tmp_path: Path) -> None:
    """A chunk of four tokens with a past of twelve, under parts of what it needs."""
    directory = tmp_path / "export"
    importer = [sys.executable, ROOT / "benchmarks" / "import_layer.py", family, "--reference"]
    shape = ("--tokens", "4", "--max-length", "16")
    done = subprocess.run(
        [*importer, "--output-dir", directory, *shape], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    source = directory / "module.mlir"
    free = report_of(source, tmp_path / "free", None)
    inputs = load_file(directory / "inputs.safetensors")
    runs = []
    for fraction in FRACTIONS:
        budget = need_of(free) // fraction
        design = tmp_path / str(fraction)
        # Kernels of one simulation have names of their own.
        source = tmp_path / f"export{fraction}" / "module.mlir"
        shutil.copytree(directory, source.parent)
        for file, quote in ((source, "@{}("), (source.with_name("manifest.json"), '"{}"')):
            text = file.read_text().replace(quote.format("layer"), quote.format(f"by{fraction}"))
            file.write_text(text)
        # The phases of one of them; the simulation below runs all.
        options = ["--validate"] if fraction == 4 else []
        check_split(free, report_of(source, design, budget, *options), budget)
        runs.append((design, inputs))
    for results in run_batch(runs, tmp_path):
        assert not isinstance(results, str), results
        for name, want in load_file(directory / "expected.safetensors").items():
            assert_close(results[name], want)


def test_budget_that_nothing_meets(tmp_path: Path) -> None:
    done = compile_module(DATA / "matmul_chain.mlir", tmp_path / "design", 3)
    assert done.returncode == 1
    assert "needs 4 bytes on chip alone, more than the budget of 3" in done.stderr
    assert "the smallest schedule needs 4" in done.stderr
    assert not (tmp_path / "design" / "interface.json").exists()


def test_explanations(tmp_path: Path) -> None:
    source = DATA / "matmul_chain.mlir"
    need = need_of(report_of(source, tmp_path / "free", None))
    done = compile_module(source, tmp_path / "design", need // 16, "--explain")
    assert done.returncode == 0, done.stderr
    for part in ("schedule changed: an accumulator of", "not fused with", ": memory of "):
        assert part in done.stderr
