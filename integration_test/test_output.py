"""Output directories: always one whole result, whoever writes at the same time."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamtensor import output
from streamtensor.output import exchange, replace_directory, staged_directory

# Writes numbered results, each of ten files, as fast as it can.
WRITER = """
import sys
from pathlib import Path
from streamtensor.output import staged_directory
for round in range(60):
    with staged_directory(Path("out"), ["0"]) as directory:
        for index in range(10):
            (directory / str(index)).write_text(f"{sys.argv[1]} {round}")
"""


def contents(directory: Path) -> set[str]:
    """The texts of all files of a result, which has ten."""
    # The names may be swapped between two files: what is open stays the same directory.
    handle = os.open(directory, os.O_RDONLY)
    try:
        texts = []
        for index in range(10):
            with open(
                str(index), opener=lambda name, flags: os.open(name, flags, dir_fd=handle)
            ) as f:
                texts.append(f.read())
        return set(texts)
    except FileNotFoundError:
        return set()  # An earlier result that is being removed.
    finally:
        os.close(handle)


def test_several_processes_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER]
    running = [
        subprocess.Popen([*command, str(i)], cwd=tmp_path, stderr=subprocess.PIPE) for i in range(3)
    ]
    out = tmp_path / "out"
    seen = set()
    while any(process.poll() is None for process in running):
        if seen:
            # Never missing again, and never of two results.
            assert out.is_dir()
        elif not out.is_dir():
            continue
        found = contents(out)
        assert len(found) <= 1
        seen |= found
    for process in running:
        assert process.wait() == 0, process.stderr.read()
        process.stderr.close()
    assert len(contents(out)) == 1 and len(seen) > 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("code", [0, errno.EINVAL])
def test_replacing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """With and without a file system that can swap names."""
    if code:

        class Library:
            def renameat2(self, *_: object) -> int:
                output.ctypes.set_errno(code)
                return -1

        monkeypatch.setattr(output.ctypes, "CDLL", lambda *_, **__: Library())
    for number in range(3):
        with staged_directory(tmp_path / "out", ["result"]) as directory:
            (directory / "result").write_text(str(number))
        assert (tmp_path / "out" / "result").read_text() == str(number)
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not exchange(tmp_path / "out", tmp_path / "missing")
    assert (tmp_path / "out" / "result").read_text() == "2"


def test_interrupted_while_replacing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with staged_directory(tmp_path / "out", ["result"]) as directory:
        (directory / "result").write_text("old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "exchange", interrupted)
    with (
        pytest.raises(KeyboardInterrupt),
        staged_directory(tmp_path / "out", ["result"]) as directory,
    ):
        (directory / "result").write_text("new")
    assert (tmp_path / "out" / "result").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# Two of these compile one model into one cache: the second one waits for the first.
COMPILER = """
import sys, time
from pathlib import Path
from streamtensor.models.compiler import CompileOptions
from streamtensor.models.sources import resolve
from streamtensor.output import staged_directory
from streamtensor.runtime import cache

def compile_model(source, directory, options):
    print("compiles", flush=True)
    with staged_directory(directory, ["model.json"]) as staging:
        time.sleep(1)
        (staging / "model.json").write_text("{}")

cache.compile_model = compile_model
cache.file_hash = cache.find_tool = lambda name: str(name)
print(cache.compiled_model(resolve("smollm2-135m-tiny", 1), CompileOptions()))
"""


def test_two_processes_fill_one_cache(tmp_path: Path) -> None:
    environment = os.environ | {"STREAMTENSOR_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COMPILER]
    running = [
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    results = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0], results
    outputs = [output for output, _ in results]
    assert sum(text.count("compiles") for text in outputs) == 1
    assert outputs[0].split()[-1] == outputs[1].split()[-1]


def test_what_a_kill_left_is_removed(tmp_path: Path) -> None:
    def leave(name: str, age: int) -> Path:
        path = tmp_path / f".out.partial-{name}"
        path.mkdir()
        (path / "result").write_text("half")
        os.utime(path, (time.time() - age,) * 2)
        return path

    left, fresh, used = leave("left", 100), leave("fresh", 10), leave("used", 100)
    handle = os.open(used, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with staged_directory(tmp_path / "out", ["result"]) as directory:
        (directory / "result").write_text("whole")
    os.close(handle)
    assert not left.exists() and fresh.exists() and used.exists()
    assert (tmp_path / "out" / "result").read_text() == "whole"


def test_a_missing_source(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        replace_directory(tmp_path / "none", tmp_path / "out")
