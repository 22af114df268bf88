"""Feeds tokens to a compiled model, a prompt in chunks and then one after the other.

The runtime computes the layers and the head. Here is the host's share: embedding,
rotary tables and masks (`ModelSplit.host_step`), and sampling.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from streamtensor.designs import MODEL_JSON, SCHEMA, chunks_of
from streamtensor.errors import StreamTensorError
from streamtensor.models.split import ModelSplit
from streamtensor.runtime.process import Runtime
from streamtensor.runtime.sampling import Sampler


@dataclass(frozen=True)
class ModelDescription:
    """The parts of model.json that the host needs."""

    model: str
    max_length: int
    chunk: int
    vocab_size: int
    # The host tensors that some layer binds.
    hosts: list[str]

    @staticmethod
    def read(directory: Path) -> ModelDescription:
        path = directory / MODEL_JSON
        try:
            values = json.loads(path.read_text())
            if values["schema"] != SCHEMA:
                raise ValueError(f"expected schema {SCHEMA} but got {values['schema']}")
            hosts = sorted({name for layer in values["layers"] for name in layer["host"].values()})
            return ModelDescription(
                values["model"],
                values["max_length"],
                values["chunk"],
                values["vocab_size"],
                hosts,
            )
        except FileNotFoundError as error:
            raise StreamTensorError(
                f"'{directory}' has no {MODEL_JSON}, so it holds no compiled model; make one with "
                "`streamtensor compile MODEL --output-dir DIR`"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise StreamTensorError(
                f"'{path}' cannot be read ({type(error).__name__}: {error}); compile the model again"
            ) from error


@dataclass
class Generation:
    """Generated ids, the logits each was chosen from, and the time steps took."""

    ids: list[int] = field(default_factory=list)
    logits: list[torch.Tensor] = field(default_factory=list)
    # The state behind each layer of every token that was fed: [layers, tokens, size].
    taps: torch.Tensor | None = None
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    decode_steps: int = 0

    @property
    def tokens_per_second(self) -> float:
        """Decode steps per second; with none, the one token over the prefill's time."""
        if self.decode_steps:
            return self.decode_steps / self.decode_seconds
        return len(self.ids) / self.prefill_seconds if self.prefill_seconds else 0.0


def check_request(
    description: ModelDescription, prompt: Sequence[int], max_new_tokens: int
) -> None:
    """Fails where a prompt is empty, has unknown ids, or does not fit the model."""
    if not prompt:
        raise StreamTensorError("the prompt has no tokens; expected at least one")
    check_ids(description.vocab_size, prompt)
    check_length(len(prompt), max_new_tokens, description.max_length)


def check_ids(vocab_size: int, ids: Sequence[int]) -> None:
    """Fails where an id is outside of the model's vocabulary."""
    for place, token in enumerate(ids):
        if not 0 <= token < vocab_size:
            raise StreamTensorError(
                f"expected token ids from 0 to {vocab_size - 1} but got {token} as id "
                f"{place} of {len(ids)}; it belongs to another tokenizer"
            )


def check_length(prompt: int, max_new_tokens: int, max_length: int) -> None:
    """Fails where tokens do not fit the positions that a model is compiled for."""
    # The last token that is generated is never fed back.
    needed = prompt + max_new_tokens - 1
    if needed > max_length:
        raise StreamTensorError(
            f"a prompt of {prompt} tokens and {max_new_tokens} new ones need {needed} positions "
            f"but the model is compiled for {max_length}; shorten them or, where the model has as "
            f"many positions, compile with --max-length {needed}"
        )


class Generator:
    """Drives a runtime through one generation after another."""

    def __init__(self, runtime: Runtime, split: ModelSplit, description: ModelDescription) -> None:
        self.runtime = runtime
        self.split = split
        self.description = description
        # What steps return of the states behind layers, while it is asked for.
        self.taps: list[torch.Tensor] | None = None
        known = set(split.host_tensors)
        unknown = sorted(set(description.hosts) - known)
        if unknown:
            raise StreamTensorError(
                f"{MODEL_JSON} binds host tensors that the model does not have: "
                f"{', '.join(unknown)}; compile the model again"
            )

    def generate(
        self,
        prompt: Sequence[int],
        max_new_tokens: int,
        sampler: Sampler,
        stop_ids: Iterable[int] = (),
        on_token: Callable[[int], None] = lambda token: None,
        keep_logits: bool = False,
        keep_taps: bool = False,
    ) -> Generation:
        """Generates until `max_new_tokens` or a token of `stop_ids` (which is included)."""
        check_request(self.description, prompt, max_new_tokens)
        self.runtime.request("reset")
        stops = set(stop_ids)
        self.taps = [] if keep_taps else None
        result = Generation()
        start = time.monotonic()
        logits = self.prefill(prompt)
        result.prefill_seconds = time.monotonic() - start
        position = len(prompt)
        while True:
            token = sampler.choose(logits)
            result.ids.append(token)
            if keep_logits:
                result.logits.append(logits)
            on_token(token)
            if len(result.ids) == max_new_tokens or token in stops:
                result.taps = torch.cat(self.taps, 1) if self.taps else None
                return result
            start = time.monotonic()
            logits = self.step([token], position, logits=1)[0]
            result.decode_seconds += time.monotonic() - start
            result.decode_steps += 1
            position += 1

    def prefill(self, prompt: Sequence[int]) -> torch.Tensor:
        """Feeds a prompt and returns the logits [vocabulary] behind its last token."""
        logits = None
        for ids, position in self.chunks(prompt):
            is_last = position + len(ids) == len(prompt)
            logits = self.step(ids, position, logits=int(is_last))
        return logits[0]

    def logits_behind(self, tokens: Sequence[int]) -> Iterator[torch.Tensor]:
        """Feeds tokens from position 0 on; yields the logits behind each of them.

        They come chunk by chunk, each [tokens of the chunk, vocabulary].
        """
        self.runtime.request("reset")
        for ids, position in self.chunks(tokens):
            yield self.step(ids, position, logits=len(ids))

    def chunks(self, tokens: Sequence[int]) -> Iterator[tuple[list[int], int]]:
        """Yields the steps that feed `tokens`, as the first arguments of `step`."""
        for position, count in chunks_of(len(tokens), self.description.chunk):
            yield list(tokens[position : position + count]), position

    def step(self, ids: list[int], position: int, logits: int) -> torch.Tensor:
        """Runs the layers on the tokens `ids` at `position`, which is how many came before.

        Returns the logits [logits, vocabulary] behind the last `logits` of them.
        """
        tensors = self.split.host_step(ids, position, self.description.hosts)
        fields = {} if self.taps is None else {"taps": 1}
        _, results = self.runtime.request(
            "step", tensors, position=position, count=len(ids), logits=logits, **fields
        )
        if self.taps is not None:
            taps = results["taps"]
            self.taps.append(taps.reshape(taps.shape[0], -1, taps.shape[-1]).float())
        vocabulary = self.description.vocab_size
        if not logits:
            return torch.empty((0, vocabulary))
        if "logits" not in results:
            raise StreamTensorError("the runtime returned no logits")
        return results["logits"].reshape(logits, vocabulary).float()

    def stats(self) -> dict[str, Any]:
        """Returns the runtime's counters."""
        response, _ = self.runtime.request("stats")
        return response
