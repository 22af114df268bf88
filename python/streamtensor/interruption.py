"""SIGINT and SIGTERM: nothing half-written stays.

The command unwinds by an exception. A library may take it for an error of its own or lose it, so
what was asked for is kept, and looked at between steps and at the end. Where PyTorch is on the
stack, its C code may call Python and crash on an exception from there: then the process removes
what it was writing and ends at once.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

MESSAGE = "interrupted; nothing was left half-written"
# Packages whose C code calls Python.
CALLING_BACK = frozenset(["torch", "torch_mlir"])

_was_asked_for = False
_unfinished: set[Path] = set()


class Interrupted(BaseException):
    """SIGINT or SIGTERM. Not KeyboardInterrupt: where that passes through Python code
    that a C library runs, the interpreter exits by the signal although it was caught.
    """


def unwind_on_signals() -> None:
    """Lets both signals raise `Interrupted` in the main thread from now on."""
    global _was_asked_for
    _was_asked_for = False
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)


def interrupt(number: int, frame: FrameType | None) -> None:
    global _was_asked_for
    _was_asked_for = True
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in CALLING_BACK:
            end_at_once()
        frame = frame.f_back
    raise Interrupted


def end_at_once() -> None:
    for path in _unfinished:
        shutil.rmtree(path, ignore_errors=True)
    # Not sys.stderr, which may be redirected for the time of a trace.
    os.write(2, f"streamtensor: error: {MESSAGE}\n".encode())
    os._exit(1)


@contextmanager
def unfinished(directory: Path) -> Iterator[None]:
    """Says that a directory is to be removed where the process ends within the block."""
    _unfinished.add(directory)
    try:
        yield
    finally:
        _unfinished.discard(directory)


def is_interrupted() -> bool:
    """Whether one of the signals came, whatever became of its exception."""
    return _was_asked_for


def check_interrupted() -> None:
    """Raises `Interrupted` where one of the signals came and its exception was lost."""
    if _was_asked_for:
        raise Interrupted
