"""The command line: results, exit codes, and one clear message for every bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from streamtensor import cli
from streamtensor.models import configs, sources

MODEL_FILE = """
import torch

def make():
    return torch.nn.Linear(5, 3), (torch.randn(2, 5),)

def fails():
    raise ValueError("no data")

def wrong():
    return torch.nn.Linear(5, 3)

def torch_function():
    return (lambda x: x), (torch.randn(2, 5),)

def three():
    return torch.nn.Linear(5, 3), (torch.randn(2, 5),), 7

def wants(size):
    return torch.nn.Linear(size, 3), (torch.randn(2, size),)

module = torch.nn.Linear(5, 3)
"""


@pytest.fixture(autouse=True)
def surroundings(
    fake_bin: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The stand-in tools, a cache for these tests, and a current directory with model.py."""
    monkeypatch.setenv("STREAMTENSOR_BIN_DIR", str(fake_bin))
    cache = tmp_path_factory.getbasetemp() / "streamtensor-cache"
    monkeypatch.setenv("STREAMTENSOR_CACHE_DIR", str(cache))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(MODEL_FILE)


@pytest.fixture
def run(capfd: pytest.CaptureFixture) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in this process; returns exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        handler = signal.getsignal(signal.SIGTERM)
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        finally:
            signal.signal(signal.SIGTERM, handler)
        return code, *capfd.readouterr()

    return call


def test_export(run: Callable) -> None:
    code, out, err = run("export", "model.py:make", "--output-dir", "out")
    assert (code, out) == (0, "out/module.mlir\n")
    assert "exporting model.py:make" in err
    names = {path.name for path in Path("out").iterdir()}
    assert names == {"module.mlir", "manifest.json", "weights.safetensors"}


@pytest.mark.parametrize(
    ("spec", "code", "part"),
    [
        ("model.py:nothing", 1, "has no 'nothing'; it defines: make, fails, wrong,"),
        ("model.py:fails", 1, "raised ValueError at model.py:8: no data"),
        (
            "model.py:wrong",
            1,
            "to return (module, example_inputs) or (module, example_inputs, "
            "dynamic_shapes) but got Linear",
        ),
        ("model.py:torch", 1, "is no function"),
        ("model.py:module", 1, "'model.py:module' is no function"),
        ("model.py:torch_function", 1, "but got (function, tuple)"),
        ("model.py:three", 1, "but got (Linear, tuple, int)"),
        ("model.py:wants", 1, "raised TypeError: wants() missing 1 required"),
        ("syntax.py:make", 1, "cannot be imported: SyntaxError at syntax.py:2"),
        ("missing.py:make", 1, "there is no file 'missing.py'"),
        ("broken.py:make", 1, "'broken.py' cannot be imported: ZeroDivisionError at broken.py:1"),
        ("model.py", 2, "expected FILE.py:FACTORY but got 'model.py'"),
    ],
)
def test_export_refuses(run: Callable, spec: str, code: int, part: str) -> None:
    Path("broken.py").write_text("1 / 0\n")
    Path("syntax.py").write_text("import torch\ndef make(: pass\n")
    got, out, err = run("export", spec, "--output-dir", "out")
    assert (got, out) == (code, "")
    assert part in err and err.count("streamtensor: error:") == 1
    assert "Traceback" not in err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        ("compile gpt5 --output-dir out", 1, "unknown model 'gpt5'; expected one of smollm2-135m,"),
        ("compile gpt2-medium --output-dir out", 1, "no trained weights of 'gpt2-medium'"),
        ("compile model.py --output-dir out", 1, "expected a checkpoint directory or a .gguf"),
        ("compile model.py --output-dir out", 1, "is compiled as 'model.py:FACTORY'"),
        ("export model.py:make --output-dir out --outptu", 2, "streamtensor export: error: unrec"),
        ("export model.py:make --output-dir model.py", 1, "exists and is no directory"),
        ("compile . --output-dir out", 1, "is a directory without config.json"),
        (
            "compile smollm2-135m-tiny --output-dir out --activations token",
            2,
            "leave --activations out",
        ),
        ("compile smollm2-135m-tiny --output-dir out --max-length x", 2, "above 0 but got 'x'"),
        ("compile smollm2-135m-tiny", 2, "--output-dir"),
        ("generate smollm2-135m-tiny --max-new-tokens 3", 2, "--prompt"),
        ("generate smollm2-135m-tiny --prompt a --max-new-tokens 0", 2, "above 0 but got '0'"),
        ("generate m --prompt-ids 1,x --max-new-tokens 3", 2, "token ids separated by commas"),
        ("generate m --prompt a --max-new-tokens 3 --top-k 5", 2, "--temperature"),
        ("generate m --prompt a --max-new-tokens 3 --device gpu", 2, "invalid choice: 'gpu'"),
        ("generate m --prompt a --max-new-tokens 3 --xclbin f", 2, "--xclbin needs --device xrt"),
        ("run d --inputs i --outputs o --xclbin f", 2, "--xclbin needs --device xrt"),
        ("generate m --prompt-ids 1 --chat --max-new-tokens 3", 2, "--chat needs --prompt"),
        ("evaluate m --tokens 8", 2, "--text"),
        ("evaluate m --text model.py --tokens 2 --json .", 1, "but '.' is a directory"),
        ("compare m", 2, "expected --prompt or --prompt-ids"),
        ("compare model.py:make --prompt a", 2, "leave --prompt and --prompt-ids out"),
        ("compare m --prompt-ids 1 --chat", 2, "--chat needs --prompt"),
        ("compare model.py:make --max-length 4", 2, "--max-length can only be asked for with a"),
        (
            "compile model.py:make --output-dir out --chunk 4 --random-weights 1",
            2,
            "--chunk, --random-weights can only be asked for with a language model",
        ),
        ("simulate out", 1, "unknown model 'out'"),
        ("simulate", 2, "MODEL|DIR"),
        ("simulate out --length 0", 2, "above 0 but got '0'"),
        ("tune out", 2, "invalid choice"),
        ("", 2, "COMMAND"),
    ],
)
def test_bad_arguments(run: Callable, arguments: str, code: int, part: str) -> None:
    got, out, err = run(*arguments.split())
    assert (got, out) == (code, "")
    assert part in err and "Traceback" not in err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "command",
    [
        "compile MODEL --output-dir out",
        "simulate MODEL",
        "generate MODEL --prompt-ids 1 --max-new-tokens 1",
        "evaluate MODEL --text model.py --tokens 2",
        "compare MODEL --prompt-ids 1",
    ],
    ids=lambda command: command.split()[0],
)
@pytest.mark.parametrize(
    ("model", "what"),
    [
        ("models/llama", "directory"),
        ("./llama", "directory"),
        ("llama.gguf", "file"),
        ("models/llama.gguf", "file"),
    ],
)
def test_paths_that_lead_nowhere(run: Callable, command: str, model: str, what: str) -> None:
    code, out, err = run(*command.replace("MODEL", model, 1).split())
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith(f"streamtensor: error: there is no {what} '{model}'; expected a check")
    assert "nothing is downloaded, or one of smollm2-135m," in line
    assert not Path("out").exists()


