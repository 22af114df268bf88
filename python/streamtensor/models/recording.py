"""Runs a causal language model with stubs in place of its layers.

Each stub records how it was called, so the model itself shows what its layers get
(hidden state, masks, rotary tables) without code for any one model, and what it
does before the first and after the last layer.
"""

from __future__ import annotations

import contextlib
import inspect
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from streamtensor.errors import StreamTensorError
from streamtensor.models.survey import survey

# Names that models of transformers use for the cache argument of a layer.
CACHE_NAMES = ("cache", "past_key_values", "past_key_value", "layer_past")


class _Stop(Exception):
    """Ends a model's forward behind its last layer."""


@dataclass
class LayerCall:
    """One call of a layer: every leaf of its arguments, by path."""

    index: int
    paths: list[str]
    leaves: list[Any]
    spec: Any

    def get(self, path: str) -> Any:
        return self.leaves[self.paths.index(path)]

    def tensors(self) -> dict[str, torch.Tensor]:
        pairs = zip(self.paths, self.leaves, strict=True)
        return {path: leaf for path, leaf in pairs if isinstance(leaf, torch.Tensor)}


class LayerStub(torch.nn.Module):
    """Stands for a layer: hands its call to `on_call` and returns what that gives.

    Everything else is asked of the layer itself (models look at attributes such as
    `attention_type`).
    """

    def __init__(self, layer: torch.nn.Module, index: int, on_call: Callable) -> None:
        super().__init__()
        # In a tuple, so that the layer's weights are not this module's.
        self.hidden_layer = (layer,)
        self.index = index
        self.on_call = on_call

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.on_call(self.index, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["hidden_layer"][0], name)


def key_text(path: tuple) -> str:
    """Writes a path into nested arguments as 'position_embeddings.0'."""
    return ".".join(str(getattr(key, "key", getattr(key, "idx", key))) for key in path)


