"""Looks at the files of a checkpoint before anything is loaded: headers only, in milliseconds.

transformers, safetensors and gguf stop at a broken file somewhere inside, or go on with random
numbers; here each message names the file, the tensor and what to do. Formats:
https://github.com/huggingface/safetensors (README, "Format") and
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (in `gguf_header.py`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from streamtensor.errors import StreamTensorError
from streamtensor.models.gguf_header import GgufHeader, read_gguf_header
from streamtensor.models.gguf_names import parameter_names, processor_of

CONFIG = "config.json"
SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
# Read by transformers itself, from pickles that it restricts to tensors.
PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")
# As the reference reader: a longer header is refused before it is parsed.
MAX_HEADER = 100_000_000
SIZE_BITS = {
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "F8_E8M0": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "I64": 64,
    "U64": 64,
    "F64": 64,
    "C64": 64,
}
AGAIN = "copy or download it again"
MAX_LISTED = 8
# Quantized formats store up to eight weights in one element.
MAX_EXPANSION = 16
# Tables that models make for themselves, such as masks and rotary frequencies, in elements.
OWN_TABLES = 1 << 26

# {tensor: shape}
Shapes = dict[str, list[int]]


def check_checkpoint(path: Path, with_weights: bool = True) -> Shapes | None:
    """Refuses a checkpoint, a directory or a .gguf file, that is visibly broken.

    Returns the shapes of the tensors it stores; None where those are not looked at: without
    `with_weights`, where random ones replace them, and for pickles. Raises `StreamTensorError`.
    """
    if not path.is_dir():
        return read_gguf_header(path).shapes()
    config = read_object(path / CONFIG)
    if not config:
        raise StreamTensorError(
            f"'{path / CONFIG}' is empty; expected the configuration of a model, {AGAIN}"
        )
    if not with_weights:
        return None
    if (path / SINGLE).is_file():
        return read_safetensors_header(path / SINGLE)
    if (path / INDEX).is_file():
        return check_shards(path / INDEX)
    if not any((path / name).is_file() for name in PICKLES):
        raise StreamTensorError(
            f"the checkpoint '{path}' has no weights: expected {SINGLE}, or {INDEX} with its "
            "shards; copy them there, or pass --random-weights SEED"
        )
    return None


def read_object(path: Path) -> dict[str, Any]:
    """Reads a JSON file that must hold an object."""
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise StreamTensorError(f"'{path}' is no JSON: {error}; {AGAIN}") from error
    if not isinstance(value, dict):
        raise StreamTensorError(
            f"expected a JSON object in '{path}' but got {type(value).__name__}; {AGAIN}"
        )
    return value


def check_shards(index: Path) -> Shapes:
    """Checks an index, every shard it names, and that they agree; all problems at once."""
    places = read_object(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise StreamTensorError(
            f"expected 'weight_map' in '{index}' to be an object from tensors to files; {AGAIN}"
        )
    problems: list[str] = []
    shards: dict[str, list[str]] = {}
    for tensor, shard in places.items():
        # A shard lies beside the index, whatever an index says.
        if not isinstance(shard, str) or Path(shard).name != shard:
            problems.append(f"'{tensor}' is in {shard!r}, which is no name of a file beside it")
        else:
            shards.setdefault(shard, []).append(tensor)
    found: Shapes = {}
    for shard, tensors in sorted(shards.items()):
        path = index.parent / shard
        if not path.is_file():
            problems.append(f"the shard '{path}' of {listed(tensors)} is missing")
            continue
        try:
            shapes = read_safetensors_header(path)
        except StreamTensorError as error:
            problems.append(str(error))
            continue
        absent = sorted(set(tensors) - shapes.keys())
        if absent:
            problems.append(f"the shard '{path}' does not hold {listed(absent)}")
        twice = sorted(shapes.keys() & found.keys())
        if twice:
            problems.append(f"the shard '{path}' holds {listed(twice)}, as another one does")
        found |= shapes
    if problems:
        raise StreamTensorError(
            f"'{index}' and its shards do not fit together: {'; '.join(problems[:MAX_LISTED])}"
            + (f"; and {len(problems) - MAX_LISTED} more" if problems[MAX_LISTED:] else "")
            + "; copy or download all files of one revision again"
        )
    return found


def listed(names: list[str]) -> str:
    """Writes the first names of a list, and how many more there are."""
    more = f" and {len(names) - MAX_LISTED} more" if names[MAX_LISTED:] else ""
    return ", ".join(f"'{name}'" for name in names[:MAX_LISTED]) + more


def read_safetensors_header(path: Path) -> Shapes:
    """Returns the shapes of the tensors of a file whose header and size agree."""

    def refuse(why: str) -> StreamTensorError:
        return StreamTensorError(f"'{path}' is not a valid safetensors file: {why}; {AGAIN}")

    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        if len(start) < 8:
            raise refuse(f"expected at least 8 bytes but got {size}")
        length = int.from_bytes(start, "little")
        if length > min(MAX_HEADER, size - 8):
            raise refuse(
                f"its header would have {length} bytes but the file has {size}: it is truncated "
                "or something else"
            )
        text = file.read(length)
    try:
        header = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise refuse(f"its header is no JSON: {error}") from error
    if not isinstance(header, dict):
        raise refuse("its header is no JSON object")
    header.pop("__metadata__", None)
    shapes: Shapes = {}
    ranges: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        fault, begin, end = entry_range(entry)
        if fault:
            raise refuse(f"tensor '{name}' {fault}")
        if end > size - 8 - length:
            raise refuse(
                f"the data of tensor '{name}' ends at byte {end} of {size - 8 - length}: it is "
                "truncated"
            )
        shapes[name] = entry["shape"]
        ranges.append((begin, end, name))
    covered, last = 0, ""
    for begin, end, name in sorted(ranges):
        if begin < covered:
            raise refuse(f"the data of tensors '{last}' and '{name}' overlap")
        if begin > covered:
            raise refuse(f"bytes {covered} to {begin} of its data belong to no tensor")
        covered, last = end, name
    if covered != size - 8 - length:
        raise refuse(f"{size - 8 - length - covered} bytes behind the last tensor belong to none")
    return shapes


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Parsers disagree on which of two equal keys counts."""
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"'{twice}' appears twice")
    return result


