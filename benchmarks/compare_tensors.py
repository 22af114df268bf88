"""Prints the worst error of the tensors of one safetensors file against another's.

The error is a share of the tolerance, 1e-4 x (abs value + largest abs value of
the tensor); a missing tensor, another shape or a value that is not finite in one
file alone ends with exit code 1.

usage: compare_tensors.py GOT.safetensors EXPECTED.safetensors
"""

from __future__ import annotations

import sys

from safetensors.torch import load_file

TOLERANCE = 1e-4


def main() -> int:
    got, expected = load_file(sys.argv[1]), load_file(sys.argv[2])
    worst = 0.0
    for name, want in expected.items():
        if name not in got or got[name].shape != want.shape:
            print(f"compare: error: expected tensor '{name}' of shape {list(want.shape)}")
            return 1
        if want.numel() == 0:
            continue
        want, have = want.double(), got[name].double()
        allowed = TOLERANCE * (want.abs() + want.abs().max())
        share = ((have - want).abs() / allowed).nan_to_num(nan=float("inf")).max().item()
        worst = max(worst, share)
    print(f"{worst:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
