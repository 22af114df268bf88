"""Reads the header of a .gguf file, with every number checked before it is used.

gguf's own reader believes what a file says, and takes seconds for the tokens of a tokenizer.
Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from streamtensor.errors import StreamTensorError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32
MAX_DIMENSIONS = 4
STRING, ARRAY = 8, 9
# struct's letter of each type of value that has a fixed size, by its number in files.
SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
MAX_NESTING = 4


@dataclass(frozen=True)
class GgufTensor:
    """A tensor of a file: `shape` as PyTorch writes it, rows first; `kind` is gguf's name."""

    name: str
    shape: list[int]
    kind: str
    offset: int
    size: int


@dataclass(frozen=True)
class GgufArray:
    """What is read of an array, of which a file may have many: how many elements it has."""

    length: int


@dataclass
class GgufHeader:
    """The values of a file, its tensors in their order, and where their data begins."""

    path: Path
    values: dict[str, Any] = field(default_factory=dict)
    tensors: list[GgufTensor] = field(default_factory=list)
    begin: int = 0

    def shapes(self) -> dict[str, list[int]]:
        return {tensor.name: tensor.shape for tensor in self.tensors}


class Cursor:
    """A position in the bytes of a file that nothing reads beyond."""

    def __init__(self, path: Path, data: mmap.mmap | bytes) -> None:
        self.path = path
        self.data = data
        self.position = 0

    def refuse(self, why: str) -> StreamTensorError:
        return StreamTensorError(
            f"'{self.path}' is not a valid GGUF file: {why}; copy or download it again"
        )

    def skip(self, count: int, what: str) -> int:
        """Moves on by `count` bytes and returns where they began."""
        begin = self.position
        if count > len(self.data) - begin:
            raise self.refuse(f"it ends inside {what}, at byte {len(self.data)}: it is truncated")
        self.position += count
        return begin

    def number(self, letter: str, what: str) -> Any:
        begin = self.skip(struct.calcsize("<" + letter), what)
        return struct.unpack_from("<" + letter, self.data, begin)[0]

    def text(self, what: str) -> str:
        length = self.number("Q", what)
        begin = self.skip(length, what)
        try:
            return self.data[begin : begin + length].decode()
        except UnicodeDecodeError as error:
            raise self.refuse(f"{what} is no UTF-8") from error

    def value(self, kind: int, what: str, nesting: int = 0) -> Any:
        """Returns a value; of an array only its length."""
        if kind in SCALARS:
            return self.number(SCALARS[kind], what)
        if kind == STRING:
            return self.text(what)
        if kind != ARRAY or nesting == MAX_NESTING:
            raise self.refuse(f"{what} has the unknown type {kind}")
        kind = self.number("I", what)
        count = self.number("Q", what)
        if kind in SCALARS:
            self.skip(count * struct.calcsize("<" + SCALARS[kind]), what)
        elif kind == STRING:
            for _ in range(count):
                self.skip(self.number("Q", what), what)
        else:
            for _ in range(count):
                self.value(kind, what, nesting + 1)
        return GgufArray(count)


