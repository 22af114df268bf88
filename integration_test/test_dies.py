"""Dies and memories of whole designs: what reports, networks, kernels and floorplans say of them agrees.

Targets are files made from the one of the U55C, with budgets so small that a small design must be
spread. Sums are computed here from the parts that report.json lists.
"""

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
DEVICES = ROOT / "streamtensor" / "Target" / "Device"
RESOURCES = ("dsp", "lut", "ff", "bram18", "uram")

# x * w with w of 64 x 64, exp, and the quotient by the sum of each row.
MODULE = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @probabilities(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x64xf32>
  %s = tensor.empty() : tensor<16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<16xf32>) -> tensor<16xf32>
  %p = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x64xf32>)
      outs(%z : tensor<16x64xf32>) -> tensor<16x64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<16x64xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<16x64xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.addf %o, %a : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : tensor<16x64xf32>, tensor<16xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.divf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<16x64xf32>
  return %2 : tensor<16x64xf32>
}
"""


def target(*budgets: dict[str, int]) -> dict:
    """The description of a device with one die for each of `budgets`, which change the U55C's."""
    device = json.loads((DEVICES / "u55c.json").read_text())
    if budgets:
        die = device["dies"][0]
        device["dies"] = []
        for index, budget in enumerate(budgets):
            changed = {key: {"value": n, "source": "this test"} for key, n in budget.items()}
            device["dies"].append({**die, **changed, "name": f"SLR{index}"})
    return device


