"""Checks that layers may run on new tokens behind a past.

A design sees the rows of its cache and then the new tokens. A layer that gets its positions in
tensors (masks, rotary tables, biases of keys) computes the same on these as on the whole sequence.
One that counts rows by itself, or cuts a mask of its own to their number, need not, and nothing but
numbers shows it: so layers are run on a whole sequence, as the model runs them, and again as
designs are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from streamtensor.errors import StreamTensorError
from streamtensor.importer.program import relative_difference
from streamtensor.models.quantized_linear import GroupedLinear
from streamtensor.models.split import ModelSplit
from streamtensor.models.steps import ConcatCache, LayerStep

# Tokens of the whole sequence; its attention is square in memory.
LONGEST = 256


def check_positions(split: ModelSplit, counts: Sequence[int]) -> None:
    """Compares both ways, for each of `counts` new tokens.

    Layers that get the same tensors and have the same buffers are one case.
    """
    length = min(split.max_length, LONGEST)
    check_embedding(split, length, counts)
    ids = torch.zeros((1, length), dtype=torch.long)
    calls = split.stack.record(ids, torch.arange(length)[None])
    seen: list[tuple[dict[str, str], list[torch.Tensor]]] = []
    for index, layer in enumerate(split.stack.layers):
        case = (split.layer_hosts[index], own_buffers(layer))
        if any(same_case(case, other) for other in seen):
            continue
        seen.append(case)
        call = calls[index]
        cache = ConcatCache(None, None, split.cache_dtype)
        hidden = torch.randn(
            call.get(split.hidden_path).shape, generator=torch.Generator().manual_seed(index)
        ).to(call.get(split.hidden_path).dtype)
        with torch.no_grad():
            result = split.stack.run_layer(layer, call, hidden, cache)
        whole = (result, *cache.rows())
        for position, tokens in places(length, counts):
            check_step(split, index, hidden, whole, position, tokens)


def places(length: int, counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yields positions and numbers of tokens: at the begin, middle and end of a sequence."""
    for tokens in counts:
        for position in sorted({0, (length - tokens) // 2, length - tokens}):
            yield position, tokens


def check_embedding(split: ModelSplit, length: int, counts: Sequence[int]) -> None:
    """Compares what the model does before its first layer on a whole sequence, which it is left to
    count by itself, with the same of some tokens whose positions it is told.

    A model that does not take positions would begin each step at the first one.
    """
    vocabulary = split.config.vocab_size
    ids = (torch.arange(length) * 7 + 3)[None] % vocabulary
    whole = split.stack.record(ids, None)[0].get(split.hidden_path)
    for position, tokens in places(length, counts):
        new = slice(position, position + tokens)
        got = split.host_step(ids[0, new].tolist(), position, [])["hidden"]
        difference = relative_difference(got, whole[:, new])
        if not difference <= split.tolerance:
            raise StreamTensorError(
                f"the model makes another state of {tokens} tokens at position {position} than "
                "of the same tokens in a whole sequence, before its first layer (a difference "
                f"of {difference:.2g} of the largest value): it does not count positions from "
                "0, or counts them by itself and not by position_ids; only models can be "
                "split whose forward takes position_ids, with the first token at position 0"
            )


def own_buffers(layer: torch.nn.Module) -> list[torch.Tensor]:
    """The buffers of a layer, without those that are quantized weights."""
    return [
        buffer
        for module in layer.modules()
        if not isinstance(module, GroupedLinear)
        for buffer in module.buffers(recurse=False)
    ]


def same_case(
    one: tuple[dict[str, str], list[torch.Tensor]], other: tuple[dict[str, str], list[torch.Tensor]]
) -> bool:
    return (
        one[0] == other[0]
        and len(one[1]) == len(other[1])
        and all(torch.equal(a, b) for a, b in zip(one[1], other[1], strict=True))
    )


def check_step(
    split: ModelSplit,
    index: int,
    hidden: torch.Tensor,
    whole: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    position: int,
    tokens: int,
) -> None:
    """Runs layer `index` on `tokens` tokens at `position`; `whole` is what it gives for all.

    The results of a layer are its hidden state [1, tokens, size], new keys and new values
    [1, heads, tokens, head size].
    """
    new = slice(position, position + tokens)
    ids = [0] * tokens
    host = split.host_step(ids, position)
    call = split.stack.record(torch.tensor([ids]), torch.arange(tokens)[None] + position)[index]
    step = LayerStep(split, index, call)
    caches = [rows[:, :, :position] for rows in whole[1:]]
    names = split.layer_hosts[index]
    with torch.no_grad():
        results = step([hidden[:, new], *(host[names[path]] for path in step.paths[1:])], *caches)
    expected = (whole[0][:, new], whole[1][:, :, new], whole[2][:, :, new])
    for got, want in zip(results, expected, strict=True):
        difference = relative_difference(got, want)
        if not difference <= split.tolerance:
            raise StreamTensorError(
                f"layer {index} of the model computes something else on {tokens} tokens behind "
                f"{position} rows of a cache than on a whole sequence (a "
                f"difference of {difference:.2g} of the largest value); only models can be split "
                "whose layers get positions in tensors (masks, rotary tables, biases of keys) "
                "and do not count rows by themselves"
            )
