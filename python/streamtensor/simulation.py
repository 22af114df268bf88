"""Timed simulation of compiled designs and models: cycles, what bounds them, resources.

A design is simulated by `streamtensor-sim` on its `network.pn.json`. A language model is the sum
of its launches: all layers (or, of a design of one layer, each of them) and the head once per
step, in the same steps that generation makes.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamtensor.designs import (
    CERTIFICATE,
    MODEL_JSON,
    NETWORK,
    Compiled,
    chunks_of,
    read_json,
    resources_of,
)
from streamtensor.errors import StreamTensorError
from streamtensor.manifest import write_json
from streamtensor.toolchain import run_tool

PHASES = ("prefill", "decode")
COLUMNS = 100


@dataclass(frozen=True)
class Request:
    """What to simulate.

    Of a model, `phase` is prefill (a prompt of `length` tokens) or decode (one token behind
    `length` - 1 others); of a design, `length` is its run-time size where it has exactly one.
    """

    phase: str | None = None
    length: int | None = None
    trace: Path | None = None
    # Parts of the memory's peak at which to simulate again.
    memory_efficiency: tuple[float, ...] = ()
    # Parts of a time line; 0 for none.
    timeline: int = 0


@dataclass(frozen=True)
class Launch:
    """A design that is started `count` times, and what one run of it takes."""

    design: str
    count: int
    run: dict[str, Any]
    clock_ns: float
    # Its run-time sizes.
    values: dict[str, int]

    @property
    def cycles(self) -> int:
        return self.count * self.run["cycles"]

    @property
    def ms(self) -> float:
        return self.cycles * self.clock_ns * 1e-6

    @property
    def bound_ms(self) -> float:
        return self.count * self.run["bound"]["cycles"] * self.clock_ns * 1e-6

    @property
    def memory_bytes(self) -> int:
        return self.count * self.run["memory_bytes"]


def simulate(compiled: Compiled, request: Request) -> dict[str, Any]:
    """Simulates a design or model and returns the figures, all of them simulated."""
    if compiled.is_model:
        return simulate_model(compiled, request)
    directory = compiled.directory
    if request.phase is not None:
        raise StreamTensorError(f"--phase is for models, but '{directory}' is one design")
    values = values_of(read_json(network_of(directory)), request.length)
    launch = simulate_design(directory, 1, request, values)
    return summary([launch], None, compiled)


def values_of(network: dict[str, Any], length: int | None) -> dict[str, int]:
    parameters = network.get("parameters", [])
    if length is None:
        return {}
    if len(parameters) != 1:
        raise StreamTensorError(
            f"--length needs a design with one run-time size, but this one has {len(parameters)}: "
            f"{', '.join(p['name'] for p in parameters) or 'none'}"
        )
    return {parameters[0]["name"]: length}


def simulate_model(compiled: Compiled, request: Request) -> dict[str, Any]:
    directory = compiled.directory
    model = read_json(directory / MODEL_JSON)
    phase = request.phase or "decode"
    if phase not in PHASES:
        raise StreamTensorError(f"expected a phase of {', '.join(PHASES)} but got '{phase}'")
    longest, length = model["max_length"], request.length
    length = length if length is not None else (model["chunk"] if phase == "prefill" else longest)
    if not 1 <= length <= longest:
        raise StreamTensorError(
            f"expected a length from 1 to {longest}, for which the model is compiled, "
            f"but got {length}"
        )
    steps = [(length - 1, 1)]
    if phase == "prefill":
        steps = list(chunks_of(length, model["chunk"]))
    if request.trace is not None and len(steps) > 1:
        raise StreamTensorError(
            f"a trace shows one run of a design, but a prompt of {length} tokens has {len(steps)} "
            f"steps; simulate --phase decode, or a length up to {model['chunk']}"
        )
    layers = len(model["layers"])
    layer = directory / model["layer"]["design"]
    # All layers in one launch, or one launch each.
    repeat = model["layer"].get("layers")
    every, launched = ({repeat: layers}, 1) if repeat else ({}, layers)
    launches = [
        simulate_design(
            layer, launched, request, layer_values(model["layer"], count, position) | every
        )
        for position, count in steps
    ]
    # The trace is the layer's.
    head = dataclasses.replace(request, trace=None)
    launches.append(simulate_design(directory / model["head"]["design"], 1, head))
    figures = summary(launches, length if phase == "prefill" else 1, compiled)
    return {"phase": phase, "length": length, **figures}


def layer_values(layer: dict[str, Any], tokens: int, past: int) -> dict[str, int]:
    """The run-time sizes of a layer's design, which has those that vary."""
    sizes = {layer["tokens"]: tokens, layer["past"]: past}
    return {name: size for name, size in sizes.items() if name is not None}


def network_of(directory: Path) -> Path:
    network = directory / NETWORK
    if not network.is_file():
        raise StreamTensorError(
            f"expected '{network}'; a design has none where it was compiled with an older version, "
            "or does what a network cannot say (the compile then warned)"
        )
    return network


