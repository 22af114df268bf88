"""Takes random programs through importer, compiler and C simulation.

What is right is PyTorch's result: every phase is interpreted on the same inputs
(`streamtensor-compile --validate-data`), and the emitted C++ runs with bounded FIFOs
(`streamtensor-run --batch`, many kernels in one build).
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from random_programs.program import Module, Program
from streamtensor import export
from streamtensor.errors import StreamTensorError

ROOT = Path(__file__).resolve().parents[2]
# abs error <= tolerance * (abs value + largest abs value of the tensor)
TOLERANCE = {"f32": 1e-4, "f16": 5e-3, "bf16": 2e-2}
COMPILE_SECONDS = 120
SIMULATE_SECONDS = 60
# Says of a program that it is not compiled by rule, and why.
REFUSAL = re.compile(
    r"\bnot supported\b|\bunsupported\b|cannot be compiled|\brun-time sizes?\b"
    r"|dynamic dimensions cannot be kept|of known size"
)


def tools() -> Path:
    """Where the C++ programs are."""
    return Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))


@dataclass
class Outcome:
    """What became of a program.

    `status` is ok, refused (a clear message says what is not supported), or a fault:
    wrong, deadlock, crash, hang, error. `stage` is where: export, a phase, build, run.
    """

    seed: int
    status: str = "ok"
    stage: str = ""
    message: str = ""
    simulated: bool = False
    seconds: float = 0.0

    @property
    def is_fault(self) -> bool:
        return self.status not in ("ok", "refused")

    @property
    def kind(self) -> str:
        """Equal for faults that are probably the same one."""
        words = re.sub(r"'[^']*'|\"[^\"]*\"|-?\d[\d.e+-]*|/\S+", "_", self.message)
        head = words if self.status in ("error", "refused", "crash") else ""
        return f"{self.status} at {self.stage}: {head[:160]}"

    def fail(self, status: str, stage: str, message: str) -> Outcome:
        self.status, self.stage, self.message = status, stage, message
        return self


@dataclass
class Case:
    """A program on its way, with its files in `folder`."""

    program: Program
    folder: Path
    outcome: Outcome
    # At each run-time size: the tensors that the design is given, by the names of
    # its arguments, and PyTorch's results.
    runs: list[tuple[dict[str, torch.Tensor], list[torch.Tensor]]] = field(default_factory=list)

    @property
    def design(self) -> Path:
        return self.folder / "design"

    def output(self, run: int) -> Path:
        """Where the results of a run go."""
        return self.folder / f"out{run}.safetensors"


def compile_program(program: Program, folder: Path, name: str = "") -> Case:
    """Exports, compiles and interprets."""
    start = time.monotonic()
    case = Case(program, folder, Outcome(program.seed))
    try:
        if not export_program(case, name or f"program_{program.seed}"):
            return case
        compile_exported(case)
    finally:
        case.outcome.seconds = round(time.monotonic() - start, 3)
    return case


def export_program(case: Case, name: str) -> bool:
    program, folder = case.program, case.folder
    module = Module(program, program.data())
    given, wanted = [], []
    for length in program.lengths():
        given.append(inputs_of(length, length.data()))
        with torch.no_grad():
            wanted.append([value.clone().contiguous() for value in module(*given[-1])])
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            shapes = program.dynamic_shapes()
            export(module, given[0], folder / "export", function=name, dynamic_shapes=shapes)
    except StreamTensorError as error:
        text = str(error)
        status = "refused" if REFUSAL.search(text) else "error"
        case.outcome.fail(status, "export", text)
        return False
    manifest = json.loads((folder / "export" / "manifest.json").read_text())
    for inputs, expected in zip(given, wanted, strict=True):
        remaining = iter(inputs)
        tensors = {}
        for argument in manifest["arguments"]:
            if argument["role"] == "weight":
                tensors[argument["name"]] = weight_of(module, folder, argument)
            else:
                tensors[argument["name"]] = next(remaining)
        tensors = {key: value.clone().contiguous() for key, value in tensors.items()}
        case.runs.append((tensors, expected))
    tensors, expected = case.runs[0]
    results = {f"result{i}": value for i, value in enumerate(expected)}
    save_file(tensors | results, folder / "data.safetensors")
    return True


def inputs_of(program: Program, data: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The values that are given to the module, without its weights."""
    return tuple(
        value for entry, value in zip(program.inputs, data, strict=True) if entry.role != "weight"
    )


def weight_of(module: Module, folder: Path, argument: dict) -> torch.Tensor:
    """A parameter, or a constant tensor that the importer found in the graph."""
    parameters = dict(module.named_parameters())
    if argument["source"] in parameters:
        return parameters[argument["source"]].detach()
    return load_file(folder / "export" / "weights.safetensors")[argument["name"]]


def compile_exported(case: Case) -> None:
    command = [
        tools() / "streamtensor-compile",
        case.folder / "export" / "module.mlir",
        f"--output-dir={case.design}",
        f"--validate-data={case.folder / 'data.safetensors'}",
        *(f"--{key}={value}" for key, value in case.program.options.items()),
    ]
    try:
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            timeout=COMPILE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        case.outcome.fail("hang", "compile", f"no end within {COMPILE_SECONDS} s")
        return
    if done.returncode:
        explain_compile(case.outcome, done.returncode, done.stderr)


