//===- SizeConsistency.h - Whether run-time sizes agree ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor of run-time size has the type of its largest size, so MLIR's own
// verifiers see largest sizes only. Whether operations agree about all other
// sizes is checked here.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_SIZECONSISTENCY_H
#define STREAMTENSOR_ANALYSIS_SIZECONSISTENCY_H

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace streamtensor {

/// The sizes of tensor operand `operand` of `op`. An init has those of its
/// result, which says them: several operations may share the init.
dataflow::RuntimeShape operandShape(mlir::linalg::GenericOp op,
                                    mlir::OpOperand &operand);

/// Fails, with an error on each operation at fault, unless in `function` (phase
/// `normalized` or `scheduled`), for all values of its run-time parameters:
///  - `dataflow.parameters` has a range for each parameter of a size, within
///    the maximum for which there is memory, which is one for the function;
///  - operands and results of a `linalg.generic` agree about the size of each
///    loop;
///  - the parts of a concatenation make up its result, a padded tensor its
///    source and what is added, the groups of a reshape each other;
///  - a slice lies within its source;
///  - what is returned has the size that the function says.
/// A function of static sizes always passes.
mlir::LogicalResult checkSizes(mlir::func::FuncOp function);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_SIZECONSISTENCY_H
