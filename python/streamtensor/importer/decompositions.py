"""The decomposition table of the import: torch-mlir's own, and exact forms of ours."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch


def exact_gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """GELU in both forms, as PyTorch defines them.

    torch-mlir's own tanh form has 0.797724 where sqrt(2/pi) = 0.7978846 belongs,
    which costs 5e-5 per element.
    """
    if approximate == "tanh":
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * (x * x * x))
        return 0.5 * x * (1.0 + torch.tanh(inner))
    return 0.5 * x * (1.0 + torch.erf(x * math.sqrt(0.5)))


def decomposition_table() -> dict[Any, Callable]:
    """Returns the table for `ExportedProgram.run_decompositions`."""
    from torch_mlir.fx import get_decomposition_table

    table = dict(get_decomposition_table())
    table[torch.ops.aten.gelu.default] = exact_gelu
    return table
