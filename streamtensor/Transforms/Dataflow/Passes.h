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

/// On an operation and the task that it becomes, a string: why its schedule is
/// not the usual one.
inline constexpr llvm::StringLiteral kScheduleReasonAttr =
    "dataflow.schedule_reason";

/// On the function, an array of dictionaries {op, producer, fused, reason}: for
/// each operation and each other one that it reads from, whether they were
/// fused and why. `producer` is missing where there is none.
inline constexpr llvm::StringLiteral kFusionAttr = "dataflow.fusion";

#define GEN_PASS_DECL
#include "streamtensor/Transforms/Dataflow/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "streamtensor/Transforms/Dataflow/Passes.h.inc"

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_PASSES_H
