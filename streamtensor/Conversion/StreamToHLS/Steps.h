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

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Dialect/HLS/IR/Identifiers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace streamtensor {

/// 1. Makes the one public function the top function: memory allocated between
/// kernels becomes arguments behind the results, run-time parameters become
/// arguments of type index behind those; all get their C++ names. Fails unless
/// there is exactly one public function on static memrefs.
mlir::FailureOr<mlir::func::FuncOp> makeTopFunction(mlir::ModuleOp module);

/// 2. Turns kernels into functions that start tasks, and tasks into functions.
llvm::LogicalResult outlineTasks(mlir::func::FuncOp top);

/// A part of step 2: replaces the trip counts in the function of a task by
/// arithmetic on the run-time parameters that they need, which become arguments
/// behind the others; `names` are those of the function's arguments. Loops up
/// to a run-time count get its bounds. Fails for a parameter that is not among
/// `parameters`, those of the top function, or that exceeds its memory there.
llvm::LogicalResult
lowerTripCounts(mlir::func::FuncOp task,
                llvm::ArrayRef<dataflow::ParameterRange> parameters,
                hls::UniqueIdentifiers &names);

/// The arguments of `function` that are run-time parameters, by their names.
llvm::StringMap<mlir::BlockArgument>
parameterArguments(mlir::func::FuncOp function);

/// 3. Labels the loops of a task function, and decides pipelining, partitioning
/// and storage.
void attachDirectives(mlir::func::FuncOp task);

/// How many accesses the memory behind argument `index` of the top function
/// reaches over, in vectors where it is packed.
int64_t portDepth(mlir::func::FuncOp top, unsigned index);

/// 4. Assigns the arguments of the top function to AXI ports.
void attachInterfaces(mlir::func::FuncOp top, unsigned maxBundles,
                      unsigned burst);

} // namespace streamtensor

#endif // STREAMTENSOR_CONVERSION_STREAMTOHLS_STEPS_H
