"""Attention masks for a cache of fixed size, taken from the model's own masks.

A layer on the accelerator attends to `past` cache rows and the new tokens, always
all of them; rows that hold nothing yet are masked. What else is masked (the future,
what lies outside a sliding window) the model decides: it builds its masks once for
a whole sequence, and rows and columns are picked from those.
"""

from __future__ import annotations

import torch

from streamtensor.errors import StreamTensorError


class MaskTable:
    """One mask of a model over its longest sequence: [1, heads, length, length]."""

    def __init__(self, own: torch.Tensor) -> None:
        if own.dtype == torch.bool:
            lowest = torch.finfo(torch.float32).min
            own = torch.zeros(own.shape).masked_fill(~own, lowest)
        self.own = own
        diagonal = own.diagonal(dim1=-2, dim2=-1)
        if bool((diagonal <= torch.finfo(own.dtype).min / 2).any()):
            raise StreamTensorError(
                "the model masks a token from itself, so a row of padding would have no finite "
                "score; only causal masks can be used"
            )

    @property
    def length(self) -> int:
        return self.own.shape[-1]

    def fixed(self, position: int, tokens: int, past: int) -> torch.Tensor:
        """Returns the mask [1, heads, tokens, past + tokens] of new tokens at `position`.

        Columns 0..past-1 are the cache rows, of which 0..position-1 are filled; the
        others are the new tokens. Every row has its own token unmasked, so no row of
        the softmax is empty, not even one of padding.
        """
        end = position + tokens
        if not (0 <= position <= past and end <= self.length):
            raise ValueError(f"tokens {position}..{end - 1} do not fit {past} rows of cache")
        rows = self.own[:, :, position:end]
        lowest = torch.finfo(self.own.dtype).min
        mask = torch.full((*rows.shape[:3], past + tokens), lowest, dtype=self.own.dtype)
        mask[..., :position] = rows[..., :position]
        mask[..., past:] = rows[..., position:end]
        return mask
