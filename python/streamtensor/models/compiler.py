"""Compiles a language model: two designs, packed weights, the host's share, model.json."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from streamtensor.designs import DEFAULT_TARGET, MODEL_JSON, SCHEMA, resources_of
from streamtensor.errors import StreamTensorError
from streamtensor.importer.lowering import lower
from streamtensor.importer.program import Program
from streamtensor.manifest import write_export, write_json, write_manifest
from streamtensor.models.host import save_host
from streamtensor.models.positions import check_positions
from streamtensor.models.quantize import Quantization, load_in_precision
from streamtensor.models.sources import ModelSource, config_for, load_tokenizer
from streamtensor.models.split import ModelSplit, check_length, position_limit
from streamtensor.models.steps import (
    SHORTEST,
    LayerProgram,
    Length,
    capture_head,
    capture_layer,
    layer_weights,
)
from streamtensor.module_compiler import compile_export
from streamtensor.output import scratch_directory, staged_directory
from streamtensor.precision import Precision
from streamtensor.progress import say, step
from streamtensor.toolchain import ToolFailed, check_target, run_tool
from streamtensor.weights import write_safetensors

DEFAULT_LENGTH = 256
DEFAULT_CHUNK = 16
# Rows of a cache [1, heads, rows, head size] are counted along this dimension.
CACHE_AXIS = 2
# The designs of a model, and the run-time sizes of the first.
LAYER, HEAD = "layer", "head"
TOKENS, PAST = "tokens", "past"
# The run-time size that says how many layers a launch runs.
LAYERS = "layers"
# What the compiler says of a layer whose design cannot be that of all layers.
NOT_REPEATED = "the layers cannot run in one launch"


@dataclass(frozen=True)
class CompileOptions:
    """How to compile a model.

    `max_length` counts prompt and generated tokens together, `chunk` is the largest number of
    new tokens of one launch.
    """

    target: str = DEFAULT_TARGET
    max_length: int = DEFAULT_LENGTH
    chunk: int = DEFAULT_CHUNK
    precision: Precision = field(default_factory=Precision)
    arguments: tuple[str, ...] = field(default=())

    def tokens(self) -> int:
        """The largest number of new tokens that the positions leave room for."""
        return max(1, min(self.chunk, self.max_length))


def compile_options(
    options: argparse.Namespace, source: ModelSource, length: int | None = None
) -> CompileOptions:
    """What the command line says, and the defaults.

    Without --max-length it is `length` (without that, the default), or all positions of a
    model that has fewer. Fails where --max-length is none that the model allows.
    """
    defaults = CompileOptions()
    max_length = options.max_length
    if max_length is None:
        max_length = defaults.max_length if length is None else length
    limit = None
    # The configuration of a .gguf file takes seconds to read, and no file has so few.
    if max_length > DEFAULT_LENGTH or not source.gguf_file:
        limit = position_limit(config_for(source).get_text_config())
    if options.max_length is not None:
        check_length(max_length, limit)
    elif limit is not None:
        max_length = min(max_length, limit)
    return CompileOptions(
        target=options.target or defaults.target,
        max_length=max_length,
        chunk=defaults.chunk if options.chunk is None else options.chunk,
        precision=Precision(
            options.precision or defaults.precision.name,
            options.activations or defaults.precision.activations,
            options.weights or defaults.precision.weights,
            options.cache or defaults.precision.cache,
        ),
    )


def compile_model(source: ModelSource, output_dir: Path, options: CompileOptions) -> Path:
    """Compiles `source` into `output_dir`; model.json is written last.

    Raises `StreamTensorError` with the reason; the directory is then as it was.
    """
    check_target(options.target)
    with staged_directory(output_dir, [MODEL_JSON]) as directory:
        with step(f"loading {source.name} in {options.precision}"):
            model, quantization = load_in_precision(source, options.precision)
        report_quantization(quantization)
        split = split_model(model, options)
        tokens = options.tokens()
        with step(f"importing the layer for 1 to {tokens} tokens"):
            layer = capture_any_layer(split, options)
            export_design(directory, LAYER, layer.program, repetition(split, layer))
        with step("checking that layers can run behind a past"):
            check_positions(split, sorted({1, tokens}))
        with step("importing the head"):
            head = capture_head(split)
            export_design(directory, HEAD, head)
        with step(f"compiling {LAYER} for {options.target}"):
            is_repeated = compile_layer(directory, layer.program, options)
        with step(f"compiling {HEAD} for {options.target}"):
            compile_design(directory, HEAD, options)
        report_resources([directory / design for design in (LAYER, HEAD)], options.target)
        with step("packing weights"):
            shared = pack_all_layers(directory, split, layer) if is_repeated else {}
            entries = [
                {
                    "weights": {} if is_repeated else pack_layer(directory, split, layer, index),
                    "host": hosts_of(split, layer, index),
                }
                for index in range(layer_count(split))
            ]
            head_weights = pack_head(directory, head)
        save_host(directory / "host", split, source, load_tokenizer(source), options.precision)
        (directory / "Makefile").write_text(makefile([LAYER, HEAD]))
        write_json(
            directory / MODEL_JSON,
            {
                "schema": SCHEMA,
                "model": source.name,
                "precision": options.precision.to_json(),
                "max_length": options.max_length,
                "chunk": tokens,
                "hidden_size": head.inputs[0].shape[-1],
                "vocab_size": head.results[0].shape[-1],
                "layer": describe_layer(layer)
                | {"layers": LAYERS if is_repeated else None, "weights": shared},
                "layers": entries,
                "head": {
                    "design": HEAD,
                    "tokens": 1,
                    "hidden": head.inputs[0].name,
                    "logits": head.results[0].name,
                    "weights": head_weights,
                },
            },
        )
    return output_dir


def split_model(model: torch.nn.Module, options: CompileOptions) -> ModelSplit:
    """Splits a model that is loaded in the precision of `options`."""
    # Tracing needs some positions, however few are wanted.
    return ModelSplit(
        model,
        max(options.max_length, SHORTEST),
        tolerance=options.precision.layer_rounding,
        cache_dtype=options.precision.cache_dtype,
    )


def capture_any_layer(split: ModelSplit, options: CompileOptions) -> LayerProgram:
    """Captures the one program of all layers, for the lengths of `options`."""
    return capture_layer(split, *layer_sizes(options, split), function=LAYER)


def report_quantization(quantization: Quantization) -> None:
    """Says what became of the products of a quantized model."""
    if quantization.counts:
        say(f"products: {quantization.summary()}")
    for line in quantization.left:
        say(f"stays float: {line}")


def report_resources(designs: list[Path], target: str) -> None:
    """Warns where the kernels do not fit the target together, as one executable needs it."""
    over = [
        f"{name} {entry['percent']:.0f} %"
        for name, entry in resources_of(designs).items()
        if entry["used"] > entry["available"]
    ]
    if over:
        say(
            f"warning: the kernels of the model need more than {target} has (estimated: "
            f"{', '.join(over)}); simulation works, a board needs a larger target, or designs "
            "compiled with --dsp-budget or --onchip-budget-bytes"
        )


def makefile(designs: list[str]) -> str:
    """Returns the rules that link all kernels of a model into one executable of a board, which
    holds one at a time, and that make its stand-in for a simulated board."""
    names = " ".join(designs)
    lines = "".join(f"design {design}\\n" for design in designs)
    return f"""# Written by streamtensor compile.
