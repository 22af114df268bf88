"""Language models in PyTorch without a part, to see by how much that part counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from streamtensor.models.recording import LayerStack
from streamtensor.models.steps import ConcatCache
from streamtensor.runtime.check import logits_behind


class NoAttention(ConcatCache):
    """Gives zeros for all values, so that attention adds nothing but a bias."""

    def update(self, keys: torch.Tensor, values: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return super().update(keys, torch.zeros_like(values), *args, **kwargs)


def changed_logits(
    stack: LayerStack, tokens: Sequence[int], change: Callable[[int], str]
) -> torch.Tensor:
    """Logits [tokens, vocabulary] of a model whose layer i is run as `change(i)` says.

    'layer' leaves it out, 'attention' leaves its attention out, all else changes nothing.
    """

    def on_call(index: int, args: Any, kwargs: Any) -> Any:
        call = stack.bind(index, args, kwargs)
        without = change(index)
        if without == "layer":
            return stack.wrap_result(call.get(stack.hidden_path))
        cache = (NoAttention if without == "attention" else ConcatCache)(None, None)
        result = stack.call_layer(stack.layers[index], call.leaves, call.spec, cache)
        return stack.wrap_result(result)

    with stack.stubbed(on_call):
        return logits_behind(stack.model, list(tokens))
