"""Softmax and norms where f32 is delicate: C simulation against PyTorch in f32.

Each row of the inputs is one case: masked out completely, a spread of 60, huge and
tiny values, a variance near zero.
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
LOWEST = torch.finfo(torch.float32).min
WIDTH = 48


def spread_rows() -> Tensor:
    torch.manual_seed(0)
    rows = torch.randn(8, WIDTH)
    rows[1] *= 60 / (rows[1].max() - rows[1].min())
    rows[2] *= 1e4
    rows[3] = 0
    rows[4] = 1e30
    rows[5] = -1e30
    rows[6, 1:] = -3e38
    rows[7] *= 1e-30
    return rows


def masks() -> Tensor:
    """Additive masks: nothing, half, all but one, everything, as the lowest float and as -inf."""
    rows = torch.zeros(8, WIDTH)
    rows[1, WIDTH // 2 :] = LOWEST
    rows[2, 1:] = LOWEST
    rows[3] = LOWEST
    rows[5, WIDTH // 2 :] = -torch.inf
    rows[6, 1:] = -torch.inf
    rows[7] = -torch.inf
    return rows


def flat_rows() -> Tensor:
    """Rows of almost no variance, and one of none."""
    torch.manual_seed(1)
    rows = 1 + 1e-4 * torch.randn(8, WIDTH)
    rows[1] = 3
    rows[2] = 0
    rows[3] = 1e-6 * torch.randn(WIDTH)
    rows[4] = 1e3 * torch.randn(WIDTH)
    rows[5] *= 1e-12
    rows[6] = 30 + torch.randn(WIDTH)
    rows[7] = 1e12 * torch.randn(WIDTH)
    return rows


class Norms(torch.nn.Module):
    """Layer norm and root mean square norm, as models write them."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scaled = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return F.layer_norm(x, (WIDTH,)), scaled


class Softmax(torch.nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        return torch.softmax(x + mask, -1), torch.log_softmax(x, -1)


CASES: dict[str, tuple[Callable[[], torch.nn.Module], tuple[Tensor, ...]]] = {
    "softmax_spread": (Softmax, (spread_rows(), torch.zeros(8, WIDTH))),
    "softmax_masked": (Softmax, (torch.randn(8, WIDTH), masks())),
    "norms": (Norms, (flat_rows(),)),
}


def rounding_of_mean(x: Tensor, result: Tensor) -> Tensor:
    """How far one rounding of the row's values, in f32, moves its normalized result."""
    centred = (x.double() - x.double().mean()).abs().max()
    if centred == 0:
        return torch.zeros(())
    gain = result.double().abs().max() / centred
    return (torch.finfo(torch.float32).eps * x.double().abs().max() * gain).float()


@pytest.mark.parametrize("name", CASES)
def test_equals_pytorch(name: str, tmp_path: Path) -> None:
    make, inputs = CASES[name]
    module = make()
    export(module, inputs, output_dir=tmp_path / "export")
    manifest = json.loads((tmp_path / "export" / "manifest.json").read_text())
    names = [a["name"] for a in manifest["arguments"] if a["role"] != "weight"]
    save_file(dict(zip(names, inputs, strict=True)), str(tmp_path / "in.safetensors"))
    design = tmp_path / "design"
    for command in (
        ["streamtensor-compile", tmp_path / "export" / "module.mlir", f"--output-dir={design}"],
        [
            "streamtensor-run",
            design,
            *("--inputs", tmp_path / "in.safetensors"),
            *("--outputs", tmp_path / "out.safetensors"),
        ],
    ):
        done = subprocess.run(
            [BIN / command[0], *command[1:]], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
    got = load_file(str(tmp_path / "out.safetensors"))
    with torch.no_grad():
        expected = module(*inputs)
    for index, want in enumerate(expected):
        have = got[f"result{index}"]
        for row in range(want.shape[0]):
            # Row by row: one huge row must not hide the others.
            assert (have[row].isnan() == want[row].isnan()).all(), (index, row)
            finite = want[row].isfinite()
            assert (
                (have[row][~finite] == want[row][~finite])
                .logical_or(want[row][~finite].isnan())
                .all()
            ), (index, row)
            if finite.any():
                values = want[row][finite]
                tolerance = 1e-4 * (values.abs() + values.abs().max())
                tolerance += rounding_of_mean(inputs[0][row], values)
                assert ((have[row][finite] - values).abs() <= tolerance).all(), (index, row)
