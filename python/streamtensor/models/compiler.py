"""Compiles a language model: three designs, packed weights, the host's share, model.json."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from streamtensor.designs import MODEL_JSON
from streamtensor.errors import StreamTensorError
from streamtensor.importer.lowering import lower
from streamtensor.importer.program import Program
from streamtensor.manifest import write_export, write_json
from streamtensor.models.host import save_host
from streamtensor.models.positions import check_positions
from streamtensor.models.quantize import Quantization, load_in_precision
from streamtensor.models.sources import ModelSource, config_for, load_tokenizer
from streamtensor.models.split import ModelSplit, position_limit
from streamtensor.models.steps import LayerProgram, capture_head, capture_layer, layer_weights
from streamtensor.module_compiler import compile_export
from streamtensor.output import staged_directory
from streamtensor.precision import LAYER_ROUNDING, Precision
from streamtensor.progress import say, step
from streamtensor.toolchain import run_tool
from streamtensor.weights import write_safetensors

DEFAULT_LENGTH = 256
DEFAULT_CHUNK = 16
# Rows of a cache [1, heads, rows, head size] are counted along this dimension.
CACHE_AXIS = 2


@dataclass(frozen=True)
class CompileOptions:
    """How to compile a model. `max_length` counts prompt and generated tokens together."""

    target: str = "u55c"
    max_length: int = DEFAULT_LENGTH
    chunk: int = DEFAULT_CHUNK
    precision: Precision = field(default_factory=Precision)
    arguments: tuple[str, ...] = field(default=())

    def prefill_tokens(self) -> int:
        """A chunk needs a past of at least one row beside it."""
        return max(1, min(self.chunk, self.max_length // 2))


def compile_options(
    options: argparse.Namespace, source: ModelSource, length: int | None = None
) -> CompileOptions:
    """What the command line says, and the defaults.

    Without --max-length it is `length` (without that, the default), or all positions of a
    model that has fewer.
    """
    defaults = CompileOptions()
    max_length = options.max_length
    if max_length is None:
        max_length = defaults.max_length if length is None else length
        # The configuration of a .gguf file takes seconds to read, and no file has so few.
        if max_length > DEFAULT_LENGTH or not source.gguf_file:
            limit = position_limit(config_for(source).get_text_config())
            max_length = max_length if limit is None else min(max_length, limit)
    return CompileOptions(
        target=options.target,
        max_length=max_length,
        chunk=defaults.chunk if options.chunk is None else options.chunk,
        precision=Precision(
            options.precision or defaults.precision.name,
            options.activations or defaults.precision.activations,
            options.weights or defaults.precision.weights,
        ),
    )


def compile_model(source: ModelSource, output_dir: Path, options: CompileOptions) -> Path:
    """Compiles `source` into `output_dir`; model.json is written last.

    Raises `StreamTensorError` with the reason; the directory is then as it was.
    """
    with staged_directory(output_dir, [MODEL_JSON]) as directory:
        with step(f"loading {source.name} in {options.precision}"):
            model, quantization = load_in_precision(source, options.precision)
        report_quantization(quantization)
        rounding = LAYER_ROUNDING[options.precision.name]
        split = ModelSplit(model, options.max_length, tolerance=rounding)
        phases = {"prefill": options.prefill_tokens(), "decode": 1}
        layers: dict[str, LayerProgram] = {}
        for phase, tokens in phases.items():
            with step(f"importing the layer for {phase} ({tokens} tokens)"):
                layers[phase] = capture_layer(
                    split, tokens, options.max_length - tokens, function=f"layer_{phase}"
                )
                export_design(directory, phase, layers[phase].program)
        with step("checking that layers can run on a cache of fixed size"):
            check_positions(split, sorted(set(phases.values())))
        with step("importing the head"):
            head = capture_head(split)
            export_design(directory, "head", head)
        for design in (*phases, "head"):
            with step(f"compiling {design} for {options.target}"):
                compile_design(directory, design, options)
        with step("packing weights"):
            entries = [pack_layer(directory, split, layers, i) for i in range(layer_count(split))]
            head_weights = pack_head(directory, head)
        save_host(directory / "host", split, source, load_tokenizer(source), options.precision)
        (directory / "Makefile").write_text(makefile([*phases, "head"]))
        write_json(
            directory / MODEL_JSON,
            {
                "schema": 1,
                "model": source.name,
                "precision": options.precision.to_json(),
                "max_length": options.max_length,
                "chunk": phases["prefill"],
                "hidden_size": head.inputs[0].shape[-1],
                "vocab_size": head.results[0].shape[-1],
                "phases": {name: describe_phase(name, layers[name]) for name in phases},
                "layers": entries,
                "head": {
                    "design": "head",
                    "tokens": 1,
                    "hidden": head.inputs[0].name,
                    "logits": head.results[0].name,
                    "weights": head_weights,
                },
            },
        )
    return output_dir


def report_quantization(quantization: Quantization) -> None:
    """Says what became of the products of a quantized model."""
    if quantization.counts:
        say(f"products: {quantization.summary()}")
    for line in quantization.left:
        say(f"stays float: {line}")


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


def export_design(directory: Path, design: str, program: Program) -> None:
    """Writes the Linalg and the manifest of a design, whose weights come later."""
    target = export_directory(directory, design)
    target.mkdir(parents=True)
    write_export(target, program, lower(program), with_weights=False)


def compile_design(directory: Path, design: str, options: CompileOptions) -> None:
    compile_export(
        export_directory(directory, design), directory / design, options.target, options.arguments
    )


def describe_phase(name: str, layer: LayerProgram) -> dict[str, Any]:
    """The results of a layer are its hidden state, new keys and new values."""
    hidden, key, value = (result.name for result in layer.program.results)
    return {
        "design": name,
        "tokens": layer.tokens,
        "hidden": layer.hidden,
        "hidden_result": hidden,
        "caches": [
            {"argument": layer.past_key, "result": key, "axis": CACHE_AXIS},
            {"argument": layer.past_value, "result": value, "axis": CACHE_AXIS},
        ],
    }


def pack_layer(
    directory: Path, split: ModelSplit, layers: dict[str, LayerProgram], index: int
) -> dict[str, Any]:
    """Packs the weights of one layer for every phase; returns its entry of model.json."""
    tensors: dict[str, torch.Tensor] = {}
    names: dict[str, dict[str, str]] = {}
    for phase, layer in layers.items():
        values = layer_weights(split, layer.program, index)
        names[phase] = {}
        for argument in layer.program.weights:
            name = tensor_name(f"l{index:02d}", argument.source)
            tensors[name] = values[argument.name]
            names[phase][argument.name] = name
    files = pack(directory, tensors, names)
    hosts = {
        phase: {name: split.layer_hosts[index][path] for name, path in layer.hosts.items()}
        for phase, layer in layers.items()
    }
    return {"weights": files, "host": hosts}


def pack_head(directory: Path, head: Program) -> dict[str, str]:
    names = {a.name: tensor_name("head", a.source) for a in head.weights}
    tensors = {names[argument.name]: argument.value for argument in head.weights}
    return pack(directory, tensors, {"head": names})["head"]


def tensor_name(prefix: str, source: str) -> str:
    """Returns a name that can stand in a file name and in a list with commas."""
    safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in source)
    return f"{prefix}.{safe}"


def pack(
    directory: Path, tensors: dict[str, torch.Tensor], names: dict[str, dict[str, str]]
) -> dict[str, dict[str, str]]:
    """Packs tensors in the order that each design reads them.

    `names[design]` maps arguments to tensors; the result maps them to files relative
    to `directory`. A tensor that two designs read in the same order is stored once.
    """
    with tempfile.TemporaryDirectory(prefix=".pack-", dir=directory) as scratch:
        file = Path(scratch) / "weights.safetensors"
        write_safetensors(file, tensors)
        return {
            design: pack_for_design(directory, design, file, mapping)
            for design, mapping in names.items()
        }


def pack_for_design(
    directory: Path, design: str, file: Path, mapping: dict[str, str]
) -> dict[str, str]:
    if not mapping:
        return {}
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
