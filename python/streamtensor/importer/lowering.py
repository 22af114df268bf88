"""Lowers a captured program to Linalg on tensors, as text with source locations."""

from __future__ import annotations

import operator
import re
from typing import Any

import torch

from streamtensor.errors import StreamTensorError
from streamtensor.importer.child import ChildResult, run_in_child
from streamtensor.importer.diagnosis import OTHER_MODEL, Finding, diagnose, first_diagnostic
from streamtensor.importer.locations import model_line
from streamtensor.importer.program import Program

# What torch_mlir.fx runs, without its report of failures, which writes files.
PIPELINES = (
    "builtin.module(func.func(torch-match-quantized-custom-ops), "
    "torchdynamo-export-to-torch-backend-pipeline{backend-legal-ops= extra-library=})",
    "builtin.module(torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true})",
)

# Dialects of torch-mlir that stock MLIR does not have.
FOREIGN_OP = re.compile(r"\b((?:tm_tensor|torch_c|torch|ml_program)\.[A-Za-z_.]+)")


class LoweringFailed(StreamTensorError):
    """A program cannot be lowered."""


class UnsupportedOperators(LoweringFailed):
    """Operators that cannot be lowered, all of them: `findings` in the order of the graph."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(describe(findings))
        self.findings = findings


def lower(program: Program) -> str:
    """Returns the text of a module with one public function.

    Every operator that cannot be compiled is named in one `UnsupportedOperators`; a
    failure that no operator explains is a `LoweringFailed`.
    """
    names = [argument.source for argument in program.arguments]
    result = run_in_child(
        lambda note: lower_graph(program.graph, program.function, program.prefix, names)
    )
    if result.error is None and not foreign_ops(result.value):
        return result.value
    findings = diagnose(program, lower_graph, foreign_ops)
    if findings:
        raise UnsupportedOperators(findings)
    raise LoweringFailed(describe_whole(result))


def lower_graph(
    graph: torch.fx.Graph, function: str, prefix: str = "", names: list[str] | None = None
) -> str:
    """Runs torch-mlir in this process; it may crash, so call it in a child."""
    from torch_mlir import ir, passmanager
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras.fx_importer import FxImporter

    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    importer._cc = located_cache(context, importer, prefix)
    importer.import_stateless_graph(graph, func_name=function)
    module = importer.module
    with context:
        # Some passes emit an error without failing; only printed errors are safe then.
        context.emit_error_diagnostics = True
        for pipeline in PIPELINES:
            passmanager.PassManager.parse(pipeline).run(module.operation)
    for operation in module.body.operations:
        if names is None or operation.operation.name != "func.func":
            continue
        for argument, name in zip(operation.arguments, names, strict=True):
            argument.set_location(ir.Location.name(name, context=context))
    return module.operation.get_asm(enable_debug_info=True)


def located_cache(context: Any, importer: Any, prefix: str) -> Any:
    """Returns the importer's helper with locations "%node"("module.path"("file.py":line)).

    `%node` is the name that the value has in the graph; `--st-keep-value-names` looks at it.
    """
    from torch_mlir import ir
    from torch_mlir.extras.fx_importer import ContextCache

    class LocatedCache(ContextCache):
        def get_node_location(self, node: torch.fx.Node) -> Any:
            if node.op != "call_function":
                return None
            line = model_line(node, prefix)
            place = ir.Location.unknown(context=context)
            if line.file:
                place = ir.Location.file(line.file, line.line, col=0, context=context)
                if line.path:
                    place = ir.Location.name(line.path, childLoc=place, context=context)
            # torch-mlir unpacks all parts of a value at the location of one of them.
            if node.target is operator.getitem:
                return place
            return ir.Location.name(f"%{node.name}", childLoc=place, context=context)

    return LocatedCache(context, py_attr_tracker=importer._py_attr_tracker)


def foreign_ops(text: str) -> list[str]:
    """Returns the names of operations in `text` that stock MLIR does not know."""
    found = set()
    for line in text.splitlines():
        # Attributes such as "torch.onnx..." and locations are quoted; operations are not.
        code = re.sub(r'"[^"]*"', "", line)
        found.update(FOREIGN_OP.findall(code))
    return sorted(name for name in found if not name.endswith(".yield"))


def describe(findings: list[Finding]) -> str:
    count = len(findings)
    noun = "operator" if count == 1 else "operators"
    lines = [f"{count} unsupported {noun}"]
    for finding in findings:
        line = f"  {finding.operator} at {finding.line}: {finding.reason}"
        lines.append(f"{line}; {finding.advice}" if finding.advice else line)
    if any(finding.advice is None for finding in findings):
        lines.append(f"  {OTHER_MODEL}")
    return "\n".join(lines)


def describe_whole(result: ChildResult) -> str:
    """A failure that no single operator explains."""
    if result.error is None:
        names = ", ".join(foreign_ops(result.value))
        return f"the text contains {names}, which stock MLIR does not have"
    kind = "crashed" if result.crashed else "failed"
    reason = first_diagnostic(result.stderr) or result.error.splitlines()[0]
    return f"torch-mlir {kind} on the whole module, on no single operator: {reason}"
