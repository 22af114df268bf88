"""Compares the estimator with published synthesis reports.

Reads the figures of designs (operators, arrays, FIFOs and channels of each
process, as Vitis HLS reported them), asks streamtensor-estimate for interval,
depth, DSP and storage, and prints the errors. The operators of a loop are known
from the reports, not their order; the order of its iterations comes from the
timed network of the same design, where there is one. docs/estimates.md explains
the rows.

usage: estimator.py CALIBRATION.json [--networks DIR] [--build-dir DIR]
                    [--half 0|1] [--worst N] [--extract FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Operators of the reports' Bind-Op rows, without their latency, by our names.
# Address arithmetic is counted by its products; their adders are in them.
OPERATORS = {
    "fmul/maxdsp": "fmul",
    "fadd/fulldsp": "fadd",
    "fadd/fabric": "fadd_fabric",
    "fsub/fulldsp": "fsub",
    "fexp/fulldsp": "fexp",
    "fdiv/fabric": "fdiv",
    "frecip/fulldsp": "frecip",
    "dmul/maxdsp": "dmul",
    "mul/dsp_slice": "address_mac",
    "add/dsp_slice": "",
    "sub/dsp_slice": "",
}


@dataclass
class Loop:
    """One pipelined loop: what is known before, and what synthesis reported."""

    design: str
    module: str
    profile: dict
    unknown: list[str] = field(default_factory=list)
    has_operators: bool = False
    is_distance_known: bool = False
    interval: int = 1
    depth: int = 0
    dsp: int = 0
    estimate: dict = field(default_factory=dict)


def stem(design: dict) -> str:
    """The name of a design's network file."""
    return design["id"].replace("/streamhls/", "/").replace("/", "_")


def belongs(end: str, module: dict) -> bool:
    """Whether the end `node:loop` of a channel is this module's only loop."""
    node, _, loop = end.partition(":")
    if node == "top":
        return loop in module["loops"][0]["name"].split("_")
    return node == module["name"]


def accumulation_distance(network: dict | None, module: dict) -> int | None:
    """Iterations between two updates of a cell; None where it cannot be seen.

    A process writes a sum when its reduction is complete. If it then writes n
    sums in consecutive iterations, these are the cells inside of the reduction;
    if it writes one, the reduction is the innermost loop.
    """
    if network is None:
        return None
    names = {module["name"], module["name"].removesuffix("_U0")}
    for process in network["processes"]:
        if process["name"].removesuffix("_U0") not in names or len(process["loops"]) != 1:
            continue
        interval, trip = process["loops"][0]["ii"], process["loops"][0]["trip"]
        for access in process["accesses"]:
            if access["op"] != "write":
                continue
            first = access["at"][0]
            step, count, groups = first[1], first[2], first[4] if len(first) > 4 else 1
            tokens = sum(entry[2] * (entry[4] if len(entry) > 4 else 1) for entry in access["at"])
            if tokens >= trip:
                return 0
            if count == 1:
                step, count = first[3], groups
            return count if step == interval and count > 1 else 1
    return None


