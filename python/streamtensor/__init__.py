"""StreamTensor's front end: PyTorch modules and language models in, designs out."""

from __future__ import annotations

import sys
from typing import Any

from streamtensor.errors import StreamTensorError

__version__ = "0.1.0"

__all__ = ["StreamTensorError", "compile", "explain", "export", "run"]


def __getattr__(name: str) -> Any:
    # Loaded on first use: PyTorch takes seconds to import, `--help` does not need it.
    if name == "export":
        from streamtensor.exporter import export

        return export
    if name in ("compile", "run"):
        from streamtensor import api

        return getattr(api, name)
    if name == "explain":
        from streamtensor.backend.entry import explain

        return explain
    raise AttributeError(f"module 'streamtensor' has no attribute '{name}'")


def register_backend() -> None:
    """Makes `torch.compile(model, backend="streamtensor")` known where PyTorch is loaded.

    PyTorch finds an installed package by its entry point; this is for one that is only
    on the path, or was installed before there was a backend.
    """
    if "torch" not in sys.modules:
        return
    from importlib.metadata import entry_points

    if "streamtensor" not in entry_points(group="torch_dynamo_backends").names:
        from streamtensor.backend.entry import register

        register()


register_backend()
