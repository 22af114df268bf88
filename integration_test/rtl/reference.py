"""The rules of docs/process-networks.md, cycle by cycle and as slow as they read.

A third judge beside the Verilog and the simulator: when these two differ, it says who
deviates from the text. It uses nothing of the Verilog but the form of its results.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .schedule import READ, WRITE, Access, Network, start_rules
from .verilog import FifoResult, ProcessResult, Result


@dataclass
class Fifo:
    """A FIFO by the cycles of all its accesses; initial tokens were written long ago."""

    depth: int
    initial_tokens: int
    crossing: int
    written: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    peak: int = 0

    def seen(self, cycles: list[int], now: int) -> int:
        """How many of `cycles` the other end knows of: those before now - crossing."""
        count = len(cycles)
        while count and cycles[count - 1] >= now - self.crossing:
            count -= 1
        return count

    def in_use(self, now: int) -> int:
        """Slots that the writer cannot use."""
        return self.initial_tokens + len(self.written) - self.seen(self.read, now)

    def can(self, op: str, now: int) -> bool:
        if op == READ:
            return self.initial_tokens + self.seen(self.written, now) > len(self.read)
        return self.in_use(now) < self.depth


@dataclass
class Process:
    """The starts and ends of a process so far, and where it stands."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    own_time: int = 0
    held: int = 0
    busy: int = 0
    # Cycles of waits that are over, and of the one that is not.
    waits: dict[str, int] = field(default_factory=lambda: {READ: 0, WRITE: 0})
    waits_now: dict[str, int] = field(default_factory=lambda: {READ: 0, WRITE: 0})

    @property
    def is_running(self) -> bool:
        return len(self.starts) > len(self.ends)


class Reference:
    """Runs a network for some invocations, to its end or until nothing happens."""

    def __init__(self, network: Network, invocations: int) -> None:
        self.network = network
        self.invocations = invocations
        self.fifos = [
            Fifo(
                each["depth"], each["initial_tokens"], each["crossing"], peak=each["initial_tokens"]
            )
            for each in network.fifos
        ]
        self.processes = [Process() for _ in network.processes]
        self.rules = [start_rules(network, index) for index in range(len(self.processes))]
        self.now = 0
        # The last cycle with an access or an end.
        self.last = 0

    def may_start(self, index: int) -> bool:
        """Rules 4 and 5: everything the start waits for was at an earlier cycle."""
        m, rules, now = len(self.processes[index].starts), self.rules[index], self.now

        def was(cycles: list[int], invocation: int) -> bool:
            return invocation < 0 or (len(cycles) > invocation and cycles[invocation] < now)

        others = self.processes
        return (
            m < self.invocations
            and was(others[index].ends, m - 1)
            and all(was(others[p].starts, m) for p in rules.after_start)
            and all(was(others[p].ends, m) for p in rules.after_end)
            and all(was(others[p].ends, m - 2) for p in rules.after_end_before_last)
            and self.is_launched(m)
        )

    def is_launched(self, m: int) -> bool:
        """Whether invocation m may begin as a whole."""
        if m == 0:
            return self.now >= self.network.launch_cycles
        if not self.network.serial:
            return True
        ends = [process.ends[m - 1] for process in self.processes if len(process.ends) >= m]
        everyone = len(ends) == len(self.processes)
        return everyone and self.now > max(ends) + self.network.launch_cycles

    def holds(self, index: int) -> bool:
        """Whether an injected stall keeps a process where it is."""
        process = self.processes[index]
        stall = self.network.processes[index].stalls.get(process.own_time, 0)
        return process.is_running and process.held < stall

    def missing(self, index: int) -> set[Access]:
        """The accesses of this cycle that cannot happen."""
        process = self.processes[index]
        if not process.is_running or self.holds(index):
            return set()
        wanted = self.network.processes[index].events.get(process.own_time, [])
        return {each for each in wanted if not self.fifos[each.fifo].can(each.op, self.now)}

    def advance(self, index: int) -> None:
        """Rules 1 to 3 for a process all of whose accesses can happen."""
        process, model = self.processes[index], self.network.processes[index]
        if process.own_time in model.events or process.own_time == model.latency:
            self.last = self.now
        process.held = 0
        for op in (READ, WRITE):
            process.waits[op] += process.waits_now[op]
            process.waits_now[op] = 0
        for access in model.events.get(process.own_time, []):
            fifo = self.fifos[access.fifo]
            if access.op == WRITE:
                fifo.peak = max(fifo.peak, fifo.in_use(self.now) + 1)
                fifo.written.append(self.now)
            else:
                fifo.read.append(self.now)
        if process.own_time == model.latency:
            process.ends.append(self.now)
            process.own_time = 0
        else:
            process.own_time += 1
            process.busy += 1

    def run(self) -> Result:
        everyone = range(len(self.processes))
        patience = 2 + max((fifo.crossing for fifo in self.fifos), default=0)
        patience += self.network.launch_cycles
        last_active = 0
        while self.now <= last_active + patience:
            starting = [index for index in everyone if self.may_start(index)]
            for index in starting:
                self.processes[index].starts.append(self.now)
            running = [index for index in everyone if self.processes[index].is_running]
            held = [index for index in running if self.holds(index)]
            missing = [self.missing(index) for index in everyone]
            for index in held:
                self.processes[index].held += 1
            for index in [index for index in running if index not in held]:
                if not missing[index]:
                    self.advance(index)
                    last_active = self.now
                else:
                    is_input = any(access.op == READ for access in missing[index])
                    self.processes[index].waits_now[READ if is_input else WRITE] += 1
            if starting or held:
                last_active = self.now
            self.now += 1
        return self.result()

    def result(self) -> Result:
        has_ended = all(len(process.ends) == self.invocations for process in self.processes)
        result = Result(self.last, has_ended)
        for index, process in enumerate(self.processes):
            starts, ends = len(process.starts), len(process.ends)
            counts = (
                process.busy,
                process.waits[READ],
                process.waits[WRITE],
                starts,
                ends,
                process.own_time,
            )
            result.processes.append(ProcessResult(*counts, self.missing(index)))
        for fifo in self.fifos:
            result.fifos.append(FifoResult(fifo.peak, fifo.in_use(self.now)))
        return result
