"""report.json has every key that the design of the project promises.

`data/report_keys.txt` is that text, word for word: `name{...}` is an object, `name[{...}]` a list of
objects, `name: a|b` one of these words, `each: {...}` what all names before it hold.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from design_runs import TOOLS_ARE_BUILT, compile_text

DATA = ROOT / "integration_test" / "data"
PHASES = "normalized scheduled dataflow fused packed materialized vectorized allocated stream hls"
OPENING = {"{": "}", "[": "]"}
pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")


def parts(text: str) -> list[str]:
    """`text` at its commas, those in brackets aside."""
    result, depth = [""], 0
    for letter in text:
        depth += (letter in "{[") - (letter in "}]")
        if letter == "," and depth == 0:
            result.append("")
        else:
            result[-1] += letter
    return [part.strip() for part in result if part.strip()]


def missing(fields: str, value: Any, where: str) -> list[str]:
    """What `value` lacks of `fields`."""
    if not isinstance(value, dict):
        return [f"{where}: expected an object but got {value!r}"]
    faults = []
    names: list[str] = []
    for part in parts(fields):
        if part == "...":
            continue
        if part == "<phase>...":
            faults += [f"{where}.{name}" for name in PHASES.split() if name not in value]
            continue
        if part.startswith("each:"):
            inner = part.removeprefix("each:").strip()[1:-1]
            for name in names:
                faults += missing(inner, value.get(name), f"{where}.{name}")
            continue
        path, rest = re.fullmatch(r"([\w.]+)(.*)", part, re.S).groups()
        names.append(path)
        at, inner_value = f"{where}.{path}", value
        for name in path.split("."):
            if name not in inner_value:
                faults.append(at)
                break
            inner_value = inner_value[name]
        else:
            faults += missing_in(rest.strip(), inner_value, at)
    return faults


def missing_in(rest: str, value: Any, where: str) -> list[str]:
    if rest.startswith("{"):
        return missing(rest[1:-1], value, where)
    if rest.startswith("["):
        if not isinstance(value, list) or not value:
            return [f"{where}: expected some elements but got {value!r}"]
        element = rest[1:-1].strip()
        if not element:
            return []
        return [
            fault
            for index, item in enumerate(value)
            for fault in missing(element[1:-1], item, f"{where}[{index}]")
        ]
    if rest.startswith(":"):
        allowed = [word.strip().strip('"') for word in rest[1:].split("|")]
        return [] if value in allowed else [f"{where}: expected one of {allowed} but got {value!r}"]
    return []


def test_the_parser_finds_what_is_missing() -> None:
    fields = 'a{b, c[{d: x|y}]}, e{f, g, each: {h}}, i.j{k}, l: "m"'
    whole = {
        "a": {"b": 0, "c": [{"d": "x"}]},
        "e": {"f": {"h": 1}, "g": {"h": 2}},
        "i": {"j": {"k": None}},
        "l": "m",
    }
    assert missing(fields, whole, "") == []
    assert missing(fields, {}, "") == [".a", ".e", ".i.j", ".l"]
    whole["a"]["c"] = []
    whole["e"]["g"] = {}
    whole["l"] = "n"
    assert len(missing(fields, whole, "")) == 3


@pytest.mark.parametrize("name", ["matmul_chain", "softmax"])
def test_all_keys_are_there(name: str, tmp_path: Path) -> None:
    compiled = compile_text(DATA / "linalg" / f"{name}.mlir", tmp_path / "design")
    assert compiled.returncode == 0, compiled.stderr
    report = json.loads((tmp_path / "design" / "report.json").read_text())
    faults = []
    for line in (DATA / "report_keys.txt").read_text().splitlines():
        # A design need not have a converter.
        if not (line.startswith("converters") and report["converters"] == []):
            faults += missing(line, report, "report")
    assert faults == []
    if name == "matmul_chain":
        assert report["converters"]


def test_figures_are_labelled(tmp_path: Path) -> None:
    """Whatever is not counted of the design says what it is."""
    compiled = compile_text(DATA / "linalg" / "softmax.mlir", tmp_path / "design")
    assert compiled.returncode == 0, compiled.stderr
    report = json.loads((tmp_path / "design" / "report.json").read_text())
    for key in ("memory", "resources", "roofline"):
        assert report[key]["label"] == "estimated"
    assert report["simulation"]["label"] == "simulated"
    assert report["allocation"]["certificate"]["label"] == "simulated"
    assert {task["origin"] for task in report["tasks"]} == {"estimated"}
    assert "measured" not in json.dumps({k: v for k, v in report.items() if k != "compile"})
