"""Dies and memories of designs: how many dies, what crosses them, how they were found, how long it took.

usage: dies.py [--build-dir DIR] [--target NAME|FILE.json] MODULE.mlir...

Compiles each module (a layer from benchmarks/import_layer.py, or any module of Linalg). Prints,
per design, its tasks, the dies that they are on, the bits that cross boundaries and the fullest
budget in percent (estimated), the method ('*': CBC says that it is optimal) and the seconds of
both steps (measured).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = ("tasks", "dies", "bits", "fullest", "dies by", "seconds", "memories by", "seconds")


def measure(tool: Path, target: str, module: Path, design: Path) -> list[str]:
    call = [tool, module, f"--target={target}", f"--output-dir={design}"]
    run = subprocess.run(call, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"error: {module}: exit code {run.returncode}:\n{run.stderr}")
    report = json.loads((design / "report.json").read_text())
    dies, memories = (report["allocation"][step] for step in ("dies", "memories"))
    budgets = [
        entry["percent"]
        for die in report["resources"]["dies"]
        for entry in die.values()
        if isinstance(entry, dict)
    ]
    found = [step["method"] + ("*" if step["optimal"] else "") for step in (dies, memories)]
    return [
        str(len(report["tasks"])),
        str(dies["dies_used"]),
        str(dies["crossing_bits"]),
        f"{max(budgets):.0f} %" + ("" if memories["within_limits"] else " (beyond limits)"),
        found[0],
        f"{dies['seconds']:.2f}",
        found[1],
        f"{memories['seconds']:.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="+", type=Path, metavar="MODULE.mlir")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build")
    parser.add_argument("--target", default="u55c")
    options = parser.parse_args()
    print("| " + " | ".join(("layer", *HEAD)) + " |")
    print("| --- |" + " ---: |" * len(HEAD))
    with tempfile.TemporaryDirectory() as scratch:
        for module in options.modules:
            tool = options.build_dir / "bin" / "streamtensor-compile"
            row = measure(tool, options.target, module, Path(scratch) / module.stem)
            print("| " + " | ".join((module.stem, *row)) + " |", flush=True)


if __name__ == "__main__":
    main()
