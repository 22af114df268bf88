"""Timed simulation of compiled designs and models: cycles, what bounds them, resources.

A design is simulated by `streamtensor-sim` on its `network.pn.json`. A language model is the sum
of its launches: each layer and the head once per step, in the same steps that generation makes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamtensor.errors import StreamTensorError
from streamtensor.manifest import write_json
from streamtensor.models.compiler import MODEL_JSON
from streamtensor.toolchain import run_tool

NETWORK = "network.pn.json"
REPORT = "report.json"
CERTIFICATE = "certificate.json"
RESOURCES = ("dsp", "lut", "ff", "bram36", "uram")


@dataclass(frozen=True)
class Launch:
    """A design that is started `count` times, and what one run of it takes."""

    design: str
    count: int
    run: dict[str, Any]
    clock_ns: float

    @property
    def cycles(self) -> int:
        return self.count * self.run["cycles"]

    @property
    def bound_cycles(self) -> int:
        return self.count * self.run["bound"]["cycles"]

    @property
    def memory_bytes(self) -> int:
        return self.count * self.run["memory_bytes"]


def simulate(
    directory: Path, phase: str | None = None, length: int | None = None, trace: Path | None = None
) -> dict[str, Any]:
    """Simulates what `directory` holds and returns the figures, all of them simulated.

    Of a model, `phase` is prefill (a prompt of `length` tokens) or decode (one token behind
    `length` - 1 others); of a design, `length` is its run-time size where it has exactly one.
    """
    if (directory / MODEL_JSON).is_file():
        if trace is not None:
            raise StreamTensorError(
                f"a trace shows one design; simulate one of them: {directory}/decode"
            )
        return simulate_model(directory, phase or "decode", length)
    if not (directory / NETWORK).is_file():
        raise StreamTensorError(
            f"expected a compiled design or model in '{directory}' but there is no {NETWORK} and "
            f"no {MODEL_JSON}; compile with this version first"
        )
    if phase is not None:
        raise StreamTensorError(f"--phase is for models, but '{directory}' is one design")
    network = read_json(directory / NETWORK)
    launch = simulate_design(directory, 1, values_of(network, length), trace)
    return summary([launch], tokens=None, designs=[directory])


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


def simulate_model(directory: Path, phase: str, length: int | None) -> dict[str, Any]:
    model = read_json(directory / MODEL_JSON)
    if phase not in model["phases"]:
        known = ", ".join(model["phases"])
        raise StreamTensorError(f"expected a phase of {known} but got '{phase}'")
    longest = model["max_length"]
    length = length if length is not None else (model["chunk"] if phase == "prefill" else longest)
    if not 1 <= length <= longest:
        raise StreamTensorError(
            f"expected a length from 1 to {longest}, for which the model is compiled, "
            f"but got {length}"
        )
    steps = prompt_steps(model, length) if phase == "prefill" else {"decode": 1}
    layers = len(model["layers"])
    launches = [
        simulate_design(directory / model["phases"][name]["design"], count * layers)
        for name, count in steps.items()
        if count
    ]
    launches.append(simulate_design(directory / model["head"]["design"], 1))
    designs = [directory / model["phases"][name]["design"] for name in model["phases"]]
    designs.append(directory / model["head"]["design"])
    tokens = length if phase == "prefill" else 1
    return summary(launches, tokens, designs)


def prompt_steps(model: dict[str, Any], length: int) -> dict[str, int]:
    """How often each phase runs for a prompt, as generation does it."""
    steps = {"prefill": 0, "decode": 0}
    position = 0
    while position < length:
        rest = length - position
        if rest > 1 and position + model["chunk"] <= model["max_length"]:
            steps["prefill"] += 1
            position += min(model["chunk"], rest)
        else:
            steps["decode"] += 1
            position += 1
    return steps


def simulate_design(
    directory: Path, count: int, values: dict[str, int] | None = None, trace: Path | None = None
) -> Launch:
    network = directory / NETWORK
    if not network.is_file():
        raise StreamTensorError(f"expected '{network}'; compile again with this version")
    arguments = [f"--network={network}", "--json"]
    if values:
        arguments.append("--values=" + ",".join(f"{name}={n}" for name, n in values.items()))
    if trace is not None:
        arguments.append(f"--trace={trace}")
    run = json.loads(run_tool("streamtensor-sim", arguments))
    return Launch(directory.name, count, run, float(read_json(network)["clock_ns"]))


def summary(launches: list[Launch], tokens: int | None, designs: list[Path]) -> dict[str, Any]:
    milliseconds = sum(launch.cycles * launch.clock_ns for launch in launches) * 1e-6
    bound = sum(launch.bound_cycles * launch.clock_ns for launch in launches) * 1e-6
    # What bounds the launches that take longest.
    longest = max(launches, key=lambda launch: launch.cycles * launch.clock_ns)
    cycles = sum(launch.cycles for launch in launches)
    used = sum(launch.run["memory_utilization"] * launch.cycles for launch in launches)
    return {
        "cycles": cycles,
        "ms": milliseconds,
        "tokens_per_second": tokens / milliseconds * 1e3 if tokens and milliseconds else None,
        "hbm_bytes": sum(launch.memory_bytes for launch in launches),
        "hbm_utilization": used / cycles if cycles else 0.0,
        "bound_ms": bound,
        "bound_by": f"{longest.run['bound']['kind']} '{longest.run['bound']['by']}' "
        f"of {longest.design}",
        "longest_wait": longest.run["longest_wait"],
        "launches": [
            {"design": launch.design, "count": launch.count, "cycles": launch.run["cycles"]}
            for launch in launches
        ],
        "certificates": {design.name: check_certificate(design) for design in designs},
        "resources": resources_of(designs),
        "label": "simulated",
    }


def check_certificate(design: Path) -> str:
    """What the checker says of a design's certificate; refusal is an error."""
    if not (design / CERTIFICATE).is_file():
        return "there is none"
    return run_tool("streamtensor-check-certificate", [design]).strip()


