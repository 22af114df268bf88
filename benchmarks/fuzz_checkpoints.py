"""Loads mutated checkpoints: .gguf files, safetensors files, shards, indices, configurations.

Each must load or end with a StreamTensorError of a few lines; another exception, a crash or more
than a minute fails. All run in one process; a seed gives the same file each time.

usage: fuzz_checkpoints.py [--first N] [--count N] [--keep DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "integration_test"), str(ROOT / "python")]
os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
from gguf_files import FAMILIES, write_gguf  # noqa: E402

from streamtensor import StreamTensorError  # noqa: E402
from streamtensor.models import sources  # noqa: E402
from streamtensor.models.gguf_header import read_gguf_header  # noqa: E402
from streamtensor.models.quantized_weights import gguf_weights  # noqa: E402

# Longest time for one checkpoint, in seconds; most of them take a few milliseconds.
LIMIT = 60
MEMORY = 12 << 30
EDGES = (0, 1, 2, 3, 7, 31, 33, 255, 65536, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 40, (1 << 63) - 1)
JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    0.5,
    1e300,
    "",
    "x",
    "../config.json",
    [],
    [1],
    {},
    {"a": 1},
)


def make_originals(directory: Path) -> list[Path]:
    """Writes small checkpoints that load: files and directories."""
    originals = []
    for family, kind in (("llama", "Q4_1"), ("qwen2", "Q4_0"), ("gpt2", "Q8_0"), ("bloom", "F32")):
        originals.append(directory / f"{family}.gguf")
        write_gguf(originals[-1], family, kind)
    for family, options in (("llama", {}), ("qwen2", {"max_shard_size": "40KB"})):
        originals.append(directory / family)
        model = sources.random_model(FAMILIES[family].config, 1)
        model.save_pretrained(originals[-1], **options)
    return originals


class Mutator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def mutate(self, original: Path, target: Path) -> None:
        """Copies a checkpoint and changes one of its files."""
        if original.is_file():
            target.write_bytes(self.bytes(original.read_bytes()))
            return
        shutil.copytree(original, target)
        chosen = self.random.choice(sorted(target.iterdir()))
        if self.random.random() < 0.05:
            chosen.unlink()
        elif chosen.suffix == ".json" and self.random.random() < 0.8:
            value = json.loads(chosen.read_text())
            for _ in range(self.random.randint(1, 3)):
                value = self.json(value)
            chosen.write_text(json.dumps(value))
        elif chosen.suffix == ".safetensors" and self.random.random() < 0.4:
            chosen.write_bytes(self.safetensors(chosen.read_bytes()))
        else:
            chosen.write_bytes(self.bytes(chosen.read_bytes()))

    def bytes(self, data: bytes) -> bytes:
        """Changes a few bytes, near the start in most cases: there the headers are."""
        changed = bytearray(data)
        for _ in range(self.random.choice((1, 1, 1, 2, 5))):
            reach = self.random.choice((64, 400, 3000, len(changed)))
            at = self.random.randrange(max(1, min(reach, len(changed))))
            match self.random.randrange(6):
                case 0:
                    changed[at:] = b""
                case 1:
                    changed[at : at + 1] = bytes([self.random.randrange(256)])
                case 2:
                    changed[at : at + 4] = struct.pack("<I", self.random.choice(EDGES) & 0xFFFFFFFF)
                case 3:
                    changed[at : at + 8] = struct.pack("<Q", self.random.choice(EDGES))
                case 4:
                    del changed[at : at + self.random.choice((1, 4, 8, 100))]
                case _:
                    changed[at:at] = changed[at : at + self.random.choice((1, 4, 8, 100))]
        return bytes(changed)

    def safetensors(self, data: bytes) -> bytes:
        """Changes the header as JSON, so that its length stays right."""
        length = int.from_bytes(data[:8], "little")
        text = json.dumps(self.json(json.loads(data[8 : 8 + length]))).encode()
        return len(text).to_bytes(8, "little") + text + data[8 + length :]

    def json(self, value: Any) -> Any:
        """Changes one value somewhere below `value`."""
        if isinstance(value, (dict, list)) and value and self.random.random() < 0.9:
            key = self.random.choice(list(value) if isinstance(value, dict) else range(len(value)))
            match self.random.randrange(8):
                case 0:
                    del value[key]
                case 1 if isinstance(value, dict):
                    value[f"{key}x"] = value[key]
                case _:
                    value[key] = self.json(value[key])
            return value
        if type(value) is int and self.random.random() < 0.8:
            return self.random.choice((*EDGES, value + 1, value - 1, 2 * value, -value))
        return self.random.choice(JUNK)


class TooLong(BaseException):
    """Not an Exception, which the code under test may catch."""


def too_long(*_: Any) -> None:
    raise TooLong


def load(path: Path) -> str:
    """Loads a checkpoint as a command does; returns how it ended."""
    try:
        source = sources.resolve(str(path), None)
        model = sources.load_model(source)
        if source.gguf_file:
            gguf_weights(read_gguf_header(path), model)
        return "loaded"
    except StreamTensorError as error:
        text = str(error)
        if not text or "Traceback" in text or len(text) > 4000:
            raise AssertionError(f"no message for a user: {text!r}") from error
        return "not loaded by transformers" if "cannot be loaded" in text else "refused"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=5_000)
    parser.add_argument("--keep", type=Path, help="keep the checkpoint that failed here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, too_long)
    outcomes: Counter[str] = Counter()
    longest = (0.0, 0)
    with tempfile.TemporaryDirectory(prefix="fuzz-checkpoints-") as scratch:
        originals = make_originals(Path(scratch))
        for original in originals:
            assert load(original) == "loaded", original
        for seed in range(options.first, options.first + options.count):
            mutator = Mutator(seed)
            original = mutator.random.choice(originals)
            target = Path(scratch) / f"mutated{original.suffix}"
            mutator.mutate(original, target)
            begin = time.monotonic()
            signal.alarm(LIMIT)
            try:
                outcomes[load(target)] += 1
            except BaseException:
                signal.alarm(0)
                traceback.print_exc()
                print(f"fuzz_checkpoints: error: seed {seed} ({original.name}) ended badly")
                if options.keep:
                    target.rename(options.keep)
                return 1
            signal.alarm(0)
            longest = max(longest, (time.monotonic() - begin, seed))
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink()
    ended = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    seconds, seed = longest
    print(f"{options.count} checkpoints: {ended}; the longest took {seconds:.2f} s (seed {seed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
