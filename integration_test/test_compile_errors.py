"""Bad input to streamtensor-compile and streamtensor-run: one clear message, no half-written design."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
DATA = Path(__file__).resolve().parent / "data" / "linalg"
pytestmark = pytest.mark.skipif(
    not (BIN / "streamtensor-compile").is_file(), reason="the C++ tools are not built"
)

DYNAMIC = """
func.func @f(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %arg0 : tensor<?x4xf32>
}
"""
SCAN = """
func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tm_tensor.scan dimension(0) inclusive(true) ins(%arg0 : tensor<4xf32>) outs(%arg0 : tensor<4xf32>) {
  } -> tensor<4xf32> loc("model.py":7:0)
  return %0 : tensor<4xf32>
}
"""
TWO = """
func.func @a(%arg0: tensor<4xf32>) -> tensor<4xf32> { return %arg0 : tensor<4xf32> }
func.func @b(%arg0: tensor<4xf32>) -> tensor<4xf32> { return %arg0 : tensor<4xf32> }
"""


def compile_file(
    path: Path, output: Path, *options: str, **keywords
) -> subprocess.CompletedProcess:
    command = [str(BIN / "streamtensor-compile"), str(path), f"--output-dir={output}", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **keywords)


def compile_text(text: str, directory: Path, *options: str) -> subprocess.CompletedProcess:
    source = directory / "in.mlir"
    source.write_text(text)
    return compile_file(source, directory / "design", *options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("func.func @f( {", "error"),
        ("", "public function"),
        (DYNAMIC, "dynamic"),
        (SCAN, "tm_tensor.scan"),
        (TWO, "--function=NAME"),
    ],
    ids=["malformed", "empty", "dynamic", "tm_tensor", "two functions"],
)
def test_bad_module(text: str, expected: str, tmp_path: Path) -> None:
    result = compile_text(text, tmp_path)
    assert result.returncode == 1
    assert expected in result.stderr
    assert not (tmp_path / "design" / "interface.json").exists()


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (["--target=u99"], 1, "u55c"),
        (["--compile-to=fussed"], 2, "fused"),
        (["--compile-from=hls", "--compile-to=fused"], 2, "before"),
        (["--function=missing"], 1, "missing"),
        (["--manifest=missing.json"], 1, "missing.json"),
        (["--check-target"], 2, "no IN.mlir"),
        (["--no-such-option"], 2, "no-such-option"),
        (["--onchip-budget-bytes=-5"], 2, "bytes"),
        (["--dsp-budget=-2"], 2, "DSP blocks"),
        (["--csynth=missing"], 1, "--csynth: cannot use 'missing'"),
        (["--fifo-strategy=deep"], 2, "normal, conservative, min"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_bad_option(options: list[str], code: int, expected: str, tmp_path: Path) -> None:
    result = compile_file(DATA / "softmax.mlir", tmp_path / "design", *options)
    assert result.returncode == code
    assert expected in result.stderr
    assert not (tmp_path / "design" / "interface.json").exists()


def test_target_alone(tmp_path: Path) -> None:
    broken = tmp_path / "board.json"
    broken.write_text("{")
    for target, code, expected in [
        ("kv260", 0, ""),
        ("u99", 1, "error: expected a target among u55c, "),
        (str(broken), 1, f"error: {broken}: "),
        (str(tmp_path / "none.json"), 1, "error: cannot read"),
    ]:
        command = [BIN / "streamtensor-compile", "--check-target", f"--target={target}"]
        result = subprocess.run(command, capture_output=True, text=True)
        assert (result.returncode, result.stdout) == (code, "")
        assert result.stderr.startswith(expected) and bool(result.stderr) == bool(expected)


CSYNTH = """<profile>
<UserAssignments><Part>{part}</Part><TopModelName>{module}</TopModelName>
<TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency>
</SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT>
<URAM>0</URAM></Resources></AreaEstimates>
</profile>
"""


@pytest.mark.parametrize(
    ("part", "module", "expected"),
    [
        ("xcu55c-fsvh2892-2L-e", "gelu", "report of module 'gelu': expected a function of the"),
        ("xcu280-fsvh2892-2L-e", "softmax", "expected reports for part 'xcu55c-fsvh2892-2L-e'"),
    ],
    ids=["module", "part"],
)
def test_synthesis_of_another_design(part: str, module: str, expected: str, tmp_path: Path) -> None:
    report = tmp_path / "csynth.xml"
    report.write_text(CSYNTH.format(part=part, module=module))
    result = compile_file(DATA / "softmax.mlir", tmp_path / "design", f"--csynth={report}")
    assert result.returncode == 1
    assert expected in result.stderr
    assert not (tmp_path / "design" / "interface.json").exists()


def test_missing_input(tmp_path: Path) -> None:
    result = compile_file(tmp_path / "missing.mlir", tmp_path / "design")
    assert result.returncode == 1
    assert "missing.mlir" in result.stderr


def test_inputs_of_another_command(tmp_path: Path) -> None:
    """A Python file and the directory of an exported module: the message names the next step."""
    source = tmp_path / "model.py"
    source.write_text("x = torch.nn.Linear(3, 4)\n")
    result = compile_file(source, tmp_path / "design")
    assert result.returncode == 1
    assert f"streamtensor export {source}:FACTORY" in result.stderr
    result = compile_file(tmp_path, tmp_path / "design")
    assert result.returncode == 1
    assert "the file is module.mlir" in result.stderr


def test_output_directory_of_the_user(tmp_path: Path) -> None:
    """A design replaces an earlier one, also an unfinished one, and no file of the user's."""
    (tmp_path / "hls").mkdir()
    (tmp_path / "hls" / "mine.cpp").write_text("mine")
    result = compile_file(DATA / "softmax.mlir", tmp_path)
    assert result.returncode == 1
    assert f"'{tmp_path}/hls' exists and is of no earlier design" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hls"]
    assert (tmp_path / "hls" / "mine.cpp").read_text() == "mine"

    # The folder is shared with other files; only those of a design are replaced.
    (tmp_path / "hls").rename(tmp_path / "other")
    for _ in range(2):
        assert compile_file(DATA / "softmax.mlir", tmp_path).returncode == 0
        (tmp_path / "interface.json").unlink()
    assert (tmp_path / "other" / "mine.cpp").exists()


