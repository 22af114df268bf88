"""Certificates of FIFO depths: what the checker verifies, and what it refuses.

Judged by naive execution at every value of the parameters (certificate_designs).
"""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from certificate_checks import BIN, NEEDS_CHECKER, check, check_many, random_designs
from certificate_designs import Design, all_values, ends_everywhere, find_block
from certificate_random import full_depths, gated_network

pytestmark = NEEDS_CHECKER


def fifo(name: str, depth: int, producer: str, consumer: str, **more: object) -> dict:
    return {"name": name, "depth": depth, "producer": producer, "consumer": consumer, **more}


def pipeline(trips: list, *body: dict, ii: int = 1, depth: int = 6) -> dict:
    return {"pipeline": trips, "ii": ii, "depth": depth, "body": list(body)}


def rows(depth: int = 4) -> Design:
    """Rows of four, once to their maximum, once to be divided by it.

    The maximum needs all four of a row before the first is read from `copy`. In
    program order the fork has written three to `copy` when it writes the fourth
    to `first`, so three are enough; in one cycle it writes to both, so four.
    """
    network = {
        "schema": 1,
        "parameters": [{"name": "seq", "min": 1, "max": 6}],
        "processes": [
            {"name": "load", "program": [pipeline(["seq", 4], {"write": 0, "stage": 2})]},
            {
                "name": "fork",
                "program": [pipeline(["seq", 4], {"read": 0}, {"write": 1}, {"write": 2})],
            },
            {
                "name": "max",
                "program": [
                    {
                        "loop": "seq",
                        "overhead": 1,
                        "body": [pipeline([4], {"read": 1}), {"write": 3}],
                    }
                ],
            },
            {
                "name": "scale",
                "program": [
                    {
                        "loop": "seq",
                        "overhead": 1,
                        "body": [
                            {"read": 3},
                            {"wait": 1},
                            pipeline([4], {"read": 2}, {"write": 4, "stage": 3}),
                        ],
                    }
                ],
            },
            {"name": "store", "program": [pipeline(["seq", 4], {"read": 4})]},
        ],
        "fifos": [
            fifo("load_out", 2, "load", "fork"),
            fifo("first", 2, "fork", "max"),
            fifo("copy", depth, "fork", "scale"),
            fifo("max_out", 2, "max", "scale"),
            fifo("scale_out", 2, "scale", "store"),
        ],
    }
    return Design(network)


def cut(condition: str = "i0 < seq", kept: str = "seq") -> Design:
    """Of `seq` + 1 rows all but the last are passed on."""
    network = {
        "schema": 1,
        "parameters": [{"name": "past", "min": 0, "max": 2}, {"name": "seq", "min": 1, "max": 5}],
        "processes": [
            {"name": "load", "program": [pipeline(["seq + 1", 2], {"write": 0, "stage": 2})]},
            {
                "name": "cut",
                "program": [
                    pipeline(
                        ["seq + 1", 2],
                        {"read": 0},
                        {"if": condition, "then": [{"write": 1, "stage": 3}]},
                    )
                ],
            },
            {"name": "store", "program": [pipeline([kept, 2], {"read": 1})]},
        ],
        "fifos": [fifo("load_out", 1, "load", "cut"), fifo("cut_out", 1, "cut", "store")],
    }
    rows = [{"keep_last": "seq"}, "1"]
    segments = [
        {"process": "load", "loop": 0, "parts": rows},
        {"process": "cut", "loop": 0, "parts": rows},
        {"process": "store", "loop": 0, "parts": [{"keep_last": "seq"}]},
    ]
    return Design(network, segments)


ROW_PARTS = [{"keep_last": "past"}, "seq"]


