"""utils/check_structure.py finds each broken rule, and nothing in a sound tree."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "utils"))

from check_structure import Tree, check

PASS = """// Passes of one room.
def WidenStreams : Pass<"st-widen-streams", "ModuleOp"> {
  let summary = "make streams wider";
  let description = [{ Before: narrow. After: wide. }];
}
"""

OPS = """// Operations of one dialect.
def X_CastOp : X_Op<"cast"> {
  let description = [{
    ```mlir
    %r = x.cast %a : f32
                to f64  // wider
    ```
  }];
}
"""

SOUND = {
    "streamtensor/Dialect/X/IR/XOps.td": OPS,
    "test/Dialect/X/roundtrip.mlir": "%0 = x.cast %arg0 : f32 to f64\n",
    "streamtensor/Support/Json.h": "// Reads JSON.\n#include <string>\n",
    "streamtensor/Transforms/Passes.td": PASS,
    "streamtensor/Transforms/WidenStreams.cpp": (
        '// Widens streams.\n#include "streamtensor/Support/Json.h"\n'
    ),
    "test/Transforms/widen-streams.mlir": "// RUN: true\n",
    "test/Dialect/X/invalid.mlir": "// RUN: not false\n",
    "tools/opt/opt.cpp": "// Runs passes.\nint main() { return 0; }\n",
}


def findings(root: Path, changes: dict[str, str | None]) -> list[str]:
    """Checks the sound tree with `changes`; None removes a file."""
    files = {name: text for name, text in {**SOUND, **changes}.items() if text is not None}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(finding) for finding in check(Tree(root, [Path(name) for name in files]))]


def test_sound_tree_has_no_findings(tmp_path):
    assert findings(tmp_path, {}) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"streamtensor/Support/A.h": '// A.\n#include "streamtensor/Transforms/B.h"\n'},
            "streamtensor/Support/A.h:2: error: expected an include of streamtensor/Support "
            "or streamtensor/Network but got 'streamtensor/Transforms/B.h'",
        ),
        (
            {"streamtensor/Analysis/A.h": '// A.\n#include "streamtensor/Pipelines/B.h"\n'},
            "expected an include of this layer or a lower one but got 'streamtensor/Pipelines/B.h'",
        ),
        (
            {"streamtensor/Target/Device/A.h": '// A.\n#include "streamtensor/Target/HLS/B.h"\n'},
            "expected an include of this layer or a lower one but got "
            "'streamtensor/Target/HLS/B.h'",
        ),
        (
            {"runtime/A.cpp": '// A.\n#include "mlir/IR/Value.h"\n'},
            "expected no MLIR or LLVM in this room but got 'mlir/IR/Value.h'",
        ),
        (
            {
                "tools/streamtensor-check-certificate/A.cpp": (
                    '// A.\n#include "streamtensor/Network/TimedNetwork.h"\n'
                )
            },
            "expected the checker to share no code but got 'streamtensor/Network/TimedNetwork.h'",
        ),
        (
            {"streamtensor/Sim/A.cpp": '// A.\n#include "unittests/Helper.h"\n'},
            "expected no test code but got 'unittests/Helper.h'",
        ),
        (
            {
                "streamtensor/Analysis/A.h": '// A.\n#include "streamtensor/Sim/B.h"\n',
                "streamtensor/Sim/B.h": '// B.\n#include "streamtensor/Analysis/A.h"\n',
            },
            "expected no circle of rooms but got "
            "streamtensor/Analysis -> streamtensor/Sim -> streamtensor/Analysis",
        ),
        (
            {"streamtensor/Transforms/WidenStreams.cpp": None},
            "expected a source file 'WidenStreams.cpp' but found none",
        ),
        (
            {"test/Transforms/widen-streams.mlir": None},
            "expected a test file 'test/.../widen-streams.mlir' but found none",
        ),
        (
            {"streamtensor/Transforms/Passes.td": PASS.replace("st-widen-streams", "st-widen")},
            "expected the flag to spell the name WidenStreams but got 'st-widen'",
        ),
        (
            {"streamtensor/Transforms/Passes.td": PASS.replace("Before: narrow. After: wide.", "")},
            "expected a description of WidenStreams but found none",
        ),
        (
            {"test/Dialect/X/roundtrip.mlir": "%0 = x.cast %arg0 : f32 to f16\n"},
            "XOps.td:5: error: expected a test that runs the example but found none: %r = x.cast",
        ),
        (
            {"streamtensor/Dialect/X/IR/XOps.td": OPS + 'def X_NopOp : X_Op<"nop"> {\n}\n'},
            "XOps.td:10: error: expected an example of X_NopOp but found none",
        ),
        (
            {"streamtensor/Sim/A.cpp": "// A.\n" + "\n" * 1200},
            "expected at most 1200 lines but got 1201",
        ),
        (
            {"streamtensor/Sim/A.cpp": "// A.\n" + "\n" * 900},
            "warning: 901 lines are many",
        ),
        (
            {"tools/opt/opt.cpp": "// A.\nint main() {\n" + "\n" * 70 + "}\n"},
            "expected a main file of at most 60 lines but got 73",
        ),
        ({"test/big.bin": "x" * (1 << 20) + "x"}, "expected at most 1048576 bytes but got 1048577"),
        (
            {"test/Dialect/X/invalid.mlir": None},
            "expected one lit test in four to show what is refused but got 0 of 1",
        ),
        (
            {"python/a.py": "import os\n"},
            "expected a comment with the purpose of the file but got 'import os'",
        ),
        (
            {"docs/a.md": "see /ro" + "ot/x\n"},
            "docs/a.md:1: error: expected no path of one machine",
        ),
        ({"docs/a.md": "pypi." + "org\n"}, "expected no host name of a package registry"),
        ({"python/a.py": "# TO" + "DO\n"}, "expected finished work"),
        ({"docs/a.md": "<" * 7 + " HEAD\n"}, "expected merged text but got a conflict marker"),
    ],
)
def test_broken_rule_is_found(tmp_path, changes, expected):
    found = findings(tmp_path, changes)
    assert len(found) == 1
    assert expected in found[0]
