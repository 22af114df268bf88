"""FIFO strategies side by side: what designs hold, and how long they take.

usage: strategies.py [--build-dir DIR] [--strategies LIST] MODULE.mlir...

Compiles each module under each strategy (a layer from benchmarks/import_layer.py, or any
module of Linalg) and simulates one invocation. Prints, per design, the bits of all FIFOs
(counted), the share of the intermediate results of one kernel per operation that the design
keeps on the chip (estimated), cycles (simulated), also with FIFOs that are never full, and
the seconds of the linear programs and of the compile (measured).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(call: list[str | Path]) -> str:
    result = subprocess.run(call, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"error: {call[0]} exited with {result.returncode}:\n{result.stderr}")
    return result.stdout


def measure(bin_dir: Path, module: Path, strategy: str, scratch: Path) -> dict:
    design = scratch / f"{module.stem}-{strategy}"
    start = time.monotonic()
    run(
        [
            bin_dir / "streamtensor-compile",
            module,
            f"--fifo-strategy={strategy}",
            f"--output-dir={design}",
        ]
    )
    seconds = time.monotonic() - start
    report = json.loads((design / "report.json").read_text())
    figures = {
        "module": module.stem,
        "strategy": strategy,
        "kbit": sum(fifo["bits"] for fifo in report["fifos"]) / 1000,
        "ratio": report["memory"]["ratio"],
        "lp": report["allocation"]["lp_seconds"],
        "compile": seconds,
        "cycles": None,
        "unbounded": None,
    }
    network = design / "network.pn.json"
    if network.exists():
        simulate = [bin_dir / "streamtensor-sim", f"--network={network}", "--json"]
        figures["cycles"] = json.loads(run(simulate))["cycles"]
        figures["unbounded"] = json.loads(run([*simulate, "--unbounded"]))["cycles"]
    return figures


def text(figures: dict) -> str:
    def number(key: str, form: str) -> str:
        return "-" if figures[key] is None else form.format(figures[key])

    cells = [
        figures["module"],
        figures["strategy"],
        number("kbit", "{:.1f}"),
        number("ratio", "{:.4f}"),
        number("cycles", "{}"),
        number("unbounded", "{}"),
        number("lp", "{:.3f}"),
        number("compile", "{:.1f}"),
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build")
    parser.add_argument("--strategies", default="normal,conservative")
    parser.add_argument("modules", nargs="+", type=Path)
    options = parser.parse_args()
    print("| module | strategy | kbit | ratio | cycles | never full | LP s | compile s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        for module in options.modules:
            for strategy in options.strategies.split(","):
                bin_dir = options.build_dir / "bin"
                print(text(measure(bin_dir, module, strategy, Path(scratch))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
