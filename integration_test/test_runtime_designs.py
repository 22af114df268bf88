"""Designs whose sizes are known at run time: one design, many lengths.

The designs are written by hand at phase `allocated`; PyTorch says what they compute.
"""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path

import pytest
import torch
from certificate_designs import ends_everywhere
from conftest import HERE, ROOT
from design_runs import (
    BIN,
    TOOLS_ARE_BUILT,
    FunctionModule,
    VendorKernels,
    assert_equal,
    compile_text,
    network_accesses,
    recorded_accesses,
    run,
    simulate,
)
from safetensors.torch import save_file
from torch.nn.functional import pad

from streamtensor import export
from streamtensor.api import run as run_design

pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the tools are not built")

TEXTS = {
    "append": ROOT / "test/Target/Inputs/append.mlir",
    "add_rows": HERE / "data/add_rows.mlir",
    "conditions": ROOT / "test/Target/Inputs/conditions.mlir",
}
SEQ, PAST = 8, 6  # the largest


@pytest.fixture(scope="module")
def designs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("designs")
    for name, text in TEXTS.items():
        compiled = compile_text(text, folder / name, "--compile-from=allocated")
        assert compiled.returncode == 0, compiled.stderr
    return {name: folder / name for name in TEXTS}


def inputs_of(seq: int, past: int) -> dict[str, torch.Tensor]:
    """Integers, whose sums and products are exact."""
    generator = torch.Generator().manual_seed(100 * seq + past)
    shapes = {"arg0": (seq, 4), "arg1": (past, 4)}
    return {
        name: torch.randint(-8, 9, shape, generator=generator).float()
        for name, shape in shapes.items()
    }


