"""One small network for each rule of docs/process-networks.md, with results by hand.

`a0 = 5` in a comment: process a does the first of what it does at cycle 5. Ends are the
cycles in which the own time is the latency; a network takes one less than the last end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .schedule import READ, WRITE, Json


@dataclass
class RuleCase:
    """A network and what the rules say about it.

    `counters` are busy cycles and those waiting for input and for output.
    """

    network: Json
    cycles: int
    invocations: int = 1
    deadlock: list[tuple[str, str, str]] = field(default_factory=list)
    peaks: dict[str, int] = field(default_factory=dict)
    counters: dict[str, tuple[int, int, int]] = field(default_factory=dict)


def process(name: str, latency: int, **accesses: list[int]) -> Json:
    """A process; `read_f=[0, 1]` reads FIFO f at its cycles 0 and 1."""
    ports = [(key.split("_", 1), cycles) for key, cycles in accesses.items()]
    return {
        "name": name,
        "latency": latency,
        "accesses": [
            {"fifo": fifo, "op": op, "at": [[cycle, 0, 1, 0, 1] for cycle in cycles]}
            for (op, fifo), cycles in ports
        ],
    }


def fifo(name: str, producer: str, consumer: str, depth: int, **more: int) -> Json:
    ends = {"producer": producer, "consumer": consumer}
    return {"name": name, "depth": depth} | ends | more


def array(producer: str, consumer: str) -> Json:
    ends = {"producer": producer, "consumer": consumer}
    return {"name": f"{producer}_{consumer}"} | ends


def network(*parts: Json, arrays: tuple[Json, ...] = (), **more: object) -> Json:
    """A network of processes, and of FIFOs, which have a depth."""
    return {
        "schema": 1,
        "processes": [part for part in parts if "depth" not in part],
        "fifos": [part for part in parts if "depth" in part],
        "pipos": list(arrays),
    } | more


def stream(depth: int, **more: int) -> tuple[Json, ...]:
    """Four tokens in a row from a to b, as fast as the FIFO lets them."""
    return (
        process("a", 4, write_f=[0, 1, 2, 3]),
        process("b", 4, read_f=[0, 1, 2, 3]),
        fifo("f", "a", "b", depth, **more),
    )


# b starts one cycle after a, by a FIFO without tokens.
AFTER = (process("a", 5), process("b", 9), fifo("f", "a", "b", 1))

CASES: dict[str, RuleCase] = {
    # Own time: t = 10 at cycle 10.
    "1 latency": RuleCase(network(process("a", 10)), 9),
    # The write is at a's end, cycle 5, so b, which starts at 1 and could read at 4, reads
    # at 6, which is its end.
    "1 accesses at the latency": RuleCase(
        network(process("a", 5, write_f=[5]), process("b", 3, read_f=[3]), fifo("f", "a", "b", 1)),
        5,
        counters={"a": (5, 0, 0), "b": (3, 2, 0)},
    ),
    # b's first reads wait for c's token, written at 9, so both are at 10, although f's
    # was there at 1. So a writes its second at 11, b reads it at 12: b ends at 13.
    "2 atomic": RuleCase(
        network(
            process("a", 2, write_f=[0, 1]),
            process("c", 10, write_h=[9]),
            process("b", 2, read_f=[0, 1], read_h=[0]),
            fifo("f", "a", "b", 1),
            fifo("h", "c", "b", 1),
        ),
        12,
        counters={"a": (2, 0, 10), "b": (2, 10, 0)},
    ),
    # b = 1, 11 reads; its first iteration's write at own time 3 waits with it, for own
    # time 1 is at 11: g is written at 13 and 14, read at 14 and 15; c ends at 16.
    "2 iterations in flight": RuleCase(
        network(
            process("a", 11, write_f=[0, 10]),
            process("b", 5, read_f=[0, 1], write_g=[3, 4]),
            process("c", 2, read_g=[0, 1]),
            fifo("f", "a", "b", 2),
            fifo("g", "b", "c", 2),
        ),
        15,
    ),
    # Writes at 0, 2, 4, 6 and reads at 1, 3, 5, 7: nothing passes through. b ends at 8.
    "3 depth 1": RuleCase(
        network(*stream(1)), 7, peaks={"f": 1}, counters={"a": (4, 0, 3), "b": (4, 3, 0)}
    ),
    # At 2 the slot read at 1 is free: writes at 0, 1, 2, 3, reads one later, b ends at 5.
    "3 depth 2": RuleCase(network(*stream(2)), 4, peaks={"f": 2}),
    # Full and empty at once: neither helps the other.
    "3 one cycle": RuleCase(
        network(process("a", 1, read_f=[0], write_f=[0]), fifo("f", "a", "a", 1, initial_tokens=1)),
        0,
        deadlock=[("a", WRITE, "f")],
    ),
    "3 one cycle, one slot more": RuleCase(
        network(process("a", 1, read_f=[0], write_f=[0]), fifo("f", "a", "a", 2, initial_tokens=1)),
        0,
        peaks={"f": 2},
    ),
    # a = 0, b = 3, a = 3 + 1 + 2 = 6, b = 9, a = 12, b = 15, a = 18, b = 21, end at 22.
    "3 crossing": RuleCase(network(*stream(1, crossing=2)), 21),
    # b starts at 1 and ends at 10.
    "4 starts follow fifos": RuleCase(network(*AFTER), 9),
    # b and c start one after the other at 1 and 2, in spite of the feedback to a.
    "4 starts do not follow initial tokens": RuleCase(
        network(
            *AFTER,
            process("c", 9),
            fifo("g", "b", "c", 1),
            fifo("h", "c", "a", 1, initial_tokens=1),
        ),
        10,
        peaks={"f": 0, "h": 1},
    ),
    # a: 0 to 5; b: 6 to 15.
    "4 arrays are handed over whole": RuleCase(network(*AFTER[:2], arrays=(array("a", "b"),)), 14),
    # a: 0 to 9, 10 to 19; b: 10 to 19, 20 to 29; c: 20 to 29, 30 to 39. The third of a
    # needs the half that c has until 29: 30 to 39, b 40 to 49, c 50 to 59.
    "4 two halves": RuleCase(
        network(
            *(process(name, 9) for name in "abc"),
            arrays=(array("a", "b"), array("b", "c"), array("a", "c")),
        ),
        58,
        invocations=3,
    ),
    # 0 to 10, 11 to 21, 22 to 32.
    "5 restart": RuleCase(network(process("a", 10)), 31, invocations=3),
    # a: 0 to 5, 6 to 11; b: 1 to 10, 11 to 20.
    "5 invocations overlap": RuleCase(network(*AFTER), 19, invocations=2),
    # The second invocation begins at 11; b: 12 to 21.
    "5 serial invocations": RuleCase(network(*AFTER, serial_invocations=True), 20, invocations=2),
    # Each invocation leaves the token that the next one begins with: a reads at 0, b at 1
    # writes the next, which a reads at 2, its restart; b reads again at 3: it ends at 4.
    "5 fifos keep their contents": RuleCase(
        network(
            process("a", 1, read_g=[0], write_f=[0]),
            process("b", 1, read_f=[0], write_g=[0]),
            fifo("f", "a", "b", 1),
            fifo("g", "b", "a", 1, initial_tokens=1),
        ),
        3,
        invocations=2,
        counters={"a": (2, 0, 0), "b": (2, 0, 0)},
    ),
    # a writes f twice before h; b reads h first. a stops at its second write.
    "7 a circle of waits": RuleCase(
        network(
            process("a", 3, write_f=[0, 1], write_h=[2]),
            process("b", 4, read_h=[0], read_f=[1, 2]),
            fifo("f", "a", "b", 1),
            fifo("h", "a", "b", 1),
        ),
        0,
        deadlock=[("a", WRITE, "f"), ("b", READ, "h")],
    ),
    # b starts when a has ended, a ends when b has read.
    "7 a wait for a start": RuleCase(
        network(
            process("a", 3, write_f=[0, 1]),
            process("b", 3, read_f=[0, 1]),
            fifo("f", "a", "b", 1),
            arrays=(array("a", "b"),),
        ),
        0,
        deadlock=[("a", WRITE, "f")],
    ),
    # Writes at 0 to 3, reads at 2 to 5: at 3 there are four written, and one read before.
    "8 peak": RuleCase(
        network(
            process("a", 4, write_f=[0, 1, 2, 3]),
            process("b", 5, read_f=[1, 2, 3, 4]),
            fifo("f", "a", "b", 8),
        ),
        5,
        peaks={"f": 3},
    ),
    # With reads at 2 to 5 as before, the writer does not know of any at 3.
    "8 peak and crossing": RuleCase(
        network(
            process("a", 4, write_f=[0, 1, 2, 3]),
            process("b", 5, read_f=[1, 2, 3, 4]),
            fifo("f", "a", "b", 8, crossing=1),
        ),
        5,
        peaks={"f": 4},
    ),
    "8 peak without writes": RuleCase(
        network(process("a", 2), process("b", 2), fifo("f", "a", "b", 3, initial_tokens=2)),
        1,
        peaks={"f": 2},
    ),
    # b, from 1 on, lacks a token at 1 to 5; its write at the same own time lacks a slot
    # until c, which begins with a stall, reads at 9: these are 6 to 9. b: own time 0 at
    # 10; its end at 11.
    "9 a cycle that lacks both": RuleCase(
        network(
            process("a", 6, write_f=[5]),
            process("b", 1, read_f=[0], write_g=[0]),
            process("c", 1, read_g=[0]),
            fifo("f", "a", "b", 1),
            fifo("g", "b", "c", 1, initial_tokens=1),
            stalls=[{"process": "c", "at": 0, "cycles": 9}],
        ),
        10,
        counters={"a": (6, 0, 0), "b": (1, 5, 4), "c": (1, 0, 0)},
    ),
    # 0 to 5 + 4 = 9, 10 to 19; stalls are neither busy nor waits.
    "10 stall": RuleCase(
        network(process("a", 5), stalls=[{"process": "a", "at": 2, "cycles": 4}]),
        18,
        invocations=2,
        counters={"a": (10, 0, 0)},
    ),
    # Only the first invocation is launched: 3 more than without.
    "10 launch": RuleCase(network(*AFTER, launch_cycles=3), 22, invocations=2),
    # b: 4 to 13; the second begins at 14 + 3; b: 18 to 27.
    "10 serial launches": RuleCase(
        network(*AFTER, launch_cycles=3, serial_invocations=True), 26, invocations=2
    ),
}
