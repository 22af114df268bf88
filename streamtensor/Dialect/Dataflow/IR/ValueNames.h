//===- ValueNames.h - Values of the model in locations ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The front end names the values of a model in locations,
//
//   loc("%mul_3"("mlp.act"("model.py":12:0)))
//
// and where operations become one, their locations become one: so an operation,
// a task, and the FIFO behind it know which values of the model they make. With
// these names a run can be compared with PyTorch operator by operator.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_DATAFLOW_IR_VALUENAMES_H
#define STREAMTENSOR_DIALECT_DATAFLOW_IR_VALUENAMES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace streamtensor::dataflow {

/// On an `itensor.instance` and on its `stream.stream`: the names of values,
/// the last of which (in the order of the model) is what the FIFO carries; an
/// array of strings without the percent sign.
inline constexpr llvm::StringLiteral kValuesAttr = "dataflow.values";
/// On a `stream.stream` with names: the itensor type of its tokens.
inline constexpr llvm::StringLiteral kOrderAttr = "dataflow.order";

/// The names in `loc`, each once, without the percent sign.
llvm::SmallVector<mlir::StringAttr> valueNames(mlir::Location loc);

/// `loc` without some of its names.
mlir::Location withoutValueNames(mlir::Location loc,
                                 llvm::ArrayRef<mlir::StringAttr> names);

} // namespace streamtensor::dataflow

#endif // STREAMTENSOR_DIALECT_DATAFLOW_IR_VALUENAMES_H