def cache() -> Design:
    """Past rows, then new ones, all of them drained for each new row."""
    network = {
        "schema": 1,
        "parameters": [{"name": "past", "min": 0, "max": 3}, {"name": "seq", "min": 1, "max": 4}],
        "processes": [
            {"name": "load_past", "program": [pipeline(["past", 2], {"write": 0})]},
            {"name": "load_new", "program": [pipeline(["seq", 2], {"write": 1})]},
            {
                "name": "concat",
                "program": [
                    pipeline(["past", 2], {"read": 0}, {"write": 2, "stage": 1}),
                    pipeline(["seq", 2], {"read": 1}, {"write": 2, "stage": 1}),
                ],
            },
            {
                "name": "buffer",
                "program": [
                    pipeline(["past + seq", 2], {"read": 2}),
                    {
                        "loop": "seq",
                        "overhead": 1,
                        "body": [pipeline(["seq + past"], {"write": 3, "stage": 1})],
                    },
                ],
            },
            {
                "name": "store",
                "program": [
                    {
                        "loop": "seq",
                        "overhead": 1,
                        "body": [pipeline(["past + seq"], {"read": 3})],
                    }
                ],
            },
        ],
        "fifos": [
            fifo("past_out", 2, "load_past", "concat"),
            fifo("new_out", 2, "load_new", "concat"),
            fifo("concat_out", 2, "concat", "buffer"),
            fifo("buffer_out", 1, "buffer", "store"),
        ],
    }
    segments = [
        {"process": "load_past", "loop": 0, "parts": [{"keep_last": "past"}]},
        {"process": "concat", "loop": 0, "parts": [{"keep_last": "past"}]},
        {"process": "buffer", "loop": 0, "parts": ROW_PARTS},
    ]
    return Design(network, segments)


def ping_pong() -> Design:
    """The two halves of a buffer; their control FIFOs are not in the kernel."""
    network = {
        "schema": 1,
        "parameters": [{"name": "seq", "min": 0, "max": 5}],
        "processes": [
            {"name": "load", "program": [pipeline(["seq", 3], {"write": 0})]},
            {
                "name": "turn_fill",
                "stage_of": "turn",
                "program": [
                    {
                        "loop": "seq",
                        "overhead": 1,
                        "body": [
                            {"read": 3},
                            {"wait": 1},
                            pipeline([3], {"read": 0}),
                            {"write": 2},
                        ],
                    }
                ],
            },
            {
                "name": "turn_drain",
                "stage_of": "turn",
                "program": [
                    {
                        "loop": "seq",
                        "overhead": 1,
                        "body": [
                            {"read": 2},
                            {"wait": 1},
                            pipeline([2, 3], {"write": 1}),
                            {"write": 3},
                        ],
                    }
                ],
            },
            {"name": "store", "program": [pipeline(["seq", 6], {"read": 1})]},
        ],
        "fifos": [
            fifo("load_out", 1, "load", "turn_fill"),
            fifo("turn_out", 1, "turn_drain", "store"),
            fifo("turn_full", 2, "turn_fill", "turn_drain", control=True),
            fifo("turn_free", 2, "turn_drain", "turn_fill", control=True, initial_tokens=2),
        ],
    }
    return Design(network)


@pytest.mark.parametrize("make", [rows, cache, ping_pong, cut])
def test_certificates_of_designs_by_hand_are_verified(
    make: Callable[[], Design], tmp_path: Path
) -> None:
    design = make()
    assert ends_everywhere(design.network)
    run = check(design.write(tmp_path))
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("verified: no deadlock with")
    assert "3 invocations; 1 base point executed" in run.stdout


def test_both_orders_are_executed(tmp_path: Path) -> None:
    """Depth 3 is enough in program order and not in pipelined order."""
    for depth, order in ((2, "program"), (3, "pipelined")):
        design = rows(depth)
        assert find_block(design.network, {"seq": 6}, order) is not None
        run = check(design.write(tmp_path / str(depth)))
        assert run.returncode == 1
        assert f"at seq = 6, order {order}: deadlock: " in run.stderr
        assert f"'fork' waits to write 'copy' ({depth}/{depth})" in run.stderr


# Refusals: what is changed in a design that is verified otherwise, and a part
# of the reason.


def find(design: Design, name: str) -> dict:
    return next(p for p in design.network["processes"] if p["name"] == name)


def edit(path: str, value: object) -> Callable[[Design], None]:
    """Sets `network.fifos.0.depth` and the like."""

    def apply(design: Design) -> None:
        first, *keys = path.split(".")
        place = getattr(design, first)
        *keys, last = (int(key) if key.isdigit() else key for key in keys)
        for key in keys:
            place = place[key]
        place[last] = value

    return apply


def kernel(old: str, new: str) -> Callable[[Design], None]:
    def apply(design: Design) -> None:
        assert old in design.kernel
        design.kernel = design.kernel.replace(old, new)

    return apply


def program(process: str, *nodes: dict) -> Callable[[Design], None]:
    def apply(design: Design) -> None:
        find(design, process)["program"] = list(nodes)

    return apply


def parts(index: int, value: list) -> Callable[[Design], None]:
    return edit(f"certificate.witness.segments.{index}.parts", value)