def explain_compile(outcome: Outcome, code: int, text: str) -> None:
    """Reads from the compiler's messages what went wrong, and in which phase."""
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line]
    done = re.findall(r"phase '(\w+)': equal", text)
    failed = re.search(r"phase '(\w+)' (?:failed|is not valid)", text)
    differs = re.search(r"phase '(\w+)': (?!equal)(.*)", text)
    stage = failed[1] if failed else differs[1] if differs else f"after {(done or ['start'])[-1]}"
    first = errors[0].partition("error:")[2].strip() if errors else (lines or [""])[-1]
    if code < 0 or code > 2:
        trace = [line for line in lines if "Assertion" in line or "LLVM ERROR" in line]
        outcome.fail("crash", stage, (trace or [f"signal {-code}"])[0])
    elif differs and not failed:
        kind = "deadlock" if "deadlock" in differs[2] else "wrong"
        expected = "expected" in differs[2] and "but got" in differs[2]
        outcome.fail(kind if expected or kind == "deadlock" else "error", stage, differs[2])
    elif REFUSAL.search(text):
        refusal = next(line for line in lines if REFUSAL.search(line))
        outcome.fail("refused", stage, refusal.partition("error:")[2].strip() or refusal.strip())
    else:
        outcome.fail("error", stage, first)


def simulate(cases: Iterable[Case], folder: Path) -> None:
    """Runs those that were compiled, built as one simulation in `folder`."""
    cases = [case for case in cases if case.outcome.status == "ok"]
    if not cases:
        return
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    lines, failure = run_batch(cases, folder, SIMULATE_SECONDS * (1 + len(cases) // 4))
    seconds = (time.monotonic() - start) / len(cases)
    for case in cases:
        answers = lines.get(str(case.design), [])
        if len(answers) == len(case.runs):
            case.outcome.seconds = round(case.outcome.seconds + seconds, 3)
            judge(case, [answer["error"] for answer in answers])
        elif len(cases) == 1:
            case.outcome.fail(*failure)
        else:
            # Something in the batch broke it; alone, each shows what is its own.
            simulate([case], folder / case.folder.name)


def run_batch(
    cases: list[Case], folder: Path, seconds: int
) -> tuple[dict[str, list[dict]], tuple[str, str, str]]:
    """Returns a line per run of each design, and what ended the process early."""
    batch = []
    for case in cases:
        interface = json.loads((case.design / "interface.json").read_text())
        wanted = [
            argument["name"]
            for argument in interface["arguments"]
            if argument["role"] not in ("output", "workspace") and not argument.get("file")
        ]
        for index, (tensors, _) in enumerate(case.runs):
            source = case.folder / f"in{index}.safetensors"
            save_file({name: tensors[name] for name in wanted}, source)
            output = str(case.output(index))
            batch.append({"design": str(case.design), "inputs": str(source), "outputs": output})
    (folder / "batch.jsonl").write_text("".join(json.dumps(run) + "\n" for run in batch))
    command = [
        str(tools() / "streamtensor-run"),
        *("--batch", str(folder / "batch.jsonl"), "--build-dir", str(folder)),
    ]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=seconds,
            env={"STREAMTENSOR_CXXFLAGS": "-O1"} | os.environ,
        )
        output, code, errors = done.stdout, done.returncode, done.stderr
    except subprocess.TimeoutExpired as expired:
        # Only with text=True is this a text, and not always then.
        output = expired.stdout or ""
        output = output.decode() if isinstance(output, bytes) else output
        code, errors = None, ""
    lines: dict[str, list[dict]] = {}
    for entry in map(json.loads, output.splitlines()):
        lines.setdefault(entry["design"], []).append(entry)
    if code is None:
        return lines, ("hang", "run", f"no end within {seconds} s")
    if code < 0:
        return lines, ("crash", "run", f"signal {-code}: {errors.strip()[-500:]}")
    return lines, ("error", "build", errors.strip()[-1500:])


def judge(case: Case, errors: list[str | None]) -> None:
    """Compares what the runs of a simulation wrote with PyTorch's results."""
    outcome = case.outcome
    outcome.simulated = True
    for index, error in enumerate(errors):
        if error:
            outcome.fail("deadlock" if "deadlock" in error else "error", "run", error)
        elif difference := compare(case, index):
            outcome.fail("wrong", "run", difference)
        if outcome.is_fault:
            if case.program.sizes:
                outcome.message += f" (at run-time sizes number {index})"
            return


def compare(case: Case, run: int) -> str | None:
    """Says where the results of a run differ from PyTorch's, if they do."""
    results = load_file(case.output(run))
    tolerance = TOLERANCE[case.program.dtype]
    _, wanted = case.runs[run]
    if len(results) != len(wanted):
        return f"expected {len(wanted)} results, got {len(results)}"
    for index, expected in enumerate(wanted):
        got = results[f"result{index}"]
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return f"result{index}: {got.dtype} {tuple(got.shape)}"
        got, expected = got.double(), expected.double()
        allowed = tolerance * (expected.abs() + expected.abs().max())
        if not ((got - expected).abs() <= allowed).all():
            place = ((got - expected).abs() - allowed).nan_to_num(nan=1e30).argmax()
            return (
                f"result{index} element {place}: expected {expected.flatten()[place]:.6g} "
                f"but got {got.flatten()[place]:.6g}"
            )
    return None
