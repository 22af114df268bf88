"""Compares generated tokens and logits with PyTorch, teacher-forced.

Of floats the whole model is compared. Quantized activations are steps: where two sums differ in
their last place, a code can fall on the other side of a half, and over all layers PyTorch itself
comes to other logits when its input changes in the last place. So there each layer is compared
alone, on the state that the accelerator gave it, and the head on the last one: an error anywhere
shows in its own layer, and is not lost among others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from streamtensor.models.recording import LayerStack
from streamtensor.models.steps import ConcatCache
from streamtensor.precision import ROUNDING, Precision
from streamtensor.runtime.generation import Generation
from streamtensor.runtime.sampling import Sampler


@dataclass
class Check:
    """How a generation compares to PyTorch.

    `position` is that of the first token behind which something is wrong.
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
    # Of a comparison layer by layer: the largest error of a layer, relative to what it adds.
    layer_error: float | None = None
    position: int | None = None

    @property
    def passed(self) -> bool:
        return not self.wrong

    def add_wrong(self, position: int, line: str) -> None:
        """Adds what is wrong behind the token at `position`, which no later one is before."""
        self.wrong.append(line)
        if self.position is None:
            self.position = position

    def add_layers(self, layers: LayerErrors, precision: Precision) -> None:
        """Adds what a comparison layer by layer has found."""
        self.layer_error = layers.largest
        first = layers.first_above(precision.layer_rounding)
        if first is not None:
            self.position, line = first
            self.wrong.insert(0, line)

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


@dataclass
class LayerErrors:
    """How far each layer is from PyTorch's: [layers, tokens], relative to what it adds."""

    errors: torch.Tensor

    @property
    def largest(self) -> float:
        return float(self.errors.max())

    def first_above(self, tolerance: float) -> tuple[int, str] | None:
        """Returns the first token where a layer leaves the tolerance, and says which does."""
        # In the order of time: tokens, and for each of them layers. A NaN is above.
        wrong = (~(self.errors <= tolerance)).t().nonzero()
        if not len(wrong):
            return None
        token, layer = wrong[0].tolist()
        return token, (
            f"layer {layer} at position {token}: its result is off by "
            f"{float(self.errors[layer, token]):.3g} of what the layer adds "
            f"({tolerance:.3g} are allowed)"
        )


def layerwise_reference(
    model: torch.nn.Module,
    prompt: Sequence[int],
    generation: Generation,
    cache_dtype: torch.dtype | None = None,
) -> tuple[torch.Tensor, LayerErrors]:
    """Runs each layer of PyTorch on the state that the accelerator had before it.

    Returns the logits [generated tokens, vocabulary] that PyTorch makes of the accelerator's last
    states, and the errors of all layers. `generation` has kept its taps. Rows of the cache are
    rounded to `cache_dtype`.
    """
    tokens = [*prompt, *generation.ids[:-1]]
    ids, positions = torch.tensor([tokens]), torch.arange(len(tokens))[None]
    stack = LayerStack(model)
    calls = stack.record(ids, positions)
    hidden = calls[0].get(stack.hidden_path)
    errors = []
    with torch.no_grad():
        for layer, call, tap in zip(stack.layers, calls, generation.taps, strict=True):
            result = stack.run_layer(layer, call, hidden, ConcatCache(None, None, cache_dtype))
            added = (result - hidden)[0].float().norm(dim=-1)
            errors.append((result[0].float() - tap).norm(dim=-1) / added)
            hidden = tap[None].to(result.dtype)
        logits = stack.logits(ids, positions, hidden)[0].float()
    return logits[len(prompt) - 1 :], LayerErrors(torch.stack(errors))


def compare(
    generation: Generation,
    reference: torch.Tensor,
    sampler: Sampler,
    precision: Precision,
    prompt: int = 1,
) -> Check:
    """Compares a generation that kept its logits with `reference_logits`.

    `prompt` is how many tokens were fed before the first one was chosen.
    """
    check = Check(len(generation.ids), 0, 0.0, float(reference.abs().max()))
    for index, (token, logits) in enumerate(zip(generation.ids, generation.logits, strict=True)):
        want = reference[index]
        error = float((logits - want).abs().max())
        check.max_error = max(check.max_error, error)
        allowed = ROUNDING[precision.name] * float(want.abs().max())
        # A NaN is wrong, too.
        if not error <= allowed:
            check.add_wrong(
                prompt - 1 + index,
                f"token {index}: its logits are off by {error:.3g} ({allowed:.3g} are allowed)",
            )
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
        if error <= allowed and gap < 2.0 * error:
            check.excused.append(line)
        else:
            check.add_wrong(prompt - 1 + index, line)
    return check
