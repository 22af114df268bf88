"""The command `streamtensor generate`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from streamtensor.designs import chunks_of, find_compiled
from streamtensor.errors import StreamTensorError, UsageError
from streamtensor.manifest import write_json
from streamtensor.models.compiler import CompileOptions
from streamtensor.models.host import Host, load_host
from streamtensor.models.quantize import load_in_precision
from streamtensor.models.sources import ModelSource, config_for, load_tokenizer
from streamtensor.models.tokenizer import TextStream, Tokenizer
from streamtensor.output import require_parent
from streamtensor.progress import say, step
from streamtensor.runtime.check import Check, compare, layerwise_reference, reference_logits
from streamtensor.runtime.generation import (
    Generation,
    Generator,
    ModelDescription,
    check_ids,
    check_length,
    check_request,
)
from streamtensor.runtime.process import Runtime
from streamtensor.runtime.sampling import Sampler

DEVICES = {"csim": "C simulation", "xrt": "board"}


def command_generate(options: argparse.Namespace, device_arguments: list[str]) -> int:
    """Generates text; returns 1 where --check found a difference.

    `device_arguments` are those of the runtime that choose what runs the designs.
    """
    sampler = make_sampler(options)
    if options.json:
        require_parent(Path(options.json))
    directory = find_model(options, options.max_new_tokens)
    description = ModelDescription.read(directory)
    host = load_host(directory / "host")
    prompt = prompt_ids(options, host.tokenizer)
    check_request(description, prompt, options.max_new_tokens)
    stop_ids = [] if options.ignore_eos or options.check else host.eos_ids
    with Runtime(directory, arguments=device_arguments) as runtime:
        generator = Generator(runtime, host.split, description)
        printer = Printer(host, prompt)
        generation = generator.generate(
            prompt,
            options.max_new_tokens,
            sampler,
            stop_ids,
            on_token=printer.add,
            keep_logits=options.check,
            keep_taps=options.check and host.precision.has_steps,
        )
        text = printer.finish()
        stats = generator.stats()
    if options.device != "csim":
        # A board counts no tokens.
        stats = stats | {"macs": None, "dma_bytes": None}
    say(
        f"{len(generation.ids)} tokens; prompt {generation.prefill_seconds:.1f} s, then "
        f"{generation.tokens_per_second:.2f} tokens per second ({DEVICES[options.device]})"
    )
    check = None
    if options.check:
        check = run_check(host, prompt, generation, sampler)
        if not check.passed:
            tokens, position = step_of(description, prompt, generation.ids, check.position)
            check.wrong.append(blame(directory, host, tokens, position))
    if options.json:
        result = describe(description, prompt, generation, text, stats, check)
        write_json(Path(options.json), result)
    if check is None:
        return 0
    for line in check.excused:
        print(f"excused: {line}")
    for line in check.wrong:
        print(f"different: {line}")
    print(check.summary(), flush=True)
    return 0 if check.passed else 1


def make_sampler(options: argparse.Namespace) -> Sampler:
    temperature = options.temperature or 0.0
    given = [
        flag
        for flag, value in (
            ("--top-k", options.top_k),
            ("--top-p", options.top_p),
            ("--seed", options.seed),
        )
        if value is not None
    ]
    if given and temperature == 0.0:
        raise UsageError(f"{', '.join(given)} only has a meaning with --temperature above 0")
    return Sampler(temperature, options.top_k, options.top_p, options.seed or 0)


def find_model(options: argparse.Namespace, new_tokens: int) -> Path:
    """Returns the compiled model that MODEL|DIR names, compiling a model first.

    Where it is to be compiled, a prompt that it cannot take is refused before.
    """

    def check_prompt(source: ModelSource, chosen: CompileOptions) -> None:
        prompt = prompt_ids(options, load_tokenizer(source))
        check_ids(config_for(source).get_text_config().vocab_size, prompt)
        check_length(len(prompt), new_tokens, chosen.max_length)

    return find_compiled(options, models_only=True, before_compiling=check_prompt).directory


def prompt_ids(options: argparse.Namespace, tokenizer: Tokenizer | None) -> list[int]:
    if options.prompt_ids is not None:
        return options.prompt_ids
    if tokenizer is None:
        raise StreamTensorError(
            "the model has no tokenizer, so --prompt cannot be read; pass --prompt-ids 1,2,3"
        )
    encode = tokenizer.encode_chat if options.chat else tokenizer.encode
    return encode(options.prompt)


class Printer:
    """Prints text token by token; without a tokenizer the ids."""

    def __init__(self, host: Host, prompt: list[int]) -> None:
        self.stream = TextStream(host.tokenizer, prompt) if host.tokenizer else None
        self.first = True

    def add(self, token: int) -> None:
        if self.stream is not None:
            self._print(self.stream.add(token))
        else:
            self._print(str(token) if self.first else f" {token}")
        self.first = False

    def finish(self) -> str:
        """Ends the line and returns the whole text ('' without a tokenizer)."""
        self._print((self.stream.finish() if self.stream else "") + "\n")
        return self.stream.text() if self.stream else ""

    def _print(self, piece: str) -> None:
        sys.stdout.write(piece)
        sys.stdout.flush()


def step_of(
    description: ModelDescription, prompt: list[int], ids: list[int], position: int
) -> tuple[list[int], int]:
    """Returns the step that fed the token at `position`: all tokens up to its end, its begin."""
    for begin, count in chunks_of(len(prompt), description.chunk):
        if begin <= position < begin + count:
            return prompt[: begin + count], begin
    return [*prompt, *ids][: position + 1], position


def blame(directory: Path, host: Host, tokens: list[int], position: int) -> str:
    """Says which operator of a step that went wrong is to blame, found in C simulation."""
    from streamtensor.runtime.model_operators import ModelOperators

    with step("looking for the operator that differs"):
        model, _ = load_in_precision(host.source, host.precision)
        operators = ModelOperators(directory, model, host.precision)
        for name, comparison in operators.compare(tokens, position):
            if comparison.wrong:
                return (
                    f"the first operator that leaves its tolerance: {name}: {comparison.wrong[0]}"
                )
    return (
        f"each operator of the step at position {position} is right when its design runs alone, in "
        "C simulation; what is wrong lies between launches, or in the device"
    )


def run_check(host: Host, prompt: list[int], generation: Generation, sampler: Sampler) -> Check:
    with step(f"comparing with PyTorch's {host.source.name} in {host.precision}"):
        model, _ = load_in_precision(host.source, host.precision)
        if generation.taps is None:
            reference = reference_logits(model, prompt, generation.ids)
            return compare(generation, reference, sampler, host.precision, len(prompt))
        reference, layers = layerwise_reference(
            model, prompt, generation, host.precision.cache_dtype
        )
        result = compare(generation, reference, sampler, host.precision, len(prompt))
        result.add_layers(layers, host.precision)
        return result


def describe(
    description: ModelDescription,
    prompt: list[int],
    generation: Generation,
    text: str,
    stats: dict[str, Any],
    check: Check | None,
) -> dict[str, Any]:
    """Returns the content of the --json file."""
    result = {
        "model": description.model,
        "prompt_ids": prompt,
        "ids": generation.ids,
        "text": text,
        "tokens_per_second": generation.tokens_per_second,
        "prefill_seconds": generation.prefill_seconds,
        "decode_seconds": generation.decode_seconds,
        "peak_rss_bytes": stats.get("peak_rss_bytes"),
        "macs": stats.get("macs"),
        "dma_bytes": stats.get("dma_bytes"),
        "steps": stats.get("steps"),
    }
    if check is not None:
        result["check"] = {
            "equal": check.equal,
            "total": check.total,
            "max_abs_logit_error": check.max_error,
            "max_abs_logit": check.max_logit,
            "max_layer_error": check.layer_error,
            "excused": check.excused,
            "different": check.wrong,
        }
    return result
