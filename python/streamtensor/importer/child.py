"""Runs a function in a forked child, because torch-mlir can take its process down.

The child sees the parent's objects without copying them. It uses one thread: the
thread pools of the parent do not exist after the fork.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass
class ChildResult:
    """What a child left behind.

    `value` is the function's result; `error` the exception's text when it raised,
    or the name of the signal that ended the process; `stderr` what it and the C++
    libraries in it wrote; `notes` what the function reported before it ended.
    """

    value: Any = None
    error: str | None = None
    crashed: bool = False
    stderr: str = ""
    notes: list[Any] = field(default_factory=list)


def run_in_child(function: Callable[[Callable[[Any], None]], Any]) -> ChildResult:
    """Calls `function(note)` in a forked child and waits for it.

    `note(x)` sends a picklable value to the parent at once, so that it is known
    even if the child crashes afterwards.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    read_end, write_end = os.pipe()
    with tempfile.TemporaryFile() as stderr_file:
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            _child(function, write_end, stderr_file.fileno())
        os.close(write_end)
        result = ChildResult()
        try:
            finished = _read_messages(read_end, result)
        except BaseException:
            # Interrupted: the child must not go on alone.
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        _, status = os.waitpid(pid, 0)
        stderr_file.seek(0)
        result.stderr = stderr_file.read().decode(errors="replace")
    if not finished:
        result.crashed = True
        result.error = _describe_status(status)
    return result


def _read_messages(read_end: int, result: ChildResult) -> bool:
    """Fills `result` from the pipe; returns whether the child reached its end."""
    with os.fdopen(read_end, "rb") as pipe:
        while True:
            try:
                kind, value = pickle.load(pipe)
            except (EOFError, pickle.UnpicklingError):
                return False
            if kind == "note":
                result.notes.append(value)
            elif kind == "value":
                result.value = value
                return True
            else:
                result.error = value
                return True


def _child(function: Callable[[Callable[[Any], None]], Any], write_end: int, stderr: int) -> None:
    code = 1
    try:
        os.dup2(stderr, 1)
        os.dup2(stderr, 2)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # A crash is expected and reported by the parent, which shows no trace of it.
        faulthandler.disable()
        torch.set_num_threads(1)
        with os.fdopen(write_end, "wb") as pipe:

            def send(kind: str, value: Any) -> None:
                pickle.dump((kind, value), pipe)
                pipe.flush()

            try:
                send("value", function(lambda value: send("note", value)))
            except BaseException as error:
                text = str(error).strip() or type(error).__name__
                traceback.print_exc()
                send("error", text)
        code = 0
    finally:
        # No exit handlers: they belong to the parent.
        os._exit(code)


def _describe_status(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"the process was ended by {signal.Signals(number).name}"
    return f"the process ended with exit code {os.WEXITSTATUS(status)}"
