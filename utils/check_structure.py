"""Checks the rules of CONTRIBUTING.md that a program can check.

Layers (who may include whom), one-step lookup (a pass has one name everywhere),
examples that tests run, sizes and headers of files, and words that do not belong into the product. Each
rule is one function that yields findings; a finding names the file, the line,
what was expected and what was found.

usage: check_structure.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from documented_examples import normalized, operations_without_example, untested
from project_files import ROOT, project_files

WARN_LINES = 800
MAX_LINES = 1200
MAX_MAIN_LINES = 60
MAX_TRACKED_BYTES = 1 << 20

SOURCE_SUFFIXES = (".cpp", ".h", ".td", ".py")

SUPPORT = "streamtensor/Support"
NETWORK = "streamtensor/Network"

# The rooms of the compiler by layer. A room may include its own layer and those
# below it; inside one layer the rooms must not include each other in a circle.
LAYERS = (
    (SUPPORT,),
    (NETWORK,),
    ("streamtensor/Dialect",),
    (
        "streamtensor/Analysis",
        "streamtensor/Allocation",
        "streamtensor/Sim",
        "streamtensor/Target/Device",
    ),
    ("streamtensor/Transforms", "streamtensor/Conversion", "streamtensor/Target"),
    ("streamtensor/Pipelines",),
    ("tools",),
)
# Rooms that must build and run without MLIR.
MLIR_FREE = (SUPPORT, NETWORK, "runtime")
# The checker of certificates shares no code with what it checks.
CHECKER = "tools/streamtensor-check-certificate"
CHECKER_MAY_INCLUDE = (f"{SUPPORT}/Sha256.h", "runtime/CommandLine.h")
TEST_ROOMS = ("test", "unittests", "integration_test")

# Written with brackets so that this file does not contain what it forbids.
FORBIDDEN = (
    (
        re.compile(r"(?:^|[^\w.\-])/(?:work|farm|root|home|tmp)/\w"),
        "path of one machine",
        "use a path relative to the project, or a temporary directory made at run time",
    ),
    (
        re.compile(
            r"pypi[.]org|registry[.]npmjs|deb[.]debian[.]org|files[.]pythonhosted", re.IGNORECASE
        ),
        "host name of a package registry",
        "name the package and let the machine's own configuration find it",
    ),
    (
        re.compile(r"this\s+session|the\s+CEO|another\s+session|COMPAS[S]", re.IGNORECASE),
        "word about how the work is organised",
        "describe the product instead",
    ),
)
UNFINISHED = re.compile(r"TOD[O]|FIXM[E]|XX[X]|not[ ]implemented|unimplemente[d]")
NEGATIVE = re.compile(r"RUN:.*\bnot \S|expected-error")
CONFLICT_MARKER = re.compile(r"^(?:<{7}|>{7}) ")

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
TD_INCLUDE = re.compile(r'^\s*include\s+"([^"]+)"')
PASS_DEF = re.compile(r"^def\s+(\w+)\s*:\s*(?:InterfacePass|Pass)\s*<\s*\"([^\"]*)\"", re.MULTILINE)
DESCRIPTION = re.compile(r"let\s+description\s*=\s*\[\{(.*?)\}\]", re.DOTALL)
SUMMARY = re.compile(r"let\s+summary\s*=\s*((?:\"[^\"]*\"\s*)+)")
KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True)
class Finding:
    """One broken rule; `line` is 0 where the whole file is meant."""

    path: Path
    line: int
    message: str
    is_warning: bool = False

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else f"{self.path}"
        return f"{place}: {'warning' if self.is_warning else 'error'}: {self.message}"


class Tree:
    """The files of a project in folder `root`, the text files read once."""

    def __init__(self, root: Path, paths: list[Path]) -> None:
        self.root = root
        self.paths = paths
        self.text: dict[Path, str] = {}
        for path in self.paths:
            data = (root / path).read_bytes()
            if b"\0" not in data[:8192]:
                self.text[path] = data.decode("utf-8", errors="replace")

    def sources(self, *suffixes: str) -> Iterator[tuple[Path, str]]:
        for path, text in self.text.items():
            if path.suffix in suffixes:
                yield path, text


def is_under(path: str | Path, room: str) -> bool:
    return f"{path}".startswith(f"{room}/")


def is_under_any(path: str | Path, rooms: tuple[str, ...]) -> bool:
    return any(is_under(path, room) for room in rooms)


def layer_of(path: str | Path) -> int | None:
    """Returns the layer of a file of the compiler, None for any other file."""
    # The most specific room decides: Target/Device lies below Target.
    best: tuple[int, int] | None = None
    for level, rooms in enumerate(LAYERS):
        for room in rooms:
            if is_under(path, room) and (best is None or len(room) > best[0]):
                best = (len(room), level)
    return best[1] if best else None


def room_of(path: str | Path) -> str:
    """Returns the folder that counts as one room in the search for circles."""
    parts = Path(path).parts
    depth = 3 if parts[:2] in (("streamtensor", "Dialect"), ("streamtensor", "Target")) else 2
    return "/".join(parts[: min(depth, len(parts) - 1)])


def includes(path: Path, text: str) -> Iterator[tuple[int, str]]:
    pattern = TD_INCLUDE if path.suffix == ".td" else INCLUDE
    for number, line in enumerate(text.splitlines(), 1):
        match = pattern.match(line)
        if match:
            yield number, match[1]


def include_error(path: Path, target: str) -> str | None:
    """Returns why the file `path` must not include `target`, None where it may."""
    if is_under_any(target, TEST_ROOMS):
        return f"expected no test code but got '{target}'"
    if is_under_any(path, MLIR_FREE):
        if target.startswith(("mlir/", "llvm/", "mlir-c/", "llvm-c/")):
            return f"expected no MLIR or LLVM in this room but got '{target}'"
        if is_under(target, "streamtensor") and not is_under_any(target, (SUPPORT, NETWORK)):
            return f"expected an include of {SUPPORT} or {NETWORK} but got '{target}'"
    is_shared = is_under_any(target, ("streamtensor", "runtime", "tools"))
    is_shared = is_shared and not is_under(target, CHECKER) and target not in CHECKER_MAY_INCLUDE
    if is_under(path, CHECKER) and is_shared:
        return f"expected the checker to share no code but got '{target}'"
    if is_under(path, "streamtensor") and is_under(target, "runtime"):
        return f"expected the compiler not to need the runtime but got '{target}'"
    own_layer, target_layer = layer_of(path), layer_of(target)
    if own_layer is not None and target_layer is not None and target_layer > own_layer:
        return f"expected an include of this layer or a lower one but got '{target}'"
    return None


def check_layers(tree: Tree) -> Iterator[Finding]:
    # Who includes whom inside one layer, with the first place that does.
    edges: dict[str, dict[str, tuple[Path, int]]] = {}
    for path, text in tree.sources(".cpp", ".h", ".td"):
        if is_under_any(path, TEST_ROOMS):
            continue
        for number, target in includes(path, text):
            error = include_error(path, target)
            if error:
                yield Finding(path, number, error)
                continue
            layer, room, target_room = layer_of(path), room_of(path), room_of(target)
            if layer is not None and layer == layer_of(target) and room != target_room:
                edges.setdefault(room, {}).setdefault(target_room, (path, number))
    yield from find_circles(edges)


def find_circles(edges: dict[str, dict[str, tuple[Path, int]]]) -> Iterator[Finding]:
    """Yields one finding per circle of rooms, at an include that closes it."""
    done: set[str] = set()

    def visit(room: str, trail: list[str]) -> Iterator[Finding]:
        if room in trail:
            circle = [*trail[trail.index(room) :], room]
            path, number = edges[circle[-2]][room]
            yield Finding(
                path, number, f"expected no circle of rooms but got {' -> '.join(circle)}"
            )
            return
        if room in done:
            return
        for target in sorted(edges.get(room, {})):
            yield from visit(target, [*trail, room])
        done.add(room)

    for room in sorted(edges):
        yield from visit(room, [])


def check_passes(tree: Tree) -> Iterator[Finding]:
    """One name from Passes.td to the source, the flag, the test and the text."""
    stems = {path.stem for path, _ in tree.sources(".cpp") if is_under(path, "streamtensor")}
    tests = {path.stem for path in tree.paths if is_under(path, "test")}
    for path, text in tree.sources(".td"):
        definitions = list(PASS_DEF.finditer(text))
        starts = [match.start() for match in definitions] + [len(text)]
        for index, match in enumerate(definitions):
            name, flag = match[1], match[2]
            body = text[match.start() : starts[index + 1]]
            line = text.count("\n", 0, match.start()) + 1
            if not flag.startswith("st-") or not KEBAB.fullmatch(flag):
                yield Finding(path, line, f"expected a flag '--st-...' for {name} but got '{flag}'")
            elif flag[3:].replace("-", "") != name.lower():
                yield Finding(
                    path, line, f"expected the flag to spell the name {name} but got '{flag}'"
                )
            elif flag[3:] not in tests:
                yield Finding(
                    path, line, f"expected a test file 'test/.../{flag[3:]}.mlir' but found none"
                )
            if name not in stems:
                yield Finding(path, line, f"expected a source file '{name}.cpp' but found none")
            summary = SUMMARY.search(body)
            if not summary or not summary[1].replace('"', "").strip():
                yield Finding(path, line, f"expected a summary of {name} but found none")
            description = DESCRIPTION.search(body)
            if not description or not description[1].strip():
                yield Finding(path, line, f"expected a description of {name} but found none")


def check_examples(tree: Tree) -> Iterator[Finding]:
    """Every operation shows an example, and a test runs each example."""
    tests = [normalized(text) for path, text in tree.sources(".mlir") if is_under(path, "test")]
    for path, text in tree.sources(".td"):
        if not is_under(path, "streamtensor/Dialect"):
            continue
        for line, name in operations_without_example(text):
            yield Finding(path, line, f"expected an example of {name} but found none")
        for statement in untested(text, tests):
            first = statement.text.strip().splitlines()[0]
            yield Finding(
                path,
                statement.line,
                f"expected a test that runs the example but found none: {first}",
            )


def check_sizes(tree: Tree) -> Iterator[Finding]:
    for path, text in tree.sources(*SOURCE_SUFFIXES):
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines > MAX_LINES:
            yield Finding(path, 0, f"expected at most {MAX_LINES} lines but got {lines}; split it")
        elif lines > WARN_LINES:
            yield Finding(path, 0, f"{lines} lines are many; split it along its parts", True)
        is_main = is_under(path, "tools") and re.search(r"^int main\(", text, re.MULTILINE)
        if is_main and lines > MAX_MAIN_LINES:
            yield Finding(
                path,
                0,
                f"expected a main file of at most {MAX_MAIN_LINES} lines but got {lines}; "
                "move its work into a library",
            )
    for path in tree.paths:
        size = (tree.root / path).stat().st_size
        if size > MAX_TRACKED_BYTES:
            yield Finding(
                path, 0, f"expected at most {MAX_TRACKED_BYTES} bytes but got {size}; generate it"
            )


def check_headers(tree: Tree) -> Iterator[Finding]:
    """Every source file says first what it is for."""
    for path, text in tree.sources(*SOURCE_SUFFIXES):
        lines = [line for line in text.splitlines() if not line.startswith("#!")]
        first = next((line.strip() for line in lines if line.strip()), "")
        starts = ('"""', 'r"""', "#") if path.suffix == ".py" else ("//", "/*")
        if first and not first.startswith(starts):
            yield Finding(
                path, 1, f"expected a comment with the purpose of the file but got '{first[:40]}'"
            )


def check_negatives(tree: Tree) -> Iterator[Finding]:
    """One lit test in four shows what is refused."""
    lit = [text for path, text in tree.text.items() if is_under(path, "test") and "RUN:" in text]
    negative = sum(bool(NEGATIVE.search(text)) for text in lit)
    if 4 * negative < len(lit):
        yield Finding(
            Path("test"),
            0,
            f"expected one lit test in four to show what is refused but got {negative} of "
            f"{len(lit)}; add tests of error messages",
        )


def check_words(tree: Tree) -> Iterator[Finding]:
    for path, text in tree.text.items():
        is_source = path.suffix in SOURCE_SUFFIXES
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, what, instead in FORBIDDEN:
                match = pattern.search(line)
                if match:
                    yield Finding(
                        path, number, f"expected no {what} but got '{match[0]}'; {instead}"
                    )
            if is_source and UNFINISHED.search(line):
                yield Finding(path, number, "expected finished work but got a note that it is not")
            if CONFLICT_MARKER.match(line):
                yield Finding(path, number, "expected merged text but got a conflict marker")


RULES = (
    check_layers,
    check_passes,
    check_examples,
    check_sizes,
    check_headers,
    check_negatives,
    check_words,
)


def check(tree: Tree) -> list[Finding]:
    """Applies every rule to `tree`."""
    return [finding for rule in RULES for finding in rule(tree)]


def main() -> int:
    tree = Tree(ROOT, project_files())
    findings = check(tree)
    for finding in findings:
        print(finding)
    errors = sum(not finding.is_warning for finding in findings)
    print(
        f"structure: {len(tree.paths)} files, {len(RULES)} rules, {errors} errors, "
        f"{len(findings) - errors} warnings"
    )
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
