"""Parts of generation alone: chunks, sampling, text, the comparison, the process."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from streamtensor import StreamTensorError
from streamtensor.models.tokenizer import ByteTokenizer, TextStream
from streamtensor.precision import Precision
from streamtensor.runtime.check import compare
from streamtensor.runtime.generation import Generation, Generator, ModelDescription
from streamtensor.runtime.process import Runtime
from streamtensor.runtime.sampling import Sampler
from streamtensor.weights import LazyTensor, write_safetensors


class RecordingSplit:
    """Notes what the host is asked for."""

    def __init__(self) -> None:
        self.host_tensors: dict[str, Any] = {}
        self.calls: list[tuple[list[int], int]] = []

    def host_step(self, ids: list[int], position: int, names: Any) -> dict:
        self.calls.append((ids, position))
        return {}


class RecordingRuntime:
    """Notes requests; the logits always choose token 3."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, int]] = []

    def request(self, op: str, tensors: Any = None, **fields: Any) -> tuple[dict, dict]:
        if op != "step":
            return {}, {}
        self.steps.append((fields["position"], fields["count"], fields["logits"]))
        chosen = torch.full((fields["logits"], 1), 3)
        return {}, {"logits": torch.nn.functional.one_hot(chosen, 8).float()}


def make_generator(max_length: int, chunk: int) -> Generator:
    description = ModelDescription("m", max_length, chunk, 8, [])
    return Generator(RecordingRuntime(), RecordingSplit(), description)


def test_chunks_of_a_prompt() -> None:
    generator = make_generator(max_length=32, chunk=4)
    result = generator.generate([0, 1, 2, 3, 4, 5], 3, Sampler())
    assert result.ids == [3, 3, 3]
    assert generator.runtime.steps == [
        (0, 4, 0),
        (4, 2, 1),
        (6, 1, 1),
        (7, 1, 1),
    ]
    assert generator.split.calls[:3] == [([0, 1, 2, 3], 0), ([4, 5], 4), ([3], 6)]


def test_a_prompt_up_to_the_last_position() -> None:
    """10 positions in chunks of 4: the last one has two tokens."""
    generator = make_generator(max_length=10, chunk=4)
    generator.generate([1] * 10, 1, Sampler())
    assert generator.runtime.steps == [(0, 4, 0), (4, 4, 0), (8, 2, 1)]


def test_logits_behind_every_token() -> None:
    """Chunks as of a prompt; each step gives the logits of all its tokens."""
    generator = make_generator(max_length=10, chunk=4)
    rows = [len(logits) for logits in generator.logits_behind([1] * 10)]
    assert rows == [4, 4, 2]
    assert generator.runtime.steps == [(0, 4, 4), (4, 4, 4), (8, 2, 2)]


def test_a_stop_token_is_included() -> None:
    assert make_generator(32, 4).generate([1], 9, Sampler(), stop_ids=[3]).ids == [3]


def test_greedy_is_argmax() -> None:
    logits = torch.tensor([0.1, 2.0, -1.0, 1.9])
    assert Sampler().choose(logits) == 1


def test_sampling_follows_the_distribution() -> None:
    """Four tokens at temperature 2: frequencies against softmax(logits / 2)."""
    logits = torch.tensor([1.0, 3.0, -2.0, 0.0])
    expected = torch.softmax(logits / 2.0, dim=0)
    sampler = Sampler(temperature=2.0, seed=7)
    count = 4000
    counts = torch.bincount(
        torch.tensor([sampler.choose(logits) for _ in range(count)]), minlength=4
    )
    # Four standard deviations of a binomial frequency.
    spread = 4 * (expected * (1 - expected) / count).sqrt()
    assert ((counts / count - expected).abs() <= spread).all()


def test_top_k_and_top_p() -> None:
    # Probabilities 0.5, 0.25, 0.125, 0.125 of tokens 2, 0, 1, 3.
    logits = torch.tensor([0.25, 0.125, 0.5, 0.125]).log()

    def chosen(**options: Any) -> set[int]:
        sampler = Sampler(temperature=1.0, **options)
        return {sampler.choose_at(logits, step / 1000) for step in range(1000)}

    assert chosen() == {0, 1, 2, 3}
    assert chosen(top_k=2) == {2, 0}
    # 0.5 + 0.25 reach 0.7 with the second token, 0.5 alone reaches 0.5.
    assert chosen(top_p=0.7) == {2, 0}
    assert chosen(top_p=0.5) == {2}
    assert chosen(top_k=1, top_p=0.9) == {2}


