"""What ran where and why: the listing of the graphs that were compiled, as text and as data."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

DEVICE, HOST = "device", "pytorch"
COLUMNS = 100
MOST_LINES = 20


@dataclass
class Part:
    """Operators of one graph at one place.

    `macs` are the multiply-accumulates of one call, by the shapes of the operators.
    Of a part on the device, `design` is the design's directory and `state` says where
    it came from: compiled now, reused from a part before, or cached on disk.
    """

    where: str
    path: str
    why: str
    operators: dict[str, int]
    macs: int
    design: str | None = None
    state: str | None = None
    calls: int = 0
    seconds: float = 0.0


@dataclass
class GraphListing:
    """One graph that torch.compile handed over, at one set of sizes of its inputs.

    `ends` says why PyTorch ended it before the end of the model (a graph break).
    """

    inputs: str
    ends: str | None = None
    parts: list[Part] = field(default_factory=list)


@dataclass
class Listing:
    """All graphs of a model, in the order in which they were compiled."""

    graphs: list[GraphListing] = field(default_factory=list)

    def parts(self, where: str | None = None) -> list[Part]:
        found = [part for graph in self.graphs for part in graph.parts]
        return [part for part in found if where in (None, part.where)]

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call of each graph."""
        return sum(part.macs for part in self.parts())

    @property
    def macs_on_device(self) -> int:
        return sum(part.macs for part in self.parts(DEVICE))

    @property
    def share_on_device(self) -> float:
        """The part of the multiply-accumulates on the device, 0 to 1; 0 without any."""
        return self.macs_on_device / self.macs if self.macs else 0.0

    @property
    def designs(self) -> int:
        """Different designs that the parts on the device use."""
        return len({part.design for part in self.parts(DEVICE)})

    def clear(self) -> None:
        """Forgets the graphs so far, for example after `torch.compiler.reset()`."""
        self.graphs.clear()

    def to_dict(self) -> dict[str, Any]:
        """The same as data that JSON can hold."""
        return {
            "macs": self.macs,
            "macs_on_device": self.macs_on_device,
            "share_on_device": self.share_on_device,
            "designs": self.designs,
            "graphs": [asdict(graph) for graph in self.graphs],
        }

    def __str__(self) -> str:
        if not self.graphs:
            return (
                "no graph has reached the device yet: the model was not called, or PyTorch cut none"
            )
        on_device = self.parts(DEVICE)
        states = Counter(part.state for part in on_device)
        lines = [
            f"{len(self.graphs)} {plural('graph', len(self.graphs))}; {len(on_device)} "
            f"{plural('part', len(on_device))} on the device with {self.designs} "
            f"{plural('design', self.designs)} "
            f"({', '.join(f'{count} {state}' for state, count in states.items()) or 'none'})",
            f"{self.macs_on_device:,} of {self.macs:,} multiply-accumulates on the device "
            f"({100 * self.share_on_device:.2f} %)"
            if self.macs
            else "no multiply-accumulates",
        ]
        listed: list[str] = []
        for number, graph in enumerate(self.graphs):
            listed.append(f"graph {number}: {graph.inputs}")
            listed += [f"  {line}" for line in describe_parts(graph.parts)]
            if graph.ends:
                listed.append(f"  ends at a graph break: {graph.ends}")
        lines += listed[:MOST_LINES]
        if len(listed) > MOST_LINES:
            lines.append(f"... {len(listed) - MOST_LINES} more lines; to_dict() has all")
        return "\n".join(
            line if len(line) <= COLUMNS else line[: COLUMNS - 3] + "..." for line in lines
        )


def plural(noun: str, count: int) -> str:
    return noun if count == 1 else noun + "s"


def describe_parts(parts: list[Part]) -> list[str]:
    """One line for each design or reason; parts that share one stand together."""
    groups: dict[tuple, list[Part]] = {}
    for part in parts:
        groups.setdefault((part.where, part.design or part.why), []).append(part)
    lines = []
    for (where, _), members in groups.items():
        first, last = members[0], members[-1]
        path = first.path if first is last else f"{first.path} .. {last.path} ({len(members)})"
        count = sum(sum(part.operators.values()) for part in members)
        macs = sum(part.macs for part in members)
        text = f"{where:7} {path}: {count} {plural('operator', count)}, {macs:,} MACs"
        if where == DEVICE:
            lines.append(f"{text}, design {first.state}")
            continue
        names = Counter[str]()
        for part in members:
            names.update(part.operators)
        shown = ", ".join(name for name, _ in names.most_common(3))
        lines.append(f"{text} ({shown})")
        lines.append(f"          {first.why}")
    return lines
