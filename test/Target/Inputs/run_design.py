"""Runs a design of these tests with random integers and compares exactly.

The expected results are computed here from what the comment of the .mlir file
says, element by element. Integers of this size have exact sums in float, in any
order.

usage: run_design.py PROGRAM DESIGN matvec|tasks|memory
       run_design.py PROGRAM DESIGN append SEQ PAST
"""

import json
import random
import struct
import subprocess
import sys


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": offsets}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name] = list(struct.unpack(f"<{(end - begin) // 4}f", content[begin:end]))
    return tensors


def matvec(numbers):
    x, w = numbers(64), numbers(96 * 64)
    y = [sum(w[row * 64 + k] * x[k] for k in range(64)) for row in range(96)]
    return {"arg0": ([64], x), "arg1": ([96, 64], w)}, {"result0": y}


def tasks(numbers):
    x = numbers(8 * 32)
    sums = [sum(x[row * 32 : row * 32 + 32]) for row in range(8)]
    part = [max(x[row * 32 + col], 0.0) * 0.5 for row in range(8) for col in range(4, 12)]
    return {"arg0": ([8, 32], x)}, {"result0": sums, "result1": part}


def memory(numbers):
    x = numbers(2 * 3 * 4)
    return {"arg0": ([2, 3, 4], x)}, {"result0": [2.0 * (value + 1.0) for value in x]}


def append(numbers, seq, past):
    x, cache = numbers(seq * 4), numbers(past * 4)
    rows = [2.0 * value for value in cache + x]
    products = [
        sum(x[i * 4 + k] * rows[j * 4 + k] for k in range(4))
        for i in range(seq)
        for j in range(past + seq)
    ]
    inputs = {"arg0": ([seq, 4], x), "arg1": ([past, 4], cache)}
    return inputs, {"result0": rows, "result1": products}


def main():
    program, design, case, *sizes = sys.argv[1:]
    generator = random.Random(7)
    inputs, expected = {"matvec": matvec, "tasks": tasks, "memory": memory, "append": append}[case](
        lambda count: [float(generator.randint(-8, 8)) for _ in range(count)], *map(int, sizes)
    )
    source, result = f"{design}/in.safetensors", f"{design}/out.safetensors"
    counts = f"{design}/run.json"
    write_safetensors(source, inputs)
    subprocess.run(
        [program, design, "--inputs", source, "--outputs", result, "--json", counts], check=True
    )
    actual = read_safetensors(result)
    assert actual == expected, f"expected {expected} but got {actual}"
    with open(counts) as file:
        print(f"{case}: equal, {json.load(file)['macs']} multiply-accumulates")


main()
