"""The timed simulator against Verilog.

Random networks run in Verilator, all in one build, and in streamtensor-sim; so do small
networks whose results are derived by hand. The Verilog knows each cycle, the simulator
only events, and they share no code.

Skipped where the C++ tools or Verilator are missing.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT
from rtl.networks import DEEP, SHALLOW, random_network
from rtl.reference import Reference
from rtl.rule_cases import CASES
from rtl.schedule import READ, WRITE, Access, Json, Network, processes_waited_for
from rtl.verilog import Case, Result, simulate

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR") or ROOT / "build" / "bin")
SIM = BIN / "streamtensor-sim"
pytestmark = [
    pytest.mark.skipif(not SIM.is_file(), reason="the C++ tools are not built"),
    pytest.mark.skipif(not shutil.which("verilator"), reason="verilator is not installed"),
]

INVOCATIONS = 3
RANDOM = {f"random {seed}": random_network(seed) for seed in range(300)}
# Deep FIFOs, in which the simulator passes many tokens at once.
LONG = {f"deep {seed}": random_network(seed, DEEP) for seed in range(30)}


@dataclass
class Judged:
    """A network, and what its Verilog did."""

    network: Network
    invocations: int
    rtl: Result


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    cases = {
        **{name: Case(Network(case.network), case.invocations) for name, case in CASES.items()},
        **{name: Case(Network(each), INVOCATIONS) for name, each in (RANDOM | LONG).items()},
    }
    results = simulate([*cases.values()], tmp_path_factory.mktemp("rtl"))
    return {
        name: Judged(case.network, case.invocations, result)
        for (name, case), result in zip(cases.items(), results, strict=True)
    }


def run_simulator(network: Json, invocations: int, directory: Path) -> Json:
    file = directory / "network.json"
    file.write_text(json.dumps(network))
    run = subprocess.run(
        [SIM, f"--network={file}", "--json", f"--invocations={invocations}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.stdout, run.stderr
    report = json.loads(run.stdout)
    assert run.returncode == (1 if report["deadlock"] else 0), run.stderr
    return report


def check_deadlock(report: Json, case: Judged) -> None:
    """Each process of the reported circle stands, in Verilog, where the report says.

    It waits for the next one, or for one that has not started and waits for the next.
    """
    network, rtl = case.network, case.rtl
    circle = report["deadlock"]["cycle"]
    assert circle
    for entry, following in zip(circle, [*circle[1:], circle[0]], strict=True):
        fifo = network.fifo_index[entry["fifo"]]
        access = Access(fifo, entry["op"])
        assert access in rtl.processes[network.index[entry["process"]]].missing
        assert (entry["fill"], entry["depth"]) == (
            rtl.fifos[fifo].fill,
            network.fifos[fifo]["depth"],
        )
        assert entry["fill"] == (0 if access.op == READ else entry["depth"])
        assert network.index[following["process"]] in reachable(access, case)


def reachable(access: Access, case: Judged) -> set[int]:
    """The processes that stand, and for which a process at this access waits.

    Between them there may be processes that wait for their start.
    """
    other_end = "producer" if access.op == READ else "consumer"
    network, rtl = case.network, case.rtl
    todo, seen = [network.index[network.fifos[access.fifo][other_end]]], set()
    while todo:
        process = todo.pop()
        state = rtl.processes[process]
        if process not in seen and state.started == state.ended < case.invocations:
            starts, ends = zip(*((each.started, each.ended) for each in rtl.processes), strict=True)
            todo += processes_waited_for(network, process, starts, ends)
        seen.add(process)
    return {process for process in seen if rtl.processes[process].missing}


def check_report(report: Json, case: Judged) -> None:
    """The simulator's report says what the Verilog does."""
    rtl = case.rtl
    assert (report["deadlock"] is None) == rtl.has_ended
    if report["deadlock"]:
        check_deadlock(report, case)
    assert report["cycles"] == rtl.cycles
    assert [fifo["peak"] for fifo in report["fifos"]] == [fifo.peak for fifo in rtl.fifos]
    assert [counters(process) for process in report["processes"]] == [
        (process.ended * model.latency, process.wait_input, process.wait_output)
        for process, model in zip(rtl.processes, case.network.processes, strict=True)
    ]


def counters(process: Json) -> tuple[int, int, int]:
    return process["busy"], process["wait_input"], process["wait_output"]


@pytest.mark.parametrize("name", [*RANDOM, *LONG])
def test_random_network(name: str, judged: dict[str, Judged], tmp_path: Path) -> None:
    check_report(run_simulator((RANDOM | LONG)[name], INVOCATIONS, tmp_path), judged[name])


