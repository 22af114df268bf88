"""Shared fixtures of the integration tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FAKE_TOOLS = HERE / "fake_tools.py"


@pytest.fixture(scope="session", autouse=True)
def few_threads() -> None:
    """Small tensors: more threads only cost, and other processes need the cores."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model_cache() -> Iterator[Path]:
    """Where models are compiled to with the real tools; they stay between test runs, keyed by the
    compiler's hash."""
    directory = ROOT / ".cache" / "integration-test"
    tools = os.environ.get("STREAMTENSOR_BIN_DIR") or str(ROOT / "build" / "bin")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMTENSOR_CACHE_DIR", str(directory))
        patch.setenv("STREAMTENSOR_BIN_DIR", tools)
        yield directory


@pytest.fixture(scope="session")
def fake_bin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with stand-ins for the C++ programs."""
    directory = tmp_path_factory.mktemp("bin")
    for tool in ("compile", "pack", "runtime"):
        path = directory / f"streamtensor-{tool}"
        path.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" "{FAKE_TOOLS}" {tool} "{directory}" "$@"\n'
        )
        path.chmod(0o755)
    return directory


@pytest.fixture
def streamtensor(
    fake_bin: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., subprocess.CompletedProcess]:
    """Runs the command `streamtensor` in a directory of its own, with the stand-ins."""
    cache = tmp_path_factory.getbasetemp() / "cache"

    def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess:
        environment = os.environ | {
            "STREAMTENSOR_BIN_DIR": str(fake_bin),
            "STREAMTENSOR_CACHE_DIR": str(cache),
            "OMP_NUM_THREADS": "1",
        }
        return subprocess.run(
            [sys.executable, "-m", "streamtensor", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment | changes,
            timeout=300,
        )

    return run
