"""Compiling modules, running their designs and judging the results.

A design runs in two ways: `simulate` is our C simulation with bounded FIFOs, and
`VendorKernels` is the same kernel.cpp under AMD's open headers, task after task.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from conftest import ROOT
from safetensors.torch import load_file, save_file

from streamtensor import export
from streamtensor.dtypes import NAMES

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR") or ROOT / "build" / "bin")
TOOLS_ARE_BUILT = all((BIN / f"streamtensor-{t}").is_file() for t in ("compile", "run"))
Tensors = dict[str, torch.Tensor]
NO_SIZES: Mapping[str, int] = MappingProxyType({})

# Relative to |expected| + the largest |expected| of the tensor. Five units in the
# last place for the 16-bit floats: PyTorch rounds in other places than we do.
TOLERANCES = {torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 2.5e-3}


def register_in(cases: dict[str, tuple[Callable, Any]], inputs: Any) -> Callable:
    """A decorator that keeps a function in `cases` under its name, with its `inputs`."""

    def register(function: Callable) -> Callable:
        cases[function.__name__] = (function, inputs)
        return function

    return register


def run(*command: object, **options: Any) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=600, **options
    )


def compile_text(text: Path, design: Path, *options: str) -> subprocess.CompletedProcess:
    """Compiles one .mlir file into the directory `design`."""
    return run(BIN / "streamtensor-compile", text, f"--output-dir={design}", *options)


def check_fifos(design: Path) -> None:
    """No FIFO of a design has more places than tokens pass, a width that an hls::stream cannot
    have, or a depth without a reason; one with a place for every token is slow with one less,
    but for places of register stages between dies, which are as many as the stages."""
    for fifo in json.loads((design / "report.json").read_text())["fifos"]:
        assert 1 <= fifo["depth"] <= max(1, fifo["tokens"]), fifo
        assert fifo["token_bits"] <= 4096, fifo
        assert fifo["reason"], fifo
        if 2 < fifo["depth"] == fifo["tokens"] and not fifo["crossing"]:
            assert is_of_use(design, fifo["name"], fifo["depth"]), fifo


def check_headers(design: Path) -> None:
    """A design brings along the headers of ours that its kernel includes."""
    included = re.findall(r'#include "(st_\w+\.h)"', (design / "hls" / "kernel.cpp").read_text())
    missing = [name for name in included if not (design / "hls" / "include" / name).is_file()]
    assert not missing, f"{design} lacks {missing}"


def is_of_use(design: Path, fifo: str, depth: int) -> bool:
    """Whether a place less in a FIFO makes the design slower, or lets it deadlock: one or three
    invocations, at the largest or the smallest values of its parameters."""
    network = design / "network.pn.json"
    less = design.with_suffix(".less.json")
    less.write_text(json.dumps({fifo: depth - 1}))
    parameters = json.loads(network.read_text()).get("parameters", [])
    call = [BIN / "streamtensor-sim", f"--network={network}", "--json"]
    for end in ("max", "min") if parameters else ("max",):
        values = ",".join(f"{each['name']}={each[end]}" for each in parameters)
        for invocations in (1, 3):
            at = [f"--invocations={invocations}", *([f"--values={values}"] if values else [])]
            before, after = (run(*call, *at, *more) for more in ([], [f"--depths={less}"]))
            assert before.returncode == 0, before.stderr
            if after.returncode:
                assert "deadlock" in after.stderr, after.stderr
                return True
            if json.loads(after.stdout)["cycles"] > json.loads(before.stdout)["cycles"]:
                return True
    return False


class FunctionModule(torch.nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.function(*inputs)


def compile_and_simulate(
    function: Callable, arguments: tuple[torch.Tensor, ...], design: Path
) -> None:
    """Exports and compiles a function with --validate; its simulation must equal PyTorch."""
    module, exported = FunctionModule(function), design.with_suffix(".export")
    export(module, arguments, exported, function="case_" + design.name)
    manifest = f"--manifest={exported}/manifest.json"
    compiled = compile_text(exported / "module.mlir", design, manifest, "--validate")
    assert compiled.returncode == 0, compiled.stderr
    results, _ = simulate(design, {f"arg{i}": v for i, v in enumerate(arguments)})
    assert_equal(results, {f"result{i}": v for i, v in enumerate(module(*arguments))})


def simulate(design: Path, inputs: Tensors) -> tuple[Tensors, dict]:
    """Runs a design once; returns its results and the statistics of --json."""
    files = {k: design.with_suffix(f".{k}") for k in ("inputs", "outputs", "json")}
    save_file({name: value.contiguous() for name, value in inputs.items()}, files["inputs"])
    flags = [f"--{kind}={path}" for kind, path in files.items()]
    ran = run(BIN / "streamtensor-run", design, *flags)
    assert ran.returncode == 0, ran.stderr
    return load_file(files["outputs"]), json.loads(files["json"].read_text())


def run_batch(runs: list[tuple[Path, Tensors]], directory: Path) -> list[Tensors | str]:
    """Runs designs, some of them several times, built as one simulation in `directory`.

    Returns the results of each run, or the message that says why it failed.
    """
    directory.mkdir(parents=True, exist_ok=True)
    lines = []
    for index, (design, inputs) in enumerate(runs):
        line = {"design": str(design)}
        for kind in ("inputs", "outputs"):
            line[kind] = str(directory / f"{index}.{kind}")
        save_file({k: value.contiguous() for k, value in inputs.items()}, line["inputs"])
        lines.append(line)
    batch = directory / "batch.jsonl"
    batch.write_text("".join(json.dumps(line) + "\n" for line in lines))
    # Built at once and run for moments.
    environment = {"STREAMTENSOR_CXXFLAGS": "-O0"} | os.environ
    command = [BIN / "streamtensor-run", "--batch", batch, "--build-dir", directory]
    ran = run(*command, env=environment)
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(runs), ran.stderr
    return [
        answer["error"] or load_file(line["outputs"])
        for line, answer in zip(lines, answers, strict=True)
    ]


def assert_equal(results: Tensors, expected: Tensors) -> None:
    """Integers and booleans must be the same, floats within TOLERANCES."""
    assert results.keys() == expected.keys()
    for name, want in expected.items():
        got = results[name]
        assert (got.dtype, got.shape) == (want.dtype, want.shape), name
        if want.dtype not in TOLERANCES:
            assert torch.equal(got, want), name
            continue
        got, want = got.double(), want.double()
        finite = torch.isfinite(want)
        assert torch.equal(got[~finite], want[~finite]), name
        largest = want[finite].abs().max() if finite.any() else 0
        allowed = TOLERANCES[expected[name].dtype] * (want.abs() + largest)
        assert ((got - want).abs() <= allowed)[finite].all(), name


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one shape and type hold the same bits, NaN included."""
    return torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8))


