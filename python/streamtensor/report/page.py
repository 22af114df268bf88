"""The page of `streamtensor report`, which needs nothing but itself.

Each figure says what it is: counted of the design, estimated, from a synthesis report (csynth),
simulated or measured. The same designs give the same bytes: nothing of it depends on the time or
the place of the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from streamtensor.designs import (
    MODEL_JSON,
    NETWORK,
    REPORT,
    RESOURCES,
    Compiled,
    read_json,
    require_compiled,
)
from streamtensor.errors import StreamTensorError
from streamtensor.output import write_text
from streamtensor.report.charts import draw_graph, draw_roofline, draw_timeline
from streamtensor.simulation import Request, check_certificate, simulate_design

PAGE = "report.html"
TIMELINE_PARTS = 120


@dataclass(frozen=True)
class Design:
    """What a page knows of one design."""

    name: str
    report: dict[str, Any]
    # Of the timed simulation; None where the design has no network.
    run: dict[str, Any] | None
    clock_ns: float
    stages: dict[str, str]
    certificate: str

    def counters(self) -> dict[str, dict[str, int]]:
        """Simulated cycles by task; a task of several stages has the sum of theirs."""
        total: dict[str, dict[str, int]] = {}
        for process in self.run["processes"] if self.run else []:
            task = total.setdefault(
                self.stages.get(process["name"], process["name"]),
                {"busy": 0, "wait_input": 0, "wait_output": 0},
            )
            for key in task:
                task[key] += process[key]
        return total


def write_report(directory: Path) -> Path:
    """Writes DIR/report.html for a compiled design or model, and returns its path."""
    compiled = require_compiled(directory)
    designs = [read_design(design) for design in compiled.designs()]
    path = directory / PAGE
    write_text(path, render(compiled, designs))
    return path


def read_design(directory: Path) -> Design:
    report = read_json(directory / REPORT)
    run, clock_ns, stages = None, 1e3 / report["target"]["clock_mhz"], {}
    if (directory / NETWORK).is_file():
        run = simulate_design(directory, 1, Request(timeline=TIMELINE_PARTS)).run
        stages = {
            process["name"]: process["stage_of"]
            for process in read_json(directory / NETWORK)["processes"]
            if process.get("stage_of")
        }
    for key in ("tasks", "fifos", "memory", "resources", "roofline", "allocation"):
        if key not in report:
            raise StreamTensorError(
                f"expected '{key}' in '{directory / REPORT}'; compile again with this version"
            )
    return Design(directory.name, report, run, clock_ns, stages, check_certificate(directory))


def render(compiled: Compiled, designs: Sequence[Design]) -> str:
    title = name_of(compiled, designs)
    parts = [f"<h1>{escape(title)}</h1>"]
    if len(designs) > 1:
        parts.append(
            '<p class="nav">'
            + " ".join(f'<a href="#{escape(d.name)}">{escape(d.name)}</a>' for d in designs)
            + "</p>"
        )
        parts.append(table_of_designs(designs))
    parts += [section(design, whole=len(designs) == 1) for design in designs]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def name_of(compiled: Compiled, designs: Sequence[Design]) -> str:
    """Of the model or the function; the directory may lie anywhere."""
    if compiled.is_model:
        return str(read_json(compiled.directory / MODEL_JSON).get("model", "model"))
    return designs[0].report["model"]


# --- pieces of HTML --------------------------------------------------------------------


def label(kind: str) -> str:
    """A mark that says what a figure is."""
    return f'<span class="label {kind}">{kind}</span>'


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; `heads` are HTML, cells are text or numbers."""
    lines = ["<table><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
    for row in rows:
        cells = "".join(
            f'<td class="number">{cell_text(cell)}</td>'
            if isinstance(cell, int | float)
            else f"<td>{cell_text(cell)}</td>"
            for cell in row
        )
        lines.append(f"<tr>{cells}</tr>")
    lines.append("</table>")
    return "\n".join(lines)


def cell_text(cell: Any) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.4g}" if cell else "0"
    return escape(str(cell))


