"""Talks to the runtime, a C++ process that drives the designs of a compiled model.

Both directions carry messages of one JSON line, which lists tensors, followed by the
raw little-endian bytes of these tensors in order.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from streamtensor.dtypes import NAMES
from streamtensor.errors import StreamTensorError
from streamtensor.toolchain import describe_exit, find_tool
from streamtensor.weights import tensor_bytes

PROGRAM = "streamtensor-runtime"
PATIENCE = 10.0
DTYPES = {name: dtype for dtype, name in NAMES.items()}


class Runtime:
    """A running runtime process; use it as a context manager."""

    def __init__(
        self,
        directory: Path,
        command: list[str] | None = None,
        arguments: Sequence[str] = (),
    ) -> None:
        """Starts the runtime on a compiled model.

        `command` replaces the program (tests use it); the directory and `arguments` are
        appended.
        """
        command = command or [str(find_tool(PROGRAM))]
        # Its stderr is ours: building a simulation takes a while and shows progress.
        # A session of its own: an interrupt from the keyboard reaches us alone.
        self.process = subprocess.Popen(
            [*command, str(directory), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        # Who interrupts does not wait for a build to end.
        self.close(patience=PATIENCE if kind is None else 1)

    def request(
        self, op: str, tensors: Mapping[str, torch.Tensor] | None = None, **fields: Any
    ) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """Sends one request and returns the response and its tensors by name."""
        views = {name: tensor_bytes(tensor) for name, tensor in (tensors or {}).items()}
        message = {"op": op, **fields}
        if tensors is not None:
            message["tensors"] = [
                {
                    "name": name,
                    "shape": list(tensor.shape),
                    "dtype": NAMES[tensor.dtype],
                    "bytes": len(views[name]),
                }
                for name, tensor in tensors.items()
            ]
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            for view in views.values():
                self.process.stdin.write(view)
            self.process.stdin.flush()
        except BrokenPipeError:
            self._fail(op)
        return self._response(op)

    def _response(self, op: str) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        line = self.process.stdout.readline()
        if not line:
            self._fail(op)
        try:
            response = json.loads(line)
        except ValueError as error:
            raise StreamTensorError(
                f"the runtime answered '{op}' with something that is no JSON: {line[:200]!r}"
            ) from error
        if not response.get("ok"):
            raise StreamTensorError(f"the runtime refused '{op}': {response.get('error')}")
        tensors = {}
        for entry in response.get("tensors", []):
            data = self.process.stdout.read(entry["bytes"])
            if len(data) != entry["bytes"]:
                self._fail(op)
            dtype = DTYPES[entry.get("dtype", "F32")]
            flat = torch.frombuffer(bytearray(data), dtype=dtype)
            tensors[entry["name"]] = flat.reshape(entry["shape"])
        return response, tensors

    def _fail(self, op: str) -> None:
        code = self.process.wait()
        raise StreamTensorError(
            f"{describe_exit(PROGRAM, code)} during '{op}'; its own messages stand above"
        )

    def close(self, patience: float = PATIENCE) -> None:
        """Ends the process; it is killed when it does not end by itself in `patience` seconds."""
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.process.stdin.write(b'{"op": "quit"}\n')
                self.process.stdin.close()
            try:
                self.process.wait(timeout=patience)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, 9)
                self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
