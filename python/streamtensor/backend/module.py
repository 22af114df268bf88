"""What `streamtensor.compile(module, example_inputs)` returns."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import torch
from torch.utils import _pytree as pytree

from streamtensor.backend.entry import Backend
from streamtensor.backend.listing import Listing
from streamtensor.designs import DEFAULT_TARGET
from streamtensor.errors import StreamTensorError
from streamtensor.exporter import split_inputs
from streamtensor.importer.tracing import evaluation_mode, first_line, place, unchanged_buffers
from streamtensor.module_precision import convert_inputs, in_precision
from streamtensor.precision import UNCHANGED, Precision

# How often PyTorch may compile the forward of one class.
COMPILES = 1 << 16


class CompiledModule(torch.nn.Module):
    """A module for inference: called like the original one, it runs on the device.

    What a design cannot have runs in PyTorch; `explain()` says what and why. In f32 it
    shares its parameters with the original, and reads them at each call. In another
    precision it has a converted copy, takes floats of any type and returns those that the
    copy makes. Dropout is off, and results carry no gradients. Inputs of other sizes than
    the examples' are compiled when they come.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: Any,
        target: str = DEFAULT_TARGET,
        precision: Precision = UNCHANGED,
    ) -> None:
        """Compiles for `example_inputs`, which stay as they are, by running on them once."""
        super().__init__()
        if not isinstance(module, torch.nn.Module):
            raise StreamTensorError(
                f"expected a torch.nn.Module but got {type(module).__name__}; "
                "for a function use torch.compile(function, backend='streamtensor')"
            )
        self.precision = precision
        args, kwargs = split_inputs(example_inputs)
        args, kwargs = pytree.tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
        # PyTorch first: what fails there is the user's to mend.
        if precision == UNCHANGED:
            run_original(module, args, kwargs)
        else:
            module = in_precision(module, example_inputs, precision)[0]
        self.module = module
        self.listing = Listing()
        # In a tuple, so that the parameters are listed once, as the module's.
        self.compiled = (torch.compile(module, backend=Backend(self.listing, target)),)
        with unchanged_buffers(module):
            self(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self.precision != UNCHANGED:
            args, kwargs = convert_inputs((args, kwargs), self.precision)
        with evaluation_mode(self.module), torch.no_grad(), many_compiles():
            return self.compiled[0](*args, **kwargs)

    def explain(self) -> Listing:
        """What runs where and why: a text by `print`, data by `to_dict()`."""
        return self.listing


def many_compiles() -> contextlib.AbstractContextManager:
    """Lets each module be compiled: PyTorch counts those of one class together, and runs the ninth
    as it is without a word."""
    return torch._dynamo.config.patch(
        recompile_limit=COMPILES, accumulated_recompile_limit=COMPILES
    )


def run_original(module: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
    """Runs a module as it is, on copies of its inputs; fails where it does."""
    try:
        with evaluation_mode(module), unchanged_buffers(module), torch.no_grad():
            module(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    except Exception as error:
        raise StreamTensorError(
            f"the module fails on its example inputs{place(error)}: {first_line(error)}; "
            "make module(*example_inputs) work in PyTorch first"
        ) from error