def all_of(*changes: Callable[[Design], None]) -> Callable[[Design], None]:
    return lambda design: [change(design) for change in changes] and None


def merging(first: dict, second: dict) -> Callable[[Design], None]:
    """Around the past rows of `concat`, which may be none, without a cycle between."""

    def apply(design: Design) -> None:
        design.network["processes"] += [
            {"name": "ask", "program": [pipeline([1], {"write": 4})]},
            {"name": "answer", "program": [pipeline([1], {"read": 5})]},
        ]
        design.network["fifos"] += [
            fifo("asked", 1, "ask", "concat"),
            fifo("answered", 1, "concat", "answer"),
        ]
        design.__init__(design.network, design.certificate["witness"]["segments"])
        body = find(design, "concat")["program"]
        # No access in the first cycle of the past rows.
        body[0]["body"] = [{"read": 0, "stage": 1}, {"write": 2, "stage": 2}]
        body[:] = [first, body[0], second, {"wait": 1}, body[1]]

    return apply


CERTIFICATE = [
    (rows, edit("certificate.schema", 2), "schema: expected an integer from 1 to 1 but got 2"),
    (rows, edit("certificate.more", 1), "unknown key 'more'"),
    (rows, edit("certificate.deadlock_free", False), "expected true but got false"),
    (rows, edit("certificate.orders", ["program"]), "expected program and pipelined but got"),
    (rows, edit("certificate.invocations", 2), "expected an integer from 3 to 16 but got 2"),
    (rows, edit("certificate.parameters.0.min", 0), "expected those of network.pn.json, seq from"),
    (rows, edit("interface.parameters.0.min", 0), "expected those of interface.json, seq from 0"),
    (rows, edit("certificate.depths.copy", 5), "expected the depth of the network, 4, for fifo"),
    (rows, edit("certificate.depths.other", 5), "expected fifos of the network but got 'other'"),
    (rows, lambda d: d.certificate["depths"].pop("copy"), "of the network but 'copy' is missing"),
    (rows, edit("network.fifos.2.depth", 5), "certificate.depths: expected the depth of the netw"),
    (rows, edit("interface.fifos.2.depth", 5), "interface.fifos: expected the depth of the netwo"),
    (rows, kernel("copy, 4", "copy, 3"), "hls/kernel.cpp: expected the depth of the network, 4"),
    (rows, kernel("copy, 4", "copi, 4"), "hls/kernel.cpp: expected all fifos of the network but"),
    (rows, kernel("copy, 4);", "copy, 4); ST_FIFO(float, more, 2);"), "fifos of the network but"),
    (rows, kernel("copy, 4);", "copy, 4); ST_FIFO(float, copy, 4);"), "differ but got 'copy' twi"),
    (rows, kernel("ST_FIFO(float, copy, 4);", "// ST_FIFO(float, copy, 4);"), "'copy' is missing"),
    (rows, kernel("copy, 4)", "copy, N)"), "expected ST_FIFO(type, name, depth); but got"),
    (rows, kernel("void", "#define copy other\nvoid"), "no directives but #include and #pragma"),
    (rows, kernel("}\n", "hls::stream<int> s;}\n"), "expected streams that are declared by ST_FI"),
    (rows, edit("certificate.witness.base_points", []), "expected at least one base point"),
    (rows, edit("certificate.witness.base_points.0.seq", 7), "an integer from 1 to 6 but got 7"),
    (rows, edit("certificate.witness.base_points.0.seq", 5), "but seq = 6 is not proven"),
    (rows, edit("certificate.witness.base_points.0.past", 5), "unknown key 'past'"),
    (rows, edit("certificate.full_depths", {"copy": "deadlock"}), "got 'copy' of depth 4 with 24"),
    (rows, edit("certificate.full_depths", {"no": "delay"}), "expected the name of a fifo but got"),
    (rows, edit("certificate.full_depths", {"copy": "so"}), "'deadlock' or 'delay' but got \"so\""),
    (
        rows,
        edit("certificate.slowdown", [{"values": {"seq": 6}, "cycles": 11, "cycles_unbounded": 10,
                                       "ratio": 1.0, "label": "simulated"}]),
        "slowdown[0].ratio: expected cycles / cycles_unbounded but got 1.0",
    ),
    (
        rows,
        edit("certificate.slowdown", [{"values": {"seq": 6}, "cycles": 10, "cycles_unbounded": 10,
                                       "ratio": 1.0, "label": "measured"}]),
        "slowdown[0].label: expected 'simulated'",
    ),
]  # fmt: skip