def vendor_headers() -> Path:
    """AMD's open simulation headers, inside the hls4ml wheel."""
    files = importlib.metadata.distribution("hls4ml").files or []
    return next(Path(f.locate()) for f in files if f.name == "hls_stream.h").parent


class VendorKernels:
    """The kernels of several designs under AMD's headers, in one library.

    Each kernel.cpp lies in a namespace of its own; the headers are read once.
    """

    def __init__(self, designs: dict[str, Path], directory: Path) -> None:
        self.designs = designs
        headers = ["hls_math", "hls_stream", "hls_vector", "st_dataflow", "st_half", "st_int"]
        headers.append("st_math")
        for design in designs.values():
            check_headers(design)
        source = directory / "kernels.cpp"
        source.write_text(
            "".join(f'#include "{header}.h"\n' for header in headers)
            + "".join(
                f'namespace design_{name} {{\n#include "{design}/hls/kernel.cpp"\n}}\n'
                for name, design in designs.items()
            )
        )
        # The design's own headers, as a synthesis tool gets them, and stand-ins for the tool's.
        own = next(iter(designs.values())) / "hls" / "include"
        built = run(
            *("g++", "-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-w"),
            *(f"-I{own}", f"-I{ROOT / 'runtime' / 'include' / 'common'}"),
            *(f"-I{vendor_headers()}", source, "-o", directory / "kernels.so"),
        )
        assert built.returncode == 0, built.stderr
        self.library = ctypes.CDLL(str(directory / "kernels.so"))

    def run(self, name: str, inputs: Tensors, parameters: Mapping[str, int] = NO_SIZES) -> Tensors:
        """The results of one design, by the names of the interface.

        `parameters` are the values of sizes that are known at run time. Inputs lie in
        the corner of the largest tensor, with ones around, and so do the results.
        """
        interface = json.loads((self.designs[name] / "interface.json").read_text())
        types = {text: dtype for dtype, text in NAMES.items()}
        buffers = {}
        for argument in interface["arguments"]:
            if argument["role"] in ("output", "workspace"):
                shape = argument.get("buffer_shape") or argument["shape"]
                buffers[argument["name"]] = torch.zeros(shape, dtype=types[argument["dtype"]])
            else:
                tensor = inputs[argument["name"]]
                if "dims" in argument:
                    largest = torch.ones(argument["shape"], dtype=tensor.dtype)
                    largest[tuple(map(slice, tensor.shape))] = tensor
                    tensor = largest
                # A copy of torch's own, which is aligned as device memory is.
                buffers[argument["name"]] = tensor.clone(memory_format=torch.contiguous_format)
        top = getattr(self.library, interface["function"])
        sizes = [parameters[parameter["name"]] for parameter in interface["parameters"]]
        top(*(ctypes.c_void_p(buffer.data_ptr()) for buffer in buffers.values()), *sizes)
        return {name: value for name, value in buffers.items() if name.startswith("result")}


