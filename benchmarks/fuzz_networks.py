"""Feeds mutated network files to the reader, the check and the simulator, with sanitizers.

Every mutated file must give a result or one line of error: a crash, undefined behaviour,
a leak or more than a minute for one file fails. A seed gives the same file each time.

usage: fuzz_networks.py [--first N] [--count N] [--scratch DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "integration_test"))

SOURCES = (
    "benchmarks/fuzz_networks.cpp",
    "streamtensor/Network/*.cpp",
    "streamtensor/Sim/MemoryState.cpp",
    "streamtensor/Sim/Time*.cpp",
    "streamtensor/Support/TripCount.cpp",
)
FLAGS = ("-std=c++17", "-O1", "-g", "-w", "-I.")
SANITIZERS = (
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)
# Networks with everything that a file can hold, by program and with memory.
PROGRAMS = 30


def compiler(scratch: Path) -> str:
    """The first compiler that has the libraries of the sanitizers (Debian packs clang's apart)."""
    probe = scratch / "probe.cpp"
    probe.write_text("int main() {}\n")
    for name in ("/usr/lib/llvm-22/bin/clang++", "clang++", "g++", "c++"):
        found = shutil.which(name)
        command = [found, *SANITIZERS, probe, "-o", scratch / "probe"]
        if found and not subprocess.run(command, capture_output=True).returncode:
            return found
    raise SystemExit(
        "fuzz_networks: error: expected a C++ compiler with address and undefined-behaviour "
        "sanitizers but found none; install g++ or libclang-rt-22-dev"
    )


def build(scratch: Path, name: str, patterns: tuple[str, ...]) -> Path:
    """Compiles the driver `name` and what it needs; a compiler cache makes this quick."""
    chosen = compiler(scratch)
    launcher = ["ccache"] if shutil.which("ccache") else []
    command = [*launcher, chosen, *FLAGS, *SANITIZERS, "-c"]

    def compile_source(source: Path) -> Path:
        target = scratch / f"{source.stem}.o"
        subprocess.run([*command, source, "-o", target], check=True, cwd=ROOT)
        return target

    sources = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_source, sources))
    program = scratch / name
    subprocess.run([chosen, *SANITIZERS, *objects, "-o", program], check=True)
    return program


def networks(scratch: Path) -> list[Path]:
    """The published networks, random ones by program, and one with memory."""
    from rtl.networks import random_network

    files = sorted((ROOT / "integration_test/data/process_networks").glob("*.json"))
    generated = [random_network(seed) for seed in range(PROGRAMS)]
    generated.append(json.loads((ROOT / "benchmarks/memory_network.json").read_text()))
    for index, network in enumerate(generated):
        files.append(scratch / f"network{index}.json")
        files[-1].write_text(json.dumps(network))
    return files


def fuzz(
    name: str,
    patterns: tuple[str, ...],
    description: str,
    arguments: Callable[[Path], list[Path]],
) -> int:
    """Builds a driver and runs it on the seeds of the command line.

    `arguments` makes the driver's files in a directory; the driver gets the first seed and the
    number of seeds before them. Returns the exit code.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--scratch", type=Path, help="keep the program and its files here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as temporary:
        scratch = options.scratch or Path(temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        program = build(scratch, name, patterns)
        files = arguments(scratch)
        command = [program, str(options.first), str(options.count), *files]
        try:
            run = subprocess.run(
                command, stderr=subprocess.PIPE, text=True, timeout=60 + options.count
            )
        except subprocess.TimeoutExpired as expired:
            where = (expired.stderr or b"")[-200:]
            print(f"{name}: error: took too long: {where!r}", file=sys.stderr)
            return 1
    if run.returncode:
        # From the seed at hand on.
        print(run.stderr[run.stderr.rfind("seed ") :], file=sys.stderr)
        print(f"{name}: error: a mutated file ended badly", file=sys.stderr)
    return run.returncode


def main() -> int:
    return fuzz("fuzz_networks", SOURCES, __doc__.splitlines()[0], networks)


if __name__ == "__main__":
    sys.exit(main())
