"""Splits a causal language model between host and accelerator, for any family.

The host embeds tokens, makes rotary tables and masks and samples; the accelerator
runs the repeated layer (one design for any number of new tokens and any past) and
the final norm with the head. Which tensors a layer needs from the host
is read off the model's own calls of its layers.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from streamtensor.errors import StreamTensorError
from streamtensor.models.masks import KeyTable, MaskTable, follows_keys
from streamtensor.models.recording import LayerCall, LayerStack
from streamtensor.models.survey import survey
from streamtensor.precision import LAYER_ROUNDING

# What the two parts of a layer's rotary tables are called.
ROTARY = {"position_embeddings.0": "cos", "position_embeddings.1": "sin"}


@dataclass(frozen=True)
class HostTensor:
    """A tensor that the host gives to layers: the leaf `path` of layer `layer`'s call.

    `table` is that of all positions, for what a layer gets of each key: masks, and biases by
    the distance of keys. What a layer gets of each new token has none. Where `filling` is
    given, all elements are that number.
    """

    name: str
    layer: int
    path: str
    table: MaskTable | KeyTable | None
    filling: float | None = None


class ModelSplit:
    """The host's share of a model, and what its layers get from it.

    `max_length` is the number of positions that the masks are built for. `stack` is
    given where the layers of `model` have no weights and cannot be run. `tolerance` is the
    largest difference of two ways to run a layer, over the largest value, that is rounding.
    `cache_dtype` is what rows of the cache are kept in, None for what the layers make.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        max_length: int,
        stack: LayerStack | None = None,
        tolerance: float = LAYER_ROUNDING["f32"],
        cache_dtype: torch.dtype | None = None,
    ) -> None:
        self.stack = stack or LayerStack(model)
        self.max_length = max_length
        self.tolerance = tolerance
        self.cache_dtype = cache_dtype
        check_length(max_length, position_limit(self.config))
        ids = torch.zeros((1, max_length), dtype=torch.long)
        positions = torch.arange(max_length).reshape(1, -1)
        calls = self.stack.record(ids, positions)
        last = self.stack.record(ids[:, -1:], positions[:, -1:])
        self.hidden_path = self.stack.hidden_path
        self.mask_path = find_mask(self.stack, calls, max_length)
        self.host_tensors: dict[str, HostTensor] = {}
        # Per layer: leaf path -> name of the host tensor.
        self.layer_hosts: list[dict[str, str]] = []
        # Per layer: leaf path -> constant; see fillings.py.
        self.fillings: dict[int, dict[str, float]] = {}
        self._name_host_tensors(calls, last)
        self.own_hosts = list(self.layer_hosts)

    @property
    def config(self) -> Any:
        return self.stack.config

    @property
    def masks(self) -> dict[str, MaskTable]:
        """The attention masks among the host tensors, by name."""
        return {
            name: host.table
            for name, host in self.host_tensors.items()
            if isinstance(host.table, MaskTable)
        }

    def _name_host_tensors(self, calls: list[LayerCall], last: list[LayerCall]) -> None:
        """Gives every distinct tensor that layers get a name.

        `calls` are those for all positions, `last` those for the last one alone. Layers that
        got the same object share it: one mask for all layers of a kind, one pair of rotary
        tables.
        """
        names: dict[tuple[int, str], str] = {}
        kinds = getattr(self.config, "layer_types", None)
        for call in calls:
            kind = kinds[call.index] if kinds else "full_attention"
            hosts: dict[str, str] = {}
            for path, tensor in call.tensors().items():
                if path == self.hidden_path:
                    continue
                key = (id(tensor), path)
                if key not in names:
                    names[key] = self._new_name(path, kind)
                    table: MaskTable | KeyTable | None = None
                    if path == self.mask_path:
                        table = MaskTable(tensor)
                    elif follows_keys(tensor, last[call.index].get(path)):
                        table = KeyTable(tensor)
                    self.host_tensors[names[key]] = HostTensor(names[key], call.index, path, table)
                hosts[path] = names[key]
            self.layer_hosts.append(hosts)

    def fill(self, index: int, values: dict[str, float]) -> None:
        """Lets layer `index` get constants for the leaves of `values`, and its own for others."""
        self.fillings.pop(index, None)
        self.layer_hosts[index] = dict(self.own_hosts[index])
        if not values:
            return
        self.fillings[index] = values
        for path, value in values.items():
            own = self.host_tensors[self.own_hosts[index][path]]
            name = f"{own.name}.filled_{value:g}"
            filled = dataclasses.replace(own, name=name, filling=value)
            self.host_tensors[name] = filled
            self.layer_hosts[index][path] = name

    def _new_name(self, path: str, kind: str) -> str:
        base = "mask" if path == self.mask_path else ROTARY.get(path, path)
        name = f"{base}.{kind}"
        count = 1
        while name in self.host_tensors:
            count += 1
            name = f"{base}.{kind}.{count}"
        return name

    def host_step(
        self, ids: list[int], position: int, names: list[str] | None = None
    ) -> dict[str, torch.Tensor]:
        """Computes what the host gives to the layers for tokens at `position`.

        Returns 'hidden' [1, tokens, hidden size] and the host tensors `names` (all of
        them without) by name; those of keys are for a cache of `position` rows.
        """
        tokens = len(ids)
        positions = torch.arange(position, position + tokens).reshape(1, -1)
        calls = self.stack.record(torch.tensor([ids]), positions)
        tensors = {"hidden": calls[0].get(self.hidden_path)}
        for name in self.host_tensors if names is None else names:
            host = self.host_tensors[name]
            if host.table is not None:
                tensors[name] = host.table.at(position, tokens)
            else:
                tensors[name] = calls[host.layer].get(host.path)
            if host.filling is not None:
                tensors[name] = torch.full_like(tensors[name], host.filling)
        return tensors


