"""streamtensor-sim: cycles of published designs against RTL, its JSON, and bad input.

The expected cycles are those of RTL co-simulation, recorded in the files themselves.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR") or ROOT / "build" / "bin")
SIM = BIN / "streamtensor-sim"
pytestmark = pytest.mark.skipif(not SIM.is_file(), reason="the C++ tools are not built")

PUBLISHED = sorted((Path(__file__).parent / "data/process_networks").glob("*.json"))

# a writes 8 tokens into f and g in turns, b reads them; m is a memory port.
SMALL: dict[str, Any] = {
    "schema": 1,
    "design": "small",
    "parameters": [{"name": "seq", "min": 1, "max": 8}],
    "processes": [
        {
            "name": "a",
            "program": [
                {
                    "pipeline": ["seq"],
                    "ii": 2,
                    "depth": 3,
                    "body": [{"write": "f", "stage": 1}, {"write": 1, "stage": 2}],
                }
            ],
        },
        {
            "name": "b",
            "latency": 20,
            "accesses": [
                {"fifo": 0, "op": "read", "at": [[0, 2, 8]]},
                {"fifo": 1, "op": "read", "at": [[3, 2, 8]]},
            ],
        },
    ],
    "fifos": [
        {"name": "f", "depth": 2, "producer": "a", "consumer": "b"},
        {"depth": 2, "producer": "a", "consumer": "b"},
    ],
    "memory": {
        "channels": [{"name": "c", "bytes_per_cycle": 64, "latency": 10}],
        "ports": [{"name": "m", "channel": "c"}],
    },
}


def simulate(*arguments: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run([SIM, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def report(network: Path, *arguments: str | Path) -> dict[str, Any]:
    run = simulate(f"--network={network}", "--json", *arguments)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any], Path]:
    def write(value: Any) -> Path:
        path = tmp_path / "network.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return write


def test_published_designs_take_the_cycles_of_rtl() -> None:
    errors = {}
    for path in PUBLISHED:
        expected = json.loads(path.read_text())["rtl_cycles"]
        result = report(path)
        assert result["deadlock"] is None
        errors[path.stem] = abs(result["cycles"] - expected) / expected
    assert len(errors) == 49
    worst = max(errors, key=lambda name: errors[name])
    assert errors[worst] <= 1e-3, worst
    assert sum(errors.values()) / len(errors) <= 1e-4


def test_json_has_the_keys_of_the_contract(write: Callable[[Any], Path]) -> None:
    result = report(write(SMALL), "--invocations=2")
    assert isinstance(result["cycles"], int)
    assert result["deadlock"] is None
    # The second FIFO has no name, so its index is one.
    assert [fifo["name"] for fifo in result["fifos"]] == ["f", "1"]
    assert all(fifo["depth"] == 2 and 1 <= fifo["peak"] <= 2 for fifo in result["fifos"])
    a, b = result["processes"]
    assert (a["name"], b["name"]) == ("a", "b")
    # 2 * 7 + 3 cycles, twice.
    assert a["busy"] == 2 * 17
    assert b["busy"] == 2 * 20
    # b reads f at its cycle 0, 2 after a's start, which wrote it one cycle after.
    for process in (a, b):
        assert process["wait_input"] >= 0 and process["wait_output"] >= 0
        elapsed = process["end"] - process["start"]
        assert elapsed >= process["busy"] + process["wait_input"] + process["wait_output"]
    assert result["cycles"] == max(a["end"], b["end"]) - 1
    assert result["label"] == "simulated"
    # The same call gives the same bytes.
    call = (f"--network={write(SMALL)}", "--json", "--invocations=2")
    assert simulate(*call).stdout == simulate(*call).stdout


def test_options(write: Callable[[Any], Path], tmp_path: Path) -> None:
    network = write(SMALL | {"clock_ns": 4})
    depths = tmp_path / "depths.json"
    depths.write_text(json.dumps({"f": 5, "1": 6}))
    result = report(network, f"--depths={depths}")
    assert [fifo["depth"] for fifo in result["fifos"]] == [5, 6]
    unbounded = report(network, "--unbounded")
    assert unbounded["processes"][0]["wait_output"] == 0
    trace = tmp_path / "trace.json"
    assert report(network, f"--trace={trace}") == report(network)
    events = json.loads(trace.read_text())["traceEvents"]
    names = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names == {"a", "b"}
    runs = [event for event in events if event["name"] == "invocation 0"]
    # Microseconds: a runs 17 cycles of 4 ns, and waits.
    waited = report(network)["processes"][0]["wait_output"]
    assert runs[0]["dur"] == pytest.approx((17 + waited) * 4e-3)
    text = simulate(f"--network={network}")
    assert text.returncode == 0
    assert f"{report(network)['cycles']} cycles (simulated)" in text.stdout
    assert len(text.stdout.splitlines()) <= 40


def test_limit_of_events(write: Callable[[Any], Path]) -> None:
    path = write(SMALL)
    assert report(path, "--max-events=1000") == report(path)
    run = simulate(f"--network={path}", "--max-events=10")
    assert run.returncode == 1
    [line] = run.stderr.splitlines()
    assert line.startswith(
        f"streamtensor-sim: error: {path}: expected at most 10 events but got more by cycle "
    )


def test_values_set_parameters(write: Callable[[Any], Path]) -> None:
    network = copy.deepcopy(SMALL)
    network["processes"][1] = {
        "name": "b",
        "program": [
            {"loop": "seq", "overhead": 2, "body": [{"read": "f"}, {"wait": 1}, {"read": "1"}]}
        ],
    }
    path = write(network)
    # The maxima without --values.
    assert report(path)["fifos"][0]["tokens"] == 8
    assert report(path, "--values=seq=3")["fifos"][0]["tokens"] == 3
    for values, message in (
        ("seq=9", "parameter 'seq': expected from 1 to 8 but got 9"),
        ("past=1", "expected a parameter of the network but got 'past'"),
    ):
        run = simulate(f"--network={path}", f"--values={values}")
        assert run.returncode == 1
        assert run.stderr.splitlines() == [f"streamtensor-sim: error: {path}: {message}"]


def test_deadlock(write: Callable[[Any], Path]) -> None:
    network = copy.deepcopy(SMALL)
    # b wants the last token of f before the first of the other.
    network["processes"][1]["accesses"][1]["at"] = [[13, 1, 8]]
    run = simulate(f"--network={write(network)}", "--json")
    assert run.returncode == 1
    [line] = run.stderr.splitlines()
    assert "deadlock: 'a' waits to write full fifo '1' (2/2), " in line
    assert json.loads(run.stdout)["deadlock"] == {
        "cycle": [
            {"process": "a", "op": "write", "fifo": "1", "fill": 2, "depth": 2},
            {"process": "b", "op": "read", "fifo": "f", "fill": 0, "depth": 2},
        ]
    }


def changed(*path: Any, to: Any = None, drop: bool = False) -> dict[str, Any]:
    """SMALL with one value set or dropped."""
    network = copy.deepcopy(SMALL)
    place = network
    for key in path[:-1]:
        place = place[key]
    if drop:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return network


BAD = {
    "no reader": (
        changed("fifos", 0, "consumer", drop=True),
        "fifos[0]: expected the key 'consumer'",
    ),
    "unknown reader": (
        changed("fifos", 0, "consumer", to="c"),
        'fifos[0].consumer: expected the name of a process but got "c"',
    ),
    "nobody reads": (
        changed("processes", 1, "accesses", to=SMALL["processes"][1]["accesses"][1:]),
        "fifo 'f': expected as many tokens read as written but got 8 written by 'a' and 0 read"
        " by 'b'",
    ),
    "negative time": (
        changed("processes", 1, "accesses", 0, "at", to=[[-1, 2, 8]]),
        "process 'b': expected accesses from cycle 0 to its latency, 20, but got one at -1",
    ),
    "negative latency": (
        changed("processes", 1, to={"name": "b", "latency": -1}),
        "process 'b': expected a latency from 0 on but got -1",
    ),
    "behind the end": (
        changed("processes", 1, "latency", to=16),
        "process 'b': expected accesses from cycle 0 to its latency, 16, but got one at 17",
    ),
    "tokens differ": (
        changed("processes", 1, "accesses", 0, "at", to=[[0, 2, 7]]),
        "fifo 'f': expected as many tokens read as written but got 8 written by 'a' and 7 read"
        " by 'b'",
    ),
    "two in a cycle": (
        changed("processes", 1, "accesses", 1, "at", to=[[3, 2, 4], [3, 3, 4]]),
        "process 'b': expected one access in a cycle to one end of fifo '1' but got two at its"
        " cycle 3",
    ),
    "unknown key": (SMALL | {"fifo": []}, "network: unknown key 'fifo'"),
    "circle": (
        changed("fifos", 1, to={"depth": 2, "producer": "b", "consumer": "a"}),
        "process 'a': expected only 'b' to write fifo '1', whose producer it is",
    ),
    "circle without tokens": (
        SMALL | {"pipos": [{"producer": "b", "consumer": "a"}]},
        "expected initial tokens in a fifo of each circle, but there are none on the circle of"
        " processes 'b', 'a'",
    ),
    "type": (
        changed("fifos", 0, "depth", to="2"),
        'fifos[0].depth: expected an integer below 2^53 but got "2"',
    ),
    "fraction": (
        changed("fifos", 0, "depth", to=2.5),
        "fifos[0].depth: expected an integer below 2^53 but got 2.5",
    ),
    "huge number": (
        changed("fifos", 0, "depth", to=10**30),
        "fifos[0].depth: expected an integer below 2^53 but got 1e+30",
    ),
    "huge latency": (
        changed("processes", 1, "latency", to=2**52),
        "expected at most 2^40 cycles in all processes and stalls together",
    ),
    "huge trip": (
        changed("processes", 0, "program", 0, "pipeline", to=[2**40, 2**40]),
        "process 'a': expected at most 2^40 iterations of nested loops",
    ),
    "zero depth": (
        changed("fifos", 0, "depth", to=0),
        "fifo 'f': expected depth, lanes and width from 1 on but got 0, 1, 32",
    ),
    "too many initial tokens": (
        changed("fifos", 0, "initial_tokens", to=3),
        "fifo 'f': expected from 0 to 2 initial tokens, the depth, but got 3",
    ),
    "missing processes": ({"fifos": []}, "network: expected the key 'processes'"),
    "no object": ([], "network: expected an object but got []"),
    "no JSON": ("{", "expected JSON"),
    "empty": ("", "expected JSON"),
    "deep": (
        "[" * 100_000,
        "expected JSON with at most 256 brackets inside of each other",
    ),
    "channel": (
        changed("memory", "ports", 0, "channel", to="d"),
        'memory.ports[0].channel: expected the name of a channel but got "d"',
    ),
    "stalling channel": (
        changed("memory", "channels", 0, "bytes_per_cycle", to=0),
        "memory channel 'c': expected bytes_per_cycle above 0 and a latency from 0 to 1000000"
        " cycles",
    ),
    "stage": (
        changed("processes", 0, "program", 0, "body", 0, "stage", to=3),
        "process 'a': expected a stage from 0 to below the depth of its pipeline, or 0 outside of"
        " one, but got 3",
    ),
    "condition": (
        changed(
            "processes", 0, "program", 0, "body", 0, to={"if": "i1 < 2", "then": [{"write": "f"}]}
        ),
        "process 'a'.program[0].body[0].if: expected one of the 1 loops around at ' < 2' in"
        " condition 'i1 < 2'",
    ),
    "parameter": (
        changed("processes", 0, "program", 0, "pipeline", to=["past"]),
        "process 'a'.program[0].pipeline: expected an expression of the network's parameters"
        " 'seq' but got \"past\"",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_networks(case: str, write: Callable[[Any], Path]) -> None:
    network, message = BAD[case]
    path = write(network)
    run = simulate(f"--network={path}", "--json")
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.splitlines() == [f"streamtensor-sim: error: {path}: {message}"]


def test_bad_files(write: Callable[[Any], Path], tmp_path: Path) -> None:
    network = write(SMALL)
    missing = tmp_path / "missing.json"
    depths = tmp_path / "depths.json"
    for text, message in (
        ('{"h": 2}', "expected the name of a fifo but got 'h'"),
        ('{"f": 0}', "expected a depth from 1 on for fifo 'f' but got 0"),
        ('{"f": "2"}', "expected a depth from 1 on for fifo 'f' but got \"2\""),
        ('{"f": 2, "f": 3}', "expected each key once in an object but got 'f' twice"),
        ("[2, 2]", "expected a JSON object of depths by name of fifo"),
    ):
        depths.write_text(text)
        run = simulate(f"--network={network}", f"--depths={depths}")
        assert run.returncode == 1
        assert run.stderr.splitlines() == [f"streamtensor-sim: error: {depths}: {message}"]
    for arguments in (
        [f"--network={missing}"],
        [f"--network={tmp_path}"],
        [f"--network={network}", f"--depths={missing}"],
        [f"--network={network}", f"--trace={tmp_path}/none/trace.json"],
    ):
        run = simulate(*arguments)
        assert run.returncode == 1
        [line] = run.stderr.splitlines()
        assert line.startswith("streamtensor-sim: error: ")
        assert str(tmp_path) in line


@pytest.mark.parametrize(
    "arguments",
    (
        [],
        ["--network"],
        ["--json"],
        ["--network=a.json", "--network=b.json"],
        ["--network=a.json", "--depth=d.json"],
        ["--network=a.json", "b.json"],
        ["--network=a.json", "--json=yes"],
        ["--network=a.json", "--invocations=0"],
        ["--network=a.json", "--invocations=-1"],
        ["--network=a.json", "--invocations=three"],
        ["--network=a.json", "--invocations=100000000000000000000"],
        ["--network=a.json", "--invocations=2000000000"],
        ["--network=a.json", "--max-events=0"],
        ["--network=a.json", "--values=seq"],
        ["--network=a.json", "--values=seq=x"],
    ),
    ids=" ".join,
)
def test_usage_errors(arguments: list[str]) -> None:
    run = simulate(*arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.splitlines()[0].startswith("streamtensor-sim: error: ")
