"""How tensors of GGUF files are named and reordered, from gguf and transformers themselves."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from streamtensor.models.gguf_header import GgufArray, GgufHeader

if TYPE_CHECKING:
    import torch


@contextlib.contextmanager
def cached_name_maps() -> Iterator[None]:
    """Lets gguf make its map of tensor names once for all modules of a model.

    transformers asks for the same map again for each of hundreds of modules, which takes most of
    the time of loading.
    """
    import gguf

    original = gguf.get_tensor_name_map
    gguf.get_tensor_name_map = functools.cache(original)
    try:
        yield
    finally:
        gguf.get_tensor_name_map = original


def parameter_names(model: torch.nn.Module, processor: Any) -> dict[str, str]:
    """Returns the parameter of `model` for each name that a tensor of a file may have.

    `processor` is `processor_of` the file's header.
    """
    from transformers.modeling_gguf_pytorch_utils import get_gguf_hf_weights_map

    with cached_name_maps():
        return get_gguf_hf_weights_map(model, processor)


def processor_of(header: GgufHeader) -> Any:
    """Returns transformers' own object that reorders the tensors of an architecture."""
    from transformers.modeling_gguf_pytorch_utils import (
        GGUF_TO_TRANSFORMERS_MAPPING,
        TENSOR_PROCESSORS,
        TensorProcessor,
    )

    # Only what the file says: without its number of heads transformers reorders nothing.
    config = {}
    architecture = header.values["general.architecture"]
    for key, name in GGUF_TO_TRANSFORMERS_MAPPING["config"].get(architecture, {}).items():
        value = header.values.get(f"{architecture}.{key}")
        if name and value is not None and not isinstance(value, GgufArray):
            config[name] = value
    return TENSOR_PROCESSORS.get(architecture, TensorProcessor)(config=config)
