//===- Steps.h - Steps of the conversion to HLS -----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `--st-stream-to-hls`, in the order in which they run.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_CONVERSION_STREAMTOHLS_STEPS_H
#define STREAMTENSOR_CONVERSION_STREAMTOHLS_STEPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace streamtensor {

/// 1. Makes the one public function the top function: memory allocated between
/// kernels becomes arguments behind the results, arguments get their C++ names.
/// Fails unless there is exactly one public function on static memrefs.
mlir::FailureOr<mlir::func::FuncOp> makeTopFunction(mlir::ModuleOp module);

/// 2. Turns kernels into functions that start tasks, and tasks into functions.
llvm::LogicalResult outlineTasks(mlir::func::FuncOp top);

/// 3. Labels the loops of a task function, and decides pipelining, partitioning
/// and storage.
void attachDirectives(mlir::func::FuncOp task);

/// 4. Assigns the arguments of the top function to AXI ports.
void attachInterfaces(mlir::func::FuncOp top, unsigned maxBundles,
                      unsigned burst);

} // namespace streamtensor

#endif // STREAMTENSOR_CONVERSION_STREAMTOHLS_STEPS_H
