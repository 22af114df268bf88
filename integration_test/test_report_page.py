"""streamtensor report: the page of a design and of a model, and the layout of its graph."""

from __future__ import annotations

import json
import random
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import ROOT
from design_runs import TOOLS_ARE_BUILT, compile_text

from streamtensor.cli import main
from streamtensor.report.charts import draw_timeline, step_path
from streamtensor.report.layout import lay_out

DATA = ROOT / "integration_test" / "data" / "linalg"
needs_tools = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")
# Elements of HTML and SVG that have no end.
VOID = {"meta"}


# --- the layout ------------------------------------------------------------------------


def test_layers_of_a_diamond() -> None:
    # `w` is read by `join` only, so it stands just in front of it.
    names = ["x", "w", "fork", "work", "join"]
    edges = [("x", "fork"), ("fork", "work"), ("fork", "join"), ("work", "join"), ("w", "join")]
    layout = lay_out(names, edges)
    layers = [[name for name in layer if name in names] for layer in layout.layers]
    assert [sorted(layer) for layer in layers] == [["x"], ["fork"], ["w", "work"], ["join"]]
    # The edge from `fork` to `join` passes the layer between.
    assert [len(route) for route in layout.routes] == [0, 0, 1, 0, 0]
    assert layout.routes[2][0] in layout.layers[2]


def test_circles_are_cut() -> None:
    layout = lay_out(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")])
    assert layout.layers == [["a"], ["b"], ["c"]]
    assert layout.routes == [[], [], [], []]


def test_nothing_to_lay_out() -> None:
    assert lay_out([], []).layers == []
    assert lay_out(["alone"], []).layers == [["alone"]]


def test_random_graphs_point_forward() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        names = [f"n{i}" for i in range(rng.randint(2, 30))]
        edges = [tuple(sorted(rng.sample(range(len(names)), 2))) for _ in range(40)]
        pairs = [(names[a], names[b]) for a, b in edges]
        layout = lay_out(names, pairs)
        layer = {name: i for i, layer in enumerate(layout.layers) for name in layer}
        assert set(names) <= set(layer)
        for (source, target), route in zip(pairs, layout.routes, strict=True):
            stops = [source, *route, target]
            assert [layer[stop] for stop in stops] == list(range(layer[source], layer[target] + 1))
        assert layout == lay_out(names, pairs)


def test_steps_are_areas() -> None:
    # Two parts of half height, one empty, one of full height on a floor of 4 of 10.
    assert step_path([0, 0, 0, 4], [5, 5, 0, 10]) == "M0 10h12v-5h-12zM18 6h6v-6h-6z"


def test_timeline_without_processes() -> None:
    assert "<svg" in draw_timeline({"part_cycles": 1.0, "tracks": []}, 3.3)


# --- the page --------------------------------------------------------------------------


class Checker(HTMLParser):
    """Checks that elements are closed in order, and collects what a page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_page(text: str) -> None:
    checker = Checker(text)
    assert not checker.tags & {"script", "link", "img", "iframe", "object"}
    assert all(link.startswith("#") for link in checker.links)
    assert "http" not in text and "url(" not in text and "@import" not in text
    assert "prefers-color-scheme: dark" in text
    assert len(text) < 1 << 20


@pytest.fixture(scope="module")
def designs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain of products, and a softmax."""
    directory = tmp_path_factory.mktemp("report")
    for name in ("matmul_chain", "softmax"):
        compiled = compile_text(DATA / f"{name}.mlir", directory / name)
        assert compiled.returncode == 0, compiled.stderr
    return directory


@needs_tools
def test_page_of_a_design(designs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = designs / "matmul_chain"
    assert main(["report", str(design)]) == 0
    path = design / "report.html"
    assert capsys.readouterr().out == f"{path}\n"
    text = path.read_text()
    check_page(text)
    report = json.loads((design / "report.json").read_text())
    for task in report["tasks"]:
        assert task["name"] in text
    for fifo in report["fifos"]:
        assert f"{fifo['name']}: {fifo['producer']} -&gt; {fifo['consumer']}" in text
    assert report["converters"] and report["converters"][0]["name"] in text
    # One box for each task, one line for each FIFO.
    graph = re.search(r'<svg class="graph".*?</svg>', text, re.S).group()
    assert graph.count("<rect") == len(report["tasks"])
    assert graph.count('class="fifo"') == len(report["fifos"])
    assert "verified: no deadlock" in text
    for title in ("Time line", "Roofline", "Memory of intermediates", "Resources"):
        assert f"<h3>{title}" in text
    assert 'class="label estimated"' in text and 'class="label simulated"' in text
    # Times of the compile alone are measured.
    assert text.count(">measured<") == 1
    # The same design, the same bytes.
    assert main(["report", str(design)]) == 0
    assert path.read_text() == text


@needs_tools
def test_a_new_compile_takes_the_page_away(designs: Path, tmp_path: Path) -> None:
    design = tmp_path / "design"
    for _ in range(2):
        compiled = compile_text(DATA / "softmax.mlir", design)
        assert compiled.returncode == 0, compiled.stderr
        assert not (design / "report.html").exists()
        assert main(["report", str(design)]) == 0


@needs_tools
def test_figures_of_synthesis_are_labelled(designs: Path, tmp_path: Path) -> None:
    """As --csynth leaves them in the report."""
    copy = tmp_path / "design"
    shutil.copytree(designs / "softmax", copy)
    report = json.loads((copy / "report.json").read_text())
    report["tasks"][1]["origin"] = "csynth"
    (copy / "report.json").write_text(json.dumps(report))
    assert main(["report", str(copy)]) == 0
    text = (copy / "report.html").read_text()
    assert 'class="label csynth"' in text and 'class="label estimated"' in text
    assert text.count("cycles (csynth)") == 1
    assert text.count("<td>csynth</td>") == 1


@needs_tools
def test_page_of_a_model(designs: Path, tmp_path: Path) -> None:
    """model.json names the designs; the page has all of them, in its order."""
    model = tmp_path / "model"
    model.mkdir()
    for name in ("matmul_chain", "softmax"):
        (model / name).symlink_to(designs / name)
    (model / "model.json").write_text(
        json.dumps(
            {
                "model": "two <designs>",
                "layer": {"design": "matmul_chain"},
                "head": {"design": "softmax"},
            }
        )
    )
    assert main(["report", str(model)]) == 0
    text = (model / "report.html").read_text()
    check_page(text)
    assert "<h1>two &lt;designs&gt;</h1>" in text
    assert text.index('id="matmul_chain"') < text.index('id="softmax"')
    assert text.count('<svg class="graph"') == 2


def test_what_is_no_design(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "expected a compiled design or model in" in error
    assert "interface.json" in error and "model.json" in error
    (tmp_path / "model.json").write_text("{}")
    assert main(["report", str(tmp_path)]) == 1
    assert "cannot be read (KeyError: 'layer')" in capsys.readouterr().err
