"""Runs torch.export on a module and turns what can go wrong into one clear message."""

from __future__ import annotations

import contextlib
import io
import logging
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from streamtensor.errors import StreamTensorError
from streamtensor.importer.locations import TORCH_ROOT, short_path

# What calls the user's code; a failure is never its place.
PACKAGE = Path(__file__).resolve().parent.parent
CALLERS = ("importer", "exporter.py", "module_precision.py", "backend/module.py")
OWN_CODE = tuple(str(PACKAGE / name) for name in CALLERS)


def trace(
    module: torch.nn.Module, args: tuple, kwargs: dict[str, Any], dynamic_shapes: Any
) -> tuple[list[torch.Tensor], torch.export.ExportedProgram]:
    """Returns the module's own results (flattened tensors) and its exported program."""
    if not isinstance(module, torch.nn.Module):
        raise StreamTensorError(
            f"expected a torch.nn.Module but got {type(module).__name__}; "
            "wrap the computation in the forward of a module"
        )
    with evaluation_mode(module), unchanged_buffers(module), torch.no_grad(), quiet():
        try:
            # On copies: a forward that writes into its inputs must not change ours.
            copies = pytree.tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
            outputs = module(*copies[0], **copies[1])
        except Exception as error:
            raise StreamTensorError(
                f"the module fails on its example inputs{place(error)}: {first_line(error)}; "
                "make module(*example_inputs) work in PyTorch first"
            ) from error
        exported = export_graph(module, args, kwargs, dynamic_shapes)
    expected = [leaf for leaf in pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]
    return expected, exported


def export_graph(
    module: torch.nn.Module, args: tuple, kwargs: dict[str, Any], dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    """Runs torch.export.

    Where it cannot prove a condition on dynamic sizes, the condition is left in the
    graph (assertions.py tries it for every size).
    """
    for deferred in (False, True):
        try:
            return torch.export.export(
                module,
                args,
                kwargs,
                dynamic_shapes=dynamic_shapes,
                strict=False,
                prefer_deferred_runtime_asserts_over_guards=deferred,
            )
        except Exception as error:
            if deferred or "satisfy the generated guard" not in str(error):
                raise StreamTensorError(explain(error)) from error
    raise AssertionError("unreachable")


@contextlib.contextmanager
def evaluation_mode(module: torch.nn.Module) -> Iterator[None]:
    """A design is for inference: dropout and running statistics are off while tracing."""
    training = [part for part in module.modules() if part.training]
    for part in training:
        part.training = False
    try:
        yield
    finally:
        for part in training:
            part.training = True


@contextlib.contextmanager
def unchanged_buffers(module: torch.nn.Module) -> Iterator[None]:
    """Gives a module that changes its buffers in forward the old values back."""
    saved = [(buffer, buffer.clone()) for buffer in module.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, value in saved:
                buffer.copy_(value)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silences PyTorch's warnings and logs; what fails is explained by our own message."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


def explain(error: Exception) -> str:
    """Says why torch.export refused a module."""
    names = {kind.__name__ for kind in type(error).__mro__}
    text = str(error)
    where = place(error)
    if "GuardOnDataDependentSymNode" in names or "data-dependent" in text.lower():
        return (
            f"the control flow of the module depends on values of its tensors{where}; a design "
            "has static control flow: use torch.where, or decide outside the module"
        )
    if "dynamic" in text.lower() and ("Constraints violated" in text or "UserError" in names):
        return f"the dynamic dimensions cannot be kept{where}: {compact(text)}"
    return (
        f"torch.export cannot trace the module{where}: {type(error).__name__}: "
        f"{first_line(error)}; rewrite that part in plain tensor operations"
    )


def place(error: BaseException) -> str:
    """Returns ' at FILE:LINE' of the innermost frame of the user's code, or nothing."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" at {short_path(error.filename)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not f.filename.startswith((TORCH_ROOT, *OWN_CODE))]
    own = [f for f in own if "<" not in f.filename]
    return f" at {short_path(own[-1].filename)}:{own[-1].lineno}" if own else ""


def first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def compact(text: str) -> str:
    return " ".join(text.partition("For more information")[0].split())[:400]
