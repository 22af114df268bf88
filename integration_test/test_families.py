"""Families of language models that no code here names: one for each ingredient that others lack.

Each is a checkpoint directory with seeded random weights. The real tools compile it, C simulation
generates, and transformers has the expected tokens and logits. Skipped where the tools are not
built; what a change of a model would do to its logits is tested without them.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from changed_models import changed_logits
from conftest import ROOT

from streamtensor import StreamTensorError
from streamtensor.designs import MODEL_JSON
from streamtensor.importer.diagnosis import ADVICE, DEFAULT_ADVICE, NUMBER_ADVICE
from streamtensor.importer.lowering import lower
from streamtensor.models import sources
from streamtensor.models.compiler import CompileOptions, compile_model, layer_sizes
from streamtensor.models.host import load_host
from streamtensor.models.positions import check_positions
from streamtensor.models.recording import LayerStack
from streamtensor.models.split import ModelSplit
from streamtensor.models.steps import capture_layer
from streamtensor.precision import ROUNDING, Precision
from streamtensor.runtime.check import compare, logits_behind, reference_logits
from streamtensor.runtime.generation import Generator, ModelDescription
from streamtensor.runtime.model_operators import ModelOperators
from streamtensor.runtime.process import Runtime
from streamtensor.runtime.sampling import Sampler

BIN = Path(os.environ.get("STREAMTENSOR_BIN_DIR", ROOT / "build" / "bin"))
TOOLS = [BIN / f"streamtensor-{tool}" for tool in ("compile", "pack", "runtime")]
LENGTH, CHUNK = 24, 4
# Five tokens are a chunk and one more; the answer goes beyond Gemma 2's window.
PROMPT, NEW_TOKENS = [1, 2, 3, 4, 5], 8

SIZES = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "bos_token_id": None,
    "eos_token_id": 1,
    "pad_token_id": None,
}


def gpt_neox() -> Any:
    """Attention and MLP read the same hidden state; a quarter of each head is rotated."""
    return transformers.GPTNeoXConfig(**SIZES, rotary_pct=0.25)


def olmo2() -> Any:
    """Norms behind attention and MLP, and of whole queries and keys."""
    return transformers.Olmo2Config(**SIZES, num_key_value_heads=2)


def bloom() -> Any:
    """ALiBi: no positions but a bias of each key, by head; a norm of the embedding."""
    return transformers.BloomConfig(
        vocab_size=64, hidden_size=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=1
    )


def gemma2() -> Any:
    """Soft caps of scores and logits, two kinds of masks, four norms per layer."""
    return transformers.Gemma2Config(
        **SIZES,
        num_key_value_heads=2,
        head_dim=8,
        query_pre_attn_scalar=8,
        sliding_window=6,
        layer_types=["sliding_attention", "full_attention"],
        # Small enough to bend most scores and logits.
        attn_logit_softcapping=1.5,
        final_logit_softcapping=2.0,
    )


def smollm3() -> Any:
    """Some layers rotate nothing, the first one among them."""
    sizes = SIZES | {"pad_token_id": 0}
    return transformers.SmolLM3Config(**sizes, num_key_value_heads=2, no_rope_layers=[0, 1])


def phi3() -> Any:
    """Rotary frequencies of short prompts and of long ones: state that its module decides by."""
    return transformers.Phi3Config(
        **SIZES | {"pad_token_id": 0},
        original_max_position_embeddings=LENGTH,
        rope_parameters={
            "rope_type": "longrope",
            "rope_theta": 1e4,
            "short_factor": [1.0, 1.5, 2.0, 3.0],
            "long_factor": [4.0, 5.0, 6.0, 7.0],
        },
    )


def dynamic_rotary() -> Any:
    """Rotary frequencies that change where the positions of the configuration end."""
    sizes = SIZES | {"max_position_embeddings": LENGTH}
    rotary = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4}
    return transformers.LlamaConfig(**sizes, num_key_value_heads=2, rope_parameters=rotary)


FAMILIES = [gpt_neox, olmo2, bloom, gemma2, smollm3, phi3, dynamic_rotary]


@pytest.mark.parametrize("make", [phi3, dynamic_rotary], ids=lambda make: make.__name__)
def test_positions_end_where_frequencies_change(make: Callable) -> None:
    model = sources.random_model(make(), 3)
    with pytest.raises(StreamTensorError, match=f"from 2 to {LENGTH} "):
        ModelSplit(model, LENGTH + 1)


@dataclass
class Checkpoint:
    source: sources.ModelSource
    model: torch.nn.Module


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda make: make.__name__)
def checkpoint(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Checkpoint:
    directory = tmp_path_factory.mktemp("checkpoint") / request.param.__name__
    sources.random_model(request.param(), 3).save_pretrained(directory)
    source = sources.resolve(str(directory), None)
    return Checkpoint(source, sources.load_model(source))


@pytest.mark.skipif(not all(tool.is_file() for tool in TOOLS), reason="the C++ tools are not built")
def test_tokens_are_pytorchs(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMTENSOR_BIN_DIR", str(BIN))
    # Builds sooner; the simulation of so small a model takes no time.
    monkeypatch.setenv("STREAMTENSOR_CXXFLAGS", "-O1")
    directory = compile_model(
        checkpoint.source, tmp_path / "model", CompileOptions(max_length=LENGTH, chunk=CHUNK)
    )
    host = load_host(directory / "host")
    # All layers in one launch.
    assert json.loads((directory / MODEL_JSON).read_text())["layer"]["layers"] == "layers"
    with Runtime(directory) as runtime:
        generator = Generator(runtime, host.split, ModelDescription.read(directory))
        sampler = Sampler()
        generation = generator.generate(PROMPT, NEW_TOKENS, sampler, keep_logits=True)
        # A model that forgets what it has read gives something else.
        runtime.request("reset")
        last = [*PROMPT, *generation.ids][-2]
        position = len(PROMPT) + NEW_TOKENS - 2
        forgetful = generator.step([last], position, logits=1)[0]
    own = checkpoint.model.generate(
        torch.tensor([PROMPT]),
        max_new_tokens=NEW_TOKENS,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )
    assert generation.ids == own[0, len(PROMPT) :].tolist()
    reference = reference_logits(checkpoint.model, PROMPT, generation.ids)
    check = compare(generation, reference, sampler, Precision())
    assert check.equal == NEW_TOKENS
    assert check.max_error <= ROUNDING["f32"] * check.max_logit
    assert (forgetful - reference[-1]).abs().max() > 100 * ROUNDING["f32"] * check.max_logit
    # So does one that skips its last layer.
    values = json.loads((directory / MODEL_JSON).read_text())
    values["layers"].pop()
    (directory / MODEL_JSON).write_text(json.dumps(values))
    with Runtime(directory) as runtime:
        shallow = Generator(runtime, host.split, ModelDescription.read(directory)).prefill(PROMPT)
    assert (shallow - reference[0]).abs().max() > 100 * ROUNDING["f32"] * check.max_logit
    for design in ("layer", "head"):
        assert (directory / design / "certificate.json").is_file()
    # And nothing is found where nothing is wrong: the last token of the prompt, behind a past.
    operators = ModelOperators(directory, checkpoint.model, Precision())
    for name, comparison in operators.compare(PROMPT, CHUNK):
        assert not comparison.wrong, f"{name}: {comparison.wrong[0]}"
        assert comparison.compared >= 2, name


def test_every_part_shows_in_the_logits(checkpoint: Checkpoint) -> None:
    """A layer or its attention that went missing moves logits by far more than is allowed."""
    tokens = [*PROMPT, 6, 7, 8, 9]
    stack = LayerStack(checkpoint.model)
    whole = logits_behind(checkpoint.model, tokens)
    allowed = ROUNDING["f32"] * float(whole.abs().max())
    same = changed_logits(stack, tokens, lambda index: "")
    assert (same - whole).abs().max() <= allowed
    for index in range(2):
        for part in ("layer", "attention"):
            changed = changed_logits(
                stack, tokens, lambda i, index=index, part=part: part if i == index else ""
            )
            assert (changed[-1] - whole[-1]).abs().max() > 100 * allowed, (index, part)


def test_biases_of_keys() -> None:
    """ALiBi behind a past: slope * position of the key."""
    split = ModelSplit(sources.random_model(bloom(), 3).eval(), LENGTH)
    tokens = 3
    for position in (0, 5, LENGTH - tokens):
        bias = split.host_step([7] * tokens, position)["alibi.full_attention"]
        assert bias.shape == (4, 1, position + tokens)
        for head in range(4):
            # The paper's slopes of four heads: 2^-2, 2^-4, 2^-6, 2^-8.
            slope = 2.0 ** (-2 * (head + 1))
            for key in range(position + tokens):
                assert math.isclose(bias[head, 0, key], slope * key, rel_tol=1e-6)


def test_layers_that_do_without_a_tensor() -> None:
    """Cosines of 1 and sines of 0 rotate nothing, so one design serves both kinds of layers."""
    split = ModelSplit(sources.random_model(smollm3(), 3).eval(), LENGTH)
    own = split.host_step([1, 2], 3)
    program = capture_layer(split, 2, LENGTH - 2)
    cos, sin = "position_embeddings.0", "position_embeddings.1"
    assert split.fillings == {0: {cos: 1.0, sin: 0.0}}
    assert {cos, sin} <= set(program.hosts.values()), "captured where they are used"
    host = split.host_step([1, 2], 3)
    for path, value in ((cos, 1.0), (sin, 0.0)):
        assert (host[split.layer_hosts[0][path]] == value).all()
        assert torch.equal(host[split.layer_hosts[1][path]], own[split.layer_hosts[1][path]])


def test_layers_that_differ_and_ignore_a_tensor() -> None:
    """Where no constants help, the layer keeps its own tensors and is refused."""
    model = sources.random_model(smollm3(), 3).eval()
    # Layer 0 rotates nothing, and scales its scores otherwise.
    model.model.layers[0].self_attn.scaling *= 3.0
    split = ModelSplit(model, LENGTH)
    hosts = [dict(names) for names in split.layer_hosts]
    with pytest.raises(StreamTensorError, match=r"layer 0 of the model computes .* than layer 1"):
        capture_layer(split, 2, LENGTH - 2)
    assert split.fillings == {} and split.layer_hosts == hosts


def test_layers_that_count_rows_by_themselves() -> None:
    """Layers whose attention becomes weaker with each row that they see."""
    model = sources.random_model(gpt_neox(), 3).eval()

    def weaken(module: Any, args: Any, kwargs: Any, output: Any) -> Any:
        return (output[0] / kwargs["attention_mask"].shape[-1], *output[1:])

    for layer in model.gpt_neox.layers:
        layer.attention.register_forward_hook(weaken, with_kwargs=True)
    split = ModelSplit(model, LENGTH)
    with pytest.raises(StreamTensorError, match=r"layer 0 of the model computes something else on"):
        check_positions(split, [1])
    check_positions(ModelSplit(sources.random_model(gpt_neox(), 3).eval(), LENGTH), [1, CHUNK])


def test_layers_that_cut_their_own_masks() -> None:
    """GPT-Neo's layers cut a mask of their own at the number of rows, which no design can."""
    config = transformers.GPTNeoConfig(
        vocab_size=64,
        max_position_embeddings=64,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=6,
    )
    split = ModelSplit(sources.random_model(config, 3).eval(), LENGTH)
    sizes = layer_sizes(CompileOptions(max_length=LENGTH, chunk=CHUNK), split)
    with pytest.raises(
        StreamTensorError,
        match=r"modeling_gpt_neo.py:\d+ .* at an offset that is known at run time only; no option",
    ):
        capture_layer(split, *sizes)


