"""The two modules that become designs: a layer, and the head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache

from streamtensor.errors import StreamTensorError
from streamtensor.importer.program import Program, capture, relative_difference
from streamtensor.models.fillings import fill_ignored, ignored_tensors
from streamtensor.models.recording import LayerCall, constant_modules
from streamtensor.models.split import ModelSplit

# How a layer's inputs that are no weights are told apart.
HIDDEN, PAST_KEY, PAST_VALUE = "hidden", "past_key", "past_value"

# How many new tokens, or rows of the cache: a number, or a torch.export.Dim with
# limits for a program of every number from its min to its max.
Length = int | torch.export.Dim
# Sizes of a dynamic dimension in the example that is traced: torch.export takes 0
# and 1 for constants.
TRACED_TOKENS, TRACED_PAST = 5, 7
# Positions that two new tokens and a past of three need.
SHORTEST = 5


def limits(length: Length) -> tuple[int, int]:
    """Returns the smallest and the largest value of a length."""
    return (length, length) if isinstance(length, int) else (length.min, length.max)


def traced_sizes(tokens: Length, past: Length, longest: int) -> tuple[int, int]:
    """Returns the numbers of tokens and of rows for which the layer is traced.

    Together they are at most `longest` positions. Two dynamic ones differ, so that
    torch.export does not take them for one. Fails where nothing is left.
    """

    def fitting(length: Length, wanted: int) -> list[int]:
        smallest, largest = limits(length)
        if isinstance(length, int):
            return [length]
        return list(range(max(2, smallest), min(largest, max(wanted, smallest)) + 1))

    pairs = [
        (new, rows)
        for new in fitting(tokens, TRACED_TOKENS)
        for rows in fitting(past, TRACED_PAST)
        if new + rows <= longest and (new != rows or isinstance(tokens, int))
    ]
    if not pairs:
        raise StreamTensorError(
            f"expected room for new tokens and a past but got a maximum length of {longest}; "
            f"take {SHORTEST} or more"
        )
    return max(pairs, key=lambda pair: (sum(pair), pair))


class ConcatCache(Cache):
    """A cache for one call of one layer: hands out past and new rows, keeps the new ones.

    Rows are kept in `dtype`, new ones too before they are used; None leaves them as they are.
    """

    def __init__(
        self,
        past_key: torch.Tensor | None,
        past_value: torch.Tensor | None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(layers=[])
        self.past = (past_key, past_value)
        self.dtype = dtype
        self.new: list[tuple[torch.Tensor, torch.Tensor]] = []

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        own = key_states.dtype
        keys, values = (rows.to(self.dtype or own) for rows in (key_states, value_states))
        self.new.append((keys, values))
        if self.past[0] is not None:
            keys = torch.cat([self.past[0], keys], dim=-2)
            values = torch.cat([self.past[1], values], dim=-2)
        return keys.to(own), values.to(own)

    def rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the new keys and values of the one update that a layer makes."""
        if len(self.new) != 1:
            raise StreamTensorError(
                f"expected a layer to update its cache once but it did {len(self.new)} times"
            )
        return self.new[0]

    def get_seq_length(self, layer_idx: int | None = 0) -> int:
        return 0 if self.past[0] is None else self.past[0].shape[-2]


