"""Certificates of designs that run many layers in one launch.

A network says what a layer does that has one before and one behind it: it takes
the hidden state from a FIFO and leaves it there. Judged by executing what the
kernel does, layer by layer, where the first takes it from memory and the last
leaves nothing: by the rules of docs/process-networks.md, without the checker.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from certificate_designs import (
    Design,
    Values,
    all_values,
    find_block_of,
    groups_of,
)
from test_certificates import check, check_many, fifo, pipeline

MOST_LAYERS = 4


def without(groups: list, accesses: set[tuple[str, int]]) -> list:
    kept = [[access for access in group if access not in accesses] for group in groups]
    return [group for group in kept if group]


def ends_with_layers(network: dict, values: Values, order: str, layers: int) -> bool:
    """Whether the kernel ends, and leaves no token."""
    carried = {i for i, f in enumerate(network["fifos"]) if f.get("carried")}
    queues = []
    for groups in groups_of(network, values, order):
        queue: list = []
        for layer in range(layers):
            skipped = {("read", i) for i in carried if layer == 0}
            skipped |= {("write", i) for i in carried if layer + 1 == layers}
            queue += without(groups, skipped)
        queues.append(queue)
    return find_block_of(network, [0] * len(network["fifos"]), queues) is None


def ends_always(network: dict) -> bool:
    return all(
        ends_with_layers(network, values, order, values["layers"])
        for values in all_values(network["parameters"])
        for order in ("program", "pipelined")
    )


def residual(rng: random.Random) -> Design:
    """A row is needed whole before the first of its elements is used again.

    `late` waits for the end of a layer before it takes the first token of it: what the
    layer leaves for the next one then must fit while nothing is taken.
    """
    width = rng.choice([2, 3])
    most = rng.choice([1, 2, 3])
    is_late = rng.random() < 0.5
    tokens = most * width
    processes = [
        {
            "name": "enter",
            "program": [pipeline(["tokens", width], {"read": 0}, {"write": 1, "stage": 1})],
        },
        {
            "name": "fork",
            "program": [pipeline(["tokens", width], {"read": 1}, {"write": 2}, {"write": 3})],
        },
        {
            "name": "sum",
            "program": [
                {
                    "loop": "tokens",
                    "overhead": 1,
                    "body": [pipeline([width], {"read": 2}), {"write": 4}],
                }
            ],
        },
        {
            "name": "add",
            "program": [
                {
                    "loop": "tokens",
                    "overhead": 1,
                    "body": [
                        {"read": 4},
                        {"wait": 1},
                        pipeline([width], {"read": 3}, {"write": 5, "stage": 2}),
                    ],
                }
            ],
        },
        {
            "name": "leave",
            "program": [
                pipeline(["tokens", width], {"read": 6 if is_late else 5}, {"write": 0}),
                *([{"wait": 1}, {"write": 7}] if is_late else []),
            ],
        },
    ]
    fifos = [
        fifo(
            "hidden",
            tokens + rng.choice([0, 0, 1, tokens - 1, tokens]),
            "leave",
            "enter",
            carried=True,
        ),
        fifo("in", rng.choice([1, 2, 5]), "enter", "fork"),
        fifo("first", rng.choice([1, 2]), "fork", "sum"),
        fifo("copy", rng.choice([width - 1, width, width, width + 1]), "fork", "add"),
        fifo("total", 2, "sum", "add"),
        fifo("out", rng.choice([1, 2, tokens]), "add", "late" if is_late else "leave"),
    ]
    if is_late:
        processes += [
            {"name": "other", "program": [pipeline(["tokens", width], {"write": 6})]},
            {
                "name": "late",
                "program": [{"read": 7}, {"wait": 1}, pipeline(["tokens", width], {"read": 5})],
            },
        ]
        fifos += [fifo("more", 2, "other", "leave"), fifo("done", 2, "leave", "late")]
    network = {
        "schema": 1,
        "repeat": "layers",
        "parameters": [
            {"name": "layers", "min": 1, "max": MOST_LAYERS},
            {"name": "tokens", "min": 1, "max": most},
        ],
        "processes": processes,
        "fifos": fifos,
    }
    # Whether one token less would do is not what is asked here.
    passing = {f["name"]: tokens for f in fifos} | {"total": most, "done": 1}
    full = {
        f["name"]: "deadlock" if f["depth"] == passing[f["name"]] and f.get("carried") else "delay"
        for f in fifos
        if f["depth"] > 2 and f["depth"] >= passing[f["name"]]
    }
    return Design(network, full_depths=full)


def test_what_is_verified_ends_with_any_number_of_layers(tmp_path: Path) -> None:
    rng = random.Random(0)
    designs = [residual(rng) for _ in range(120)]
    directories = [design.write(tmp_path / str(i)) for i, design in enumerate(designs)]
    ends = [ends_always(design.network) for design in designs]
    messages = check_many(directories)
    verdicts = [message.startswith("verified") for message in messages]
    for directory, end, verified, message in zip(
        directories, ends, verdicts, messages, strict=True
    ):
        assert end or not verified, f"{directory} is verified but does not end"
        # Nothing that ends is refused.
        assert verified == end, (directory, message)
    assert 20 <= sum(ends) <= 100


def test_layers_of_a_kernel_and_of_its_network_are_the_same(tmp_path: Path) -> None:
    """Of one seed that is verified; each change is refused with its reason."""
    rng = random.Random(1)
    design = next(d for d in (residual(rng) for _ in range(50)) if ends_always(d.network))
    run = check(design.write(tmp_path / "whole"))
    assert run.returncode == 0, run.stderr
    assert f"layers = 1..{MOST_LAYERS}" in run.stdout
    for text, change in CHANGES:
        design = next(d for d in (residual(rng) for _ in range(50)) if ends_always(d.network))
        change(design)
        run = check(design.write(tmp_path / "changed"))
        assert run.returncode == 1 and text in run.stderr, (text, run.stdout, run.stderr)


def shrink(design: Design) -> None:
    hidden = design.network["fifos"][0]
    width = design.network["processes"][0]["program"][0]["pipeline"][1]
    hidden["depth"] = design.network["parameters"][1]["max"] * width - 1
    design.__init__(design.network)


def forget(design: Design) -> None:
    design.kernel = design.kernel.replace("ST_FEEDBACK", "ST_FIFO")


def misname(design: Design) -> None:
    design.network["repeat"] = "layer"


def fill(design: Design) -> None:
    design.network["fifos"][0]["initial_tokens"] = 1


CHANGES = [
    ("all tokens that are carried to the next invocation", shrink),
    ("hls/kernel.cpp, ST_FEEDBACK: expected all fifos of the network but 'hidden'", forget),
    ("repeat: expected a parameter but got 'layer'", misname),
    ("expected neither initial tokens nor a control FIFO", fill),
]


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_execution_by_layers_sees_a_deadlock(layers: int) -> None:
    """What judges is judged: a FIFO that is too small deadlocks at any number of layers."""
    rng = random.Random(2)
    design = next(d for d in (residual(rng) for _ in range(50)) if ends_always(d.network))
    values = {"layers": layers, "tokens": design.network["parameters"][1]["max"]}
    assert ends_with_layers(design.network, values, "pipelined", layers)
    width = design.network["processes"][0]["program"][0]["pipeline"][1]
    design.network["fifos"][3]["depth"] = width - 1
    assert not ends_with_layers(design.network, values, "pipelined", layers)
