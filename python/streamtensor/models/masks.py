"""Attention masks and other tensors of keys, for new tokens behind a past.

A layer on the accelerator attends to the rows of the cache that are filled and to the
new tokens, always all of them. What is masked (the future, what lies outside a sliding
window) the model decides: it builds its masks once for a whole sequence, and rows and
columns are picked from those. So it is with what else a model says of each key, such
as ALiBi's biases, which grow with the key's position.
"""

from __future__ import annotations

import torch

from streamtensor.errors import StreamTensorError


def pick_keys(table: torch.Tensor, position: int, tokens: int) -> torch.Tensor:
    """Returns the columns of `table` [..., length] that `tokens` new tokens at `position` see.

    They are those of all rows of the cache, 0 to position - 1, and of the new tokens.
    """
    end = position + tokens
    if not (0 <= position <= end <= table.shape[-1]):
        raise ValueError(
            f"tokens {position}..{end - 1} do not fit a table of {table.shape[-1]} positions"
        )
    return table[..., :end].contiguous()


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

    def at(self, position: int, tokens: int) -> torch.Tensor:
        """Returns the tensor [..., position + tokens] of new tokens at `position`."""
        return pick_keys(self.own, position, tokens)


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
                "the model masks a token from itself, so the first token would have no finite "
                "score; only causal masks can be used"
            )

    def at(self, position: int, tokens: int) -> torch.Tensor:
        """Returns the mask [1, heads, tokens, position + tokens] of new tokens at `position`.

        Every row has its own token unmasked, so no row of the softmax is empty.
        """
        return pick_keys(self.own[:, :, position : position + tokens], position, tokens)
