"""Layers that do without a tensor which other layers use.

One design serves all layers. Where some of them leave a step out (every fourth layer rotates
nothing), the step is in the design nevertheless, and its tensor decides what it does: cosines of 1
and sines of 0 rotate nothing, biases of 0 add nothing. No such rule is written here: layers are
captured where most tensors are used, and for a layer that ignores some of these, zeros and ones are
tried until the program computes what the layer does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from streamtensor.models.split import ModelSplit
    from streamtensor.models.steps import LayerExamples

CANDIDATES = (0.0, 1.0)
# Combinations grow with the power of it; rotary tables are two.
MOST_TENSORS = 4


def ignored_tensors(examples: LayerExamples, index: int) -> set[str]:
    """Returns the paths of the floating-point host tensors that layer `index` does not read."""
    step = examples.step(index)
    tensors, *pasts = examples.inputs(step, index)
    ignored = set()
    with torch.no_grad():
        expected = step(tensors, *pasts)
        for position, path in enumerate(step.paths):
            if position == 0 or not tensors[position].is_floating_point():
                continue
            changed = list(tensors)
            # Not the same for all elements: a softmax does not see what a whole row is raised by.
            noise = torch.rand(tensors[position].shape, generator=torch.Generator().manual_seed(0))
            changed[position] = tensors[position] + (1.0 + noise).to(tensors[position].dtype)
            results = step(changed, *pasts)
            if all(torch.equal(a, b) for a, b in zip(results, expected, strict=True)):
                ignored.add(path)
    return ignored


def fill_ignored(
    split: ModelSplit, index: int, paths: Sequence[str], is_same: Callable[[], bool]
) -> None:
    """Lets layer `index` get constant tensors for `paths`, with which `is_same` holds.

    Without any that do, the layer keeps its own tensors.
    """
    if len(paths) > MOST_TENSORS:
        return
    for values in itertools.product(CANDIDATES, repeat=len(paths)):
        split.fill(index, dict(zip(paths, values, strict=True)))
        if is_same():
            return
    split.fill(index, {})