def test_a_reader_that_has_seen_enough() -> None:
    """As `streamtensor ... | head -0`: the pipe is closed before anything is written."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "streamtensor",
                "export",
                "model.py:make",
                "--output-dir",
                "out",
            ],
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "rror" not in done.stderr and "pipe" not in done.stderr
    assert Path("out/module.mlir").is_file()


def test_tools_that_are_not_built(run: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMTENSOR_BIN_DIR", str(Path.cwd()))
    code, _, err = run("run", "design", "--inputs", "a", "--outputs", "b")
    assert code == 1 and "there is no 'streamtensor-run' in" in err


def test_commands_begin_without_pytorch() -> None:
    """It takes seconds to import, and `--help` and wrong usage need none of it."""
    code = "import sys, streamtensor.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_generate_and_check(run: Callable) -> None:
    arguments = ["generate", "smollm2-135m-tiny", "--prompt", "Hello", "--max-new-tokens", 6]
    code, out, err = run(*arguments, "--check", "--json", "result.json", "--max-length", 32)
    assert code == 0, err
    # Each of the two designs of the stand-in takes 60 % of them.
    assert "need more than u55c has (estimated: lut 120 %)" in err
    lines = out.splitlines()
    assert lines[-1].startswith("tokens equal: 6/6; max abs logit error: ")
    result = json.loads(Path("result.json").read_text())
    assert result["prompt_ids"] == list(b"Hello")
    assert len(result["ids"]) == 6
    assert lines[:-1] == result["text"].splitlines()
    for key in ("tokens_per_second", "peak_rss_bytes", "macs", "dma_bytes"):
        assert result[key] > 0

    # The second run finds the compiled model; ids need no tokenizer.
    ids = ",".join(map(str, b"Hello"))
    code, out, err = run(
        "generate",
        "smollm2-135m-tiny",
        "--prompt-ids",
        ids,
        "--max-new-tokens",
        6,
        "--ignore-eos",
        "--json",
        "again.json",
        "--max-length",
        32,
    )
    assert code == 0 and "using the compiled model" in err
    assert json.loads(Path("again.json").read_text())["ids"] == result["ids"]

    code, out, err = run(*arguments[:2], "--prompt", "x" * 40, *arguments[4:], "--max-length", 32)
    assert code == 1 and out == "" and "compiled for 32" in err


def test_compile_leaves_nothing_when_a_tool_fails(run: Callable, fake_bin: Path) -> None:
    (fake_bin / "fail").write_text("pack")
    try:
        code, out, err = run(
            "compile", "smollm2-135m-tiny", "--output-dir", "out", "--max-length", 8
        )
    finally:
        (fake_bin / "fail").unlink()
    assert (code, out) == (1, "")
    assert "'streamtensor-pack' failed with exit code 1\nerror: the fake pack was asked" in err
    assert {path.name for path in Path.cwd().iterdir()} <= {"model.py", "__pycache__"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (
            "compile smollm2-135m-tiny --output-dir out --target u55",
            "error: expected another target",
        ),
        ("compile model.py:fails --output-dir out --target u55", "error: expected another target"),
        ("generate smollm2-135m-tiny --prompt-ids 1,9999999 --max-new-tokens 1", "but got 9999999"),
        ("compare smollm2-135m-tiny --prompt-ids 9999999", "but got 9999999 as id 0 of 1"),
    ],
)
def test_refused_before_anything_is_loaded(run: Callable, arguments: str, part: str) -> None:
    is_model = "smollm2" in arguments
    code, out, err = run(*arguments.split(), *(["--max-length=31"] if is_model else []))
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert part in line
    assert not Path("out").exists()


def test_version(run: Callable) -> None:
    assert run("--version") == (0, f"streamtensor {metadata.version('streamtensor')}\n", "")


def test_compile_of_a_module(run: Callable) -> None:
    code, out, _ = run("compile", "model.py:make", "--output-dir", "out")
    assert (code, out) == (0, str(Path.cwd() / "out/interface.json") + "\n")
    assert Path("out/export/module.mlir").is_file()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda n: n.name)
def test_interrupted_compile(number: signal.Signals) -> None:
    """A signal in the middle: exit code 1, one message, no directory."""
    process = subprocess.Popen(
        [sys.executable, "-m", "streamtensor", "compile", "smollm2-135m-tiny", "--output-dir", "o"],
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if "importing the layer" in line:
            break
    time.sleep(0.1)
    process.send_signal(number)
    err = process.stderr.read()
    assert process.wait(timeout=60) == 1
    assert "streamtensor: error: interrupted" in err and "Traceback" not in err
    assert {path.name for path in Path.cwd().iterdir()} <= {"model.py", "__pycache__"}


INTERRUPTED = """
import os, signal
import torch