# --- FIFO accesses ---------------------------------------------------------------------

Accesses = dict[str, list[tuple[str, str, int]]]
RECORDING = {"STREAMTENSOR_CXXFLAGS": "-O0 -DST_RECORD_ACCESSES"}


def add_access(accesses: list[tuple[str, str, int]], op: str, fifo: str, count: int) -> None:
    """Appends `count` accesses; equal neighbours are one entry."""
    if accesses and accesses[-1][:2] == (op, fifo):
        count += accesses.pop()[2]
    accesses.append((op, fifo, count))


def recorded_accesses(design: Path, inputs: Tensors) -> Accesses:
    """The FIFO accesses of each task of a design, in the order of the C simulation."""
    files = [design / f"recorded.{name}" for name in ("in", "out", "txt")]
    save_file({name: value.contiguous() for name, value in inputs.items()}, files[0])
    environment = {**os.environ, **RECORDING, "ST_RECORD_FILE": str(files[2])}
    ran = run(
        BIN / "streamtensor-run",
        design,
        f"--inputs={files[0]}",
        f"--outputs={files[1]}",
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    fifos = json.loads((design / "report.json").read_text())["fifos"]
    task_of = {("r", f["name"]): f["consumer"] for f in fifos}
    task_of |= {("w", f["name"]): f["producer"] for f in fifos}
    accesses: Accesses = {task: [] for task in task_of.values()}
    for line in files[2].read_text().splitlines():
        op, fifo, count = line.split()
        add_access(accesses[task_of[op, fifo]], op, fifo, int(count))
    return accesses


def network_accesses(design: Path, values: Mapping[str, int] = NO_SIZES) -> Accesses:
    """The same of the design's timed network, in program order."""
    command = [BIN / "streamtensor-sim", f"--network={design / 'network.pn.json'}", "--accesses"]
    if values:
        command.append("--values=" + ",".join(f"{name}={n}" for name, n in values.items()))
    ran = run(*command)
    assert ran.returncode == 0, ran.stderr
    accesses: Accesses = {}
    for line in ran.stdout.splitlines():
        task, *entries = line.split("\t")
        accesses[task] = []
        for entry in entries:
            op, fifo, count = entry.split()
            add_access(accesses[task], op, fifo, int(count))
    return accesses