def profile_of(design: dict, module: dict, network: dict | None) -> Loop:
    """What the estimator is told of the loop of `module`."""
    reported = module["loops"][0]
    loop = Loop(
        design["id"],
        module["name"],
        {},
        has_operators="ops" in module,
        interval=reported["ii"],
        depth=reported["depth"],
        dsp=module["res"]["DSP"],
    )
    operations: dict[str, int] = {}
    for key, (count, _) in module.get("ops", {}).items():
        name = OPERATORS.get(key.rpartition("/")[0])
        if name is None:
            loop.unknown.append(key)
        elif name:
            operations[name] = operations.get(name, 0) + count
    adds = operations.get("fadd", 0) + operations.get("fadd_fabric", 0)
    products = operations.get("fmul", 0)
    arrays = {memory["var"]: memory["n"] for memory in design["top_mems"]}
    lanes = [c[1] for c in design["channels"] if belongs(c[4], module)]
    lanes += [
        arrays[array]
        for producer, _, array in design["pipo"]
        if belongs(f"{producer}:{producer}", module) and array in arrays
    ]
    own = [memory["n"] for memory in module.get("mems", [])]
    fitting = max((n for n in own if adds % n == 0), default=max(adds, 1))
    cells = max(lanes, default=fitting)
    # Tokens of one lane in an iteration: each takes the port for a cycle.
    tokens = [c[3] for c in design["channels"] if belongs(c[4], module) or belongs(c[5], module)]
    accesses = max((-(-count // reported["tc"]) for count in tokens), default=1)
    distance = accumulation_distance(network, module) if own and adds else 0
    loop.is_distance_known = distance is not None
    loop.profile = {
        "name": f"{stem(design)}/{module['name']}",
        "operations": dict(sorted(operations.items())),
        "cells": cells,
        "accumulates": not (adds and products == adds + cells),
        # Unseen: short adders are what synthesis takes where a sum comes back soon.
        "distance": (1 if operations.get("fadd_fabric") else 0) if distance is None else distance,
        "reads_arrays": bool(own),
        "port_accesses": max(1, accesses),
    }
    return loop


def loops_of(design: dict, network: dict | None) -> Iterator[Loop]:
    for module in design["nodes"]:
        if len(module["loops"]) == 1 and module["loops"][0].get("depth") is not None:
            yield profile_of(design, module, network)


def ask(tool: Path, question: dict) -> dict:
    """The answer of streamtensor-estimate."""
    run = subprocess.run(
        [tool], input=json.dumps(question), capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise SystemExit(f"streamtensor-estimate: {run.stderr.strip()}")
    return json.loads(run.stdout)


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def compare_loops(loops: list[Loop]) -> Iterator[tuple[str, str]]:
    known = [loop for loop in loops if loop.has_operators and not loop.unknown]
    near = sum(abs(loop.estimate["depth"] - loop.depth) <= 5 for loop in known)
    yield "depth within 5 cycles, loops with operators", share(near, len(known))
    everywhere = sum(abs(loop.estimate["depth"] - loop.depth) <= 5 for loop in loops)
    yield "depth within 5 cycles, all loops", share(everywhere, len(loops))
    errors = [abs(loop.estimate["depth"] - loop.depth) for loop in known]
    yield "depth, mean absolute error, loops with operators", f"{statistics.mean(errors):.2f}"
    seen = [loop for loop in loops if loop.is_distance_known]
    exact = sum(loop.estimate["interval"] == loop.interval for loop in seen)
    yield "interval exact, by the rules", share(exact, len(seen))
    yield "interval exact, always 1", share(sum(loop.interval == 1 for loop in seen), len(seen))
    slow = [loop for loop in seen if loop.interval > 1]
    exact = sum(loop.estimate["interval"] == loop.interval for loop in slow)
    yield "interval exact, loops above 1", share(exact, len(slow))
    ratios = [abs(loop.estimate["interval"] / loop.interval - 1) for loop in seen]
    yield "interval, mean relative error, by the rules", f"{100 * statistics.mean(ratios):.1f} %"
    ratios = [abs(1 / loop.interval - 1) for loop in seen]
    yield "interval, mean relative error, always 1", f"{100 * statistics.mean(ratios):.1f} %"


def compare_dsp(loops: list[Loop]) -> Iterator[tuple[str, str]]:
    totals: dict[str, list[int]] = {}
    for loop in loops:
        total = totals.setdefault(loop.design, [0, 0])
        total[0] += loop.estimate["dsp"]
        total[1] += loop.dsp
    errors = [100 * abs(ours / theirs - 1) for ours, theirs in totals.values() if theirs]
    yield "DSP of a design, median error", f"{statistics.median(errors):.2f} %"
    yield "DSP of a design, mean error", f"{statistics.mean(errors):.2f} %"
    yield "DSP of a design, worst error", f"{max(errors):.1f} %"
    known = [loop for loop in loops if loop.dsp]
    errors = [100 * abs(loop.estimate["dsp"] / loop.dsp - 1) for loop in known]
    yield "DSP of a loop, median error", f"{statistics.median(errors):.2f} %"
    yield "DSP of a loop exact", share(sum(error == 0 for error in errors), len(errors))


def compare_storage(tool: Path, designs: list[dict]) -> Iterator[tuple[str, str]]:
    fifos = [(design["id"], fifo) for design in designs for fifo in design["top_fifos"]]
    # Arrays between processes have two halves.
    arrays = [(memory, True) for design in designs for memory in design["top_mems"]]
    arrays += [
        (memory, False)
        for design in designs
        for module in design["nodes"]
        for memory in module.get("mems", [])
    ]
    answer = ask(
        tool,
        {
            "loops": [],
            "fifos": [{"depth": fifo["depth"], "bits": fifo["bits"]} for _, fifo in fifos],
            "arrays": [
                {
                    "words": memory["words"],
                    "bits": memory["bits"],
                    "banks": memory["n"],
                    "ping_pong": two_halves,
                }
                for memory, two_halves in arrays
            ],
        },
    )
    luts: dict[str, int] = {}
    blocks = {"csynth": 0, "needed": 0, "reported": 0}
    exact = 0
    for (name, fifo), estimate in zip(fifos, answer["fifos"], strict=True):
        luts[name] = luts.get(name, 0) + estimate["csynth"]["lut"] * fifo["n"]
        exact += estimate["csynth"]["bram18"] * fifo["n"] == fifo["bram"]
        blocks["csynth"] += estimate["csynth"]["bram18"] * fifo["n"]
        blocks["needed"] += estimate["needed"]["bram18"] * fifo["n"]
        blocks["reported"] += fifo["bram"]
    reported = {design["id"]: design["top_area_split"].get("FIFO") for design in designs}
    same = sum(reported[name][3] == lut for name, lut in luts.items() if reported[name])
    yield "LUT of all FIFOs of a design exact, csynth's way", share(same, len(luts))
    yield "BRAM18 of a FIFO channel exact, csynth's way", share(exact, len(fifos))
    yield (
        "BRAM18 of all FIFOs: reported, csynth's way, needed",
        f"{blocks['reported']}, {blocks['csynth']}, {blocks['needed']}",
    )
    exact = 0
    totals = {"csynth": [0, 0], "needed": [0, 0], "reported": [0, 0]}
    for (memory, _), estimate in zip(arrays, answer["arrays"], strict=True):
        ours = estimate["csynth"]
        exact += (ours["bram18"], ours["uram"], ours["lut"]) == (
            memory["bram"],
            memory["uram"],
            memory["lut"],
        )
        for way in ("csynth", "needed"):
            totals[way][0] += estimate[way]["bram18"]
            totals[way][1] += estimate[way]["uram"]
        totals["reported"][0] += memory["bram"]
        totals["reported"][1] += memory["uram"]
    yield "BRAM18, URAM and LUT of an array exact, csynth's way", share(exact, len(arrays))
    yield (
        "BRAM18 + URAM of all arrays: reported, csynth's way, needed",
        ", ".join(
            f"{bram} + {uram}"
            for bram, uram in (totals["reported"], totals["csynth"], totals["needed"])
        ),
    )


def read_networks(folder: Path | None, designs: list[dict]) -> dict[str, dict]:
    networks = {}
    for design in designs:
        path = folder / f"{stem(design)}.json" if folder else None
        if path and path.is_file():
            networks[design["id"]] = json.loads(path.read_text())
    return networks


def evaluate(
    tool: Path, designs: list[dict], networks: dict[str, dict]
) -> tuple[list[Loop], list[tuple[str, str]]]:
    """The loops with their estimates, and the rows of the comparison."""
    loops = [loop for d in designs for loop in loops_of(d, networks.get(d["id"]))]
    answer = ask(tool, {"loops": [loop.profile for loop in loops], "fifos": [], "arrays": []})
    for loop, estimate in zip(loops, answer["loops"], strict=True):
        loop.estimate = estimate
    rows = [
        (
            "designs, loops, with operators",
            f"{len(designs)}, {len(loops)}, {sum(loop.has_operators for loop in loops)}",
        )
    ]
    rows += compare_loops(loops)
    rows += compare_dsp(loops)
    rows += compare_storage(tool, designs)
    return loops, rows


def extract(loops: list[Loop]) -> dict:
    """Profiles with what was reported, each kind once with its count: for tests."""
    kinds: dict[str, dict] = {}
    for loop in loops:
        if not loop.has_operators or loop.unknown:
            continue
        entry = {
            "profile": loop.profile,
            "interval": loop.interval if loop.is_distance_known else None,
            "depth": loop.depth,
            "dsp": loop.dsp,
        }
        key = json.dumps({**entry, "profile": {**loop.profile, "name": ""}})
        kinds.setdefault(key, {**entry, "count": 0})["count"] += 1
    return {"loops": list(kinds.values())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calibration", type=Path, help="figures of the reports")
    parser.add_argument("--networks", type=Path, help="timed networks of the same designs")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build")
    parser.add_argument("--half", type=int, choices=(0, 1), help="every second design only")
    parser.add_argument("--worst", type=int, default=0, help="also list the worst depths")
    parser.add_argument("--extract", type=Path, help="write profiles and figures for the unit test")
    options = parser.parse_args()
    designs = json.loads(options.calibration.read_text())["designs"]
    if options.half is not None:
        designs = designs[options.half :: 2]
    networks = read_networks(options.networks, designs)
    loops, rows = evaluate(options.build_dir / "bin/streamtensor-estimate", designs, networks)
    for what, figure in rows:
        print(f"{what:60} {figure}")
    worst = sorted(loops, key=lambda loop: -abs(loop.estimate["depth"] - loop.depth))
    for loop in worst[: options.worst]:
        print(
            f"{loop.profile['name']}: depth {loop.estimate['depth']}, reported {loop.depth}; "
            f"interval {loop.estimate['interval']}, reported {loop.interval}; {loop.profile}"
        )
    if options.extract:
        options.extract.write_text(json.dumps(extract(loops), indent=0) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