WITNESS = [
    (cache, parts(2, ["past + seq"]), "expected that both ends lose the same tokens, but 'concat'"),
    (cache, parts(2, ["past", "seq"]), "expected that both ends lose the same tokens"),
    (cache, parts(2, ["seq", "past"]), "expected that both ends lose the same tokens"),
    (cache, parts(2, ["past", "past"]), "parts whose sum is the trip count, past + seq, but got 2"),
    (cache, parts(2, []), "expected 1 to 64 parts"),
    (cache, parts(2, ["past + seq + 1", "-1"]), "expected parts of loops from 0 on but got -1"),
    (cache, parts(2, ["-1 * past", "2 * past + seq"]), "expected parts of loops that grow with"),
    (cache, parts(2, [{"keep_first": "past"}, "seq"]), "expected the key 'keep_last'"),
    (cache, edit("certificate.witness.segments.1.loop", 4), "expected one of the 4 loops of proc"),
    (cache, edit("certificate.witness.segments.0.process", "no"), "name of a process but got 'no'"),
    (cache, edit("certificate.witness.segments.1.process", "load_past"), "expected a loop once"),
    (
        cache,
        all_of(parts(0, ["past"]), parts(1, ["past"]), parts(2, ["past", "seq"]), program(
            "buffer",
            pipeline(["past + seq", 2], {"read": 2}, {"write": 3, "stage": 1})),
            program("store", pipeline(["past + seq", 2], {"read": 3}))),
        "expected a pipeline of which one piece is kept, or whose iterations do not overlap",
    ),
    (
        rows,
        all_of(program("fork", {"loop": "seq", "overhead": 1, "body": [
            {"if": "i0 % 1 == 0", "then": [
                pipeline([4], {"read": 0}, {"write": 1}, {"write": 2})]}]})),
        "conditions that do not depend on the values: on loops of constant trip counts, or with",
    ),
    (cut, parts(1, ["seq", "1"]), "expected a pipeline of which one piece is kept"),
    (cut, parts(1, ["seq + 1"]), "in each part of a loop, but got 'i0 < seq'"),
    (cut, parts(1, ["1", "seq"]), "in each part of a loop, but got 'i0 < seq'"),
    (cut, parts(0, ["seq + 1"]), "expected that both ends lose the same tokens, but 'load' writes"),
    (cut, parts(2, ["seq"]), "expected that both ends lose the same tokens, but 'cut' writes"),
    (lambda: cut("i0 < past"), parts(1, [{"keep_last": "seq"}, "1"]), "but got 'i0 < past'"),
    (cache, merging({"read": 4}, {"write": 5}), "because they would happen together at some value"),
    (
        ping_pong,
        edit("network.processes.2.program.0.loop", 5),
        "expected the same segments in the same parts in all stages of task 'turn'",
    ),
]  # fmt: skip

NETWORK = [
    (rows, program("max", {"wait": 1, "more": 2}), "process 'max'.program[0]: unknown key 'more'"),
    (rows, lambda d: find(d, "max").pop("program"), "that is given by cycles cannot be certified"),
    (rows, program("max", pipeline(["seq"], {"write": 1})), "expected only its producer, 'fork'"),
    (rows, program("max", pipeline(["n"], {"read": 1})), "expected a parameter of the network at"),
    (rows, program("max", pipeline([4], {"read": 1}, depth=0)), "integer from 1 to"),
    (
        rows,
        program("max", pipeline([4], {"read": 1, "stage": 6})),
        "expected stages below the depth",
    ),
    (rows, program("max", pipeline([4], {"read": 9})), "integer from 0 to 4 but got 9"),
    (rows, program("max", {"if": "i0 <", "then": []}), "condition 'i0 <'"),
    (
        rows,
        program("max", {"if": "past < 2", "then": []}),
        "or a parameter of the network at 'past",
    ),
    (
        rows,
        program("max", {"if": "3 / seq < 2", "then": []}),
        "a positive constant as divisor befo",
    ),
    (rows, program("max", {"if": "1 < 2 and 3", "then": []}), "a comparison on either side of and"),
    (
        rows,
        program("store", pipeline(["seq", 2], {"read": 4}, {"read": 4, "stage": 1})),
        "one access of an",
    ),
    (
        rows,
        program("store", pipeline(["seq", 3], {"read": 4})),
        "lose the same tokens, but 'scale'",
    ),
    (
        rows,
        edit("network.fifos.0.initial_tokens", 3),
        "at most as many initial tokens as its depth",
    ),
    (rows, edit("network.more", 3), "network: unknown key 'more'"),
    (rows, edit("network.fifos.0.name", "copy"), "names that differ but got 'copy' twice"),
    (ping_pong, edit("network.processes.3.stage_of", "turn"), "expected one outermost loop in the"),
]