def simulate_design(
    directory: Path, count: int, request: Request, values: dict[str, int] | None = None
) -> Launch:
    network = network_of(directory)
    arguments = [f"--network={network}", "--json", "--explain"]
    if values:
        arguments.append("--values=" + ",".join(f"{name}={n}" for name, n in values.items()))
    if request.trace is not None:
        arguments.append(f"--trace={request.trace}")
    if request.memory_efficiency:
        listed = ",".join(f"{value:g}" for value in request.memory_efficiency)
        arguments.append(f"--memory-efficiency={listed}")
    if request.timeline:
        arguments.append(f"--timeline={request.timeline}")
    run = json.loads(run_tool("streamtensor-sim", arguments))
    return Launch(directory.name, count, run, float(read_json(network)["clock_ns"]), values or {})


def summary(launches: list[Launch], tokens: int | None, compiled: Compiled) -> dict[str, Any]:
    milliseconds = sum(launch.ms for launch in launches)
    # What bounds the launches that take longest.
    longest = max(launches, key=lambda launch: launch.ms)
    cycles = sum(launch.cycles for launch in launches)
    used = sum(launch.run["memory_utilization"] * launch.cycles for launch in launches)
    bound = longest.run["bound"]
    designs = compiled.designs()
    return {
        "cycles": cycles,
        "ms": milliseconds,
        "tokens_per_second": rate(tokens, milliseconds),
        "hbm_bytes": sum(launch.memory_bytes for launch in launches),
        "hbm_utilization": used / cycles if cycles else 0.0,
        "bound_ms": sum(launch.bound_ms for launch in launches),
        "bound_by": f"{bound['kind']} '{bound['by']}' of {longest.design}",
        "bottleneck": {"design": longest.design, **(longest.run["bottleneck"] or {})},
        "time_by_kind": longest.run["time_by_kind"],
        "chain": longest.run["chain"],
        "longest_wait": longest.run["longest_wait"],
        "launches": [
            {"design": launch.design, "count": launch.count, "cycles": launch.run["cycles"]}
            | ({"values": launch.values} if launch.values else {})
            for launch in launches
        ],
        "sensitivity": sensitivity(launches, tokens),
        "certificates": {design.name: check_certificate(design) for design in designs},
        "resources": resources_of(designs),
        "summary": longest.run["summary"],
        "label": "simulated",
    }


def rate(tokens: int | None, milliseconds: float) -> float | None:
    return tokens / milliseconds * 1e3 if tokens and milliseconds else None


def sensitivity(launches: list[Launch], tokens: int | None) -> list[dict[str, Any]]:
    """The sums of all launches at each efficiency of the memory."""
    entries = []
    for runs in zip(*(launch.run.get("sensitivity", []) for launch in launches), strict=True):
        pairs = list(zip(launches, runs, strict=True))
        ms = sum(at.count * run["cycles"] * at.clock_ns for at, run in pairs) * 1e-6
        entries.append(
            {
                "memory_efficiency": runs[0]["memory_efficiency"],
                "cycles": sum(at.count * run["cycles"] for at, run in pairs),
                "ms": ms,
                "tokens_per_second": rate(tokens, ms),
            }
        )
    return entries


def check_certificate(design: Path) -> str:
    """What the checker says of a design's certificate; refusal is an error."""
    if not (design / CERTIFICATE).is_file():
        return "there is none"
    return run_tool("streamtensor-check-certificate", [design]).strip()


def describe(figures: dict[str, Any]) -> str:
    """The figures for people: at most 24 lines of 100 columns."""
    launches = figures["launches"]
    lines = []
    counts: Counter[str] = Counter()
    for run in launches:
        counts[run["design"]] += run["count"]
    if len(launches) > 1:
        tokens = figures["tokens_per_second"]
        speed = f", {tokens:.4g} tokens/s" if tokens else ""
        lines += [
            f"{phase_of(figures)}: {figures['cycles']} cycles, {figures['ms']:.4g} ms{speed} "
            f"(simulated); at least {figures['bound_ms']:.4g} ms",
            ", ".join(f"{count} x {design}" for design, count in counts.items())
            + f"; most of the time in {figures['bottleneck']['design']}, of which one run:",
        ]
    lines += figures["summary"]
    if figures["sensitivity"]:
        lines.append(
            "by memory efficiency (simulated): "
            + ", ".join(
                f"{run['memory_efficiency']:g}: {run['cycles']} cycles"
                for run in figures["sensitivity"]
            )
        )
    messages = figures["certificates"]
    # What the checker says first; the whole is in the figures.
    said = dict.fromkeys(message.split(" with ")[0] for message in messages.values())
    lines.append(f"certificates of {', '.join(messages)}: {'; '.join(said)}")
    used = (
        f"{name} {entry['used']} ({entry['percent']:.0f}%)"
        for name, entry in figures["resources"].items()
    )
    lines.append(f"estimated: {', '.join(used)}")
    return "\n".join(
        line if len(line) <= COLUMNS else line[: COLUMNS - 3] + "..." for line in lines
    )


def phase_of(figures: dict[str, Any]) -> str:
    """What was simulated of a model."""
    if figures["phase"] == "prefill":
        return f"prefill of {figures['length']} tokens"
    return f"decode at position {figures['length']}"


def command_simulate(compiled: Compiled, request: Request, figures_file: Path | None) -> int:
    """Prints the figures, and writes them where that is asked for."""
    figures = simulate(compiled, request)
    if figures_file is not None:
        write_json(figures_file, figures)
    print(describe(figures))
    return 0
