"""streamtensor simulate: the figures of a design, and what it refuses."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from design_runs import BIN, TOOLS_ARE_BUILT, compile_text, run

from streamtensor.cli import main
from streamtensor.designs import chunks_of

TEXT = ROOT / "integration_test" / "data" / "linalg" / "softmax.mlir"
pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("simulate") / "softmax"
    compiled = compile_text(TEXT, directory)
    assert compiled.returncode == 0, compiled.stderr
    return directory


def fits_one_screen(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) <= 24 and all(len(line) <= 100 for line in lines)


def test_figures_of_a_design(
    design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures, trace = tmp_path / "figures.json", tmp_path / "trace.json"
    assert main(["simulate", str(design), f"--json={figures}", f"--trace={trace}"]) == 0
    text = capsys.readouterr().out
    assert fits_one_screen(text), text
    result = json.loads(figures.read_text())
    # A launch of 30 us, before less work than that.
    assert result["bottleneck"]["kind"] == "launch"
    assert result["bottleneck"]["by"] == "host"
    assert "bound by launch" in text and "(simulated)" in text and "estimated: dsp" in text
    assert sum(result["time_by_kind"].values()) == pytest.approx(1)
    assert sum(share["cycles"] for share in result["chain"]) == result["cycles"] + 1
    assert result["sensitivity"] == []
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


def test_a_compile_says_where_the_time_goes(tmp_path: Path) -> None:
    compiled = compile_text(TEXT, tmp_path / "design")
    assert compiled.returncode == 0, compiled.stderr
    assert fits_one_screen(compiled.stdout), compiled.stdout
    report = json.loads((tmp_path / "design" / "report.json").read_text())
    simulation = report["simulation"]
    assert compiled.stdout.startswith(f"{simulation['cycles']} cycles (simulated)")
    assert f"bound by {simulation['bottleneck']['kind']}, " in compiled.stdout
    assert "\nestimated: dsp " in compiled.stdout
    assert "certificate: no deadlock" in compiled.stdout
    # Without a directory the text of a phase is the result, and nothing else.
    text = run(BIN / "streamtensor-compile", TEXT, "--compile-to=normalized")
    assert text.returncode == 0 and "(simulated)" not in text.stdout


def test_sensitivity_of_memory_efficiency(
    design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A design that a slow memory bounds takes the longer the less of its peak is reached."""
    copy = tmp_path / "design"
    shutil.copytree(design, copy)
    network = json.loads((copy / "network.pn.json").read_text())
    # What the target's file says, with its source.
    assert network["memory"]["efficiency"] == 0.924
    for channel in network["memory"]["channels"]:
        channel["bytes_per_cycle"] = 0.924 / 16
    network["launch_cycles"] = 0
    (copy / "network.pn.json").write_text(json.dumps(network))
    ran = run(
        BIN / "streamtensor-sim",
        f"--network={copy / 'network.pn.json'}",
        "--json",
        "--memory-efficiency=0.5,0.924",
    )
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    half, same = result["sensitivity"]
    assert (half["memory_efficiency"], same["memory_efficiency"]) == (0.5, 0.924)
    assert same["cycles"] == result["cycles"]
    # Almost all of the time is memory's, which is inverse to its efficiency.
    assert half["cycles"] / same["cycles"] == pytest.approx(0.924 / 0.5, rel=0.02)
    assert half["bound"]["kind"] == "memory"

    figures = tmp_path / "figures.json"
    call = ["simulate", str(design), "--memory-efficiency=0.5,0.75", f"--json={figures}"]
    assert main(call) == 0
    text = capsys.readouterr().out
    assert fits_one_screen(text), text
    runs = json.loads(figures.read_text())["sensitivity"]
    assert [run["memory_efficiency"] for run in runs] == [0.5, 0.75]
    assert f"0.5: {runs[0]['cycles']} cycles" in text
    for run_at in runs:
        assert run_at["ms"] == pytest.approx(run_at["cycles"] * network["clock_ns"] * 1e-6)


