"""Designs of partitions on disk: compiled once for each text, target and compiler.

The cache is below that of models (`STREAMTENSOR_CACHE_DIR`). A design appears there
under its name when it is complete. What the compiler refuses is kept as well. When
there are more designs than `MOST_DESIGNS`, those that were not used for longest go,
but none that was used within the last hour, as another process may run it.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from streamtensor.backend.programs import OPERATORS, Partition
from streamtensor.designs import INTERFACE
from streamtensor.errors import StreamTensorError
from streamtensor.manifest import manifest_of, write_export, write_json
from streamtensor.module_compiler import compile_into
from streamtensor.output import staged_directory
from streamtensor.runtime.cache import cache_root
from streamtensor.toolchain import ToolFailed, file_hash, find_tool

FOLDER = "designs"
REFUSED = "refused.json"
# What the compiler says of a device that it does not know.
WRONG_TARGET = "expected a target among"
# What it says of a design that does not fit, and the budgets to try one after another.
TOO_LARGE = "--onchip-budget-bytes=N (smaller tiles"
BUDGETS = (None, *(mebibytes << 20 for mebibytes in (8, 4, 2, 1)))
MOST_DESIGNS = 256
KEPT_SECONDS = 3600.0


@functools.cache
def compiler_hash(path: Path, modified: int) -> str:
    """`modified` is the program's time of change: a new build is another compiler."""
    return file_hash(path)


def design_key(partition: Partition, text: str, target: str) -> str:
    compiler = find_tool("streamtensor-compile")
    parts = {
        "text": text,
        "manifest": manifest_of(partition.program, with_weights=False),
        "target": target,
        "budgets": BUDGETS,
        "compiler": compiler_hash(compiler, compiler.stat().st_mtime_ns),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def cached_design(partition: Partition, text: str, target: str) -> tuple[Path, bool]:
    """Returns the directory of the design, and whether it was compiled now.

    Raises `ToolFailed` with the compiler's messages where it refuses, also when it
    did so before, and `StreamTensorError` where there is no such target.
    """
    key = design_key(partition, text, target)
    folder = cache_root() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    directory = folder / key
    with locked(folder / f".{key}.lock"):
        if (directory / INTERFACE).is_file():
            os.utime(directory)
            return directory, False
        if (directory / REFUSED).is_file():
            os.utime(directory)
            raise ToolFailed("streamtensor-compile", 1, read_refusal(directory))

        def write(exported: Path) -> None:
            exported.mkdir()
            write_export(exported, partition.program, text, with_weights=False)
            (exported / OPERATORS).write_text("".join(line + "\n" for line in partition.lines))

        try:
            compile_to_fit(directory, target, write)
        except ToolFailed as error:
            if WRONG_TARGET in error.messages:
                # Not about this partition: nothing can be compiled.
                raise StreamTensorError(error.messages.partition("error: ")[2]) from error
            # A compiler that was ended by a signal may do better next time.
            if error.code == 1:
                with staged_directory(directory, [REFUSED]) as staging:
                    write_json(staging / REFUSED, {"messages": error.messages})
            raise
        # Made here: what is opened through a link to it must find it.
        (directory / "csim").mkdir(exist_ok=True)
    prune(folder)
    return directory, True


def compile_to_fit(directory: Path, target: str, write: Callable[[Path], object]) -> None:
    """Compiles with less and less memory on chip, as long as the compiler says that this helps."""
    for budget in BUDGETS:
        arguments = () if budget is None else (f"--onchip-budget-bytes={budget}",)
        try:
            compile_into(directory, target, write, arguments)
            return
        except ToolFailed as error:
            if TOO_LARGE not in error.messages or budget == BUDGETS[-1]:
                raise


def read_refusal(directory: Path) -> str:
    return json.loads((directory / REFUSED).read_text())["messages"]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lets one process at a time compile a design; the others then find it.

    The file stays: who waits on it and who comes later must mean the same one.
    """
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prune(folder: Path) -> None:
    """Removes the designs that were not used for longest, and what was never finished."""
    designs, others = [], []
    for path in folder.iterdir():
        found = others if path.name.startswith(".") else designs
        found.append((path.stat().st_mtime, path))
    designs.sort(reverse=True)
    for moment, path in designs[MOST_DESIGNS:] + others:
        if time.time() - moment > KEPT_SECONDS:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
