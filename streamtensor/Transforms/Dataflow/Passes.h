//===- Passes.h - Dataflow passes -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes between the phases `normalized` and `fused`.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_DATAFLOW_PASSES_H
#define STREAMTENSOR_TRANSFORMS_DATAFLOW_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace streamtensor {

#define GEN_PASS_DECL
#include "streamtensor/Transforms/Dataflow/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "streamtensor/Transforms/Dataflow/Passes.h.inc"

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_PASSES_H
