"""Checkpoints that are broken: one message with the file, the tensor and what to do, at once.

Files are cut and changed here by the documented formats; a fuzzer does it at random.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT
from gguf_files import FAMILIES, write_gguf
from safetensors.torch import load_file, save_file

from streamtensor import StreamTensorError
from streamtensor.models import sources
from streamtensor.models.checkpoint_files import check_checkpoint
from streamtensor.models.gguf_header import read_gguf_header

INDEX = "model.safetensors.index.json"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    sources.random_model(FAMILIES["llama"].config, 3).save_pretrained(tmp_path / "llama")
    return tmp_path / "llama"


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    model = sources.random_model(FAMILIES["llama"].config, 3)
    model.save_pretrained(tmp_path / "sharded", max_shard_size="60KB")
    return tmp_path / "sharded"


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    write_gguf(tmp_path / "small.gguf", "llama", "Q4_1")
    return tmp_path / "small.gguf"


def refusal(path: Path) -> str:
    """Loads a checkpoint as a command does; returns the message, which comes quickly."""
    begin = time.monotonic()
    with pytest.raises(StreamTensorError) as caught:
        sources.load_model(sources.resolve(str(path), None))
    assert time.monotonic() - begin < 20
    assert "cannot be loaded" not in str(caught.value), "found by transformers only"
    return str(caught.value)


def write_header(path: Path, header: Any, data: bytes) -> None:
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_safetensors_truncated_anywhere(directory: Path) -> None:
    path = directory / "model.safetensors"
    whole = path.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    lengths = [*range(12), header - 1, header, header + 1, len(whole) // 2, len(whole) - 1]
    for length in lengths:
        path.write_bytes(whole[:length])
        message = refusal(directory)
        assert f"'{path}' is not a valid safetensors file" in message
        assert "download it again" in message
        if length >= header:
            assert "the data of tensor '" in message and "truncated" in message


X = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ([], "its header is no JSON object"),
        ({"x": X | {"dtype": "F31"}}, "tensor 'x' has the dtype F31, expected one of BOOL"),
        ({"x": X | {"shape": [3]}}, r"tensor 'x' has 8 bytes but its shape [3] of F32 takes 12"),
        ({"x": X | {"shape": [-2]}}, "whole numbers from 0 in shape but got [-2]"),
        ({"x": X | {"shape": [2.0]}}, "whole numbers from 0 in shape but got [2.0]"),
        ({"x": X | {"shape": [1 << 62, 1 << 62]}}, "tensor 'x' has 8 bytes but"),
        ({"x": X | {"data_offsets": [8, 0]}}, "tensor 'x' has -8 bytes but"),
        ({"x": X | {"data_offsets": [8]}}, "expected two data_offsets"),
        ({"x": X | {"data_offsets": [8, 16]}}, "tensor 'x' ends at byte 16 of 8"),
        ({"x": X, "y": X}, "the data of tensors 'x' and 'y' overlap"),
        ({"x": X | {"shape": [1], "data_offsets": [4, 8]}}, "bytes 0 to 4 of its data belong to"),
        ({"x": X | {"shape": [1], "data_offsets": [0, 4]}}, "4 bytes behind the last tensor"),
        ({"x": {"dtype": "F32"}}, "expected dtype, shape and data_offsets"),
        ({"x": 7}, "expected dtype, shape and data_offsets but got 7"),
    ],
)
def test_safetensors_header(directory: Path, header: Any, part: str) -> None:
    write_header(directory / "model.safetensors", header, bytes(8))
    message = refusal(directory)
    assert part in message and "model.safetensors'" in message


def test_a_tensor_twice(directory: Path) -> None:
    text = b'{"x":%b,"x":%b}' % ((json.dumps(X).encode(),) * 2)
    (directory / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
    assert "'x' appears twice" in refusal(directory)


def test_header_of_gigabytes_is_not_read(directory: Path) -> None:
    path = directory / "model.safetensors"
    with path.open("wb") as file:
        file.write((3 << 30).to_bytes(8, "little"))
        file.truncate(4 << 30)  # A hole takes no space.
    assert f"would have {3 << 30} bytes" in refusal(directory)


def change_tensors(path: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})


def test_all_misfits_at_once(directory: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        del tensors["model.norm.weight"]
        tensors["model.layers.0.mlp.up_proj.weight"] = torch.zeros(3, 5)
        tensors["more.weight"] = torch.zeros(2)

    change_tensors(directory / "model.safetensors", change)
    message = refusal(directory)
    assert "lacks model.norm.weight" in message and "has unknown more.weight" in message
    assert "model.layers.0.mlp.up_proj.weight [3, 5] where the model has [96, 64]" in message
    assert "of one revision" in message


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_not_finite(directory: Path, value: float) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        tensors["model.layers.1.mlp.up_proj.weight"][3, 4] = value
        tensors["model.norm.weight"][-1] = value

    change_tensors(directory / "model.safetensors", change)
    message = refusal(directory)
    assert "NaN or infinity in 'model.layers.1.mlp.up_proj.weight', 'model.norm.weight'" in message


def test_largest_numbers_are_finite(directory: Path) -> None:
    """Their sum is beyond float32."""
    top = torch.finfo(torch.float32).max
    change_tensors(directory / "model.safetensors", lambda t: t["lm_head.weight"].fill_(top))
    model = sources.load_model(sources.resolve(str(directory), None))
    assert (model.lm_head.weight == top).all()


def test_shards(shards: Path) -> None:
    index = json.loads((shards / INDEX).read_text())
    names = sorted(set(index["weight_map"].values()))
    assert len(names) > 3
    state = sources.load_model(sources.resolve(str(shards), None)).state_dict()
    expected = sources.random_model(FAMILIES["llama"].config, 3).state_dict()
    assert state.keys() == expected.keys()
    assert all(torch.equal(state[name], expected[name]) for name in state)
    # One is missing, one cut, one has lost a tensor: all said at once.
    (shards / names[0]).unlink()
    (shards / names[1]).write_bytes((shards / names[1]).read_bytes()[:-1])
    tensors = load_file(shards / names[2])
    lost = sorted(tensors)[0]
    change_tensors(shards / names[2], lambda t: t.pop(lost))
    message = refusal(shards)
    assert f"the shard '{shards / names[0]}' of 'model." in message and "is missing" in message
    assert f"'{shards / names[1]}' is not a valid safetensors file" in message
    assert f"the shard '{shards / names[2]}' does not hold '{lost}'" in message
    assert "of one revision again" in message


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda text: text[: len(text) // 2], f"{INDEX}' is no JSON"),
        (lambda text: "[1, 2]", "expected a JSON object in"),
        (lambda text: "{}", "expected 'weight_map' in"),
        (lambda text: '{"weight_map": {}}', "expected 'weight_map' in"),
        (lambda text: '{"weight_map": {"a": "../b"}}', "'a' is in '../b', which is no name of a"),
        (lambda text: '{"weight_map": {"a": 7}}', "'a' is in 7, which is no name of a file"),
        (lambda text: "[" * 100000, "is no JSON"),
    ],
)
def test_wrong_index(shards: Path, change: Callable, part: str) -> None:
    path = shards / INDEX
    path.write_text(change(path.read_text()))
    assert part in refusal(shards)


def test_two_shards_with_one_tensor(shards: Path) -> None:
    names = sorted(set(json.loads((shards / INDEX).read_text())["weight_map"].values()))
    change_tensors(shards / names[1], lambda t: t.update({"model.norm.weight": torch.zeros(64)}))
    assert "holds 'model.norm.weight', as another one does" in refusal(shards)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "config.json' is no JSON"),
        ("{}", "config.json' is empty"),
        ("7", "expected a JSON object in"),
        ('{"model_type": "llama"', "config.json' is no JSON"),
    ],
)
def test_wrong_configuration(directory: Path, text: str, part: str) -> None:
    (directory / "config.json").write_text(text)
    assert part in refusal(directory)


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("num_hidden_layers", 2_000_000_000, "describes 2000000000 layers while 21 tensors are"),
        ("intermediate_size", 1 << 40, "weights while"),
        ("vocab_size", 1 << 31, "weights while"),
    ],
)
def test_huge_configuration_is_not_built(directory: Path, key: str, value: int, part: str) -> None:
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps(config | {key: value}))
    message = refusal(directory)
    assert "does not fit its configuration" in message and part in message


def test_code_of_a_checkpoint_is_not_run(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where somebody says yes to all questions."""
    ran = tmp_path / "ran"
    (directory / "own.py").write_text(
        "from pathlib import Path\n"
        f"Path({str(ran)!r}).touch()\n"
        "from transformers import LlamaConfig as Own\n"
    )
    config = json.loads((directory / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}
    (directory / "config.json").write_text(json.dumps(config))
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    message = refusal(directory)
    assert "brings code of its own (auto_map in config.json), which is not run" in message
    assert not ran.exists()


def test_no_weights(directory: Path) -> None:
    (directory / "model.safetensors").unlink()
    assert "has no weights: expected model.safetensors" in refusal(directory)
    # Random ones need none.
    sources.load_model(sources.resolve(str(directory), 5))


def test_gguf_truncated_anywhere(gguf: Path, tmp_path: Path) -> None:
    whole = gguf.read_bytes()
    path = tmp_path / "cut.gguf"
    lengths = [*range(200), *range(200, len(whole), 97), len(whole) - 1]
    # The writer pads the last tensor to the alignment; that may be missing.
    tensors = read_gguf_header(gguf).tensors
    assert len(tensors) == 21
    for length in lengths:
        path.write_bytes(whole[:length])
        with pytest.raises(
            StreamTensorError, match=r"cut\.gguf' is not a valid GGUF file: .*"
        ) as e:
            check_checkpoint(path)
        if length >= 4:
            assert "truncated" in str(e.value)
    path.write_bytes(whole)
    check_checkpoint(path)


def find_tensor(data: bytes, name: str) -> int:
    """Returns where the entry of a tensor goes on behind its name."""
    stored = len(name).to_bytes(8, "little") + name.encode()
    assert data.count(stored) == 1
    return data.index(stored) + len(stored)


def patched(data: bytes, at: int, letter: str, value: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into("<" + letter, changed, at, value)
    return bytes(changed)


NAME = "blk.0.ffn_up.weight"
# Behind a name: u32 rank, two u64 extents, u32 type, u64 offset.
TYPE, OFFSET = 4 + 16, 4 + 16 + 4


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda d: b"GGML" + d[4:], "expected it to begin with b'GGUF' but got b'GGML'"),
        (lambda d: patched(d, 4, "I", 1), "it has version 1 but only 2 and 3 can be read"),
        (lambda d: patched(d, 4, "I", 9), "it has version 9 but only"),
        (lambda d: patched(d, 4, "I", 3 << 24), "big-endian"),
        (lambda d: patched(d, 8, "Q", (1 << 64) - 1), "of 18446744073709551615"),
        (lambda d: patched(d, 16, "Q", (1 << 64) - 1), "of 18446744073709551615"),
        (lambda d: patched(d, 8, "Q", 0), "describes 2 layers while 0 tensors are stored"),
        (
            lambda d: patched(d, find_tensor(d, NAME), "I", 99),
            f"tensor '{NAME}' has 99 dimensions",
        ),
        (
            lambda d: patched(d, find_tensor(d, NAME) + TYPE, "I", 199),
            f"tensor '{NAME}' has the unknown type 199",
        ),
        # Q8_1 is only used while a product is computed.
        (
            lambda d: patched(d, find_tensor(d, "blk.0.attn_norm.weight") + 4 + 8, "I", 9),
            "1 tensors of type Q8_1, such as 'blk.0.attn_norm.weight', which gguf cannot take",
        ),
        (
            lambda d: patched(d, find_tensor(d, NAME) + OFFSET, "Q", 1 << 50),
            f"the data of tensor '{NAME}' ends at byte",
        ),
        (
            lambda d: patched(d, find_tensor(d, NAME) + OFFSET, "Q", 33),
            f"tensor '{NAME}' begins at byte 33 of the data, expected a multiple of 32",
        ),
        (lambda d: patched(d, find_tensor(d, NAME) + OFFSET, "Q", 0), "overlap"),
        (
            lambda d: patched(d, find_tensor(d, NAME) + 4, "Q", 63),
            f"tensor '{NAME}' of type Q4_1 has the shape [96, 63], expected rows of a multiple",
        ),
        (
            lambda d: patched(d, find_tensor(d, NAME) + 4 + 8, "Q", 64),
            "has misshapen model.layers.0.mlp.up_proj.weight",
        ),
        (lambda d: d.replace(b"output_norm.weight", b"output_morn.weight"), "it lacks model.norm"),
        (lambda d: d.replace(b"l.architecture", b"l.architectura"), "'general.architecture'"),
        (lambda d: d.replace(b"token_embd", b"tok\xff\xfeembd"), "is no UTF-8"),
        (
            lambda d: d.replace(b"blk.1.ffn_up.weight", b"blk.0.ffn_up.weight"),
            f"tensor '{NAME}' appears twice",
        ),
    ],
)
def test_wrong_gguf(gguf: Path, change: Callable[[bytes], bytes], part: str) -> None:
    gguf.write_bytes(change(gguf.read_bytes()))
    message = refusal(gguf)
    assert part in message and "small.gguf'" in message


