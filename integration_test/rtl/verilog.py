"""Verilog of process networks, and its simulation in Verilator.

A network becomes a module that connects instances of `process.v` and `fifo.v`; its
starts (rule 4) are the only logic of its own. The accesses of the processes are data, a
table that the top module reads when it starts, so that one build of Verilator, with few
different modules in it, simulates hundreds of networks side by side. Clock and reset are
read from the top module, for ports would give each instance a clock of its own.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .schedule import READ, WRITE, Access, Json, Network, Process, start_rules

HERE = Path(__file__).resolve().parent
SOURCES = ("fifo.v", "process.v", "launch.v", "monitor.v")
# An own time that comes after all others, and bits of a row of the table.
NEVER, TIME_BITS, STALL_BITS, PORTS = 0xFFFFFFFF, 32, 16, 16

# A model that is built quickly, since it runs for a few thousand cycles only. Gate
# optimization would copy the constants of an instance into its module's functions, which
# then differ from those of the other instances; without it each exists once.
OPTIONS = (
    *("-fno-gate", "--output-split", "0", "--x-assign", "fast"),
    *("+1364-2005ext+v", "-Wno-DECLFILENAME", "-Wno-UNUSEDSIGNAL"),
)

MAIN = """\
#include "Vtop.h"
#include "verilated.h"
#include <memory>

int main(int argc, char **argv) {
  auto context = std::make_unique<VerilatedContext>();
  context->commandArgs(argc, argv);
  auto top = std::make_unique<Vtop>(context.get());
  top->reset = 1;
  while (!context->gotFinish()) {
    top->clock = 0;
    top->eval();
    top->clock = 1;
    top->eval();
    top->reset = 0;
  }
  top->final();
  return 0;
}
"""


@dataclass(frozen=True)
class Case:
    """A network and how often it runs."""

    network: Network
    invocations: int


@dataclass
class ProcessResult:
    """What a process did; `missing` are the accesses it waits for in the end.

    `busy` counts the own time of all invocations, also of one that never ends.
    """

    busy: int
    wait_input: int
    wait_output: int
    started: int
    ended: int
    own_time: int
    missing: set[Access]


@dataclass
class FifoResult:
    peak: int
    fill: int


@dataclass
class Result:
    """How a network ended; `last` is the last cycle with an access or an end."""

    last: int
    has_ended: bool
    processes: list[ProcessResult] = field(default_factory=list)
    fifos: list[FifoResult] = field(default_factory=list)

    @property
    def cycles(self) -> int:
        """Rule 6."""
        return max(0, self.last - 1)


class Generator:
    """Writes the Verilog of cases, and the table of their accesses."""

    def __init__(self, cases: list[Case]) -> None:
        self.cases = cases
        self.rows: list[int] = []
        self.ports: list[list[list[Access]]] = []
        self.modules = [self._network(number, case) for number, case in enumerate(cases)]

    def table(self) -> str:
        return "".join(f"{row:016x}\n" for row in self.rows)

    def text(self) -> str:
        count = len(self.cases)
        instances = "\n".join(
            f"  network_{number} n{number} (.finished(finished[{number}]));"
            for number in range(count)
        )
        top = f"""\
module top (
    input wire clock,
    input wire reset
);
  reg [{TIME_BITS + STALL_BITS + PORTS - 1}:0] table_rows[0:{len(self.rows) - 1}];
  initial $readmemh("table.hex", table_rows);
  wire [{count - 1}:0] finished;
{instances}
  always @(posedge clock) if (!reset && &finished) $finish;
