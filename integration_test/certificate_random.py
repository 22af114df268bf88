"""Random networks with run-time sizes, built the way the compiler builds them.

Rows of a run-time number, reductions and normalizations of rows, concatenations
of past and new rows, buffers, ping-pong buffers in two stages, matrix products,
slices. Depths are the least at the largest sizes, found by execution, or one
token too few here and there.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from certificate_designs import Values, find_block, groups_of


@dataclass(frozen=True)
class Dim:
    """A run-time trip count, and in which parts a shorter run keeps it."""

    trip: str
    parts: tuple = ()


SEQ, TOTAL = Dim("seq"), Dim("past + seq")
PAST = Dim("past", (("keep_last", "past"),))
ROWS = Dim("past + seq", (("keep_last", "past"), "seq"))


@dataclass
class Stream:
    fifo: int
    dims: tuple


@dataclass
class Builder:
    """`shapes` says which habits of the compiler are left out (see `wild`)."""

    rng: random.Random
    wild: bool = False
    processes: list[dict] = field(default_factory=list)
    fifos: list[dict] = field(default_factory=list)
    segments: list[dict] = field(default_factory=list)
    open: list[Stream] = field(default_factory=list)

    def fifo(self, producer: str, dims: tuple, **more: object) -> Stream:
        name = f"{producer}_out{len(self.fifos)}"
        self.fifos.append({"name": name, "depth": 1, "producer": producer, "consumer": "", **more})
        return Stream(len(self.fifos) - 1, dims)

    def name(self, kind: str) -> str:
        return f"{kind}_{len(self.processes)}"

    def read(self, stream: Stream) -> dict:
        return {"read": stream.fifo}

    def gap(self) -> list[dict]:
        """Compiled programs let time pass between loops; wild ones may not."""
        if self.wild and self.rng.random() < 0.4:
            return []
        return [{"wait": self.rng.randint(1, 2)}]

    def nest(self, dims: tuple, body: list[dict]) -> list[dict]:
        """Loops around a pipeline of constant trip counts and one around them."""
        rng = self.rng
        if not dims:
            return [*body, *self.gap()]
        inner = len(dims) - 1
        while inner > 0 and not isinstance(dims[inner], Dim):
            inner -= 1
        if self.wild and rng.random() < 0.2:
            inner = 0
        inner = rng.randint(inner, len(dims) - 1)
        stage = rng.randint(0, 4)
        body = [{**node, "stage": stage} if "write" in node else node for node in map(dict, body)]
        for node in body:
            if "if" in node:
                node["then"] = [{**access, "stage": stage} for access in node["then"]]
        nodes: list[dict] = [
            {
                "pipeline": list(dims[inner:]),
                "ii": rng.choice([1, 1, 1, 2, 4]),
                "depth": stage + rng.randint(1, 2),
                "body": body,
            }
        ]
        for dim in reversed(dims[:inner]):
            nodes = [{"loop": dim, "overhead": 0 if self.wild else 1, "body": nodes}]
            if self.wild and rng.random() < 0.5:
                nodes[0]["overhead"] = rng.randint(0, 1)
        return nodes

    def loops(self, dims: tuple, body: list[dict]) -> list[dict]:
        for dim in reversed(dims):
            body = [{"loop": dim, "overhead": self.overhead(), "body": body}]
        return body

    def overhead(self) -> int:
        return self.rng.randint(0, 1) if self.wild else 1

    def process(self, name: str, program: list[dict], task: str = "") -> None:
        """Turns dimensions into trip counts and notes their parts."""
        number = 0

        def trip(dim: Dim | int) -> str | int:
            nonlocal number
            loop, number = number, number + 1
            if not isinstance(dim, Dim):
                return dim
            if dim.parts:
                parts = [
                    {part[0]: part[1]} if isinstance(part, tuple) else part for part in dim.parts
                ]
                self.segments.append({"process": name, "loop": loop, "parts": parts})
            return dim.trip

        def visit(nodes: list[dict]) -> list[dict]:
            result = []
            for node in map(dict, nodes):
                if "loop" in node:
                    node["loop"] = trip(node["loop"])
                if "pipeline" in node:
                    node["pipeline"] = [trip(dim) for dim in node["pipeline"]]
                for key in ("body", "then", "else"):
                    if key in node:
                        node[key] = visit(node[key])
                if "read" in node:
                    self.fifos[node["read"]]["consumer"] = name
                result.append(node)
            return result

        process = {"name": name, "program": visit(program)}
        if task:
            process["stage_of"] = task
        self.processes.append(process)

    # Operations take open streams and give new ones.

    def take(self, fits) -> Stream | None:
        found = [stream for stream in self.open if fits(stream)]
        if not found:
            return None
        stream = self.rng.choice(found)
        self.open.remove(stream)
        return stream

    def source(self, dims: tuple) -> Stream:
        name = self.name("load")
        out = self.fifo(name, dims)
        self.process(name, [*self.gap(), *self.nest(dims, [{"write": out.fifo}])])
        self.open.append(out)
        return out

    def fork(self) -> None:
        stream = self.take(lambda s: True)
        name = self.name("fork")
        outs = [self.fifo(name, stream.dims) for _ in range(2)]
        body = [self.read(stream), *({"write": out.fifo} for out in outs)]
        self.process(name, self.nest(stream.dims, body))
        self.open += outs

    def join(self) -> None:
        one = self.take(lambda s: True)
        other = self.take(lambda s: s.dims == one.dims)
        name = self.name("join")
        out = self.fifo(name, one.dims)
        body = [self.read(one), *([self.read(other)] if other else []), {"write": out.fifo}]
        self.process(name, self.nest(one.dims, body))
        self.open.append(out)

    def normalize(self) -> None:
        """A fork; one side is reduced per row, the other meets the result."""
        stream = self.take(lambda s: len(s.dims) > 1)
        if not stream:
            return
        name = self.name("fork")
        rows, again = (self.fifo(name, stream.dims) for _ in range(2))
        body = [self.read(stream), {"write": rows.fifo}, {"write": again.fifo}]
        self.process(name, self.nest(stream.dims, body))
        outer, inner = stream.dims[:-1], stream.dims[-1:]
        name = self.name("reduce")
        value = self.fifo(name, outer)
        body = [*self.nest(inner, [self.read(rows)]), *self.gap(), {"write": value.fifo}]
        self.process(name, self.loops(outer, [*body, *self.gap()]))
        name = self.name("scale")
        out = self.fifo(name, stream.dims)
        body = [self.read(value), *self.gap()]
        body += self.nest(inner, [self.read(again), {"write": out.fifo}])
        self.process(name, self.loops(outer, body))
        self.open.append(out)

    def concat(self) -> None:
        new = self.take(
            lambda s: s.dims[0] == SEQ and not any(isinstance(dim, Dim) for dim in s.dims[1:])
        )
        if not new:
            return
        past = self.source((PAST, *new.dims[1:]))
        self.open.remove(past)
        name = self.name("concat")
        out = self.fifo(name, (ROWS, *new.dims[1:]))
        program = self.nest(past.dims, [self.read(past), {"write": out.fifo}])
        program += self.gap()
        program += self.nest(new.dims, [self.read(new), {"write": out.fifo}])
        self.process(name, program)
        self.open.append(out)

    def buffer(self) -> None:
        """Everything in, then out in another order, for each new row."""
        stream = self.take(lambda s: True)
        name = self.name("converter")
        inner = tuple(
            TOTAL if dim == ROWS else Dim(dim.trip) if isinstance(dim, Dim) else dim
            for dim in stream.dims
        )
        dims = (SEQ, *(inner if self.rng.random() < 0.5 else inner[::-1]))
        out = self.fifo(name, dims)
        program = [*self.nest(stream.dims, [self.read(stream)]), *self.gap()]
        program += self.nest(dims, [{"write": out.fifo}])
        self.process(name, program)
        self.open.append(out)

    def ping_pong(self) -> None:
        """A segment for each row; two stages that overlap."""
        stream = self.take(lambda s: len(s.dims) > 1)
        if not stream:
            return
        name = self.name("converter")
        segment, inner = stream.dims[:1], stream.dims[1:]
        out = self.fifo(f"{name}_drain", (*segment, self.rng.randint(1, 2), *inner[::-1]))
        full = self.fifo(f"{name}_fill", (), control=True)
        free = self.fifo(f"{name}_drain", (), control=True, initial_tokens=2)
        for fifo in (full, free):
            self.fifos[fifo.fifo]["depth"] = 2
        body = [self.read(free), *self.nest(inner, [self.read(stream)]), *self.gap()]
        self.process(
            f"{name}_fill", self.loops(segment, [*body, {"write": full.fifo}, {"wait": 1}]), name
        )
        body = [self.read(full), *self.nest(out.dims[1:], [{"write": out.fifo}]), *self.gap()]
        self.process(
            f"{name}_drain", self.loops(segment, [*body, {"write": free.fifo}, {"wait": 1}]), name
        )
        self.open.append(out)

    def product(self) -> None:
        x = self.take(lambda s: len(s.dims) == 2)
        if not x:
            return
        width = self.rng.randint(1, 3)
        weights = self.source((*x.dims, width))
        self.open.remove(weights)
        name = self.name("matmul")
        out = self.fifo(name, (*x.dims[:1], width))
        body = [self.read(x), *self.gap(), *self.nest((width,), [self.read(weights)])]
        program = [*self.loops(x.dims[1:], body), *self.gap()]
        program += self.nest((width,), [{"write": out.fifo}])
        self.process(name, self.loops(x.dims[:1], [*program, *self.gap()]))
        self.open.append(out)

    def slice(self) -> None:
        """A condition on a loop of constant trip count."""
        stream = self.take(lambda s: isinstance(s.dims[-1], int) and s.dims[-1] > 1)
        if not stream:
            return
        level, size = len(stream.dims) - 1, stream.dims[-1]
        name = self.name("slice")
        kept = self.rng.randint(1, size - 1)
        out = self.fifo(name, (*stream.dims[:-1], kept))
        keep = self.rng.choice([f"i{level} < {kept}", f"i{level} >= {size - kept}"])
        body = [self.read(stream), {"if": keep, "then": [{"write": out.fifo}]}]
        self.process(name, self.nest(stream.dims, body))
        self.open.append(out)

    def probe(self) -> None:
        """Deadlocks if a process reads `asked` in the cycle in which it writes
        `answered`: `ask` writes only after `answer` has read. Where a loop
        between the two has no iterations, that is so at some sizes only.
        """
        tasks = [process for process in self.processes if "stage_of" not in process]
        process = self.rng.choice(tasks)
        nodes = process["program"]
        loops = [node["body"] for node in nodes if "loop" in node]
        if loops and self.rng.random() < 0.5:
            nodes = self.rng.choice(loops)
        number = len(self.fifos)
        ask, answer = f"ask_{number}", f"answer_{number}"
        once = nodes is process["program"]
        for name, producer, consumer in (
            (f"asked{number}", ask, process["name"]),
            (f"answered{number}", process["name"], answer),
            (f"between{number}", ask, answer),
        ):
            self.fifos.append(
                {"name": name, "depth": 1, "producer": producer, "consumer": consumer}
            )
        first, last = sorted(self.rng.randint(0, len(nodes)) for _ in range(2))
        nodes[last:last] = [{"read": number}, *self.gap()]
        nodes[first:first] = [{"write": number + 1}, *self.gap()]
        around: list[dict] = []
        if not once:
            around = [node for node in process["program"] if node.get("body") is nodes]
        between = {"write": number + 2}
        for name, body in (
            (ask, [between, {"wait": 1}, between, {"wait": 1}, {"write": number}, {"wait": 1}]),
            (
                answer,
                [{"read": number + 1}, {"wait": 1}] + [{"read": number + 2}, {"wait": 1}] * 2,
            ),
        ):
            for loop in around:
                body = [{"loop": loop["loop"], "overhead": 1, "body": body}]
            self.processes.append({"name": name, "program": body})
            for entry in list(self.segments):
                if around and entry["process"] == process["name"] and entry["loop"] == 0:
                    self.segments.append({**entry, "process": name})

    def sinks(self) -> None:
        for stream in self.open:
            name = self.name("store")
            self.process(name, self.nest(stream.dims, [self.read(stream)]))
        self.open = []


def random_network(
    seed: int, wild: bool = False, exact: bool = False
) -> tuple[dict, list[dict]] | None:
    """A network and the segments of its witness; None where no depths help.

    With `exact`, no depth is changed after it was found.

    Wild ones leave out what keeps compiled programs certifiable: time that
    passes between loops, constant trip counts inside of pipelines, parts.
    """
    rng = random.Random(seed)
    builder = Builder(rng, wild)
    sizes = [(SEQ, rng.randint(1, 3)), (SEQ, 2, rng.randint(1, 2)), (SEQ, TOTAL)]
    for _ in range(rng.randint(1, 2)):
        builder.source(rng.choice(sizes))
    operations = [
        builder.fork, builder.join, builder.normalize, builder.normalize, builder.concat,
        builder.buffer, builder.ping_pong, builder.product, builder.slice,
    ]  # fmt: skip
    for _ in range(rng.randint(2, 4)):
        rng.choice(operations)()
    builder.sinks()
    if wild:
        for _ in range(rng.choice([0, 1, 1, 2])):
            builder.probe()
    least = 0 if wild else 1
    network = {
        "schema": 1,
        "parameters": [
            {"name": "past", "min": 0, "max": rng.randint(1, 3)},
            {"name": "seq", "min": rng.randint(0, least), "max": rng.randint(2, 4)},
        ],
        "processes": builder.processes,
        "fifos": builder.fifos,
    }
    if not grow(network, rng):
        return None
    segments = builder.segments
    if wild and segments and rng.random() < 0.3:
        segments = rng.sample(segments, len(segments) - 1)
    streams = [f for f in network["fifos"] if not f.get("control")]
    if exact:
        return network, segments
    deep = [fifo for fifo in streams if fifo["depth"] > 1]
    if deep and rng.random() < 0.5:
        rng.choice(deep)["depth"] -= 1
    if rng.random() < 0.5:
        rng.choice(streams)["depth"] += 1
    return network, segments


def grow(network: dict, rng: random.Random) -> bool:
    """Deepens FIFOs until the network ends at its largest sizes in both orders."""
    values: Values = {p["name"]: p["max"] for p in network["parameters"]}
    for order in ("program", "pipelined"):
        for _ in range(200):
            blocks = find_block(network, values, order, 1)
            if blocks is None:
                break
            full = sorted(
                {f for op, f in blocks if op == "write" and not network["fifos"][f].get("control")}
            )
            if not full:
                return False
            network["fifos"][rng.choice(full)]["depth"] += 1
        else:
            return False
    return True


def full_depths(network: dict) -> dict[str, str]:
    """The claim for each FIFO as deep as all its tokens at the largest sizes."""
    values = {p["name"]: p["max"] for p in network["parameters"]}
    written = [0] * len(network["fifos"])
    for groups in groups_of(network, values, "pipelined"):
        for group in groups:
            for op, fifo in group:
                written[fifo] += op == "write"
    return {
        fifo["name"]: "delay"
        for fifo, tokens in zip(network["fifos"], written, strict=True)
        if not fifo.get("control") and fifo["depth"] > 2 and fifo["depth"] >= tokens
    }


# Conditions on sizes: a writer and a reader of two FIFOs, one of them only where a
# condition holds, in orders that need different depths at different sizes.

Linear = dict[str, int]  # factors of parameters; of "" the constant
SIZES = {"n": (1, 4), "m": (0, 3)}
THRESHOLDS: list[Linear] = [
    {"n": 1, "": -1}, {"n": 1}, {"m": 1}, {"": 1}, {"": 2}, {"m": 1, "": 1}, {"n": 1, "m": 1},
]  # fmt: skip
TRIPS: list[Linear] = [{"n": 1}, {"n": 1, "": 1}, {"n": 1, "m": 1}, {"m": 1, "": 2}]


def spell(expression: Linear) -> str:
    """As a trip count and as a condition."""
    terms = [f"{factor} * {name}" if name else str(factor) for name, factor in expression.items()]
    return " + ".join(terms) or "0"


def without(expression: Linear, other: Linear) -> Linear:
    names = sorted({*expression, *other}, reverse=True)
    found = {name: expression.get(name, 0) - other.get(name, 0) for name in names}
    return {name: factor for name, factor in found.items() if factor}


def gated_network(seed: int) -> tuple[dict, list[dict]]:
    """A network and segments that may prove it, or not."""
    rng = random.Random(seed)
    trip, threshold = rng.choice(TRIPS), rng.choice(THRESHOLDS)
    limit = spell(threshold)
    condition = rng.choice(
        [
            f"i0 < {limit}", f"i0 >= {limit}", f"i0 == {limit}", f"not i0 < {limit}",
            f"i0 <= {limit} and i0 >= 1", f"i0 * 2 < {limit}", "i0 % 2 == 0", "n % 2 == 1",
            f"i0 + 1 == {spell(trip)}", f"n < 3 or i0 < {limit}", f"n > 2 and i0 < {limit} or n <= 2 and i0 >= {limit}",
        ]
    )  # fmt: skip
    rest = without(trip, threshold)

    def parts() -> list[str | dict]:
        last = rng.random() < 0.5
        first = {"keep_last": limit} if last else limit
        return [first, {"keep_last": spell(rest)} if rng.random() < 0.2 else spell(rest)]

    shared = parts() if rng.random() < 0.7 else None
    splits = rng.random() < 0.8
    segments = []
    processes = []
    for name, operation in (("writer", "write"), ("reader", "read")):
        always = {operation: 0}
        sometimes = {"if": condition, "then": [{operation: 1}]}
        bodies = rng.choice(
            [[[always, sometimes]], [[sometimes, always]], [[always], [sometimes]],
             [[sometimes], [always]]]
        )  # fmt: skip
        program = []
        for body in bodies:
            if rng.random() < 0.5:
                program.append({"loop": spell(trip), "overhead": 1, "body": body})
            else:
                stage, late = rng.randint(0, 2), rng.choice(body)
                staged = [
                    node | ({"then": [node["then"][0] | {"stage": stage}]} if "if" in node else
                            {"stage": stage})
                    if node is late else node
                    for node in body
                ]  # fmt: skip
                program.append(
                    {"pipeline": [spell(trip)], "ii": rng.randint(1, 3), "depth": 4, "body": staged}
                )
            program.append({"wait": 1})
            if splits:
                loop = len(program) // 2 - 1
                segments.append({"process": name, "loop": loop, "parts": shared or parts()})
        processes.append({"name": name, "program": program})
    network = {
        "schema": 1,
        "parameters": [{"name": k, "min": low, "max": high} for k, (low, high) in SIZES.items()],
        "processes": processes,
        "fifos": [
            {"name": name, "depth": depth, "producer": "writer", "consumer": "reader"}
            for name, depth in (("always", rng.randint(1, 5)), ("sometimes", rng.randint(1, 4)))
        ],
    }
    return network, segments
