//===- Dataflow.h - dataflow dialect -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dataflow dialect: kernels, tasks and the schedule attribute.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_DATAFLOW_IR_DATAFLOW_H
#define STREAMTENSOR_DIALECT_DATAFLOW_IR_DATAFLOW_H

#include "streamtensor/Support/TripCount.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "streamtensor/Dialect/Dataflow/IR/DataflowDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "streamtensor/Dialect/Dataflow/IR/DataflowAttrs.h.inc"

#define GET_OP_CLASSES
#include "streamtensor/Dialect/Dataflow/IR/DataflowOps.h.inc"

namespace streamtensor::dataflow {
/// Discardable attribute that carries the schedule of a Linalg operation.
inline constexpr llvm::StringLiteral kScheduleAttr = "dataflow.schedule";
} // namespace streamtensor::dataflow

#endif // STREAMTENSOR_DIALECT_DATAFLOW_IR_DATAFLOW_H
