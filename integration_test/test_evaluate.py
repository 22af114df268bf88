"""`streamtensor evaluate`: windows, measures, and figures recomputed from PyTorch's logits.

The accelerator is the stand-in of `fake_tools.py`; test_end_to_end.py has the real one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from streamtensor import StreamTensorError
from streamtensor.models import configs, sources
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


@pytest.mark.parametrize(
    ("name", "tokens", "length", "count"),
    [
        # 39 tokens are fed: 16, 16 and 7 of them where there are 16 positions.
        ("smollm2-135m-tiny", 40, 16, 3),
        ("gpt2-medium-tiny", 33, 32, 1),
    ],
)
def test_figures(
    streamtensor: Callable, tmp_path: Path, name: str, tokens: int, length: int, count: int
) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    done = streamtensor(
        "evaluate", name, "--text", "text.txt", "--tokens", tokens, "--max-length", length,
        "--json", "result.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    expected = perplexity(
        sources.load_model(sources.resolve(name, None)), list(TEXT.encode())[:tokens], length
    )
    assert result["reference_perplexity"] == pytest.approx(expected, rel=1e-6)
    assert result["perplexity"] == pytest.approx(expected, rel=1e-5)
    ratio = result["perplexity"] / result["reference_perplexity"]
    assert result["perplexity_ratio"] == pytest.approx(ratio, rel=1e-12)
    # The stand-in computes in f32 as PyTorch does, in another order.
    assert 0 <= result["kl_divergence"] < 1e-9
    assert 0 < result["max_abs_logit_error"] < 1e-5
    assert result["top1_agreement"] == 1.0
    assert (result["precision"], result["label"]) == ("f32", "simulated")
    assert (result["tokens"], result["predictions"]) == (tokens, tokens - 1)
    assert result["windows"] == count and result["seconds"] > 0
    lines = done.stdout.splitlines()
    assert done.stdout == describe(result, "text.txt") + "\n"
    assert len(lines) < 24 and f"PyTorch f32: {expected:.6g}" in done.stdout


def test_a_model_gets_as_many_positions_as_the_text_needs(
    streamtensor: Callable, tmp_path: Path
) -> None:
    """A checkpoint of 300 positions and its tokenizer: 290 tokens in one window, 310 in two."""
    config = configs.config_of("tinyllama-1.1b-tiny")
    config.max_position_embeddings = 300
    config.num_hidden_layers = 1
    config.vocab_size = 64
    model = sources.random_model(config, 5).eval()
    model.save_pretrained(tmp_path / "model")
    words = save_word_tokenizer(tmp_path / "model")
    text = " ".join(words[(7 * index * index) % len(words)] for index in range(320))
    (tmp_path / "text.txt").write_text(text)
    ids = [words.index(word) for word in text.split()]
    for tokens, count in ((290, 1), (310, 2)):
        done = streamtensor(
            "evaluate", "model", "--text", "text.txt", "--tokens", tokens, "--json", "r.json"
        )
        assert done.returncode == 0, done.stderr
        result = json.loads((tmp_path / "r.json").read_text())
        assert result["windows"] == count
        expected = perplexity(model, ids[:tokens], 300)
        assert result["reference_perplexity"] == pytest.approx(expected, rel=1e-6)
        assert result["perplexity"] == pytest.approx(expected, rel=1e-5)


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
        (b"abc", "smollm2-135m-tiny --tokens 2 --precision w4a8", 1, "precision 'w4a8' cannot be"),
        (
            b"abc",
            "smollm2-135m-tiny --tokens 2 --json no/r.json",
            1,
            "no directory for 'no/r.json'",
        ),
        (b"abc", "plain --tokens 2", 1, "the model has no tokenizer"),
        (b"abc", "nothing --tokens 2", 1, "unknown model 'nothing'"),
    ],
)
def test_refusals(
    content: bytes | None,
    arguments: str,
    code: int,
    part: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    """Each before anything is compiled: there are no tools here at all."""
    from streamtensor import cli

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STREAMTENSOR_BIN_DIR", str(tmp_path))
    monkeypatch.setattr("streamtensor.runtime.cache.cached_model", lambda *_: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    configs.config_of("tinyllama-1.1b-tiny").save_pretrained("plain")
    if content is not None:
        Path("t.txt").write_bytes(content)
    try:
        got = cli.main(["evaluate", "--text", "t.txt", *arguments.split()])
    except SystemExit as ended:
        got = ended.code
    out, err = capsys.readouterr()
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
