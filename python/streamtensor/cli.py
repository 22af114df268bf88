"""The command `streamtensor`: results on stdout, progress and errors on stderr.

Exit codes: 0 done, 1 the input or a check failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import Any

from streamtensor.errors import StreamTensorError, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    options = build_parser().parse_args(argv)
    # As with an interrupt from the keyboard: unwind, so that nothing half-written stays.
    signal.signal(signal.SIGTERM, interrupt)
    try:
        return options.command(options)
    except UsageError as error:
        return fail(str(error), 2)
    except StreamTensorError as error:
        return fail(str(error), 1)
    except KeyboardInterrupt:
        return fail("interrupted; nothing was left half-written", 1)
    except OSError as error:
        place = f": '{error.filename}'" if error.filename else ""
        return fail(f"{(error.strerror or str(error)).lower()}{place}", 1)


def fail(message: str, code: int) -> int:
    print(f"streamtensor: error: {message}", file=sys.stderr, flush=True)
    return code


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="streamtensor",
        description="From PyTorch models to stream-based dataflow accelerators.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in (add_export, add_run):
        add(commands)
    return parser


def add_export(commands: Any) -> None:
    parser = commands.add_parser(
        "export",
        help="export a PyTorch module as Linalg, weights and a manifest",
        description="Imports FILE.py, calls FACTORY() -> (module, example_inputs) and exports the "
        "module: DIR/module.mlir, DIR/manifest.json, DIR/weights.safetensors.",
    )
    parser.add_argument("factory", metavar="FILE.py:FACTORY")
    parser.add_argument("--output-dir", metavar="DIR", required=True)
    parser.set_defaults(command=command_export)


def command_export(options: argparse.Namespace) -> int:
    from streamtensor.exporter import export, load_factory
    from streamtensor.progress import step

    module, inputs, dynamic_shapes = load_factory(options.factory)
    with step(f"exporting {options.factory}"):
        directory = export(module, inputs, options.output_dir, dynamic_shapes=dynamic_shapes)
    print(directory / "module.mlir")
    return 0


def add_run(commands: Any) -> None:
    parser = commands.add_parser(
        "run",
        help="run a compiled design by C simulation",
        description="Runs the design of a `streamtensor-compile` output directory. The simulation "
        "is built on first use and cached by the hash of kernel.cpp.",
    )
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--inputs", metavar="IN.safetensors", required=True)
    parser.add_argument("--outputs", metavar="OUT.safetensors", required=True)
    parser.add_argument("--json", metavar="FILE", help="write FIFO, DMA and MAC counts")
    parser.set_defaults(command=command_run)


def command_run(options: argparse.Namespace) -> int:
    import subprocess

    from streamtensor.toolchain import find_tool

    command = [str(find_tool("streamtensor-run")), options.directory]
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