def refusal(config: Any) -> str:
    model = sources.random_model(config, 3).eval()
    with pytest.raises(StreamTensorError) as caught:
        lower(capture_layer(ModelSplit(model, LENGTH), 2, LENGTH - 2).program)
    return str(caught.value)


def assert_for_owners(message: str) -> None:
    """Nobody who has a checkpoint edits the code of its model."""
    assert message.endswith("docs/language-models.md says which can be compiled")
    for advice in [text for _, text in ADVICE] + [NUMBER_ADVICE, DEFAULT_ADVICE]:
        assert advice not in message


def test_mixture_of_experts() -> None:
    """Every operator of the router and the experts, in one message."""
    config = transformers.MixtralConfig(**SIZES, num_key_value_heads=2, num_local_experts=4)
    message = refusal(config)
    operators = ("aten.topk", "aten.sort", "aten.histc", "transformers.grouped_mm_fallback")
    for part in operators:
        assert message.count(f"{part}.default at") == 1
    lines = message.splitlines()
    # A headline, a line for each operator, and what the owner of a checkpoint can do.
    assert lines[0] == f"{len(lines) - 2} unsupported operators"
    assert len({line.split(": ")[0] for line in lines[1:-1]}) == len(lines) - 2
    assert_for_owners(message)
    assert "(mlp.gate)" in message and "(mlp.experts)" in message


