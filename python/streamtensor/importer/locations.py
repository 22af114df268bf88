"""Where in the user's model a node of the graph comes from."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import torch

FRAME = re.compile(r'File "([^"]+)", line (\d+)')
TORCH_ROOT = str(Path(torch.__file__).parent) + os.sep


@dataclass(frozen=True)
class ModelLine:
    """One line of a model's source, and the module path it was executed in."""

    file: str
    line: int
    path: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file else "unknown line"
        return f"{place} ({self.path})" if self.path else place


def model_line(node: torch.fx.Node, prefix: str = "") -> ModelLine:
    """Returns the innermost line of `node` that is not PyTorch's own.

    `prefix` is taken off the front of the module path (the name under which a
    wrapper of ours holds the user's module).
    """
    frames = FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not frame[0].startswith(TORCH_ROOT)]
    file, line = (own or frames or [("", "0")])[-1]
    return ModelLine(short_path(file), int(line), module_path(node, prefix))


def module_path(node: torch.fx.Node, prefix: str = "") -> str:
    """Returns the path of the innermost module that `node` was executed in."""
    stack = node.meta.get("nn_module_stack") or {}
    path = list(stack.values())[-1][0] if stack else ""
    return strip_prefix(path, prefix)


def strip_prefix(name: str, prefix: str) -> str:
    if not prefix:
        return name
    return "" if name == prefix else name.removeprefix(prefix + ".")


def short_path(file: str) -> str:
    """Returns a path that does not depend on where things are installed.

    Installed packages are named from their site-packages, files below the current
    directory relative to it; anything else keeps its path.
    """
    _, found, tail = file.rpartition("site-packages" + os.sep)
    if found:
        return tail
    here = os.getcwd() + os.sep
    return file.removeprefix(here) if file.startswith(here) else file
