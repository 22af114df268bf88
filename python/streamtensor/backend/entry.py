"""`torch.compile(model, backend="streamtensor")`.

    torch.compile(model, backend="streamtensor", options={"target": "u55c"})

PyTorch cuts the model into graphs where it cannot follow it, runs what lies between,
and hands each graph to the backend. The backend compiles a graph when it is first
called, once for each set of sizes of its inputs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from streamtensor.backend.device import DevicePartition
from streamtensor.backend.graphs import tidy, trace_graph
from streamtensor.backend.listing import HOST, GraphListing, Listing, Part
from streamtensor.backend.partitions import cut
from streamtensor.backend.placement import is_call
from streamtensor.backend.splitting import Splitter, describe_part, identity, weight_names
from streamtensor.designs import DEFAULT_TARGET
from streamtensor.dtypes import dtype_name
from streamtensor.errors import StreamTensorError
from streamtensor.importer.locations import TORCH_ROOT, short_path
from streamtensor.importer.tracing import first_line
from streamtensor.precision import check_precision
from streamtensor.progress import say
from streamtensor.toolchain import find_tool

NAME = "streamtensor"
TOOLS = ("streamtensor-compile", "streamtensor-pack", "streamtensor-run")
OPTIONS = ("target", "precision")
# Sets of sizes for which one graph is compiled; PyTorch runs further ones.
MOST_SIZES = 8
GRADIENTS = (
    "gradients are wanted, but a design computes forward only; call the model under torch.no_grad()"
)

# What graphs were handed over by torch.compile by the backend's name.
listing = Listing()
# Designs are made in one directory tree, and a simulation uses a core.
lock = threading.RLock()


def streamtensor(
    module: torch.fx.GraphModule, example_inputs: Sequence[Any], **keywords: Any
) -> Callable:
    """The function that torch.compile calls with each graph.

    `options` are `target` (a device) and `precision`, which is f32: types stay what they are
    in the graph. Raises `StreamTensorError` for other options and where the compiler is not built.
    """
    options = dict(keywords.pop("options", None) or {})
    if keywords:
        raise StreamTensorError(
            f"expected no {', '.join(map(repr, keywords))} for this backend; give it options"
        )
    return Backend(listing, **check_options(options))(module, example_inputs)


def check_options(options: dict[str, Any]) -> dict[str, Any]:
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise StreamTensorError(
            f"expected options of the backend from {', '.join(OPTIONS)} but got "
            f"{', '.join(map(repr, unknown))}"
        )
    precision = options.pop("precision", "f32")
    check_precision(precision)
    if precision != "f32":
        raise StreamTensorError(
            "torch.compile hands over graphs, whose weights belong to the model, so the precision "
            f"'{precision}' cannot be asked for here; use streamtensor.compile(model, "
            f"example_inputs, precision='{precision}'), which converts a copy of the model"
        )
    return options


class Backend:
    """A backend that notes its graphs in a listing of its own."""

    def __init__(self, listing: Listing, target: str = DEFAULT_TARGET) -> None:
        for tool in TOOLS:
            find_tool(tool)
        self.listing = listing
        self.target = target

    def __call__(self, module: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable:
        return CompiledGraph(module, self.listing, self.target)


class CompiledGraph:
    """A graph of torch.compile: a callable on its inputs, compiled for each set of sizes."""

    def __init__(self, module: torch.fx.GraphModule, listing: Listing, target: str) -> None:
        self.module = module
        self.listing = listing
        self.target = target
        self.by_sizes: dict[Any, Callable] = {}
        self.told: set[str] = set()
        self.ends = graph_break(module)
        placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
        self.is_static = [is_module_state(node) for node in placeholders]

    def __call__(self, *inputs: Any) -> Any:
        with lock:
            key = (tuple(map(describe_input, inputs)), torch.is_autocast_enabled("cpu"))
            if torch.is_grad_enabled() and any(map(needs_gradient, inputs)):
                return self.run_in_pytorch(inputs, GRADIENTS)
            run = self.by_sizes.get(key)
            if run is None:
                if len(self.by_sizes) >= MOST_SIZES:
                    reason = (
                        f"it was compiled for {MOST_SIZES} sets of sizes already; pad its inputs, "
                        "or call torch.compiler.reset()"
                    )
                    return self.run_in_pytorch(inputs, reason)
                try:
                    run = self.compile(inputs)
                except StreamTensorError:
                    raise
                except Exception as error:
                    reason = f"PyTorch cannot trace it: {type(error).__name__}: {first_line(error)}"
                    self.by_sizes[key] = self.module
                    return self.run_in_pytorch(inputs, reason)
                self.by_sizes[key] = run
            return run(*inputs)

    def compile(self, inputs: Sequence[Any]) -> Callable:
        weights = {
            identity(value)
            for value, static in zip(inputs, self.is_static, strict=True)
            if isinstance(value, torch.Tensor) and static
        }
        weights |= set(map(identity, (*self.module.parameters(), *self.module.buffers())))
        entry = GraphListing(describe_inputs(inputs, self.is_static), self.ends)
        traced = trace_graph(
            self.module, inputs, lambda graph: SplitGraph(graph, weights, entry, self.target)
        )
        self.listing.graphs.append(entry)
        return traced

    def run_in_pytorch(self, inputs: Sequence[Any], reason: str) -> Any:
        """Runs the graph as it is, and says so once."""
        if reason not in self.told:
            say(f"a graph runs in PyTorch: {reason}")
            operators = sum(node.op.startswith("call") for node in self.module.graph.nodes)
            part = Part(HOST, "the module", reason, {"operators of the graph": operators}, 0)
            entry = GraphListing(describe_inputs(inputs, self.is_static), self.ends, [part])
            self.listing.graphs.append(entry)
            self.told.add(reason)
        return self.module(*inputs)


class SplitGraph:
    """A traced graph that is split at its first call, when its weights are known."""

    def __init__(
        self,
        module: torch.fx.GraphModule,
        weights: set[Any],
        entry: GraphListing,
        target: str,
    ) -> None:
        self.module = module
        self.weights = weights
        self.entry = entry
        self.target = target
        self.is_split = False

    def __call__(self, *inputs: Any) -> Any:
        if not self.is_split:
            try:
                self.split(list(inputs))
            except StreamTensorError:
                raise
            except Exception as error:
                self.give_up(f"it could not be split: {type(error).__name__}: {first_line(error)}")
            self.is_split = True
        with torch.no_grad():
            return self.module(*inputs)

    def split(self, inputs: list[Any]) -> None:
        tidy(self.module)
        weights = weight_names(self.module.graph, inputs, self.weights)
        splitter = Splitter(self.module, weights, self.target)
        compiled = splitter.split()
        self.entry.parts[:] = splitter.parts(compiled)
        names = cut(self.module, [each.partition.nodes for each in compiled])
        for name, each, part in zip(names, compiled, self.entry.parts, strict=False):
            run = DevicePartition(each.design, each.partition.program)
            setattr(self.module, name, PartitionModule(run, getattr(self.module, name), part))

    def give_up(self, reason: str) -> None:
        """Leaves the whole graph to PyTorch, where it runs as it was traced."""
        say(f"a graph runs in PyTorch, which is a fault of ours: {reason}")
        self.entry.parts[:] = [
            describe_part(HOST, list(filter(is_call, self.module.graph.nodes)), reason)
        ]
        self.module.recompile()


class PartitionModule(torch.nn.Module):
    """A partition as a part of the graph; PyTorch takes over where a run fails."""

    def __init__(self, run: DevicePartition, original: torch.nn.Module, part: Part) -> None:
        super().__init__()
        self.run = run
        self.original = original
        self.part = part

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        self.part.calls += 1
        start = time.monotonic()
        try:
            if self.part.where != HOST:
                return self.run(*tensors)
        except StreamTensorError as error:
            say(f"a part runs in PyTorch from now on, because its design failed: {error}")
            self.part.where = HOST
            self.part.why = f"its design failed: {str(error).splitlines()[0]}"
            self.part.design = self.part.state = None
        finally:
            self.part.seconds += time.monotonic() - start
        return self.original(*tensors)


def is_module_state(node: torch.fx.Node) -> bool:
    """Tells a parameter or buffer of the model from an input."""
    return "_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {})


def needs_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def describe_input(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape), value.stride(), value.dtype, value.device)
    return (type(value), value)


def describe_inputs(inputs: Sequence[Any], is_static: Sequence[bool]) -> str:
    """The inputs that are no parameters, as 'F32 [8, 64], 3'."""
    texts = []
    for value, static in zip(inputs, is_static, strict=True):
        if isinstance(value, torch.Tensor):
            if not static:
                texts.append(f"{dtype_name(value.dtype) or value.dtype} {list(value.shape)}")
        else:
            texts.append(str(value))
    return ", ".join(texts) or "no inputs"


def register() -> None:
    """Makes the name known to torch.compile, where the package was not installed."""
    from torch._dynamo.backends import registry

    if NAME not in registry._COMPILER_FNS:
        registry.register_backend(streamtensor, name=NAME)


def explain() -> Listing:
    """What ran where and why, of all graphs that torch.compile gave to the backend."""
    return listing


def graph_break(module: torch.fx.GraphModule) -> str | None:
    """Why PyTorch ended a graph before the end of the function, and at which line."""
    reason = getattr(module, "compile_subgraph_reason", None)
    if reason is None or not reason.graph_break:
        return None
    text = str(reason.reason).strip().splitlines()[0]
    frames = [f for f in reason.user_stack if not f.filename.startswith(TORCH_ROOT)]
    return f"{text} at {short_path(frames[-1].filename)}:{frames[-1].lineno}" if frames else text
