"""`torch.compile(model, backend="streamtensor")` and `streamtensor.compile` without a directory.

Everything is compared with PyTorch's eager mode, multiply-accumulates with PyTorch's own
count. Skipped as a whole where the C++ tools are not built.
"""

from __future__ import annotations

import copy
import importlib
import json
import os
import random
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT
from design_runs import BIN
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import streamtensor
from streamtensor.backend import design_cache, device, entry, large_products, splitting
from streamtensor.backend.listing import DEVICE, HOST, Listing
from streamtensor.backend.partitions import group_nodes
from streamtensor.models.sources import load_model, resolve

TOOLS_ARE_BUILT = all((BIN / f"streamtensor-{t}").is_file() for t in ("compile", "pack", "run"))
pytestmark = pytest.mark.skipif(not TOOLS_ARE_BUILT, reason="the C++ tools are not built")
FAMILIES = ("smollm2-135m", "gpt2-medium", "qwen2.5-0.5b", "tinyllama-1.1b", "gemma3-1b")


@pytest.fixture(scope="module", autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMTENSOR_BIN_DIR", str(BIN))
        patch.setenv("STREAMTENSOR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("STREAMTENSOR_CXXFLAGS", "-O1")
        yield


@pytest.fixture(autouse=True)
def listing() -> Iterator[Listing]:
    """The listing of one test alone, and random numbers of its own."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    streamtensor.explain().clear()
    with torch.no_grad():
        yield streamtensor.explain()


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STREAMTENSOR_CACHE_DIR", str(tmp_path))
    return tmp_path / "designs"


def on_device(function: Callable) -> Callable:
    return torch.compile(function, backend="streamtensor")


def assert_same(got: Any, want: Any) -> None:
    """Equal structure, types, sizes and strides; floats to 1e-5 of the largest value."""
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want)
        for one, other in zip(got, want, strict=True):
            assert_same(one, other)
    elif isinstance(want, torch.Tensor):
        kind = (got.shape, got.dtype, got.stride())
        assert kind == (want.shape, want.dtype, want.stride())
        if want.is_floating_point():
            allowed = 1e-5 * max(1.0, want.abs().max().item()) if want.numel() else 0.0
            assert not ((got - want).abs() > allowed).any()
        else:
            assert torch.equal(got, want)
    else:
        assert got == want


def compare(function: Callable, *inputs: Any) -> None:
    """Calls `function` on the device and in PyTorch, with inputs of their own, twice each."""
    compiled, mine, theirs = on_device(function), copy.deepcopy(inputs), copy.deepcopy(inputs)
    for _ in range(2):
        assert_same(compiled(*mine), function(*theirs))
        assert_same(list(mine), list(theirs))


class Decides(nn.Module):
    """A run-time `if` with a product on both sides."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return self.first(x)
        return self.second(x).relu()


def test_both_sides_of_an_if_run_on_the_device(listing: Listing) -> None:
    module = Decides()
    compiled = on_device(module)
    for x in (torch.ones(4, 8), -torch.ones(4, 8)):
        assert_same(compiled(x), module(x))
    sides = [part for part in listing.parts(DEVICE) if part.macs]
    assert [(part.path, part.macs, part.calls) for part in sides] == [
        ("first", 4 * 8 * 8, 1),
        ("second", 4 * 8 * 8, 1),
    ]
    assert "test_torch_compile.py" in listing.graphs[0].ends
    assert "ends at a graph break" in str(listing)


def test_what_cannot_be_compiled_runs_in_pytorch(listing: Listing) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, places = torch.sort(x @ x.t())
        return values.relu() @ x, places

    compare(function, torch.randn(4, 8))
    # Both products, 4x8x4 and 4x4x8.
    assert [part.macs for part in listing.parts(DEVICE)] == [128, 128]
    (host,) = listing.parts(HOST)
    assert host.operators == {"aten.sort": 1}
    assert "tm_tensor.sort" in host.why


def test_what_only_the_compiler_refuses_runs_in_pytorch(listing: Listing) -> None:
    compare(lambda x: ((x @ x.t()).argmax(-1), x @ x.t()), torch.randn(4, 8))
    (host,) = listing.parts(HOST)
    assert host.operators == {"aten.argmax": 1}
    assert "its reduction is no sum" in host.why
    # Asked again, the compiler's answer is known.
    torch._dynamo.reset()
    compare(lambda x: ((x @ x.t()).argmax(-1), x @ x.t()), torch.randn(4, 8))
    assert listing.parts(HOST)[1].why == host.why


class Stack(nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU()) for _ in range(layers)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + layer(x)
        return x


def test_repeated_layers_are_compiled_once(listing: Listing, fresh_cache: Path) -> None:
    module = Stack(5)
    compare(module, torch.randn(4, 8))
    parts = listing.parts(DEVICE)
    assert [part.state for part in parts] == ["compiled"] + 4 * ["reused"]
    assert [part.path for part in parts] == [f"layers.{index}" for index in range(5)]
    assert all(part.calls == 2 for part in parts)
    designs = [path for path in fresh_cache.iterdir() if path.is_dir()]
    assert len(designs) == listing.designs == 1
    assert "5 parts on the device with 1 design (1 compiled, 4 reused)" in str(listing)
    # Another process finds the design: what is compiled lies on disk.
    torch._dynamo.reset()
    compare(Stack(2), torch.randn(4, 8))
    assert [part.state for part in listing.parts(DEVICE)[5:]] == ["cached", "reused"]


def test_many_modules_of_one_class(fresh_cache: Path) -> None:
    """PyTorch counts the compiles of a class, and would run the ninth as it is."""
    for size in range(2, 12):
        module, x = nn.Sequential(nn.Linear(size, 4)), torch.randn(3, size)
        compiled = streamtensor.compile(module, (x,))
        assert len(compiled.explain().parts(DEVICE)) == 1, size
        assert_same(compiled(x), module(x))


def test_layers_of_different_sizes_are_one_design(listing: Listing) -> None:
    compare(nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 4), nn.Linear(4, 2)), torch.randn(3, 8))
    assert len(listing.parts()) == 1


