"""How tensors of GGUF files are named, from gguf itself."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator


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
