//===- ExecutionCounts.h - How often operations run -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the executions of operations in the function of a task, at given
// values of the run-time parameters.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_EXECUTIONCOUNTS_H
#define STREAMTENSOR_TARGET_REPORT_EXECUTIONCOUNTS_H

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace streamtensor {

/// How often `op` runs in one call of the function around it (phase `hls`),
/// when each run-time parameter has the value in `values`: the product of the
/// trip counts of the loops around it. A branch counts as taken.
int64_t countExecutions(mlir::Operation *op, const ParameterValues &values);

/// Whether the tokens that `task` moves through its argument `stream` are, for
/// all values of `parameters`, in one proportion to the operations on data that
/// it computes most often. Compared at the smallest and largest value of each
/// parameter.
bool countsWork(mlir::func::FuncOp task, mlir::BlockArgument stream,
                llvm::ArrayRef<dataflow::ParameterRange> parameters);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_REPORT_EXECUTIONCOUNTS_H