class Head(nn.Module):
    """A norm and products with weights in both orders, with and without a bias."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.first = nn.LayerNorm(16), nn.Linear(16, 48)
        self.second, self.third = nn.Parameter(torch.randn(48, 40)), nn.Linear(40, 37, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.third(self.first(self.norm(x)) @ self.second)


def test_large_weights_are_cut(listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of 16x48, 48x40 and 40x37 floats: 3 and 8 equal shares, and 6, of which the last is smaller.
    monkeypatch.setattr(large_products, "MOST_BYTES", 1024)
    module = Head()
    compare(module, torch.randn(1, 5, 16))
    products = [part.macs for part in listing.parts(DEVICE) if part.macs]
    assert products == 3 * [5 * 16 * 16] + 8 * [5 * 48 * 5] + 5 * [5 * 40 * 7] + [5 * 40 * 2]
    assert listing.share_on_device == 1.0
    x = torch.randn(1, 5, 16)
    compiled = on_device(module)
    for _ in range(2):
        assert_same(compiled(x), module(x))
        module.third.weight.mul_(2)


def test_what_does_not_fit_is_made_smaller(listing: Listing) -> None:
    """Results of 5 MB cannot be summed up on chip at once."""
    compare(lambda x, weight: x @ weight, torch.randn(8, 4), torch.randn(4, 151936))
    assert listing.share_on_device == 1.0


def test_what_is_too_large_as_a_whole_is_halved(listing: Listing) -> None:
    """Sixteen products and softmaxes, no two of the same size, on the smallest device."""
    steps = [nn.Sequential(nn.Linear(n, n + 1), nn.Softmax(-1)) for n in range(16, 32)]
    module, x = nn.Sequential(*steps), torch.randn(4, 16)
    compiled = torch.compile(module, backend="streamtensor", options={"target": "kv260"})
    assert_same(compiled(x), module(x))
    parts = listing.parts(DEVICE)
    total = 4 * sum(n * (n + 1) for n in range(16, 32))
    assert len(parts) > 1
    assert sum(part.macs for part in parts) == total
    # About half each: no more than a product of the largest size from the middle.
    assert max(part.macs for part in parts) <= total / 2 + 4 * 31 * 32


def test_weights_stand_with_their_products(listing: Listing) -> None:
    """An embedding is scaled before the layers and its transpose is used behind them."""
    module = Stack(2)
    embedding = nn.Embedding(10, 8)

    def function(ids: torch.Tensor) -> torch.Tensor:
        return module(embedding(ids) * 2 + 1) @ embedding.weight.t()

    compare(function, torch.arange(4))
    assert [part.operators.get("aten.permute") for part in listing.parts(DEVICE)] == [1, 1, 1]


@pytest.mark.parametrize("family", FAMILIES)
def test_whole_model(family: str, listing: Listing) -> None:
    model = load_model(resolve(f"{family}-tiny", 0)).eval()
    ids = torch.randint(200, (1, 6))
    with FlopCounterMode(display=False) as counter:
        expected = model(ids, use_cache=False).logits
    assert_same(on_device(model)(ids, use_cache=False).logits, expected)
    assert listing.macs == counter.get_total_flops() // 2
    assert listing.share_on_device >= 0.99
    states = [part.state for part in listing.parts(DEVICE)]
    assert states == ["compiled", "reused", "compiled"]
    text = str(listing)
    assert len(text.splitlines()) <= 24
    assert max(map(len, text.splitlines())) <= 100


def test_with_a_cache(listing: Listing) -> None:
    """A model that hands out its keys and values: empty tensors, further results."""
    model = load_model(resolve("smollm2-135m-tiny", 0)).eval()
    ids = torch.randint(200, (1, 6))
    got, want = on_device(model)(ids), model(ids)
    assert_same(got.logits, want.logits)
    for mine, theirs in zip(got.past_key_values.layers, want.past_key_values.layers, strict=True):
        assert_same(mine.keys.contiguous(), theirs.keys.contiguous())
        assert_same(mine.values.contiguous(), theirs.values.contiguous())
    assert listing.share_on_device >= 0.99


def test_weights_are_read_at_each_call(listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    module = nn.Linear(8, 8)
    compiled = on_device(module)
    x = torch.randn(4, 8)
    packed = []
    run_tool = device.run_tool
    monkeypatch.setattr(device, "run_tool", lambda *a: packed.append(a) or run_tool(*a))
    changes: list[Callable[[], Any]] = [
        lambda: None,
        lambda: None,
        lambda: module.weight.mul_(2),
        # Rows swapped behind the back of version counters.
        lambda: module.weight.data.copy_(module.weight.data.flip(0)),
        lambda: module.load_state_dict({"weight": torch.randn(8, 8), "bias": torch.randn(8)}),
        lambda: setattr(module, "weight", nn.Parameter(torch.randn(8, 8))),
    ]
    for change in changes:
        change()
        assert_same(compiled(x), module(x))
    # Not for the call without a change. A new parameter object is a new graph for PyTorch.
    assert len(packed) == 5
    assert all(part.calls for part in listing.parts(DEVICE))


class Counts(nn.Module):
    """Writes into a buffer in each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return self.total * 2 + x.exp()


