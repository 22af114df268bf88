//===- DataflowBase.td - dataflow dialect -*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dataflow dialect: kernels and tasks (paper section 3, structure ops).
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_DATAFLOW_IR_DATAFLOWBASE_TD
#define STREAMTENSOR_DIALECT_DATAFLOW_IR_DATAFLOWBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Dataflow_Dialect : Dialect {
  let name = "dataflow";
  let cppNamespace = "::streamtensor::dataflow";
  let summary = "Kernels made of tasks that run concurrently";
  let description = [{
    A kernel is an isolated graph of tasks on one device; memory lies between
    kernels. A task is a process: it reads and writes streams in program order,
    and nothing else leaves it. `#dataflow.schedule` is the one attribute that
    decides how an operation becomes a task.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

class Dataflow_Attr<string name, string attrMnemonic>
    : AttrDef<Dataflow_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Dataflow_ScheduleAttr : Dataflow_Attr<"Schedule", "schedule"> {
  let summary = "loop order, token tile and unroll factors of one operation";
  let description = [{
    `order` lists the dimensions of the operation's iteration space, outermost
    loop first. `tile` is, per dimension, how many of its points lie in one
    token (it divides the extent); the loop of a dimension therefore runs
    extent / tile times in steps of tile. `unroll` is, per dimension, how many
    points of the tile are computed at once (it divides the tile).

    A dimension may be listed several times: its outer loops then run over
    blocks. `steps` names the step of every loop of `order`; each divides the one
    outside it, and the innermost is the tile. It is left out when every
    dimension has one loop.

    ```mlir
    // matmul (m, n, k): k outermost, 16 columns a token, 16 multipliers
    #dataflow.schedule<order = [0, 2, 1], tile = [1, 16, 1], unroll = [1, 16, 1]>
    // element-wise (h, m, n): blocks of 16 rows outside the heads
    #dataflow.schedule<order = [1, 0, 1, 2], steps = [16, 1, 1, 8], tile = [1, 1, 8], unroll = [1, 1, 8]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$order,
    OptionalArrayRefParameter<"int64_t">:$steps,
    ArrayRefParameter<"int64_t">:$tile,
    ArrayRefParameter<"int64_t">:$unroll
  );
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$order,
                     "::llvm::ArrayRef<int64_t>":$tile,
                     "::llvm::ArrayRef<int64_t>":$unroll), [{
      return $_get($_ctxt, order, ::llvm::ArrayRef<int64_t>(), tile, unroll);
    }]>
  ];
  let assemblyFormat = [{
    `<` `order` `=` `[` $order `]` `,` (`steps` `=` `[` $steps^ `]` `,`)?
        `tile` `=` `[` $tile `]` `,` `unroll` `=` `[` $unroll `]` `>`
  }];
  let extraClassDeclaration = [{
    /// The step of loop `i` of the order.
    int64_t getStep(size_t i) const {
      return getSteps().empty() ? getTile()[getOrder()[i]] : getSteps()[i];
    }
    /// The step of the outermost loop over `dim`.
    int64_t getOutermostStep(int64_t dim) const;
    /// The dimensions, each once, in the order of their innermost loops.
    ::llvm::SmallVector<int64_t> getInnermostOrder() const;
  }];
  let genVerifyDecl = 1;
}

#endif // STREAMTENSOR_DIALECT_DATAFLOW_IR_DATAFLOWBASE_TD