def test_same_seed_same_tokens() -> None:
    logits = torch.zeros(50)
    draws = [
        [s.choose(logits) for _ in range(20)] for s in (Sampler(1.0, seed=5), Sampler(1.0, seed=5))
    ]
    assert draws[0] == draws[1] and len(set(draws[0])) > 5


def test_text_comes_in_whole_characters() -> None:
    text = "añ€😀z"
    stream = TextStream(ByteTokenizer(), [65])
    pieces = [stream.add(byte) for byte in text.encode()]
    assert "".join(pieces) + stream.finish() == text
    assert pieces[1] == "" and pieces[2] == "ñ"
    stream.add(0xE2)
    assert stream.finish() == "�", "what stays incomplete is shown at the end"


def test_comparison() -> None:
    """Only a difference within rounding, between two close logits, is excused."""
    reference = torch.tensor([[5.0, 1.0, 0.0], [2.0, 1.9999, 0.0], [3.0, 2.0, 0.0]])
    got = reference + torch.tensor([[1e-4, 0, 0], [-2e-4, 0, 0], [0, 0, 0]])
    sampler = Sampler()
    generation = Generation(logits=list(got))
    generation.ids = [sampler.choose(row) for row in got]
    assert generation.ids == [0, 1, 0]
    check = compare(generation, reference, sampler, Precision())
    assert (check.equal, check.total, len(check.excused), check.passed) == (2, 3, 1, True)
    assert check.summary().startswith("tokens equal: 2/3; max abs logit error: 0.0002")

    # The same tokens from logits that are far off: close or not, that is wrong.
    got[1] = torch.tensor([0.0, 5.0, 0.0])
    check = compare(generation, reference, sampler, Precision())
    assert not check.passed and not check.excused
    got[1] = torch.tensor([0.0, float("inf"), float("nan")])
    assert not compare(generation, reference, sampler, Precision()).passed

    # Also where the tokens are PyTorch's own.
    got = reference + torch.tensor([[0, 0, 0], [0, 0, 0], [0, 0, 2e-3]])
    generation = Generation([0, 0, 0], list(got))
    check = compare(generation, reference, sampler, Precision(), prompt=4)
    assert (check.equal, check.passed, check.position) == (3, False, 5)
    assert "token 2: its logits are off by 0.002 (0.0006 are allowed)" in check.wrong
    got[0] = torch.tensor([5.0, 1.0, float("nan")])
    assert compare(generation, reference, sampler, Precision()).position == 0


def program(tmp_path: Path, body: str) -> list[str]:
    path = tmp_path / "program.py"
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return [sys.executable, str(path)]


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("sys.exit(3)", "failed with exit code 3 during 'stats'"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("sys.stdin.readline(); print('hello')", "no JSON"),
        (
            'sys.stdin.readline(); print(\'{"ok": false, "error": "no such op"}\')',
            "refused 'stats': no such op",
        ),
        (
            "sys.stdin.readline(); "
            'print(\'{"ok": true, "tensors": [{"name": "a", "shape": [2], "bytes": 8}]}\')',
            "failed with exit code 0",
        ),
    ],
)
def test_runtime_that_fails(body: str, part: str, tmp_path: Path) -> None:
    with (
        Runtime(tmp_path, program(tmp_path, body)) as runtime,
        pytest.raises(StreamTensorError, match=part),
    ):
        runtime.request("stats")


def test_weights_file(tmp_path: Path) -> None:
    tensors = {
        "b": torch.randn(3, 5).T,
        "a": torch.tensor(2.5, dtype=torch.bfloat16),
        "empty": torch.zeros(0, 4),
        "flags": torch.tensor([True, False]),
    }
    lazy = {name: LazyTensor(tuple(t.shape), t.dtype, lambda t=t: t) for name, t in tensors.items()}
    for values in (tensors, lazy):
        write_safetensors(tmp_path / "w.safetensors", values)
        loaded = load_file(tmp_path / "w.safetensors")
        assert loaded.keys() == tensors.keys()
        for name, tensor in tensors.items():
            assert torch.equal(loaded[name], tensor) and loaded[name].dtype == tensor.dtype
