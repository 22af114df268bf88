"""FIFO bits that published designs declare, and what they need.

For each of the 49 networks of integration_test/data/process_networks: the bits declared;
the bits of the peaks when no FIFO is ever full; the bits of the smallest depths that cost
no cycle, each found by bisection while the others stay; and what depth 2 everywhere does.
All by simulation, which reproduces the RTL cycles of these designs to 0.1 %.

usage: fifo_study.py [--build-dir DIR] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NETWORKS = ROOT / "integration_test/data/process_networks"


@dataclass(frozen=True)
class Study:
    """One design; bits of all lanes of all FIFOs."""

    design: str
    fifos: int
    cycles: int
    declared_bits: int
    peak_bits: int
    minimal_bits: int
    # Cycles with depth 2 everywhere; None: a deadlock.
    cycles_at_two: int | None


class Simulator:
    def __init__(self, program: Path, network: Path) -> None:
        self.call = [program, f"--network={network}", "--json"]
        self.fifos: list[dict[str, Any]] = json.loads(network.read_text())["fifos"]

    def run(self, *options: str) -> dict[str, Any]:
        run = subprocess.run([*self.call, *options], capture_output=True, text=True)
        if not run.stdout:
            raise SystemExit(f"fifo_study: error: {run.stderr.strip()}")
        return json.loads(run.stdout)

    def cycles(self, depths: list[int]) -> int | None:
        """Cycles with these depths, one for each FIFO; None after a deadlock."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({str(index): depth for index, depth in enumerate(depths)}, file)
            file.flush()
            report = self.run(f"--depths={file.name}")
        return None if report["deadlock"] else report["cycles"]

    def bits(self, depths: list[int]) -> int:
        return sum(
            depth * fifo["lanes"] * fifo["width_bits"]
            for depth, fifo in zip(depths, self.fifos, strict=True)
        )


def smallest_depths(simulator: Simulator, peaks: list[int], cycles: int) -> list[int]:
    """Lowers one depth after the other, the widest FIFO first, while no cycle is lost."""
    depths = list(peaks)
    widths = [fifo["lanes"] * fifo["width_bits"] for fifo in simulator.fifos]
    for index in sorted(range(len(depths)), key=lambda i: -depths[i] * widths[i]):
        low, high = 1, depths[index]
        while low < high:
            middle = (low + high) // 2
            trial = [*depths[:index], middle, *depths[index + 1 :]]
            if simulator.cycles(trial) == cycles:
                high = middle
            else:
                low = middle + 1
        depths[index] = high
    return depths


def study(program: Path, network: Path) -> Study:
    simulator = Simulator(program, network)
    unbounded = simulator.run("--unbounded")
    peaks = [max(1, fifo["peak"]) for fifo in unbounded["fifos"]]
    minimal = smallest_depths(simulator, peaks, unbounded["cycles"])
    return Study(
        network.stem,
        len(peaks),
        unbounded["cycles"],
        simulator.bits([fifo["depth"] for fifo in simulator.fifos]),
        simulator.bits(peaks),
        simulator.bits(minimal),
        simulator.cycles([2] * len(peaks)),
    )


def kilobits(bits: int) -> str:
    return f"{bits / 1000:,.1f}"


def print_table(studies: list[Study]) -> None:
    print("| design | FIFOs | cycles | declared kbit | peak kbit | smallest kbit | depth 2 |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for each in studies:
        at_two = each.cycles_at_two
        two = "deadlock" if at_two is None else f"{100 * (at_two / each.cycles - 1):+.1f} % cycles"
        print(
            f"| {each.design} | {each.fifos} | {each.cycles:,} | {kilobits(each.declared_bits)}"
            f" | {kilobits(each.peak_bits)} | {kilobits(each.minimal_bits)} | {two} |"
        )
    used = [each for each in studies if each.fifos]
    deadlocks = sum(each.cycles_at_two is None for each in used)
    print(
        f"\n{len(used)} designs with FIFOs: {sum(e.declared_bits for e in used) / 1e6:.1f} Mbit"
        f" declared, {sum(e.peak_bits for e in used) / 1e6:.1f} Mbit at their peaks,"
        f" {sum(e.minimal_bits for e in used) / 1e6:.1f} Mbit with the smallest depths that cost"
        f" no cycle; {deadlocks} deadlock with depth 2. simulated"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    program = options.build_dir / "bin/streamtensor-sim"
    if not program.is_file():
        print(f"fifo_study: error: {program}: is not built", file=sys.stderr)
        return 1
    files = sorted(NETWORKS.glob("*.json"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        studies = list(pool.map(lambda file: study(program, file), files))
    print_table(studies)
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in studies], indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
