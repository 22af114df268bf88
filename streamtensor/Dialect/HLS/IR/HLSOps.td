//===- HLSOps.td - hls operations -*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of the hls dialect.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_HLS_IR_HLSOPS_TD
#define STREAMTENSOR_DIALECT_HLS_IR_HLSOPS_TD

include "streamtensor/Dialect/HLS/IR/HLSBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class HLS_Op<string mnemonic, list<Trait> traits = []>
    : Op<HLS_Dialect, mnemonic, traits>;

def HLS_TaskOp : HLS_Op<"task", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "start a task function in a dataflow region";
  let description = [{
    Stands in a function marked `hls.dataflow`. The task runs concurrently with
    its neighbours; its operands are streams and memory ports.

    ```mlir
    hls.task @load_arg0(%m, %s) : memref<8xf32>, !stream.stream<f32, 2>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict (`:` qualified(type($operands))^)?";
}

def HLS_JoinOp : HLS_Op<"join", []> {
  let summary = "end of a dataflow region: wait for all tasks";
  let description = [{
    ```mlir
    hls.join
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def HLS_IterationOp : HLS_Op<"iteration", [Pure]> {
  let summary = "the number of this run of a repeated dataflow region";
  let description = [{
    In a function marked `hls.dataflow` and `hls.repeat`, whose body runs as
    often as a run-time parameter says: from 0 on.

    ```mlir
    %layer = hls.iteration "layer"
    ```
  }];
  let arguments = (ins StrAttr:$sym);
  let results = (outs Index:$index);
  let assemblyFormat = "$sym attr-dict";
}

#endif // STREAMTENSOR_DIALECT_HLS_IR_HLSOPS_TD
