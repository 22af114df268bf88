"""Output directories that are either complete or not there.

A command writes into a hidden directory beside its destination and renames it at
the end; a command that fails or is interrupted removes it. What a kill leaves
behind has a name that no other command takes for a result.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from streamtensor.errors import StreamTensorError
from streamtensor.interruption import unfinished

# Of linux/fcntl.h and linux/fs.h, for renameat2.
AT_FDCWD = -100
RENAME_EXCHANGE = 2
ATTEMPTS = 100
ABANDONED_SECONDS = 60
# Errors of the disk; the operating system gives no file name with them.
WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


@contextmanager
def staged_directory(destination: Path, markers: Sequence[str]) -> Iterator[Path]:
    """Yields an empty directory that becomes `destination` when the block ends well.

    `markers` are the files by which an earlier result of the same command is
    recognised. Such a result is replaced as a whole; a directory with anything
    else in it is refused, so that nothing of the user's is lost.
    """
    destination = Path(os.path.abspath(destination))
    check_replaceable(destination, markers)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(
            tempfile.mkdtemp(prefix=f".{destination.name}.partial-", dir=destination.parent)
        )
    except OSError as error:
        raise StreamTensorError(describe_os_error(error, f"create '{destination}'")) from error
    lock = os.open(staging, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_abandoned(destination)
        staging.chmod(0o755)
        with unfinished(staging):
            yield staging
        replace_directory(staging, destination)
    except OSError as error:
        if error.errno not in WRITE_ERRORS:
            raise
        raise StreamTensorError(describe_os_error(error, f"write '{destination}'")) from error
    finally:
        os.close(lock)
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def scratch_directory(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Yields a new directory, in that of the system or in `parent`, for the time of a block."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as name, unfinished(Path(name)):
        yield Path(name)


def remove_abandoned(destination: Path) -> None:
    """Removes what killed processes left of `destination`: a lock ends with its process."""
    for path in destination.parent.glob(f".{glob.escape(destination.name)}.partial-*"):
        try:
            # One that was made just now may not be locked yet.
            if time.time() - path.stat().st_mtime < ABANDONED_SECONDS:
                continue
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except OSError:
            pass  # Its process lives.
        finally:
            os.close(file)


def write_text(path: Path, text: str) -> None:
    """Writes a file that is either complete or not there."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix=f".{path.name}.partial-", dir=path.parent, encoding="utf-8", delete=False
        ) as file:
            try:
                file.write(text)
                file.close()
                os.chmod(file.name, 0o644)
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise StreamTensorError(describe_os_error(error, f"write '{path}'")) from error


def require_parent(path: Path) -> None:
    """Fails where there is no directory for a file that is written at the end of a long command."""
    if not path.absolute().parent.is_dir():
        raise StreamTensorError(f"there is no directory for '{path}'")
    if path.is_dir():
        raise StreamTensorError(f"expected a file to write to but '{path}' is a directory")


def check_replaceable(destination: Path, markers: Sequence[str]) -> None:
    """Fails where `destination` holds something that is no earlier result."""
    if not destination.exists():
        return
    if not destination.is_dir():
        raise StreamTensorError(f"'{destination}' exists and is no directory; name another one")
    names = {path.name for path in destination.iterdir()}
    if names and not names & set(markers):
        raise StreamTensorError(
            f"'{destination}' is not empty and holds none of {', '.join(markers)}, so it is no "
            "earlier result that could be replaced; name another directory or empty this one"
        )


def replace_directory(source: Path, destination: Path) -> None:
    """Renames `source` to `destination`; an earlier result is removed after that.

    At every moment `destination` is one whole result, also where several processes do this
    at once: the last one stays.
    """
    for _ in range(ATTEMPTS):
        try:
            # Succeeds where there is nothing, or an empty directory.
            source.rename(destination)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if exchange(source, destination):
            # The earlier result has the hidden name now.
            shutil.rmtree(source, ignore_errors=True)
            return
    raise StreamTensorError(
        f"'{destination}' is made and removed by another process all the time; name another one"
    )


def exchange(one: Path, other: Path) -> bool:
    """Swaps the names of two directories in one step; False where `other` is not there."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = [AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other)]
    if not libc.renameat2(*names, RENAME_EXCHANGE):
        return True
    code = ctypes.get_errno()
    if code == errno.ENOENT:
        return False
    if code not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(code, os.strerror(code), str(other))
    # A file system that cannot swap: for a moment there is no `other`.
    aside = Path(tempfile.mkdtemp(prefix=f".{other.name}.old-", dir=other.parent))
    try:
        other.rename(aside / "old")
        one.rename(other)
        (aside / "old").rename(one)
    except FileNotFoundError:
        return False
    finally:
        if (aside / "old").exists() and not other.exists():
            (aside / "old").rename(other)
        shutil.rmtree(aside, ignore_errors=True)
    return True


def describe_os_error(error: OSError, action: str) -> str:
    """Says in one line why the operating system refused `action`."""
    where = f" ('{error.filename}')" if error.filename else ""
    reason = (error.strerror or str(error)).lower()
    return f"cannot {action}: {reason}{where}; nothing was written there"
