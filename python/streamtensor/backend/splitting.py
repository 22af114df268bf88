"""Splits a graph between the device and PyTorch, and compiles the device's part.

What a design cannot have is found in three steps, each on what the one before left:
by looking at an operator, by lowering a partition, by compiling it. Whatever is
refused goes to PyTorch with the reason, and the rest is cut anew, until every
partition has a design.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from streamtensor.backend.blocks import display_path, module_paths, repeated_blocks
from streamtensor.backend.design_cache import cached_design
from streamtensor.backend.graphs import macs_of
from streamtensor.backend.large_products import cut_large_products
from streamtensor.backend.listing import DEVICE, HOST, Part
from streamtensor.backend.partitions import group_nodes
from streamtensor.backend.placement import (
    TABLES,
    computes,
    is_call,
    is_operator,
    maker,
    prepares_tables,
    refusal,
)
from streamtensor.backend.programs import (
    Partition,
    first_error,
    make_partition,
    refused_operators,
)
from streamtensor.importer.lowering import LoweringFailed, UnsupportedOperators, lower
from streamtensor.models.quantized_linear import GroupedLinear
from streamtensor.toolchain import ToolFailed

SHARE = "it is a view of a weight that is too large for one design"
# Operators outside of products that are worth a design of their own.
FEWEST_OPERATORS = 3


@dataclass
class Compiled:
    """A partition with its design; `state` is what the listing says of it."""

    partition: Partition
    design: Path
    state: str


class Splitter:
    """Finds the partitions of one graph; `reasons` says why an operator is not in one."""

    def __init__(self, module: torch.fx.GraphModule, weights: set[str], target: str) -> None:
        self.module = module
        self.graph = module.graph
        self.weights = weights
        self.target = target
        shares = cut_large_products(self.graph, weights)
        self.blocks = repeated_blocks(self.graph) | shares
        self.halves: dict[torch.fx.Node, tuple[str, str]] = {}
        self.reasons: dict[torch.fx.Node, str] = {}
        self.designs: dict[str, tuple[Path, bool]] = {}
        for node in self.graph.nodes:
            if is_call(node) and (reason := refusal(node)):
                self.reasons[node] = reason
            elif is_call(node) and node.name in weights:
                self.reasons[node] = SHARE
        weight_nodes = {node for node in self.graph.nodes if node.name in weights}
        tables = prepares_tables(self.graph, weight_nodes, set(self.reasons))
        for node in tables:
            if node not in self.blocks and not unpacks_weights(node):
                self.reasons.setdefault(node, TABLES)

    def label(self, node: torch.fx.Node) -> Hashable | None:
        if node in self.reasons:
            return None
        return self.halves.get(maker(node)) or self.blocks.get(maker(node), "")

    def split(self) -> list[Compiled]:
        """Returns the partitions in the order of the graph, each with its design."""
        while True:
            partitions = self.find_partitions()
            if self.drop_single_blocks(partitions):
                continue
            refused = False
            for structure in dict.fromkeys(each.structure for each in partitions):
                same = [each for each in partitions if each.structure == structure]
                refused |= structure not in self.designs and not self.compile_first(same)
            if not refused:
                return self.with_designs(partitions)

    def find_partitions(self) -> list[Partition]:
        """Cuts the graph; groups that are not worth a design go to PyTorch."""
        while True:
            groups = group_nodes(self.graph, self.label, self.weights)
            has_products = any(macs_of(node) for group in groups for node in group)
            small = [
                (group, reason)
                for group in groups
                if (reason := why_not_worth_it(group, has_products))
            ]
            for group, reason in small:
                self.refuse(group, reason)
            if not small:
                return [make_partition(self.module, group, self.weights) for group in groups]

    def drop_single_blocks(self, partitions: list[Partition]) -> bool:
        """Forgets containers whose blocks have nothing in common: a cut there only costs.

        Returns whether there was one.
        """
        structures: dict[str, list[str]] = {}
        for partition in partitions:
            block = self.label(partition.nodes[0])
            if block:
                structures.setdefault(block[0], []).append(partition.structure)
        single = {
            container for container, found in structures.items() if len(set(found)) == len(found)
        }
        gone = [node for node, (container, _) in self.blocks.items() if container in single]
        for node in gone:
            del self.blocks[node]
        return bool(gone)

    def compile_first(self, same: list[Partition]) -> bool:
        """Compiles a design for partitions of one structure; false where that is refused."""
        first = same[0]
        try:
            self.designs[first.structure] = cached_design(first, lower(first.program), self.target)
            return True
        except UnsupportedOperators as error:
            refused = {finding.line.line: finding.reason for finding in error.findings}
            reason = str(error)
        except ToolFailed as error:
            refused = refused_operators(error.messages) if error.code == 1 else {}
            reason = first_error(error.messages) if error.code == 1 else str(error).splitlines()[0]
        except LoweringFailed as error:
            refused, reason = {}, str(error)
        for partition in same:
            known = {n: why for n, why in refused.items() if 1 <= n <= len(partition.nodes)}
            for number, why in known.items():
                self.refuse([partition.nodes[number - 1]], why)
            if not known and not self.halve(partition):
                self.refuse(partition.nodes, reason)
        return False

    def halve(self, partition: Partition) -> bool:
        """Cuts a partition that is refused as a whole, and for no operator of it, in two.

        Each half has about half of the multiply-accumulates. Returns whether it could
        be cut: one product, or one operator, is never.
        """
        sizes = [macs_of(node) for node in partition.nodes]
        if not any(sizes):
            sizes = [int(computes(node)) for node in partition.nodes]
        if sum(map(bool, sizes)) < 2:
            return False
        container, path = self.label(partition.nodes[0]) or ("", "")
        done, half = 0, 0
        for node, size in zip(partition.nodes, sizes, strict=True):
            # The second half begins with the first product past the middle.
            if size and done and (done + size > sum(sizes) / 2):
                half = 1
            done += size
            if maker(node) is node:
                self.halves[node] = (f"{container}/{half}", f"{path}/{half}")
        return True

    def refuse(self, nodes: list[torch.fx.Node], reason: str) -> None:
        """Leaves operators to PyTorch, with what takes their results apart."""
        for source in map(maker, nodes):
            for node in (source, *source.users):
                if maker(node) is source:
                    self.reasons.setdefault(node, reason)

    def with_designs(self, partitions: list[Partition]) -> list[Compiled]:
        compiled = []
        seen: set[str] = set()
        for partition in partitions:
            design, is_new = self.designs[partition.structure]
            state = "compiled" if is_new else "cached"
            if partition.structure in seen:
                state = "reused"
            seen.add(partition.structure)
            compiled.append(Compiled(partition, design, state))
        return compiled

    def parts(self, compiled: list[Compiled]) -> list[Part]:
        """The listing: partitions in order, then PyTorch's operators by reason."""
        listed = [
            describe_part(DEVICE, each.partition.nodes, "", str(each.design), each.state)
            for each in compiled
        ]
        by_reason: dict[str, list[torch.fx.Node]] = {}
        for node in self.graph.nodes:
            if node in self.reasons:
                by_reason.setdefault(self.reasons[node], []).append(node)
        return listed + [describe_part(HOST, nodes, reason) for reason, nodes in by_reason.items()]


