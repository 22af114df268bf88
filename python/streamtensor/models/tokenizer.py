"""Tokenizers: the byte tokenizer of the -tiny models, and Hugging Face's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from streamtensor.errors import StreamTensorError

# Ids 0..255 are the bytes of UTF-8; the rest are reserved for special tokens.
BYTE_VOCABULARY = 288
BYTE_EOS = 256

# Bytes that do not form a character yet decode to this.
REPLACEMENT = "�"


class Tokenizer(Protocol):
    """What generation needs of a tokenizer."""

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a raw prompt, with the tokenizer's own special tokens."""

    def encode_chat(self, text: str) -> list[int]:
        """Returns the ids of one user message in the model's chat template."""

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of ids, without special tokens."""


class ByteTokenizer:
    """One id per byte of UTF-8; special ids have no text."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def encode_chat(self, text: str) -> list[int]:
        raise StreamTensorError("the byte tokenizer has no chat template; leave out --chat")

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(token for token in ids if token < 256).decode(errors="replace")


class HubTokenizer:
    """A tokenizer of transformers, loaded from a local file or directory."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return list(self.tokenizer(text)["input_ids"])

    def encode_chat(self, text: str) -> list[int]:
        if not self.tokenizer.chat_template:
            raise StreamTensorError("the model has no chat template; leave out --chat")
        rendered = self.tokenizer.apply_chat_template(
            [{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False
        )
        return list(self.tokenizer(rendered, add_special_tokens=False)["input_ids"])

    def decode(self, ids: Sequence[int]) -> str:
        return self.tokenizer.decode(list(ids), skip_special_tokens=True)


def load_directory(directory: Path, gguf_file: str | None = None) -> HubTokenizer | None:
    """Loads the tokenizer of a checkpoint, None where it has none."""
    from transformers import AutoTokenizer

    names = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json")
    if gguf_file is None and not any((directory / name).is_file() for name in names):
        return None
    options = {"gguf_file": gguf_file} if gguf_file else {}
    try:
        return HubTokenizer(
            AutoTokenizer.from_pretrained(str(directory), trust_remote_code=False, **options)
        )
    except Exception as error:
        raise StreamTensorError(
            f"the tokenizer in '{directory}' cannot be loaded: {type(error).__name__}: {error}; "
            "--prompt-ids works without a tokenizer"
        ) from error


class TextStream:
    """Turns growing ids into pieces of text that can be printed at once.

    A character whose bytes are not complete is held back until they are.
    """

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int]) -> None:
        self.tokenizer = tokenizer
        self.ids: list[int] = []
        # Some tokenizers drop a leading space, so the last prompt token stays in front.
        self.context = list(prompt[-1:])
        self.skip = len(tokenizer.decode(self.context))
        self.printed = ""

    def add(self, token: int) -> str:
        """Returns the text that `token` completes."""
        self.ids.append(token)
        return self._take(final=False)

    def finish(self) -> str:
        """Returns what was held back."""
        return self._take(final=True)

    def text(self) -> str:
        """Returns all text so far."""
        return self.tokenizer.decode(self.context + self.ids)[self.skip :]

    def _take(self, final: bool) -> str:
        text = self.text()
        if not final:
            text = text.rstrip(REPLACEMENT)
        piece = text[len(self.printed) :]
        self.printed += piece
        return piece
