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

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "integration_test"))

import torch  # noqa: E402
from changed_models import changed_logits  # noqa: E402

from streamtensor.models.configs import GGUF_MODEL  # noqa: E402
from streamtensor.models.recording import LayerStack  # noqa: E402
from streamtensor.models.sources import load_model, resolve  # noqa: E402

PROMPT_TOKENS, NEW_TOKENS = 17, 16
ALLOWED = 2e-4


def least_effects(model: torch.nn.Module, tokens: list[int]) -> dict[str, float]:
    """By how much the logits move at least, as a share of the largest, without a part."""
    stack = LayerStack(model)
    whole = changed_logits(stack, tokens, lambda index: "")[-1]
    largest = float(whole.abs().max())
    effects = {}
    for what in ("layer", "attention"):
        moved = []
        for index in range(len(stack.layers)):
            changed = changed_logits(stack, tokens, lambda i, n=index, w=what: w if i == n else "")
            moved.append(float((changed[-1] - whole).abs().max()) / largest)
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