def read_gguf_header(path: Path) -> GgufHeader:
    """Reads a header and checks that all data lies in the file; raises `StreamTensorError`."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            raise Cursor(path, b"").refuse("it is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return parse(Cursor(path, data))


def parse(cursor: Cursor) -> GgufHeader:
    magic = cursor.data[: len(MAGIC)]
    if magic != MAGIC:
        raise cursor.refuse(f"expected it to begin with {MAGIC!r} but got {bytes(magic)!r}")
    cursor.skip(len(MAGIC), "its magic")
    version = cursor.number("I", "its version")
    if version not in VERSIONS:
        if version & 0xFFFF == 0:
            raise cursor.refuse("its numbers are big-endian, which is not supported")
        raise cursor.refuse(
            f"it has version {version} but only {' and '.join(map(str, VERSIONS))} can be read"
        )
    tensors = cursor.number("Q", "its number of tensors")
    values = cursor.number("Q", "its number of values")
    header = GgufHeader(cursor.path)
    for index in range(values):
        key = cursor.text(f"the name of value {index} of {values}")
        kind = cursor.number("I", f"value '{key}'")
        if key in header.values:
            raise cursor.refuse(f"value '{key}' appears twice")
        header.values[key] = cursor.value(kind, f"value '{key}'")
    architecture = header.values.get("general.architecture")
    if not isinstance(architecture, str):
        raise cursor.refuse("it does not say its 'general.architecture'")
    seen: set[str] = set()
    for index in range(tensors):
        tensor = read_tensor(cursor, f"tensor {index} of {tensors}")
        if tensor.name in seen:
            raise cursor.refuse(f"tensor '{tensor.name}' appears twice")
        seen.add(tensor.name)
        header.tensors.append(tensor)
    check_data(cursor, header)
    return header


def read_tensor(cursor: Cursor, what: str) -> GgufTensor:
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

    name = cursor.text(f"the name of {what}")
    what = f"tensor '{name}'"
    rank = cursor.number("I", what)
    if rank > MAX_DIMENSIONS:
        raise cursor.refuse(f"{what} has {rank} dimensions, more than {MAX_DIMENSIONS}")
    shape = [cursor.number("Q", what) for _ in range(rank)]
    number = cursor.number("I", what)
    try:
        kind = GGMLQuantizationType(number)
    except ValueError as error:
        raise cursor.refuse(
            f"{what} has the unknown type {number}; if it is new, convert the model to Q4_1, Q8_0 "
            "or F16"
        ) from error
    elements = 1
    for extent in shape:
        elements *= extent
    block, block_bytes = GGML_QUANT_SIZES[kind]
    if not elements or (shape[0] if shape else 1) % block:
        raise cursor.refuse(
            f"{what} of type {kind.name} has the shape {shape[::-1]}, expected rows of a multiple "
            f"of {block}"
        )
    offset = cursor.number("Q", what)
    return GgufTensor(name, shape[::-1], kind.name, offset, elements // block * block_bytes)


def check_data(cursor: Cursor, header: GgufHeader) -> None:
    """Refuses data outside of the file, overlaps, and types that gguf cannot take apart."""
    alignment = header.values.get("general.alignment", DEFAULT_ALIGNMENT)
    if type(alignment) is not int or alignment <= 0 or alignment % 8:
        raise cursor.refuse(f"'general.alignment' is {alignment!r}, expected a multiple of 8")
    header.begin = cursor.position + -cursor.position % alignment
    size = len(cursor.data) - header.begin
    for tensor in header.tensors:
        if tensor.offset % alignment:
            raise cursor.refuse(
                f"tensor '{tensor.name}' begins at byte {tensor.offset} of the data, expected a "
                f"multiple of {alignment}"
            )
        if tensor.offset + tensor.size > size:
            raise cursor.refuse(
                f"the data of tensor '{tensor.name}' ends at byte {tensor.offset + tensor.size} "
                f"of {max(size, 0)}: it is truncated"
            )
    last: GgufTensor | None = None
    for tensor in sorted(header.tensors, key=lambda tensor: tensor.offset):
        if last is not None and tensor.offset < last.offset + last.size:
            raise cursor.refuse(f"the data of tensors '{last.name}' and '{tensor.name}' overlap")
        last = tensor
    check_types(cursor, header)


def check_types(cursor: Cursor, header: GgufHeader) -> None:
    """Refuses types that gguf knows and cannot turn into numbers; all tensors at once."""
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

    for name in sorted({tensor.kind for tensor in header.tensors}):
        kind = GGMLQuantizationType[name]
        block = numpy.zeros((1, GGML_QUANT_SIZES[kind][1]), numpy.uint8)
        try:
            if name not in ("F32", "F16"):
                quants.dequantize(block, kind)
        except NotImplementedError as error:
            of = [tensor.name for tensor in header.tensors if tensor.kind == name]
            raise StreamTensorError(
                f"'{cursor.path}' holds {len(of)} tensors of type {name}, such as '{of[0]}', which "
                "gguf cannot take apart; convert the model to Q4_1, Q8_0 or F16"
            ) from error