def resources_of(designs: list[Path]) -> dict[str, Any]:
    """The sum over the designs, which share the device; estimated."""
    total: dict[str, Any] = {}
    for directory in designs:
        report = read_json(directory / REPORT)["resources"]
        for name in RESOURCES:
            entry = total.setdefault(name, {"used": 0, "available": report[name]["available"]})
            entry["used"] += report[name]["used"]
    for entry in total.values():
        entry["percent"] = 100.0 * entry["used"] / entry["available"] if entry["available"] else 0.0
    return total


def read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise StreamTensorError(f"cannot read '{path}': {error}") from error


def describe(figures: dict[str, Any]) -> str:
    """The figures for people, on one screen."""
    lines = [
        f"{figures['cycles']} cycles, {figures['ms']:.4g} ms (simulated)",
        f"bound: {figures['bound_ms']:.4g} ms by {figures['bound_by']}",
        f"memory: {figures['hbm_bytes']} bytes, {100 * figures['hbm_utilization']:.1f} % of its peak",
    ]
    if figures["tokens_per_second"]:
        lines[0] += f", {figures['tokens_per_second']:.4g} tokens/s"
    if figures["longest_wait"]:
        lines.append(f"longest wait: {figures['longest_wait']}")
    for launch in figures["launches"]:
        lines.append(f"{launch['count']} x {launch['design']}: {launch['cycles']} cycles each")
    for design, message in figures["certificates"].items():
        lines.append(f"certificate of {design}: {message}")
    used = (
        f"{name} {entry['used']} ({entry['percent']:.1f} %)"
        for name, entry in figures["resources"].items()
    )
    lines.append(f"resources (estimated): {', '.join(used)}")
    return "\n".join(lines)


def command_simulate(directory: Path, phase: str | None, length: int | None, **files: Any) -> int:
    """Prints the figures, and writes them and a trace where that is asked for."""
    trace = files.get("trace")
    figures = simulate(directory, phase, length, Path(trace) if trace else None)
    if files.get("json"):
        write_json(Path(files["json"]), figures)
    print(describe(figures))
    return 0
