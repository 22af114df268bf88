"""Formats the C++ and Python sources, or checks that they are formatted.

usage: format.py [--check]

With --check nothing is written; every badly formatted file is named and the
exit code is 1.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
from pathlib import Path

from project_files import CPP_SUFFIXES, ROOT, project_files

CLANG_FORMATS = ("clang-format-22", "/usr/lib/llvm-22/bin/clang-format")


def find_clang_format() -> str:
    for name in CLANG_FORMATS:
        found = shutil.which(name)
        if found:
            return found
    sys.exit("format: error: expected clang-format-22 but found none; run utils/setup.sh")


def find_ruff() -> str:
    ruff = ROOT / ".venv/bin/ruff"
    if not ruff.is_file():
        sys.exit(f"format: error: expected {ruff} but found none; run utils/setup.sh")
    return str(ruff)


def check_cpp_file(clang_format: str, path: Path) -> bool:
    """Returns whether `path` is formatted; prints its name otherwise."""
    run = subprocess.run(
        [clang_format, "--dry-run", "-Werror", str(path)], cwd=ROOT, capture_output=True, text=True
    )
    if run.returncode == 0:
        return True
    print(f"{path}: not formatted; run make format")
    return False


def format_cpp(paths: list[Path], check: bool) -> int:
    """Returns how many of `paths` are (were, with `check`) not formatted."""
    if not paths:
        return 0
    clang_format = find_clang_format()
    if not check:
        subprocess.run([clang_format, "-i", *map(str, paths)], cwd=ROOT, check=True)
        return 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(not ok for ok in pool.map(lambda p: check_cpp_file(clang_format, p), paths))


def format_python(paths: list[Path], check: bool) -> int:
    """Returns how many of the commands of ruff failed on `paths`."""
    if not paths:
        return 0
    ruff = find_ruff()
    commands = (
        [["check", "-q"], ["format", "--check", "-q"]]
        if check
        else [["check", "-q", "--fix"], ["format", "-q"]]
    )
    failures = 0
    for command in commands:
        run = subprocess.run([ruff, *command, *map(str, paths)], cwd=ROOT)
        failures += run.returncode != 0
        if run.returncode != 0 and check:
            print(f"ruff {' '.join(command)}: failed; run make format")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 on a finding")
    check = parser.parse_args().check
    files = project_files()
    failures = format_cpp([path for path in files if path.suffix in CPP_SUFFIXES], check)
    failures += format_python([path for path in files if path.suffix == ".py"], check)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
