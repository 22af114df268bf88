"""Names of element types in manifests and safetensors files."""

from __future__ import annotations

import torch

# What may cross the boundary of a design. 4-bit values travel as int8.
NAMES: dict[torch.dtype, str] = {
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.bool: "BOOL",
    torch.int8: "I8",
    torch.int16: "I16",
    torch.int32: "I32",
    torch.int64: "I64",
    torch.uint8: "U8",
    torch.uint16: "U16",
    torch.uint32: "U32",
    torch.uint64: "U64",
}


def dtype_name(dtype: torch.dtype) -> str | None:
    """Returns the name of an element type, None where a design cannot have it."""
    return NAMES.get(dtype)
