"""The drawings of a report, as SVG: the graph of tasks and FIFOs, the roofline, the time line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from streamtensor.report.layout import lay_out

BOX_WIDTH, BOX_HEIGHT = 132, 30
GAP_X, GAP_Y = 16, 34
MARGIN = 12
NAME_LETTERS = 19
# What an edge takes in a layer that it passes.
LANE = 16


def tip(lines: Sequence[str]) -> str:
    """What is shown on hover."""
    return f"<title>{escape(chr(10).join(lines))}</title>"


def short(name: str, letters: int) -> str:
    return name if len(name) <= letters else name[: letters - 1] + "…"


def draw_graph(
    tasks: Sequence[dict[str, Any]],
    fifos: Sequence[dict[str, Any]],
    counters: dict[str, dict[str, Any]],
) -> str:
    """Tasks as boxes in layers, FIFOs as lines between them; details on hover.

    `counters` are the simulated cycles of processes by name.
    """
    names = [task["name"] for task in tasks]
    known = set(names)
    edges = [f for f in fifos if f["producer"] in known and f["consumer"] in known]
    layout = lay_out(names, [(fifo["producer"], fifo["consumer"]) for fifo in edges])
    boxes = set(names)

    def width_of(name: str) -> int:
        return BOX_WIDTH + GAP_X if name in boxes else LANE

    widths = [sum(map(width_of, layer)) for layer in layout.layers]
    width = 2 * MARGIN + max(widths, default=0)
    height = 2 * MARGIN + len(layout.layers) * (BOX_HEIGHT + GAP_Y)
    corner, middle = {}, {}
    for index, layer in enumerate(layout.layers):
        x, y = (width - widths[index]) // 2, MARGIN + index * (BOX_HEIGHT + GAP_Y)
        for name in layer:
            corner[name] = (x, y)
            middle[name] = x + (BOX_WIDTH if name in boxes else LANE) // 2
            x += width_of(name)
    lines = [
        f'<svg class="graph" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    ]
    for fifo, route in zip(edges, layout.routes, strict=True):
        producer, consumer = fifo["producer"], fifo["consumer"]
        x, y = middle[producer], corner[producer][1] + BOX_HEIGHT
        path = [f"M{x} {y}"]
        for stop in [*route, consumer]:
            to, top = middle[stop], corner[stop][1]
            bend = max(GAP_Y // 2, abs(top - y) // 3)
            path.append(f"C{x} {y + bend} {to} {top - bend} {to} {top}")
            x, y = to, top
            if stop != consumer:
                y += BOX_HEIGHT
                path.append(f"V{y}")
        lines.append(f'<path class="fifo" d="{"".join(path)}">{tip(describe_fifo(fifo))}</path>')
    for task in tasks:
        x, y = corner[task["name"]]
        lines.append(
            f'<g class="task {escape(task["kind"])}" transform="translate({x} {y})">'
            f"{tip(describe_task(task, counters.get(task['name'])))}"
            f'<rect width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="4"/>'
            f'<text x="6" y="13">{escape(short(task["name"], NAME_LETTERS))}</text>'
            f'<text x="6" y="25" class="small">II {task["ii"]}, {task["latency_cycles"]} cycles'
            "</text></g>"
        )
    lines.append("</svg>")
    return "\n".join(lines)


def describe_fifo(fifo: dict[str, Any]) -> list[str]:
    peak = fifo.get("simulated_peak")
    return [
        f"{fifo['name']}: {fifo['producer']} -> {fifo['consumer']}",
        f"depth {fifo['depth']} x {fifo['token_bits']} bits = {fifo['bits']} bits (design)",
        f"{fifo['tokens']} tokens (design), at most {'?' if peak is None else peak} at a time "
        "(simulated)",
        fifo["reason"],
    ]


def describe_task(task: dict[str, Any], counters: dict[str, Any] | None) -> list[str]:
    origin = task["origin"]
    lines = [
        f"{task['name']} ({task['kind']})",
        f"II {task['ii']}, depth {task['depth']}, {task['latency_cycles']} cycles ({origin})",
        f"{task['dsp']} DSP, {task['lut']} LUT, {task['ff']} FF, {task['bram18']} BRAM18, "
        f"{task['uram']} URAM ({origin})",
    ]
    if counters:
        lines.append(
            f"busy {counters['busy']}, waits {counters['wait_input']} for input and "
            f"{counters['wait_output']} for output (simulated cycles)"
        )
    if task.get("die") is not None:
        lines.append(f"die {task['die']}")
    if task["source"]:
        lines.append(task["source"])
    return lines


# --- roofline --------------------------------------------------------------------------

PLOT_WIDTH, PLOT_HEIGHT, PLOT_LEFT, PLOT_BOTTOM = 560, 300, 64, 40


def draw_roofline(roofline: dict[str, Any], ms: float | None) -> str:
    """Operations per second against operations per byte of memory, both axes logarithmic."""
    peak = roofline["peak_gigaoperations_per_second"]
    ideal = roofline["peak_gigabytes_per_second"]
    reachable = ideal * roofline["memory_efficiency"]
    intensity = roofline["operations_per_byte"]
    reached = roofline["operations"] / (ms * 1e6) if ms else 0.0
    ridge = peak / reachable
    xs = [ridge, *([intensity] if intensity > 0 else [])]
    left, right = decade(min(xs) / 8), decade(max(xs) * 8, up=True)
    ys = [peak, reachable * left, *([reached] if reached > 0 else [])]
    low, high = decade(min(ys)), decade(peak * 1.5, up=True)

    def x_of(value: float) -> float:
        share = math.log10(value / left) / math.log10(right / left)
        return round(PLOT_LEFT + share * (PLOT_WIDTH - PLOT_LEFT - 10), 1)

    def y_of(value: float) -> float:
        share = math.log10(max(value, low) / low) / math.log10(high / low)
        return round((PLOT_HEIGHT - PLOT_BOTTOM) * (1 - share) + 6, 1)

    def roof(bandwidth: float, css: str, what: str) -> str:
        start = max(left, low / bandwidth)
        bend = peak / bandwidth
        return (
            f'<polyline class="{css}" points="{x_of(start)},{y_of(bandwidth * start)} '
            f'{x_of(bend)},{y_of(peak)} {x_of(right)},{y_of(peak)}">{tip([what])}</polyline>'
        )

    parts = [f'<svg class="chart" viewBox="0 0 {PLOT_WIDTH} {PLOT_HEIGHT}" width="{PLOT_WIDTH}">']
    for exponent in range(round(math.log10(left)), round(math.log10(right)) + 1):
        x = x_of(10.0**exponent)
        parts.append(
            f'<path class="grid" d="M{x} 6V{PLOT_HEIGHT - PLOT_BOTTOM + 6}"/>'
            f'<text x="{x}" y="{PLOT_HEIGHT - 20}" text-anchor="middle">{power(exponent)}</text>'
        )
    for exponent in range(round(math.log10(low)), round(math.log10(high)) + 1):
        y = y_of(10.0**exponent)
        parts.append(
            f'<path class="grid" d="M{PLOT_LEFT} {y}H{PLOT_WIDTH - 10}"/>'
            f'<text x="{PLOT_LEFT - 6}" y="{y + 4}" text-anchor="end">{power(exponent)}</text>'
        )
    parts.append(roof(ideal, "roof ideal", f"peak of the memory: {ideal:g} GB/s (target)"))
    parts.append(
        roof(reachable, "roof", f"what streams reach: {reachable:.4g} GB/s (target, estimated)")
    )
    if intensity > 0 and reached > 0:
        parts.append(
            f'<circle class="point" cx="{x_of(intensity)}" cy="{y_of(reached)}" r="5">'
            + tip([f"{reached:.4g} GOP/s (simulated) at {intensity:.4g} operations per byte"])
            + "</circle>"
        )
    parts.append(
        f'<text x="{PLOT_WIDTH // 2}" y="{PLOT_HEIGHT - 4}" text-anchor="middle">'
        "operations per byte of memory</text>"
        f'<text x="{PLOT_LEFT + 6}" y="18">GOP/s</text></svg>'
    )
    return "\n".join(parts)


def decade(value: float, up: bool = False) -> float:
    exponent = math.log10(value)
    return 10.0 ** (math.ceil(exponent) if up else math.floor(exponent))


def power(exponent: int) -> str:
    return f"{10.0**exponent:g}" if -4 < exponent < 5 else f"1e{exponent}"


# --- time line -------------------------------------------------------------------------

ROW_HEIGHT, LABEL_WIDTH, PART_WIDTH = 14, 190, 6
LEVELS = 10


def draw_timeline(timeline: dict[str, Any], clock_ns: float) -> str:
    """One row for each process: the part of the time in which it works, waits for input and for
    output, from below."""
    tracks = timeline["tracks"]
    count = len(tracks[0]["busy"]) if tracks else 0
    width, height = LABEL_WIDTH + count * PART_WIDTH + 10, len(tracks) * ROW_HEIGHT + 24
    lines = [
        f'<svg class="timeline" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    ]
    for row, track in enumerate(tracks):
        y = row * ROW_HEIGHT
        lines.append(
            f'<g transform="translate(0 {y})"><text x="0" y="10">'
            f"{escape(short(track['process'], 28))}</text>"
            f'<g transform="translate({LABEL_WIDTH} 1)">'
        )
        floor = [0] * count
        for kind in ("busy", "wait_input", "wait_output"):
            top = [min(100, low + value) for low, value in zip(floor, track[kind], strict=True)]
            # The sum of rounded parts may miss a whole by little.
            path = step_path(
                [min(LEVELS, round(v * LEVELS / 100)) for v in floor],
                [min(LEVELS, round(v * LEVELS / 100)) for v in top],
            )
            if path:
                lines.append(f'<path class="{kind}" d="{path}"/>')
            floor = top
        lines.append("</g></g>")
    total_ms = count * timeline["part_cycles"] * clock_ns * 1e-6
    y = height - 8
    lines.append(
        f'<text x="{LABEL_WIDTH}" y="{y}">0</text>'
        f'<text x="{width - 10}" y="{y}" text-anchor="end">{total_ms:.4g} ms (simulated)</text></svg>'
    )
    return "\n".join(lines)


def step_path(floor: Sequence[int], top: Sequence[int]) -> str:
    """The area between two step curves, drawn as a rectangle for each run of equal steps."""
    parts = []
    start = 0
    for end in range(1, len(top) + 1):
        if end < len(top) and (floor[end], top[end]) == (floor[start], top[start]):
            continue
        high = top[start] - floor[start]
        if high > 0:
            run = (end - start) * PART_WIDTH
            parts.append(f"M{start * PART_WIDTH} {LEVELS - floor[start]}h{run}v-{high}h-{run}z")
        start = end
    return "".join(parts)