#   make link PLATFORM=name of a Vitis platform
#   make simulated-xclbin
# `link` needs Vitis. A simulated executable stands in for its own where there is no board.
VPP ?= v++
PLATFORM ?=
DESIGNS := {names}

.PHONY: link simulated-xclbin

link: model.xclbin

model.xclbin:
\t@test -n "$(PLATFORM)" || {{ echo "expected PLATFORM=NAME but got none" >&2; exit 2; }}
\tfor design in $(DESIGNS); do $(MAKE) -C $$design hls PLATFORM=$(PLATFORM) || exit 1; done
\t$(VPP) -l -t hw --platform $(PLATFORM) $(DESIGNS:%=--config %/connectivity.cfg) \\
\t  $(DESIGNS:%=%/*.xo) -o $@
\tfor object in $(DESIGNS:%=%/*.xo); do echo "$$(sha256sum <$$(dirname $$object)/hls/kernel.cpp | \\
\t  cut -d' ' -f1) $$(basename $$object .xo)"; done >$@.kernels

simulated-xclbin:
\tprintf 'streamtensor simulated xclbin\\n{lines}' > simulated.xclbin
"""


def layer_count(split: ModelSplit) -> int:
    return len(split.stack.layers)


def export_directory(directory: Path, design: str) -> Path:
    return directory / "export" / design


def export_design(
    directory: Path, design: str, program: Program, repeat: dict[str, Any] | None = None
) -> None:
    """Writes the Linalg and the manifest of a design, whose weights come later."""
    target = export_directory(directory, design)
    target.mkdir(parents=True)
    write_export(target, program, lower(program), with_weights=False, repeat=repeat)


def repetition(split: ModelSplit, layer: LayerProgram) -> dict[str, Any]:
    """How all layers are made of the one: `repeat` of a manifest.

    Tensors of the host are shared by all layers where no layer gets another one.
    """
    hosts = [hosts_of(split, layer, index) for index in range(layer_count(split))]
    return {
        "parameter": LAYERS,
        "count": len(hosts),
        "argument": layer.hidden,
        "result": layer.program.results[0].name,
        "shared": [name for name in hosts[0] if len({host[name] for host in hosts}) == 1],
    }


def hosts_of(split: ModelSplit, layer: LayerProgram, index: int) -> dict[str, str]:
    """The host's tensors of a layer, by argument."""
    return {name: split.layer_hosts[index][path] for name, path in layer.hosts.items()}


def compile_layer(directory: Path, program: Program, options: CompileOptions) -> bool:
    """Compiles the layer for one launch of all layers, or else for a launch per layer.

    Returns whether all layers run in one launch.
    """
    try:
        compile_design(directory, LAYER, options)
        return True
    except ToolFailed as error:
        if NOT_REPEATED not in error.messages:
            raise
        reason = error.messages.split("error: ", 1)[-1].splitlines()[0]
        reason = reason.removeprefix("'func.func' op ")
    say(f"{NOT_REPEATED}, so each is a launch of its own: {reason}")
    write_manifest(export_directory(directory, LAYER), program, with_weights=False)
    compile_design(directory, LAYER, options)
    return False


def compile_design(directory: Path, design: str, options: CompileOptions) -> None:
    compile_export(
        export_directory(directory, design), directory / design, options.target, options.arguments
    )


def layer_sizes(options: CompileOptions, split: ModelSplit) -> tuple[Length, Length]:
    """Returns the new tokens and the past of the one design of a layer."""
    tokens: Length = options.tokens()
    if tokens > 1:
        tokens = torch.export.Dim(TOKENS, min=1, max=tokens)
    return tokens, torch.export.Dim(PAST, min=0, max=split.max_length - 1)


def describe_layer(layer: LayerProgram) -> dict[str, Any]:
    """The results of a layer are its hidden state, new keys and new values."""
    hidden, key, value = (result.name for result in layer.program.results)
    return {
        "design": LAYER,
        # The design's parameters; a chunk of one token is none.
        "tokens": TOKENS if layer.tokens > 1 else None,
        "past": PAST,
        "hidden": layer.hidden,
        "hidden_result": hidden,
        "caches": [
            {"argument": layer.past_key, "result": key, "axis": CACHE_AXIS},
            {"argument": layer.past_value, "result": value, "axis": CACHE_AXIS},
        ],
    }


def pack_layer(
    directory: Path, split: ModelSplit, layer: LayerProgram, index: int
) -> dict[str, str]:
    """Packs the weights of one layer; returns the file of each argument."""
    values = layer_weights(split, layer.program, index)
    names = {a.name: tensor_name(f"l{index:02d}", a.source) for a in layer.program.weights}
    tensors = {name: values[argument] for argument, name in names.items()}
    return pack(directory, LAYER, tensors, names)


def pack_all_layers(directory: Path, split: ModelSplit, layer: LayerProgram) -> dict[str, str]:
    """Packs the weights of all layers, a file per argument."""
    values = [layer_weights(split, layer.program, i) for i in range(layer_count(split))]
    files = {}
    # One argument at a time: copies of all of them are a second model in memory.
    for argument in layer.program.weights:
        name = tensor_name("layers", argument.source)
        stacked = torch.stack([weights[argument.name] for weights in values])
        files |= pack(directory, LAYER, {name: stacked}, {argument.name: name})
    return files


def pack_head(directory: Path, head: Program) -> dict[str, str]:
    names = {a.name: tensor_name("head", a.source) for a in head.weights}
    tensors = {names[argument.name]: argument.value for argument in head.weights}
    return pack(directory, HEAD, tensors, names)


def tensor_name(prefix: str, source: str) -> str:
    """Returns a name that can stand in a file name and in a list with commas."""
    safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in source)
    return f"{prefix}.{safe}"


def pack(
    directory: Path, design: str, tensors: dict[str, torch.Tensor], names: dict[str, str]
) -> dict[str, str]:
    """Packs tensors in the order in which `design` reads them.

    `names` maps arguments to tensors; the result maps them to files relative to `directory`.
    """
    if not names:
        return {}
    with scratch_directory(".pack-", directory) as scratch:
        file = scratch / "weights.safetensors"
        write_safetensors(file, tensors)
        return pack_for_design(directory, design, file, names)


def pack_for_design(
    directory: Path, design: str, file: Path, mapping: dict[str, str]
) -> dict[str, str]:
    listed = ",".join(f"{argument}={tensor}" for argument, tensor in mapping.items())
    output = run_tool(
        "streamtensor-pack",
        [
            directory / design,
            "--weights",
            file,
            "--names",
            listed,
            "--output-dir",
            directory / "weights",
        ],
    )
    packed = parse_packed(output, mapping)
    return {argument: f"weights/{Path(packed[argument]).name}" for argument in mapping}


def parse_packed(output: str, arguments: Sequence[str] | dict[str, str]) -> dict[str, str]:
    """Reads what streamtensor-pack prints: a JSON object from arguments to files."""
    try:
        packed = json.loads(output)
        return {argument: str(packed[argument]) for argument in arguments}
    except (ValueError, KeyError, TypeError) as error:
        raise StreamTensorError(
            "expected streamtensor-pack to print one file per argument as JSON but got "
            f"'{output.strip()[:200]}'"
        ) from error
