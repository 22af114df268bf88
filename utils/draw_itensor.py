"""Draws the pictures of docs/itensor.md from the IR in docs/itensor.mlir.

The IR goes through `streamtensor-opt --st-infer-converters`; from each function the
types of its converter and the attributes that the pass has set are drawn: a table of
the tensor whose cells hold the numbers of the tokens that begin there. A picture
stands between `<!-- drawn: FUNCTION -->` and `<!-- end -->` and is replaced in place.

usage: draw_itensor.py [--opt build/bin/streamtensor-opt] [--check]
"""

from __future__ import annotations

import argparse
import itertools
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

from project_files import ROOT

PAGE = ROOT / "docs/itensor.md"
SOURCE = ROOT / "docs/itensor.mlir"

TYPE = re.compile(
    r"!itensor\.itensor<((?:\d+x)*)\w+, \[([\d, ]*)\] \* \[([\d, ]*)\], "
    r"\(([d\d, ]*)\) -> \(([d\d+, ]*)\)(?:, overlapping)?>"
)
PICTURE = re.compile(r"(<!-- drawn: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass
class Order:
    """The token order of one itensor type, read from its spelling."""

    text: str
    element: list[int]
    trips: list[int]
    steps: list[int]
    dims: list[list[int]]

    @classmethod
    def parse(cls, match: re.Match[str]) -> Order:
        dims = [
            [int(loop) for loop in re.findall(r"d(\d+)", result)] for result in match[5].split(",")
        ]
        return cls(
            match[0],
            [int(size) for size in match[1].split("x") if size] or [1] * len(dims),
            [int(n) for n in re.findall(r"\d+", match[2])],
            [int(n) for n in re.findall(r"\d+", match[3])],
            dims,
        )

    def offsets(self) -> list[tuple[int, ...]]:
        """The offset of each token, in order: nested counters, last loop fastest."""
        counters = itertools.product(*(range(trip) for trip in self.trips))
        return [
            tuple(sum(i[loop] * self.steps[loop] for loop in loops) for loops in self.dims)
            for i in counters
        ]

    def table(self) -> str:
        """A Markdown table of the places where tokens begin."""
        begins: dict[tuple[int, ...], list[int]] = {}
        for number, at in enumerate(self.offsets()):
            begins.setdefault(at, []).append(number)
        rows = sorted({row for row, _ in begins})
        columns = sorted({column for _, column in begins})
        head = "| row \\ column | " + " | ".join(map(str, columns)) + " |\n"
        head += "| --- |" + " ---: |" * len(columns) + "\n"
        return head + "".join(
            f"| **{row}** | "
            + " | ".join(", ".join(map(str, begins.get((row, c), ["-"]))) for c in columns)
            + " |\n"
            for row in rows
        )


def attribute(text: str, name: str) -> str:
    """The value of an attribute that the pass has set."""
    match = re.search(rf'{name} = (array<i64: [\d, ]+>|\d+|"[^"]*")', text)
    if not match:
        sys.exit(f"draw_itensor: error: expected attribute '{name}' but got '{text}'")
    return match[1]


def pictures(opt: str) -> dict[str, str]:
    """The picture of each function of the source, by its name."""
    command = [opt, str(SOURCE), "--st-infer-converters"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"draw_itensor: error: {run.stderr.strip()}")
    drawn = {}
    for function in run.stdout.split("func.func ")[1:]:
        converter = re.search(r"itensor\.converter.*", function)
        if not converter:
            sys.exit(f"draw_itensor: error: expected a converter but got none: {function}")
        source, result = map(Order.parse, TYPE.finditer(converter[0]))
        shape = attribute(converter[0], "buffer_shape")
        drawn[re.match(r"@(\w+)", function)[1]] = "\n".join(
            [
                f"`{source.text}`:\n",
                source.table(),
                f"`{result.text}`:\n",
                result.table(),
                f"`buffer_shape = {shape}`, "
                f"`shared_loops = {attribute(converter[0], 'shared_loops')}`, "
                f"`bytes = {attribute(converter[0], 'bytes')}`: "
                + attribute(converter[0], "reason").strip('"')
                + ".\n",
            ]
        )
    return drawn


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = ROOT / "build/bin/streamtensor-opt"
    parser.add_argument("--opt", default=shutil.which("streamtensor-opt") or str(default))
    parser.add_argument("--check", action="store_true", help="only tell whether they are current")
    options = parser.parse_args()
    drawn = pictures(options.opt)
    page = PAGE.read_text()
    unknown = {match[2] for match in PICTURE.finditer(page)} ^ drawn.keys()
    if unknown:
        sys.exit(f"draw_itensor: error: not in both page and source: {', '.join(sorted(unknown))}")
    current = PICTURE.sub(lambda match: f"{match[1]}\n{drawn[match[2]]}\n{match[3]}", page)
    if options.check:
        if current != page:
            print("docs/itensor.md: pictures are not current; run utils/draw_itensor.py")
            return 1
        return 0
    PAGE.write_text(current)
    return 0


if __name__ == "__main__":
    sys.exit(main())