def test_help_names_targets_and_phases() -> None:
    result = subprocess.run(
        [str(BIN / "streamtensor-compile"), "--help"], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0
    assert "u55c, u280, kv260, zcu104" in result.stdout
    assert "normalized, scheduled, dataflow" in result.stdout


def test_manifest_that_describes_another_function(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"schema": 1, "function": "softmax", "arguments": [], "results": []}')
    result = compile_file(DATA / "softmax.mlir", tmp_path / "design", f"--manifest={manifest}")
    assert result.returncode == 1
    assert "expected a manifest of 1 arguments but got 0" in result.stderr


def test_no_space(tmp_path: Path) -> None:
    """A file size limit stands for a full disk: the first large file can't be written."""
    compiler, source = BIN / "streamtensor-compile", DATA / "gqa_attention.mlir"
    result = subprocess.run(
        [
            "bash",
            "-c",
            f"trap '' XFSZ; ulimit -f 1; exec {compiler} {source} --output-dir={tmp_path}/design",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 1
    assert "error" in result.stderr
    assert not (tmp_path / "design" / "interface.json").exists()


def test_interrupted_compile_is_no_design(tmp_path: Path) -> None:
    """Killed at any moment, the directory is either empty of interface.json or complete."""
    design = tmp_path / "design"
    command = [
        str(BIN / "streamtensor-compile"),
        str(DATA / "gqa_attention.mlir"),
        f"--output-dir={design}",
    ]
    for delay in (0.0, 0.03, 0.06, 0.1, 0.15):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            time.sleep(delay)
            process.kill()
        if (design / "interface.json").exists():
            assert (design / "hls" / "kernel.cpp").exists()
            assert (design / "report.json").exists()
            (design / "interface.json").unlink()
    ran = subprocess.run(
        [
            str(BIN / "streamtensor-run"),
            str(design),
            *("--inputs", str(DATA / "gqa_attention.safetensors")),
            *("--outputs", str(tmp_path / "out.safetensors")),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 1
    assert "interface.json" in ran.stderr or "does not exist" in ran.stderr
    assert not (tmp_path / "out.safetensors").exists()


def test_phases_can_be_dumped_and_resumed(tmp_path: Path) -> None:
    """The text of any phase leads to the same kernel."""
    whole = compile_file(
        DATA / "softmax.mlir", tmp_path / "whole", f"--dump-phases={tmp_path / 'phases'}"
    )
    assert whole.returncode == 0, whole.stderr
    dumped = {path.stem for path in (tmp_path / "phases").iterdir()}
    before = {"linalg", "normalized", "scheduled", "dataflow", "fused", "packed"}
    assert dumped == before | {"materialized", "vectorized", "allocated", "stream", "hls"}
    kernel = (tmp_path / "whole" / "hls" / "kernel.cpp").read_text()
    for name in ("fused", "allocated", "hls"):
        resumed = compile_file(
            tmp_path / "phases" / f"{name}.mlir", tmp_path / name, f"--compile-from={name}"
        )
        assert resumed.returncode == 0, resumed.stderr
        # Comments name the line of the text that was read; the code is the same.
        code = (tmp_path / name / "hls" / "kernel.cpp").read_text()
        strip = [line for line in code.splitlines() if not line.startswith("//")]
        assert strip == [line for line in kernel.splitlines() if not line.startswith("//")]