endmodule
"""
        return "\n".join([*self.modules, top])

    def _add_rows(self, process: Process, ports: list[Access]) -> int:
        """Adds a process to the table and returns its first row."""
        first = len(self.rows)
        for t in sorted({*process.events, *process.stalls}):
            mask = sum(1 << ports.index(access) for access in process.events.get(t, []))
            self.rows.append((t << STALL_BITS | process.stalls.get(t, 0)) << PORTS | mask)
        self.rows.append(NEVER << STALL_BITS + PORTS)
        return first

    def _network(self, number: int, case: Case) -> str:
        network = case.network
        processes, fifos = range(len(network.processes)), range(len(network.fifos))
        ports = [ports_of(process) for process in network.processes]
        self.ports.append(ports)
        # What drives the ends of each FIFO.
        ends = {
            access: f"p{p}_access[{bit}]" for p in processes for bit, access in enumerate(ports[p])
        }
        all_ended = " && ".join(f"p{p}_ended == {case.invocations}" for p in processes)
        return "\n".join(
            [
                f"module network_{number} (",
                "    output wire finished",
                ");",
                "  wire report;",
                f"  wire [{len(processes) - 1}:0] active, notable;",
                *(f"  wire [{PORTS - 1}:0] p{p}_access;" for p in processes),
                *(f"  wire [31:0] p{p}_started, p{p}_ended;" for p in processes),
                *(f"  wire f{f}_not_full, f{f}_not_empty;" for f in fifos),
                *launch_instance(network),
                *(self._process(number, case, p, ports[p]) for p in processes),
                *(fifo_instance(number, f, network.fifos[f], ends) for f in fifos),
                "  monitor m (",
                f"      .network({number}), .patience({patience(network)}),",
                "      .any_active(active != 0), .any_notable(notable != 0),",
                f"      .all_ended({all_ended}),",
                "      .report(report), .finished(finished));",
                "endmodule\n",
            ]
        )

    def _process(self, number: int, case: Case, p: int, ports: list[Access]) -> str:
        process = case.network.processes[p]
        is_read = sum(1 << bit for bit, access in enumerate(ports) if access.op == READ)
        unused = PORTS - len(ports)
        ready = [f"{unused}'b0"] if unused else []
        for access in reversed(ports):
            ready.append(f"f{access.fifo}_{'not_empty' if access.op == READ else 'not_full'}")
        return f"""\
  process p{p} (
      .network({number}), .index({p}), .invocations({case.invocations}),
      .latency({process.latency}), .first_row({self._add_rows(process, ports)}),
      .is_read({PORTS}'d{is_read}), .may_start({may_start(case.network, p)}),
      .ready({{{", ".join(ready)}}}), .access(p{p}_access),
      .started(p{p}_started), .ended(p{p}_ended),
      .active(active[{p}]), .notable(notable[{p}]), .report(report));"""


def ports_of(process: Process) -> list[Access]:
    """The ends of FIFOs that a process accesses, bit 0 first."""
    accesses = {access for group in process.events.values() for access in group}
    if len(accesses) > PORTS:
        raise ValueError(f"expected at most {PORTS} ports but got {len(accesses)}")
    return sorted(accesses, key=lambda access: (access.fifo, access.op))


def patience(network: Network) -> int:
    """More cycles than anything can be under way for."""
    return 4 + network.launch_cycles + max((f["crossing"] for f in network.fifos), default=0)


def fifo_instance(number: int, f: int, fifo: Json, ends: dict[Access, str]) -> str:
    write, read = (ends.get(Access(f, op), "1'b0") for op in (WRITE, READ))
    return f"""\
  fifo f{f} (
      .network({number}), .index({f}), .depth({fifo["depth"]}),
      .initial_tokens({fifo["initial_tokens"]}), .crossing({fifo["crossing"]}),
      .write({write}), .not_full(f{f}_not_full),
      .read({read}), .not_empty(f{f}_not_empty), .report(report));"""


def needs_launch(network: Network) -> bool:
    return network.serial or network.launch_cycles > 0


def launch_instance(network: Network) -> list[str]:
    """The lines that let serial invocations begin, or the first one later than at once."""
    if not needs_launch(network):
        return []
    all_ended = " && ".join(f"p{p}_ended >= launched_before" for p in range(len(network.processes)))
    return [
        "  wire [31:0] launched_before, launched;",
        f"  launch l (.delay({network.launch_cycles}), .all_ended({all_ended}),",
        "      .launched_before(launched_before), .launched(launched));",
    ]


def may_start(network: Network, process: int) -> str:
    """Rules 4 and 5 in numbers of starts and ends of earlier cycles."""
    rules = start_rules(network, process)
    own = f"p{process}_started"
    terms = [
        *(f"p{p}_started > {own}" for p in sorted(rules.after_start)),
        *(f"p{p}_ended > {own}" for p in sorted(rules.after_end)),
        *(f"p{p}_ended + 1 >= {own}" for p in sorted(rules.after_end_before_last)),
    ]
    if needs_launch(network):
        terms.append(f"launched > {own if network.serial else '0'}")
    return " && ".join(terms) or "1'b1"


def run_tool(command: list[str], directory: Path) -> str:
    """Returns what a program prints, which must succeed."""
    run = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        raise RuntimeError(f"{command[0]} failed:\n{run.stdout[-4000:]}{run.stderr[-4000:]}")
    return run.stdout


def simulate(cases: list[Case], directory: Path) -> list[Result]:
    """Builds one Verilator model of all cases in `directory` and runs it."""
    generator = Generator(cases)
    (directory / "networks.v").write_text(generator.text())
    (directory / "table.hex").write_text(generator.table())
    (directory / "main.cpp").write_text(MAIN)
    verilate = ["verilator", "--cc", "--exe", "--top-module", "top", "-Wall", *OPTIONS]
    sources = [*(str(HERE / source) for source in SOURCES), "networks.v", "main.cpp"]
    run_tool([*verilate, *sources, "--Mdir", "obj"], directory)
    make = ["make", "--jobs=2", "-C", "obj", "-f", "Vtop.mk", "OPT_FAST=-O0", "OPT_GLOBAL=-O0"]
    run_tool([*make, f"OBJCACHE={shutil.which('ccache') or ''}"], directory)
    report = run_tool([str(directory / "obj" / "Vtop")], directory)
    return read_report(report, generator)


def read_report(text: str, generator: Generator) -> list[Result]:
    """Reads the lines that start with "#"."""
    rows: dict[str, dict[tuple[int, ...], list[str]]] = {"network": {}, "process": {}, "fifo": {}}
    for line in text.splitlines():
        if line.startswith("#"):
            kind, *words = line[1:].split()
            place = 1 if kind == "network" else 2
            rows[kind][tuple(map(int, words[:place]))] = words[place:]
    results = []
    for number, case in enumerate(generator.cases):
        last, has_ended = map(int, rows["network"][(number,)])
        result = Result(last, bool(has_ended))
        for p, ports in enumerate(generator.ports[number]):
            *words, missing = rows["process"][number, p]
            bits = {ports[bit] for bit, value in enumerate(reversed(missing)) if value == "1"}
            result.processes.append(ProcessResult(*map(int, words), bits))
        for f in range(len(case.network.fifos)):
            result.fifos.append(FifoResult(*map(int, rows["fifo"][number, f])))
        results.append(result)
    return results
