"""Splitting language models: masks, rotary tables, and generation equal to the model's own.

The expected tokens and logits come from transformers: the whole model, its own cache,
its own masks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fake_tools
import pytest
import torch

from streamtensor import StreamTensorError
from streamtensor.models import configs, sources, steps
from streamtensor.models.masks import MaskTable
from streamtensor.models.recording import LayerStack
from streamtensor.models.split import ModelSplit
from streamtensor.precision import Precision
from streamtensor.runtime.check import compare, reference_logits
from streamtensor.runtime.generation import Generator, ModelDescription
from streamtensor.runtime.sampling import Sampler

MAX_LENGTH = 64
CHUNK = 16
TINY = [name for name in configs.known_names() if name.endswith("-tiny")]
# float32 against float32, other orders of summation; the logits are of size 1 to 5.
ERROR = 1e-5


@dataclass
class Compiled:
    """A tiny model, compiled with the stand-ins for the C++ tools."""

    model: torch.nn.Module
    split: ModelSplit
    directory: Path


class InProcess:
    """The stand-in runtime without a process and pipes."""

    def __init__(self, directory: Path) -> None:
        self.fake = fake_tools.FakeRuntime(directory)

    def request(self, op: str, tensors: Any = None, **fields: Any) -> tuple[dict, dict]:
        return self.fake.answer({"op": op, **fields}, tensors or {})


def run_fake_tool(name: str, arguments: list) -> str:
    """Stands in for `toolchain.run_tool`."""
    import contextlib
    import io

    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        tool = {
            "streamtensor-compile": fake_tools.compile_design,
            "streamtensor-pack": fake_tools.pack,
        }
        tool[name]([str(argument) for argument in arguments])
    return output.getvalue()


@pytest.fixture(scope="module", params=TINY)
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    from streamtensor.models import compiler

    source = sources.resolve(request.param, None)
    directory = tmp_path_factory.mktemp("model") / request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "run_tool", run_fake_tool)
        options = compiler.CompileOptions(max_length=MAX_LENGTH, chunk=CHUNK)
        compiler.compile_model(source, directory, options)
    model = sources.load_model(source)
    return Compiled(model, ModelSplit(model, MAX_LENGTH), directory)


@pytest.fixture(scope="module")
def generator(compiled: Compiled) -> Generator:
    from streamtensor.models.host import load_host

    host = load_host(compiled.directory / "host")
    description = ModelDescription.read(compiled.directory)
    return Generator(InProcess(compiled.directory), host.split, description)


# Parts of a chunk, whole ones, whole ones and a part.
@pytest.mark.parametrize("length", [1, 2, 16, 17, 37])
def test_generation_equals_the_models_own(
    compiled: Compiled, generator: Generator, length: int
) -> None:
    prompt = torch.randint(0, 288, (length,), generator=torch.Generator().manual_seed(length))
    sampler = Sampler()
    generation = generator.generate(prompt.tolist(), 20, sampler, keep_logits=True)
    own = compiled.model.generate(
        prompt[None], max_new_tokens=20, do_sample=False, eos_token_id=None, pad_token_id=0
    )
    assert generation.ids == own[0, length:].tolist()
    reference = reference_logits(compiled.model, prompt.tolist(), generation.ids)
    check = compare(generation, reference, sampler, Precision())
    assert check.equal == check.total == 20
    assert check.max_error <= ERROR


def test_prompt_up_to_the_last_position(compiled: Compiled, generator: Generator) -> None:
    prompt = [token % 251 for token in range(7, 7 + MAX_LENGTH)]
    generation = generator.generate(prompt, 1, Sampler(), keep_logits=True)
    reference = reference_logits(compiled.model, prompt, generation.ids)
    assert (generation.logits[0] - reference[0]).abs().max() <= ERROR


def test_too_long_a_prompt(generator: Generator) -> None:
    with pytest.raises(StreamTensorError, match=r"need 65 positions but .* compiled for 64"):
        generator.generate([1] * 60, 6, Sampler())
    with pytest.raises(StreamTensorError, match="from 0 to 287 but got 288"):
        generator.generate([1, 288], 6, Sampler())


def test_host_loads_without_layers(compiled: Compiled, generator: Generator) -> None:
    """The host's share alone gives bit for bit what the whole model gives its layers."""
    host = generator.split
    assert any(p.is_meta for p in host.stack.layers[0].parameters())
    ids = [5, 6, 7]
    expected = compiled.split.host_step(ids, 30)
    got = host.host_step(ids, 30)
    assert expected.keys() == got.keys()
    for name, value in expected.items():
        assert torch.equal(got[name], value), name


def test_one_program_for_all_layers(compiled: Compiled) -> None:
    """The text of each layer is the same, so that one design serves all of them."""
    from streamtensor.importer.lowering import lower
    from streamtensor.importer.program import capture

    examples = steps.LayerExamples(compiled.split, 1, MAX_LENGTH - 1)
    texts = set()
    for index in range(len(compiled.split.stack.layers)):
        step = examples.step(index)
        program = capture(
            step,
            examples.inputs(step, index),
            function="layer",
            prefix="layer",
            drop_dead_inputs=True,
        )
        texts.add(lower(program))
    assert len(texts) == 1


