"""Stand-ins for the C++ programs, to test the Python side alone.

compile  writes a directory that looks like a design
pack     writes row-major weights and prints their files, as streamtensor-pack does
runtime  speaks the runtime's protocol; it runs the captured layer in PyTorch, with the
         weights, host tensors and caches that model.json binds to its arguments

usage: fake_tools.py compile|pack|runtime ARGUMENTS
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

# Tests may ask a tool to fail: FAIL_FILE, beside this program's wrappers, names it.
FAIL_FILE = "fail"


def option(arguments: list[str], name: str) -> str:
    for index, argument in enumerate(arguments):
        if argument.startswith(name + "="):
            return argument.partition("=")[2]
        if argument == name:
            return arguments[index + 1]
    raise SystemExit(f"missing {name}")


def compile_design(arguments: list[str]) -> None:
    if "--check-target" in arguments:
        if option(arguments, "--target") != "u55c":
            raise SystemExit("error: expected another target")
        return
    output = Path(option(arguments, "--output-dir"))
    manifest = Path(option(arguments, "--manifest"))
    output.mkdir()
    shutil.copy(manifest, output / "manifest.json")
    # Two of these are more than the device has of one resource.
    resources = {
        name: {"used": 60 if name == "lut" else 5, "available": 100}
        for name in ("dsp", "lut", "ff", "bram36", "uram")
    }
    (output / "report.json").write_text(json.dumps({"resources": resources}))
    (output / "interface.json").write_text(json.dumps({"schema": 1, "input": arguments[0]}))


def pack(arguments: list[str]) -> None:
    from safetensors.numpy import load_file

    output = Path(option(arguments, "--output-dir"))
    output.mkdir(exist_ok=True)
    tensors = load_file(option(arguments, "--weights"))
    files = {}
    for pair in option(arguments, "--names").split(","):
        argument, _, name = pair.partition("=")
        data = tensors[name].tobytes()
        file = output / f"{name}.{hashlib.sha256(data).hexdigest()[:12]}.bin"
        file.write_bytes(data)
        files[argument] = str(file)
    print(json.dumps(files))


class FakeRuntime:
    """One compiled model, computed by PyTorch."""

    def __init__(self, directory: Path) -> None:
        from streamtensor.models.compiler import CompileOptions, layer_sizes
        from streamtensor.models.sources import ModelSource, load_model
        from streamtensor.models.split import ModelSplit
        from streamtensor.models.steps import capture_head, capture_layer

        self.directory = directory
        self.model = json.loads((directory / "model.json").read_text())
        host = json.loads((directory / "host" / "host.json").read_text())
        source = ModelSource.from_json(host["source"])
        split = ModelSplit(load_model(source), self.model["max_length"])
        options = CompileOptions(max_length=self.model["max_length"], chunk=self.model["chunk"])
        self.programs = {
            "layer": capture_layer(split, *layer_sizes(options, split)).program,
            "head": capture_head(split),
        }
        self.steps = 0
        self.reset()

    def reset(self) -> None:
        """Fills the caches with large numbers: rows that are read before they are written show."""
        import torch

        shapes = [
            argument.buffer_shape
            for argument in self.programs["layer"].arguments
            if argument.role == "cache"
        ]
        self.caches = [[torch.full(s, 1e4) for s in shapes] for _ in self.model["layers"]]

    def weight(self, file: str, shape: tuple[int, ...], index: int) -> Any:
        """One of the tensors that are stacked in a file."""
        import torch

        data = bytearray((self.directory / file).read_bytes())
        return torch.frombuffer(data, dtype=torch.float32).reshape((-1, *shape))[index]

    def run(
        self, name: str, weights: dict[str, str], values: dict[str, Any], index: int = 0
    ) -> dict[str, Any]:
        program = self.programs[name]
        bound = [self.weight(weights[a.name], a.shape, index) for a in program.weights]
        inputs = [values[argument.name] for argument in program.inputs]
        results = program.run(inputs, bound)
        return {r.name: value for r, value in zip(program.results, results, strict=True)}

    def step(self, request: dict[str, Any], tensors: dict[str, Any]) -> dict[str, Any]:
        import torch

        entry = self.model["layer"]
        position, count = request["position"], request["count"]
        hidden = tensors["hidden"]
        layers = zip(self.model["layers"], self.caches, strict=True)
        for index, (layer, caches) in enumerate(layers):
            values = {entry["hidden"]: hidden}
            for argument, name in layer["host"].items():
                values[argument] = tensors[name]
            for cache, binding in zip(caches, entry["caches"], strict=True):
                values[binding["argument"]] = cache[:, :, :position]
            results = self.run("layer", entry["weights"], values, index)
            hidden = results[entry["hidden_result"]]
            for cache, binding in zip(caches, entry["caches"], strict=True):
                cache[:, :, position : position + count] = results[binding["result"]]
        self.steps += 1
        if not request["logits"]:
            return {}
        head = self.model["head"]
        rows = []
        for row in range(count - request["logits"], count):
            values = {head["hidden"]: hidden[:, row : row + 1]}
            rows.append(self.run("head", head["weights"], values)[head["logits"]])
        return {"logits": torch.stack(rows)}

    def answer(self, request: dict[str, Any], tensors: dict[str, Any]) -> tuple[dict, dict]:
        if request["op"] == "reset":
            self.reset()
            return {}, {}
        if request["op"] == "stats":
            return {"macs": 1, "dma_bytes": 2, "steps": self.steps, "peak_rss_bytes": 3}, {}
        if request["op"] == "step":
            return {"seconds": 0.0}, self.step(request, tensors)
        raise ValueError(f"unknown op '{request['op']}'")


def runtime(arguments: list[str]) -> None:
    import torch

    fake = FakeRuntime(Path(arguments[0]))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while line := source.readline():
        request = json.loads(line)
        if request["op"] == "quit":
            return
        tensors = {}
        for entry in request.get("tensors", []):
            data = bytearray(source.read(entry["bytes"]))
            tensors[entry["name"]] = torch.frombuffer(data, dtype=torch.float32).reshape(
                entry["shape"]
            )
        response, results = fake.answer(request, tensors)
        blobs = {name: value.contiguous().numpy().tobytes() for name, value in results.items()}
        response |= {
            "ok": True,
            "tensors": [
                {"name": name, "shape": list(results[name].shape), "bytes": len(blob)}
                for name, blob in blobs.items()
            ],
        }
        sink.write(json.dumps(response).encode() + b"\n")
        for blob in blobs.values():
            sink.write(blob)
        sink.flush()


def main() -> None:
    tool, bin_dir, arguments = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    fail = bin_dir / FAIL_FILE
    if fail.is_file() and fail.read_text().strip() == tool:
        print(f"error: the fake {tool} was asked to fail", file=sys.stderr)
        raise SystemExit(1)
    {"compile": compile_design, "pack": pack, "runtime": runtime}[tool](arguments)


if __name__ == "__main__":
    main()
