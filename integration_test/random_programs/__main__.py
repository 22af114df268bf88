"""Runs a range of random programs; `make fuzz N=... [FIRST=...]` calls this.

usage: python -m random_programs [--first SEED] [--count N] [options]
       python -m random_programs --show SEED | --check FILE.json | --shrink SEED

A range can be interrupted and started again: seeds that are in the log and were not
at fault are not repeated. Exit code 1 when a program failed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from random_programs.check import ROOT
from random_programs.generate import generate
from random_programs.program import Program
from random_programs.runner import Log, run_one, run_seeds, summary
from random_programs.shrink import shrink

REGRESSIONS = Path(__file__).resolve().parent / "regressions"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="random_programs", description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=100, help="how many seeds")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--dtype", default="f32", help="element type of the programs")
    parser.add_argument(
        "--interpret-only", action="store_true", help="no C simulation, only the phases"
    )
    parser.add_argument("--log", type=Path, help="where results go, one JSON line per seed")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the program of a seed")
    parser.add_argument("--check", type=Path, metavar="FILE", help="run one program of a file")
    parser.add_argument(
        "--shrink", metavar="SEED|FILE", help="make a failing program small and print it"
    )
    parser.add_argument("--name", help="with --shrink: the regression's name, to be written")
    return parser.parse_args()


def shrink_program(described: Program, name: str | None) -> int:
    first = run_one(described)
    if not first.is_fault and first.status != "refused":
        print("the program does not fail")
        return 0
    print(first.kind, flush=True)
    # Without the simulation where the fault shows before it: much faster.
    simulated = first.stage in ("build", "run")
    small, tried = shrink(described, lambda other: run_one(other, simulated).kind == first.kind)
    small.reason = run_one(small).kind
    print(f"{tried} programs tried\n{small.text()}\n{small.to_json()}")
    if name:
        (REGRESSIONS / f"{name}.json").write_text(small.to_json())
    return 1


def run_range(options: argparse.Namespace) -> int:
    kind = "interpreted" if options.interpret_only else "simulated"
    log = Log(options.log or ROOT / "build" / "random-programs" / f"{kind}-{options.dtype}.jsonl")
    seeds = range(options.first, options.first + options.count)
    known = {seed: outcome for seed, outcome in log.read().items() if seed in seeds}
    done = {seed: outcome for seed, outcome in known.items() if not outcome.is_fault}
    todo = [seed for seed in seeds if seed not in done]
    print(f"{len(todo)} of {len(seeds)} seeds to run, results in {log.path}", flush=True)
    for outcome in run_seeds(todo, options.jobs, not options.interpret_only, options.dtype):
        log.append(outcome)
        done[outcome.seed] = outcome
        if outcome.is_fault:
            print(f"seed {outcome.seed}: {outcome.kind}\n    {outcome.message[:300]}", flush=True)
    summary(done.values())
    failed = sorted(seed for seed, outcome in done.items() if outcome.is_fault)
    if failed:
        print("failing seeds: " + " ".join(map(str, failed)))
    return 1 if failed else 0


def main() -> int:
    torch.set_num_threads(1)
    options = arguments()
    if options.show is not None:
        described = generate(options.show, options.dtype)
        print(described.text() + "\n" + described.to_json())
        return 0
    if options.check:
        outcome = run_one(Program.load(options.check))
        print(f"{outcome.status} {outcome.stage}\n{outcome.message}")
        return 1 if outcome.is_fault else 0
    if options.shrink:
        is_seed = options.shrink.isdigit()
        described = (
            generate(int(options.shrink), options.dtype)
            if is_seed
            else Program.load(Path(options.shrink))
        )
        return shrink_program(described, options.name)
    return run_range(options)


if __name__ == "__main__":
    sys.exit(main())
