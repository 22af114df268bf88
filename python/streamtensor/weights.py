"""Writes safetensors files tensor by tensor, so that memory stays bounded.

The library's own writer wants all tensors in memory at once; here a value may be
a function that makes the tensor when its turn comes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from streamtensor.dtypes import NAMES


@dataclass(frozen=True)
class LazyTensor:
    """A tensor of known shape and type that is made when it is written."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    make: Callable[[], torch.Tensor]


def tensor_bytes(tensor: torch.Tensor) -> memoryview:
    """Returns a tensor's elements, row-major and little-endian, as bytes."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return memoryview(flat.view(torch.uint8).numpy())


def write_safetensors(path: Path, tensors: Mapping[str, torch.Tensor | LazyTensor]) -> None:
    """Writes `tensors` in their order; one tensor at a time is in memory."""
    header: dict[str, object] = {}
    offset = 0
    for name, tensor in tensors.items():
        size = tensor.dtype.itemsize
        for extent in tensor.shape:
            size *= extent
        header[name] = {
            "dtype": NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    # The format wants the data to start at a multiple of eight bytes.
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for tensor in tensors.values():
            value = tensor.make() if isinstance(tensor, LazyTensor) else tensor
            if value.numel():
                file.write(tensor_bytes(value))
