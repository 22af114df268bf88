"""Finds the MLIR examples in the descriptions of operations and types, and
whether a lit test runs them.

An example counts as run when each of its statements stands in a test, up to the
names of values and white space. A statement begins at the indentation of its
example's first line, so that the lines of a region belong to the one that opens it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

BLOCK = re.compile(r"^([ \t]*)```mlir\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
OP_DEF = re.compile(r"^def\s+(\w+Op)\s*:", re.MULTILINE)
VALUE = re.compile(r"%[\w$.\-]+(?::\d+)?(?:#\d+)?")


@dataclass(frozen=True)
class Statement:
    """One statement of an example; `line` counts from 1 in the .td file."""

    line: int
    text: str


def normalized(text: str) -> str:
    """`text` without comments, names of values and differences of white space."""
    without_comments = re.sub(r"//[^\n]*", "", text)
    return " ".join(VALUE.sub("%_", without_comments).split())


def statements(text: str) -> Iterator[Statement]:
    """Yields the statements of all examples in a .td file."""
    for block in BLOCK.finditer(text):
        indent = len(block[1])
        first_line = text.count("\n", 0, block.start(2)) + 1
        start, lines = 0, []
        for number, line in enumerate(block[2].splitlines(), first_line):
            if not line.strip():
                continue
            is_continued = len(line) - len(line.lstrip()) > indent or line.lstrip().startswith("}")
            if lines and not is_continued:
                yield Statement(start, "\n".join(lines))
                lines = []
            if not lines:
                start = number
            lines.append(line)
        if lines:
            yield Statement(start, "\n".join(lines))


def untested(text: str, tests: Iterable[str]) -> Iterator[Statement]:
    """Yields the statements of `text` that none of the normalized `tests` holds."""
    for statement in statements(text):
        wanted = normalized(statement.text)
        if wanted and not any(wanted in test for test in tests):
            yield statement


def operations_without_example(text: str) -> Iterator[tuple[int, str]]:
    """Yields line and name of each operation whose definition shows no example."""
    starts = [match.start() for match in OP_DEF.finditer(text)] + [len(text)]
    for index, match in enumerate(OP_DEF.finditer(text)):
        if not BLOCK.search(text[match.start() : starts[index + 1]]):
            yield text.count("\n", 0, match.start()) + 1, match[1]