# What cannot be reduced is executed at each value.


def test_values_that_cannot_be_reduced_are_enumerated(tmp_path: Path) -> None:
    design = cache()
    merging({"read": 4}, {"write": 5})(design)
    assert ends_everywhere(design.network)
    # Without past rows `asked` is read in the cycle in which `answered` is
    # written; with some rows, always before. So no rows is a case of its own.
    points = design.certificate["witness"]["base_points"]
    points.append({"past": 0, "seq": 4})
    run = check(design.write(tmp_path))
    assert run.returncode == 0, run.stderr
    assert "2 base points executed" in run.stdout


def test_sizes_that_decide_are_enumerated(tmp_path: Path) -> None:
    """A condition of which no parts of loops know: every value of `seq`, at once all of `past`."""
    design = cut("i0 * 2 < seq + i0", "ceildiv(seq, 1)")
    design.certificate["witness"]["segments"] = []
    points = design.certificate["witness"]["base_points"]
    assert ends_everywhere(design.network)
    assert "seq = 1 is not proven" in check(design.write(tmp_path)).stderr
    points += [{"past": 2, "seq": seq} for seq in range(1, 5)]
    run = check(design.write(tmp_path))
    assert run.returncode == 0, run.stderr
    assert "5 base points executed" in run.stdout
    points.pop(2)
    assert "seq = 2 is not proven" in check(design.write(tmp_path)).stderr


@pytest.mark.parametrize(
    ("make", "change", "reason"),
    CERTIFICATE + WITNESS + NETWORK,
    # Of a function its name: its text holds an address, which differs from run to run.
    ids=lambda value: getattr(value, "__name__", str(value)[:40]),
)
def test_refusals(
    make: Callable[[], Design], change: Callable[[Design], None], reason: str, tmp_path: Path
) -> None:
    design = make()
    change(design)
    run = check(design.write(tmp_path))
    assert (run.returncode, run.stdout) == (1, ""), run.stdout
    assert reason in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    names = ("certificate.json", "interface.json", "network.pn.json", "hls/kernel.cpp")
    texts = {
        "": "expected a file that can be read and is not empty",
        "{": "expected JSON",
        '{"a": 1e999999}': "expected JSON",
        "[" * 100000: "expected less nesting of brackets",
        '{"schema": 1, "schema": 1}': "expected each key once but got",
        "[]": "expected an object but got []",
        '{"schema": 123456789012345678901234567890}': "expected an integer from 1 to 1 but got",
        "\xff": "expected JSON",
    }
    for name in names[:3]:
        for text, reason in texts.items():
            design = rows()
            directory = design.write(tmp_path / "design")
            path = directory / name
            path.write_bytes(text.encode("latin-1"))
            if name == "network.pn.json":
                design.certificate["network_sha256"] = subprocess.run(
                    ["sha256sum", path], capture_output=True, text=True, check=True
                ).stdout.split()[0]
                (directory / "certificate.json").write_text(json.dumps(design.certificate))
            run = check(directory)
            assert run.returncode == 1, (name, text[:20])
            assert str(path) in run.stderr and reason in run.stderr, run.stderr[:300]
    for name in names:
        directory = rows().write(tmp_path / "design")
        (directory / name).unlink()
        run = check(directory)
        assert run.returncode == 1 and f"{name}: expected a file" in run.stderr
    for arguments in ([], ["a", "b"], ["--more", "a"]):
        assert check(*arguments).returncode == 2


