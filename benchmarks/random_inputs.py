"""Writes random values for the run-time inputs of a design to a safetensors file.

usage: random_inputs.py DESIGN/interface.json OUT.safetensors
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

# Roles whose values come with a run, not with the design.
RUN_TIME_ROLES = ("input", "cache", "mask", "position")


def main() -> None:
    interface, output = Path(sys.argv[1]), Path(sys.argv[2])
    generator = torch.Generator().manual_seed(0)
    tensors = {}
    for argument in json.loads(interface.read_text())["arguments"]:
        if argument["role"] in RUN_TIME_ROLES:
            tensors[argument["name"]] = torch.randn(argument["shape"], generator=generator)
    save_file(tensors, str(output))


if __name__ == "__main__":
    main()
