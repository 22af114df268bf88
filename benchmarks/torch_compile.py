"""Runs a whole language model by torch.compile on the device, and compares it with PyTorch.

    python benchmarks/torch_compile.py smollm2-135m --tokens 16 --json FILE

One forward of the unedited model, without a cache: seconds of the compile (measured; with
the import and the build of the simulations), of a further call (measured, C simulation),
the largest error of a logit against PyTorch in f32, and the part of the
multiply-accumulates that ran on the device. PyTorch's own count of the model is beside.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

import streamtensor
from streamtensor.models.sources import load_model, resolve


def measure(name: str, tokens: int, seed: int | None) -> dict:
    model = load_model(resolve(name, seed)).eval()
    vocabulary = model.config.get_text_config().vocab_size
    ids = torch.randint(vocabulary, (1, tokens), generator=torch.Generator().manual_seed(0))
    compiled = torch.compile(model, backend="streamtensor")
    with torch.no_grad():
        with FlopCounterMode(display=False) as counter:
            expected = model(ids, use_cache=False).logits
        seconds = []
        for _ in range(3):
            start = time.monotonic()
            logits = compiled(ids, use_cache=False).logits
            seconds.append(time.monotonic() - start)
    listing = streamtensor.explain()
    print(listing)
    return {
        "model": name,
        "tokens": tokens,
        "first_call_seconds": seconds[0],
        "call_seconds": min(seconds[1:]),
        "max_abs_logit_error": (logits - expected).abs().max().item(),
        "max_abs_logit": expected.abs().max().item(),
        "top1_agreement": (logits.argmax(-1) == expected.argmax(-1)).double().mean().item(),
        "designs": listing.designs,
        "macs": listing.macs,
        "macs_by_pytorch": counter.get_total_flops() // 2,
        "share_on_device": listing.share_on_device,
        "label": "measured, C simulation",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--tokens", type=int, default=16, metavar="N")
    parser.add_argument("--random-weights", type=int, metavar="SEED")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    figures = measure(options.model, options.tokens, options.random_weights)
    text = json.dumps(figures, indent=1)
    print(text)
    if options.json:
        Path(options.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