def test_state_of_the_model_changes_as_in_pytorch() -> None:
    module, other = Counts(), Counts()
    compiled = on_device(module)
    for _ in range(3):
        x = torch.randn(4, 8)
        assert_same(compiled(x), other(x))
    assert_same(module.total, other.total)


def writes_its_input(x: torch.Tensor) -> tuple:
    x.add_(1)
    y = x * 2
    y[0] = 3
    return y, x.view(-1), None, x


def returns_integers(x: torch.Tensor) -> tuple:
    return x * 2 + 1, x // 2, x == 3, (x % 3).sum(), x.float() @ torch.ones(4, 2)


def keeps_strides(x: torch.Tensor) -> list:
    return [x.t() * 2 + x.t().exp(), x.t()[1:].contiguous().view(-1), x.t()]


def overlaps(x: torch.Tensor) -> tuple:
    """Views whose elements share memory leave the device, and are read by the host."""
    wide = x.exp().expand(3, 4, 8)
    windows = (x * 2).unfold(1, 3, 2)
    return torch.sort(wide)[0], torch.sort(windows)[0], wide, windows


def masks(x: torch.Tensor) -> tuple:
    return torch.where(x > 0, x, -1.0), x.masked_fill(x > 0, 0.0)


def draws(x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(1)
    return nn.functional.dropout(x @ x.t(), 0.5, True)


def takes_places(x: torch.Tensor) -> tuple:
    return x[torch.tensor([2, 0, 1])] * 2 + 1, x[:, x.argmax(-1)].exp()


def is_double(x: torch.Tensor) -> torch.Tensor:
    return x.double() @ x.double().t()


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (writes_its_input, [torch.arange(32.0).view(4, 8)]),
        (returns_integers, [torch.arange(12).view(3, 4)]),
        (keeps_strides, [torch.arange(32.0).view(4, 8) / 32]),
        (overlaps, [torch.arange(32.0).view(4, 8) / 32]),
        (masks, [torch.arange(32.0).view(4, 8) - 10]),
        (draws, [torch.arange(32.0).view(4, 8)]),
        (takes_places, [torch.arange(12.0).view(3, 4)]),
        (is_double, [torch.arange(32.0).view(4, 8)]),
        (lambda x, factor: x * factor + 1, [torch.ones(4), 3]),
        (lambda x: x * 2, [torch.zeros(0, 8)]),
        (lambda: torch.ones(3) * 2, []),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_forms_of_functions(function: Callable, inputs: list) -> None:
    compare(function, *inputs)


def test_gradients_are_left_to_pytorch(listing: Listing, capfd: pytest.CaptureFixture) -> None:
    module = nn.Linear(8, 8)
    compiled = on_device(module)
    x = torch.randn(4, 8)
    with torch.enable_grad():
        for _ in range(2):
            compiled(x).sum().backward()
    # Of a sum over 4 rows, twice.
    assert_same(module.bias.grad, torch.full((8,), 8.0))
    assert capfd.readouterr().err.count("gradients are wanted") == 1
    assert [part.where for part in listing.parts()] == [HOST]
    assert_same(compiled(x), module(x))
    assert [part.where for part in listing.parts()] == [HOST, DEVICE]


def test_each_set_of_sizes_is_compiled(listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "MOST_SIZES", 2)
    module = nn.Linear(8, 8)
    compiled = on_device(module)
    for rows in (2, 3, 4, 5, 3, 5, 6):
        x = torch.randn(rows, 8)
        assert_same(compiled(x), module(x))
    # PyTorch makes the sizes after the first a variable: 2 is a graph, 3 and 4 are sizes
    # of the next one, 5 and 6 are too many.
    assert [part.macs for part in listing.parts(DEVICE)] == [2 * 64, 3 * 64, 4 * 64]
    assert [part.calls for part in listing.parts(DEVICE)] == [1, 2, 1]
    (host,) = listing.parts(HOST)
    assert "2 sets of sizes" in host.why


def test_a_design_that_fails_is_replaced_by_pytorch(
    listing: Listing, fresh_cache: Path, capfd: pytest.CaptureFixture
) -> None:
    module = nn.Linear(8, 8)
    compiled = on_device(module)
    x = torch.randn(4, 8)
    compiled(x)
    (design,) = (path for path in fresh_cache.iterdir() if path.is_dir())
    kernel = design / "hls" / "kernel.cpp"
    kernel.write_text(kernel.read_text() + "\n")
    assert_same(compiled(x), module(x))
    assert "is not the kernel that interface.json describes" in capfd.readouterr().err
    assert [part.where for part in listing.parts()] == [HOST]
    assert "its design failed" in str(listing)


def test_faults_of_ours_leave_the_graph_to_pytorch(
    listing: Listing, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr(splitting, "make_partition", fail)
    compare(lambda x: x @ x.t(), torch.randn(4, 8))
    assert capfd.readouterr().err.count("could not be split: KeyError: 'a fault'") == 1
    assert [(part.where, part.macs) for part in listing.parts()] == [(HOST, 4 * 8 * 4)]


def test_compile_returns_a_module() -> None:
    module = Decides().train()
    x = torch.ones(4, 8)
    compiled = streamtensor.compile(module, (x,), target="u280", precision="f32")
    assert isinstance(compiled, nn.Module)
    assert_same(compiled(x), module(x))
    assert_same(compiled(x=-x), module(-x))
    assert module.training
    with torch.enable_grad():
        assert not compiled(x).requires_grad
    assert list(compiled.state_dict()) == [f"module.{name}" for name in module.state_dict()]
    data = json.loads(json.dumps(compiled.explain().to_dict()))
    assert data["macs"] == data["macs_on_device"] == 2 * 4 * 8 * 8
    assert data["share_on_device"] == 1.0
    assert {part["where"] for graph in data["graphs"] for part in graph["parts"]} == {"device"}
    # It has a listing of its own.
    assert not streamtensor.explain().graphs


def test_refusals(monkeypatch: pytest.MonkeyPatch, fake_bin: Path) -> None:
    x = torch.randn(4, 8)
    options = {"target": "u55c", "precision": "f16"}
    for chosen, message in (
        (options, r"'f16' cannot be asked for here; use streamtensor.compile\(model, example_inp"),
        ({"precision": "w4a8"}, "precision='w4a8'.*, which converts a copy of the model"),
        ({"precision": "f8"}, "expected a precision of f32, .* but got 'f8'"),
        ({"board": "u55c"}, "expected options of the backend from .* but got 'board'"),
        ({"target": "u56c"}, "expected a target among .* but got 'u56c'"),
    ):
        torch._dynamo.reset()
        compiled = torch.compile(torch.relu, backend="streamtensor", options=chosen)
        with pytest.raises(Exception, match=message):
            compiled(x)
    with pytest.raises(Exception, match="expected no 'mode' for this backend"):
        torch.compile(torch.relu, backend="streamtensor", mode="max-autotune")(x)
    for refused, message in (
        (lambda: streamtensor.compile(torch.relu, (x,)), "expected a torch.nn.Module but got"),
        (lambda: streamtensor.compile("gpt2-medium-tiny"), "expected output_dir for the language"),
        (lambda: streamtensor.compile(nn.Linear(3, 3), (x,)), "fails on its example inputs"),
        (lambda: streamtensor.compile(nn.ReLU(), (x,), dynamic_shapes=()), "expected output_dir"),
    ):
        with pytest.raises(streamtensor.StreamTensorError, match=message):
            refused()
    # The stand-ins have no streamtensor-run: that is an error, not PyTorch's business.
    monkeypatch.setenv("STREAMTENSOR_BIN_DIR", str(fake_bin))
    with pytest.raises(Exception, match="there is no 'streamtensor-run'"):
        on_device(torch.relu)(x)


def test_entry_point() -> None:
    metadata = tomllib.loads((ROOT / "python" / "pyproject.toml").read_text())
    module, name = metadata["project"]["entry-points"]["torch_dynamo_backends"][
        "streamtensor"
    ].split(":")
    assert getattr(importlib.import_module(module), name) is entry.streamtensor
    assert "streamtensor" in torch.compiler.list_backends()


def test_the_cache_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design_cache, "MOST_DESIGNS", 2)
    hour = design_cache.KEPT_SECONDS
    for name, age in (
        (".a.partial-1", 2 * hour),
        ("a", 4 * hour),
        ("b", 3 * hour),
        ("c", 2 * hour),
        ("d", 0.5 * hour),
    ):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    (tmp_path / "e").mkdir()
    design_cache.prune(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "e"]
    monkeypatch.setattr(design_cache, "MOST_DESIGNS", 1)
    design_cache.prune(tmp_path)
    # More than are kept, but used within the hour.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "e"]


@pytest.mark.parametrize("seed", range(20))
def test_groups_have_no_cycle(seed: int) -> None:
    """Random graphs: every operator with a label is in one group, and groups can be ordered."""
    numbers = random.Random(seed)
    graph = torch.fx.Graph()
    nodes = [graph.placeholder("x")]
    labels: dict[torch.fx.Node, str | None] = {}
    for _ in range(30):
        sources = [numbers.choice(nodes[-6:]) for _ in range(numbers.randint(1, 2))]
        nodes.append(graph.call_function(torch.add, (sources[0], sources[-1])))
        labels[nodes[-1]] = numbers.choice(["a", "b", "", None])
    graph.output(nodes[-1])
    groups = group_nodes(graph, labels.get)
    grouped = [node for group in groups for node in group]
    assert sorted(grouped) == sorted(node for node, label in labels.items() if label is not None)
    assert all(len({labels[node] for node in group}) == 1 for group in groups)
    owner = {node: index for index, group in enumerate(groups) for node in group}
    owners = {node: owner.get(node, node) for node in graph.nodes}
    waiting = {
        each: {
            owners[source]
            for node in graph.nodes
            if owners[node] == each
            for source in node.all_input_nodes
        }
        - {each}
        for each in set(owners.values())
    }
    while waiting:
        ready = [each for each, sources in waiting.items() if not sources & waiting.keys()]
        assert ready, "the groups wait on each other"
        for each in ready:
            del waiting[each]
