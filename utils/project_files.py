"""Which files belong to the project: the ones that git tracks or would track.

Shared by the structure check and the formatter, so that both always speak of
the same files. Needs nothing but Python's standard library and git.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CPP_SUFFIXES = (".cpp", ".h")


def project_files() -> list[Path]:
    """Returns the project's files as sorted paths relative to ROOT.

    Ignored files (builds, the .venv) are left out, and so are files that were
    deleted but not yet removed from git's index.
    """
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = {Path(name) for name in listing.split("\0") if name}
    return sorted(path for path in paths if (ROOT / path).is_file())
