"""The host program of a design, and the runtime's device of a board, without a board.

Both are built against XRT's own headers and library. Where they run, the library
build/lib/xrt-sim stands in for XRT's: a board that is the C simulation of the design, with
memory of its own in banks. PyTorch says what comes out.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT
from design_runs import (
    BIN,
    TOOLS_ARE_BUILT,
    Tensors,
    assert_equal,
    compile_text,
    run,
    same_bits,
    simulate,
)
from safetensors.torch import load_file, save_file

from streamtensor import export

SIMULATED_XRT = BIN.parent / "lib" / "xrt-sim"
HAS_XRT = (SIMULATED_XRT / "libxrt_coreutil.so.2").is_file()
pytestmark = [
    pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the tools are not built"),
    pytest.mark.skipif(not HAS_XRT, reason="XRT (Debian's libxrt-dev) is not installed"),
]

SIMULATION = os.environ | {
    "LD_LIBRARY_PATH": str(SIMULATED_XRT),
    "STREAMTENSOR_CXXFLAGS": "-O1",
}
NO_BOARD = {key: value for key, value in os.environ.items() if key != "XILINX_XRT"}


class Scaled(torch.nn.Module):
    """Weights that are packed, two inputs, two results."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(32, 24)
        self.register_buffer("scale", torch.arange(24.0))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.relu(self.linear(x)) + y * self.scale, (2 * x).sum(-1)


def make(design: Path, *targets: str) -> None:
    done = run("make", "-C", design, "CXX=g++ -Wall -Wextra -Werror", *targets)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The module, its inputs, and two designs of it: with packed weights and with inputs only."""
    folder = tmp_path_factory.mktemp("scaled")
    torch.manual_seed(7)
    module, inputs = Scaled(), (torch.randn(8, 32), torch.randn(8, 24))
    export(module, inputs, folder / "export", function="scaled")
    text, manifest = folder / "export/module.mlir", f"--manifest={folder}/export/manifest.json"
    bare = folder / "bare.mlir"
    bare.write_text(text.read_text())
    for name, source, options in (("weights", text, [manifest]), ("inputs", bare, [])):
        compiled = compile_text(source, folder / name, *options)
        assert compiled.returncode == 0, compiled.stderr
        make(folder / name, "host", "simulated-xclbin")
    with torch.no_grad():
        results = {f"result{i}": value for i, value in enumerate(module(*inputs))}
    return {"folder": folder, "module": module, "inputs": inputs, "results": results}


@pytest.fixture(scope="module")
def append(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A design with two sizes that are known at run time."""
    design = tmp_path_factory.mktemp("designs") / "append"
    compiled = compile_text(
        ROOT / "test/Target/Inputs/append.mlir", design, "--compile-from=allocated"
    )
    assert compiled.returncode == 0, compiled.stderr
    make(design, "host", "simulated-xclbin")
    return design


def host(design: Path, inputs: Tensors, *options: object, **changes: Any) -> tuple[Any, Path]:
    """Runs a host program on the simulated board; returns the process and the results' file."""
    source, results = design / "host.in", design / "host.out"
    results.unlink(missing_ok=True)
    save_file({name: value.contiguous() for name, value in inputs.items()}, source)
    command = [design / "host/host", "--inputs", source, "--outputs", results]
    where = ["--design", design, "--xclbin", design / "simulated.xclbin"]
    return run(*command, *where, *options, **{"env": SIMULATION, **changes}), results


def append_inputs(seq: int, past: int) -> Tensors:
    """Integers, whose sums and products are exact."""
    generator = torch.Generator().manual_seed(100 * seq + past)
    shapes = {"arg0": (seq, 4), "arg1": (past, 4)}
    return {
        name: torch.randint(-8, 9, shape, generator=generator).float()
        for name, shape in shapes.items()
    }


def scaled_inputs(scaled: dict[str, Any], design: str) -> Tensors:
    x, y = scaled["inputs"]
    if design == "weights":
        return {"arg3": x, "arg4": y}
    values = dict(scaled["module"].state_dict())
    weights = [values["linear.weight"], values["linear.bias"], values["scale"]]
    return {f"arg{i}": value for i, value in enumerate((*weights, x, y))}


@pytest.mark.parametrize("design", ["weights", "inputs"])
def test_results_equal_pytorch(scaled: dict[str, Any], design: str) -> None:
    """Weights packed by the compiler, and the same tensors packed by the host program."""
    folder, inputs = scaled["folder"] / design, scaled_inputs(scaled, design)
    done, results = host(folder, inputs)
    assert done.returncode == 0, done.stderr
    assert "ms, with the launch" in done.stderr
    got = load_file(results)
    assert_equal(got, scaled["results"])
    simulated, _ = simulate(folder, inputs)
    for name, value in simulated.items():
        assert same_bits(got[name], value), name