def table_of_designs(designs: Sequence[Design]) -> str:
    return table(
        [
            "design",
            f"cycles {label('simulated')}",
            f"ms {label('simulated')}",
            f"bound by {label('simulated')}",
            f"DSP {label('estimated')}",
        ],
        [
            [
                design.name,
                design.run["cycles"] if design.run else None,
                design.run["cycles"] * design.clock_ns * 1e-6 if design.run else None,
                bound_of(design),
                design.report["resources"]["dsp"]["used"],
            ]
            for design in designs
        ],
    )


def bound_of(design: Design) -> str | None:
    bottleneck = design.run["bottleneck"] if design.run else None
    if not bottleneck:
        return None
    return f"{bottleneck['kind']} ({bottleneck['by']}, {100 * bottleneck['share']:.1f} %)"


def section(design: Design, whole: bool) -> str:
    report = design.report
    target = report["target"]
    parts = [f'<section id="{escape(design.name)}">']
    if not whole:
        parts.append(f"<h2>{escape(design.name)}</h2>")
    parts.append(
        f"<p>{escape(report['model'])} for {escape(target['title'])} ({escape(target['part'])}), "
        f"planned for {target['clock_mhz']} MHz; kernel "
        f"<code>{escape(report['artifacts']['kernel_sha256'][:16])}</code>{compile_time(report)}</p>"
    )
    parts += [time_of(design), graph_of(design), timeline_of(design), roofline_of(design)]
    parts += [memory_of(design), resources_of(design), certificate_of(design)]
    parts += [tasks_of(design), fifos_of(design), converters_of(design), "</section>"]
    return "\n".join(part for part in parts if part)


def compile_time(report: dict[str, Any]) -> str:
    if "compile" not in report:
        return ""
    return f"; compiled in {report['compile']['seconds']['total']:.1f} s {label('measured')}"


def time_of(design: Design) -> str:
    if design.run is None:
        return "<h3>Time</h3><p>This design has no timed network, so its time is not simulated.</p>"
    lines = "\n".join(escape(line) for line in design.run["summary"])
    kinds = ((kind, round(100 * share, 1)) for kind, share in design.run["time_by_kind"].items())
    return f"<h3>Where the time goes {label('simulated')}</h3><pre>{lines}</pre>" + table(
        ["kind of time", "% of the critical chain"], kinds
    )


def graph_of(design: Design) -> str:
    report = design.report
    drawing = draw_graph(report["tasks"], report["fifos"], design.counters())
    kinds = " ".join(
        f'<span class="key {kind}">{kind}</span>'
        for kind in ("dma_in", "dma_out", "compute", "converter", "fork", "join")
    )
    return (
        f"<h3>Tasks and FIFOs</h3><p>{kinds} Point at a task or a line to see its figures. II and "
        f"cycles: {origins(report['tasks'])}</p>"
        f'<div class="wide">{drawing}</div>'
    )


def origins(tasks: Sequence[dict[str, Any]]) -> str:
    return " ".join(label(origin) for origin in sorted({task["origin"] for task in tasks}))


def timeline_of(design: Design) -> str:
    if design.run is None:
        return ""
    return (
        f"<h3>Time line {label('simulated')}</h3>"
        '<p><span class="key busy">busy</span> <span class="key wait_input">waits for input</span> '
        '<span class="key wait_output">waits for output</span></p>'
        f'<div class="wide">{draw_timeline(design.run["timeline"], design.clock_ns)}</div>'
    )


def roofline_of(design: Design) -> str:
    roofline = design.report["roofline"]
    ms = design.run["cycles"] * design.clock_ns * 1e-6 if design.run else None
    reached = roofline["operations"] / (ms * 1e6) if ms else None
    rows = [
        ["operations of multiply-accumulates", roofline["operations"], "design"],
        ["bytes from and to memory", roofline["memory_bytes"], "design"],
        ["operations per byte", roofline["operations_per_byte"], "design"],
        ["GOP/s of the design", reached, "simulated"],
        [
            f"GOP/s of all DSP blocks in {roofline['arithmetic']}",
            roofline["peak_gigaoperations_per_second"],
            "estimated",
        ],
        ["GB/s, peak of the memory", roofline["peak_gigabytes_per_second"], "target"],
        ["part of it that streams reach", roofline["memory_efficiency"], "target"],
    ]
    return (
        "<h3>Roofline</h3>"
        + draw_roofline(roofline, ms)
        + table(["", "figure", "what it is"], rows)
    )


