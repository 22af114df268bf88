"""streamtensor simulate: the figures of a design, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT
from design_runs import BIN, TOOLS_ARE_BUILT, compile_text, run

from streamtensor.cli import main
from streamtensor.simulation import prompt_steps

TEXT = ROOT / "integration_test" / "data" / "linalg" / "softmax.mlir"
pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("simulate") / "softmax"
    compiled = compile_text(TEXT, directory)
    assert compiled.returncode == 0, compiled.stderr
    return directory


def test_figures_of_a_design(design: Path, tmp_path: Path) -> None:
    figures, trace = tmp_path / "figures.json", tmp_path / "trace.json"
    assert main(["simulate", str(design), f"--json={figures}", f"--trace={trace}"]) == 0
    result = json.loads(figures.read_text())
    for key in [
        "cycles",
        "ms",
        "tokens_per_second",
        "hbm_bytes",
        "hbm_utilization",
        "bound_ms",
        "bound_by",
        "resources",
        "label",
    ]:
        assert key in result
    assert result["label"] == "simulated"
    assert 0 < result["bound_ms"] <= result["ms"]
    assert set(result["resources"]) == {"dsp", "lut", "ff", "bram36", "uram"}
    for entry in result["resources"].values():
        assert set(entry) == {"used", "available", "percent"}
    # Each token of an argument or a result passes memory once.
    report = json.loads((design / "report.json").read_text())
    assert result["hbm_bytes"] == sum(dma["bytes"] for dma in report["dma"])
    assert report["simulation"]["cycles"] == result["cycles"]
    assert "no deadlock" in result["certificates"]["softmax"]
    names = {event["name"] for event in json.loads(trace.read_text())["traceEvents"]}
    assert "invocation 0" in names


def test_certificate_of_another_design_is_refused(design: Path, tmp_path: Path) -> None:
    copy = tmp_path / "design"
    compiled = compile_text(TEXT.with_name("rmsnorm.mlir"), copy)
    assert compiled.returncode == 0, compiled.stderr
    (copy / "certificate.json").write_bytes((design / "certificate.json").read_bytes())
    refused = run(BIN / "streamtensor-check-certificate", copy)
    assert refused.returncode == 1
    assert "the certificate is of another k" in refused.stderr


def test_slowdown_is_not_stated_for_what_takes_long(tmp_path: Path) -> None:
    # Prime sizes give scalar tokens: 4 million of each of three tensors.
    text = tmp_path / "large.mlir"
    text.write_text("""
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @large(%a: tensor<1009x4001xf32>, %b: tensor<1009x4001xf32>) -> tensor<1009x4001xf32> {
  %e = tensor.empty() : tensor<1009x4001xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<1009x4001xf32>, tensor<1009x4001xf32>)
      outs(%e : tensor<1009x4001xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<1009x4001xf32>
  return %0 : tensor<1009x4001xf32>
}
""")
    compiled = compile_text(text, tmp_path / "design")
    assert compiled.returncode == 0, compiled.stderr
    report = json.loads((tmp_path / "design" / "report.json").read_text())
    assert report["allocation"]["certificate"]["slowdown_vs_unbounded"] is None
    assert report["simulation"]["hbm_bytes"] == 3 * 1009 * 4001 * 4
    checked = run(BIN / "streamtensor-check-certificate", tmp_path / "design")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--phase", "decode"], "--phase is for models"),
        (["--length", "3"], "has 0: none"),
    ],
)
def test_refusals(
    design: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", str(design), *options]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        # Chunks of 16 as long as they fit in 64 positions, single tokens otherwise.
        (1, {"prefill": 0, "decode": 1}),
        (2, {"prefill": 1, "decode": 0}),
        (17, {"prefill": 1, "decode": 1}),
        (33, {"prefill": 2, "decode": 1}),
        (64, {"prefill": 4, "decode": 0}),
    ],
)
def test_steps_of_a_prompt(length: int, expected: dict[str, int]) -> None:
    assert prompt_steps({"chunk": 16, "max_length": 64}, length) == expected
