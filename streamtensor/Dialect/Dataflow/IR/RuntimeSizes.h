//===- RuntimeSizes.h - tensors of run-time size ----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor whose size is known at run time only has the type of its largest
// size and lies in the corner of it; what the size is stands beside the type:
//
//   func.func @layer(%x: tensor<1x128x64xf32>
//                        {dataflow.dims = ["", "seq max 128", ""]})
//       attributes {dataflow.parameters = {seq = array<i64: 1, 128>}}
//
// so that everything which does not care for the size works as it does on
// static tensors.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_DATAFLOW_IR_RUNTIMESIZES_H
#define STREAMTENSOR_DIALECT_DATAFLOW_IR_RUNTIMESIZES_H

#include "streamtensor/Support/SymbolicOrder.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace streamtensor::dataflow {

/// Sizes of a tensor, one text per dimension: empty where the type says it, or
/// an expression of parameters, each with its maximum at its first use. On a
/// function's arguments and results, and on operations (of their result).
inline constexpr llvm::StringLiteral kDimsAttr = "dataflow.dims";

/// On a function: the smallest and the largest value of each parameter, by
/// name. The maximum in an expression is the size for which there is memory,
/// which may be larger.
inline constexpr llvm::StringLiteral kParametersAttr = "dataflow.parameters";

/// On a function: it is one layer of a model, and its design runs many
/// (`--st-repeat-layers`). A dictionary: `parameter`, the name of the run-time
/// size that says how many; `count`, the most; `argument` and `result`, the
/// names of the hidden state before and behind a layer; `shared`, those of the
/// arguments that are the same for all.
inline constexpr llvm::StringLiteral kRepeatAttr = "dataflow.repeat";

/// On an argument of type index of a function (phase `hls`): the name of the
/// parameter whose value it is.
inline constexpr llvm::StringLiteral kParameterAttr = "dataflow.parameter";

/// The sizes of a tensor.
struct RuntimeShape {
  llvm::SmallVector<TripCount> sizes;
  /// The largest value of each parameter in `sizes`.
  ParameterValues maxima;

  bool isStatic() const { return maxima.empty(); }
  bool isStatic(unsigned dim) const { return sizes[dim].isConstant(); }
};

/// The sizes that `dims`, which may be null, and `type` say; fails with a
/// message from `emitError` for a malformed attribute, or one whose largest
/// sizes are not those of the type.
llvm::FailureOr<RuntimeShape>
readShape(mlir::ShapedType type, mlir::Attribute dims,
          llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The sizes of the tensor `value`: what the attribute of its function's
/// argument or of its operation says, which the dialect has verified, or its
/// type.
RuntimeShape shapeOf(mlir::Value value);

/// The attribute that says `shape`; null when it is static.
mlir::ArrayAttr dimsAttr(mlir::MLIRContext *context, const RuntimeShape &shape);

/// Smallest and largest value of one parameter.
struct ParameterRange {
  std::string name;
  int64_t smallest, largest;
};

/// The parameters of `function` by name; empty without any.
llvm::SmallVector<ParameterRange>
parametersOf(mlir::FunctionOpInterface function);

/// Sets them; an empty list removes the attribute.
void setParameters(mlir::FunctionOpInterface function,
                   llvm::ArrayRef<ParameterRange> parameters);

} // namespace streamtensor::dataflow

#endif // STREAMTENSOR_DIALECT_DATAFLOW_IR_RUNTIMESIZES_H
