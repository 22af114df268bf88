"""The timed network of a design is its code: the FIFO accesses that the C simulation
records are those of network.pn.json in program order. Layers of run-time size are in
test_runtime_sizes.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from design_runs import (
    TOOLS_ARE_BUILT,
    check_fifos,
    compile_text,
    network_accesses,
    recorded_accesses,
)
from safetensors.torch import load_file

DATA = ROOT / "integration_test" / "data" / "linalg"
pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("*.safetensors")))
def test_small_module(name: str, tmp_path: Path) -> None:
    design = tmp_path / "design"
    compiled = compile_text(DATA / f"{name}.mlir", design)
    assert compiled.returncode == 0, compiled.stderr
    check_fifos(design)
    tensors = load_file(DATA / f"{name}.safetensors")
    inputs = {key: value for key, value in tensors.items() if key.startswith("arg")}
    recorded = recorded_accesses(design, inputs)
    assert sum(len(accesses) for accesses in recorded.values()) > 0
    assert network_accesses(design) == recorded
