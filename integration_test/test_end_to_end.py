"""The whole chain with the real tools: PyTorch in, C simulation of the design, PyTorch's numbers out.

Skipped as a whole where the C++ tools are not built.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT
from test_evaluate import perplexity
from torch import nn

import streamtensor
from streamtensor.models.host import load_host
from streamtensor.models.sources import load_model, resolve
from streamtensor.precision import Precision
from streamtensor.runtime.check import compare, reference_logits
from streamtensor.runtime.generation import Generator, ModelDescription
from streamtensor.runtime.process import Runtime
from streamtensor.runtime.sampling import Sampler

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
TOOLS = [BIN / f"streamtensor-{tool}" for tool in ("compile", "pack", "run", "runtime")]
pytestmark = [
    pytest.mark.skipif(
        not all(tool.is_file() for tool in TOOLS), reason="the C++ tools are not built"
    ),
    pytest.mark.usefixtures("model_cache"),
]

TINY = "smollm2-135m-tiny"
FAMILIES = [TINY, "gpt2-medium-tiny", "qwen2.5-0.5b-tiny", "tinyllama-1.1b-tiny", "gemma3-1b-tiny"]
LENGTH = 48
# Neither a power of two nor whole chunks.
MOST = 123


class Gated(nn.Module):
    """Prime sizes, a value with two consumers, a buffer, a residual."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(17, 13)
        self.gate = nn.Linear(17, 13, bias=False)
        self.down = nn.Linear(13, 17)
        self.register_buffer("scale", torch.rand(17) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.scale * self.down(torch.sigmoid(self.gate(x)) * self.up(x))


class ChosenRows(nn.Module):
    """Lists of rows that are known: neighbours, every second one, out of order, from the end."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = torch.index_select(x, 0, torch.tensor([6, 1, 3, 5, 0]))
        return x[[2, 3, 4, 0, 0]] * x[[-1]] + torch.relu(rows)


def close(got: torch.Tensor, want: torch.Tensor) -> bool:
    """The accuracy that every f32 design has to reach."""
    return bool(((got - want).abs() <= 1e-4 * (want.abs() + want.abs().max())).all())


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (nn.Linear(7, 5), (1, 7)),
        (Gated(), (5, 17)),
        (nn.Sequential(nn.Linear(16, 32), nn.GELU("tanh"), nn.Linear(32, 16)), (8, 16)),
        (ChosenRows(), (7, 5)),
        (nn.Sequential(nn.LayerNorm(19), nn.Linear(19, 3), nn.Softmax(-1)), (4, 19)),
    ],
    ids=["linear", "gated", "mlp", "chosen-rows", "norm-softmax"],
)
def test_module(module: nn.Module, shape: tuple[int, ...], tmp_path: Path) -> None:
    example, x = torch.randn(shape), torch.randn(shape)
    design = streamtensor.compile(module, (example,), output_dir=tmp_path / "design")
    results = streamtensor.run(design, x)
    with torch.no_grad():
        want = module(x)
    assert len(results) == 1 and close(results[0], want)


def command(*arguments: Any, **changes: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "streamtensor", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | changes,
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_tiny_family(family: str, tmp_path: Path) -> None:
    """A whole chunk, a part of one, then single tokens: each equal to PyTorch's."""
    prompt = ",".join(str(7 * index % 256) for index in range(21))
    done = command(
        "generate", family, "--prompt-ids", prompt, "--max-new-tokens", 16, "--check",
        "--max-length", LENGTH, "--json", tmp_path / "result.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tokens equal: 16/16" in done.stdout.splitlines()[-1]
    check = json.loads((tmp_path / "result.json").read_text())["check"]
    assert check["max_abs_logit_error"] <= 2e-4 * check["max_abs_logit"]


def test_evaluate(tmp_path: Path) -> None:
    """55 predictions in two windows, of 48 and of 7 tokens, against PyTorch's own loss."""
    text = "The quick brown fox jumps over the lazy dog, and then once more over the cat."
    (tmp_path / "text.txt").write_text(text)
    done = command(
        "evaluate", TINY, "--text", tmp_path / "text.txt", "--tokens", 56, "--max-length", LENGTH,
        "--json", tmp_path / "result.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    model = load_model(resolve(TINY, None))
    expected = perplexity(model, list(text.encode())[:56], LENGTH)
    assert result["windows"] == 2 and result["predictions"] == 55
    assert result["reference_perplexity"] == pytest.approx(expected, rel=1e-6)
    assert result["perplexity"] == pytest.approx(expected, rel=1e-5)
    assert 0 < result["max_abs_logit_error"] <= 2e-4 * result["max_abs_logit"]
    assert result["top1_agreement"] == 1.0 and result["kl_divergence"] < 1e-8


@pytest.fixture(scope="module")
def tiny(model_cache: Path) -> Path:
    """The directory of a compiled tiny model."""
    from streamtensor.models.compiler import CompileOptions
    from streamtensor.runtime.cache import compiled_model

    return compiled_model(resolve(TINY, None), CompileOptions(max_length=LENGTH))


def test_layers_of_several_kernels_are_launched_one_by_one(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without fusion the hidden state goes through memory; numbers are those of one launch."""
    from streamtensor.models.compiler import CompileOptions, compile_model

    monkeypatch.setenv("STREAMTENSOR_CXXFLAGS", "-O1")
    options = CompileOptions(max_length=LENGTH, arguments=("--onchip-budget-bytes=0",))
    apart = compile_model(resolve(TINY, None), tmp_path / "apart", options)
    assert "so each is a launch of its own: expected one fused kernel" in capsys.readouterr().err
    logits = []
    for directory, repeat in ((apart, None), (tiny, "layers")):
        assert json.loads((directory / "model.json").read_text())["layer"]["layers"] == repeat
        host = load_host(directory / "host")
        with Runtime(directory) as runtime:
            generator = Generator(runtime, host.split, ModelDescription.read(directory))
            logits.append(generator.prefill(list(range(1, 20))))
    assert (logits[0] - logits[1]).abs().max() <= 1e-5 * logits[0].abs().max()


@pytest.fixture
def on_board(tiny: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs a command with layer and head as kernels of one executable, on a simulated board."""
    library = BIN.parent / "lib/xrt-sim"
    if not (library / "libxrt_coreutil.so.2").is_file():
        pytest.skip("XRT (Debian's libxrt-dev) is not installed")
    made = subprocess.run(["make", "-C", tiny, "simulated-xclbin"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    device = ("--device", "xrt", "--xclbin", tiny / "simulated.xclbin")

    def run(name: str, *arguments: Any) -> subprocess.CompletedProcess:
        return command(name, tiny, *arguments, *device, LD_LIBRARY_PATH=str(library))

    return run


def test_generates_on_a_board(on_board: Callable, tiny: Path, tmp_path: Path) -> None:
    done = on_board(
        "generate", "--prompt-ids", "1,2,3,4,5", "--max-new-tokens", 6, "--check",
        "--json", tmp_path / "result.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tokens equal: 6/6" in done.stdout.splitlines()[-1]
    assert "tokens per second (board)" in done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["macs"] is None and result["dma_bytes"] is None
    # XRT's own library finds none.
    done = command("generate", tiny, "--prompt-ids", "1", "--max-new-tokens", 1, "--device", "xrt")
    assert done.returncode == 1 and "cannot open board 0" in done.stderr


def test_evaluates_on_a_board(on_board: Callable, tiny: Path, tmp_path: Path) -> None:
    """The same logits as those of the C simulation, so the same figures to the last digit."""
    text, results = tmp_path / "text.txt", []
    text.write_text("Once more over the cat.")
    arguments = ("--text", text, "--tokens", 20, "--json", tmp_path / "result.json")
    for run in (on_board, lambda name, *rest: command(name, tiny, *rest)):
        done = run("evaluate", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        results.append(json.loads((tmp_path / "result.json").read_text()))
    assert [result["label"] for result in results] == ["board", "simulated"]
    for key in ("perplexity", "kl_divergence", "max_abs_logit_error", "reference_perplexity"):
        assert results[0][key] == results[1][key], key
    done = command("evaluate", tiny, *arguments, "--device", "xrt")
    assert done.returncode == 1 and "cannot open board 0" in done.stderr


@pytest.fixture
def generator(tiny: Path) -> Iterator[Generator]:
    host = load_host(tiny / "host")
    with Runtime(tiny) as runtime:
        yield Generator(runtime, host.split, ModelDescription.read(tiny))


@pytest.fixture(scope="module")
def long(model_cache: Path) -> Iterator[Generator]:
    """A model of full and sliding layers, with room for the longest prompts here."""
    from streamtensor.models.compiler import CompileOptions
    from streamtensor.runtime.cache import compiled_model

    directory = compiled_model(resolve("gemma3-1b-tiny", None), CompileOptions(max_length=MOST))
    host = load_host(directory / "host")
    with Runtime(directory) as runtime:
        yield Generator(runtime, host.split, ModelDescription.read(directory))


def work(generator: Generator, ids: list[int], position: int, logits: int) -> tuple[int, int]:
    """MACs and bytes of memory traffic of one step."""
    before = generator.stats()
    generator.step(ids, position, logits=logits)
    after = generator.stats()
    return after["macs"] - before["macs"], after["dma_bytes"] - before["dma_bytes"]


def test_a_decode_step_does_one_tokens_work(generator: Generator, tiny: Path) -> None:
    """MACs of one token by hand, and what one more row of the past adds to them."""
    generator.prefill([1, 2, 3])
    macs, traffic = work(generator, [4], 3, logits=1)
    config = generator.split.config
    layers = config.num_hidden_layers
    size, inner = config.hidden_size, config.intermediate_size
    query = config.num_attention_heads * config.head_dim
    kv = config.num_key_value_heads * config.head_dim
    products = 2 * size * query + 2 * size * kv + 3 * size * inner
    # Scores and weighted values over the three rows of the cache and the new one.
    attention = 2 * query * 4
    assert macs == layers * (products + attention) + size * config.vocab_size
    # A row of keys, one of values, and a number of the mask, of 4 bytes.
    more_macs, more_traffic = work(generator, [5], 4, logits=1)
    assert more_macs - macs == layers * 2 * query
    assert more_traffic - traffic == layers * (2 * kv + 1) * 4
    # All weights, which is most of it; those of all layers are one file.
    weights = {
        name: entry["bytes"]
        for design in ("layer", "head")
        for entry in json.loads((tiny / design / "interface.json").read_text())["arguments"]
        if entry["role"] == "weight"
        for name in [f"{design}.{entry['name']}"]
    }
    read = sum(weights.values())
    assert read < traffic < 1.1 * read


def test_work_grows_with_the_tokens(generator: Generator) -> None:
    """A prompt is not padded: each token has the same products, and sees what came before."""
    config = generator.split.config
    query = config.num_attention_heads * config.head_dim
    macs, traffic = zip(
        *(work(generator, [1] * count, 0, logits=0) for count in (1, 2, 15, 16)), strict=True
    )
    assert list(traffic) == sorted(set(traffic))
    # A chunk of n tokens: n times the products, and n x n scores and weighted values.
    products = macs[0] - config.num_hidden_layers * 2 * query
    for count, total in zip((1, 2, 15, 16), macs, strict=True):
        attention = config.num_hidden_layers * 2 * query * count * count
        assert total == count * products + attention


@pytest.mark.parametrize("length", [1, 2, 31, 32, 33, 100, MOST])
def test_any_length_on_one_accelerator(length: int, long: Generator) -> None:
    """Tokens and logits are PyTorch's for prompts of any length, on one compiled model."""
    prompt = [(7 * index + length) % 256 for index in range(length)]
    new = min(4, MOST - length + 1)
    sampler = Sampler()
    generation = long.generate(prompt, new, sampler, keep_logits=True)
    model = load_model(resolve("gemma3-1b-tiny", None))
    check = compare(
        generation, reference_logits(model, prompt, generation.ids), sampler, Precision()
    )
    assert check.equal == check.total == new
    assert check.max_error <= 2e-4 * check.max_logit


def test_what_is_out_of_range(long: Generator) -> None:
    """Refused before anything is sent; and by the runtime, whoever sends it."""
    with pytest.raises(streamtensor.StreamTensorError, match=f"compiled for {MOST}"):
        long.generate([1] * MOST, 2, Sampler())
    hidden = {"hidden": torch.zeros(1, 1, long.split.config.hidden_size)}
    for position, count, message in (
        (MOST, 1, f"at most {MOST} tokens but got 1 at position {MOST}"),
        (-1, 1, "at position -1"),
        (0, 17, "a step expected 1 to 16 tokens but got 17"),
        (0, 0, "a step expected 1 to 16 tokens but got 0"),
        (3, 2, "'hidden' expected 512 bytes but got 256"),
    ):
        with pytest.raises(streamtensor.StreamTensorError, match=message):
            long.runtime.request("step", hidden, position=position, count=count, logits=1)


def test_the_cache_lives_on_the_device(generator: Generator) -> None:
    """Changing one stored row of keys or values changes the next logits."""
    prompt = [9, 8, 7, 6, 5]
    for cache in (0, 1):
        generator.runtime.request("reset")
        generator.prefill(prompt)
        first = generator.step([4], 5, logits=1)
        again = generator.step([4], 5, logits=1)
        assert torch.equal(first, again)
        _, stored = generator.runtime.request("read_cache", layer=1, cache=cache, row=2)
        row = next(iter(stored.values()))
        generator.runtime.request("write_cache", {"row": row + 1.0}, layer=1, cache=cache, row=2)
        changed = generator.step([4], 5, logits=1)
        assert not torch.equal(first, changed)


def test_errors_of_the_runtime_reach_the_user(generator: Generator) -> None:
    with pytest.raises(streamtensor.StreamTensorError, match="refused 'step'"):
        generator.runtime.request("step", {}, position=0, count=1, logits=1)
    # The runtime goes on after an error.
    assert generator.generate([1, 2], 2, Sampler()).ids


def test_smollm2(tmp_path: Path) -> None:
    """The trained model: eight tokens, all equal to PyTorch's."""
    done = command(
        "generate", "smollm2-135m", "--prompt", "The capital of France is", "--max-new-tokens", 8,
        "--check", "--json", tmp_path / "result.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(" Paris")
    check = json.loads((tmp_path / "result.json").read_text())["check"]
    assert check["max_abs_logit_error"] <= 2e-4 * check["max_abs_logit"]
