"""Small .gguf files of several families, written by gguf's own writer.

The names and orders of tensors are those of llama.cpp's converter
(https://github.com/ggml-org/llama.cpp/blob/master/convert_hf_to_gguf.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import gguf
import numpy
import torch
from transformers import (
    BloomConfig,
    GPT2Config,
    LlamaConfig,
    PretrainedConfig,
    Qwen2Config,
)

from streamtensor.models.sources import random_model

VOCABULARY = 64
HIDDEN = 64
HEADS = 4
KV_HEADS = 2
FEED_FORWARD = 96
LAYERS = 2
POSITIONS = 64

Order = Callable[[numpy.ndarray], numpy.ndarray]


def unchanged(values: numpy.ndarray) -> numpy.ndarray:
    return values


def rotary_pairs(heads: int) -> Order:
    """llama.cpp rotates neighbours, transformers the two halves of a head."""

    def order(values: numpy.ndarray) -> numpy.ndarray:
        pairs = values.reshape(heads, 2, -1, *values.shape[1:])
        return pairs.swapaxes(1, 2).reshape(values.shape)

    return order


def bloom_thirds(values: numpy.ndarray) -> numpy.ndarray:
    """transformers keeps q, k, v of a head together, llama.cpp all q, then all k, all v."""
    return values.reshape(HEADS, 3, HIDDEN // HEADS, -1).swapaxes(0, 1).reshape(values.shape)


@dataclass(frozen=True)
class Family:
    """A tiny model and where its tensors go: {parameter: (name in the file, order)}."""

    config: PretrainedConfig
    architecture: str
    tensors: dict[str, tuple[str, Order]]
    layer: dict[str, tuple[str, Order]]
    prefix: str
    # Parameters that transformers keeps as [in, out].
    transposed: tuple[str, ...] = ()
    numbers: dict[str, int | float] = field(default_factory=dict)

    def places(self) -> dict[str, tuple[str, Order]]:
        places = dict(self.tensors)
        for i in range(LAYERS):
            for name, (stored, order) in self.layer.items():
                places[f"{self.prefix}.{i}.{name}"] = (f"blk.{i}.{stored}", order)
        return places

    def is_transposed(self, name: str) -> bool:
        return name.endswith(self.transposed) if self.transposed else False


def plain(**names: str) -> dict[str, tuple[str, Order]]:
    return {name.replace("__", "."): (stored, unchanged) for name, stored in names.items()}


def gated(bias: bool, order: Callable[[int], Order]) -> dict[str, tuple[str, Order]]:
    """The layer that Llama and Qwen2 have in common."""
    layer = plain(
        input_layernorm__weight="attn_norm.weight",
        post_attention_layernorm__weight="ffn_norm.weight",
        self_attn__v_proj__weight="attn_v.weight",
        self_attn__o_proj__weight="attn_output.weight",
        mlp__gate_proj__weight="ffn_gate.weight",
        mlp__up_proj__weight="ffn_up.weight",
        mlp__down_proj__weight="ffn_down.weight",
    )
    layer["self_attn.q_proj.weight"] = ("attn_q.weight", order(HEADS))
    layer["self_attn.k_proj.weight"] = ("attn_k.weight", order(KV_HEADS))
    if bias:
        layer |= {f"self_attn.{x}_proj.bias": (f"attn_{x}.bias", unchanged) for x in "qkv"}
    return layer


SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
}
GATED_SIZES = SIZES | {
    "num_key_value_heads": KV_HEADS,
    "intermediate_size": FEED_FORWARD,
    "max_position_embeddings": POSITIONS,
}
GATED_NUMBERS = {
    "context_length": POSITIONS,
    "feed_forward_length": FEED_FORWARD,
    "attention.head_count_kv": KV_HEADS,
    "attention.layer_norm_rms_epsilon": 1e-6,
    "rope.freq_base": 10000.0,
    "vocab_size": VOCABULARY,
}
GATED_TENSORS = plain(model__embed_tokens__weight="token_embd.weight") | plain(
    model__norm__weight="output_norm.weight"
)

FAMILIES = {
    "llama": Family(
        LlamaConfig(**GATED_SIZES, tie_word_embeddings=False),
        "llama",
        GATED_TENSORS | plain(lm_head__weight="output.weight"),
        gated(False, rotary_pairs),
        "model.layers",
        numbers=GATED_NUMBERS | {"rope.dimension_count": HIDDEN // HEADS},
    ),
    "qwen2": Family(
        Qwen2Config(**GATED_SIZES, tie_word_embeddings=True),
        "qwen2",
        GATED_TENSORS,
        gated(True, lambda heads: unchanged),
        "model.layers",
        numbers=GATED_NUMBERS,
    ),
    "gpt2": Family(
        GPT2Config(vocab_size=VOCABULARY, n_embd=HIDDEN, n_layer=LAYERS, n_head=HEADS),
        "gpt2",
        plain(
            transformer__wte__weight="token_embd.weight",
            transformer__wpe__weight="position_embd.weight",
            transformer__ln_f__weight="output_norm.weight",
            transformer__ln_f__bias="output_norm.bias",
        ),
        plain(
            ln_1__weight="attn_norm.weight",
            ln_1__bias="attn_norm.bias",
            attn__c_attn__weight="attn_qkv.weight",
            attn__c_attn__bias="attn_qkv.bias",
            attn__c_proj__weight="attn_output.weight",
            attn__c_proj__bias="attn_output.bias",
            ln_2__weight="ffn_norm.weight",
            ln_2__bias="ffn_norm.bias",
            mlp__c_fc__weight="ffn_up.weight",
            mlp__c_fc__bias="ffn_up.bias",
            mlp__c_proj__weight="ffn_down.weight",
            mlp__c_proj__bias="ffn_down.bias",
        ),
        "transformer.h",
        ("c_attn.weight", "c_proj.weight", "c_fc.weight"),
        {"context_length": 1024, "feed_forward_length": 4 * HIDDEN},
    ),
    "bloom": Family(
        BloomConfig(vocab_size=VOCABULARY, hidden_size=HIDDEN, n_layer=LAYERS, n_head=HEADS),
        "bloom",
        plain(
            transformer__word_embeddings__weight="token_embd.weight",
            transformer__word_embeddings_layernorm__weight="token_embd_norm.weight",
            transformer__word_embeddings_layernorm__bias="token_embd_norm.bias",
            transformer__ln_f__weight="output_norm.weight",
            transformer__ln_f__bias="output_norm.bias",
        ),
        plain(
            input_layernorm__weight="attn_norm.weight",
            input_layernorm__bias="attn_norm.bias",
            self_attention__dense__weight="attn_output.weight",
            self_attention__dense__bias="attn_output.bias",
            post_attention_layernorm__weight="ffn_norm.weight",
            post_attention_layernorm__bias="ffn_norm.bias",
            mlp__dense_h_to_4h__weight="ffn_up.weight",
            mlp__dense_h_to_4h__bias="ffn_up.bias",
            mlp__dense_4h_to_h__weight="ffn_down.weight",
            mlp__dense_4h_to_h__bias="ffn_down.bias",
        )
        | {
            "self_attention.query_key_value.weight": ("attn_qkv.weight", bloom_thirds),
            "self_attention.query_key_value.bias": ("attn_qkv.bias", bloom_thirds),
        },
        "transformer.h",
        numbers={"context_length": POSITIONS, "vocab_size": VOCABULARY},
    ),
}


def write_gguf(
    path: Path,
    family: str,
    kind: str,
    seed: int = 0,
    more: dict[str, torch.Tensor] | None = None,
) -> dict[str, torch.Tensor]:
    """Writes a model whose matrices are of `kind` ("Q4_0", "Q4_1", "Q8_0", "F32").

    `more` are further tensors, by their names in the file.

    Returns {parameter: values as gguf itself dequantizes them, in transformers' order}, the
    matrices only and always as [out, in].
    """
    model = FAMILIES[family]
    writer = gguf.GGUFWriter(str(path), model.architecture)
    writer.add_name(family)
    # transformers takes the vocabulary's size of some families from here.
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([f"t{i}" for i in range(VOCABULARY)])
    numbers = {"block_count": LAYERS, "embedding_length": HIDDEN, "attention.head_count": HEADS}
    if "attention.layer_norm_rms_epsilon" not in model.numbers:
        numbers["attention.layer_norm_epsilon"] = 1e-5
    for key, number in (numbers | model.numbers).items():
        add = writer.add_uint32 if isinstance(number, int) else writer.add_float32
        add(f"{model.architecture}.{key}", number)
    state = random_model(model.config, seed).state_dict()
    matrices = {}
    quantized = gguf.GGMLQuantizationType[kind]
    for name, (stored, order) in model.places().items():
        values = state[name].float().numpy()
        if values.ndim == 1 or kind == "F32":
            values = values.T if model.is_transposed(name) else values
            writer.add_tensor(stored, numpy.ascontiguousarray(order(values)))
            continue
        values = numpy.ascontiguousarray(values.T if model.is_transposed(name) else values)
        blocks = gguf.quants.quantize(values, quantized)
        matrices[name] = torch.from_numpy(gguf.quants.dequantize(blocks, quantized))
        blocks = order(blocks)
        writer.add_tensor(stored, numpy.ascontiguousarray(blocks), raw_dtype=quantized)
    for name, tensor in (more or {}).items():
        writer.add_tensor(name, tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return matrices
