"""Calls of the checker of certificates, and random designs for it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificate_designs import Design
from certificate_random import full_depths, random_network
from conftest import ROOT

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
CHECKER = BIN / "streamtensor-check-certificate"
NEEDS_CHECKER = pytest.mark.skipif(not CHECKER.is_file(), reason="the C++ tools are not built")


def check(*arguments: str | Path, text: str = "") -> subprocess.CompletedProcess:
    return subprocess.run(
        [CHECKER, *arguments], input=text, capture_output=True, text=True, timeout=300
    )


def check_many(directories: list[Path]) -> list[str]:
    """The verdict on each directory, from one process."""
    run = check("--batch", text="".join(f"{directory}\n" for directory in directories))
    assert run.returncode in (0, 1), run.stderr
    verdicts = [line.split(": ", 1) for line in run.stdout.splitlines()]
    assert [verdict[0] for verdict in verdicts] == [str(directory) for directory in directories]
    return [verdict[1] for verdict in verdicts]


def random_designs(
    first: int, last: int, wild: bool = False, exact: bool = False
) -> Iterator[Design]:
    for seed in range(first, last):
        made = random_network(seed, wild, exact)
        if made:
            network, segments = made
            yield Design(network, segments, full_depths=full_depths(network))