def expected_of(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    rows = 2 * torch.cat([inputs["arg1"], inputs["arg0"]])
    return {"result0": rows, "result1": inputs["arg0"] @ rows.T}


def refusal(design: Path, tmp_path: Path, **shapes: tuple[int, ...]) -> subprocess.CompletedProcess:
    """Runs a design on zeros of these shapes, which it must refuse."""
    source, result = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    save_file({name: torch.zeros(shape) for name, shape in shapes.items()}, source)
    ran = run(BIN / "streamtensor-run", design, "--inputs", source, "--outputs", result)
    assert ran.returncode == 1
    assert not result.exists()
    return ran


@pytest.mark.parametrize(("seq", "past"), list(itertools.product((0, 1, 5, SEQ), (0, 1, 4, PAST))))
def test_every_length(designs: dict[str, Path], seq: int, past: int) -> None:
    inputs = inputs_of(seq, past)
    results, counts = simulate(designs["append"], inputs)
    expected = expected_of(inputs)
    assert results.keys() == expected.keys()
    for name, want in expected.items():
        assert torch.equal(results[name], want), name
    # 4 products per element of result1; rows of 4 floats, and elements of result1.
    assert counts["macs"] == seq * (past + seq) * 4
    assert {entry["name"]: entry["bytes"] for entry in counts["dma"]} == {
        "load_arg0": seq * 16,
        "load_arg1": past * 16,
        "store_result0": (past + seq) * 16,
        "load_arg0_1": seq * 16,
        "load_result0": seq * (past + seq) * 16,
        "store_result1": seq * (past + seq) * 4,
    }


def test_from_python(designs: dict[str, Path]) -> None:
    inputs = inputs_of(3, 2)
    results = run_design(designs["append"], list(inputs.values()))
    for got, want in zip(results, expected_of(inputs).values(), strict=True):
        assert torch.equal(got, want)


def test_amd_headers(designs: dict[str, Path], tmp_path: Path) -> None:
    """The same kernel.cpp under AMD's own headers, between the least and largest size."""
    vendor = VendorKernels({"append": designs["append"]}, tmp_path)
    for seq, past in ((0, 3), (5, 0), (3, 4), (SEQ, PAST)):
        inputs = inputs_of(seq, past)
        results = vendor.run("append", inputs, {"seq": seq, "past": past})
        for name, want in expected_of(inputs).items():
            corner = tuple(map(slice, want.shape))
            assert torch.equal(results[name][corner], want), (name, seq, past)
            # Nothing is written outside.
            results[name][corner] = 0
            assert not results[name].any(), (name, seq, past)


def test_beyond_the_limits(designs: dict[str, Path], tmp_path: Path) -> None:
    ran = refusal(designs["append"], tmp_path, arg0=(SEQ + 1, 4), arg1=(PAST + 1, 4))
    assert (
        f"'arg0': expected [seq, 4] F32 with seq from 0 to {SEQ} but got [9, 4] F32" in ran.stderr
    )
    assert f"'arg1': expected [past, 4] F32 with past from 0 to {PAST} but got [7, 4]" in ran.stderr
    ran = refusal(designs["add_rows"], tmp_path, arg0=(0, 4), arg1=(0, 4))
    assert "'arg0': expected [seq, 4] F32 with seq from 1 to 8 but got [0, 4] F32" in ran.stderr


def test_arguments_that_disagree(designs: dict[str, Path], tmp_path: Path) -> None:
    ran = refusal(designs["add_rows"], tmp_path, arg0=(3, 4), arg1=(5, 4))
    assert "'seq' is 3 in 'arg0' [seq, 4] but 5 in 'arg1' [seq, 4]" in ran.stderr


def test_other_sizes_stay_constant(designs: dict[str, Path], tmp_path: Path) -> None:
    ran = refusal(designs["append"], tmp_path, arg0=(3, 5), arg1=(2, 4))
    assert "'arg0': expected [seq, 4] F32 with seq from 0 to 8 but got [3, 5] F32" in ran.stderr
    ran = refusal(designs["append"], tmp_path, arg0=(3, 4, 1), arg1=(2, 4))
    assert "got [3, 4, 1] F32" in ran.stderr


# --- Sizes in conditions around accesses -------------------------------------------------


def check_design(design: Path, lengths: range) -> dict:
    """Has a certificate that is verified and true. Returns it with the network."""
    verdict = run(BIN / "streamtensor-check-certificate", design)
    assert verdict.returncode == 0, verdict.stderr
    network = json.loads((design / "network.pn.json").read_text())
    assert [(p["min"], p["max"]) for p in network["parameters"]] == [(lengths[0], lengths[-1])]
    assert ends_everywhere(network)
    return network


def conditions_of(network: dict) -> list[str]:
    text = json.dumps(network["processes"])
    return [part.split('"')[0] for part in text.split('"if": "')[1:]]


@pytest.mark.parametrize("seq", range(1, 10))
def test_conditions_at_every_length(designs: dict[str, Path], seq: int) -> None:
    inputs = {"arg0": inputs_of(seq, 0)["arg0"]}
    results, _ = simulate(designs["conditions"], inputs)
    assert_equal(results, {"result0": inputs["arg0"][-1:], "result1": 2 * inputs["arg0"]})
    recorded = recorded_accesses(designs["conditions"], inputs)
    assert network_accesses(designs["conditions"], {"seq": seq}) == recorded


def test_conditions_are_certified(designs: dict[str, Path]) -> None:
    network = check_design(designs["conditions"], range(1, 10))
    assert len(conditions_of(network)) == 2
    assert all("seq" in condition for condition in conditions_of(network))


ROWS = {0: torch.export.Dim("n", min=1, max=5)}
MORE = {0: torch.export.Dim("n", min=1, max=5) + 1}
CUTS = {
    "drop_last": (lambda x: x[:-1] * 2, MORE),
    "drop_first": (lambda x: x[1:] * 2, MORE),
    "neighbours": (lambda x: x[1:] - x[:-1], MORE),
    "pad_rows": (lambda x: pad(x, (0, 0, 1, 2)) * 2, ROWS),
    "pad_columns": (lambda x: pad(x.T.contiguous(), (1, 1)) * 2, ROWS),
    "shifted": (lambda x: torch.softmax(pad(x, (0, 0, 1, 0))[:-1], -1) + x, ROWS),
    "twice": (lambda x: torch.cat([x, x]) * 2, ROWS),
}


@pytest.mark.parametrize("name", CUTS)
def test_slices_and_paddings(name: str, tmp_path: Path) -> None:
    """PyTorch's results, the recorded accesses, and the certificate, at every length."""
    function, dims = CUTS[name]
    module = FunctionModule(function)
    export(module, (torch.zeros(4, 4),), tmp_path / "export", dynamic_shapes=((dims,),))
    design = tmp_path / "design"
    compiled = compile_text(tmp_path / "export" / "module.mlir", design, "--validate")
    assert compiled.returncode == 0, compiled.stderr
    network = check_design(design, range(1, 6))
    assert name == "twice" or conditions_of(network)
    for n in range(1, 6):
        inputs = {"arg0": inputs_of(n + (dims is MORE), 0)["arg0"]}
        results, _ = simulate(design, inputs)
        assert_equal(results, {"result0": function(inputs["arg0"])})
        assert network_accesses(design, {"n": n}) == recorded_accesses(design, inputs)