@pytest.mark.parametrize("value", ["0", "1.5", "-0.5", "nan", "half", "0.5,", ""])
def test_memory_efficiencies_that_are_none(
    value: str, design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = run(
        BIN / "streamtensor-sim",
        f"--network={design / 'network.pn.json'}",
        f"--memory-efficiency={value}",
    )
    assert ran.returncode == 2
    assert "from 0.01 to 1 for --memory-efficiency" in ran.stderr
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", str(design), f"--memory-efficiency={value}"])
    assert stopped.value.code == 2
    assert "numbers from 0.01 to 1" in capsys.readouterr().err


def test_networks_that_have_no_efficiency(design: Path, tmp_path: Path) -> None:
    network = json.loads((design / "network.pn.json").read_text())
    del network["memory"]["efficiency"]
    path = tmp_path / "network.json"
    for memory, message in (
        (network["memory"], "does not say the efficiency"),
        (network["memory"] | {"efficiency": 2}, "memory: expected an efficiency above 0"),
    ):
        path.write_text(json.dumps(network | {"memory": memory}))
        ran = run(BIN / "streamtensor-sim", f"--network={path}", "--memory-efficiency=0.5")
        assert ran.returncode == 1
        assert message in ran.stderr


def test_certificate_of_another_design_is_refused(design: Path, tmp_path: Path) -> None:
    copy = tmp_path / "design"
    compiled = compile_text(TEXT.with_name("rmsnorm.mlir"), copy)
    assert compiled.returncode == 0, compiled.stderr
    (copy / "certificate.json").write_bytes((design / "certificate.json").read_bytes())
    refused = run(BIN / "streamtensor-check-certificate", copy)
    assert refused.returncode == 1
    assert "the certificate is of another k" in refused.stderr


def test_slowdown_of_a_large_design(tmp_path: Path) -> None:
    # Prime sizes give scalar tokens: half a million of each of three tensors, all alike.
    text = tmp_path / "large.mlir"
    text.write_text("""
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @large(%a: tensor<503x1009xf32>, %b: tensor<503x1009xf32>) -> tensor<503x1009xf32> {
  %e = tensor.empty() : tensor<503x1009xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<503x1009xf32>, tensor<503x1009xf32>)
      outs(%e : tensor<503x1009xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<503x1009xf32>
  return %0 : tensor<503x1009xf32>
}
""")
    compiled = compile_text(text, tmp_path / "design")
    assert compiled.returncode == 0, compiled.stderr
    report = json.loads((tmp_path / "design" / "report.json").read_text())
    call = [BIN / "streamtensor-sim", f"--network={tmp_path / 'design' / 'network.pn.json'}"]
    cycles = []
    for more in ([], ["--unbounded"]):
        done = run(*call, "--json", "--invocations=3", *more)
        assert done.returncode == 0, done.stderr
        cycles.append(json.loads(done.stdout)["cycles"])
    # A token passes memory in a cycle at best.
    assert cycles[1] > 3 * 503 * 1009
    certificate = report["allocation"]["certificate"]
    assert certificate["slowdown_vs_unbounded"] == pytest.approx(cycles[0] / cycles[1])
    assert report["simulation"]["hbm_bytes"] == 3 * 503 * 1009 * 4
    checked = run(BIN / "streamtensor-check-certificate", tmp_path / "design")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--phase", "decode"], "--phase is for models"),
        (["--length", "3"], "has 0: none"),
        (["--max-length", "64"], "is already compiled"),
        (["--target", "u280", "--chunk", "4"], "--target, --chunk can only be asked for with"),
    ],
)
def test_refusals(
    design: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", str(design), *options]) in (1, 2)
    assert message in capsys.readouterr().err


# Work for each new token and for each row of the past.
LAYER = """
#map = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d1)>
func.func @layer(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>)
    -> (tensor<?x8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #sum],
      iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<?x8xf32>) outs(%g : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<8xf32>
}
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `simulate` knows of a model: designs, and how often each is launched."""
    directory = tmp_path_factory.mktemp("model")
    text = directory / "layer.mlir"
    text.write_text(LAYER)
    sizes = {
        "dims": {"arg0.0": "tokens", "arg1.0": "past"},
        "min": {"past": 0},
        "max": {"tokens": 16, "past": 63},
    }
    (directory / "layer.dims.json").write_text(json.dumps(sizes))
    for name, source in (("layer", text), ("head", TEXT.with_name("matmul_chain.mlir"))):
        compiled = compile_text(source, directory / name)
        assert compiled.returncode == 0, compiled.stderr
    description = {
        "model": "two layers",
        "max_length": 64,
        "chunk": 16,
        "layer": {"design": "layer", "tokens": "tokens", "past": "past"},
        "layers": [{}, {}],
        "head": {"design": "head"},
    }
    (directory / "model.json").write_text(json.dumps(description))
    return directory


def simulated(model: Path, name: str, **values: int) -> int:
    """The cycles of one run of a design."""
    call = [BIN / "streamtensor-sim", f"--network={model / name / 'network.pn.json'}", "--json"]
    if values:
        call.append("--values=" + ",".join(f"{key}={value}" for key, value in values.items()))
    done = run(*call)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["cycles"]


def test_figures_of_a_model(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    call = ["simulate", str(model), "--phase=prefill", "--length=33", f"--json={figures}"]
    assert main([*call, "--memory-efficiency=0.5,0.75,0.924"]) == 0
    text = capsys.readouterr().out
    assert fits_one_screen(text), text
    result = json.loads(figures.read_text())
    # Two chunks of 16 and a token of its own, through two layers each; and the head.
    steps = [(16, 0), (16, 16), (1, 32)]
    cycles = [simulated(model, "layer", tokens=tokens, past=past) for tokens, past in steps]
    expected = 2 * sum(cycles) + simulated(model, "head")
    assert result["cycles"] == expected
    assert result["sensitivity"][-1]["cycles"] == expected
    assert result["tokens_per_second"] == pytest.approx(33 / result["ms"] * 1e3)
    assert set(result["certificates"]) == {"layer", "head"}
    assert [launch.get("values") for launch in result["launches"]] == [
        *({"tokens": tokens, "past": past} for tokens, past in steps),
        None,
    ]
    assert "6 x layer, 1 x head" in text
    assert text.startswith(f"prefill of 33 tokens: {expected} cycles, ")
    assert (result["phase"], result["length"]) == ("prefill", 33)


def test_time_of_a_model_grows_with_the_length(model: Path, tmp_path: Path) -> None:
    """A step reads as many rows as there are; a prompt takes as many tokens as it has."""
    figures = tmp_path / "figures.json"

    def at(phase: str, length: int) -> dict:
        call = ["simulate", str(model), f"--phase={phase}", f"--length={length}"]
        assert main([*call, f"--json={figures}"]) == 0
        return json.loads(figures.read_text())

    for phase, lengths in (("decode", (1, 2, 33, 64)), ("prefill", (1, 2, 31, 32, 33, 64))):
        runs = [at(phase, length) for length in lengths]
        for key in ("cycles", "hbm_bytes"):
            values = [run_at[key] for run_at in runs]
            assert values == sorted(set(values)), (phase, key, values)
    # Two layers, each with 8 numbers of 4 bytes per row of the past.
    assert at("decode", 64)["hbm_bytes"] - at("decode", 1)["hbm_bytes"] == 2 * 63 * 8 * 4


def test_trace_of_a_model(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.json"
    assert main(["simulate", str(model), f"--trace={trace}"]) == 0
    assert json.loads(trace.read_text())["traceEvents"]
    call = ["simulate", str(model), "--phase=prefill", "--length=17", f"--trace={trace}"]
    assert main(call) == 1
    assert "a prompt of 17 tokens has 2 steps" in capsys.readouterr().err


@pytest.mark.parametrize("length", [0, 65])
def test_lengths_that_a_model_does_not_have(
    length: int, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for phase in ("prefill", "decode"):
        call = ["simulate", str(model), f"--phase={phase}", f"--length={length}"]
        with pytest.raises(SystemExit) if length == 0 else contextlib.nullcontext():
            assert main(call) == 1
        error = capsys.readouterr().err
        assert ("above 0" if length == 0 else "from 1 to 64, for which the model is") in error


def test_one_design_is_no_model(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", str(design), "--prompt-ids=1", "--max-new-tokens=1"]) == 1
    assert "expected a compiled model but" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (1, [(0, 1)]),
        (16, [(0, 16)]),
        (17, [(0, 16), (16, 1)]),
        (33, [(0, 16), (16, 16), (32, 1)]),
    ],
)
def test_steps_of_a_prompt(length: int, expected: list[tuple[int, int]]) -> None:
    """Position and tokens of each: chunks of 16, and what is left."""
    assert list(chunks_of(length, 16)) == expected
