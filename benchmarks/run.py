"""Measures what a user waits for, and the speed of the simulated accelerator.

Every figure is measured on this machine, by the commands a user would type;
nothing is asserted. README.md beside this file says what each row means.

usage: run.py [--build-dir DIR] [--json FILE] [--only PART]... [--tokens N]
              [--reports FILE] [--networks DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import estimator

ROOT = Path(__file__).resolve().parent.parent
VENV_BIN = ROOT / ".venv/bin"

MODEL = "smollm2-135m"
FAMILIES = (MODEL, "gpt2-medium", "qwen2.5-0.5b", "tinyllama-1.1b", "gemma3-1b")
# (new tokens, rows of the cache) of the layers that run at full size.
LAYER_SHAPES = ((32, 0), (1, 64), (32, 64))
PROMPT = "The capital of France is"
# One byte limit of the runtime process: 1.5 times the weights in f32, and 1 GB.
MODEL_PARAMETERS = 134_515_008
RSS_LIMIT_BYTES = 1.5 * 4 * MODEL_PARAMETERS + 1e9


@dataclass(frozen=True)
class Row:
    """One measured figure; `goal` is empty where there is none."""

    what: str
    figure: str
    goal: str = ""
    label: str = "measured"


class Failed(Exception):
    """A command of a benchmark did not succeed."""


def timed(command: list[str | Path], **options) -> tuple[float, str]:
    """Runs `command`; returns its wall time in seconds and its standard output."""
    words = [str(word) for word in command]
    print("$ " + " ".join(words), file=sys.stderr, flush=True)
    start = time.monotonic()
    run = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, **options)
    seconds = time.monotonic() - start
    if run.returncode != 0:
        raise Failed(f"'{Path(words[0]).name}' exited with {run.returncode}")
    return seconds, run.stdout


class Benchmarks:
    """Each method is one part and yields its rows as they are measured."""

    def __init__(
        self,
        build: Path,
        scratch: Path,
        tokens: int,
        reports: Path | None = None,
        networks: Path | None = None,
    ) -> None:
        self.build = build
        self.bin = build / "bin"
        self.scratch = scratch
        self.tokens = tokens
        self.reports = reports
        self.estimated_networks = networks

    def compile_layer(
        self, model: str, tokens: int, *options: str
    ) -> tuple[dict[str, float], float, Path]:
        """Imports and compiles one layer; returns import times, compile time, design."""
        name = "".join((f"{model}-{tokens}", *options))
        export = self.scratch / name
        design = self.scratch / f"{name}-design"
        importer = [VENV_BIN / "python", "benchmarks/import_layer.py", model, *options]
        _, output = timed([*importer, "--output-dir", export, "--tokens", str(tokens)])
        compiler = self.bin / "streamtensor-compile"
        seconds, _ = timed(
            [compiler, export / "module.mlir", "--target=u55c", f"--output-dir={design}"]
        )
        return json.loads(output), seconds, design

    def layers(self) -> Iterator[Row]:
        """Import and compilation of one decoder layer of every family."""
        for model in FAMILIES:
            kinds = (
                ("decode", 1, ()),
                ("chunk of 16", 16, ()),
                ("1 to 16 tokens, any past", 16, ("--dynamic",)),
            )
            for name, tokens, options in kinds:
                imported, compiled, _ = self.compile_layer(model, tokens, *options)
                what = f"{model} layer, {name}"
                yield Row(f"{what}: import", f"{imported['import_seconds']:.1f} s", "<= 10 s")
                yield Row(f"{what}: Linalg to HLS C++", f"{compiled:.1f} s", "<= 20 s")

    def full_layers(self) -> Iterator[Row]:
        """Every full-size layer once in C simulation, against PyTorch in f32."""
        shapes = [(model, *shape) for model in FAMILIES for shape in LAYER_SHAPES]
        shapes.append(("gpt2-medium", 256, 0))
        for model, tokens, past in shapes:
            export = self.scratch / f"full-{model}-{tokens}-{past}"
            design = self.scratch / f"{export.name}-design"
            importer = [VENV_BIN / "python", "benchmarks/import_layer.py", model, "--reference"]
            importer += ["--output-dir", export, "--tokens", str(tokens)]
            timed([*importer, "--max-length", str(tokens + past)])
            compiler = self.bin / "streamtensor-compile"
            compiled, _ = timed(
                [compiler, export / "module.mlir", "--target=u55c", f"--output-dir={design}"]
            )
            outputs = export / "outputs.safetensors"
            figures = export / "run.json"
            run = [self.bin / "streamtensor-run", design, "--json", figures]
            timed([*run, "--inputs", export / "inputs.safetensors", "--outputs", outputs])
            compare = [VENV_BIN / "python", "benchmarks/compare_tensors.py"]
            _, worst = timed([*compare, outputs, export / "expected.safetensors"])
            memory = json.loads((design / "report.json").read_text())["memory"]
            what = f"{model} layer, {tokens} tokens, past {past}"
            yield Row(f"{what}: error / tolerance", worst.strip(), "<= 1")
            yield Row(f"{what}: Linalg to HLS C++", f"{compiled:.1f} s", "<= 8 s")
            simulated = json.loads(figures.read_text())
            yield Row(
                f"{what}: C simulation, {simulated['macs'] / 1e6:.0f} M MACs",
                f"{simulated['seconds']:.2f} s",
            )
            held = memory["intermediate_fused_bytes"]
            ratio = memory["ratio"]
            share = f", {100 * ratio:.1f} % of unfused" if ratio else ""
            yield Row(
                f"{what}: intermediates on chip", f"{held / 1e6:.2f} MB{share}", label="estimated"
            )
            shutil.rmtree(export)
            shutil.rmtree(design)

    def bounded_memory(self) -> Iterator[Row]:
        """The largest layer that users of other systems could not simulate: its memory."""
        export, design = self.scratch / "long", self.scratch / "long-design"
        importer = [VENV_BIN / "python", "benchmarks/import_layer.py", "gpt2-medium"]
        importer += ["--output-dir", export, "--tokens", "1024", "--max-length", "1024"]
        timed([*importer, "--reference"])
        compiler = self.bin / "streamtensor-compile"
        timed([compiler, export / "module.mlir", "--target=u55c", f"--output-dir={design}"])
        outputs, figures = export / "outputs.safetensors", export / "run.json"
        run = [self.bin / "streamtensor-run", design, "--json", figures]
        timed([*run, "--inputs", export / "inputs.safetensors", "--outputs", outputs])
        simulated = json.loads(figures.read_text())
        what = "gpt2-medium layer, 1024 tokens, in C simulation"
        yield Row(f"{what}: peak memory", f"{simulated['peak_rss_bytes'] / 1e9:.2f} GB", "<= 2 GB")
        yield Row(f"{what}: {simulated['macs'] / 1e9:.1f} G MACs", f"{simulated['seconds']:.1f} s")
        compare = [VENV_BIN / "python", "benchmarks/compare_tensors.py"]
        _, worst = timed([*compare, outputs, export / "expected.safetensors"])
        yield Row(f"{what}: error / tolerance", worst.strip(), "<= 1")
        shutil.rmtree(export)
        shutil.rmtree(design)

    def csim_build(self) -> Iterator[Row]:
        """The first run of a decode layer builds its simulation, the second does not."""
        _, _, design = self.compile_layer(MODEL, 1)
        inputs, outputs = self.scratch / "in.safetensors", self.scratch / "out.safetensors"
        make_inputs = [VENV_BIN / "python", "benchmarks/random_inputs.py"]
        timed([*make_inputs, design / "interface.json", inputs])
        run = [self.bin / "streamtensor-run", design, "--inputs", inputs, "--outputs", outputs]
        environment = {**os.environ, "CCACHE_DISABLE": "1"}
        first, _ = timed(run, env=environment)
        second, _ = timed(run, env=environment)
        yield Row(
            f"{MODEL} layer, decode: build of the C simulation",
            f"{first - second:.1f} s",
            "<= 120 s",
        )
        yield Row(
            f"{MODEL} layer, decode: one run of it, process start included", f"{second:.2f} s"
        )

    def kernel(self) -> Iterator[Row]:
        """Multiply-accumulates per second of one matrix product in the C simulation."""
        for depth in (2, 16, 64):
            program = self.scratch / f"matvec-{depth}"
            flags = ["-std=c++17", "-O3", "-march=native", "-I.", "-Ibenchmarks"]
            flags += ["-Iruntime/include", "-Iruntime/include/common", f"-DMATVEC_DEPTH={depth}"]
            libraries = [self.build / "lib/libSTSimulation.a", "-lboost_context"]
            timed(["c++", *flags, "benchmarks/matvec_rate.cpp", *libraries, "-o", program])
            _, output = timed([program])
            what, _, figure = output.strip().removesuffix(" measured").rpartition(": ")
            yield Row(f"C simulation, {what}", figure)

    def allocation(self) -> Iterator[Row]:
        """The solvers on random problems of the size of a layer and larger."""
        program = self.scratch / "allocation-time"
        names = ("Allocation", "AllocationCoin", "TokenSim", "Network", "Support")
        libraries = [self.build / f"lib/libST{name}.a" for name in names]
        flags = ["-std=c++17", "-O2", "-I."]
        flags += [f"-l{name}" for name in ("Cbc", "Cgl", "OsiClp", "Clp", "Osi", "CoinUtils")]
        timed(["c++", "benchmarks/allocation_time.cpp", *libraries, *flags, "-o", program])
        _, output = timed([program])
        for line in output.strip().splitlines():
            what, _, figure = line.removesuffix(" measured").rpartition(": ")
            yield Row(what, figure, "<= 100 ms" if what.startswith("start times") else "")

    def networks(self) -> Iterator[Row]:
        """The published networks in the timed simulator: cycles against RTL, and time."""
        files = sorted((ROOT / "integration_test/data/process_networks").glob("*.json"))
        errors = {}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        for file in files:
            call = [self.bin / "streamtensor-sim", f"--network={file}", "--json"]
            run = subprocess.run(call, stdout=subprocess.PIPE, text=True)
            if run.returncode:
                raise Failed(f"streamtensor-sim exited with {run.returncode} for {file.name}")
            cycles, expected = (
                json.loads(text)[key]
                for text, key in ((run.stdout, "cycles"), (file.read_text(), "rtl_cycles"))
            )
            errors[file.stem] = abs(cycles - expected) / expected
        seconds = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        mean = sum(errors.values()) / len(errors)
        worst = max(errors, key=lambda name: errors[name])
        what = f"{len(files)} published networks"
        yield Row(f"{what}: mean error of cycles against RTL", f"{100 * mean:.4f} %", "<= 0.01 %")
        yield Row(f"{what}: worst ({worst})", f"{100 * errors[worst]:.3f} %", "<= 0.1 %")
        yield Row(
            f"{what}: processor time of all simulations, a process each",
            f"{used:.2f} s ({seconds:.2f} s elapsed)",
            "<= 0.4 s",
        )

    def generate(self) -> Iterator[Row]:
        """Text from the whole model: speed, memory, and whether memory grows."""
        peaks = {}
        for count in (16, self.tokens):
            result = self.scratch / f"generate-{count}.json"
            command = [VENV_BIN / "streamtensor", "generate", MODEL, "--prompt", PROMPT]
            command += ["--max-new-tokens", str(count), "--ignore-eos", "--json", result]
            timed(command)
            figures = json.loads(result.read_text())
            peaks[count] = figures["peak_rss_bytes"]
        yield Row(
            f"{MODEL}: decode in C simulation, {self.tokens} tokens",
            f"{figures['tokens_per_second']:.2f} token/s",
            ">= 3 token/s",
        )
        yield Row(
            f"{MODEL}: peak memory of the runtime process",
            f"{peaks[self.tokens] / 1e6:.0f} MB",
            f"<= {RSS_LIMIT_BYTES / 1e6:.0f} MB",
        )
        yield Row(
            f"{MODEL}: growth of that memory from 16 to {self.tokens} tokens",
            f"{(peaks[self.tokens] - peaks[16]) / 1e6:+.1f} MB",
            "flat",
        )
        yield Row(f"{MODEL}: multiply-accumulates of the run", f"{figures['macs'] / 1e9:.2f} G")
        yield Row(f"{MODEL}: memory traffic of the run", f"{figures['dma_bytes'] / 1e9:.2f} GB")

    def estimator(self) -> Iterator[Row]:
        """What the estimator says of published designs, against their reports."""
        if not self.reports:
            yield Row("estimator", "no figures given: --reports FILE", label="estimated")
            return
        designs = json.loads(self.reports.read_text())["designs"]
        networks = estimator.read_networks(self.estimated_networks, designs)
        _, rows = estimator.evaluate(self.bin / "streamtensor-estimate", designs, networks)
        goals = {
            "depth within 5 cycles, loops with operators": ">= 90 %",
            "DSP of a design, median error": "<= 5 %",
        }
        for what, figure in rows:
            yield Row(what, figure, goals.get(what, ""), label="estimated")


PARTS = (
    "networks",
    "kernel",
    "allocation",
    "layers",
    "full_layers",
    "bounded_memory",
    "csim_build",
    "generate",
    "estimator",
)


def machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return f"{os.cpu_count()} cores, {model}"


def print_table(rows: list[Row]) -> None:
    print(f"\nMachine: {machine()}\n")
    print("| what | figure | goal | label |\n| --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row.what} | {row.figure} | {row.goal} | {row.label} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", type=Path, default=Path("build"))
    parser.add_argument("--json", type=Path, help="write the rows to this file too")
    parser.add_argument("--only", action="append", choices=PARTS, help="measure just this part")
    parser.add_argument("--tokens", type=int, default=200, help="tokens of the long generation")
    parser.add_argument("--reports", type=Path, help="figures of synthesis reports (estimator)")
    parser.add_argument("--networks", type=Path, help="timed networks of the same designs")
    options = parser.parse_args()

    rows: list[Row] = []
    failures = 0
    with tempfile.TemporaryDirectory(prefix="streamtensor-bench-") as scratch:
        benchmarks = Benchmarks(
            (ROOT / options.build_dir).resolve(),
            Path(scratch),
            options.tokens,
            options.reports,
            options.networks,
        )
        for name in options.only or PARTS:
            part: Callable[[], Iterator[Row]] = getattr(benchmarks, name)
            print(f"==> {name}", file=sys.stderr, flush=True)
            try:
                for row in part():
                    print(f"    {row.what}: {row.figure}", file=sys.stderr, flush=True)
                    rows.append(row)
            except (Failed, OSError) as error:
                failures += 1
                print(f"bench: error: {name}: {error}", file=sys.stderr, flush=True)
    print_table(rows)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
