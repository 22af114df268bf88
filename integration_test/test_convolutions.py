"""Convolutions and poolings: every phase and the C simulation against PyTorch.

Each module is exported and compiled with --validate, which compares every phase
with mlir-runner on the imported text; its C simulation is compared with PyTorch.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from conftest import ROOT
from safetensors.torch import load_file, save_file

from streamtensor import export

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
pytestmark = pytest.mark.skipif(
    not (BIN / "streamtensor-compile").is_file(), reason="the C++ tools are not built"
)

Tensor = torch.Tensor


class Stack(torch.nn.Module):
    """Two layers with a skip connection: rows must not wait for the whole image."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(4, 4, 3, padding=1)
        self.second = torch.nn.Conv2d(4, 4, 5, padding=2)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(F.relu(self.first(x)))


# name: (input shape, module)
CASES: dict[str, tuple[tuple[int, ...], Callable[[], torch.nn.Module]]] = {
    "plain": ((1, 3, 8, 8), lambda: torch.nn.Conv2d(3, 5, 3)),
    "stride": ((1, 3, 9, 16), lambda: torch.nn.Conv2d(3, 16, 3, stride=2, padding=1)),
    "uneven_stride": ((1, 2, 11, 13), lambda: torch.nn.Conv2d(2, 3, (3, 2), stride=(3, 2))),
    "dilation": ((1, 2, 12, 12), lambda: torch.nn.Conv2d(2, 4, 3, dilation=(2, 3))),
    "padding": ((1, 2, 6, 7), lambda: torch.nn.Conv2d(2, 3, 3, padding=(2, 1))),
    "pointwise": ((1, 6, 5, 7), lambda: torch.nn.Conv2d(6, 4, 1)),
    "pointwise_stride": ((1, 3, 7, 9), lambda: torch.nn.Conv2d(3, 4, 1, stride=2)),
    "batch": ((3, 2, 6, 8), lambda: torch.nn.Conv2d(2, 4, 3, padding=1)),
    "grouped": ((1, 8, 7, 8), lambda: torch.nn.Conv2d(8, 12, 3, groups=4, padding=1)),
    "depthwise": ((1, 6, 8, 8), lambda: torch.nn.Conv2d(6, 6, 3, groups=6, stride=2, padding=1)),
    "one_position": ((1, 3, 6, 8), lambda: torch.nn.Conv2d(3, 4, (6, 3), stride=6)),
    "one_row_of_positions": ((1, 2, 7, 9), lambda: torch.nn.AvgPool2d((5, 3), stride=(5, 2))),
    "one_element_read": ((1, 3, 4, 4), lambda: torch.nn.Conv2d(3, 4, 1, stride=4)),
    "one_position_of_a_line": ((2, 4, 8), lambda: torch.nn.MaxPool1d(6)),
    "one_position_dilated": ((1, 2, 6, 6), lambda: torch.nn.Conv2d(2, 3, 3, dilation=2, stride=5)),
    "whole_image": ((1, 3, 5, 5), lambda: torch.nn.Conv2d(3, 4, 5)),
    "one_row": ((1, 3, 1, 9), lambda: torch.nn.Conv2d(3, 4, (1, 3))),
    "one_column": ((1, 3, 9, 1), lambda: torch.nn.Conv2d(3, 4, (3, 1))),
    "line": ((1, 4, 17), lambda: torch.nn.Conv1d(4, 8, 5, padding=2)),
    "line_stride": ((1, 3, 20), lambda: torch.nn.Conv1d(3, 8, 4, stride=4)),
    "max_pool": ((1, 3, 8, 8), lambda: torch.nn.MaxPool2d(2)),
    "max_pool_overlapping": ((2, 3, 9, 9), lambda: torch.nn.MaxPool2d(3, stride=2, padding=1)),
    "average_pool": ((1, 4, 9, 6), lambda: torch.nn.AvgPool2d(3, stride=(3, 2))),
    "volume": ((1, 2, 4, 5, 6), lambda: torch.nn.Conv3d(2, 3, (2, 3, 3), padding=(0, 1, 1))),
    "stack": ((1, 4, 12, 16), Stack),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_pytorch(name: str, tmp_path: Path) -> None:
    shape, make = CASES[name]
    torch.manual_seed(0)
    module = make().eval()
    x = torch.randn(shape)
    export(module, (x,), output_dir=tmp_path / "export")
    design = tmp_path / "design"
    compiled = subprocess.run(
        [
            BIN / "streamtensor-compile",
            tmp_path / "export" / "module.mlir",
            f"--output-dir={design}",
            "--validate",
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert compiled.returncode == 0, compiled.stderr
    save_file({"arg0": x}, str(tmp_path / "in.safetensors"))
    manifest = json.loads((tmp_path / "export" / "manifest.json").read_text())
    (argument,) = [a["name"] for a in manifest["arguments"] if a["role"] == "input"]
    save_file({argument: x}, str(tmp_path / "in.safetensors"))
    # The simulation is the emitted text itself, built without optimization: it is small.
    ran = subprocess.run(
        [
            BIN / "streamtensor-run",
            design,
            *("--inputs", tmp_path / "in.safetensors"),
            *("--outputs", tmp_path / "out.safetensors"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    with torch.no_grad():
        expected = module(x)
    got = load_file(str(tmp_path / "out.safetensors"))["result0"]
    assert got.shape == expected.shape
    tolerance = 1e-4 * (expected.abs() + expected.abs().max())
    assert ((got - expected).abs() <= tolerance).all()


def test_lines_of_a_stack_stay_on_chip_in_rows(tmp_path: Path) -> None:
    """Two 3-row and 5-row windows over 4 channels of 64 columns: rows, not images.

    By hand, in f32: the windows hold 3 x 66 x 4 and 5 x 68 x 4 values. The image has
    64 x 64 x 4, and nothing on the chip may hold it.
    """
    torch.manual_seed(0)
    module = Stack().eval()
    export(module, (torch.randn(1, 4, 64, 64),), output_dir=tmp_path / "export")
    design = tmp_path / "design"
    compiled = subprocess.run(
        [
            BIN / "streamtensor-compile",
            tmp_path / "export" / "module.mlir",
            f"--output-dir={design}",
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert compiled.returncode == 0, compiled.stderr
    report = json.loads((design / "report.json").read_text())
    held = report["memory"]["intermediate_fused_bytes"]
    lines = 4 * (3 * 66 * 4 + 5 * 68 * 4)
    image = 4 * 64 * 64 * 4
    assert lines <= held < image