def memory_of(design: Design) -> str:
    memory = design.report["memory"]
    before, after = memory["intermediate_unfused_bytes"], memory["intermediate_fused_bytes"]
    largest = max(before or 0, after, 1)
    bars = "".join(
        f'<div class="bar"><span class="fill" style="width:{round(50 * value / largest)}%"></span> '
        f"{what}: {value} bytes</div>"
        for what, value in (
            ("without fusion, written to memory", before),
            ("fused, on chip and between groups", after),
        )
        if value is not None
    )
    ratio = memory["ratio"]
    said = f" fused / unfused = {ratio:.4g}." if ratio is not None else ""
    return (
        f"<h3>Memory of intermediates {label(memory['label'])}</h3>{bars}<p>{said} On chip in all: "
        f"{memory['onchip_total_bytes']} of {memory['onchip_available_bytes']} bytes.</p>"
    )


def resources_of(design: Design) -> str:
    resources = design.report["resources"]
    return (
        f"<h3>Resources {label(resources['label'])}</h3>"
        + table(
            ["", "used", "available", "%"],
            [
                [name, entry["used"], entry["available"], float(entry["percent"])]
                for name in RESOURCES
                for entry in [resources[name]]
            ],
        )
        + dies_of(resources.get("dies") or [])
    )


def dies_of(dies: Sequence[dict[str, Any]]) -> str:
    """What is on each die, where tasks have been assigned to dies."""
    if not dies:
        return ""
    kinds = [key for key in dies[0] if key != "name"]
    rows = [
        [
            die["name"],
            *(
                f"{die[kind]['used']} of {die[kind]['available']} ({die[kind]['percent']:.1f} %)"
                for kind in kinds
            ),
        ]
        for die in dies
    ]
    return table(["die", *kinds], rows)


def certificate_of(design: Design) -> str:
    allocation = design.report["allocation"]
    certificate = allocation["certificate"]
    said = ""
    if certificate:
        slowdown = certificate["slowdown_vs_unbounded"]
        said = (
            f"<p>{certificate['invocations']} invocations; time against FIFOs that are never full: "
            f"{'not simulated' if slowdown is None else f'{slowdown:.4g}'} "
            f"{label(certificate['label'])}</p>"
        )
    return (
        f"<h3>Certificate</h3><p>FIFOs by strategy {escape(str(allocation['strategy']))}. "
        f"{escape(design.certificate)}</p>{said}"
    )


def tasks_of(design: Design) -> str:
    counters = design.counters()
    rows = []
    for task in design.report["tasks"]:
        cycles = counters.get(task["name"], {})
        rows.append(
            [
                *(task[key] for key in ("name", "kind", "ii", "depth", "latency_cycles")),
                *(task[key] for key in ("dsp", "lut", "ff", "bram18", "uram", "origin")),
                *(cycles.get(key) for key in ("busy", "wait_input", "wait_output")),
                task.get("die"),
                task["source"],
            ]
        )
    heads = ["task", "kind", "II", "depth", "latency", "DSP", "LUT", "FF", "BRAM18", "URAM"]
    heads += ["II to URAM are", *(f"{name} {label('simulated')}" for name in WAITS)]
    return details("Tasks", table([*heads, "die", "operation of the model"], rows))


WAITS = ("busy", "waits for input", "waits for output")


def fifos_of(design: Design) -> str:
    rows = [
        [
            *(fifo[key] for key in ("name", "producer", "consumer", "token_bits", "tokens")),
            *(fifo[key] for key in ("depth", "bits")),
            fifo.get("simulated_peak"),
            fifo["reason"],
        ]
        for fifo in design.report["fifos"]
    ]
    counted = ("token bits", "tokens", "depth", "bits")
    heads = ["FIFO", "from", "to", *(f"{name} {label('design')}" for name in counted)]
    heads += [f"peak {label('simulated')}", "reason of the depth"]
    return details("FIFOs", table(heads, rows))


