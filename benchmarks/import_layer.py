"""Imports one decoder layer of a known model and prints how long it took, as JSON.

Loading PyTorch and making the model (one layer, random weights) are reported on
their own: a user waits for them too. With --reference, the folder also gets
random inputs and what PyTorch computes from them, eagerly in f32, with the
unedited layer: inputs.safetensors and expected.safetensors.

usage: import_layer.py MODEL --output-dir DIR [--tokens N] [--max-length N] [--dynamic]
                       [--reference]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any


def write_reference(directory: Path, split: Any, layer: Any) -> None:
    """Writes inputs of the layer's run and the results of the module itself."""
    import torch
    from safetensors.torch import save_file

    from streamtensor.models.steps import LayerExamples

    examples = LayerExamples(split, layer.tokens, layer.past)
    step = examples.step(0)
    tensors, *pasts = examples.inputs(step, 0)
    with torch.no_grad():
        results = step(tensors, *pasts)
    flat = [*tensors, *pasts]
    inputs = {
        argument.name: flat[argument.input_index].contiguous() for argument in layer.program.inputs
    }
    save_file(inputs, str(directory / "inputs.safetensors"))
    expected = {f"result{i}": result.contiguous() for i, result in enumerate(results)}
    save_file(expected, str(directory / "expected.safetensors"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=1, help="new tokens of one call")
    parser.add_argument("--max-length", type=int, default=256)
    parser.add_argument(
        "--dynamic",
        action="store_true",
        help="one layer for 1 to --tokens new tokens and any past up to what is left of the length",
    )
    parser.add_argument("--reference", action="store_true", help="write inputs and results too")
    options = parser.parse_args()

    start = time.monotonic()
    import torch

    from streamtensor.importer.lowering import lower
    from streamtensor.manifest import write_export
    from streamtensor.models.configs import config_of
    from streamtensor.models.sources import random_model
    from streamtensor.models.split import ModelSplit
    from streamtensor.models.steps import capture_layer

    loaded = time.monotonic()
    config = config_of(options.model)
    config.num_hidden_layers = 1
    split = ModelSplit(random_model(config, seed=0).eval(), options.max_length)
    made = time.monotonic()
    tokens, past = options.tokens, options.max_length - options.tokens
    if options.dynamic:
        tokens = torch.export.Dim("seq", min=1, max=tokens) if tokens > 1 else tokens
        past = torch.export.Dim("past", min=0, max=past) if past > 0 else past
    layer = capture_layer(split, tokens, past)
    text = lower(layer.program)
    options.output_dir.mkdir(parents=True, exist_ok=True)
    write_export(options.output_dir, layer.program, text)
    done = time.monotonic()
    if options.reference:
        write_reference(options.output_dir, split, layer)
    figures = {
        "load_seconds": loaded - start,
        "model_seconds": made - loaded,
        "import_seconds": done - made,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
