"""Weights in groups of 32 with a scale each: as GGUF stores them, and as gguf quantizes them.

The blocks of GGUF (https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h) hold 32
neighbours of one row: a float16 scale, for Q4_1 a float16 minimum, then the codes. They are
taken over bit for bit. How the tensors of a family are named and reordered is asked of
transformers: its own code reorders numbers of rows, and those say where each row came from.
Every tensor is then compared with what transformers loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import torch

from streamtensor.errors import StreamTensorError
from streamtensor.models.checkpoint_files import is_finite
from streamtensor.models.gguf_header import GgufHeader
from streamtensor.models.gguf_names import parameter_names, processor_of

GROUP = 32
# Comparing a tensor with what was loaded takes a few times this many floats of memory.
CHECKED_ELEMENTS = 1 << 22


@dataclass(frozen=True)
class BlockFormat:
    """The bytes of a block: the scale, perhaps a minimum, then `codes` bytes."""

    bits: int
    offset: int
    has_minimum: bool

    @property
    def codes(self) -> int:
        return GROUP * self.bits // 8

    @property
    def block_bytes(self) -> int:
        return (4 if self.has_minimum else 2) + self.codes


FORMATS = {
    "q4_0": BlockFormat(bits=4, offset=8, has_minimum=False),
    "q4_1": BlockFormat(bits=4, offset=0, has_minimum=True),
    "q8_0": BlockFormat(bits=8, offset=0, has_minimum=False),
}

# One scale for all of a row: the bits of a code.
CHANNEL_BITS = {"channel4": 4, "channel8": 8}


@dataclass(frozen=True)
class GroupedWeight:
    """A matrix [rows, columns] in groups of 32 neighbours of a row.

    `codes`: int8 [rows, groups, 16] for 4 bits, where byte j of a group holds element j in its
    low nibble and element j + 16 in its high one, both unsigned; int8 [rows, groups, 32] for
    8 bits, signed.
    `scale`, `minimum`: float16 [rows, groups], or float32 [rows, 1] for the groups of a whole row;
    there need not be a minimum.
    An element is `scale * (code - offset) + minimum`.
    `transposed`: the model keeps the matrix as [columns, rows], as Conv1D of transformers does.
    """

    bits: int
    codes: torch.Tensor
    scale: torch.Tensor
    minimum: torch.Tensor | None = None
    offset: int = 0
    transposed: bool = False

    @property
    def rows(self) -> int:
        return self.codes.shape[0]

    @property
    def columns(self) -> int:
        return self.codes.shape[1] * GROUP

    def dequantize(self) -> torch.Tensor:
        """Returns the elements as float32 [rows, columns], rounded as gguf rounds them."""
        if self.bits == 4:
            byte = self.codes.view(torch.uint8)
            codes = torch.cat([byte & 15, byte >> 4], dim=2).to(torch.int8)
        else:
            codes = self.codes
        values = (codes - self.offset).to(torch.float32)
        values.mul_(self.scale.to(torch.float32).unsqueeze(2))
        if self.minimum is not None:
            values.add_(self.minimum.to(torch.float32).unsqueeze(2))
        return values.reshape(self.rows, self.columns)

    def packed_bytes(self) -> int:
        """Returns how many bytes codes, scales and minima take, as many as in a GGUF file."""
        parts = [self.codes, self.scale] + ([] if self.minimum is None else [self.minimum])
        return sum(part.numel() * part.element_size() for part in parts)

    def select_rows(self, rows: Any) -> GroupedWeight:
        """Returns the matrix of `rows`, a slice or a tensor of numbers."""
        return GroupedWeight(
            self.bits,
            self.codes[rows],
            self.scale[rows],
            None if self.minimum is None else self.minimum[rows],
            self.offset,
            self.transposed,
        )


def quantize(weight: torch.Tensor, kind: str, name: str = "weight") -> GroupedWeight:
    """Quantizes `weight` [rows, columns] in groups of 32 columns, as gguf does.

    `kind` is "q4_0", "q4_1" or "q8_0", or "channel4" or "channel8" for one scale of a row, the
    largest value over the largest code; `name` stands in messages. Raises `StreamTensorError`
    where the columns are no multiple of 32, or a value has no place in the format.
    """
    from gguf import GGMLQuantizationType, quants

    if kind not in FORMATS and kind not in CHANNEL_BITS:
        known = ", ".join([*FORMATS, *CHANNEL_BITS])
        raise StreamTensorError(f"expected one of {known} but got '{kind}'")
    if weight.dim() != 2 or weight.shape[1] % GROUP or not weight.numel():
        raise StreamTensorError(
            f"'{name}' cannot be quantized as {kind}: expected rows of a multiple of {GROUP} "
            f"elements but got the shape {list(weight.shape)}; keep it in f32, f16 or bf16"
        )
    values = weight.detach().to(torch.float32).contiguous()
    require_finite(values, name)
    if kind in CHANNEL_BITS:
        return quantize_rows(values, CHANNEL_BITS[kind])
    # Elements that float16 has no scale for become infinite, which is refused below.
    with numpy.errstate(all="ignore"):
        data = quants.quantize(values.numpy(), GGMLQuantizationType[kind.upper()])
    return from_blocks(data, kind, name)


def quantize_rows(values: torch.Tensor, bits: int) -> GroupedWeight:
    """Quantizes each row of [rows, columns] with one scale, symmetrically, to nearest even."""
    largest = (1 << (bits - 1)) - 1
    scale = values.abs().amax(1, keepdim=True) / largest
    # A row of zeros has any scale.
    divisor = torch.where(scale > 0, scale, 1.0)
    codes = torch.clamp(torch.round(values / divisor), -largest, largest).to(torch.int8)
    codes = codes.reshape(len(values), -1, GROUP)
    if bits == 8:
        return GroupedWeight(8, codes, scale)
    half = GROUP // 2
    low, high = codes[..., :half] + 8, codes[..., half:] + 8
    packed = (low.to(torch.int16) | high.to(torch.int16) << 4).to(torch.uint8)
    return GroupedWeight(4, packed.view(torch.int8), scale, offset=8)


def require_finite(values: torch.Tensor, name: str) -> None:
    """Refuses a tensor with an infinity or NaN, and says where the first one is."""
    if is_finite(values):
        return
    bad = (~values.isfinite()).nonzero()
    if len(bad):
        position = tuple(bad[0].tolist())
        raise StreamTensorError(
            f"the weight '{name}' holds {values[position].item()} at {list(position)}, and "
            f"{len(bad)} of its {values.numel()} elements are not finite; repair the checkpoint"
        )


def from_blocks(data: numpy.ndarray, kind: str, name: str) -> GroupedWeight:
    """Splits the blocks of a GGUF tensor, bytes [rows, groups * block bytes], into parts."""
    layout = FORMATS[kind]
    if data.ndim != 2 or data.shape[1] % layout.block_bytes:
        raise StreamTensorError(
            f"expected rows of {layout.block_bytes}-byte blocks of {kind} in '{name}' but got "
            f"the shape {list(data.shape)}"
        )
    # The copy also frees the parts from the file, which is mapped read-only.
    blocks = torch.from_numpy(numpy.array(data)).reshape(data.shape[0], -1, layout.block_bytes)

    def halves(position: int) -> torch.Tensor:
        part = blocks[..., position : position + 2].contiguous().view(torch.float16).squeeze(2)
        if not bool(part.isfinite().all()):
            row, group = (~part.isfinite()).nonzero()[0].tolist()
            raise StreamTensorError(
                f"the weight '{name}' has a scale or minimum {part[row, group].item()} in row "
                f"{row}, group {group}; float16 ends at 65504: keep it in f32 or bf16, or repair "
                "the checkpoint"
            )
        return part

    return GroupedWeight(
        bits=layout.bits,
        codes=blocks[..., -layout.codes :].contiguous().view(torch.int8),
        scale=halves(0),
        minimum=halves(2) if layout.has_minimum else None,
        offset=layout.offset,
    )


def gguf_weights(header: GgufHeader, model: torch.nn.Module) -> dict[str, GroupedWeight]:
    """Returns the groups of each parameter of `model` that a .gguf file stores in groups.

    `model` is the one that transformers loaded from the file of `header` in float32. A parameter under
    several names, such as a tied head, is given under each. Parameters of other types (F32,
    F16, Q6_K...) and of other than two dimensions are left out. Raises `StreamTensorError`
    with the name where groups differ in a bit from what was loaded.
    """
    processor = processor_of(header)
    mapping = parameter_names(model, processor)
    parameters = dict(model.named_parameters(remove_duplicate=False))
    data = numpy.memmap(header.path, numpy.uint8, "r")
    found: dict[int, GroupedWeight] = {}
    for tensor in header.tensors:
        kind = tensor.kind.lower()
        if kind not in FORMATS or len(tensor.shape) != 2:
            continue
        place = placement(processor, mapping, tensor.name, (tensor.shape[0], tensor.shape[1]))
        if place is None or place.name not in parameters:
            continue
        begin = header.begin + tensor.offset
        blocks = data[begin : begin + tensor.size].reshape(tensor.shape[0], -1)
        weight = place.apply(from_blocks(blocks, kind, tensor.name))
        parameter = parameters[place.name]
        require_equal(weight, parameter, place.name, tensor.name, header.path)
        found[id(parameter)] = weight
    return {name: found[id(p)] for name, p in parameters.items() if id(p) in found}


@dataclass(frozen=True)
class Placement:
    """Where a tensor of a file goes: the parameter, and its rows as numbers of the file's."""

    name: str
    rows: torch.Tensor
    transposed: bool

    def apply(self, weight: GroupedWeight) -> GroupedWeight:
        if not torch.equal(self.rows, torch.arange(len(self.rows))):
            weight = weight.select_rows(self.rows)
        parts = (weight.bits, weight.codes, weight.scale, weight.minimum, weight.offset)
        return GroupedWeight(*parts, transposed=self.transposed)


