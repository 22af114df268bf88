"""Writes the reference of all passes and dialects, from their definitions.

One Markdown file per `Passes.td` and per dialect, with an anchor per pass and
operation; the pages say what the compiler that was built says itself.

usage: generate_docs.py [--output-dir build/docs]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from project_files import ROOT, project_files

LLVM = Path("/usr/lib/llvm-22")


def tablegen(source: Path, generator: list[str]) -> str:
    """Runs mlir-tblgen on `source` (relative to the root) and returns its text."""
    command = [str(LLVM / "bin/mlir-tblgen"), *generator, str(source)]
    command += ["-I", ".", "-I", str(LLVM / "include")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"generate_docs: error: {source}: {run.stderr.strip()}")
    return run.stdout


def pages() -> dict[str, str]:
    """Returns the text of each page by its file name."""
    texts = {}
    for path in project_files():
        if path.name == "Passes.td":
            room = "-".join(path.parent.parts[1:])
            title = f"# Passes of {path.parent}\n\n"
            texts[f"passes-{room}.md"] = title + tablegen(path, ["-gen-pass-doc"])
        elif path.name.endswith("Ops.td"):
            name = path.name.removesuffix("Ops.td").lower()
            generator = ["-gen-dialect-doc", f"-dialect={name}"]
            texts[f"dialect-{name}.md"] = tablegen(path, generator)
    return texts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output-dir", type=Path, default=ROOT / "build/docs")
    output = parser.parse_args().output_dir
    output.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (output / name).write_text(text)
        print(output / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
