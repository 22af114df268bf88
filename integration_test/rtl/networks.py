"""Random process networks in the file format of docs/process-networks.md.

A network is drawn in three steps: who is connected to whom, how many tokens each FIFO
carries in an invocation, and when each process makes these accesses. Many of them stall,
and a good part deadlocks; the rules of the format hold in all of them.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from math import prod

from .schedule import READ, WRITE, Json

SHAPES = ("chain", "fork", "join", "diamond", "mesh")
STYLES = ("pipelines", "pipelines", "rates", "wild")


@dataclass
class Port:
    """One end of a FIFO, as its process sees it."""

    fifo: int
    op: str
    tokens: int


@dataclass
class Draft:
    """A network before its processes have a time."""

    names: list[str]
    fifos: list[Json] = field(default_factory=list)
    pipos: list[Json] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    parameters: list[Json] = field(default_factory=list)

    def ports(self, name: str) -> list[Port]:
        return [
            Port(index, op, self.tokens[index])
            for index, fifo in enumerate(self.fifos)
            for op, end in ((READ, "consumer"), (WRITE, "producer"))
            if fifo[end] == name
        ]


@dataclass(frozen=True)
class Size:
    """The deepest FIFO, and about how many tokens it carries in an invocation."""

    depth: int
    tokens: int


SHALLOW, DEEP = Size(8, 24), Size(120, 200)


def random_network(seed: int, size: Size = SHALLOW) -> Json:
    """A network of 2 to 8 processes; the same seed gives the same network."""
    rng = random.Random(f"process network {seed} {size.depth}")
    style = rng.choice(STYLES)
    draft = draw_connections(size, rng)
    draw_tokens(draft, style, size, rng)
    draw_depths(draft, size, rng)
    programs = rng.choice((0, 0, 0.5, 1))
    processes = []
    for name in draft.names:
        ports = draft.ports(name)
        rng.shuffle(ports)
        is_program = rng.random() < programs
        draw = draw_program if is_program else draw_wild if style == "wild" else draw_pipeline
        processes.append({"name": name} | draw(draft, ports, rng))
    rng.shuffle(processes)
    stalls = [
        {"process": rng.choice(draft.names), "at": rng.randint(0, 20), "cycles": rng.randint(0, 30)}
        for _ in range(rng.choice((0, 0, 0, 0, 1, 3)))
    ]
    return {
        "schema": 1,
        "design": f"random {seed}, {style}",
        "parameters": draft.parameters,
        "processes": processes,
        "fifos": draft.fifos,
        "pipos": draft.pipos,
        "serial_invocations": rng.random() < 0.12,
        "launch_cycles": rng.choice((0, 0, 0, 0, rng.randint(1, 20))),
        "stalls": stalls,
    }


# Who is connected to whom.


def draw_connections(size: Size, rng: random.Random) -> Draft:
    """Processes in an order, FIFOs along it, and FIFOs with initial tokens against it."""
    count = rng.randint(2, 8)
    draft = Draft([f"p{index}" for index in range(count)])
    for first, second in shape_edges(rng.choice(SHAPES), count, rng):
        for _ in range(1 if rng.random() < 0.85 else 2):
            add_fifo(draft, first, second, 0)
    if rng.random() < 0.4:
        first, second = sorted(rng.sample(range(count), 2))
        add_fifo(draft, second, first, rng.randint(1, size.depth))
    if rng.random() < 0.2:
        process = rng.randrange(count)
        add_fifo(draft, process, process, rng.randint(1, size.depth // 2))
    if rng.random() < 0.2:
        first, second = sorted(rng.sample(range(count), 2))
        add_fifo(draft, first, second, rng.randint(1, 3))
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        first, second = sorted(rng.sample(range(count), 2))
        ends = {"producer": draft.names[first], "consumer": draft.names[second]}
        draft.pipos.append({"name": f"array{len(draft.pipos)}"} | ends)
    if rng.random() < 0.1:
        draft.names.append("alone")
    return draft


def shape_edges(shape: str, count: int, rng: random.Random) -> list[tuple[int, int]]:
    last = count - 1
    if count == 2 or shape == "chain":
        edges = [(index, index + 1) for index in range(last)]
        if count > 2 and rng.random() < 0.4:
            edges.append((0, last))
        return edges
    if shape == "fork":
        return [(rng.randrange((index + 1) // 2), index) for index in range(1, count)]
    if shape == "join":
        return [
            (index, rng.randrange(index + 1 + (last - index) // 2, count)) for index in range(last)
        ]
    if shape == "diamond":
        # Two branches, of any lengths.
        cut = rng.randint(1, last - 1)
        branches = [0, *range(1, cut), last], [0, *range(cut, last), last]
        return [edge for branch in branches for edge in itertools.pairwise(branch)]
    edges = [(rng.randrange(index), index) for index in range(1, count)]
    more = [sorted(rng.sample(range(count), 2)) for _ in range(rng.randint(1, 4))]
    return edges + [(first, second) for first, second in more]


def add_fifo(draft: Draft, producer: int, consumer: int, initial_tokens: int) -> None:
    fifo = {"producer": draft.names[producer], "consumer": draft.names[consumer]}
    if initial_tokens:
        fifo["initial_tokens"] = initial_tokens
    draft.fifos.append({"name": f"f{len(draft.fifos)}"} | fifo)


# How many tokens, and how many slots.


def draw_tokens(draft: Draft, style: str, size: Size, rng: random.Random) -> None:
    base = rng.randint(2, size.tokens)
    for _ in draft.fifos:
        tokens = base
        if style == "rates":
            tokens = rng.choice((base, base, 2 * base, 1, rng.randint(1, size.tokens)))
        elif style == "wild":
            tokens = rng.randint(1, size.tokens // 2)
        draft.tokens.append(0 if rng.random() < 0.04 else tokens)


def draw_depths(draft: Draft, size: Size, rng: random.Random) -> None:
    shallowest = rng.choice((1, 1, 2, 4))
    crossings = rng.random() < 0.3
    for fifo in draft.fifos:
        fifo["depth"] = max(rng.randint(shallowest, size.depth), fifo.get("initial_tokens", 0))
        if crossings and rng.random() < 0.5:
            fifo["crossing"] = rng.randint(1, 3)
        if rng.random() < 0.1:
            fifo["lanes"] = rng.randint(2, 4)


# When: processes given by cycles.


def draw_pipeline(_draft: Draft, ports: list[Port], rng: random.Random) -> Json:
    """Iterations in bursts; reads early in an iteration, writes late in it."""
    iterations = max((port.tokens for port in ports), default=rng.randint(0, 12))
    burst = rng.choice((iterations, iterations, rng.randint(1, max(1, iterations))))
    ii, depth = rng.choice((1, 1, 2, 3, 5)), rng.choice((2, 3, 4, rng.randint(2, 20)))
    gap, begin = rng.choice((1, rng.randint(1, 12))), rng.choice((0, 1, rng.randint(0, 20)))
    starts = [begin + i * ii + i // max(1, burst) * gap for i in range(iterations)]
    accesses = []
    for port in ports:
        stage = 0 if port.op == READ else depth - 2
        if rng.random() < 0.15:
            stage = rng.randrange(depth)
        chosen = choose(range(iterations), port.tokens, rng)
        accesses.append(port_accesses(port, [starts[i] + stage for i in chosen], rng))
    latency = (starts[-1] if starts else begin) + depth + rng.choice((-1, 0, 0, 0, 3))
    return {"latency": max(latency, 1), "accesses": accesses}


def draw_wild(_draft: Draft, ports: list[Port], rng: random.Random) -> Json:
    """Accesses at any cycles, often several in one."""
    most = max((port.tokens for port in ports), default=0)
    pool = sorted(rng.sample(range(4 * most + 8), most + rng.randint(0, most + 4)))
    accesses, last = [], 0
    for port in ports:
        chosen = sorted(rng.sample(pool, port.tokens))
        last = max([last, *chosen])
        accesses.append(port_accesses(port, chosen, rng))
    return {"latency": max(last + rng.choice((0, 1, 1, 2, 10)), 1), "accesses": accesses}


def choose(iterations: range, tokens: int, rng: random.Random) -> list[int]:
    """Which iterations access a FIFO that has fewer tokens than there are iterations."""
    total = len(iterations)
    if tokens == 0:
        return []
    return rng.choice(
        (
            [i * total // tokens for i in range(tokens)],
            list(iterations[:tokens]),
            list(iterations[total - tokens :]),
        )
    )


def port_accesses(port: Port, cycles: list[int], rng: random.Random) -> Json:
    fifo = f"f{port.fifo}" if rng.random() < 0.3 else port.fifo
    return {"fifo": fifo, "op": port.op, "at": compressed(cycles, rng.randint(2, 3))}


def compressed(cycles: list[int], levels: int) -> list[list[int]]:
    """An `at` list of these cycles, which must be sorted, with `levels` pairs in each entry."""
    entries = [[cycle] for cycle in cycles]
    for _ in range(levels):
        merged: list[list[int]] = []
        for first, *pairs in entries:
            if merged and merged[-1][1:-2] == pairs:
                start, *_, step, count = merged[-1]
                if count == 1:
                    step = first - start
                if first == start + count * step:
                    merged[-1][-2:] = [step, count + 1]
                    continue
            merged.append([first, *pairs, 0, 1])
        entries = merged
    return entries


# When: processes given by a program.


def draw_program(draft: Draft, ports: list[Port], rng: random.Random) -> Json:
    """Phases of loops and pipelines, each with some of the ports in it."""
    phases = [ports]
    if rng.random() < 0.25:
        phases = [[port for port in ports if port.op == op] for op in (READ, WRITE)]
    nodes: list[Json] = []
    for phase in phases:
        if rng.random() < 0.7:
            nodes.append({"wait": rng.randint(1, 6)})
        iterations = max((port.tokens for port in phase), default=rng.randint(0, 6))
        nodes += draw_level(draft, phase, draw_trips(iterations, rng), 0, rng)
    if rng.random() < 0.5:
        nodes.append({"wait": rng.randint(1, 5)})
    return {"program": nodes or [{"wait": 1}]}


def draw_trips(iterations: int, rng: random.Random) -> list[int]:
    """The trips of a nest of 1 to 3 loops with at least so many iterations."""
    trips: list[int] = []
    for _ in range(rng.choice((0, 1, 1, 2))):
        trips.append(rng.randint(1, max(1, iterations)))
        iterations = -(-iterations // trips[-1])
    return [*trips, iterations]


def draw_level(
    draft: Draft, ports: list[Port], trips: list[int], level: int, rng: random.Random
) -> list[Json]:
    """What stands in the loops trips[:level] of a nest, and accesses these ports."""
    if level == len(trips):
        body = [guarded(draft, port, trips, {}, rng) for port in ports]
        body.insert(rng.randint(0, len(body)), {"wait": rng.randint(1, 3)})
        return body
    if rng.random() < 0.5:
        return draw_pipelines(draft, ports, trips, level, rng)
    around = trips[: level + 1]
    sparse = [port for port in ports if port.tokens <= prod(around) and rng.random() < 0.4]
    dense = [port for port in ports if port not in sparse]
    body = [guarded(draft, port, around, {}, rng) for port in sparse]
    at = rng.randint(0, len(body))
    body[at:at] = draw_level(draft, dense, trips, level + 1, rng)
    if rng.random() < 0.3:
        loop = {"loop": rng.randint(0, 2), "body": [{"wait": 1}], "overhead": 1}
        branches = {"then": [{"wait": rng.randint(1, 4)}], "else": [loop]}
        body.insert(rng.randint(0, len(body)), {"if": f"i{level} % 2 == 0"} | branches)
    # An iteration takes time, so that no access is twice in one cycle.
    overhead = rng.randint(1, 3) if sparse else rng.choice((0, 0, 1, 4))
    loop = {"loop": trip(draft, trips[level], rng), "body": body}
    return [loop | {"overhead": overhead} if overhead else loop]


def draw_pipelines(
    draft: Draft, ports: list[Port], trips: list[int], level: int, rng: random.Random
) -> list[Json]:
    """One pipeline of the loops trips[level:], or one for some of the ports and one for others."""
    groups = [ports]
    if len(ports) > 1 and rng.random() < 0.25:
        cut = rng.randint(1, len(ports) - 1)
        groups = [ports[:cut], ports[cut:]]
    nodes = []
    for group in groups:
        depth = rng.choice((2, 3, 4, rng.randint(2, 16)))
        body = []
        for port in group:
            stage = 0 if port.op == READ else depth - 2
            if rng.random() < 0.15:
                stage = rng.randrange(depth)
            body.append(guarded(draft, port, trips, {"stage": stage}, rng))
        own = [trip(draft, count, rng) for count in trips[level:]]
        ii = rng.choice((1, 1, 2, 3, 5))
        nodes.append({"pipeline": own, "ii": ii, "depth": depth, "body": body})
    return nodes


def guarded(draft: Draft, port: Port, trips: list[int], stage: Json, rng: random.Random) -> Json:
    """An access in exactly `port.tokens` of the iterations of a nest of these trips."""
    access = {port.op: f"f{port.fifo}" if rng.random() < 0.3 else port.fifo} | stage
    total, tokens = prod(trips), port.tokens
    if total == tokens:
        return access
    number = "i0"
    for level, count in enumerate(trips[1:], 1):
        number = f"({number}) * {count} + i{level}"
    limit = number_of(draft, tokens, rng)
    choices = [
        (f"{number} < {limit}", True),
        (f"{total} - {limit} <= {number}", True),
        (f"{number} >= {limit}", False),
        (f"not ({number} >= {limit}) and i0 >= 0 or {number} == -1", True),
    ]
    if tokens and total % tokens == 0:
        step = total // tokens
        choices.append((f"({number}) % {step} == {rng.randrange(step)}", True))
        choices.append((f"({number}) / {step} * {step} != {number}", False))
    condition, is_then = rng.choice(choices)
    then, otherwise = ([access], []) if is_then else ([], [access])
    return {"if": condition, "then": then, "else": otherwise}


def number_of(draft: Draft, count: int, rng: random.Random) -> str:
    """A number of a condition that is `count` where each parameter has its maximum."""
    if rng.random() < 0.7:
        return str(count)
    name = f"n{len(draft.parameters)}"
    text, most = rng.choice(
        ((name, count), (f"({name} - 2)", count + 2), (f"{name} / 3", 3 * count))
    )
    draft.parameters.append({"name": name, "min": most, "max": most})
    return text


def trip(draft: Draft, count: int, rng: random.Random) -> int | str:
    """A trip count that is `count` where each parameter has its maximum."""
    if count < 1 or rng.random() < 0.7:
        return count
    name = f"n{len(draft.parameters)}"
    text, most = rng.choice(
        (
            (name, count),
            (f"ceildiv({name}, 4)", 4 * count - 1),
            (f"{count % 3} + 3 * {name}", count // 3),
        )
    )
    draft.parameters.append({"name": name, "min": most, "max": most})
    return text