@pytest.mark.parametrize(("seq", "past"), [(8, 6), (0, 3), (5, 0), (3, 4), (1, 1)])
def test_every_length(append: Path, seq: int, past: int) -> None:
    inputs = append_inputs(seq, past)
    done, results = host(append, inputs)
    assert done.returncode == 0, done.stderr
    rows = 2 * torch.cat([inputs["arg1"], inputs["arg0"]])
    got = load_file(results)
    assert torch.equal(got["result0"], rows)
    assert torch.equal(got["result1"], inputs["arg0"] @ rows.T)


def test_the_runtimes_device(append: Path, tmp_path: Path) -> None:
    """streamtensor-run, whose very program would drive a board."""
    inputs = append_inputs(5, 2)
    source, results, counts = (tmp_path / name for name in ("in", "out", "json"))
    save_file(inputs, source)
    command = [BIN / "streamtensor-run", append, f"--inputs={source}", f"--outputs={results}"]
    executable = f"--xclbin={append}/simulated.xclbin"
    done = run(*command, f"--json={counts}", "--device=xrt", executable, env=SIMULATION)
    assert done.returncode == 0, done.stderr
    rows = 2 * torch.cat([inputs["arg1"], inputs["arg0"]])
    got = load_file(results)
    assert torch.equal(got["result0"], rows)
    assert torch.equal(got["result1"], inputs["arg0"] @ rows.T)
    assert '"macs": null' in counts.read_text()
    # Without a board: XRT itself says what is missing.
    done = run(*command, "--device=xrt", executable, env=NO_BOARD)
    assert done.returncode == 1
    assert "error: cannot open board 0: XILINX_XRT not set; run the setup.sh" in done.stderr
    done = run(*command, executable)
    assert done.returncode == 2 and "expected '--device xrt' with '--xclbin'" in done.stderr
    done = run(*command, "--device=gpu")
    assert done.returncode == 2 and "csim or xrt but got 'gpu'" in done.stderr


def test_without_a_board(append: Path) -> None:
    """The program that XRT's own library runs, not ours."""
    done, results = host(append, append_inputs(1, 1), env=NO_BOARD)
    assert done.returncode == 1 and not results.exists()
    assert "host: error: cannot open board 0: XILINX_XRT not set; run the setup.sh" in done.stderr
    done, _ = host(append, append_inputs(1, 1), "--board", 1)
    assert done.returncode == 1
    assert "cannot open board 1: Could not open device with index '1'" in done.stderr


def zeros(*shape: int) -> torch.Tensor:
    return torch.zeros(shape)


