"""Runs every check and test of the project and counts them together.

The parts are independent programs (structure check, formatters, ctest, lit,
pytest); each is run to its end even when an earlier one failed. The last line
is `N passed, N failed, N skipped`, and the exit code is 1 when any failed.

usage: run_tests.py [--build-dir DIR] [--only PART]...
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from project_files import ROOT

LLVM_BIN = Path("/usr/lib/llvm-22/bin")
# Seconds after which one unit or lit test, and one whole part, counts as hung.
TEST_TIMEOUT = 600
PART_TIMEOUT = 3600
JOBS = str(os.cpu_count() or 2)


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __iadd__(self, other: Count) -> Count:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run(command: list[str]) -> int:
    """Runs `command` in the project's root and returns its exit code.

    Its whole process group is stopped, and counts as failed, after PART_TIMEOUT.
    """
    print("$ " + " ".join(command), flush=True)
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        return process.wait(PART_TIMEOUT)
    except subprocess.TimeoutExpired:
        print(f"error: expected an end within {PART_TIMEOUT} s but got none", flush=True)
        return 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def count_junit(path: Path) -> Count:
    """Counts the test cases of a JUnit file (ctest, lit and pytest write one)."""
    count = Count()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed += 1
        elif case.find("skipped") is not None:
            count.skipped += 1
        else:
            count.passed += 1
    return count


def run_suite(command: list[str], results: Path) -> Count:
    """Runs a test program that writes a JUnit file to `results`.

    A program that failed without naming a failed test (it crashed, or could
    not load its tests) counts as one failure.
    """
    results.unlink(missing_ok=True)
    code = run(command)
    try:
        count = count_junit(results)
    except (OSError, ElementTree.ParseError):
        print(f"error: expected test results in {results} but found none", flush=True)
        return Count(failed=1)
    if code != 0 and count.failed == 0:
        print(f"error: expected exit code 0 but got {code}", flush=True)
        count.failed = 1
    return count


def as_check(code: int) -> Count:
    return Count(passed=1) if code == 0 else Count(failed=1)


class Parts:
    """The parts of the test run; each method is one and returns its count."""

    def __init__(self, build: Path) -> None:
        self.build = build
        self.results = build / "test-results"
        self.results.mkdir(parents=True, exist_ok=True)

    def structure(self) -> Count:
        return as_check(run([sys.executable, "utils/check_structure.py"]))

    def format(self) -> Count:
        return as_check(run([sys.executable, "utils/format.py", "--check"]))

    def unit(self) -> Count:
        results = self.results / "unit.xml"
        return run_suite(
            [
                "ctest",
                "--test-dir",
                str(self.build),
                "--parallel",
                JOBS,
                "--timeout",
                str(TEST_TIMEOUT),
                "--output-on-failure",
                "--no-tests=error",
                "--output-junit",
                str(results),
            ],
            results,
        )

    def lit(self) -> Count:
        lit = LLVM_BIN / "lit"
        results = self.results / "lit.xml"
        return run_suite(
            [
                str(lit if lit.is_file() else shutil.which("lit") or lit),
                "--verbose",
                "--workers",
                JOBS,
                "--timeout",
                str(TEST_TIMEOUT),
                "--xunit-xml-output",
                str(results),
                str(self.build / "test"),
            ],
            results,
        )

    def integration(self) -> Count:
        results = self.results / "integration.xml"
        return run_suite(
            [
                str(ROOT / ".venv/bin/python"),
                "-m",
                "pytest",
                "integration_test",
                "-v",
                "-rfEs",
                "--durations=10",
                # The tests of one file share designs and builds.
                "--numprocesses",
                JOBS,
                "--dist",
                "loadfile",
                f"--junit-xml={results}",
            ],
            results,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", type=Path, default=Path("build"))
    names = ["structure", "format", "unit", "lit", "integration"]
    parser.add_argument("--only", action="append", choices=names, help="run just this part")
    arguments = parser.parse_args()

    parts = Parts((ROOT / arguments.build_dir).resolve())
    total = Count()
    lines = []
    for name in arguments.only or names:
        part: Callable[[], Count] = getattr(parts, name)
        print(f"\n==> {name}", flush=True)
        start = time.monotonic()
        count = part()
        line = f"{name:<12} {time.monotonic() - start:7.1f} s   {count}"
        print(f"==> {line}", flush=True)
        lines.append(line)
        total += count

    print("\n" + "\n".join(lines))
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
