"""How well a compiled model predicts a text: perplexity, and its distance from PyTorch.

A text of N tokens has N - 1 predictions: the logits behind each token but the last one, for the
token that follows. Where the model is compiled for fewer positions, the N - 1 tokens that are fed
are cut into windows without overlap, each starting with an empty cache; every token but the
first of the text is predicted exactly once, and PyTorch gets the same windows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from streamtensor.errors import StreamTensorError

# Rows of logits that are compared at a time: in f64, of vocabularies of 260,000.
ROWS = 32


def windows(tokens: Sequence[int], length: int) -> list[tuple[list[int], list[int]]]:
    """Cuts a text into (fed, following) tokens of at most `length`; `following[i]` is what
    comes behind `fed[i]` in the text.
    """
    fed, following = list(tokens[:-1]), list(tokens[1:])
    return [
        (fed[start : start + length], following[start : start + length])
        for start in range(0, len(fed), length)
    ]


@dataclass
class Quality:
    """Sums over predictions of the accelerator's logits against PyTorch's."""

    predictions: int = 0
    # Sums of -log(probability of the token that follows), in nats.
    surprise: float = 0.0
    reference_surprise: float = 0.0
    # Sum of KL(PyTorch || accelerator), in nats.
    divergence: float = 0.0
    agreements: int = 0
    max_error: float = 0.0
    max_logit: float = 0.0

    def add(self, logits: torch.Tensor, reference: torch.Tensor, following: Sequence[int]) -> None:
        """Adds predictions: two tensors [tokens, vocabulary] and the tokens that follow.

        Fails where the accelerator's logits are not finite.
        """
        for start in range(0, len(following), ROWS):
            rows = slice(start, start + ROWS)
            self._add(logits[rows], reference[rows], torch.tensor(following[rows]))

    def _add(self, logits: torch.Tensor, reference: torch.Tensor, following: torch.Tensor) -> None:
        finite = logits.isfinite().all(dim=-1)
        if not bool(finite.all()):
            row = self.predictions + int((~finite).nonzero()[0])
            raise StreamTensorError(
                f"the accelerator's logits behind token {row} of the text are not finite; "
                "`streamtensor generate --check` compares it token by token"
            )
        ours = torch.log_softmax(logits.double(), dim=-1)
        theirs = torch.log_softmax(reference.double(), dim=-1)
        at = following[:, None]
        self.predictions += len(following)
        self.surprise -= float(ours.gather(1, at).sum())
        self.reference_surprise -= float(theirs.gather(1, at).sum())
        # Not below zero but for rounding.
        self.divergence += max(0.0, float((theirs.exp() * (theirs - ours)).sum()))
        self.agreements += int((logits.argmax(dim=-1) == reference.argmax(dim=-1)).sum())
        self.max_error = max(self.max_error, float((logits - reference).abs().max()))
        self.max_logit = max(self.max_logit, float(reference.abs().max()))

    @property
    def perplexity(self) -> float:
        return math.exp(self.surprise / self.predictions)

    @property
    def reference_perplexity(self) -> float:
        return math.exp(self.reference_surprise / self.predictions)

    @property
    def perplexity_ratio(self) -> float:
        """The accelerator's perplexity over PyTorch's."""
        return math.exp((self.surprise - self.reference_surprise) / self.predictions)

    @property
    def kl_divergence(self) -> float:
        """The mean of KL(PyTorch || accelerator) over the predictions, in nats."""
        return self.divergence / self.predictions

    @property
    def top1_agreement(self) -> float:
        """The part of the predictions whose most probable token is PyTorch's, 0 to 1."""
        return self.agreements / self.predictions
