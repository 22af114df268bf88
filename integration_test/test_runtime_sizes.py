"""Modules of run-time size: one design, many lengths, each against PyTorch eager.

The decoder layers are the models' own; the expected values are what the modules
compute from the same inputs, without a design and without export.
"""

from __future__ import annotations

import json
import multiprocessing
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from design_runs import (
    BIN,
    TOOLS_ARE_BUILT,
    FunctionModule,
    Tensors,
    VendorKernels,
    assert_equal,
    compile_text,
    network_accesses,
    recorded_accesses,
    run,
    run_batch,
)
from safetensors.torch import save_file

from streamtensor import export
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


@pytest.mark.parametrize("name", TINY)
def test_a_layer_accesses_what_its_network_says(
    name: str, layers: dict[tuple[str, str], Layer]
) -> None:
    """The timed network is the code: each task touches its FIFOs in the same order."""
    layer = layers[name, "chunk"]
    for new, past in ((1, 0), (5, 3), (MAX_TOKENS, MAX_PAST)):
        recorded = recorded_accesses(layer.design, layer.runs[new, past][0])
        assert network_accesses(layer.design, {"seq": new, "past": past}) == recorded


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        # All at once: too long, a cache that disagrees, a mask that fits neither.
        (
            {"hidden": (1, 41, None), "past_value": (None, None, 32, None)},
            ["seq from 1 to 40 but got [1, 41, ", "past from 0 to 31 but got [1, "],
        ),
        (
            {"hidden": (1, 4, None), "past_value": (None, None, 2, None)},
            ["'seq' is 4 in ", " but 5 in ", "'past' is 3 in ", " but 2 in "],
        ),
        (
            {"mask": (None, None, None, 9)},
            ["expected [1, 1, seq, past + seq], which is [1, 1, 5, 8] with past = 3, seq = 5, but"],
        ),
        ({"hidden": (1, 5, 3)}, ["F32 with seq from 1 to 40 but got [1, 5, 3] F32"]),
        ({"hidden": (1, 0, None)}, ["F32 with seq from 1 to 40 but got [1, 0, "]),
    ],
    ids=["too-large", "inconsistent", "no-sum", "misshapen", "too-small"],
)
def test_sizes_that_do_not_fit(
    changes: dict[str, tuple],
    problems: list[str],
    layers: dict[tuple[str, str], Layer],
    tmp_path: Path,
) -> None:
    design = layers[TINY[0], "chunk"].design
    inputs = dict(layers[TINY[0], "chunk"].runs[5, 3][0])
    manifest = json.loads((design.parent / "manifest.json").read_text())
    names = {argument["source"]: argument["name"] for argument in manifest["arguments"]}
    names["mask"] = next(a["name"] for a in manifest["arguments"] if a["role"] == "mask")
    for source, shape in changes.items():
        old = inputs[names[source]].shape
        new = [a if b is None else b for a, b in zip(old, shape, strict=True)]
        inputs[names[source]] = torch.zeros(new)
    files = [tmp_path / "in.safetensors", tmp_path / "out.safetensors"]
    save_file({name: value.contiguous() for name, value in inputs.items()}, files[0])
    ran = run(BIN / "streamtensor-run", design, "--inputs", files[0], "--outputs", files[1])
    assert ran.returncode == 1 and not files[1].exists()
    for problem in problems:
        assert problem in ran.stderr
    for source in changes:
        assert f"'{names[source]}'" in ran.stderr


# --- small modules -------------------------------------------------------------------

n = torch.export.Dim("n", min=1, max=9)
k = torch.export.Dim("k", min=1, max=7)
m = torch.export.Dim("m", min=0, max=6)
# Values of n, k, m: the least, the most, and between them.
SIZES = [(1, 1, 0), (1, 3, 6), (2, 2, 1), (5, 7, 3), (9, 7, 6)]


