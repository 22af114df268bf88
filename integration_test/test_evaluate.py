"""`streamtensor evaluate`: windows, measures, and figures recomputed from PyTorch's logits.

The accelerator is the stand-in of `fake_tools.py`; test_end_to_end.py has the real one.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from streamtensor import StreamTensorError, cli
from streamtensor.models import configs, sources
from streamtensor.models.compiler import compile_options
from streamtensor.runtime.evaluate import describe
from streamtensor.runtime.quality import Quality, windows

TEXT = "Streams carry tokens, and each token arrives in its own time: ünïcödé too."


def perplexity(model: torch.nn.Module, ids: list[int], length: int) -> float:
    """Perplexity by PyTorch's own loss, in windows of `length` tokens that are fed."""
    total = 0.0
    for start in range(0, len(ids) - 1, length):
        fed = torch.tensor(ids[start : start + length])
        following = torch.tensor(ids[start + 1 : start + length + 1])
        fed = fed[: len(following)]
        with torch.no_grad():
            logits = model(fed[None]).logits[0].double()
        total += float(torch.nn.functional.cross_entropy(logits, following, reduction="sum"))
    return math.exp(total / (len(ids) - 1))


@pytest.fixture
def evaluate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> Callable[..., tuple[int, str, str]]:
    """Runs `streamtensor evaluate` in this process, with the stand-ins for the C++ tools."""
    from contextlib import nullcontext

    from test_split import InProcess, run_fake_tool

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STREAMTENSOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("streamtensor.models.compiler.run_tool", run_fake_tool)
    monkeypatch.setattr("streamtensor.runtime.cache.state_key", lambda _: "")
    monkeypatch.setattr(
        "streamtensor.runtime.evaluate.Runtime",
        lambda directory, arguments: nullcontext(InProcess(directory)),
    )
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            code = cli.main(["evaluate", *map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        return code, *capsys.readouterr()

    return run


def test_figures(evaluate: Callable) -> None:
    """40 tokens, of which 39 are fed: 16, 16 and 7 where there are 16 positions."""
    Path("text.txt").write_text(TEXT)
    name, tokens = "smollm2-135m-tiny", 40
    code, out, err = evaluate(
        name, "--text", "text.txt", "--tokens", tokens, "--max-length", 16, "--json", "result.json"
    )
    assert code == 0, err
    result = json.loads(Path("result.json").read_text())
    model = sources.load_model(sources.resolve(name, None))
    expected = perplexity(model, list(TEXT.encode())[:tokens], 16)
    assert result["reference_perplexity"] == pytest.approx(expected, rel=1e-6)
    assert result["perplexity"] == pytest.approx(expected, rel=1e-5)
    ratio = result["perplexity"] / result["reference_perplexity"]
    assert result["perplexity_ratio"] == pytest.approx(ratio, rel=1e-12)
    # The stand-in computes in f32 as PyTorch does, in another order.
    assert 0 <= result["kl_divergence"] < 1e-9
    assert 0 < result["max_abs_logit_error"] < 1e-5
    assert result["top1_agreement"] == 1.0
    assert (result["precision"], result["label"]) == ("f32", "simulated")
    assert out.splitlines()[-1].startswith("simulated: logits of the C simulation, ")
    assert (result["tokens"], result["predictions"], result["windows"]) == (40, 39, 3)
    assert result["seconds"] > 0
    assert out == describe(result, "text.txt") + "\n"
    assert len(out.splitlines()) < 24 and f"PyTorch f32: {expected:.6g}" in out


def test_a_checkpoint_with_a_tokenizer(evaluate: Callable) -> None:
    """Its 20 positions are fewer than the default; 30 tokens take two windows of them."""
    config = configs.config_of("tinyllama-1.1b-tiny")
    config.max_position_embeddings = 20
    config.num_hidden_layers = 1
    config.vocab_size = 64
    model = sources.random_model(config, 5).eval()
    model.save_pretrained("model")
    words = save_word_tokenizer(Path("model"))
    text = " ".join(words[(7 * index * index) % len(words)] for index in range(35))
    Path("text.txt").write_text(text)
    code, _, err = evaluate("model", "--text", "text.txt", "--tokens", 30, "--json", "r.json")
    assert code == 0, err
    result = json.loads(Path("r.json").read_text())
    assert (result["windows"], result["window_tokens"]) == (2, 20)
    expected = perplexity(model, [words.index(word) for word in text.split()][:30], 20)
    assert result["reference_perplexity"] == pytest.approx(expected, rel=1e-6)
    assert result["perplexity"] == pytest.approx(expected, rel=1e-5)


def chosen_options(max_length: int | None) -> argparse.Namespace:
    """What the command line gives when only --max-length is said."""
    return argparse.Namespace(
        target="u55c",
        max_length=max_length,
        chunk=None,
        precision=None,
        activations=None,
        weights=None,
        cache=None,
    )


@pytest.mark.parametrize(
    ("asked", "wanted", "length"),
    [
        (None, None, 256),
        (None, 200, 200),
        (None, 1000, 1000),
        # GPT-2 has 1,024 positions.
        (None, 5000, 1024),
        (64, 5000, 64),
    ],
)
def test_positions(asked: int | None, wanted: int | None, length: int) -> None:
    options = chosen_options(asked)
    source = sources.resolve("gpt2-medium-tiny", None)
    assert compile_options(options, source, wanted).max_length == length


@pytest.mark.parametrize("asked", [1, 1025, 2000])
def test_positions_that_a_model_does_not_have(asked: int) -> None:
    """Refused before the model is loaded, and not changed silently."""
    options = chosen_options(asked)
    source = sources.resolve("gpt2-medium-tiny", None)
    with pytest.raises(StreamTensorError, match=rf"from 2 to 1024 .* but got {asked}"):
        compile_options(options, source, None)


def save_word_tokenizer(directory: Path) -> list[str]:
    """Writes a tokenizer of whole words; a word's id is its place in the list."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = [f"w{index}" for index in range(60)]
    vocabulary = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(directory)
    return words


@pytest.mark.parametrize(
    ("content", "arguments", "code", "part"),
    [
        (None, "smollm2-135m-tiny --tokens 8", 1, "'t.txt' cannot be read: no such file"),
        (b"", "smollm2-135m-tiny --tokens 8", 1, "the text 't.txt' is empty"),
        (b"ab\xff", "smollm2-135m-tiny --tokens 2", 1, "'t.txt' to be text in UTF-8 but got"),
        (b"abc", "smollm2-135m-tiny --tokens 8", 1, "'t.txt' to have 8 tokens or more but got 3;"),
        (b"abc", "smollm2-135m-tiny --tokens 1", 2, "a whole number from 2 but got '1'"),
        (
            b"abc",
            "smollm2-135m-tiny --tokens 2 --weights channel",
            2,
            "weights per channel only have",
        ),
        (
            b"abc",
            "smollm2-135m-tiny --tokens 2 --json no/r.json",
            1,
            "no directory for 'no/r.json'",
        ),
        (b"abc", "plain --tokens 2", 1, "the model has no tokenizer"),
        (b"abc", "smollm2-135m-tiny --tokens 2 --xclbin f", 2, "--xclbin needs --device xrt"),
        (b"abc", "smollm2-135m-tiny --tokens 2 --device gpu", 2, "invalid choice: 'gpu'"),
        (b"abc", "nothing --tokens 2", 1, "unknown model 'nothing'"),
    ],
)
def test_refusals(
    content: bytes | None,
    arguments: str,
    code: int,
    part: str,
    evaluate: Callable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each before anything is compiled."""

    def compiled(*_: object) -> None:
        raise AssertionError("compiled before the input was looked at")

    monkeypatch.setattr("streamtensor.runtime.cache.compiled_model", compiled)
    sources.random_model(configs.config_of("tinyllama-1.1b-tiny"), 0).save_pretrained("plain")
    if content is not None:
        Path("t.txt").write_bytes(content)
    got, out, err = evaluate("--text", "t.txt", *arguments.split())
    assert (got, out) == (code, "")
    assert part in err and err.count("error:") == 1


def test_windows_predict_every_token_but_the_first_once() -> None:
    for size in range(2, 12):
        for length in range(1, 12):
            tokens = list(range(100, 100 + size))
            parts = windows(tokens, length)
            assert [token for _, following in parts for token in following] == tokens[1:]
            for fed, following in parts:
                assert 1 <= len(fed) <= length
                assert [token + 1 for token in fed] == following


def test_measures_by_hand() -> None:
    """Two predictions, of token 0 and of token 2; logits are logarithms of probabilities."""
    theirs = torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])
    ours = torch.tensor([[0.8, 0.1, 0.1], [0.6, 0.2, 0.2]])
    quality = Quality()
    # A constant added to all logits changes no probability.
    quality.add(ours.log() + 3.0, theirs.log(), [0, 2])
    # The geometric mean of 1 / probability.
    assert quality.perplexity == pytest.approx((1 / (0.8 * 0.2)) ** 0.5, rel=1e-6)
    assert quality.reference_perplexity == pytest.approx((1 / (0.5 * 0.6)) ** 0.5, rel=1e-6)
    assert quality.perplexity_ratio == pytest.approx((0.3 / 0.16) ** 0.5, rel=1e-6)
    # PyTorch's probabilities weigh: KL(PyTorch || accelerator), not the other direction.
    first = 0.5 * math.log(0.5 / 0.8) + 2 * 0.25 * math.log(0.25 / 0.1)
    second = 0.2 * math.log(0.2 / 0.6) + 0.6 * math.log(0.6 / 0.2)
    assert quality.kl_divergence == pytest.approx((first + second) / 2, rel=1e-6)
    assert quality.top1_agreement == 0.5
    # log(0.6) - log(0.2) + 3 is the largest difference.
    assert quality.max_error == pytest.approx(math.log(3) + 3, rel=1e-6)


def test_measures_do_not_depend_on_how_they_are_added() -> None:
    generator = torch.Generator().manual_seed(0)
    ours, theirs = (torch.randn(75, 10, generator=generator) for _ in range(2))
    following = torch.randint(0, 10, (75,), generator=generator).tolist()
    whole, parts = Quality(), Quality()
    whole.add(ours, theirs, following)
    for start in range(0, 75, 7):
        rows = slice(start, start + 7)
        parts.add(ours[rows], theirs[rows], following[rows])
    for name in ("perplexity", "kl_divergence", "top1_agreement", "max_error"):
        assert getattr(whole, name) == pytest.approx(getattr(parts, name), rel=1e-12)
    assert whole.kl_divergence > 0.1


def test_logits_that_are_not_finite() -> None:
    quality = Quality()
    quality.add(torch.zeros(2, 3), torch.zeros(2, 3), [0, 1])
    broken = torch.zeros(2, 3)
    broken[1, 2] = float("nan")
    with pytest.raises(StreamTensorError, match="behind token 3 of the text are not finite"):
        quality.add(broken, torch.zeros(2, 3), [0, 1])
