"""A thousand certificates, corrupted into falsehood: each must be refused."""

from __future__ import annotations

import copy
import random
from pathlib import Path

from certificate_checks import NEEDS_CHECKER, check_many, random_designs
from certificate_designs import Design, ends_everywhere, find_block
from certificate_random import full_depths

pytestmark = NEEDS_CHECKER


class Corruption:
    """Makes a false certificate of a true one; None where it does not apply."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def shallower(self, design: Design) -> bool:
        """A depth below need, everywhere the same, hashed again."""
        fifos = design.network["fifos"]
        deep = [i for i, f in enumerate(fifos) if f["depth"] > 1 and not f.get("control")]
        self.rng.shuffle(deep)
        network = copy.deepcopy(design.network)
        values = {p["name"]: p["max"] for p in network["parameters"]}
        for index in deep:
            network["fifos"][index]["depth"] = 1
            for order in ("program", "pipelined"):
                if find_block(network, values, order, 1) is not None:
                    segments = design.certificate["witness"]["segments"]
                    design.__init__(network, segments, full_depths=full_depths(network))
                    return True
        return False

    def larger_range(self, design: Design) -> bool:
        """A range of which the base points know nothing, everywhere the same."""
        index = self.rng.randrange(2)
        for file in (design.network, design.interface, design.certificate):
            file["parameters"][index]["max"] += self.rng.choice([1, 2, 100])
        return True

    def other_range(self, design: Design) -> bool:
        parameter = design.certificate["parameters"][self.rng.randrange(2)]
        parameter["max"] += self.rng.choice([1, 2, 100])
        return True

    def no_base_point(self, design: Design) -> bool:
        point = design.certificate["witness"]["base_points"][0]
        name = self.rng.choice(sorted(point))
        if point[name] == 0:
            return False
        point[name] -= 1
        return True

    def other_parts(self, design: Design) -> bool:
        """One side of a FIFO loses other tokens than the other."""
        segments = design.certificate["witness"]["segments"]
        if not segments:
            return False
        entry = self.rng.choice(segments)
        if self.rng.random() < 0.3:
            segments.remove(entry)
        elif len(entry["parts"]) > 1:
            entry["parts"] = self.rng.choice(
                [["past", "seq"], ["seq", {"keep_last": "past"}], ["past + seq"], ["past"]]
            )
        else:
            entry["parts"] = self.rng.choice([["past"], ["past", "past"], ["seq"], []])
        return True

    def swapped(self, design: Design) -> bool:
        depths = design.certificate["depths"]
        one, other = self.rng.sample(sorted(depths), 2)
        if depths[one] == depths[other]:
            return False
        depths[one], depths[other] = depths[other], depths[one]
        return True

    def renamed(self, design: Design) -> bool:
        depths = design.certificate["depths"]
        name = self.rng.choice(sorted(depths))
        depths[f"{name}_"] = depths.pop(name)
        return True

    def other_kernel(self, design: Design) -> bool:
        """A FIFO of the kernel is not that of the network."""
        lines = design.kernel.splitlines()
        index = self.rng.randrange(1, len(lines) - 1)
        head, tail = lines[index].rsplit(", ", 1)
        depth, comment = tail.split(")", 1)
        lines[index] = self.rng.choice(
            [
                "",
                f"// {lines[index]}",
                f"{head}, {int(depth) + 1}){comment}",
                f"{lines[index]}\n{lines[index]}",
            ]
        )
        design.kernel = "\n".join(lines)
        return True

    def other_network(self, design: Design) -> bool:
        """A trip count, an access or an end is another."""
        nodes = []

        def visit(sequence: list[dict]) -> None:
            for node in sequence:
                if "pipeline" in node:
                    nodes.append(node)
                visit(node.get("body", []))

        process = self.rng.choice(design.network["processes"])
        visit(process["program"])
        node = self.rng.choice(nodes)
        choice = self.rng.randrange(3)
        if choice == 0:
            node["pipeline"].append(2)
        elif choice == 1:
            node["body"] = node["body"][1:]
        else:
            fifo = self.rng.choice(design.network["fifos"])
            fifo["producer"], fifo["consumer"] = fifo["consumer"], fifo["producer"]
        return True

    def other_claim(self, design: Design) -> bool:
        design.certificate[self.rng.choice(["schema", "invocations", "orders"])] = 2
        return True

    def broken_hash(self, design: Design) -> str:
        return self.rng.choice(["kernel_sha256", "network_sha256"])


def test_a_thousand_false_certificates_are_refused(tmp_path: Path) -> None:
    kinds = [name for name in vars(Corruption) if not name.startswith("_")]
    # Designs that need a depth above 1 or parts: there is something to spoil.
    true = [
        design
        for design in random_designs(1000, 1100, exact=True)
        if any(f["depth"] > 1 and not f.get("control") for f in design.network["fifos"])
        and design.certificate["witness"]["segments"]
        and ends_everywhere(design.network)
    ]
    verdicts = check_many([d.write(tmp_path / f"true{i}") for i, d in enumerate(true)])
    assert all(verdict.startswith("verified") for verdict in verdicts)
    directories = []
    counts = dict.fromkeys(kinds, 0)
    for seed in range(10000):
        if len(directories) == 1000:
            break
        kind = kinds[seed % len(kinds)]
        design = copy.deepcopy(true[seed // len(kinds) % len(true)])
        changed = getattr(Corruption(seed), kind)(design)
        if not changed:
            continue
        directory = design.write(tmp_path / f"false{seed}-{kind}")
        if isinstance(changed, str):
            digits = list(design.certificate[changed])
            digits[seed % 64] = "0" if digits[seed % 64] != "0" else "1"
            design.certificate[changed] = "".join(digits)
            design.write(directory, rehash=False)
        directories.append(directory)
        counts[kind] += 1
    assert len(directories) == 1000 and min(counts.values()) >= 10, counts
    accepted = [
        directory.name
        for directory, verdict in zip(directories, check_many(directories), strict=True)
        if not verdict.startswith("refused: ")
    ]
    assert accepted == []