def placement(
    processor: Any, mapping: dict[str, str], tensor: str, shape: tuple[int, int]
) -> Placement | None:
    """Runs transformers' reordering on the numbers of rows; None where the tensor is not used.

    Raises nothing for a reordering that is none of whole rows: comparing finds it.
    """
    rows, columns = map(int, shape)
    numbers = numpy.broadcast_to(numpy.arange(rows, dtype=numpy.int32)[:, None], (rows, columns))
    # Some families put a tensor here themselves instead of handing it back.
    stored: dict[str, Any] = {"tensors": {}}
    result = processor.process(
        weights=numbers, name=tensor, tensor_key_mapping=mapping, parsed_parameters=stored
    )
    name, moved = mapping.get(result.name), result.weights
    if result.name is None and len(stored["tensors"]) == 1:
        ((name, moved),) = stored["tensors"].items()
    if name is None or moved.ndim != 2:
        return None
    moved = numpy.asarray(moved)
    transposed = rows > 1 and bool((moved[:, 0] == moved[0, 0]).all())
    numbers_of_rows = moved[0] if transposed else moved[:, 0]
    return Placement(name, torch.from_numpy(numbers_of_rows.astype(numpy.int64)), transposed)


def require_equal(
    weight: GroupedWeight, parameter: torch.Tensor, name: str, tensor: str, path: Path
) -> None:
    """Refuses groups that are not bit for bit what transformers made of the same tensor."""
    values = parameter.detach()
    values = values.T if weight.transposed else values
    step = max(1, CHECKED_ELEMENTS // weight.columns)
    equal = tuple(values.shape) == (weight.rows, weight.columns)
    for first in range(0, weight.rows if equal else 0, step):
        rows = slice(first, first + step)
        ours = weight.select_rows(rows).dequantize().view(torch.int32)
        theirs = values[rows].to(torch.float32).contiguous().view(torch.int32)
        equal = equal and torch.equal(ours, theirs)
    if not equal:
        raise StreamTensorError(
            f"the groups of '{tensor}' in '{path}' are not what transformers loaded as '{name}': "
            "it reorders this tensor in a way that does not keep whole rows; compile with a "
            "precision that does not take the file's own groups"
        )
