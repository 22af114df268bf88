"""Finds and runs the C++ programs of the project."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from streamtensor.errors import StreamTensorError

BIN_DIR_VARIABLE = "STREAMTENSOR_BIN_DIR"
REPOSITORY_BIN = Path(__file__).resolve().parents[2] / "build" / "bin"


def find_tool(name: str) -> Path:
    """Returns the path of a program: from the variable, the repository's build, or PATH."""
    chosen = os.environ.get(BIN_DIR_VARIABLE)
    if chosen:
        path = Path(chosen) / name
        if path.is_file():
            return path
        raise StreamTensorError(
            f"there is no '{name}' in '{chosen}', which {BIN_DIR_VARIABLE} names; "
            "unset the variable or build the tools there"
        )
    path = REPOSITORY_BIN / name
    if path.is_file():
        return path
    found = shutil.which(name)
    if found:
        return Path(found)
    raise StreamTensorError(
        f"'{name}' is not built; run `make build` in the repository, or let {BIN_DIR_VARIABLE} "
        "name the directory it is in"
    )


class ToolFailed(StreamTensorError):
    """A program that was found and has failed; `messages` are its own.

    `code` is its exit code, below zero the signal that ended it.
    """

    def __init__(self, name: str, code: int, messages: str) -> None:
        super().__init__(f"{describe_exit(name, code)}\n{messages}")
        self.code = code
        self.messages = messages


def run_tool(name: str, arguments: Sequence[str | Path]) -> str:
    """Runs a program to its end and returns what it printed.

    A failure becomes a `ToolFailed` with the program's own messages.
    """
    command = [str(find_tool(name)), *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            output, errors = process.communicate()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise ToolFailed(name, process.returncode, errors.strip())
    return output


@functools.cache
def check_target(target: str) -> None:
    """Fails where the compiler knows no such device, before the minutes that an import takes."""
    try:
        run_tool("streamtensor-compile", ["--check-target", f"--target={target}"])
    except ToolFailed as error:
        raise StreamTensorError(error.messages.removeprefix("error: ")) from error


def describe_exit(name: str, code: int) -> str:
    if code < 0:
        return f"'{name}' was ended by signal {-code}"
    return f"'{name}' failed with exit code {code}"


def file_hash(path: Path) -> str:
    """Returns the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
