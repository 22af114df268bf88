//===- Dimensions.h - limits of dynamic dimensions --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file IN.dims.json:
//
//   {"dims": {"arg10.3": "past + seq", "arg9.1": "seq", "arg13.2": "past"},
//    "min": {"seq": 1, "past": 0}, "max": {"seq": 128, "past": 256}}
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_DIMENSIONS_H
#define STREAMTENSOR_PIPELINES_DIMENSIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace streamtensor {

/// Reads the limits of the dynamic dimensions of `function` from the file at
/// `path` and puts them on it, as `dataflow.dims` and `dataflow.parameters`
/// (see Dialect/Dataflow/IR/RuntimeSizes.h). A missing minimum is 1. Fails, and
/// lists every cause in `error`, for a file that is malformed or speaks of
/// other arguments or dimensions, and when a dynamic dimension is left out.
bool readDimensions(const std::string &path, mlir::func::FuncOp function,
                    std::string &error);

/// The dynamic dimensions of the arguments of `function`, as in the file:
/// "arg9.1".
std::vector<std::string> dynamicDimensions(mlir::func::FuncOp function);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_DIMENSIONS_H
