"""Random programs, and those that once failed: PyTorch, every phase, C simulation.

The expected values are PyTorch's (random_programs/check.py). `make fuzz N=...` runs
more seeds.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from random_programs import operations
from random_programs.check import Outcome, compile_program, simulate, tools
from random_programs.generate import fit, generate
from random_programs.program import Input, Program, Step
from random_programs.runner import Log, run_all
from random_programs.shrink import shrink

SEEDS = 100
REGRESSIONS = sorted((Path(__file__).parent / "random_programs" / "regressions").glob("*.json"))
# What has no streaming form, or none yet; any other refusal is a fault.
DOCUMENTED_REFUSALS = (
    # torch.flip: a token order counts upwards only.
    "it gathers elements by computed indices",
)
# And of programs of run-time size (docs/run-time-sizes.md).
SIZE_REFUSALS = (
    "sizes may decide about shapes only",
    "keep dimensions apart whose sizes are multiplied or divided",
    "where an inner dimension has a run-time size",
    "of known size",
    "below 0 for sizes of 0",
    "the dynamic dimensions cannot be kept",
    "computes a number from a run-time size",
)
built = pytest.mark.skipif(
    not (tools() / "streamtensor-compile").is_file(), reason="the C++ tools are not built"
)


@pytest.fixture(scope="module")
def programs() -> dict[str, Program]:
    found = {f"seed {seed}": generate(seed) for seed in range(SEEDS)}
    return found | {path.stem: Program.load(path) for path in REGRESSIONS}


@pytest.fixture(scope="module")
def outcomes(programs: dict[str, Program]) -> dict[str, Outcome]:
    """Everything in one go: a few builds of C++ for all programs."""
    return run_all(list(programs.items()), jobs=min(2, os.cpu_count() or 1))


def explain(name: str, outcome: Outcome) -> str:
    return f"{name}: {outcome.status} at {outcome.stage}: {outcome.message}"


@built
def test_random_programs_equal_pytorch(
    programs: dict[str, Program], outcomes: dict[str, Outcome]
) -> None:
    seeds = {name: outcome for name, outcome in outcomes.items() if name.startswith("seed")}
    faults = [explain(*item) for item in seeds.items() if item[1].is_fault]
    assert not faults, "\n".join(faults)
    refused = {name: explain(name, o) for name, o in seeds.items() if o.status == "refused"}
    sized = {name for name in seeds if programs[name].sizes}
    assert len(sized) >= SEEDS // 5
    unknown = [
        text
        for name, text in refused.items()
        if not any(known in text for known in DOCUMENTED_REFUSALS)
        and not (name in sized and any(known in text for known in SIZE_REFUSALS))
    ]
    assert not unknown, "\n".join(unknown)
    assert len(refused.keys() - sized) <= SEEDS // 50
    assert len(refused.keys() & sized) <= len(sized) // 3
    assert sum(outcome.simulated for outcome in seeds.values()) == SEEDS - len(refused)


@built
@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_regression(path: Path, outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes[path.stem]
    assert outcome.status == "ok" and outcome.simulated, explain(path.stem, outcome)


@built
def test_wrong_results_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself: PyTorch is made to expect something else than was exported."""
    program = Program([Input([2, 3])], [Step("neg", [0])], [1])
    case = compile_program(program, tmp_path)
    assert case.outcome.status == "ok", case.outcome.message
    case.runs = [(tensors, [value + 1e-3 for value in values]) for tensors, values in case.runs]
    simulate([case], tmp_path / "simulation")
    assert (case.outcome.status, case.outcome.stage) == ("wrong", "run")

    truth = operations.OPERATIONS["neg"].apply
    calls = []

    def lying(x):
        calls.append(x)
        return truth(x) + (1e-3 if len(calls) == 1 else 0)

    monkeypatch.setattr(operations.OPERATIONS["neg"], "apply", lying)
    case = compile_program(program, tmp_path / "lying")
    assert (case.outcome.status, case.outcome.stage) == ("wrong", "normalized")


def test_a_seed_gives_the_same_program() -> None:
    assert generate(7).to_json() == generate(7).to_json()
    assert Program.from_json(generate(7).to_json()) == generate(7)
    assert len({generate(seed).to_json() for seed in range(20)}) == 20


def test_every_operation_is_drawn() -> None:
    drawn = {step.op for seed in range(SEEDS) for step in generate(seed).steps}
    assert len(operations.OPERATIONS.keys() - drawn) <= len(operations.OPERATIONS) // 10


def test_shrinking_keeps_what_fails() -> None:
    """A fault of softmax of a transposed product shrinks to these three steps."""
    program = Program(
        inputs=[Input([4, 8]), Input([8, 5], "weight"), Input([5])],
        steps=[
            Step("relu", [0]),
            Step("matmul", [3, 1]),
            Step("transpose", [4], {"first": 0, "second": 1}),
            Step("softmax", [5], {"dim": 1}),
            Step("add", [4, 2]),
            Step("sum", [6], {"dim": [0], "keepdim": False}),
        ],
        results=[8, 7, 5],
    )

    def fails(candidate: Program) -> bool:
        names = [step.op for step in candidate.steps]
        return [name for name in names if name != "relu"][:3] == ["matmul", "transpose", "softmax"]

    small, _ = shrink(program, fails)
    assert [step.op for step in small.steps] == ["matmul", "transpose", "softmax"]
    assert len(small.results) == 1
    assert max(size for entry in small.inputs for size in entry.shape) <= 2
    assert fit(small)


def test_a_log_is_resumed(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    log.append(Outcome(3, "ok", simulated=True))
    log.append(Outcome(4, "wrong", "fused", "differs"))
    assert log.read()[4] == Outcome(4, "wrong", "fused", "differs")
    # Lines of another generator speak of other programs.
    log.version = "other"
    assert log.read() == {}
