"""The arithmetic that a design may have."""

from __future__ import annotations

from streamtensor.errors import StreamTensorError

PRECISIONS = ("f32", "f16", "bf16", "w8a8", "w4a8")
COMPILED = ("f32",)


def refuse_precision(precision: str) -> None:
    """Raises `StreamTensorError` for a precision that cannot be compiled."""
    if precision not in PRECISIONS:
        raise StreamTensorError(
            f"expected a precision of {', '.join(PRECISIONS)} but got '{precision}'"
        )
    if precision not in COMPILED:
        raise StreamTensorError(
            f"precision '{precision}' cannot be compiled yet; use {', '.join(COMPILED)}"
        )
