"""Runs one partition on the device: a design, and the packed weights of this partition.

Partitions of the same structure share the design. What each has of its own is a
directory with an interface.json that names its packed weights. Weights are read at
each call: where their bytes have changed, they are packed again.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Sequence
from pathlib import Path

import torch

from streamtensor.api import run
from streamtensor.designs import INTERFACE, read_json
from streamtensor.importer.program import Program
from streamtensor.models.compiler import parse_packed
from streamtensor.toolchain import run_tool
from streamtensor.weights import tensor_bytes, write_safetensors


class DevicePartition:
    """A callable on the partition's arguments, in order; returns its results.

    Results have the strides of `program`'s graph, as the operators behind them rely
    on these. Raises `StreamTensorError` where the simulation fails.
    """

    def __init__(self, design: Path, program: Program) -> None:
        self.design = design
        self.program = program
        self.fingerprint: tuple[int, ...] | None = None
        self.directory = Path(tempfile.mkdtemp(prefix="streamtensor-partition-"))
        weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)
        (self.directory / "csim").symlink_to(design / "csim", target_is_directory=True)

    def __call__(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        named = dict(zip((a.name for a in self.program.arguments), tensors, strict=True))
        self.bind({argument.name: named[argument.name] for argument in self.program.weights})
        inputs = {argument.name: named[argument.name] for argument in self.program.inputs}
        nodes = self.program.graph.output_node().args[0]
        # Used now: other processes keep it in the cache.
        with contextlib.suppress(OSError):
            os.utime(self.design)
        results = run(self.directory, inputs)
        return tuple(
            with_strides(result, node.meta["val"].stride())
            for result, node in zip(results, nodes, strict=True)
        )

    def bind(self, weights: dict[str, torch.Tensor]) -> None:
        """Packs the weights unless they are those of the call before."""
        fingerprint = tuple(zlib.crc32(tensor_bytes(tensor)) for tensor in weights.values())
        if fingerprint == self.fingerprint:
            return
        self.fingerprint = None
        packed = self.directory / "weights"
        shutil.rmtree(packed, ignore_errors=True)
        files = {}
        if weights:
            source = self.directory / "weights.safetensors"
            write_safetensors(source, weights)
            names = ",".join(f"{name}={name}" for name in weights)
            arguments = [self.design, "--weights", source, "--names", names, "--output-dir", packed]
            files = parse_packed(run_tool("streamtensor-pack", arguments), list(weights))
            source.unlink()
        interface = read_json(self.design / INTERFACE)
        interface["kernel"] = str(self.design / interface["kernel"])
        for argument in interface["arguments"]:
            if argument["name"] in files:
                argument["file"] = str(packed / Path(files[argument["name"]]).name)
        (self.directory / INTERFACE).write_text(json.dumps(interface))
        self.fingerprint = fingerprint


def with_strides(tensor: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """Returns the same elements with the given strides, which may overlap as those of views."""
    if tensor.stride() == tuple(strides) or not tensor.numel():
        return tensor
    result = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype)
    if not torch._debug_has_internal_overlap(result):
        return result.copy_(tensor)
    places = torch.zeros((), dtype=torch.int64)
    for extent, stride in zip(tensor.shape, strides, strict=True):
        places = places.unsqueeze(-1) + torch.arange(extent) * stride
    memory = result.as_strided((int(places.max()) + 1,), (1,))
    memory[places.reshape(-1)] = tensor.reshape(-1)
    return result
