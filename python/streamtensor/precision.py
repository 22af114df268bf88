"""The arithmetic that a design may have."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from streamtensor.errors import StreamTensorError, UsageError

if TYPE_CHECKING:
    import torch

# Of the integer precisions: the kind of GGUF block that float weights become.
BLOCKS = {"w8a8": "q8_0", "w4a8": "q4_1"}
CHANNELS = {"w8a8": "channel8", "w4a8": "channel4"}
# Names of PyTorch's types: it takes seconds to import, and the command line needs these names.
FLOATS = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}
PRECISIONS = (*FLOATS, *BLOCKS)
# How many activations share a scale: 32 along the reduction, or all of a token.
ACTIVATIONS = ("group", "token")
# How many weights share a scale: 32 along the reduction, or all of an output channel.
WEIGHTS = ("group", "channel")
# What keys and values are kept in: what layers make of them, or 16 bits.
CACHES = ("own", "f16")
# What a precision is asked for beside its name.
DETAILS = ("activations", "weights", "cache")
# The largest difference of two results, over the largest value, that rounding explains: of a
# whole model, and of one layer. Where activations are quantized, a sum that differs in its last
# place can fall on the other side of a half: one code of 127 changes, and with it what follows.
LAYER_ROUNDING = {"f32": 1e-4, "f16": 5e-3, "bf16": 4e-2, "w8a8": 5e-2, "w4a8": 5e-2}
ROUNDING = {"f32": 2e-4, "f16": 1e-2, "bf16": 5e-2, "w8a8": 5e-2, "w4a8": 5e-2}


@dataclass(frozen=True)
class Precision:
    """`name` is one of `PRECISIONS`; the others count where products are of integers."""

    name: str = "f32"
    activations: str = "group"
    weights: str = "group"
    cache: str = "own"

    def __post_init__(self) -> None:
        check_precision(self.name)
        if self.cache not in CACHES:
            raise StreamTensorError(
                f"expected the cache in {' or '.join(CACHES)} but got '{self.cache}'"
            )
        for what, chosen, known in (
            ("activations", self.activations, ACTIVATIONS),
            ("weights", self.weights, WEIGHTS),
        ):
            if chosen not in known:
                raise StreamTensorError(
                    f"expected {what} per {' or '.join(known)} but got '{chosen}'"
                )
            if chosen != "group" and not self.is_quantized:
                raise UsageError(
                    f"{what} per {chosen} only have a meaning with {' or '.join(BLOCKS)}, not "
                    f"with {self.name}; leave --{what} out or ask for such a --precision"
                )

    @property
    def cache_dtype(self) -> torch.dtype | None:
        """The type of the cache's rows, None for what the layers make."""
        return None if self.cache == "own" else float_type(self.cache)

    @property
    def layer_rounding(self) -> float:
        """The largest difference of a layer that rounding explains; see `LAYER_ROUNDING`."""
        kept = LAYER_ROUNDING["f32" if self.cache == "own" else self.cache]
        return max(LAYER_ROUNDING[self.name], kept)

    @property
    def has_steps(self) -> bool:
        """Whether something is rounded coarsely on the way, so that the last place of a sum can
        decide about more than the last place of a result."""
        return self.is_quantized or self.cache != "own"

    @property
    def is_quantized(self) -> bool:
        return self.name in BLOCKS

    @property
    def kind(self) -> str:
        """The kind of weights that floats become (see `quantized_weights.quantize`)."""
        return CHANNELS[self.name] if self.weights == "channel" else BLOCKS[self.name]

    @property
    def dtype(self) -> torch.dtype:
        """The type of what is not quantized."""
        return float_type(self.name if self.name in FLOATS else "f32")

    @property
    def per_token(self) -> bool:
        return self.activations == "token"

    def __str__(self) -> str:
        parts = ["activations per token"] if self.per_token else []
        parts += ["weights per channel"] if self.weights == "channel" else []
        parts += [f"cache in {self.cache}"] if self.cache != "own" else []
        return f"{self.name} ({', '.join(parts)})" if parts else self.name

    def to_json(self) -> dict[str, str]:
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, str]) -> Precision:
        return Precision(**value)


def float_type(name: str) -> torch.dtype:
    """Returns PyTorch's type of a name in `FLOATS`."""
    import torch

    return getattr(torch, FLOATS[name])


def check_precision(precision: str) -> None:
    """Raises `StreamTensorError` for a name that is no precision."""
    if precision not in PRECISIONS:
        raise StreamTensorError(
            f"expected a precision of {', '.join(PRECISIONS)} but got '{precision}'"
        )


# Of a module of one's own: it stays in the types that it has.
UNCHANGED = Precision()


def module_precision(
    precision: str = "f32", activations: str = "group", weights: str = "group", cache: str = "own"
) -> Precision:
    """Returns the precision of a module of one's own, which has no cache.

    Raises `StreamTensorError` for names that are unknown, or have no meaning together.
    """
    if cache != "own":
        raise UsageError(
            f"a cache in {cache} can only be asked for with a language model by its name or "
            "directory: in a module of one's own, keys and values are inputs and results like any "
            "other; leave --cache out"
        )
    return Precision(precision, activations, weights)