def test_gguf_with_a_tensor_that_nothing_reads(tmp_path: Path) -> None:
    """Without these factors the model would rotate otherwise, and nobody would know."""
    path = tmp_path / "more.gguf"
    write_gguf(path, "llama", "Q4_1", more={"rope_freqs.weight": torch.ones(8)})
    message = refusal(path)
    assert "holds 'rope_freqs.weight', which transformers does not read for 'llama'" in message


@pytest.mark.parametrize("offset", [0, 2])
def test_gguf_not_finite(gguf: Path, offset: int) -> None:
    """An infinite scale, and an infinite minimum, of the third row of a tensor."""
    tensor = next(t for t in read_gguf_header(gguf).tensors if t.name == NAME)
    data = bytearray(gguf.read_bytes())
    begin = len(data) - sum(size_in_file(t.size) for t in read_gguf_header(gguf).tensors)
    # Rows of 64 columns are two blocks of 20 bytes.
    at = begin + tensor.offset + 2 * 40 + offset
    data[at : at + 2] = b"\x00\x7c"
    gguf.write_bytes(data)
    assert "NaN or infinity in 'model.layers.0.mlp.up_proj.weight'" in refusal(gguf)


def size_in_file(size: int) -> int:
    return size + -size % 32


def test_mutated_checkpoints() -> None:
    script = ROOT / "benchmarks" / "fuzz_checkpoints.py"
    command = [sys.executable, str(script), "--first", "100000", "--count", "100"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "100 checkpoints: " in result.stdout
