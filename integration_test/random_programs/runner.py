"""Runs ranges of seeds in parallel, with a log that a later run goes on from."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import torch

from random_programs import check, generate, operations, program
from random_programs.check import Outcome
from random_programs.program import Program

# Programs of one build of C++.
BATCH = 25


def generator_version() -> str:
    """Changes when a seed may give another program."""
    text = "".join(Path(part.__file__).read_text() for part in (generate, operations, program))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def run_programs(programs: list[tuple[str, Program]], simulated: bool = True) -> dict[str, Outcome]:
    """Takes named programs through everything, with one build for all of them."""
    with tempfile.TemporaryDirectory(prefix="random-programs-") as scratch:
        cases = {}
        for index, (name, described) in enumerate(programs):
            folder = Path(scratch) / str(index)
            folder.mkdir()
            function = f"program_{index}"
            cases[name] = check.compile_program(described, folder, function)
        if simulated:
            check.simulate(cases.values(), Path(scratch) / "simulation")
        return {name: case.outcome for name, case in cases.items()}


def run_one(described: Program, simulated: bool = True) -> Outcome:
    return run_programs([("", described)], simulated)[""]


def _run_batch(task: tuple[list[int], str, bool]) -> list[Outcome]:
    torch.set_num_threads(1)
    seeds, dtype, simulated = task
    programs = [(str(seed), generate.generate(seed, dtype)) for seed in seeds]
    return list(run_programs(programs, simulated).values())


def _run_named(task: list[tuple[str, Program]]) -> dict[str, Outcome]:
    torch.set_num_threads(1)
    return run_programs(task)


def run_seeds(
    seeds: Iterable[int], jobs: int, simulated: bool = True, dtype: str = "f32"
) -> Iterator[Outcome]:
    """Yields an outcome per seed, batch after batch."""
    seeds = list(seeds)
    size = min(BATCH, max(1, -(-len(seeds) // jobs)))
    tasks = [(seeds[i : i + size], dtype, simulated) for i in range(0, len(seeds), size)]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for outcomes in pool.imap_unordered(_run_batch, tasks):
            yield from outcomes


def run_all(programs: list[tuple[str, Program]], jobs: int) -> dict[str, Outcome]:
    """The same for named programs."""
    outcomes: dict[str, Outcome] = {}
    size = min(BATCH, max(1, -(-len(programs) // jobs)))
    tasks = [programs[i : i + size] for i in range(0, len(programs), size)]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for part in pool.imap_unordered(_run_named, tasks):
            outcomes |= part
    return outcomes


class Log:
    """One JSON line per seed. Lines of another generator are another program's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version = generator_version()

    def read(self) -> dict[int, Outcome]:
        outcomes = {}
        if self.path.is_file():
            for line in self.path.read_text().splitlines():
                entry = json.loads(line)
                if entry.pop("generator") == self.version:
                    outcomes[entry["seed"]] = Outcome(**entry)
        return outcomes

    def append(self, outcome: Outcome) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps({"generator": self.version} | asdict(outcome)) + "\n")


def summary(outcomes: Iterable[Outcome], say: Callable[[str], None] = print) -> None:
    """Counts, the refused kinds, the faults."""
    outcomes = sorted(outcomes, key=lambda outcome: outcome.seed)
    by_kind: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status != "ok":
            by_kind.setdefault(outcome.kind, []).append(outcome)
    for kind, members in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        seeds = " ".join(str(outcome.seed) for outcome in members[:12])
        say(f"{len(members):5} {kind}\n      seeds {seeds}{' ...' if len(members) > 12 else ''}")
    faults = sum(outcome.is_fault for outcome in outcomes)
    refused = sum(outcome.status == "refused" for outcome in outcomes)
    simulated = sum(outcome.simulated for outcome in outcomes)
    share = 100 * refused / max(1, len(outcomes))
    say(
        f"{len(outcomes)} programs, {simulated} of them simulated: {faults} faults, "
        f"{refused} refused ({share:.1f} %)"
    )
