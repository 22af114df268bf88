"""What else about a model cannot be compiled, for one that is refused as a whole.

The first obstacle, such as layers of different kinds, hides those behind it. So the model is
run once as it is, and the operators in its layers that have no counterpart are noted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from streamtensor.importer.diagnosis import DEFAULT_ADVICE, OTHER_MODEL, advice

# What the caches of transformers hold for a layer whose past is a state of fixed size.
STATES = ("conv_states", "recurrent_states", "ssm_states")
MAX_LISTED = 8


def survey(model: torch.nn.Module, lists: list[tuple[str, list[torch.nn.Module]]]) -> str:
    """Returns further lines for a message: one for each obstacle, and what can be done.

    `lists` are the lists of layers in the model: (name, layers).
    """
    lines = []
    for name, layers in lists:
        kinds: dict[str, int] = {}
        for index, layer in enumerate(layers):
            kinds.setdefault(type(layer).__name__, index)
        if len(kinds) > 1:
            listed = ", ".join(f"{kind} (such as layer {index})" for kind, index in kinds.items())
            lines.append(f"{name} holds layers of {len(kinds)} kinds: {listed}")
    operators, states = run(model, tuple(f"{name}." for name, _ in lists))
    if states:
        numbers = ", ".join(map(str, states[:MAX_LISTED])) + (", ..." * (len(states) > MAX_LISTED))
        lines.append(f"layers {numbers} keep a state of fixed size instead of keys and values")
    for operator, place in operators.items():
        lines.append(f"{operator} in {place}")
    return "".join(f"\n  {line}" for line in (*lines, OTHER_MODEL))


def without_arguments(action: Callable[[], object]) -> Callable[..., None]:
    """A hook that changes nothing about a call."""

    def hook(*_: Any) -> None:
        action()

    return hook


def run(model: torch.nn.Module, prefixes: tuple[str, ...]) -> tuple[dict[str, str], list[int]]:
    """Runs the model on two tokens; returns what it uses that cannot be compiled.

    First the operators that authors of modules get advice on, {name: the first module that calls it}, then
    the numbers of the layers that keep a state. Only modules whose names begin with one of
    `prefixes` count. A model that cannot be run by itself gives what it did up to there.
    """
    found: dict[str, str] = {}
    states: list[int] = []
    path: list[str] = []

    class Operators(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            name = str(func)
            if path and path[-1].startswith(prefixes) and advice(name) != DEFAULT_ADVICE:
                found.setdefault(name, path[-1])
            return func(*args, **(kwargs or {}))

    handles = []
    for name, module in model.named_modules():
        enter, leave = partial(path.append, name), path.pop
        handles.append(module.register_forward_pre_hook(without_arguments(enter)))
        handles.append(module.register_forward_hook(without_arguments(leave)))
    try:
        with torch.no_grad(), Operators():
            output = model(input_ids=torch.zeros((1, 2), dtype=torch.long), use_cache=True)
        for cache in output.values():
            layers = getattr(cache, "layers", [])
            states += [i for i, layer in enumerate(layers) if any(map(layer.__dict__.get, STATES))]
    except Exception:  # The message is about something else.
        pass
    finally:
        for handle in handles:
            handle.remove()
    return found, states
