//===- DataflowOps.td - dataflow operations -*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structure operations of the dataflow dialect.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_DATAFLOW_IR_DATAFLOWOPS_TD
#define STREAMTENSOR_DIALECT_DATAFLOW_IR_DATAFLOWOPS_TD

include "streamtensor/Dialect/Dataflow/IR/DataflowBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dataflow_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dataflow_Dialect, mnemonic, traits>;

def Dataflow_KernelOp : Dataflow_Op<"kernel", [
    IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "an isolated graph of tasks on one device";
  let description = [{
    Operands and results are tensors in external memory; inside, each operand is
    an itensor block argument and each result a yielded itensor. The conversion
    is an implicit DMA. A stream has one writer: a task, an operation, or the
    DMA of an operand; the verifier refuses a second one. After `materialized` the operands are memrefs, the block
    arguments too, and there are no results: the DMAs are tasks.

    ```mlir
    %0 = dataflow.kernel "relu" (%x : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> = %arg0 : tensor<8xf32>) -> (tensor<8xf32>) {
      %e = itensor.empty : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
      %y = dataflow.task "relu" inits(%o = %e) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
        dataflow.yield %o : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
      }
      dataflow.yield %y : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    }
    ```
  }];
  let arguments = (ins StrAttr:$sym, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$sym, "::mlir::TypeRange":$results,
                   "::mlir::ValueRange":$inputs,
                   "::mlir::TypeRange":$argumentTypes)>
  ];
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    ::mlir::Operation *getYield() { return getBlock().getTerminator(); }
  }];
}

def Dataflow_TaskOp : Dataflow_Op<"task", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "one process";
  let description = [{
    Transparent: it may use values from outside. Destination-carried while it
    works on itensors: each result is the corresponding `inits` operand with the
    tokens that the task wrote. After the conversion to streams it has neither
    inits nor results, only effects. `kind` is one of compute, dma_in, dma_out,
    converter, fork, join. Tasks nest: those inside a task are processes of their
    own, and streams between them stay inside. A task that is nothing but one
    other task is that task.

    ```mlir
    %y = dataflow.task "copy" inits(%o = %e) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) attributes {kind = "compute"} {
      dataflow.yield %o : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    }
    %z = dataflow.task "outer" inits(%o = %e) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
      %i = itensor.empty : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
      %a = dataflow.task "first" inits(%p = %i) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
        dataflow.yield %p : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
      }
      %b = dataflow.task "second" inits(%p = %o) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
        %x = itensor.read %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> -> f32
        %q = itensor.write %x into %p : f32, !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
        dataflow.yield %q : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
      }
      dataflow.yield %b : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    }
    ```
  }];
  let arguments = (ins StrAttr:$sym, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$sym, "::llvm::StringRef":$kind,
                   "::mlir::ValueRange":$inits)>
  ];
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    ::mlir::Operation *getYield() { return getBlock().getTerminator(); }
    /// What the task does; "compute" when nothing else is said.
    ::llvm::StringRef getKind();
  }];
}

def Dataflow_YieldOp : Dataflow_Op<"yield", [
    Pure, Terminator, ReturnLike, ParentOneOf<["KernelOp", "TaskOp"]>]> {
  let summary = "terminator of kernel and task";
  let description = [{
    ```mlir
    dataflow.yield %y : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange{}); }]>];
  let assemblyFormat = "($values^ `:` qualified(type($values)))? attr-dict";
}

def Dataflow_TripCountOp : Dataflow_Op<"trip_count", [Pure]> {
  let summary = "a trip count that is known at run time";
  let description = [{
    The value of an expression of run-time parameters, spelled as in an itensor
    type: each parameter with its maximum at its first use. The parameters are
    those of the function around (`dataflow.parameters`). A constant is an
    `arith.constant`.

    ```mlir
    %n = dataflow.trip_count "past max 255 + 1"
    ```
  }];
  let arguments = (ins StrAttr:$count);
  let results = (outs Index:$result);
  let assemblyFormat = "$count attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The expression; adds the maximum of each parameter to `maxima`.
    ::streamtensor::TripCount getTripCount(::streamtensor::ParameterValues &maxima);
    /// The largest value of the expression.
    int64_t getLargest();
  }];
}

#endif // STREAMTENSOR_DIALECT_DATAFLOW_IR_DATAFLOWOPS_TD
