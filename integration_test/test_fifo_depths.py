"""The depths of FIFOs against the C simulation of the emitted design.

A FIFO is deeper than usual only where one token less deadlocks. Here the design is
really built with one token less, and must stop at exactly that FIFO.

Skipped as a whole where the C++ tools are not built.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from conftest import ROOT
from safetensors.torch import load_file, save_file

import streamtensor

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR") or ROOT / "build" / "bin")
TOOLS = [BIN / f"streamtensor-{tool}" for tool in ("compile", "run")]
pytestmark = pytest.mark.skipif(
    not all(tool.is_file() for tool in TOOLS), reason="the C++ tools are not built"
)

SHAPE = (3, 19)  # rows of 19 scalar tokens: 19 is prime


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A softmax whose operations are fused into one kernel."""
    directory = tmp_path_factory.mktemp("softmax") / "design"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMTENSOR_BIN_DIR", str(BIN))
        patch.setenv("STREAMTENSOR_CACHE_DIR", str(directory.parent / "cache"))
        streamtensor.compile(torch.nn.Softmax(-1), (torch.zeros(SHAPE),), output_dir=directory)
    return directory


def run(design: Path) -> subprocess.CompletedProcess:
    save_file({"arg0": torch.linspace(-3, 3, 57).reshape(SHAPE)}, design / "in.safetensors")
    files = ["--inputs", design / "in.safetensors", "--outputs", design / "out.safetensors"]
    return subprocess.run(
        [BIN / "streamtensor-run", design, *files],
        capture_output=True,
        text=True,
        timeout=300,
    )


def deep_fifos(design: Path) -> dict[str, int]:
    """Depths of the FIFOs that claim to deadlock with one token less."""
    report = json.loads((design / "report.json").read_text())
    return {
        fifo["name"]: fifo["depth"]
        for fifo in report["fifos"]
        if "one less deadlocks" in fifo["reason"]
    }


def with_depth(design: Path, fifo: str, depth: int, copy: Path) -> Path:
    """Copies the design with another depth of one FIFO."""
    shutil.copytree(design, copy, ignore=shutil.ignore_patterns("csim"))
    kernel, interface = copy / "hls" / "kernel.cpp", copy / "interface.json"
    text, changes = re.subn(
        rf"(ST_FIFO\([^()]*\b{fifo}, )\d+", rf"\g<1>{depth}", kernel.read_text()
    )
    assert changes == 1
    kernel.write_text(text)
    description = json.loads(interface.read_text())
    description["kernel_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    interface.write_text(json.dumps(description))
    return copy


def test_a_row_less_one_deadlocks(design: Path, tmp_path: Path) -> None:
    done = run(design)
    assert done.returncode == 0, done.stderr
    expected = torch.linspace(-3, 3, 57).reshape(SHAPE).softmax(-1)
    torch.testing.assert_close(
        load_file(design / "out.safetensors")["result0"], expected, atol=1e-6, rtol=1e-5
    )

    # The row goes to the maximum and to exp, and again to the sum and to the
    # division. When the last token of a row reaches the reduction, its copy holds
    # the 18 before it, or all 19 where the fork writes the copy first; and for
    # pipelines that stall as a whole, as many more as iterations are in flight.
    # In program order, as here, 17 are too few.
    fifos = deep_fifos(design)
    assert len(fifos) == 2
    assert min(fifos.values()) >= 18
    for fifo in fifos:
        stopped = run(with_depth(design, fifo, 17, tmp_path / fifo))
        assert stopped.returncode == 1
        assert "deadlock" in stopped.stderr
        assert f"full fifo '{fifo}' (17/17)" in stopped.stderr


def test_one_token_less_deadlocks_in_time(design: Path, tmp_path: Path) -> None:
    """The same in the order of own time: the depth is the smallest."""
    for fifo, depth in deep_fifos(design).items():
        depths = tmp_path / f"{fifo}.json"
        for less, code in ((0, 0), (1, 1)):
            depths.write_text(json.dumps({fifo: depth - less}))
            done = subprocess.run(
                [
                    BIN / "streamtensor-sim",
                    f"--network={design / 'network.pn.json'}",
                    f"--depths={depths}",
                ],
                capture_output=True,
                text=True,
            )
            assert done.returncode == code, done.stderr
            if code:
                assert f"full fifo '{fifo}' ({depth - 1}/{depth - 1})" in done.stderr
