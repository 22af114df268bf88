"""What report.json says, and the options that limit a design, on modules small enough to count by hand."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
pytestmark = pytest.mark.skipif(
    not (BIN / "streamtensor-compile").is_file(), reason="the C++ tools are not built"
)

# e = exp(x), each row divided by its sum.
ROWS = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @rows(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %s = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<8x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<8x16xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.addf %o, %a : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.divf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
"""

# One product of floats per element: 3 DSP blocks each, and nothing else.
PRODUCT = """
#id = affine_map<(i, j) -> (i, j)>
func.func @product(%x: tensor<4x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<4x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x16xf32>, tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
"""


def compile_text(text: str, directory: Path, *options: str) -> subprocess.CompletedProcess:
    directory.mkdir(exist_ok=True)
    source = directory / "in.mlir"
    source.write_text(text)
    return subprocess.run(
        [BIN / "streamtensor-compile", source, f"--output-dir={directory / 'design'}", *options],
        capture_output=True,
        text=True,
        timeout=120,
    )


def report_of(text: str, directory: Path, *options: str) -> dict:
    done = compile_text(text, directory, *options)
    assert done.returncode == 0, done.stderr
    return json.loads((directory / "design" / "report.json").read_text())


def without_times(value: object) -> object:
    """The report without what is measured; nothing else may change from run to run."""
    if isinstance(value, dict):
        times = ("seconds", "reference_seconds", "lp_seconds")
        return {k: without_times(v) for k, v in value.items() if k not in times}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def test_memory_of_intermediates(tmp_path: Path) -> None:
    memory = report_of(ROWS, tmp_path)["memory"]
    # Without fusion exp writes 8 * 16 floats and the sum 8; the quotient is the result.
    assert memory["intermediate_unfused_bytes"] == 8 * 16 * 4 + 8 * 4
    # Fused, a token is a row of 16 floats, 64 bytes. exp -> fork -> sum, fork -> quotient:
    # three FIFOs of rows; sum -> quotient: one of floats; and the sum's accumulator.
    kernel = (tmp_path / "design" / "hls" / "kernel.cpp").read_text()
    depths = {
        name: int(depth) for name, depth in re.findall(r"ST_FIFO\(\w+, (\w+), (\d+)\)", kernel)
    }
    rows = sum(depth for name, depth in depths.items() if name.startswith(("exp", "fork")))
    fused = rows * 64 + depths["sum_0_out"] * 4 + 4
    assert rows >= 3 * 2
    assert memory["intermediate_fused_bytes"] == fused
    assert memory["ratio"] == pytest.approx(fused / 544)


def test_memory_of_intermediates_without_fusion(tmp_path: Path) -> None:
    report = report_of(ROWS, tmp_path, "--onchip-budget-bytes=0")
    assert len(report["fusion"]["groups"]) == 3
    memory = report["memory"]
    assert memory["intermediate_unfused_bytes"] == 544
    # Nothing is saved: what would be written is, and comes on top of the FIFOs.
    assert memory["intermediate_fused_bytes"] > 544


def test_report_tells_what_the_compile_knew(tmp_path: Path) -> None:
    report = report_of(ROWS, tmp_path, "--validate", "--seed=7", "--fifo-strategy=min")
    assert report["options"]["fifo_strategy"] == "min"
    assert report["options"]["dsp_budget"] is None
    assert report["seed"] == 7
    # Two steps within phase allocated have entries of their own.
    steps = ("dies", "memories")
    assert set(steps) <= report["compile"]["seconds"].keys()
    phases = [name for name in report["compile"]["seconds"] if name not in steps]
    assert phases[:2] == ["total", "normalized"] and phases[-1] == "hls"
    assert report["allocation"]["strategy"] == "min"
    assert report["allocation"]["seconds"] == report["compile"]["seconds"]["allocated"]
    certificate = report["allocation"]["certificate"]
    assert certificate["deadlock_free"] is True and certificate["invocations"] == 3
    assert report["validation"]["ok"] is True and report["validation"]["seed"] == 7
    assert [phase["name"] for phase in report["validation"]["phases"]] == phases[1:]


def test_reports_differ_in_times_only(tmp_path: Path) -> None:
    first, second = (
        without_times(report_of(ROWS, tmp_path / name, "--validate")) for name in ("a", "b")
    )
    assert first == second
    assert "compile" in first and "seconds" not in first["compile"]


def test_strategies(tmp_path: Path) -> None:
    bits, cycles, loads = {}, {}, {}
    for strategy in ("normal", "conservative", "min"):
        report = report_of(
            ROWS.replace("8x", "64x").replace("<8xf32>", "<64xf32>"),
            tmp_path / strategy,
            f"--fifo-strategy={strategy}",
        )
        depths = {fifo["name"]: fifo["depth"] for fifo in report["fifos"]}
        loads[strategy] = depths["load_arg0_out"]
        bits[strategy] = sum(fifo["bits"] for fifo in report["fifos"])
        cycles[strategy] = report["simulation"]["cycles"]
    # 64 rows are enough for a load to run ahead, which only `normal` lets it do.
    assert loads["normal"] >= 32 and loads["conservative"] == 2
    assert bits["conservative"] < bits["normal"] and bits["min"] < bits["normal"]
    # The smallest depths that cost no time.
    assert cycles["min"] <= min(cycles["normal"], cycles["conservative"])


@pytest.mark.parametrize(
    ("budget", "lanes"), [(48, 16), (47, 8), (24, 8), (23, 4), (3, 1)], ids=lambda value: str(value)
)
def test_dsp_budget(budget: int, lanes: int, tmp_path: Path) -> None:
    """16 products of 3 blocks at once need 48; each halving halves them."""
    report = report_of(PRODUCT, tmp_path, f"--dsp-budget={budget}")
    assert report["resources"]["dsp"]["used"] == 3 * lanes
    assert report["schedule"]["max_lanes"] == lanes
    tried = [16 >> step for step in range(5) if 16 >> step >= lanes]
    assert report["schedule"]["tried"] == [{"max_lanes": n, "dsp": 3 * n} for n in tried]
    kernel = (tmp_path / "design" / "hls" / "kernel.cpp").read_text()
    assert re.findall(r"hls::vector<float, (\d+)>", kernel) == ([str(lanes)] if lanes > 1 else [])


def test_dsp_budget_that_nothing_meets(tmp_path: Path) -> None:
    done = compile_text(PRODUCT, tmp_path, "--dsp-budget=2")
    assert done.returncode == 1
    assert "at most 2 DSP blocks but the smallest schedule needs 3" in done.stderr
    assert not (tmp_path / "design" / "interface.json").exists()
