//===- Passes.td - Memory passes -*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What lies in external memory and how it gets on chip, in pipeline order
// (phases `packed` and `materialized`).
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_MEMORY_PASSES
#define STREAMTENSOR_TRANSFORMS_MEMORY_PASSES

include "mlir/Pass/PassBase.td"

def PackWeights : Pass<"st-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Store each weight in the order in which its DMA streams it";
  let description = [{
    An argument of role `weight` that is loaded by one DMA gets the attribute
    `dataflow.packing`: the token order of one pass over it, without the
    replays. It is packed at compile time, so the DMA reads consecutive
    addresses (paper section 4.4). The order speaks of the argument's own shape,
    `dataflow.tensor_shape`, or, where a reshape before the kernel can't be
    undone in it, of the reshaped one, `dataflow.shape`. `dataflow.token_shape`
    is the token as the DMA reads it.

    ```mlir
    func.func @f(%arg0: tensor<32x16xf32> {dataflow.role = "weight",
        dataflow.packing = !itensor.itensor<16x1xf32, [16, 2] * [1, 16], (d0, d1) -> (d1, d0)>,
        dataflow.shape = array<i64: 32, 16>,
        dataflow.tensor_shape = array<i64: 32, 16>,
        dataflow.token_shape = array<i64: 16, 1>})
    ```
  }];
}

def MaterializeStreams : Pass<"st-materialize-streams", "::mlir::func::FuncOp"> {
  let summary = "Make DMAs and converters explicit tasks, memory explicit";
  let description = [{
    The function takes memrefs: its arguments, then one per result. Every
    itensor argument of a kernel becomes a task of kind `dma_in`, every yielded
    itensor one of kind `dma_out`; what passes between kernels lies in a
    workspace. Each `itensor.converter` (and each `itensor.reassociate` that
    changes the token width) becomes a task of kind `converter`: inside the
    shared loops a fill nest and a drain nest around one buffer (paper section
    4.5). Equal converters of one producer are shared.

    ```mlir
    dataflow.kernel "group0" (%m: memref<8xf32> = %arg0 : memref<8xf32>) {
      %x = dataflow.task "load_arg0" inits(%o = %e) : (!itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>) attributes {kind = "dma_in"} { ... }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::streamtensor::itensor::ITensorDialect",
    "::streamtensor::dataflow::DataflowDialect"];
}

def InsertForks : Pass<"st-insert-forks", "::mlir::func::FuncOp"> {
  let summary = "Give every stream exactly one reader";
  let description = [{
    A stream that is read at several places, of several tasks or of one (directly,
    or through casts and reassociations, which have no FIFO of their own), is
    duplicated by a task of kind `fork`: it reads each token once and writes it to
    every reader. A
    stream that nobody reads is drained by a task, so its producer can end.

    ```mlir
    %a:2 = dataflow.task "fork_x" inits(%p = %e, %q = %f) : (!T, !T) attributes {kind = "fork"} { ... }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::streamtensor::itensor::ITensorDialect",
    "::streamtensor::dataflow::DataflowDialect"];
}

#endif // STREAMTENSOR_TRANSFORMS_MEMORY_PASSES
