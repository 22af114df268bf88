"""The README's walk-through for a module of one's own, run as it is written."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"`(\w+\.py)`")


def test_own_module(tmp_path):
    text = (ROOT / "README.md").read_text()
    section = text[text.index("## Your own module") : text.index("## Commands")]
    # The commands are given for the root of the repository.
    for name in (".venv", "build"):
        (tmp_path / name).symlink_to(ROOT / name)

    files, output = [], ""
    for block in BLOCK.finditer(section):
        if block[1] == "python":
            # The sentence before a file's content names it.
            files.append(FILE_NAME.findall(section[: block.start()])[-1])
            (tmp_path / files[-1]).write_text(block[2])
            continue
        for command in block[2].splitlines():
            run = subprocess.run(
                command.split(), cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True
            )
            output += run.stdout
    assert files == ["mlp.py", "compare.py"]
    assert (tmp_path / "out/mlp-design/hls/kernel.cpp").is_file()
    assert (tmp_path / "out/mlp-design/report.json").is_file()
    difference = float(re.search(r"largest difference from PyTorch: (\S+)", output)[1])
    # The results are sums of 128 products of size 1 in float32.
    assert difference < 1e-5