def test_peaks_are_enough(judged: dict[str, Judged], tmp_path: Path) -> None:
    """With its peak as depth, no FIFO is full for a writer any more than before (rule 8)."""
    ended = [name for name in RANDOM if judged[name].rtl.has_ended]
    for name in ended:
        peaks = [max(1, fifo.peak) for fifo in judged[name].rtl.fifos]
        network = copy.deepcopy(RANDOM[name])
        for fifo, peak in zip(network["fifos"], peaks, strict=True):
            fifo["depth"] = peak
        report = run_simulator(network, INVOCATIONS, tmp_path)
        assert report["cycles"] == judged[name].rtl.cycles, name


@pytest.mark.parametrize("name", CASES)
def test_rule(name: str, judged: dict[str, Judged], tmp_path: Path) -> None:
    expected, case = CASES[name], judged[name]
    report = run_simulator(expected.network, expected.invocations, tmp_path)
    check_report(report, case)
    assert report["cycles"] == expected.cycles
    circle = report["deadlock"]["cycle"] if report["deadlock"] else []
    assert {(each["process"], each["op"], each["fifo"]) for each in circle} == {*expected.deadlock}
    peaks = {fifo["name"]: fifo["peak"] for fifo in report["fifos"]}
    assert peaks | expected.peaks == peaks
    counts = {process["name"]: counters(process) for process in report["processes"]}
    assert counts | expected.counters == counts


def test_reference_agrees(judged: dict[str, Judged]) -> None:
    """The rules as they are written, executed cycle by cycle, say the same as the Verilog."""
    for name, case in judged.items():
        assert Reference(case.network, case.invocations).run() == case.rtl, name


def test_networks_are_telling(judged: dict[str, Judged]) -> None:
    """Enough of the 300 random networks have what there is to get wrong."""
    cases = [judged[name] for name in RANDOM]
    ended = [case for case in cases if case.rtl.has_ended]

    def count(cases: list[Judged], has: str) -> int:
        return sum(PROPERTIES[has](case) for case in cases)

    assert 90 <= len(ended) <= 210
    for has, least in (("full", 60), ("empty", 60), ("feedback", 45), ("array", 20)):
        assert count(ended, has) >= least, has
    for has, least in (("atomic", 200), ("crossing", 60), ("multi-edge", 100), ("program", 80)):
        assert count(cases, has) >= least, has
    for has in ("self loop", "no tokens", "no accesses", "serial", "launch", "stall"):
        assert count(cases, has) >= 20, has
    later = [case for case in cases if not case.rtl.has_ended and count([case], "restarted")]
    assert len(later) >= 20, "deadlocks after the first invocation"
    depths = {fifo["depth"] for case in cases for fifo in case.network.fifos}
    assert depths == {*range(1, SHALLOW.depth + 1)}


def waits(case: Judged, op: str) -> int:
    return sum(
        process.wait_input if op == READ else process.wait_output for process in case.rtl.processes
    )


def busy(case: Judged) -> int:
    return sum(process.busy for process in case.rtl.processes)


def has_multi_edge(case: Judged) -> bool:
    edges = [(fifo["producer"], fifo["consumer"]) for fifo in case.network.fifos]
    return len({*edges}) < len(edges)


PROPERTIES = {
    # More than a tenth as many cycles of waits as of work.
    "full": lambda case: 10 * waits(case, WRITE) > busy(case),
    "empty": lambda case: 10 * waits(case, READ) > busy(case),
    "feedback": lambda case: any(fifo["initial_tokens"] for fifo in case.network.fifos),
    "array": lambda case: bool(case.network.json["pipos"]),
    "atomic": lambda case: any(
        len(group) > 1 for process in case.network.processes for group in process.events.values()
    ),
    "crossing": lambda case: any(fifo["crossing"] for fifo in case.network.fifos),
    "multi-edge": has_multi_edge,
    "program": lambda case: any("program" in each for each in case.network.json["processes"]),
    "self loop": lambda case: any(
        fifo["producer"] == fifo["consumer"] for fifo in case.network.fifos
    ),
    "no tokens": lambda case: any(
        Access(index, WRITE) not in used(case) for index in range(len(case.network.fifos))
    ),
    "no accesses": lambda case: any(not process.events for process in case.network.processes),
    "serial": lambda case: case.network.serial,
    "launch": lambda case: case.network.launch_cycles > 0,
    "stall": lambda case: any(process.stalls for process in case.network.processes),
    "restarted": lambda case: any(process.ended for process in case.rtl.processes),
}


def used(case: Judged) -> set[Access]:
    return {
        access
        for process in case.network.processes
        for group in process.events.values()
        for access in group
    }
