"""Compares generated tokens and logits with PyTorch, teacher-forced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from streamtensor.precision import ROUNDING, Precision
from streamtensor.runtime.generation import Generation
from streamtensor.runtime.sampling import Sampler


@dataclass
class Check:
    """How a generation compares to PyTorch.

    `excused` lists differences where the logits agree up to rounding and PyTorch's two
    best are closer than twice the error of that step, so that either token is right;
    `wrong` lists the others.
    """

    total: int
    equal: int
    max_error: float
    max_logit: float
    excused: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.wrong

    def summary(self) -> str:
        return f"tokens equal: {self.equal}/{self.total}; max abs logit error: {self.max_error:.3g}"


def reference_logits(
    model: torch.nn.Module, prompt: Sequence[int], ids: Sequence[int]
) -> torch.Tensor:
    """Returns PyTorch's logits [len(ids), vocabulary] before each of `ids`.

    Each follows the tokens that were really generated, so one difference does not make
    all later tokens incomparable.
    """
    return logits_behind(model, [*prompt, *ids[:-1]])[len(prompt) - 1 :]


def logits_behind(model: torch.nn.Module, tokens: Sequence[int]) -> torch.Tensor:
    """Returns PyTorch's logits [len(tokens), vocabulary] behind each of `tokens`, in f32."""
    with torch.no_grad():
        return model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0].float()


def compare(
    generation: Generation, reference: torch.Tensor, sampler: Sampler, precision: Precision
) -> Check:
    """Compares a generation that kept its logits with `reference_logits`."""
    check = Check(len(generation.ids), 0, 0.0, float(reference.abs().max()))
    for index, (token, logits) in enumerate(zip(generation.ids, generation.logits, strict=True)):
        want = reference[index]
        error = float((logits - want).abs().max())
        check.max_error = max(check.max_error, error)
        expected = sampler.choose_at(want, sampler.drawn[index])
        if token == expected:
            check.equal += 1
            continue
        best = torch.topk(want, 2).values
        gap = float(best[0] - best[1])
        line = (
            f"token {index}: {token} instead of PyTorch's {expected}, whose two best logits are "
            f"{gap:.3g} apart at an error of {error:.3g}"
        )
        is_rounding = error <= ROUNDING[precision.name] * float(want.abs().max())
        (check.excused if is_rounding and gap < 2.0 * error else check.wrong).append(line)
    return check