def run(tool: str, *arguments: str | Path) -> subprocess.CompletedProcess:
    command = [BIN / f"streamtensor-{tool}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def compile_for(device: dict | str, directory: Path, *options: str) -> subprocess.CompletedProcess:
    source = directory / "in.mlir"
    source.write_text(MODULE)
    name = device
    if isinstance(device, dict):
        name = str(directory / "target.json")
        Path(name).write_text(json.dumps(device))
    return run(
        "compile", source, f"--output-dir={directory / 'design'}", f"--target={name}", *options
    )


def files_of(directory: Path) -> tuple[dict, dict, str]:
    design = directory / "design"
    return (
        json.loads((design / "report.json").read_text()),
        json.loads((design / "network.pn.json").read_text()),
        (design / "hls" / "kernel.cpp").read_text(),
    )


def add(sums: dict, die: str, part: dict) -> None:
    for resource in RESOURCES:
        sums[die][resource] += part.get(resource, 0)


# exp takes 112 DSP blocks (16 lanes of 7), the product 80; 80 % of a budget may be used.
@pytest.mark.parametrize("dsp", [10**4, 160, 140])
def test_files_agree(dsp: int, tmp_path: Path) -> None:
    done = compile_for(target(*[{"dsp": dsp}] * 3), tmp_path)
    assert done.returncode == 0, done.stderr
    report, network, kernel = files_of(tmp_path)
    die_of = {task["name"]: task["die"] for task in report["tasks"]}
    names = [die["name"] for die in report["resources"]["dies"]]
    assert names == ["SLR0", "SLR1", "SLR2"]
    # What is on each die: tasks, FIFOs where they are read, ports where the memory is.
    sums = {name: dict.fromkeys(RESOURCES, 0) for name in names}
    for task in report["tasks"]:
        add(sums, task["die"], task)
    for fifo in report["fifos"]:
        add(sums, die_of[fifo["consumer"]], fifo)
    for port in report["resources"]["ports"]:
        add(sums, "SLR0", port)
    for die in report["resources"]["dies"]:
        assert {r: die[r]["used"] for r in RESOURCES} == sums[die["name"]]
        assert die["dsp"]["available"] == dsp
        # FINN's limits (docs/dies.md), which this design keeps.
        limits = {"dsp": 80, "lut": 70, "ff": 50, "bram18": 80, "uram": 80}
        assert all(die[r]["percent"] <= limits[r] for r in RESOURCES)
    total = report["resources"]
    for resource in ("dsp", "lut", "ff", "uram"):
        assert sum(die[resource] for die in sums.values()) == total[resource]["used"]
    blocks = sum(die["bram18"] for die in sums.values())
    assert (blocks + 1) // 2 == total["bram36"]["used"]

    # Two register stages for each boundary that a FIFO crosses, in the network too.
    crossing = {fifo["name"]: fifo.get("crossing", 0) for fifo in network["fifos"]}
    bits = 0
    for fifo in report["fifos"]:
        apart = abs(names.index(die_of[fifo["producer"]]) - names.index(die_of[fifo["consumer"]]))
        assert fifo["crossing"] == 2 * apart == crossing[fifo["name"]]
        bits += apart * fifo["token_bits"]
    dies = report["allocation"]["dies"]
    assert dies["crossing_bits"] == bits
    assert dies["within_limits"] is True and dies["exceeded"] is None
    assert dies["dies_used"] == len(set(die_of.values()))
    assert sum(wires["used"] for wires in dies["wires"]) == bits
    assert (bits > 0) == (dsp < 10**4)
    # DMAs are where the memory is.
    for dma in report["dma"]:
        assert die_of[dma["name"]] == "SLR0"

    # The certificate is of the network with its crossings.
    done = run("check-certificate", tmp_path / "design")
    assert done.returncode == 0, done.stdout + done.stderr

    # What is emitted is what is counted.
    bound = dict(re.findall(r"bind_storage variable=(\w+) type=fifo impl=(\w+)", kernel))
    assert bound == {fifo["name"]: fifo["memory"] for fifo in report["fifos"]}
    arrays = re.findall(r"bind_storage variable=\w+ type=ram_2p impl=(\w+)", kernel)
    held = [b["memory"] for b in report["converters"] + report["buffers"]]
    assert sorted(arrays) == sorted(kind for kind in held if kind != "registers")
    floorplan = (tmp_path / "design" / "floorplan.tcl").read_text()
    placed = dict(re.findall(r"^st_assign (\w+) (\w+)$", floorplan, re.M))
    assert {f"{name}_U0": die for name, die in die_of.items()}.items() <= placed.items()
    assert len(placed) == len(report["tasks"]) + len(report["fifos"])
    assert "floorplan.tcl" in (tmp_path / "design" / "Makefile").read_text()
    seconds = report["compile"]["seconds"]
    assert seconds["dies"] == dies["seconds"]
    assert seconds["memories"] == report["allocation"]["memories"]["seconds"]


def test_phases_carry_the_assignment(tmp_path: Path) -> None:
    """A compile that goes on from a phase obeys; what it did not decide it does not report."""
    device = target(*[{"dsp": 160}] * 3)
    assert compile_for(device, tmp_path, f"--dump-phases={tmp_path / 'p'}").returncode == 0
    first = files_of(tmp_path)
    for phase in ("allocated", "stream", "hls"):
        options = (f"--compile-from={phase}", f"--output-dir={tmp_path / phase}")
        source, description = tmp_path / "p" / f"{phase}.mlir", tmp_path / "target.json"
        done = run("compile", source, f"--target={description}", *options)
        assert done.returncode == 0, done.stderr
        report = json.loads((tmp_path / phase / "report.json").read_text())
        for key in ("tasks", "fifos", "resources"):
            assert report[key] == first[0][key]
        assert report["allocation"]["dies"] is None
    # Nor can it be written for a device without these dies.
    options = ("--compile-from=hls", f"--output-dir={tmp_path / 'other'}", "--target=kv260")
    done = run("compile", tmp_path / "p" / "hls.mlir", *options)
    assert done.returncode == 1
    assert "expected a die of target 'kv260' for task" in done.stderr


def test_same_bytes(tmp_path: Path) -> None:
    texts = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        device = target(*[{"dsp": 140}] * 3)
        assert compile_for(device, tmp_path / name).returncode == 0
        design = tmp_path / name / "design"
        texts.append([(design / f).read_bytes() for f in ("hls/kernel.cpp", "floorplan.tcl")])
    assert texts[0] == texts[1]


def test_one_die(tmp_path: Path) -> None:
    done = compile_for("kv260", tmp_path)
    assert done.returncode == 0, done.stderr
    report, _, _ = files_of(tmp_path)
    assert {task["die"] for task in report["tasks"]} == {report["resources"]["dies"][0]["name"]}
    assert report["allocation"]["dies"]["method"] == "one die"
    assert not (tmp_path / "design" / "floorplan.tcl").exists()


def test_designs_that_do_not_fit(tmp_path: Path) -> None:
    """Nothing is written; the message says which resource, by how much, and what would help."""
    done = compile_for(target(*[{"dsp": 5}] * 3), tmp_path)
    assert done.returncode == 1
    match = re.search(r"at most 15 dsp .*on all dies but got (\d+), (\d+) too many", done.stderr)
    assert match, done.stderr
    assert int(match[1]) - 15 == int(match[2])
    assert "would help" in done.stderr and "--dsp-budget=N" in done.stderr
    assert not (tmp_path / "design").exists()
    # Memory ports are built of BRAM only.
    done = compile_for(target({"bram36": 0}), tmp_path)
    assert done.returncode == 1
    assert re.search(r"at most 0 bram18 .* but got (\d+), \1 too many.*would help", done.stderr)
    assert not (tmp_path / "design").exists()


def test_between_limits_and_budgets(tmp_path: Path) -> None:
    """As many DSP blocks as needed: 100 % used, 80 % allowed; a warning, and a design."""
    assert compile_for(target({"dsp": 10**4}), tmp_path).returncode == 0
    used = files_of(tmp_path)[0]["resources"]["dsp"]["used"]
    done = compile_for(target({"dsp": used}), tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"expected at most {used * 80 // 100} dsp (80 % of {used})" in done.stderr
    report = files_of(tmp_path)[0]
    dies = report["allocation"]["dies"]
    assert dies["within_limits"] is False and dies["exceeded"] in done.stderr


def test_conservative_where_memories_do_not_fit(tmp_path: Path) -> None:
    """LUTs and BRAM for exactly what `conservative` takes: `normal` becomes it, and says so."""
    for name in ("wide", "asked", "fallen", "neither"):
        (tmp_path / name).mkdir()
    wide = {"dsp": 10**4, "uram": 0}
    options = ("--fifo-strategy=conservative",)
    assert compile_for(target(wide), tmp_path / "wide", *options).returncode == 0
    used = {key: files_of(tmp_path / "wide")[0]["resources"][key]["used"] for key in RESOURCES[:2]}
    blocks = files_of(tmp_path / "wide")[0]["resources"]["bram36"]["used"]
    tight = target({**wide, "lut": used["lut"], "bram36": blocks})
    assert compile_for(tight, tmp_path / "asked", *options).returncode == 0
    done = compile_for(tight, tmp_path / "fallen")
    assert done.returncode == 0, done.stderr
    asked, fallen = (files_of(tmp_path / name) for name in ("asked", "fallen"))
    assert fallen[1:] == asked[1:]
    allocation = fallen[0]["allocation"]
    assert allocation["strategy"] == "conservative"
    assert re.search(r"at most \d+ lut on die 'SLR0' but got", allocation["strategy_fallback"])
    assert allocation["strategy_fallback"] in done.stderr
    assert asked[0]["allocation"]["strategy_fallback"] is None
    assert fallen[0]["options"]["fifo_strategy"] == "normal"
    # One LUT less: nothing fits.
    tight = target({**wide, "lut": used["lut"] - 1, "bram36": blocks})
    done = compile_for(tight, tmp_path / "neither")
    assert done.returncode == 1
    assert re.search(r"error: .*at most \d+ lut on die 'SLR0' but got .* 1 too many", done.stderr)
    assert not (tmp_path / "neither" / "design").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("uram"), "u55c.uram: expected this key but got none"),
        (lambda d: d["dies"][1].pop("dsp"), "u55c.dies.dsp: expected this key but got none"),
        (lambda d: d["dies"].clear(), "u55c.dies: expected 1 to 16 dies but got 0"),
        (lambda d: d["dies"][2].update(name="SLR0"), "expected a name of its own for each die"),
        (lambda d: d["memory_die"].update(value="SLR9"), "expected the name of a die but got"),
        (lambda d: d["dies"][0]["lut"].update(value=2**63 - 1), "expected at most 1073741824"),
        (lambda d: d["lut"].update(value=2**63), "expected an integer of at least 0 as value"),
        (lambda d: d["channel_bytes"].update(value=2**62), "expected at most 1099511627776"),
        (lambda d: d["launch_microseconds"].update(value=1e300), "expected at most 1000000000"),
    ],
)
def test_bad_targets(change: object, message: str, tmp_path: Path) -> None:
    device = target()
    change(device)
    done = compile_for(device, tmp_path)
    assert done.returncode == 1 and message in done.stderr, done.stderr
    assert not (tmp_path / "design").exists()
