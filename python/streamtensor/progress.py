"""Progress of long steps, on stderr so that stdout carries results only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from streamtensor.interruption import check_interrupted


def say(message: str) -> None:
    """Prints one line of progress."""
    print(f"streamtensor: {message}", file=sys.stderr, flush=True)


@contextmanager
def step(message: str) -> Iterator[None]:
    """Announces a step that may take seconds, and says how long it took.

    Raises `Interrupted` before and behind it where a signal came.
    """
    check_interrupted()
    say(f"{message} ...")
    start = time.monotonic()
    yield
    check_interrupted()
    say(f"{message}: {time.monotonic() - start:.1f} s")
