"""Reads networks of docs/process-networks.md: at which own time a process accesses what."""

from __future__ import annotations

import ast
import itertools
import operator
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

Json = dict
READ, WRITE = "read", "write"

OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.And: lambda left, right: left and right,
    ast.Or: lambda left, right: left or right,
    ast.Not: operator.not_,
    ast.USub: operator.neg,
}


class Expression:
    """A condition over iteration numbers, or a trip count over parameters."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text, mode="eval").body

    def value(self, names: dict[str, int]) -> int:
        return self._value(self.tree, names)

    def _value(self, tree: ast.expr, names: dict[str, int]) -> int:
        match tree:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name):
                return names[name]
            case ast.BinOp(left=left, op=op, right=right):
                return OPERATORS[type(op)](self._value(left, names), self._value(right, names))
            case ast.UnaryOp(op=op, operand=operand):
                return OPERATORS[type(op)](self._value(operand, names))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return OPERATORS[type(op)](self._value(left, names), self._value(right, names))
            case ast.BoolOp(op=op, values=[first, *rest]):
                value = self._value(first, names)
                for operand in rest:
                    value = OPERATORS[type(op)](value, self._value(operand, names))
                return value
            case ast.Call(func=ast.Name(id="ceildiv"), args=[left, right]):
                return -(-self._value(left, names) // self._value(right, names))
        raise ValueError(f"expected an expression but got '{ast.unparse(tree)}'")


@dataclass(frozen=True)
class Access:
    """One end of a FIFO."""

    fifo: int
    op: str


class Program:
    """Executes a process's program in own time.

    Collects the accesses with their times in program order; `time` is its latency.
    """

    def __init__(
        self, nodes: list[Json], fifo_index: dict[str, int], parameters: dict[str, int]
    ) -> None:
        self.fifo_index = fifo_index
        self.parameters = parameters
        self.time = 0
        self.accesses: list[tuple[int, Access]] = []
        self.iterations: list[int] = []
        self.expressions: dict[str, Expression] = {}
        self._run(nodes)

    def _evaluate(self, text: str, names: dict[str, int]) -> int:
        if text not in self.expressions:
            self.expressions[text] = Expression(text)
        return self.expressions[text].value(names)

    def _trip(self, trip: int | str) -> int:
        return trip if isinstance(trip, int) else self._evaluate(trip, self.parameters)

    def _access(self, node: Json, time: int) -> None:
        op = READ if READ in node else WRITE
        fifo = node[op]
        if isinstance(fifo, str):
            fifo = self.fifo_index[fifo]
        self.accesses.append((time, Access(fifo, op)))

    def _chosen(self, node: Json) -> list[Json]:
        names = self.parameters | {f"i{level}": n for level, n in enumerate(self.iterations)}
        return node["then"] if self._evaluate(node["if"], names) else node.get("else", [])

    def _run(self, nodes: list[Json]) -> None:
        for node in nodes:
            if "wait" in node:
                self.time += node["wait"]
            elif "loop" in node:
                for number in range(self._trip(node["loop"])):
                    self.iterations.append(number)
                    self._run(node["body"])
                    self.iterations.pop()
                    self.time += node.get("overhead", 0)
            elif "pipeline" in node:
                self._run_pipeline(node)
            elif "if" in node:
                self._run(self._chosen(node))
            else:
                self._access(node, self.time)

    def _run_pipeline(self, node: Json) -> None:
        trips = [self._trip(trip) for trip in node["pipeline"]]
        begin, outer = self.time, self.iterations
        for count, numbers in enumerate(itertools.product(*map(range, trips))):
            self.iterations = [*outer, *numbers]
            self._run_iteration(node["body"], begin + count * node["ii"])
        self.iterations = outer
        if prod(trips) > 0:
            self.time = begin + node["ii"] * (prod(trips) - 1) + node["depth"]

    def _run_iteration(self, body: list[Json], begin: int) -> None:
        for node in body:
            if "if" in node:
                self._run_iteration(self._chosen(node), begin)
            else:
                self._access(node, begin + node.get("stage", 0))


def times(at: list[list[int]]) -> Iterator[int]:
    """The cycles of an `at` list: entries of a first cycle and pairs of step and count."""
    for first, *pairs in at:
        levels = zip(pairs[::2], pairs[1::2], strict=True)
        steps = [range(0, step * count, step) if step else [0] * count for step, count in levels]
        for offsets in itertools.product(*steps):
            yield first + sum(offsets)


@dataclass
class Process:
    """What a process does: at `events[t]` all its accesses of own time t.

    Before, it stands still for `stalls[t]` cycles.
    """

    name: str
    latency: int
    events: dict[int, list[Access]]
    stalls: dict[int, int] = field(default_factory=dict)


class Network:
    """A network as the generator of Verilog and the reference need it."""

    def __init__(self, json: Json) -> None:
        self.json = json
        self.fifos: list[Json] = [
            {"initial_tokens": 0, "crossing": 0, "name": str(index)} | fifo
            for index, fifo in enumerate(json["fifos"])
        ]
        self.serial = json.get("serial_invocations", False)
        self.launch_cycles = json.get("launch_cycles", 0)
        self.fifo_index = {fifo["name"]: index for index, fifo in enumerate(self.fifos)}
        self.parameters = {each["name"]: each["max"] for each in json.get("parameters", [])}
        self.processes = [self._process(each) for each in json["processes"]]
        self.index = {process.name: index for index, process in enumerate(self.processes)}
        for stall in json.get("stalls", []):
            stalls = self.processes[self.index[stall["process"]]].stalls
            stalls[stall["at"]] = stalls.get(stall["at"], 0) + stall["cycles"]
        self._check()

    def _process(self, json: Json) -> Process:
        if "program" in json:
            program = Program(json["program"], self.fifo_index, self.parameters)
            latency, accesses = program.time, program.accesses
        else:
            latency = json["latency"]
            accesses = [
                (t, Access(self.fifo_index.get(each["fifo"], each["fifo"]), each["op"]))
                for each in json["accesses"]
                for t in times(each["at"])
            ]
        events = defaultdict(list)
        for t, access in accesses:
            events[t].append(access)
        return Process(json["name"], latency, dict(sorted(events.items())))

    def ends(self, name: str) -> list[int]:
        """The processes at FIFOs' or ping-pong arrays' end `name`, FIFOs first."""
        return [self.index[each[name]] for each in [*self.fifos, *self.json.get("pipos", [])]]

    def _check(self) -> None:
        """Refuses what the rules refuse, as far as generators of tests go wrong in it."""
        counts = {READ: [0] * len(self.fifos), WRITE: [0] * len(self.fifos)}
        for process in self.processes:
            for t, accesses in process.events.items():
                if not 0 <= t <= process.latency:
                    raise ValueError(f"'{process.name}' has an access outside of its time, at {t}")
                if len(set(accesses)) < len(accesses):
                    raise ValueError(f"'{process.name}' accesses a FIFO twice at {t}")
                for access in accesses:
                    end = "consumer" if access.op == READ else "producer"
                    if self.fifos[access.fifo][end] != process.name:
                        raise ValueError(f"'{process.name}' is not at this end of {access}")
                    counts[access.op][access.fifo] += 1
        if counts[READ] != counts[WRITE]:
            raise ValueError(f"expected as many reads as writes but got {counts}")


@dataclass
class StartRules:
    """Whose starts and ends a process waits for (rule 4), as indices of processes.

    In invocation m: starts in m, ends in m, ends in m - 2.
    """

    after_start: set[int]
    after_end: set[int]
    after_end_before_last: set[int]


def start_rules(network: Network, process: int) -> StartRules:
    producers, consumers = network.ends("producer"), network.ends("consumer")
    fifos = range(len(network.fifos))
    arrays = range(len(network.fifos), len(producers))
    return StartRules(
        {
            producers[f]
            for f in fifos
            if consumers[f] == process != producers[f] and not network.fifos[f]["initial_tokens"]
        },
        {producers[a] for a in arrays if consumers[a] == process},
        {consumers[a] for a in arrays if producers[a] == process},
    )


def processes_waited_for(
    network: Network, process: int, started: Sequence[int], ended: Sequence[int]
) -> list[int]:
    """For whom a process waits that has not started its next invocation."""
    rules, m = start_rules(network, process), started[process]
    return [
        *(p for p in rules.after_start if started[p] <= m),
        *(p for p in rules.after_end if ended[p] <= m),
        *(p for p in rules.after_end_before_last if ended[p] + 1 < m),
        *(p for p in range(len(network.processes)) if network.serial and ended[p] < m),
    ]
