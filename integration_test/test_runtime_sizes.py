"""Designs of run-time size: one design, many lengths, each against PyTorch eager.

The decoder layers are the models' own, the expected values are what their modules
compute from the same inputs (`LayerExamples`), without a design and without export.
"""

from __future__ import annotations

import multiprocessing
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from design_runs import (
    TOOLS_ARE_BUILT,
    Tensors,
    assert_equal,
    compile_text,
    run_batch,
)

from streamtensor.importer.lowering import lower
from streamtensor.manifest import write_export
from streamtensor.models.configs import config_of, known_names
from streamtensor.models.sources import random_model
from streamtensor.models.split import ModelSplit
from streamtensor.models.steps import LayerExamples, capture_layer

pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")

MAX_TOKENS, MAX_PAST = 40, 31
# New tokens and rows of the cache. Primes, powers of two and what lies beside them.
LENGTHS = [(1, 0), (2, 0), (1, 1), (5, 3), (31, 1), (33, 7), (1, MAX_PAST), (MAX_TOKENS, MAX_PAST)]
TINY = [name for name in known_names() if name.endswith("-tiny")]


def phi3() -> Any:
    """One product for query, key and value, and one for gate and up, then cut apart."""
    from transformers import Phi3Config

    return Phi3Config(**small_config(), num_key_value_heads=2, eos_token_id=1, pad_token_id=0)


def gpt_neox() -> Any:
    """Attention beside the feed-forward part, rotation of half of each head."""
    from transformers import GPTNeoXConfig

    return GPTNeoXConfig(**small_config(), rotary_pct=0.5)


def small_config() -> dict[str, int]:
    return {
        "vocab_size": 64,
        "hidden_size": 48,
        "intermediate_size": 64,
        "num_attention_heads": 6,
        "max_position_embeddings": 128,
    }


OTHERS = {"phi3": phi3, "gpt-neox": gpt_neox}


@dataclass
class Layer:
    """A layer as a design, with what PyTorch computes at each pair of lengths."""

    design: Path
    runs: dict[tuple[int, int], tuple[Tensors, Tensors]] = field(default_factory=dict)


def make_layer(task: tuple[str, str, Path]) -> Layer:
    """Captures a layer for new tokens and past, one of them alone, and compiles it."""
    torch.set_num_threads(1)
    name, kind, directory = task
    config = OTHERS[name]() if name in OTHERS else config_of(name)
    config.num_hidden_layers = 1
    split = ModelSplit(random_model(config, seed=0).eval(), MAX_TOKENS + MAX_PAST)
    tokens = 1 if kind == "decode" else torch.export.Dim("seq", min=1, max=MAX_TOKENS)
    past = 0 if kind == "prefill" else torch.export.Dim("past", min=0, max=MAX_PAST)
    layer = capture_layer(split, tokens, past, function=re.sub(r"\W", "_", directory.name))
    directory.mkdir()
    write_export(directory, layer.program, lower(layer.program))
    made = Layer(directory / "design")
    compiled = compile_text(directory / "module.mlir", made.design)
    assert compiled.returncode == 0, f"{name} {kind}: {compiled.stderr}"
    for length in LENGTHS:
        if (kind == "decode" and length[0] != 1) or (kind == "prefill" and length[1] != 0):
            continue
        examples = LayerExamples(split, *length, empty_caches=kind != "prefill")
        step = examples.step(0)
        tensors, *caches = examples.inputs(step, 0)
        with torch.no_grad():
            results = step(tensors, *caches)
        inputs = {a.name: [*tensors, *caches][a.input_index] for a in layer.program.inputs}
        made.runs[length] = inputs, {f"result{i}": result for i, result in enumerate(results)}
    return made


CASES = [
    *((name, "chunk") for name in (*TINY, *OTHERS)),
    (TINY[0], "decode"),
    (TINY[1], "prefill"),
]


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Layer]:
    directory = tmp_path_factory.mktemp("layers")
    tasks = [(name, kind, directory / f"{name}-{kind}") for name, kind in CASES]
    # Imported before the fork, so that not each process has to.
    import transformers  # noqa: F401

    with multiprocessing.get_context("fork").Pool(2) as pool:
        return dict(zip(CASES, pool.map(make_layer, tasks, chunksize=1), strict=True))


@pytest.fixture(scope="module")
def outcomes(
    layers: dict[tuple[str, str], Layer], tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple, Tensors | str]:
    """Every layer at every length, in one build."""
    keys = [(*case, length) for case, layer in layers.items() for length in layer.runs]
    runs = [
        (layers[name, kind].design, layers[name, kind].runs[length][0])
        for name, kind, length in keys
    ]
    results = run_batch(runs, tmp_path_factory.mktemp("simulation"))
    return dict(zip(keys, results, strict=True))


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_layer_at_every_length(
    name: str,
    kind: str,
    layers: dict[tuple[str, str], Layer],
    outcomes: dict[tuple, Tensors | str],
) -> None:
    runs = layers[name, kind].runs
    assert len(runs) == (8 if kind == "chunk" else 2 if kind == "prefill" else 3)
    for length, (_, expected) in runs.items():
        results = outcomes[name, kind, length]
        assert not isinstance(results, str), (length, results)
        assert_equal(results, expected)