def test_a_fifo_of_all_tokens_needs_a_reason(tmp_path: Path) -> None:
    """All of a matrix must be there before the first is read, or not."""
    network = {
        "schema": 1,
        "parameters": [],
        "processes": [
            {"name": "load", "program": [pipeline([5], {"write": 0}, {"write": 1})]},
            {
                "name": "use",
                "program": [
                    pipeline([5], {"read": 0}),
                    pipeline([5], {"read": 1}),
                ],
            },
        ],
        "fifos": [fifo("direct", 1, "load", "use"), fifo("late", 5, "load", "use")],
    }
    run = check(Design(network).write(tmp_path))
    assert run.returncode == 1
    assert "fifo 'late': expected an entry in full_depths" in run.stderr
    run = check(Design(network, full_depths={"late": "deadlock"}).write(tmp_path))
    assert run.returncode == 0, run.stderr
    network["fifos"][0]["depth"] = 5
    stated = {"late": "deadlock", "direct": "deadlock"}
    run = check(Design(network, full_depths=stated).write(tmp_path))
    assert "expected a deadlock with depth 4 of fifo 'direct' but got none" in run.stderr
    stated["direct"] = "delay"
    run = check(Design(network, full_depths=stated).write(tmp_path))
    assert run.returncode == 0, run.stderr
    assert "not verified: that fifo 'direct' delays with one token less" in run.stdout


# Against execution at every value.


@pytest.mark.parametrize("wild", [False, True])
def test_verdicts_agree_with_execution_at_every_value(wild: bool, tmp_path: Path) -> None:
    designs = list(random_designs(0, 100, wild))
    directories = [design.write(tmp_path / str(i)) for i, design in enumerate(designs)]
    ends = [ends_everywhere(design.network) for design in designs]
    verdicts = [verdict.startswith("verified") for verdict in check_many(directories)]
    for directory, end, verified in zip(directories, ends, verdicts, strict=True):
        assert end or not verified, f"{directory} is verified but does not end"
        # As the compiler builds networks, nothing that ends is refused.
        assert wild or verified == end, directory
    assert 50 <= sum(ends) < len(ends)
    # Of the wild ones, half of those that end.
    assert sum(verdicts) >= (40 if wild else 80)


@pytest.mark.parametrize("witness", ["parts", "enumerated", "all"])
def test_verdicts_on_conditions_agree_with_execution(witness: str, tmp_path: Path) -> None:
    designs = []
    for seed in range(150):
        network, segments = gated_network(seed)
        points = all_values(network["parameters"])
        if witness != "all":
            largest = {p["name"]: p["max"] for p in network["parameters"]}
            several = [largest | {"n": n} for n in range(1, largest["n"] + 1)]
            points = [largest] if witness == "parts" else several
        segments = segments if witness == "parts" else []
        designs.append(Design(network, segments, points, full_depths(network)))
    directories = [design.write(tmp_path / str(i)) for i, design in enumerate(designs)]
    ends = [ends_everywhere(design.network) for design in designs]
    verdicts = [verdict.startswith("verified") for verdict in check_many(directories)]
    for directory, end, verified in zip(directories, ends, verdicts, strict=True):
        assert end or not verified, f"{directory} is verified but does not end"
        assert witness != "all" or verified == end, directory
    assert sum(verdicts) >= {"parts": 15, "enumerated": 40, "all": 80}[witness]
    assert sum(ends) <= 120


@pytest.mark.parametrize("name", ["concat", "attention"])
def test_compiled_designs_of_run_time_sizes(name: str, tmp_path: Path) -> None:
    """Their own certificates, and what becomes of them with one shallower FIFO."""
    compiled = tmp_path / "compiled"
    source = Path(__file__).parent / "data" / "certificates" / f"{name}.mlir"
    command = [BIN / "streamtensor-compile", source, "--target=u55c", f"--output-dir={compiled}"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    run = check(compiled)
    assert run.returncode == 0, run.stderr
    network = json.loads((compiled / "network.pn.json").read_text())
    assert ends_everywhere(network)
    segments = json.loads((compiled / "certificate.json").read_text())["witness"]["segments"]
    networks = []
    for index, found in enumerate(network["fifos"]):
        for depth in {1, found["depth"] - 1} - {0}:
            if not found.get("control"):
                changed = copy.deepcopy(network)
                changed["fifos"][index]["depth"] = depth
                networks.append(changed)
    shallow = copy.deepcopy(network)
    for found in shallow["fifos"]:
        if not found.get("control"):
            found["depth"] = 1
    networks.append(shallow)
    designs = [Design(n, segments, full_depths=full_depths(n)) for n in networks]
    verdicts = check_many([d.write(tmp_path / str(i)) for i, d in enumerate(designs)])
    assert [v.startswith("verified") for v in verdicts] == [ends_everywhere(n) for n in networks]
