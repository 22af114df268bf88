"""Attention masks and other tensors of keys, for a cache of fixed size.

A layer on the accelerator attends to `past` cache rows and the new tokens, always
all of them; rows that hold nothing yet are masked. What else is masked (the future,
what lies outside a sliding window) the model decides: it builds its masks once for
a whole sequence, and rows and columns are picked from those. So it is with what else
a model says of each key, such as ALiBi's biases, which grow with the key's position.
"""

from __future__ import annotations

import torch

from streamtensor.errors import StreamTensorError


def pick_keys(
    table: torch.Tensor, position: int, tokens: int, past: int, empty: float
) -> torch.Tensor:
    """Returns columns of `table` [..., length] as they lie in a cache: [..., past + tokens].

    Columns 0..past-1 are the cache rows, of which 0..position-1 are filled and the others
    `empty`; then come the new tokens, which stand at `position`.
    """
    end = position + tokens
    if not (0 <= position <= past and end <= table.shape[-1]):
        raise ValueError(f"tokens {position}..{end - 1} do not fit {past} rows of cache")
    picked = torch.full((*table.shape[:-1], past + tokens), empty, dtype=table.dtype)
    picked[..., :position] = table[..., :position]
    picked[..., past:] = table[..., position:end]
    return picked


def follows_keys(table: torch.Tensor, part: torch.Tensor) -> bool:
    """Whether the last axis of a tensor counts keys: positions from 0 on.

    `table` is what a layer gets for all positions, `part` for the last one alone, without a
    past. A model that looks at the positions of tokens gives the last column of `table`; one
    that counts keys, and knows of only one, the first.
    """
    length = table.shape[-1] if table.dim() else 0
    if length < 2 or tuple(part.shape) != (*table.shape[:-1], 1):
        return False
    first, last = table[..., :1], table[..., -1:]
    return torch.equal(part, first) and not torch.equal(part, last)


class KeyTable:
    """What a model says of each key over its longest sequence: [..., length]."""

    def __init__(self, own: torch.Tensor) -> None:
        self.own = own

    def fixed(self, position: int, tokens: int, past: int) -> torch.Tensor:
        """Returns the tensor [..., past + tokens] of new tokens at `position`.

        Cache rows that hold nothing yet have zeros; the mask hides them.
        """
        return pick_keys(self.own, position, tokens, past, 0.0)


class MaskTable:
    """One mask of a model over its longest sequence: [1, heads, length, length]."""

    def __init__(self, own: torch.Tensor) -> None:
        if own.dtype == torch.bool:
            if not bool(own.diagonal(dim1=-2, dim2=-1).any()):
                raise StreamTensorError(
                    "the model gives its layers a boolean mask in which True hides a token; only "
                    "masks that are added to scores, or in which True keeps a token, can be used"
                )
            lowest = torch.finfo(torch.float32).min
            own = torch.zeros(own.shape).masked_fill(~own, lowest)
        self.own = own
        diagonal = own.diagonal(dim1=-2, dim2=-1)
        if bool((diagonal <= torch.finfo(own.dtype).min / 2).any()):
            raise StreamTensorError(
                "the model masks a token from itself, so a row of padding would have no finite "
                "score; only causal masks can be used"
            )

    def fixed(self, position: int, tokens: int, past: int) -> torch.Tensor:
        """Returns the mask [1, heads, tokens, past + tokens] of new tokens at `position`.

        Its columns are those of `pick_keys`. Every row has its own token unmasked, so no
        row of the softmax is empty, not even one of padding.
        """
        rows = self.own[:, :, position : position + tokens]
        return pick_keys(rows, position, tokens, past, torch.finfo(self.own.dtype).min)