def test_layers_of_several_kinds() -> None:
    """States, attention and experts in one model: all of it is said at once."""
    message = refusal(
        transformers.JambaConfig(
            **SIZES | {"pad_token_id": 0},
            num_key_value_heads=2,
            num_experts=4,
            attn_layer_period=2,
            attn_layer_offset=1,
            expert_layer_period=2,
            expert_layer_offset=1,
            mamba_d_state=8,
            use_mamba_kernels=False,
        )
    )
    for part in (
        "no list of 2 equal layers",
        "layers 0 keep a state of fixed size",
        "2 kinds: JambaMambaDecoderLayer (such as layer 0), JambaAttentionDecoderLayer (such as",
        "aten.topk.default in model.layers.1.feed_forward.router\n",
        "aten.cumsum.default in model.layers.1.feed_forward.experts\n",
    ):
        assert part in message
    assert_for_owners(message)


def test_states_instead_of_a_cache() -> None:
    message = refusal(
        transformers.MambaConfig(vocab_size=64, hidden_size=32, state_size=8, num_hidden_layers=2)
    )
    assert "layers 0, 1 keep a state of fixed size instead of keys and values" in message
    assert_for_owners(message)


@pytest.mark.parametrize(
    "config",
    [
        # It counts positions by itself, from the first token of each call.
        transformers.BartConfig(
            vocab_size=64, d_model=32, decoder_layers=2, encoder_layers=2, decoder_attention_heads=4,
            decoder_ffn_dim=48, max_position_embeddings=64, is_decoder=True,
            is_encoder_decoder=False,
        ),
        # Its first position is the one behind that of the padding.
        transformers.RobertaConfig(
            vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=48, max_position_embeddings=64, pad_token_id=1, is_decoder=True,
        ),
    ],
    ids=["bart", "roberta"],
)  # fmt: skip
def test_models_that_count_positions_by_themselves(config: Any) -> None:
    model = sources.random_model(config, 3).eval()
    with pytest.raises(StreamTensorError) as caught:
        check_positions(ModelSplit(model, LENGTH), [1, CHUNK])
    message = str(caught.value)
    assert "makes another state of 1 tokens at position" in message
    assert "only models can be split whose forward takes position_ids" in message


def test_a_mask_that_hides_where_it_is_true() -> None:
    message = refusal(
        transformers.MptConfig(d_model=32, n_heads=4, n_layers=2, max_seq_len=64, vocab_size=64)
    )
    assert "boolean mask in which True hides a token" in message