def entry_range(entry: Any) -> tuple[str, int, int]:
    """Returns what is wrong with an entry of the header, or nothing and its range of bytes."""
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        return f"expected dtype, shape and data_offsets but got {str(entry)[:80]}", 0, 0
    bits = SIZE_BITS.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if bits is None:
        known = ", ".join(SIZE_BITS)
        return f"has the dtype {str(entry['dtype'])[:80]}, expected one of {known}", 0, 0
    for key in ("shape", "data_offsets"):
        values = entry[key]
        if not isinstance(values, list) or not all(type(v) is int and v >= 0 for v in values):
            return f"expected whole numbers from 0 in {key} but got {str(values)[:80]}", 0, 0
    for extent in entry["shape"]:
        bits *= extent
    if len(entry["data_offsets"]) != 2:
        return f"expected two data_offsets but got {str(entry['data_offsets'])[:80]}", 0, 0
    begin, end = entry["data_offsets"]
    if bits % 8 or end - begin != bits // 8:
        wanted = f"{entry['shape']} of {entry['dtype']} takes {bits // 8} bytes"
        return f"has {end - begin} bytes but its shape {wanted}", 0, 0
    return "", begin, end


def check_size(path: Path, config: Any, shapes: Shapes | None) -> None:
    """Refuses a configuration of a model far larger than what is stored, before it is built.

    `shapes` are those of `check_checkpoint`; None checks nothing.
    """
    if shapes is None:
        return
    from transformers import AutoModelForCausalLM

    def refuse(what: str) -> StreamTensorError:
        return StreamTensorError(
            f"the checkpoint '{path}' does not fit its configuration, which describes {what}; take "
            "the configuration and all weights of one revision"
        )

    layers = getattr(config.get_text_config(), "num_hidden_layers", None)
    if isinstance(layers, int) and layers > len(shapes):
        raise refuse(f"{layers} layers while {len(shapes)} tensors are stored")
    try:
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
    except Exception:  # Loading it says what is wrong.
        return
    elements = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    stored = 0
    for shape in shapes.values():
        extents = 1
        for extent in shape:
            extents *= extent
        stored += extents
    if elements > MAX_EXPANSION * stored + OWN_TABLES:
        raise refuse(f"{elements} weights while {stored} are stored")


def refuse_unread(header: GgufHeader, model: torch.nn.Module) -> None:
    """Refuses a .gguf file with tensors that transformers passes over without a word.

    Without them the model would be another one, as with the rotary factors of Llama 3.
    """
    architecture = header.values["general.architecture"]
    known = parameter_names(model, processor_of(header))
    unread = sorted(name for name in header.shapes() if name not in known)
    if unread:
        raise StreamTensorError(
            f"'{header.path}' holds {listed(unread)}, which transformers does not read for "
            f"'{architecture}', so the model would be another one; take a checkpoint directory of "
            "this model instead"
        )


def is_finite(values: torch.Tensor) -> bool:
    """Whether a tensor has no infinity and no NaN."""
    # A sum is finite only if all elements are; this takes one pass and no memory.
    return not values.is_floating_point() or bool(values.sum(dtype=torch.float64).isfinite())


def refuse_not_finite(path: Path, model: torch.nn.Module) -> None:
    """Refuses weights with an infinity or NaN; all of them at once.

    Buffers are left alone: masks may well be infinite.
    """
    bad = [
        name for name, parameter in model.named_parameters() if not is_finite(parameter.detach())
    ]
    if bad:
        raise StreamTensorError(
            f"the checkpoint '{path}' has NaN or infinity in {listed(bad)}; repair it, or {AGAIN}"
        )
