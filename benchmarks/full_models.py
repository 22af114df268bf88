"""Runs whole language models on the simulated accelerator, and compares them with PyTorch.

    python benchmarks/full_models.py gpt2-medium qwen2.5-0.5b --json FILE

Each model (seeded random weights where it has no others) is compiled into the cache, reads 17
tokens and generates 16; `--precision` and the figures of memory and speed are those of
`streamtensor generate --check`. Then PyTorch alone shows by how much each part counts: the
logits behind the last token of the same text without one layer, without the attention of one
layer, and without what has been read before. All must move the logits by 100 times the error
that is allowed, 2e-4 of the largest logit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from streamtensor.models.configs import GGUF_MODEL
from streamtensor.models.recording import LayerStack
from streamtensor.models.sources import load_model, resolve
from streamtensor.models.steps import ConcatCache

PROMPT_TOKENS, NEW_TOKENS = 17, 16
ALLOWED = 2e-4


class NoAttention(ConcatCache):
    """Gives zeros for all values, so that attention adds nothing but a bias."""

    def update(self, keys: torch.Tensor, values: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return super().update(keys, torch.zeros_like(values), *args, **kwargs)


def last_logits(stack: LayerStack, tokens: list[int], without: tuple[str, int]) -> torch.Tensor:
    """The logits behind the last token without a layer or its attention."""
    what, changed = without

    def on_call(index: int, args: Any, kwargs: Any) -> Any:
        call = stack.bind(index, args, kwargs)
        if (what, index) == ("layer", changed):
            return stack.wrap_result(call.get(stack.hidden_path))
        no_attention = (what, index) == ("attention", changed)
        cache = NoAttention(None, None) if no_attention else ConcatCache(None, None)
        return stack.wrap_result(
            stack.call_layer(stack.layers[index], call.leaves, call.spec, cache)
        )

    with torch.no_grad(), stack.stubbed(on_call):
        positions = torch.arange(len(tokens))[None]
        return stack.run_model(input_ids=torch.tensor([tokens]), position_ids=positions).logits[
            0, -1
        ]


def least_effects(model: torch.nn.Module, tokens: list[int]) -> dict[str, float]:
    """By how much the logits move at least, as a share of the largest, without a part."""
    stack = LayerStack(model)
    whole = last_logits(stack, tokens, ("", -1))
    largest = float(whole.abs().max())
    effects = {}
    for what in ("layer", "attention"):
        moved = [
            float((last_logits(stack, tokens, (what, index)) - whole).abs().max()) / largest
            for index in range(len(stack.layers))
        ]
        effects[what] = min(moved)
    with torch.no_grad():
        ids, position = torch.tensor([tokens[-1:]]), torch.tensor([[len(tokens) - 1]])
        alone = model(input_ids=ids, position_ids=position, use_cache=False).logits[0, -1]
    effects["cache"] = float((alone - whole).abs().max()) / largest
    return effects


def measure(name: str, precision: str, seed: int) -> dict[str, Any]:
    random_seed = None if name == GGUF_MODEL else seed
    source = resolve(name, random_seed)
    generator = torch.Generator().manual_seed(seed)
    prompt = torch.randint(1000, (PROMPT_TOKENS,), generator=generator).tolist()
    weights = [] if random_seed is None else ["--random-weights", str(random_seed)]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        result = Path(scratch) / "result.json"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "streamtensor", "generate", name, *weights),
                *("--precision", precision, "--check", "--json", str(result)),
                *("--prompt-ids", ",".join(map(str, prompt))),
                *("--max-new-tokens", str(NEW_TOKENS)),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        if not result.exists():
            raise SystemExit(f"generating with {name} failed")
        values = json.loads(result.read_text())
    check = values["check"]
    effects = least_effects(load_model(source), [*prompt, *values["ids"][:-1]])
    return {
        "model": name,
        "precision": precision,
        "exit_code": done.returncode,
        "seconds": time.monotonic() - start,
        "tokens_equal": f"{check['equal']}/{check['total']}",
        "excused": check["excused"],
        "error_share": check["max_abs_logit_error"] / check["max_abs_logit"],
        "max_layer_error": check["max_layer_error"],
        "least_effect": effects,
        "least_effect_over_allowed": min(effects.values()) / ALLOWED,
        "tokens_per_second": values["tokens_per_second"],
        "prefill_seconds": values["prefill_seconds"],
        "peak_rss_bytes": values["peak_rss_bytes"],
        "label": "measured, C simulation",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", metavar="MODEL", nargs="+")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", type=Path)
    options = parser.parse_args()
    rows = []
    for name in options.models:
        rows.append(measure(name, options.precision, options.seed))
        print(json.dumps(rows[-1], indent=2), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