def converters_of(design: Design) -> str:
    rows = [
        [
            converter["name"],
            " x ".join(map(str, converter["buffer_shape"])),
            converter["bytes"],
            converter["memory"],
            converter["shared_loops"],
            converter["reason"],
        ]
        for converter in design.report["converters"]
    ]
    heads = ["converter", f"buffer {label('design')}", f"bytes {label('design')}", "memory"]
    heads += [f"shared loops {label('design')}", "reason"]
    return details("Converters", table(heads, rows)) if rows else ""


def details(title: str, content: str) -> str:
    return f'<details open><summary>{title}</summary><div class="wide">{content}</div></details>'


STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --back: #ffffff; --soft: #6a7077; --line: #d5d9de;
 --compute: #cfe0f7; --converter: #f7ddb5; --dma: #cfeccf; --fork: #e6dbf4; --edge: #8a929b;
 --busy: #3f7ec4; --input: #e5b04a; --output: #d0664f; --accent: #3f7ec4; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6e9; --back: #17191c; --soft: #9aa1a9;
 --line: #363b41; --compute: #24466f; --converter: #6d4a14; --dma: #27552d; --fork: #4b3a67;
 --edge: #7d858e; --busy: #5b9be0; --input: #d8a640; --output: #d7725c; --accent: #6aa9ec; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back);
 margin: 0 auto; max-width: 1400px; padding: 12px 20px; }
h1 { font-size: 22px; } h2 { font-size: 19px; border-top: 1px solid var(--line); padding-top: 16px; }
h3 { font-size: 16px; margin: 22px 0 6px; }
a { color: var(--accent); } code, pre { font-family: ui-monospace, monospace; }
pre { overflow-x: auto; font-size: 12px; border: 1px solid var(--line); padding: 8px; }
table { border-collapse: collapse; font-size: 12.5px; margin: 6px 0; }
th, td { border: 1px solid var(--line); padding: 2px 7px; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
summary { font-weight: 600; font-size: 16px; margin: 22px 0 6px; cursor: pointer; }
.wide { overflow: auto; max-height: 720px; border: 1px solid var(--line); }
.label { font-size: 10.5px; color: var(--soft); border: 1px solid var(--line); border-radius: 3px;
 padding: 0 4px; font-weight: 400; white-space: nowrap; }
.key { border-radius: 3px; padding: 1px 6px; border: 1px solid var(--line); }
svg text { fill: var(--text); font: 11px system-ui, sans-serif; } svg .small { font-size: 9.5px; }
.fifo { fill: none; stroke: var(--edge); stroke-width: 1.4; }
.fifo:hover { stroke: var(--output); stroke-width: 3; }
.task rect { stroke: var(--edge); } .task:hover rect { stroke: var(--output); stroke-width: 2; }
.compute rect { fill: var(--compute); } .key.compute { background: var(--compute); }
.converter rect { fill: var(--converter); } .key.converter { background: var(--converter); }
.dma_in rect, .dma_out rect { fill: var(--dma); }
.key.dma_in, .key.dma_out { background: var(--dma); }
.fork rect, .join rect { fill: var(--fork); } .key.fork, .key.join { background: var(--fork); }
path.busy { fill: var(--busy); } path.wait_input { fill: var(--input); }
path.wait_output { fill: var(--output); } .key.busy { background: var(--busy); }
.key.wait_input { background: var(--input); } .key.wait_output { background: var(--output); }
.grid { stroke: var(--line); fill: none; } .roof { stroke: var(--accent); fill: none; stroke-width: 2; }
.roof.ideal { stroke-dasharray: 4 4; stroke-width: 1.2; } .point { fill: var(--output); }
.bar .fill { display: inline-block; height: 12px; background: var(--accent); vertical-align: middle; }
"""
