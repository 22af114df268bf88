"""The command `streamtensor`: results on stdout, progress and errors on stderr.

Exit codes: 0 done, 1 the input or a check failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from streamtensor import __version__
from streamtensor.designs import DEFAULT_TARGET, MODEL_OPTIONS, given_options
from streamtensor.errors import StreamTensorError, UsageError
from streamtensor.interruption import MESSAGE, is_interrupted, unwind_on_signals
from streamtensor.precision import (
    ACTIVATIONS,
    CACHES,
    DETAILS,
    PRECISIONS,
    WEIGHTS,
    Precision,
    module_precision,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    options, unknown = build_parser().parse_known_args(argv)
    if unknown:
        # Said by the parser of the command: the outer one shows no options.
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    unwind_on_signals()
    try:
        code = options.command(options)
        sys.stdout.flush()
        return code
    except BaseException as error:
        # Also what a library made of the signal.
        if is_interrupted() or isinstance(error, KeyboardInterrupt):
            return fail(MESSAGE, 1)
        return explain_failure(error)


def explain_failure(error: BaseException) -> int:
    """Says why a command failed and returns its exit code; raises what is a fault of ours."""
    match error:
        case UsageError():
            return fail(str(error), 2)
        case StreamTensorError():
            return fail(str(error), 1)
        case BrokenPipeError():
            # Whoever read the output has seen enough, as `head` does. What is left in the buffer
            # would be an error again when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        case OSError():
            place = f": '{error.filename}'" if error.filename else ""
            return fail(f"{(error.strerror or str(error)).lower()}{place}", 1)
    raise error


def fail(message: str, code: int) -> int:
    print(f"streamtensor: error: {message}", file=sys.stderr, flush=True)
    return code


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="streamtensor",
        description="From PyTorch models to stream-based dataflow accelerators.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"streamtensor {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in (
        add_export,
        add_compile,
        add_run,
        add_simulate,
        add_report,
        add_generate,
        add_evaluate,
        add_compare,
    ):
        add(commands)
    return parser


def add_export(commands: Any) -> None:
    parser = commands.add_parser(
        "export",
        help="export a PyTorch module as Linalg, weights and a manifest",
        description="Imports FILE.py, calls FACTORY() -> (module, example_inputs) and exports the "
        "module: DIR/module.mlir, DIR/manifest.json, DIR/weights.safetensors. The example inputs "
        "are a tuple of arguments, a dict of keyword arguments or one tensor. Where FACTORY() "
        "returns a third part, it is the dynamic_shapes of torch.export.export: the design runs "
        "at any of these sizes, and DIR/module.dims.json says their limits.",
    )
    parser.add_argument("factory", metavar="FILE.py:FACTORY")
    parser.add_argument("--output-dir", metavar="DIR", required=True)
    parser.set_defaults(command=command_export, parser=parser)


def command_export(options: argparse.Namespace) -> int:
    from streamtensor.exporter import export, load_factory
    from streamtensor.progress import step

    module, inputs, dynamic_shapes = load_factory(options.factory)
    with step(f"exporting {options.factory}"):
        directory = export(module, inputs, options.output_dir, dynamic_shapes=dynamic_shapes)
    print(directory / "module.mlir")
    return 0


def add_compile(commands: Any) -> None:
    parser = commands.add_parser(
        "compile",
        help="compile a language model, or a module, into designs",
        description="Compiles a language model (a known name, a checkpoint directory or a .gguf "
        "file) into a design of its layers, for prompts and single tokens, and one of the head; or "
        "FILE.py:FACTORY as one design.",
    )
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--output-dir", metavar="DIR", required=True)
    add_model_options(parser)
    parser.set_defaults(command=command_compile, parser=parser)


def add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", help=f"device to compile for ({DEFAULT_TARGET})")
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        help="arithmetic of the products with weights: floats, or 8 or 4 bit weights with 8 bit "
        "activations (f32)",
    )
    parser.add_argument(
        "--activations",
        choices=ACTIVATIONS,
        help="what shares a scale of 8 bit activations: 32 of them, or all of a token (group)",
    )
    parser.add_argument(
        "--weights",
        choices=WEIGHTS,
        help="what shares a scale of 8 or 4 bit weights: 32 of them, or all of an output (group)",
    )
    parser.add_argument(
        "--cache",
        choices=CACHES,
        help="what keys and values are kept in: what layers make, or 16 bits (own)",
    )
    parser.add_argument(
        "--max-length",
        type=positive,
        metavar="N",
        help="positions that the cache holds, prompt and new tokens together (256, or the model's "
        "where it has fewer)",
    )
    parser.add_argument(
        "--chunk", type=positive, metavar="N", help="prompt tokens per launch at most (16)"
    )
    parser.add_argument(
        "--random-weights",
        type=natural,
        metavar="SEED",
        help="random weights from a seed instead of trained ones",
    )


def command_compile(options: argparse.Namespace) -> int:
    output = Path(options.output_dir)
    if is_factory(options.model):
        precision = factory_precision(options)
        from streamtensor.module_compiler import compile_factory

        target = options.target or DEFAULT_TARGET
        print(compile_factory(options.model, output, target, precision))
        return 0
    from streamtensor.models.compiler import compile_model, compile_options
    from streamtensor.models.sources import resolve

    source = resolve(options.model, options.random_weights)
    print(compile_model(source, output, compile_options(options, source)) / "model.json")
    return 0


def is_factory(model: str) -> bool:
    return ".py:" in model


def factory_precision(options: argparse.Namespace) -> Precision:
    """Returns the precision that a module of one's own is asked for.

    Fails where something is asked for that only language models have.
    """
    other = given_options(options, *MODEL_OPTIONS)
    if other:
        raise UsageError(
            f"{', '.join(other)} can only be asked for with a language model; the sizes and weights "
            "of a module are those that FACTORY() returns"
        )
    given = {name: getattr(options, name) for name in ("precision", *DETAILS)}
    return module_precision(**{name: each for name, each in given.items() if each})


def add_run(commands: Any) -> None:
    parser = commands.add_parser(
        "run",
        help="run a compiled design by C simulation or on a board",
        description="Runs the design of a `streamtensor-compile` output directory. The simulation "
        "is built on first use and cached by the hash of kernel.cpp.",
    )
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--inputs", metavar="IN.safetensors", required=True)
    parser.add_argument("--outputs", metavar="OUT.safetensors", required=True)
    parser.add_argument("--json", metavar="FILE", help="write FIFO, DMA and MAC counts")
    add_device_options(parser, "DIR/FUNCTION.xclbin")
    parser.set_defaults(command=command_run, parser=parser)


def add_device_options(parser: argparse.ArgumentParser, executable: str) -> None:
    parser.add_argument(
        "--device", choices=["csim", "xrt"], default="csim", help="C simulation (csim) or a board"
    )
    parser.add_argument("--xclbin", metavar="FILE", help=f"what a board runs ({executable})")


def device_arguments(options: argparse.Namespace) -> list[str]:
    """Returns the same options for the C++ programs."""
    if options.xclbin and options.device != "xrt":
        raise UsageError("--xclbin needs --device xrt")
    arguments = ["--device", options.device] if options.device != "csim" else []
    return arguments + (["--xclbin", options.xclbin] if options.xclbin else [])


def command_run(options: argparse.Namespace) -> int:
    import subprocess

    from streamtensor.toolchain import find_tool

    arguments = device_arguments(options)
    command = [str(find_tool("streamtensor-run")), options.directory, *arguments]
    command += ["--inputs", options.inputs, "--outputs", options.outputs]
    if options.json:
        command += ["--json", options.json]
    with subprocess.Popen(command) as process:
        try:
            code = process.wait()
        except BaseException:
            process.terminate()
            raise
    return 1 if code < 0 else code


def add_simulate(commands: Any) -> None:
    parser = commands.add_parser(
        "simulate",
        help="simulate the time of a compiled design or model",
        description="Timed simulation of a design, or of all layers and the head of a model: "
        "cycles, what bounds them, memory traffic, resources, and what the certificates prove. "
        "Nothing is computed. MODEL is compiled into a cache on first use.",
    )
    parser.add_argument("model", metavar="MODEL|DIR")
    add_model_options(parser)
    parser.add_argument("--phase", choices=["prefill", "decode"], help="of a model (decode)")
    parser.add_argument(
        "--length",
        type=positive,
        metavar="N",
        help="prompt length, or positions that a decode step sees; the run-time size of a design",
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    parser.add_argument("--trace", metavar="FILE", help="write a trace for ui.perfetto.dev")
    parser.add_argument(
        "--memory-efficiency",
        metavar="LIST",
        type=efficiencies,
        help="also the time with memory that reaches these parts of its peak: 0.5,0.75,0.924",
    )
    parser.set_defaults(command=command_simulate, parser=parser)


def command_simulate(options: argparse.Namespace) -> int:
    from streamtensor import simulation
    from streamtensor.designs import find_compiled

    return simulation.command_simulate(
        find_compiled(options),
        simulation.Request(
            options.phase,
            options.length,
            Path(options.trace) if options.trace else None,
            tuple(options.memory_efficiency or ()),
        ),
        Path(options.json) if options.json else None,
    )


def add_report(commands: Any) -> None:
    parser = commands.add_parser(
        "report",
        help="write what a design is as a page: DIR/report.html",
        description="Writes DIR/report.html for a compiled design or model and prints its path: "
        "tasks and FIFOs as a graph, where the time goes, a roofline, memory, resources and the "
        "certificate. The page needs no network.",
    )
    parser.add_argument("directory", metavar="DIR")
    parser.set_defaults(command=command_report, parser=parser)


def command_report(options: argparse.Namespace) -> int:
    from streamtensor.report import write_report

    print(write_report(Path(options.directory)))
    return 0


def add_generate(commands: Any) -> None:
    parser = commands.add_parser(
        "generate",
        help="generate text with a language model",
        description="Runs a language model on the simulated accelerator. MODEL is compiled into a "
        "cache on first use; DIR is what `streamtensor compile` wrote.",
    )
    parser.add_argument("model", metavar="MODEL|DIR")
    prompt = parser.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT")
    prompt.add_argument("--prompt-ids", metavar="1,2,3", type=id_list)
    parser.add_argument("--max-new-tokens", type=positive, metavar="N", required=True)
    parser.add_argument("--chat", action="store_true", help="apply the model's chat template")
    parser.add_argument("--ignore-eos", action="store_true", help="go on behind the end of text")
    parser.add_argument("--temperature", type=non_negative, metavar="T", help="0 is greedy (0)")
    parser.add_argument("--top-k", type=positive, metavar="K")
    parser.add_argument("--top-p", type=probability, metavar="P")
    parser.add_argument("--seed", type=natural, metavar="S")
    parser.add_argument("--json", metavar="FILE", help="write ids, text, speed and counters")
    parser.add_argument(
        "--check", action="store_true", help="compare every token with PyTorch (ignores eos)"
    )
    add_device_options(parser, "DIR/model.xclbin")
    add_model_options(parser)
    parser.set_defaults(command=command_generate, parser=parser)


def command_generate(options: argparse.Namespace) -> int:
    if options.chat and options.prompt is None:
        raise UsageError("--chat needs --prompt")
    from streamtensor.runtime import command

    return command.command_generate(options, device_arguments(options))


def add_evaluate(commands: Any) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="perplexity of a language model on a text, against PyTorch",
        description="Feeds the first N tokens of a text to the simulated accelerator, or a board, "
        "and to PyTorch in f32: perplexity, KL divergence, top-1 agreement. MODEL is compiled into a "
        "cache on first use, for N positions where it has as many. A text that is longer than "
        "what the model is compiled for is cut into windows without overlap.",
    )
    parser.add_argument("model", metavar="MODEL|DIR")
    parser.add_argument("--text", metavar="FILE", required=True, help="a text in UTF-8")
    parser.add_argument(
        "--tokens", type=at_least_two, metavar="N", required=True, help="tokens of it, from 2"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    add_device_options(parser, "DIR/model.xclbin")
    add_model_options(parser)
    parser.set_defaults(command=command_evaluate, parser=parser)


def command_evaluate(options: argparse.Namespace) -> int:
    from streamtensor.runtime import evaluate

    return evaluate.command_evaluate(options, device_arguments(options))


def add_compare(commands: Any) -> None:
    parser = commands.add_parser(
        "compare",
        help="find the first operator that differs from PyTorch",
        description="Runs a language model on a prompt, or the module of FILE.py:FACTORY on its "
        "example inputs, in C simulation, and compares what FIFOs carry with PyTorch in the same "
        "arithmetic: each operator alone, on the inputs that it had in the design. Prints what "
        "differs, the first operator last.",
    )
    parser.add_argument("model", metavar="MODEL|DIR|FILE.py:FACTORY")
    prompt = parser.add_mutually_exclusive_group()
    prompt.add_argument("--prompt", metavar="TEXT", help="of a language model")
    prompt.add_argument("--prompt-ids", metavar="1,2,3", type=id_list)
    parser.add_argument("--chat", action="store_true", help="apply the model's chat template")
    parser.add_argument("--json", metavar="FILE", help="write the error of each operator")
    add_model_options(parser)
    parser.set_defaults(command=command_compare, parser=parser)


def command_compare(options: argparse.Namespace) -> int:
    if options.chat and options.prompt is None:
        raise UsageError("--chat needs --prompt")
    precision = factory_precision(options) if is_factory(options.model) else None
    from streamtensor.runtime import compare

    return compare.command_compare(options, precision)


def number(convert: Callable[[str], Any], accept: Callable[[Any], bool], what: str) -> Callable:
    """Returns an argparse type that says what it expected."""

    def parse(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = None
        if value is None or not accept(value):
            raise argparse.ArgumentTypeError(f"expected {what} but got '{text}'")
        return value

    return parse


positive = number(int, lambda value: value > 0, "a whole number above 0")
at_least_two = number(int, lambda value: value >= 2, "a whole number from 2")
natural = number(int, lambda value: value >= 0, "a whole number from 0")
non_negative = number(float, lambda value: 0 <= value < float("inf"), "a number from 0")
probability = number(float, lambda value: 0 < value <= 1, "a number above 0 and up to 1")
id_list = number(
    lambda text: [int(part) for part in text.split(",")],
    lambda ids: min(ids) >= 0,
    "token ids separated by commas",
)
efficiencies = number(
    lambda text: [float(part) for part in text.split(",")],
    lambda values: all(0.01 <= value <= 1 for value in values),
    "numbers from 0.01 to 1 separated by commas",
)
