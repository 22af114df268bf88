"""Compiled models of known names, kept between runs of `streamtensor generate`."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from streamtensor.designs import MODEL_JSON
from streamtensor.errors import StreamTensorError
from streamtensor.manifest import write_json
from streamtensor.models.compiler import CompileOptions, compile_model
from streamtensor.models.sources import ModelSource
from streamtensor.output import describe_os_error
from streamtensor.progress import say
from streamtensor.toolchain import file_hash, find_tool

VARIABLE = "STREAMTENSOR_CACHE_DIR"
STAMP = "cache-key.json"
PACKAGE = Path(__file__).resolve().parents[1]
# What decides the content of a compiled model; the rest of the package may change.
COMPILING = (
    "importer",
    "models",
    "module_compiler.py",
    "designs.py",
    "manifest.py",
    "weights.py",
    "dtypes.py",
    "precision.py",
)


def cache_root() -> Path:
    """Returns the directory of compiled models: the variable's, or ~/.cache/streamtensor."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".cache" / "streamtensor"


def cached_model(source: ModelSource, options: CompileOptions) -> Path | None:
    """Returns the directory of a compiled model that is still valid, None without one."""
    directory = cache_directory(source, options)
    if (directory / MODEL_JSON).is_file() and read_stamp(directory) == state_key(source):
        return directory
    return None


def cache_directory(source: ModelSource, options: CompileOptions) -> Path:
    """One directory per model and options: an outdated model is replaced, not kept."""
    request = {"source": source.to_json(), "options": repr(options)}
    digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:12]
    return cache_root() / f"{source.name}-{digest}"


def compiled_model(source: ModelSource, options: CompileOptions) -> Path:
    """Returns a directory with `source` compiled, which it compiles unless it is there.

    It is made again when the compiler, the importer or the checkpoint changed.
    """
    wanted = cache_directory(source, options)
    with locked(wanted):
        directory = cached_model(source, options)
        if directory is not None:
            say(f"using the compiled model in {directory}")
            return directory
        key = state_key(source)
        compile_model(source, wanted, options)
        write_json(wanted / STAMP, {"key": key})
    return wanted


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Lets one process at a time make `directory`; a lock ends with its process.

    Without it the second one would replace what the first one is running.
    """
    path = directory.with_name(f".{directory.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise StreamTensorError(describe_os_error(error, f"write '{path}'")) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that compiles {directory.name}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read_stamp(directory: Path) -> str | None:
    try:
        return json.loads((directory / STAMP).read_text())["key"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def state_key(source: ModelSource) -> str:
    """Returns a hash of what a compiled model depends on besides its name and options."""
    state = hashlib.sha256()
    for tool in ("streamtensor-compile", "streamtensor-pack"):
        state.update(file_hash(find_tool(tool)).encode())
    for name in COMPILING:
        part = PACKAGE / name
        for path in sorted(part.rglob("*.py")) if part.is_dir() else [part]:
            state.update(path.read_bytes())
    if source.path is not None:
        files = [source.path] if source.path.is_file() else sorted(source.path.iterdir())
        for path in files:
            # Size and time instead of the content: a checkpoint may have gigabytes.
            status = path.stat()
            state.update(f"{path.name} {status.st_size} {status.st_mtime_ns}".encode())
    return state.hexdigest()
