"""Where compiled designs and models lie, and what a name on the command line means.

A design is a directory with interface.json, a model one with model.json and a directory for each
of its designs. Both files are written last, so what is incomplete is neither.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamtensor.errors import StreamTensorError, UsageError
from streamtensor.precision import Precision

DEFAULT_TARGET = "u55c"
# What only a language model can be asked for, when it is compiled.
MODEL_OPTIONS = ("max_length", "chunk", "random_weights")
MODEL_JSON = "model.json"
# What a model.json says its content is; the runtime reads no other.
SCHEMA = 3
INTERFACE = "interface.json"
NETWORK = "network.pn.json"
REPORT = "report.json"
CERTIFICATE = "certificate.json"
RESOURCES = ("dsp", "lut", "ff", "bram36", "uram")


@dataclass(frozen=True)
class Compiled:
    """A compiled design, or a model with several."""

    directory: Path
    is_model: bool

    def designs(self) -> list[Path]:
        """The directories of the designs: a model's layer, then its head."""
        if not self.is_model:
            return [self.directory]
        path = self.directory / MODEL_JSON
        model = read_json(path)
        try:
            names = [model[part]["design"] for part in ("layer", "head")]
        except (KeyError, TypeError, AttributeError) as error:
            raise StreamTensorError(
                f"'{path}' cannot be read ({type(error).__name__}: {error}); compile the model again"
            ) from error
        return [self.directory / name for name in names]


def compiled_in(directory: Path) -> Compiled | None:
    """What `directory` holds; None where it is neither a design nor a model."""
    if (directory / MODEL_JSON).is_file():
        return Compiled(directory, True)
    return Compiled(directory, False) if (directory / INTERFACE).is_file() else None


def require_compiled(directory: Path) -> Compiled:
    """As `compiled_in`, but a directory that holds neither is an error."""
    compiled = compiled_in(directory)
    if compiled is None:
        raise StreamTensorError(
            f"expected a compiled design or model in '{directory}' but there is no {INTERFACE} and "
            f"no {MODEL_JSON}; make one with `streamtensor compile`"
        )
    return compiled


def given_options(options: argparse.Namespace, *names: str) -> list[str]:
    """Returns those of the options `names` that the command line has, as it spells them."""
    return [
        f"--{name.replace('_', '-')}" for name in names if getattr(options, name, None) is not None
    ]


def find_compiled(
    options: argparse.Namespace,
    *,
    models_only: bool = False,
    before_compiling: Callable[[Any, Any], None] = lambda source, chosen: None,
    length: int | None = None,
) -> Compiled:
    """Finds what MODEL|DIR names; a model that is not compiled yet is compiled into the cache.

    `before_compiling` gets its source and options first and may refuse: compiling takes minutes.
    `length` is how many positions are wanted where --max-length does not say it.
    """
    directory = Path(options.model)
    compiled = compiled_in(directory)
    if compiled is not None:
        if models_only and not compiled.is_model:
            raise StreamTensorError(
                f"expected a compiled model but '{directory}' is one design; run it with "
                "`streamtensor run`"
            )
        given = given_options(options, "target", *MODEL_OPTIONS)
        if given:
            raise UsageError(
                f"'{directory}' is already compiled; {', '.join(given)} can only be asked for with "
                "`streamtensor compile`"
            )
        check_precision_of(compiled, options)
        return compiled
    from streamtensor.models.compiler import compile_options
    from streamtensor.models.sources import resolve
    from streamtensor.runtime.cache import cached_model, compiled_model

    source = resolve(options.model, options.random_weights)
    chosen = compile_options(options, source, length)
    if cached_model(source, chosen) is None:
        before_compiling(source, chosen)
    return Compiled(compiled_model(source, chosen), True)


def chunks_of(length: int, chunk: int) -> Iterator[tuple[int, int]]:
    """Yields position and number of tokens of each step that feeds a prompt."""
    for position in range(0, length, chunk):
        yield position, min(chunk, length - position)


def check_precision_of(compiled: Compiled, options: argparse.Namespace) -> None:
    """Fails where the options ask for another precision than `compiled` has."""
    own = Precision().to_json()
    if compiled.is_model:
        own |= read_json(compiled.directory / MODEL_JSON).get("precision", {})
    for key in own:
        flag = "precision" if key == "name" else key
        asked = getattr(options, flag, None)
        if asked is not None and asked != own[key]:
            raise UsageError(
                f"'{compiled.directory}' is compiled with --{flag} {own[key]}, not {asked}; leave "
                "the option out or compile the model anew"
            )


def resources_of(designs: list[Path]) -> dict[str, Any]:
    """The sum over the designs, which share the device; estimated."""
    total: dict[str, Any] = {}
    for directory in designs:
        report = read_json(directory / REPORT)["resources"]
        for name in RESOURCES:
            entry = total.setdefault(name, {"used": 0, "available": report[name]["available"]})
            entry["used"] += report[name]["used"]
    for entry in total.values():
        entry["percent"] = 100.0 * entry["used"] / entry["available"] if entry["available"] else 0.0
    return total


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON file of ours; an error says which."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise StreamTensorError(f"cannot read '{path}': {error}") from error