def test_manifest_of_a_layer(compiled: Compiled) -> None:
    import json

    exported = compiled.directory / "export" / "layer"
    dims = json.loads((exported / "module.dims.json").read_text())
    assert dims["max"] == {"tokens": CHUNK, "past": MAX_LENGTH - 1}
    manifest = json.loads((exported / "manifest.json").read_text())
    roles = [entry["role"] for entry in manifest["arguments"]]
    assert roles.count("cache") == 2 and roles.count("mask") == 1 and roles.count("input") == 1
    for entry in manifest["arguments"]:
        if entry["role"] == "cache":
            # Known at run time: up to all positions but that of a new token.
            assert entry["shape"][2] == -1
            assert entry["buffer_shape"][2] == MAX_LENGTH


def allowed(query: int, key: int, window: int | None) -> bool:
    """Causal attention, in a window of that many tokens where there is one."""
    return key <= query and (window is None or query - key < window)


def test_masks_by_enumeration() -> None:
    """Gemma's two masks: every entry against the definition, for chunks and single tokens."""
    model = sources.load_model(sources.resolve("gemma3-1b-tiny", None))
    split = ModelSplit(model, MAX_LENGTH)
    window = model.config.sliding_window
    assert window < MAX_LENGTH, "the window must cut something off"
    names = {"mask.full_attention": None, "mask.sliding_attention": window}
    assert set(split.masks) == set(names)
    lowest = torch.finfo(torch.float32).min
    for name, width in names.items():
        for tokens in (1, CHUNK):
            for position in range(MAX_LENGTH - tokens + 1):
                mask = split.masks[name].at(position, tokens)
                assert mask.shape == (1, 1, tokens, position + tokens)
                expected = torch.full((tokens, position + tokens), lowest)
                for row in range(tokens):
                    for key in range(position + tokens):
                        if allowed(position + row, key, width):
                            expected[row, key] = 0.0
                assert torch.equal(mask[0, 0], expected), (name, tokens, position)
                assert (mask.max(dim=-1).values == 0).all(), "no row is masked as a whole"


def test_masks_must_be_causal() -> None:
    table = torch.zeros(1, 1, 4, 4)
    table[0, 0, 2, 2] = torch.finfo(torch.float32).min
    with pytest.raises(StreamTensorError, match="masks a token from itself"):
        MaskTable(table)
    hides = torch.ones(1, 1, 4, 4, dtype=torch.bool).triu(1)
    with pytest.raises(StreamTensorError, match="boolean mask in which True hides a token"):
        MaskTable(hides)
    assert torch.equal(MaskTable(~hides).own < 0, hides)
    with pytest.raises(ValueError, match="do not fit"):
        MaskTable(torch.zeros(1, 1, 8, 8)).at(7, 2)


@pytest.mark.parametrize(
    ("name", "kind", "base"),
    [
        ("smollm2-135m-tiny", "full_attention", 100000.0),
        ("gemma3-1b-tiny", "full_attention", 1000000.0),
        ("gemma3-1b-tiny", "sliding_attention", 10000.0),
    ],
)
def test_rotary_tables(name: str, kind: str, base: float) -> None:
    """cos and sin of position / base^(2i/d), the d/2 angles twice in a row."""
    model = sources.load_model(sources.resolve(name, None))
    split = ModelSplit(model, MAX_LENGTH)
    size = model.config.head_dim
    host = split.host_step([1, 2, 3, 4], 11)
    for row, position in enumerate(range(11, 15)):
        for i in range(size):
            angle = position / base ** (2 * (i % (size // 2)) / size)
            assert math.isclose(host[f"cos.{kind}"][0, row, i], math.cos(angle), abs_tol=1e-6)
            assert math.isclose(host[f"sin.{kind}"][0, row, i], math.sin(angle), abs_tol=1e-6)


def test_layers_that_differ() -> None:
    """GPT-2 can scale the scores of layer i by 1/(i + 1): not one program for all layers."""
    config = configs.config_of("gpt2-medium-tiny")
    config.scale_attn_by_inverse_layer_idx = True
    split = ModelSplit(sources.random_model(config, 0).eval(), MAX_LENGTH)
    with pytest.raises(StreamTensorError, match="layer 1 of the model computes something else"):
        steps.capture_layer(split, 1, MAX_LENGTH - 1)


def test_model_that_fails_by_itself() -> None:
    """Rotary tables that do not fit the heads: PyTorch's own message, and whose it is."""
    model = sources.random_model(configs.config_of("smollm2-135m-tiny"), 0).eval()
    model.model.rotary_emb.inv_freq = torch.ones(3)
    with pytest.raises(
        StreamTensorError, match=r"LlamaForCausalLM fails in its own .* RuntimeError: The size"
    ):
        LayerStack(model)


def test_model_without_layers() -> None:
    config = configs.config_of("smollm2-135m-tiny")
    model = sources.random_model(config, 0)
    model.config.num_hidden_layers = 3
    with pytest.raises(StreamTensorError, match="no list of 3 equal layers"):
        LayerStack(model)


def test_more_positions_than_the_model_has() -> None:
    model = sources.load_model(sources.resolve("gpt2-medium-tiny", None))
    with pytest.raises(StreamTensorError, match=r"from 2 to 1024 .* but got 1025"):
        ModelSplit(model, 1025)
