//===- Passes.td - Dataflow passes -*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From normalized Linalg to fused kernels over itensors, in pipeline order.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_DATAFLOW_PASSES
#define STREAMTENSOR_TRANSFORMS_DATAFLOW_PASSES

include "mlir/Pass/PassBase.td"

def ScheduleOps : Pass<"st-schedule-ops", "::mlir::func::FuncOp"> {
  let summary = "Decide loop order, token tile and unroll factors of each op";
  let description = [{
    Puts `#dataflow.schedule` on every operation of the normalized form that
    has none (a schedule that is already there is kept, so a user or a test can
    write one; it is checked). The rules:

    - Tokens hold `lanes` elements along the last dimension of the result: the
      largest power of two up to `max-lanes` that divides it; of elements of
      16 or 8 bits twice or four times as many, which a memory port of 512 bits
      delivers at a time. A dimension of run-time size has one loop and tokens
      of 1, so that nothing has to be padded.
    - A contraction keeps its batch dimensions and the rows of one operand
      outside, the reduction next, the columns innermost: the operand without
      reuse (the weights) is consumed straight from its FIFO, the accumulator
      holds all columns of a tile of up to `max-rows` rows, and as many
      independent cells lie between two updates of one cell as there are
      columns.
    - Along a chain of products with only element-wise operations between them,
      the order alternates: one finishes a block of 16 tokens of columns before
      the next block, the next one is as above. The first then delivers while it
      still computes, the second computes while it still receives, even for one
      row (DESIGN: loop order alternates along a chain of matrix products).
    - A contraction whose reduction, or last dimension of the result, has a
      size that is known at run time (attention) has such dimensions outside,
      then those of known size that it reduces, then those of the result, the
      ones that both operands have innermost. Where the last dimension of the
      result is the one of run-time size, tokens hold `lanes` terms of the sum.
    - Another reduction walks its first input in memory order.
    - An element-wise operation walks its result in memory order.
    - Slices and concatenations walk their result in memory order, in lanes that
      divide every part.
    - An accumulator stays within `max-accumulator-bytes`: fewer rows, then
      columns outside the reduction (the other operand is read again for each),
      then fewer lanes, as far as it takes. `dataflow.schedule_reason` on the
      operation says so. Where even one element is too much, it stays at that.

    Other schedules compete with the rule's: a batched contraction may take a
    block of rows of every batch before the next block, a product that may finish
    blocks of columns need not, and every other operation may follow the order in
    which the producer of one of its inputs writes (the same loops and tokens). The one with the fewest bytes on the chip wins
    (converters before the operation, its accumulator), then the one that loads
    least from memory, then the first of this list.

    ```mlir
    // matmul (m, n, k) of 32x576 by 576x1536:
    #dataflow.schedule<order = [0, 2, 1], tile = [16, 16, 1], unroll = [1, 16, 1]>
    ```
  }];
  let options = [
    Option<"maxLanes", "max-lanes", "int64_t", "16",
           "largest number of elements of 32 bits in a token along the last "
           "dimension, of narrower ones as many as are as wide">,
    Option<"maxRows", "max-rows", "int64_t", "16",
           "largest number of rows of a contraction that share a weight">,
    Option<"maxAccumulatorBytes", "max-accumulator-bytes", "int64_t", "0",
           "on-chip memory that an accumulator may take; 0: no limit">
  ];
  let dependentDialects = ["::streamtensor::dataflow::DataflowDialect"];
}

def BuildDataflow : Pass<"st-build-dataflow", "::mlir::func::FuncOp"> {
  let summary = "Turn each scheduled op into a kernel with one task";
  let description = [{
    The itensor type of each operand follows directly from its indexing map and
    the schedule: the loops of the operation in order, up to the last one that
    changes the operand (inner revisits are held in the task), each with its
    trip count and tile as the step; the token is the tile. Loops of one
    iteration disappear. A read stands just inside the last loop that changes
    the operand. For a reduction, the accumulator is the parallel loops inside
    the outermost reduction loop; its initial value is the fill, and a drain
    nest writes the result (paper section 4.2).

    Reshapes stay between the kernels: they are views of memory.

    ```mlir
    %0 = dataflow.kernel "relu" (%x : !itensor.itensor<8xf32, [4] * [8], (d0) -> (d0)> = %arg0 : tensor<32xf32>) -> tensor<32xf32> { ... }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::streamtensor::dataflow::DataflowDialect",
    "::streamtensor::itensor::ITensorDialect"];
}

def FuseKernels : Pass<"st-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Fuse kernels into convex groups under an on-chip budget";
  let description = [{
    Algorithm 2 of the paper: in topological order, a kernel joins the groups of
    its producers, the nearest first, while the group stays convex (no path
    leaves it and comes back) and its on-chip memory (converters and
    accumulators, in bytes) stays within `onchip-budget-bytes`; else it opens a
    new group. Inside a group a value travels through a FIFO: equal token
    sequences connect directly, reshapes become `itensor.reassociate`, other
    differences an `itensor.converter`. Memory lies between groups.

    Each operand that several tasks of a group use is loaded once; only a kernel
    that would not fit alone reads an operand twice. A kernel whose accumulator
    alone exceeds the budget is an error. `dataflow.fusion` on the function says
    for each kernel and each other that it reads from why they were fused or not.

    ```mlir
    dataflow.kernel "group0" (...) -> (...) {
      %a = dataflow.task "matmul_0" ...
      %b = itensor.converter %a : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)> to !itensor.itensor<16xf32, [2, 4] * [1, 16], (d0, d1) -> (d1)>
      %c = dataflow.task "add_0" ...
    }
    ```
  }];
  let options = [
    Option<"onchipBudgetBytes", "onchip-budget-bytes", "int64_t", "0",
           "on-chip memory of one group in bytes; 0 keeps one kernel per op">
  ];
  let dependentDialects = ["::streamtensor::itensor::ITensorDialect",
                           "::streamtensor::dataflow::DataflowDialect"];
}

def InferConverters : Pass<"st-infer-converters", "::mlir::ModuleOp"> {
  let summary = "Find the smallest buffer of every converter";
  let description = [{
    Sets `buffer_shape`, `shared_loops`, `bytes` (both halves of a ping-pong)
    and `reason` on each `itensor.converter` (paper, Algorithm 1; the default
    is never larger, see Support/ConverterInference.h). A converter between
    equal token sequences becomes an `itensor.cast`.

    ```mlir
    // PAPER section 2, (b) to (c): buffer_shape = array<i64: 8, 2>
    %r = itensor.converter %a : !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>
                             to !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>
    ```
  }];
  let options = [
    Option<"algorithm", "algorithm", "std::string", "\"default\"",
           "default, or paper for Algorithm 1 as published">
  ];
  let dependentDialects = ["::streamtensor::itensor::ITensorDialect"];
}

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_PASSES