class LayerStack:
    """The repeated layers of a model: the largest ModuleList of equal blocks.

    `hidden_path` and `returns_tuple` say how a layer takes and returns the hidden
    state; without them the first layer is run once to find out.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        hidden_path: str | None = None,
        returns_tuple: bool = False,
    ) -> None:
        self.model = model
        self.config = model.config.get_text_config()
        self.name, self.layers = find_layers(model, self.config.num_hidden_layers)
        self.container = model.get_submodule(self.name)
        self.signature = inspect.signature(type(self.layers[0]).forward)
        self.cache_name = self._cache_name()
        self.returns_tuple = returns_tuple
        self.hidden_path = hidden_path or self._find_hidden()

    def _cache_name(self) -> str:
        for name in CACHE_NAMES:
            if name in self.signature.parameters:
                return name
        raise StreamTensorError(
            f"the layers of the model ({type(self.layers[0]).__name__}) take no cache argument; "
            f"expected one named {', '.join(CACHE_NAMES)}"
            + survey(self.model, [(self.name, self.layers)])
        )

    @contextlib.contextmanager
    def stubbed(self, on_call: Callable) -> Iterator[None]:
        """Replaces every layer by a stub for the time of a block."""
        for index, layer in enumerate(self.layers):
            self.container[index] = LayerStub(layer, index, on_call)
        try:
            yield
        finally:
            for index, layer in enumerate(self.layers):
                self.container[index] = layer

    def bind(self, index: int, args: tuple, kwargs: dict[str, Any]) -> LayerCall:
        bound = self.signature.bind(self.layers[0], *args, **kwargs)
        arguments = dict(bound.arguments)
        arguments.pop("self")
        pairs, spec = pytree.tree_flatten_with_path(arguments)
        return LayerCall(index, [key_text(p) for p, _ in pairs], [leaf for _, leaf in pairs], spec)

    def run_layer(
        self, layer: torch.nn.Module, call: LayerCall, hidden: torch.Tensor, cache: Any
    ) -> Any:
        """Calls `layer` as recorded, but with the state `hidden`; returns its hidden state."""
        leaves = [
            hidden if path == self.hidden_path else leaf
            for path, leaf in zip(call.paths, call.leaves, strict=True)
        ]
        return self.call_layer(layer, leaves, call.spec, cache)

    def call_layer(self, layer: torch.nn.Module, leaves: list[Any], spec: Any, cache: Any) -> Any:
        """Calls `layer` with the leaves of a recorded call and a cache; returns its hidden state."""
        arguments = pytree.tree_unflatten(leaves, spec)
        arguments[self.cache_name] = cache
        ordered = OrderedDict([("self", layer)])
        for name in self.signature.parameters:
            if name in arguments:
                ordered[name] = arguments[name]
        bound = inspect.BoundArguments(self.signature, ordered)
        result = layer(*bound.args[1:], **bound.kwargs)
        return result[0] if isinstance(result, (tuple, list)) else result

    def wrap_result(self, hidden: torch.Tensor) -> Any:
        """Returns `hidden` in the form in which a layer returns it."""
        return (hidden,) if self.returns_tuple else hidden

    def record(self, ids: torch.Tensor, positions: torch.Tensor | None) -> list[LayerCall]:
        """Runs the model up to its last layer; ids and positions have shape [1, tokens].

        Without positions the model counts them by itself.
        No layer, norm or head is computed: only what the model does before them.
        """
        calls: list[LayerCall] = []

        def on_call(index: int, args: tuple, kwargs: dict[str, Any]) -> Any:
            calls.append(self.bind(index, args, kwargs))
            if len(calls) == len(self.layers):
                raise _Stop
            return self.wrap_result(calls[-1].get(self.hidden_path))

        self._run_to_stop(on_call, ids, positions)
        if [call.index for call in calls] != list(range(len(self.layers))):
            raise StreamTensorError(
                f"expected the model to call its {len(self.layers)} layers once each and in order "
                f"but it called {[call.index for call in calls]}"
            )
        return calls

    def logits(
        self, ids: torch.Tensor, positions: torch.Tensor, hidden: torch.Tensor
    ) -> torch.Tensor:
        """What the model makes of `hidden`, the state behind its last layer [1, tokens, size]."""

        def on_call(index: int, args: Any, kwargs: Any) -> Any:
            if index == len(self.layers) - 1:
                return self.wrap_result(hidden)
            return self.wrap_result(self.bind(index, args, kwargs).get(self.hidden_path))

        with self.stubbed(on_call):
            return self.run_model(input_ids=ids, position_ids=positions).logits

    def tables(
        self, ids: torch.Tensor, positions: torch.Tensor
    ) -> list[tuple[torch.nn.Module, Any]]:
        """Modules without parameters that the model calls once before its last layer ends, with
        what they return.

        These make rotary tables. They may keep state or decide by positions, which can't be
        captured and is no part of what comes behind the layers: see `constant_modules`.
        """
        results: list[tuple[torch.nn.Module, Any]] = []

        def keep(module: torch.nn.Module, args: Any, result: Any) -> None:
            has_parameters = next(module.parameters(), None) is not None
            if not has_parameters and not isinstance(module, LayerStub):
                results.append((module, result))

        with torch.nn.modules.module.register_module_forward_hook(keep):
            self.record(ids, positions)
        calls = Counter(module for module, _ in results)
        return [(module, result) for module, result in results if calls[module] == 1]

    def run_model(self, **kwargs: Any) -> Any:
        return self.model(use_cache=False, **kwargs)

    def _run_to_stop(
        self, on_call: Callable, ids: torch.Tensor, positions: torch.Tensor | None
    ) -> None:
        """Runs the model with stubs, until one of them raises `_Stop`."""
        try:
            with torch.no_grad(), self.stubbed(on_call), contextlib.suppress(_Stop):
                given = {} if positions is None else {"position_ids": positions}
                self.run_model(input_ids=ids, **given)
        except StreamTensorError:
            raise
        except Exception as error:
            raise StreamTensorError(
                f"the model {type(self.model).__name__} fails in its own forward on "
                f"{ids.shape[1]} tokens: {type(error).__name__}: {error}; look whether its "
                "configuration fits together, and make it work in PyTorch first"
            ) from error

    def _find_hidden(self) -> str:
        """Finds which argument of a layer is the hidden state, and how a layer returns it."""
        marks: list[torch.Tensor] = []
        paths: list[str] = []

        def on_call(index: int, args: tuple, kwargs: dict[str, Any]) -> Any:
            call = self.bind(index, args, kwargs)
            if not marks:
                result = self.layers[0](*args, **kwargs)
                self.returns_tuple = isinstance(result, (tuple, list))
                marks.append(result[0] if self.returns_tuple else result)
                if len(self.layers) == 1:
                    paths.append(call.paths[0])
                    raise _Stop
                return result
            paths.extend(path for path, leaf in call.tensors().items() if leaf is marks[0])
            raise _Stop

        ids = torch.zeros((1, 2), dtype=torch.long)
        positions = torch.arange(2).reshape(1, 2)
        self._run_to_stop(on_call, ids, positions)
        if len(paths) != 1:
            raise StreamTensorError(
                "expected each layer to get the hidden state that the layer before it returned in "
                f"one argument but found it in {paths or 'none'}"
            )
        return paths[0]


@contextlib.contextmanager
def constant_modules(results: list[tuple[torch.nn.Module, Any]]) -> Iterator[None]:
    """Lets modules return what is given instead of computing it, for the time of a block."""
    for module, result in results:
        module.forward = lambda *_, result=result, **__: result
    try:
        yield
    finally:
        for module, _ in results:
            del module.forward


def find_layers(model: torch.nn.Module, count: int) -> tuple[str, list[torch.nn.Module]]:
    """Returns the name and the elements of the largest list of `count` equal blocks."""
    best: tuple[int, str, list[torch.nn.Module]] | None = None
    unequal: list[tuple[str, list[torch.nn.Module]]] = []
    for name, module in model.named_modules():
        if not isinstance(module, torch.nn.ModuleList) or len(module) != count:
            continue
        if len({type(layer) for layer in module}) != 1:
            unequal.append((name, list(module)))
            continue
        size = sum(tensor.numel() for tensor in (*module.parameters(), *module.buffers()))
        if best is None or size > best[0]:
            best = (size, name, list(module))
    if best is None:
        raise StreamTensorError(
            f"the model {type(model).__name__} has no list of {count} equal layers; only decoders "
            "that repeat one block can be split" + survey(model, unequal)
        )
    return best[1], best[2]