def check_length(max_length: int, limit: int | None) -> None:
    """Fails unless `max_length` positions are some that a model of `limit` positions has."""
    if max_length < 2 or (limit and max_length > limit):
        raise StreamTensorError(
            f"expected a maximum length from 2 to {limit or 'any'} (the model's positions) "
            f"but got {max_length}"
        )


def position_limit(config: Any) -> int | None:
    """Returns how many positions a model of this text configuration has, None for any number.

    Beyond the original length of "longrope" the frequencies of all positions, those in the cache
    too, depend on the whole prompt, which chunks do not know; it ends the positions.
    """
    limit = getattr(config, "max_position_embeddings", None) or None
    rope = getattr(config, "rope_parameters", None) or {}
    for kind in (rope, *(each for each in rope.values() if isinstance(each, dict))):
        if kind.get("rope_type") == "longrope":
            original = kind["original_max_position_embeddings"]
            limit = min(limit, original) if limit else original
    return limit


def find_mask(stack: LayerStack, calls: list[LayerCall], length: int) -> str:
    """Returns the path of the mask: the argument [1, heads, length, length] of every layer."""
    paths = {
        path
        for path, leaf in calls[0].tensors().items()
        if leaf.dim() == 4 and tuple(leaf.shape[-2:]) == (length, length)
    }
    if len(paths) != 1:
        raise StreamTensorError(
            "expected each layer to get one attention mask of four dimensions but found "
            f"{sorted(paths) or 'none'}" + survey(stack.model, [(stack.name, stack.layers)])
        )
    path = paths.pop()
    for call in calls:
        if path not in call.tensors():
            raise StreamTensorError(f"layer {call.index} gets no attention mask, layer 0 does")
    return path


def used_state(split: ModelSplit) -> dict[str, torch.Tensor]:
    """Returns the parameters and buffers that the host's share reads, by name.

    Buffers outside the layers are all included: they are small, and some are made
    when a model is built and not stored in checkpoints.
    """
    prefix = split.stack.name + "."
    model = split.stack.model
    read: set[int] = set()

    class Reads(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            for leaf in pytree.tree_leaves((args, kwargs)):
                if isinstance(leaf, torch.Tensor):
                    read.add(leaf.untyped_storage().data_ptr())
            return func(*args, **(kwargs or {}))

    with Reads():
        split.host_step([0, 0], 0)
    state = {
        name: parameter.detach()
        for name, parameter in model.named_parameters()
        if not name.startswith(prefix) and parameter.untyped_storage().data_ptr() in read
    }
    state |= {name: buffer for name, buffer in model.named_buffers() if not name.startswith(prefix)}
    return state
