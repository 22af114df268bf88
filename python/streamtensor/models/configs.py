"""The known models: their configurations, and small ones of the same kind.

The figures are those of the published configurations. A `-tiny` model keeps the
family, the ratio of query to key/value heads and what is peculiar to the family
(Gemma's head size that is no quotient, its two kinds of layers); its vocabulary is
that of the byte tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamtensor.models.tokenizer import BYTE_EOS, BYTE_VOCABULARY

TINY = "-tiny"
GGUF_MODEL = "smollm2-135m"


def smollm2() -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=8192,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=2,
        rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
    )


def gpt2_medium() -> Any:
    from transformers import GPT2Config

    return GPT2Config(vocab_size=50257, n_positions=1024, n_embd=1024, n_layer=24, n_head=16)


def qwen2_5() -> Any:
    from transformers import Qwen2Config

    return Qwen2Config(
        vocab_size=151936,
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=24,
        num_attention_heads=14,
        num_key_value_heads=2,
        max_position_embeddings=32768,
        rms_norm_eps=1e-6,
        tie_word_embeddings=True,
        bos_token_id=151643,
        eos_token_id=151645,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
    )


def tinyllama() -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=32000,
        hidden_size=2048,
        intermediate_size=5632,
        num_hidden_layers=22,
        num_attention_heads=32,
        num_key_value_heads=4,
        max_position_embeddings=2048,
        rms_norm_eps=1e-5,
        tie_word_embeddings=False,
        bos_token_id=1,
        eos_token_id=2,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    )


def gemma3() -> Any:
    from transformers import Gemma3TextConfig

    return Gemma3TextConfig(
        vocab_size=262144,
        hidden_size=1152,
        intermediate_size=6912,
        num_hidden_layers=26,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=256,
        max_position_embeddings=32768,
        query_pre_attn_scalar=256,
        sliding_window=512,
        bos_token_id=2,
        eos_token_id=1,
    )


CONFIGS: dict[str, Callable[[], Any]] = {
    GGUF_MODEL: smollm2,
    "gpt2-medium": gpt2_medium,
    "qwen2.5-0.5b": qwen2_5,
    "tinyllama-1.1b": tinyllama,
    "gemma3-1b": gemma3,
}

# What a -tiny model changes; everything else is as in the full size.
TINY_CHANGES: dict[str, dict[str, Any]] = {
    GGUF_MODEL: {
        "hidden_size": 48,
        "intermediate_size": 128,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "head_dim": 8,
    },
    "gpt2-medium": {"n_embd": 64, "n_head": 4},
    "qwen2.5-0.5b": {
        "hidden_size": 56,
        "intermediate_size": 304,
        "num_attention_heads": 7,
        "num_key_value_heads": 1,
        "head_dim": 8,
    },
    "tinyllama-1.1b": {
        "hidden_size": 64,
        "intermediate_size": 176,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "head_dim": 8,
    },
    "gemma3-1b": {
        "hidden_size": 64,
        "intermediate_size": 192,
        "head_dim": 32,
        "query_pre_attn_scalar": 32,
        "sliding_window": 24,
        "layer_types": ["sliding_attention", "full_attention"],
    },
}


def known_names() -> list[str]:
    return [*CONFIGS, *(name + TINY for name in CONFIGS)]


def config_of(name: str) -> Any:
    """Returns the configuration of a known model; `name` must be one of `known_names`."""
    if not name.endswith(TINY):
        return CONFIGS[name]()
    base = name.removesuffix(TINY)
    full = CONFIGS[base]()
    values = full.to_dict()
    for derived in ("layer_types", "head_dim"):
        values.pop(derived, None)
    layers = "n_layer" if "n_layer" in values else "num_hidden_layers"
    values |= {layers: 2, "vocab_size": BYTE_VOCABULARY}
    values |= {"bos_token_id": None, "eos_token_id": BYTE_EOS, "pad_token_id": None}
    values |= TINY_CHANGES[base]
    return type(full).from_dict(values)