def unpacks_weights(node: torch.fx.Node) -> bool:
    """Tells what a quantized layer makes of its weights, which are large and belong to it."""
    return any(kind == GroupedLinear.__name__ for _, kind in module_paths(node))


def why_not_worth_it(nodes: list[torch.fx.Node], has_products: bool) -> str | None:
    computing = [node for node in nodes if computes(node)]
    if not computing:
        return "it only moves elements or makes constants"
    if has_products and len(computing) < FEWEST_OPERATORS and not any(map(macs_of, nodes)):
        return f"less than {FEWEST_OPERATORS} operators without a product pay no design"
    return None


def describe_part(
    where: str,
    nodes: list[torch.fx.Node],
    why: str,
    design: str | None = None,
    state: str | None = None,
) -> Part:
    operators = [node for node in nodes if is_operator(node)]
    names = Counter(str(node.target).removesuffix(".default") for node in operators or nodes)
    macs = sum(map(macs_of, nodes))
    return Part(where, common_path(nodes), why, dict(names), macs, design, state)


def common_path(nodes: list[torch.fx.Node]) -> str:
    """The innermost module that all of the nodes were executed in."""
    common: list[str] | None = None
    for node in nodes:
        paths = [path for path, _ in module_paths(node)]
        if not paths:
            continue
        if common is None:
            common = paths
        common = [path for path in common if path in paths]
    return display_path(common[-1]) if common else "the module"


def weight_names(graph: torch.fx.Graph, inputs: list[Any], weights: set[Any]) -> set[str]:
    """Names of the graph's placeholders that get a tensor of `weights`, and of its constants."""
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    names = {
        node.name
        for node, value in zip(placeholders, inputs, strict=True)
        if isinstance(value, torch.Tensor) and identity(value) in weights
    }
    return names | {node.name for node in graph.nodes if node.op == "get_attr"}


def identity(tensor: torch.Tensor) -> Hashable:
    """Equal for two tensors that see the same elements in the same way."""
    return (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