class LayerStep(torch.nn.Module):
    """One layer on new tokens and a past: (hidden, host tensors, past) -> (hidden, new rows).

    Without a past (a first chunk) the last two arguments are left out. `call` is a recorded
    call of the layer; its tensors are replaced by the inputs, in the order of `paths`.
    """

    def __init__(self, split: ModelSplit, index: int, call: LayerCall) -> None:
        super().__init__()
        self.index = index
        self.layer = split.stack.layers[index]
        self.stack = (split.stack,)
        self.call = call
        self.cache_dtype = split.cache_dtype
        self.paths = [split.hidden_path]
        self.paths += [path for path in call.tensors() if path != split.hidden_path]

    def forward(
        self,
        tensors: list[torch.Tensor],
        past_key: torch.Tensor | None = None,
        past_value: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        chosen = dict(zip(self.paths, tensors, strict=True))
        leaves = [
            chosen.get(path, leaf)
            for path, leaf in zip(self.call.paths, self.call.leaves, strict=True)
        ]
        cache = ConcatCache(past_key, past_value, self.cache_dtype)
        hidden = self.stack[0].call_layer(self.layer, leaves, self.call.spec, cache)
        return (hidden, *cache.rows())


class HeadStep(torch.nn.Module):
    """What the model does behind its last layer: hidden [1, 1, size] -> logits."""

    def __init__(self, split: ModelSplit) -> None:
        super().__init__()
        self.model = split.stack.model
        self.stack = (split.stack,)
        ids = torch.zeros((1, 1), dtype=torch.long)
        self.tables = split.stack.tables(ids, torch.zeros_like(ids))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        ids = torch.zeros((1, 1), dtype=torch.long)
        with constant_modules(self.tables):
            return self.stack[0].logits(ids, torch.zeros_like(ids), hidden)


@dataclass
class LayerProgram:
    """A captured layer for `tokens` new tokens and `past` rows of cache, or up to as many.

    `hosts[argument name]` is the leaf path of a host tensor; `hidden`, `past_key` and
    `past_value` name arguments (the last two are empty without a past); the results are
    hidden, new keys, new values.
    """

    program: Program
    tokens: int
    past: int
    hidden: str
    past_key: str
    past_value: str
    hosts: dict[str, str]


class LayerExamples:
    """Random inputs of each layer, at the last position that a cache of `past` rows allows.

    Without rows there are no caches among the inputs, unless `empty_caches` says
    that the layer takes them, of whatever length.
    """

    def __init__(
        self, split: ModelSplit, tokens: int, past: int, empty_caches: bool = False
    ) -> None:
        self.split = split
        self.generator = torch.Generator().manual_seed(0)
        self.tokens = tokens
        self.past = past
        self.has_caches = past > 0 or empty_caches
        ids = [0] * tokens
        self.host = split.host_step(ids, past)
        positions = torch.arange(past, past + tokens)[None]
        self.calls = split.stack.record(torch.tensor([ids]), positions)
        self.key_shape, self.value_shape = self._cache_shapes()

    def _cache_shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Returns (heads, head size) of the keys and of the values of a layer."""
        cache = ConcatCache(None, None)
        stack = self.split.stack
        ids = torch.zeros((1, 2), dtype=torch.long)
        call = stack.record(ids, torch.arange(2)[None])[0]
        with torch.no_grad():
            stack.call_layer(stack.layers[0], call.leaves, call.spec, cache)
        key, value = cache.rows()
        return (key.shape[1], key.shape[3]), (value.shape[1], value.shape[3])

    def _random(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
        values = torch.randn(shape, generator=self.generator)
        return values.to(dtype or self.host["hidden"].dtype)

    def step(self, index: int) -> LayerStep:
        return LayerStep(self.split, index, self.calls[index])

    def inputs(self, step: LayerStep, index: int) -> tuple[list[torch.Tensor], ...]:
        """Returns the arguments of `step.forward` for layer `index`."""
        hidden = self._random(self.host["hidden"].shape)
        names = self.split.layer_hosts[index]
        pasts = []
        if self.has_caches:
            pasts = [
                self._random((1, heads, self.past, width), self.split.cache_dtype)
                for heads, width in (self.key_shape, self.value_shape)
            ]
        # As the runtime gets them: torch.export guards what has other strides.
        hosts = (self.host[names[path]].contiguous() for path in step.paths[1:])
        return [hidden, *hosts], *pasts


def capture_layer(
    split: ModelSplit, tokens: Length, past: Length, function: str = "layer"
) -> LayerProgram:
    """Captures the layer, as `function`, for `tokens` new tokens behind `past` rows of cache.

    The one program is checked against every layer of the model with that layer's own
    weights and host tensors, and against each kind of layer at the smallest and the
    largest lengths; a layer that computes something else is an error. Layers that do
    without some tensors get constants for them (`fillings.py`), of which `split` keeps
    account.
    """
    example = traced_sizes(tokens, past, split.max_length)
    examples = LayerExamples(split, *example)
    count = len(split.stack.layers)
    ignored = [ignored_tensors(examples, index) for index in range(count)]
    # The layer that reads most of them.
    first = min(range(count), key=lambda index: len(ignored[index]))
    step = examples.step(first)
    roles = ["input"]
    roles += ["mask" if path == split.mask_path else "position" for path in step.paths[1:]]
    roles += ["cache", "cache"] if examples.has_caches else []
    program = capture(
        step,
        examples.inputs(step, first),
        function=function,
        prefix="layer",
        drop_dead_inputs=True,
        role_of=lambda index: roles[index],
        tolerance=split.tolerance,
        dynamic_shapes=dynamic_shapes(split, tokens, past, examples, first),
    )
    layer = name_arguments(split, program, step, (limits(tokens)[1], limits(past)[1]), examples)

    def is_same(index: int) -> bool:
        tried = LayerExamples(split, *example, examples.has_caches)
        return layer_difference(layer, tried, index) <= split.tolerance

    for index in range(count):
        paths = sorted(ignored[index] & set(layer.hosts.values()))
        if paths and index not in split.fillings:
            fill_ignored(split, index, paths, lambda index=index: is_same(index))
    # Every layer at one pair of lengths, and each kind of layer at the others.
    kinds = {tuple(sorted(split.layer_hosts[index].items())): index for index in range(count)}
    for lengths in sorted({example, *corners(tokens, past, split.max_length)}):
        others = LayerExamples(split, *lengths, examples.has_caches)
        for index in range(count) if lengths == example else sorted(kinds.values()):
            check_layer(layer, others, index, first)
    return layer


def corners(tokens: Length, past: Length, longest: int) -> set[tuple[int, int]]:
    """Returns the smallest and largest numbers of tokens, each with the smallest past and with
    the largest one that `longest` positions allow."""
    return {
        (new, rows)
        for new in limits(tokens)
        for rows in (limits(past)[0], min(limits(past)[1], longest - new))
    }


def dynamic_shapes(
    split: ModelSplit, tokens: Length, past: Length, examples: LayerExamples, index: int
) -> tuple | None:
    """Returns what torch.export is told of the arguments of `LayerStep.forward`.

    Which sizes depend on a length is read off another example, in which that length
    alone differs; those that both change torch.export finds out.
    """
    if isinstance(tokens, int) and isinstance(past, int):
        return None
    tensors, *caches = examples.inputs(examples.step(index), index)
    chosen: list[dict[int, Any]] = [{} for _ in (*tensors, *caches)]
    for position, length in enumerate((tokens, past)):
        if isinstance(length, int):
            continue
        lengths = [examples.tokens, examples.past]
        traced = lengths[position]
        smallest, largest = limits(length)
        lengths[position] = largest if traced == smallest else smallest
        others = LayerExamples(split, *lengths, examples.has_caches)
        other_tensors, *other_caches = others.inputs(others.step(index), index)
        pairs = zip((*tensors, *caches), (*other_tensors, *other_caches), strict=True)
        for dims, (one, other) in zip(chosen, pairs, strict=True):
            for dim, sizes in enumerate(zip(one.shape, other.shape, strict=True)):
                if sizes[0] == sizes[1]:
                    continue
                more, others_more = sizes[0] - traced, sizes[1] - lengths[position]
                if dim in dims or more != others_more:
                    dims[dim] = torch.export.Dim.AUTO
                else:
                    dims[dim] = length + more if more else length
    return (chosen[: len(tensors)], *chosen[len(tensors) :])


def name_arguments(
    split: ModelSplit,
    program: Program,
    step: LayerStep,
    lengths: tuple[int, int],
    examples: LayerExamples,
) -> LayerProgram:
    """Finds the hidden state, the caches and the host tensors among the arguments.

    `lengths` are the largest numbers of new tokens and rows of the cache. The memory of a
    cache has a row for each position of the model's split.
    """
    tokens, past = lengths
    caches = {PAST_KEY: examples.key_shape, PAST_VALUE: examples.value_shape}
    if not examples.has_caches:
        caches = {}
    names = [HIDDEN, *step.paths[1:], *caches]
    found = {names[argument.input_index]: argument for argument in program.inputs}
    for name in (HIDDEN, *caches):
        if name not in found:
            raise StreamTensorError(f"a layer of the model does not depend on its {name}")
    hosts = {}
    for name, argument in found.items():
        argument.source = name
        if name in step.paths[1:]:
            hosts[argument.name] = name
            argument.source = split.layer_hosts[step.index][name].rpartition(".")[0]
    for name, (heads, width) in caches.items():
        found[name].buffer_shape = (1, heads, max(past, split.max_length), width)
    for result, source in zip(program.results, (HIDDEN, "new_key", "new_value"), strict=True):
        result.source = source
    return LayerProgram(
        program,
        tokens,
        past,
        found[HIDDEN].name,
        found[PAST_KEY].name if caches else "",
        found[PAST_VALUE].name if caches else "",
        hosts,
    )


def layer_weights(split: ModelSplit, program: Program, index: int) -> dict[str, torch.Tensor]:
    """Returns the weight arguments of layer `index` by argument name."""
    module = split.stack.layers[index]
    own = dict(module.named_parameters(remove_duplicate=False))
    own |= dict(module.named_buffers(remove_duplicate=False))
    weights = {}
    for argument in program.weights:
        # A constant made in forward has no name in the module and is every layer's.
        value = own.get(argument.source, argument.value).detach()
        if tuple(value.shape) != argument.shape or value.dtype != argument.dtype:
            raise StreamTensorError(
                f"layer {index} has '{argument.source}' of shape {list(value.shape)}, layer 0 of "
                f"shape {list(argument.shape)}; only models with equal layers can be split"
            )
        weights[argument.name] = value
    return weights


def check_layer(layer: LayerProgram, examples: LayerExamples, index: int, first: int) -> None:
    """Fails where the program, captured from layer `first`, does not compute layer `index`."""
    difference = layer_difference(layer, examples, index)
    if not difference <= examples.split.tolerance:
        raise StreamTensorError(
            f"layer {index} of the model computes something else than layer {first} (a difference "
            f"of {difference:.2g} of the largest value); only models whose layers are equal "
            "but for their weights and inputs can be split"
        )


def layer_difference(layer: LayerProgram, examples: LayerExamples, index: int) -> float:
    """Returns the largest difference of a result, over the result's largest value.

    Compared are the captured program, with the weights of layer `index` and what the host
    gives it, and that layer with what the model gives it (which a filling replaces).
    """
    step = examples.step(index)
    tensors, *pasts = examples.inputs(step, index)
    flat = [*tensors, *pasts]
    names = examples.split.own_hosts[index]
    own = [tensors[0], *(examples.host[names[path]] for path in step.paths[1:])]
    with torch.no_grad():
        expected = step(own, *pasts)
    weights = list(layer_weights(examples.split, layer.program, index).values())
    chosen = [flat[argument.input_index] for argument in layer.program.inputs]
    got = layer.program.run(chosen, weights)
    differences = [relative_difference(*pair) for pair in zip(got, expected, strict=True)]
    # Not `max`, which may lose a NaN.
    return float(torch.tensor(differences).max())


def capture_head(split: ModelSplit) -> Program:
    """Captures final norm and head for one token: hidden [1, 1, size] -> logits."""
    generator = torch.Generator().manual_seed(1)
    own = split.host_step([0], 0)["hidden"]
    hidden = torch.randn((1, 1, own.shape[-1]), generator=generator).to(own.dtype)
    program = capture(
        HeadStep(split), (hidden,), function="head", prefix="model", tolerance=split.tolerance
    )
    program.results[0].source = "logits"
    return program