def swallow():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except BaseException:
        pass
    return torch.nn.Linear(5, 3), (torch.randn(2, 5),)

def convert():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:
        raise ValueError("of a library") from error

class InTheForward(torch.nn.Module):
    def forward(self, x):
        os.kill(os.getpid(), signal.SIGTERM)
        return x + 1

def trace():
    return InTheForward(), (torch.randn(2, 5),)
"""


@pytest.mark.parametrize("factory", ["swallow", "convert", "trace"])
def test_signals_that_libraries_lose(factory: str) -> None:
    """One that is caught, one that becomes another error, and one with PyTorch on the stack."""
    Path("model.py").write_text(INTERRUPTED)
    command = [sys.executable, "-m", "streamtensor", "compile", f"model.py:{factory}"]
    command += ["--output-dir", "out"]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 1
    assert "streamtensor: error: interrupted" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
    assert {path.name for path in Path.cwd().iterdir()} <= {"model.py", "__pycache__"}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("checkpoint") / "my-llama"
    config = configs.config_of("tinyllama-1.1b-tiny")
    sources.random_model(config, 3).save_pretrained(directory)
    return directory


def test_checkpoint_directory(checkpoint: Path) -> None:
    source = sources.resolve(str(checkpoint), None)
    assert source.name == "my-llama"
    model = sources.load_model(source)
    stored = load_file(checkpoint / "model.safetensors")
    assert torch.equal(model.lm_head.weight, stored["lm_head.weight"])
    assert sources.load_tokenizer(source) is None


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda t: t.pop("model.norm.weight"), "it lacks model.norm.weight"),
        (lambda t: t.update(extra=torch.zeros(2)), "it has unknown extra"),
        (
            lambda t: t.update({"model.norm.weight": torch.zeros(3)}),
            "it has misshapen model.norm.weight",
        ),
    ],
)
def test_checkpoint_that_does_not_fit(
    run: Callable, checkpoint: Path, change: Callable, part: str
) -> None:
    broken = Path("broken")
    broken.mkdir()
    (broken / "config.json").write_bytes((checkpoint / "config.json").read_bytes())
    tensors = load_file(checkpoint / "model.safetensors")
    change(tensors)
    save_file(tensors, broken / "model.safetensors", metadata={"format": "pt"})
    code, _, err = run("compile", "broken", "--output-dir", "out")
    assert code == 1 and part in err and "Traceback" not in err
    assert not Path("out").exists()


def test_checkpoint_that_is_no_checkpoint(run: Callable) -> None:
    Path("bad.gguf").write_bytes(b"GGUF nonsense" * 10)
    code, _, err = run("compile", "bad.gguf", "--output-dir", "out")
    assert code == 1 and "'bad.gguf' is not a valid GGUF file" in err and "Traceback" not in err


def test_disk_that_is_full(run: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    from streamtensor import manifest

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(manifest, "write_safetensors", full)
    code, _, err = run("export", "model.py:make", "--output-dir", "out")
    assert code == 1 and "no space left on device" in err
    assert not Path("out").exists()
