"""StreamTensor's front end: PyTorch modules and language models in, designs out."""

from __future__ import annotations

from typing import Any

from streamtensor.errors import StreamTensorError

__all__ = ["StreamTensorError", "compile", "export", "run"]


def __getattr__(name: str) -> Any:
    # Loaded on first use: PyTorch takes seconds to import, `--help` does not need it.
    if name == "export":
        from streamtensor.exporter import export

        return export
    if name in ("compile", "run"):
        from streamtensor import api

        return getattr(api, name)
    raise AttributeError(f"module 'streamtensor' has no attribute '{name}'")
