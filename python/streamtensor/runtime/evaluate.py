"""The command `streamtensor evaluate`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import torch

from streamtensor.designs import find_compiled
from streamtensor.errors import StreamTensorError
from streamtensor.manifest import write_json
from streamtensor.models.compiler import DEFAULT_LENGTH, CompileOptions
from streamtensor.models.host import load_host
from streamtensor.models.quantize import load_in_precision
from streamtensor.models.sources import ModelSource, load_model, load_tokenizer, quiet_transformers
from streamtensor.models.tokenizer import Tokenizer
from streamtensor.output import require_parent
from streamtensor.precision import Precision
from streamtensor.progress import say, step
from streamtensor.runtime.check import logits_behind
from streamtensor.runtime.command import DEVICES
from streamtensor.runtime.generation import Generator, ModelDescription, check_ids
from streamtensor.runtime.process import Runtime
from streamtensor.runtime.quality import Quality, windows

# Seconds between two lines of progress.
PROGRESS = 10.0
# What a time is. A board may be a simulated one, so it is not called measured.
LABELS = {"csim": "simulated", "xrt": "board"}


def command_evaluate(options: argparse.Namespace, device_arguments: list[str]) -> int:
    """Prints how the accelerator predicts a text, beside PyTorch, and writes it to --json.

    `device_arguments` are those of the runtime that choose what runs the designs.
    """
    if options.json:
        require_parent(Path(options.json))
    text = read_text(Path(options.text))

    def check_text(source: ModelSource, chosen: CompileOptions) -> None:
        token_ids(text, options, load_tokenizer(source))

    compiled = find_compiled(
        options,
        models_only=True,
        before_compiling=check_text,
        # The last token of the text is not fed.
        length=max(DEFAULT_LENGTH, options.tokens - 1),
    )
    description = ModelDescription.read(compiled.directory)
    host = load_host(compiled.directory / "host")
    tokens = token_ids(text, options, host.tokenizer)
    check_ids(description.vocab_size, tokens)
    with step(f"loading PyTorch's {host.source.name} in f32"):
        model = load_model(host.source)
    twin = None
    if host.precision != Precision():
        with step(f"loading PyTorch's {host.source.name} in {host.precision}"):
            twin, _ = load_in_precision(host.source, host.precision)
    with Runtime(compiled.directory, arguments=device_arguments) as runtime:
        generator = Generator(runtime, host.split, description)
        evaluation = evaluate(generator, model, tokens, twin)
    result = evaluation.to_json(host.precision, options.device)
    if options.json:
        write_json(Path(options.json), result)
    print(describe(result, options.text))
    return 0


def read_text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StreamTensorError(
            f"expected '{path}' to be text in UTF-8 but got {error.reason} at byte {error.start}"
        ) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StreamTensorError(f"the text '{path}' cannot be read: {reason}") from error
    if not text:
        raise StreamTensorError(f"the text '{path}' is empty; name a file with text in it")
    return text


def token_ids(text: str, options: argparse.Namespace, tokenizer: Tokenizer | None) -> list[int]:
    """Returns the first `options.tokens` tokens of a text; fails where it has fewer."""
    if tokenizer is None:
        raise StreamTensorError(
            "the model has no tokenizer, so a text cannot be read; put the tokenizer's files "
            "(tokenizer.json) into the checkpoint's directory and compile it again"
        )
    with quiet_transformers():
        tokens = tokenizer.encode(text)
    if len(tokens) < options.tokens:
        raise StreamTensorError(
            f"expected '{options.text}' to have {options.tokens} tokens or more but got "
            f"{len(tokens)}; lower --tokens or name a longer text"
        )
    return tokens[: options.tokens]


class Evaluation:
    """What a text has shown about a model, and how long that took in seconds."""

    def __init__(self, description: ModelDescription, tokens: int) -> None:
        self.description = description
        self.tokens = tokens
        self.windows = 0
        self.quality = Quality()
        # Against PyTorch in the accelerator's own arithmetic, where that is not f32.
        self.same_arithmetic = Quality()
        self.seconds = 0.0
        self.reference_seconds = 0.0

    def to_json(self, precision: Precision, device: str) -> dict[str, Any]:
        """The content of the --json file."""
        quality, own = self.quality, self.same_arithmetic
        return {
            "model": self.description.model,
            "precision": precision.name,
            "activations": precision.activations if precision.is_quantized else None,
            "reference": "PyTorch f32",
            "tokens": self.tokens,
            "predictions": quality.predictions,
            "windows": self.windows,
            "window_tokens": min(self.description.max_length, self.tokens - 1),
            "perplexity": quality.perplexity,
            "reference_perplexity": quality.reference_perplexity,
            "perplexity_ratio": quality.perplexity_ratio,
            "kl_divergence": quality.kl_divergence,
            "kl_direction": "KL(PyTorch || accelerator), mean over predictions, nats",
            "top1_agreement": quality.top1_agreement,
            "max_abs_logit_error": quality.max_error,
            "max_abs_logit": quality.max_logit,
            "same_arithmetic": {
                "reference_perplexity": own.reference_perplexity,
                "perplexity_ratio": own.perplexity_ratio,
                "kl_divergence": own.kl_divergence,
                "top1_agreement": own.top1_agreement,
                "max_abs_logit_error": own.max_error,
            }
            if own.predictions
            else None,
            "seconds": self.seconds,
            "reference_seconds": self.reference_seconds,
            "device": device,
            "label": LABELS[device],
        }


def evaluate(
    generator: Generator,
    model: torch.nn.Module,
    tokens: list[int],
    twin: torch.nn.Module | None = None,
) -> Evaluation:
    """Feeds a text to the accelerator and to PyTorch and compares their predictions.

    `model` is in f32, `twin` in the accelerator's own arithmetic.
    """
    evaluation = Evaluation(generator.description, len(tokens))
    # The first answer comes when the simulation is built, which is no part of its time.
    generator.stats()
    told = time.monotonic()
    for fed, following in windows(tokens, generator.description.max_length):
        evaluation.windows += 1
        start = time.monotonic()
        reference = logits_behind(model, fed)
        evaluation.reference_seconds += time.monotonic() - start
        own = None if twin is None else logits_behind(twin, fed)
        done = 0
        steps = generator.logits_behind(fed)
        while done < len(fed):
            start = time.monotonic()
            logits = next(steps)
            evaluation.seconds += time.monotonic() - start
            rows = slice(done, done + len(logits))
            evaluation.quality.add(logits, reference[rows], following[rows])
            if own is not None:
                evaluation.same_arithmetic.add(logits, own[rows], following[rows])
            done += len(logits)
            if time.monotonic() - told > PROGRESS:
                told = time.monotonic()
                say(f"{evaluation.quality.predictions} of {len(tokens) - 1} predictions")
    return evaluation


def describe(result: dict[str, Any], text: str) -> str:
    """Says the result in a few lines for people."""
    predictions = result["predictions"]
    agreements = round(result["top1_agreement"] * predictions)
    if result["windows"] == 1:
        parts = "all in one window"
    else:
        parts = f"in {result['windows']} windows of up to {result['window_tokens']} tokens"
    own = result["same_arithmetic"]
    lines = [
        f"{result['model']} in {result['precision']}: the first {result['tokens']} tokens of "
        f"'{text}', {predictions} predictions {parts}",
        f"perplexity           {result['perplexity']:.6g} (PyTorch f32: "
        f"{result['reference_perplexity']:.6g}, ratio {result['perplexity_ratio']:.6f})",
        f"KL divergence        {result['kl_divergence']:.3g} nats, mean of KL(PyTorch || accelerator)",
        f"top-1 agreement      {100 * result['top1_agreement']:.2f} % "
        f"({agreements} of {predictions})",
        f"largest logit error  {result['max_abs_logit_error']:.3g} "
        f"(the largest logit is {result['max_abs_logit']:.3g})",
        f"{result['label']}: logits of the {DEVICES[result['device']]}, {result['seconds']:.1f} s "
        f"({predictions / result['seconds']:.2f} tokens per second)",
    ]
    if own is not None:
        lines.insert(
            -1,
            f"same arithmetic      PyTorch in {result['precision']} has a perplexity of "
            f"{own['reference_perplexity']:.6g}; its top-1 agreement is "
            f"{100 * own['top1_agreement']:.2f} %",
        )
    return "\n".join(lines)