class Lambda(torch.nn.Module):
    def __init__(self, function: Callable) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def split_heads(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(x.shape[0], 2, 4).transpose(0, 1)


def joined_heads(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(0, 1).reshape(x.shape[1], 8)


def causal(x: torch.Tensor) -> torch.Tensor:
    rows = x.shape[0]
    hidden = torch.ones(rows, rows, dtype=torch.bool).triu(1)
    return (x @ x.t()).masked_fill(hidden, float("-inf")).softmax(-1)


# A function, and the shapes of its arguments.
MODULES: dict[str, tuple[Callable, list[tuple]]] = {
    "softmax": (lambda x: x.softmax(-1), [(k, n)]),
    "softmax_of_rows": (lambda x: x.softmax(0), [(n, 4)]),
    "sum_of_all": (lambda x: x.sum(), [(n, k)]),
    "largest": (lambda x: x.amax(0), [(n, 4)]),
    "reduction": (lambda x, y: x @ y, [(3, n), (n, 5)]),
    "all_sizes": (lambda x, y: x @ y, [(k, n), (n, m)]),
    "batches": (torch.bmm, [(k, 3, n), (k, n, 2)]),
    "two_batches": (F.linear, [(n, k, 4), (5, 4), (5,)]),
    "rows_of_batches": (torch.matmul, [(n, k, 4), (4, 5)]),
    "attention": (F.scaled_dot_product_attention, [(1, 2, n, 4), *2 * [(1, 2, k, 4)]]),
    "causal": (causal, [(n, 4)]),
    "concatenation": (lambda x, y: torch.cat([x, y, x], 1), [(4, n), (4, m)]),
    "stack": (lambda x, y: torch.stack([x, y]).exp(), [(n, 4), (n, 4)]),
    "repetition": (lambda x: x.repeat(2, 1) + 1, [(n, 4)]),
    "doubled": (lambda x, y: torch.cat([x, x]) + y, [(n, 4), (2 * n, 4)]),
    "columns": (lambda x: x[:, 1:3] * 2, [(n, 4)]),
    "first_part": (lambda x, y: torch.cat([x, y])[: x.shape[0]], [(n, 4), (m, 4)]),
    "all_but_one": (lambda x: x[1:] - x[:-1], [(m + 1, 4)]),
    "transposition": (lambda x: (x.transpose(0, 1) * 2).contiguous(), [(n, k)]),
    "split_heads": (split_heads, [(n, 8)]),
    "joined_heads": (joined_heads, [(2, n, 4)]),
    "expansion": (lambda x, y: x.expand(y.shape[0], 4) + y, [(1, 4), (n, 4)]),
    "broadcasts": (lambda x, y, z: x * y + z, [(n, 4), (4,), (n, 1)]),
    "two_sides": (lambda x, y: x[:, None] - y[None, :], [(n,), (k,)]),
    "padding": (lambda x: F.pad(x, (1, 2)), [(4, n)]),
    "three_consumers": (lambda x: (x.sum(0), x.exp(), x @ x.t()), [(n, 4)]),
    "result_is_argument": (lambda x: (x, x + 1), [(n, 4)]),
    "no_effect": (lambda x, y: (x * 2, y.sum() * 0 + 1), [(3, 4), (n, 4)]),
}


def value_at(size: Any, values: dict[str, int]) -> int:
    """The size of a dimension: a number, a Dim, or one that is derived of a Dim."""
    if isinstance(size, int):
        return size
    root = getattr(size, "root", size)
    value = values[root.__name__]
    return size.fn(value) if root is not size else value


def arguments_at(shapes: list[tuple], sizes: tuple[int, int, int]) -> list[torch.Tensor]:
    values = dict(zip("nkm", sizes, strict=True))
    generator = torch.Generator().manual_seed(sum(sizes))
    return [
        torch.randn([value_at(size, values) for size in shape], generator=generator)
        for shape in shapes
    ]


def export_small(directory: Path, name: str, function: Callable, shapes: list[tuple]) -> Path:
    dynamic = [
        {dim: size for dim, size in enumerate(shape) if not isinstance(size, int)}
        for shape in shapes
    ]
    return export(
        Lambda(function),
        tuple(arguments_at(shapes, (4, 5, 3))),
        directory / name,
        dynamic_shapes=(tuple(dynamic),),
        function=name,
    )


# Phase by phase against mlir-runner; the others are as simple.
VALIDATED = ("all_sizes", "stack", "concatenation", "causal", "three_consumers", "joined_heads")


def make_small(task: tuple[str, Path]) -> Path:
    torch.set_num_threads(1)
    name, directory = task
    exported = export_small(directory, name, *MODULES[name])
    design = exported / "design"
    options = ["--validate"] if name in VALIDATED else []
    compiled = compile_text(exported / "module.mlir", design, *options)
    assert compiled.returncode == 0, f"{name}: {compiled.stderr}"
    return design


def test_small_modules_at_every_size(tmp_path: Path) -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        designs = pool.map(make_small, [(name, tmp_path) for name in MODULES], chunksize=1)
    runs, expected = [], []
    for (name, (function, shapes)), design in zip(MODULES.items(), designs, strict=True):
        for sizes in SIZES:
            arguments = arguments_at(shapes, sizes)
            results = function(*arguments)
            results = results if isinstance(results, tuple) else (results,)
            runs.append((design, {f"arg{i}": value for i, value in enumerate(arguments)}))
            named = {f"result{i}": value for i, value in enumerate(results)}
            expected.append((name, sizes, named))
    outcomes = run_batch(runs, tmp_path / "simulation")
    for (name, sizes, results), outcome in zip(expected, outcomes, strict=True):
        assert not isinstance(outcome, str), (name, sizes, outcome)
        try:
            assert_equal(outcome, results)
        except AssertionError as error:
            raise AssertionError(f"{name} at {sizes}") from error


# Sums over n up to 4,096: what is summed, all of its terms at one end, and what that end is.
LONGEST = 4096
LONG_SUMS: dict[str, tuple[Callable, torch.Tensor, int]] = {
    "nibbles": (lambda x: (x & 15).sum(-1, dtype=torch.int32), torch.tensor(127).char(), 15),
    "bytes": (lambda x: x.sum(-1, dtype=torch.int32), torch.tensor(-128).char(), -128),
    "wide": (lambda x: (x.long() * 64).sum(-1), torch.tensor(32767).short(), 32767 * 64),
}


def test_longest_sums(tmp_path: Path) -> None:
    """Accumulators are wide enough for the longest sum, not only for a size that was tried.

    1,009 terms would fit 15 and 18 bits, and int32; the longest sums need 17 and 20, and int64.
    """
    designs = {}
    for name, (function, value, _) in LONG_SUMS.items():
        exported = export(
            FunctionModule(lambda x, function=function: (function(x),)),
            (value.repeat(2, 7),),
            tmp_path / f"{name}.export",
            dynamic_shapes=(({1: torch.export.Dim("n", min=1, max=LONGEST)},),),
            function=name,
        )
        designs[name] = tmp_path / name
        compiled = compile_text(exported / "module.mlir", designs[name], "--validate")
        assert compiled.returncode == 0, compiled.stderr
    vendor = VendorKernels(designs, tmp_path)
    cases = [(name, length) for name in designs for length in (1, 1009, LONGEST)]
    arguments = [{"arg0": LONG_SUMS[name][1].repeat(2, length)} for name, length in cases]
    runs = [(designs[name], each) for (name, _), each in zip(cases, arguments, strict=True)]
    outcomes = run_batch(runs, tmp_path / "simulation")
    for (name, length), inputs, outcome in zip(cases, arguments, outcomes, strict=True):
        assert not isinstance(outcome, str), (name, length, outcome)
        under_vendor = vendor.run(name, inputs, {"n": length})
        for result in (outcome["result0"], under_vendor["result0"]):
            assert result.tolist() == [length * LONG_SUMS[name][2]] * 2, (name, length)


REFUSED: dict[str, tuple[Callable, list[tuple], str]] = {
    "mean": (lambda x: x.mean(-1), [(4, n)], "sizes may decide about shapes only"),
    "last_row": (lambda x: x[-1], [(n, 4)], "another attribute 'static_offsets'"),
    "product": (lambda x: x.reshape(-1) * 2, [(n, k)], "keep dimensions apart whose sizes are"),
    "joined_inner": (
        lambda x: x.reshape(-1) * 2,
        [(3, n)],
        "'tensor.collapse_shape' reshapes from or to 3 x n elements, where an inner dimension",
    ),
    "split_inner": (
        lambda x: x.reshape(2, -1) * 2,
        [(2 * n,)],
        "'tensor.expand_shape' reshapes from or to 2 x n elements, where an inner dimension",
    ),
    "window": (
        lambda x, w: F.conv1d(x, w, padding=1),
        [(1, 3, n), (5, 3, 3)],
        "windows of a tensor of known size",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    function, shapes, message = REFUSED[name]
    exported = export_small(tmp_path, name, function, shapes)
    compiled = compile_text(exported / "module.mlir", tmp_path / "design")
    assert compiled.returncode == 1 and not (tmp_path / "design").exists()
    assert message in compiled.stderr
