"""Chooses the next token from logits."""

from __future__ import annotations

import torch


class Sampler:
    """Greedy without a temperature; else by temperature, top-k and top-p from a seed.

    Each choice uses one uniform number, which is kept, so that another set of logits
    can be asked what it would have chosen.
    """

    def __init__(
        self,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int = 0,
    ) -> None:
        self.temperature = temperature
        self.top_k = top_k
        self.top_p = top_p
        self.generator = torch.Generator().manual_seed(seed)
        self.drawn: list[float] = []

    def choose(self, logits: torch.Tensor) -> int:
        """Returns the token for logits of shape [vocabulary]."""
        uniform = float(torch.rand((), generator=self.generator, dtype=torch.float64))
        self.drawn.append(uniform)
        return self.choose_at(logits, uniform)

    def choose_at(self, logits: torch.Tensor, uniform: float) -> int:
        """Returns the token that `uniform` in [0, 1) selects."""
        if self.temperature <= 0.0:
            return int(logits.argmax())
        values, order = torch.sort(logits.double() / self.temperature, descending=True, stable=True)
        probabilities = torch.softmax(values, dim=0)
        keep = len(order)
        if self.top_k is not None:
            keep = min(keep, self.top_k)
        if self.top_p is not None:
            # As many tokens as are needed to reach top_p, the one that reaches it included.
            before = probabilities.cumsum(0) - probabilities
            keep = min(keep, int((before < self.top_p).sum()))
        kept = probabilities[: max(keep, 1)]
        position = torch.searchsorted(kept.cumsum(0), uniform * kept.sum(), right=True)
        return int(order[min(int(position), len(kept) - 1)])
