"""Small designs with certificates, and a naive execution to judge them by.

Shares nothing with the checker or the compiler: a program is unrolled into a
list of accesses with their cycles, grouped, and executed one group after the
other. Networks are in the form of docs/process-networks.md.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from pathlib import Path

Values = dict[str, int]


def count(trip: int | str, values: Values) -> int:
    """The value of a trip count."""
    if isinstance(trip, int):
        return trip
    return eval(trip, {"ceildiv": lambda a, b: -(-a // b)}, dict(values))


def holds(condition: str, indices: list[int], values: Values) -> bool:
    """Conditions are Python expressions too, up to the names of division."""
    names = values | {f"i{level}": index for level, index in enumerate(indices)}
    for ours, python in ((r"/", "//"), (r"\bfloordiv\b", "//"), (r"\bmod\b", "%")):
        condition = re.sub(ours, python, condition)
    # a ceildiv b is -(-a // b), which binds as a product does.
    condition = re.sub(r"\bceildiv\b", "@ Up() @", condition)
    return bool(eval(condition, {"Up": Up}, names))


class Up:
    """`a @ Up() @ b` is a / b, rounded up."""

    def __rmatmul__(self, dividend: int) -> Up:
        self.dividend = dividend
        return self

    def __matmul__(self, divisor: int) -> int:
        return -(-self.dividend // divisor)


def timed_accesses(program: list[dict], values: Values) -> list[tuple[int, int, str, int]]:
    """(cycle, number in the text, operation, fifo) of one run of a process."""
    result: list[tuple[int, int, str, int]] = []

    def visit(nodes: list[dict], start: int, indices: list[int], pipelined: bool) -> int:
        now = start
        for node in nodes:
            if "wait" in node:
                now += node["wait"]
            elif "read" in node or "write" in node:
                operation = "read" if "read" in node else "write"
                cycle = now + (node.get("stage", 0) if pipelined else 0)
                result.append((cycle, len(result), operation, node[operation]))
            elif "loop" in node:
                for i in range(count(node["loop"], values)):
                    now = visit(node["body"], now, [*indices, i], False)
                    now += node.get("overhead", 0)
            elif "pipeline" in node:
                trips = [count(trip, values) for trip in node["pipeline"]]
                for n, inner in enumerate(itertools.product(*map(range, trips))):
                    visit(node["body"], now + n * node["ii"], [*indices, *inner], True)
                total = math.prod(trips)
                if total > 0:
                    now += node["ii"] * (total - 1) + node["depth"]
            elif "if" in node:
                is_then = holds(node["if"], indices, values)
                branch = node["then"] if is_then else node.get("else", [])
                now = visit(branch, now, indices, pipelined)
        return now

    visit(program, 0, [], False)
    return result


Groups = list[list[tuple[str, int]]]


def merged_stages(network: dict, stages: list[dict]) -> list[dict]:
    """The stages of a task as one program, without control FIFOs."""

    def without_control(nodes: list[dict]) -> list[dict]:
        kept = []
        for node in nodes:
            fifo = node.get("read", node.get("write"))
            if fifo is not None and network["fifos"][fifo].get("control"):
                continue
            node = dict(node)
            for key in ("body", "then", "else"):
                if key in node:
                    node[key] = without_control(node[key])
            kept.append(node)
        return kept

    programs = [without_control(stage["program"]) for stage in stages]
    splits = [next(i for i, node in enumerate(p) if "loop" in node) for p in programs]
    segments = dict(programs[0][splits[0]])
    segments["body"] = [n for p, at in zip(programs, splits, strict=True) for n in p[at]["body"]]
    return [
        *programs[0][: splits[0]],
        segments,
        *programs[-1][splits[-1] + 1 :],
    ]


def groups_of(network: dict, values: Values, order: str) -> list[Groups]:
    """The accesses that happen at once, for each process."""
    processes = []
    for task, members in itertools.groupby(
        enumerate(network["processes"]), lambda item: item[1].get("stage_of", item[0])
    ):
        stages = [process for _, process in members]
        if order == "program":
            program = stages[0]["program"]
            if isinstance(task, str):
                program = merged_stages(network, stages)
            accesses = timed_accesses(program, values)
            accesses.sort(key=lambda access: access[1])
            processes.append([[(op, fifo)] for _, _, op, fifo in accesses])
            continue
        for stage in stages:
            accesses = sorted(timed_accesses(stage["program"], values))
            processes.append(
                [
                    [(op, fifo) for _, _, op, fifo in group]
                    for _, group in itertools.groupby(accesses, lambda access: access[0])
                ]
            )
    return processes


def find_block(
    network: dict, values: Values, order: str, invocations: int = 3
) -> list[tuple[str, int]] | None:
    """None where all ends and no token is left, else what the others wait for."""
    filled = [fifo.get("initial_tokens", 0) for fifo in network["fifos"]]
    queues = [groups * invocations for groups in groups_of(network, values, order)]
    return find_block_of(network, filled, queues)


def find_block_of(
    network: dict, filled: list[int], queues: list[Groups]
) -> list[tuple[str, int]] | None:
    """The same with so many tokens at first, for processes of these groups."""
    depths = [fifo["depth"] for fifo in network["fifos"]]
    start = list(filled)
    at = [0] * len(queues)
    moved = True
    while moved:
        moved = False
        for index, groups in enumerate(queues):
            while at[index] < len(groups):
                group = groups[at[index]]
                if any(filled[fifo] == (0 if op == "read" else depths[fifo]) for op, fifo in group):
                    break
                for op, fifo in group:
                    filled[fifo] += 1 if op == "write" else -1
                at[index] += 1
                moved = True
    waits = [groups[i] for i, groups in zip(at, queues, strict=True) if i < len(groups)]
    if waits:
        return [
            (op, fifo)
            for group in waits
            for op, fifo in group
            if filled[fifo] == (0 if op == "read" else depths[fifo])
        ]
    return None if filled == start else []


def all_values(parameters: list[dict]) -> list[Values]:
    ranges = [range(p["min"], p["max"] + 1) for p in parameters]
    names = [p["name"] for p in parameters]
    return [dict(zip(names, choice, strict=True)) for choice in itertools.product(*ranges)]


def ends_everywhere(network: dict) -> bool:
    """The claim of a certificate, by trying all of it."""
    return all(
        find_block(network, values, order) is None
        for values in all_values(network["parameters"])
        for order in ("program", "pipelined")
    )


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Design:
    """The files of a design with its certificate, to be changed and written."""

    def __init__(
        self,
        network: dict,
        segments: list[dict] | None = None,
        base_points: list[Values] | None = None,
        full_depths: dict[str, str] | None = None,
    ) -> None:
        self.network = network
        streams = [f for f in network["fifos"] if not f.get("control")]
        self.kernel = "void group0() {\n" + "".join(
            f"  ST_{'FEEDBACK' if f.get('carried') else 'FIFO'}(float, {f['name']}, "
            f"{f['depth']}); // base depth\n"
            for f in streams
        )
        self.kernel += "}\n"
        self.interface = {
            "schema": 1,
            "kernel": "hls/kernel.cpp",
            "parameters": [dict(p) for p in network["parameters"]],
            "fifos": [{"name": f["name"], "depth": f["depth"]} for f in streams],
        }
        if base_points is None:
            base_points = [{p["name"]: p["max"] for p in network["parameters"]}]
        self.certificate = {
            "schema": 1,
            "parameters": [dict(p) for p in network["parameters"]],
            "depths": {f["name"]: f["depth"] for f in network["fifos"]},
            "invocations": 3,
            "deadlock_free": True,
            "orders": ["program", "pipelined"],
            "witness": {"base_points": base_points, "segments": segments or []},
        }
        if full_depths:
            self.certificate["full_depths"] = full_depths

    def write(self, directory: Path, rehash: bool = True) -> Path:
        """Writes the files; `rehash` binds interface and certificate to them."""
        (directory / "hls").mkdir(parents=True, exist_ok=True)
        network = json.dumps(self.network)
        if rehash:
            self.interface["kernel_sha256"] = digest(self.kernel)
            self.certificate["kernel_sha256"] = digest(self.kernel)
            self.certificate["network_sha256"] = digest(network)
        (directory / "hls" / "kernel.cpp").write_text(self.kernel)
        (directory / "network.pn.json").write_text(network)
        (directory / "interface.json").write_text(json.dumps(self.interface))
        (directory / "certificate.json").write_text(json.dumps(self.certificate))
        return directory
