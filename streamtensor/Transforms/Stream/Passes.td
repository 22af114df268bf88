//===- Passes.td - Stream passes --------------------------*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From materialized kernels to kernels with sized FIFOs, in pipeline order.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_STREAM_PASSES
#define STREAMTENSOR_TRANSFORMS_STREAM_PASSES

include "mlir/Pass/PassBase.td"

def AnnotateAccesses : Pass<"st-annotate-accesses", "::mlir::ModuleOp"> {
  let summary = "Show the fifo accesses of each task as an attribute";
  let description = [{
    For people and tests: puts `dataflow.accesses` on every task, its reads and
    writes of FIFOs in program order as the sizing of FIFOs sees them. Perfect
    nests are one loop, accesses to one FIFO in a row one run. The IR is the same
    otherwise.

    ```mlir
    dataflow.task "matmul" ... attributes {dataflow.accesses = "loop 576 { read load_x_out; read load_w_out * 96 }; write matmul_out * 96"}
    ```
  }];
}

def AllocateFifos : Pass<"st-allocate-fifos", "::mlir::ModuleOp"> {
  let summary = "Size the FIFO behind each result of a task";
  let description = [{
    Before: phase `materialized`, where each itensor has one writer and one
    reader and tasks start from `itensor.empty`. After: each of these is an
    `itensor.instance` with a name that is unique in the module, a depth, the
    reason for it, and the number of tokens that pass in one run (`tokens`).

    Every FIFO has a base depth: `base-depth`, or `load-depth` from a DMA to a
    computation when at least 64 tokens pass, so that memory runs ahead; never
    more than the tokens that pass. `strategy` sets both where they are not
    given: normal 2 and 32, conservative 2 and 2, min 1 and 1. A FIFO is deeper only where the accesses in
    program order would deadlock otherwise, and then exactly as deep as needed
    while the others stay: one less deadlocks, and the reason says how. A
    deadlock that no depth resolves is an error. docs/fifo-depths.md has the
    model and why the rule is right.

    ```mlir
    %e = itensor.empty : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    %y = dataflow.task "load_x" inits(%o = %e) ...
    // becomes
    %e = itensor.instance "load_x_out" depth 2 because "base depth" {tokens = 8 : i64} : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    %y = dataflow.task "load_x" inits(%o = %e) ...
    ```
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", "\"normal\"",
           "how far writers may run ahead: normal, conservative or min">,
    Option<"baseDepth", "base-depth", "int64_t", "-1",
           "depth in tokens of a fifo without need, 1 to 64; -1: by strategy">,
    Option<"loadDepth", "load-depth", "int64_t", "-1",
           "depth in tokens of a fifo from a DMA to a computation, 1 to 64; "
           "-1: by strategy">
  ];
  let dependentDialects = ["::streamtensor::itensor::ITensorDialect"];
}

#endif // STREAMTENSOR_TRANSFORMS_STREAM_PASSES