REFUSED: dict[str, tuple[Tensors, str]] = {
    "size": (
        {"arg0": zeros(9, 4), "arg1": zeros(1, 4)},
        "size 'seq': expected 0 to 8 but got 9",
    ),
    "shape": (
        {"arg0": zeros(3, 4), "arg1": zeros(1, 5)},
        "'arg1': expected F32 [1, 4] but got [1, 5]",
    ),
    "rank": (
        {"arg0": zeros(3, 4, 1), "arg1": zeros(1, 4)},
        "expected F32 with 2 dimensions but got F32 [3, 4, 1]",
    ),
    "type": (
        {"arg0": zeros(3, 4).half(), "arg1": zeros(1, 4)},
        "expected F32 with 2 dimensions but got F16 [3, 4]",
    ),
    "missing": ({"arg0": zeros(3, 4)}, "has no tensor 'arg1'"),
    "extra": (
        {"arg0": zeros(3, 4), "arg1": zeros(1, 4), "arg2": zeros(1)},
        "has a tensor 'arg2' but the design has no such input",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_inputs(append: Path, case: str) -> None:
    """Before the board is opened: there is none here."""
    inputs, message = REFUSED[case]
    done, results = host(append, inputs, env=NO_BOARD)
    assert done.returncode == 1 and not results.exists()
    assert message in done.stderr and "board" not in done.stderr


def spoil(path: Path, change: Callable[[bytes], bytes | None]) -> bytes:
    """Replaces a file by what `change` makes of it; returns what it was."""
    before = path.read_bytes()
    after = change(before)
    path.unlink()
    if after is not None:
        path.write_bytes(after)
    return before


def test_weights_that_do_not_fit(scaled: dict[str, Any]) -> None:
    folder, inputs = scaled["folder"] / "weights", scaled_inputs(scaled, "weights")
    weight = folder / "weights/arg0.bin"
    for change, message in (
        (lambda _: None, f"cannot read '{weight}': No such file or directory"),
        (lambda data: data[:-4], f"weight 'arg0' in '{weight}': expected 3072 bytes but got 3068"),
    ):
        before = spoil(weight, change)
        done, results = host(folder, inputs)
        weight.write_bytes(before)
        assert done.returncode == 1 and not results.exists()
        assert message in done.stderr


def test_files_that_are_something_else(append: Path, tmp_path: Path) -> None:
    done, _ = host(append, append_inputs(1, 1), "--xclbin", tmp_path)
    assert done.returncode == 2 and "expected '--xclbin' once" in done.stderr
    # An executable without its designs.
    moved = tmp_path / "moved.xclbin"
    moved.write_text((append / "simulated.xclbin").read_text())
    command = [append / "host/host", "--outputs", tmp_path / "out"]
    source = append / "host.in"
    done = run(*command, "--inputs", source, "--xclbin", moved, env=SIMULATION)
    assert done.returncode == 1
    assert f"cannot load kernel 'append' from '{moved}': " in done.stderr
    # One that was made before the kernel changed.
    stale = tmp_path / "stale.xclbin"
    stale.write_text(moved.read_text())
    stale.with_name("stale.xclbin.kernels").write_text("12ab append\n")
    done = run(*command, "--inputs", source, "--xclbin", stale, env=SIMULATION)
    digest = run("sha256sum", append / "hls/kernel.cpp").stdout.split()[0]
    assert done.returncode == 1
    assert f"another kernel.cpp: expected SHA-256 {digest} but got 12ab; make" in done.stderr
    for data, message in (
        (b"", "is no safetensors file: it has 0 bytes"),
        (b"\x08" + 7 * b"\0" + b'{"arg0":', "expected '{' at byte 8 of its header"),
        (b"\xff" * 16, "is no safetensors file: it has 16 bytes"),
    ):
        other = tmp_path / "other.safetensors"
        other.write_bytes(data)
        done = run(*command, "--inputs", other, env=NO_BOARD)
        assert done.returncode == 1 and message in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_vendor_flow(append: Path, tmp_path: Path) -> None:
    """What `make link` leaves for the checks above; a stand-in for v++ says what it is called by."""
    design = tmp_path / "append"
    subprocess.run(["cp", "-r", append, design], check=True)
    vendor = tmp_path / "v++"
    vendor.write_text('#!/bin/sh\necho "$@"\nfor file; do :; done\ntouch "$file"\n')
    vendor.chmod(0o755)
    done = run("make", "-C", design, "link", "PLATFORM=board", f"VPP={vendor}")
    assert done.returncode == 0, done.stderr
    assert "-l -t hw --platform board --config connectivity.cfg append.xo" in done.stdout
    digest = run("sha256sum", design / "hls/kernel.cpp").stdout.split()[0]
    assert (design / "append.xclbin.kernels").read_text() == f"{digest} append\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected the option '--inputs'"),
        (["--inputs"], "expected a value after '--inputs'"),
        (["--sizes", "1"], "unknown option '--sizes'"),
        (["--inputs", "a", "--outputs", "b", "--board", "x"], "a number after '--board'"),
    ],
)
def test_wrong_usage(append: Path, options: list[str], message: str) -> None:
    done = run(append / "host/host", *options, env=NO_BOARD)
    assert done.returncode == 2
    assert message in done.stderr and "usage: host --inputs" in done.stderr


def test_a_board_that_does_not_answer(append: Path, tmp_path: Path) -> None:
    """A kernel that waits for ever on a board is a timeout there."""
    design = tmp_path / "append"
    subprocess.run(["cp", "-r", append, design], check=True)
    kernel = design / "hls/kernel.cpp"
    text = kernel.read_text()
    # The first task passes on one row less than its reader waits for.
    changed = text.replace("< seq;", "< seq - 1;", 1)
    assert changed != text
    kernel.write_text(changed)
    digest = run("sha256sum", kernel).stdout.split()[0]
    interface = design / "interface.json"
    old = run("sha256sum", append / "hls/kernel.cpp").stdout.split()[0]
    interface.write_text(interface.read_text().replace(old, digest))
    done, results = host(design, append_inputs(3, 2), "--timeout-ms", 500)
    assert done.returncode == 1 and not results.exists()
    assert "the kernel did not end within 500 ms: state 8 of ert_cmd_state" in done.stderr
    assert "deadlock" in done.stderr
