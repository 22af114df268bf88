//===- TaskBuilder.h - loops of a task -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every pass that writes task bodies shares: constants at the start of the
// task, loop nests that carry values, reads and writes of tokens, offsets.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_DATAFLOW_TASKBUILDER_H
#define STREAMTENSOR_TRANSFORMS_DATAFLOW_TASKBUILDER_H

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace streamtensor {

/// Writes the body of one task at the current insertion point of `builder`.
class TaskBuilder {
public:
  /// Starts at the beginning of the body of `task`, which must be empty.
  /// `maxima` has the largest value of each parameter that trip counts depend
  /// on.
  TaskBuilder(mlir::OpBuilder &builder, dataflow::TaskOp task,
              const ParameterValues &maxima = {});

  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// The index `value`, created once at the start of the task.
  mlir::Value index(const TripCount &value);

  /// A copy of the constant-like operation that defines `value`, at the start
  /// of the task; fails with an error on `user` when it is no constant.
  mlir::FailureOr<mlir::Value> captureConstant(mlir::Value value,
                                               mlir::Operation *user);

  using Values = mlir::SmallVector<mlir::Value>;
  /// One loop 0..trip that carries `carried`; `body` gets the induction
  /// variable and the carried values and returns the new ones.
  Values loop(const TripCount &trip, mlir::StringRef label,
              mlir::ValueRange carried,
              mlir::function_ref<Values(mlir::Value, mlir::ValueRange)> body);

  /// A nest of loops; `body` gets all induction variables.
  Values
  nest(mlir::ArrayRef<TripCount> trips, mlir::StringRef label,
       mlir::ValueRange carried,
       mlir::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> body);

  /// The sum over `terms` of induction variable x step, as an affine.apply, or
  /// the attribute 0 when there is none.
  mlir::OpFoldResult
  offset(mlir::ArrayRef<std::pair<mlir::Value, int64_t>> terms);

  /// Offsets of the token of `order` whose loops have the induction variables
  /// `ivs`, one per data dimension.
  mlir::SmallVector<mlir::OpFoldResult> offsets(const SymbolicOrder &order,
                                                mlir::ValueRange ivs);

  /// Pulls one token into a fresh tensor.
  mlir::Value read(mlir::Value source);

  /// Pushes `token` and returns the new destination.
  mlir::Value write(mlir::Value token, mlir::Value dest);

  /// `condition` and `value` `predicate` `bound`; a null condition always
  /// holds.
  mlir::Value require(mlir::Value condition,
                      mlir::arith::CmpIPredicate predicate, mlir::Value value,
                      const TripCount &bound);

  /// `condition` and first <= `iv` < last, for an induction variable 0..trip;
  /// tests that always hold are left out.
  mlir::Value requireRange(mlir::Value condition, mlir::Value iv,
                           const TripCount &trip, const TripCount &first,
                           const TripCount &last);

  /// What `then` returns where `condition` holds, what `otherwise` returns
  /// where it does not; without a branch when the condition is null.
  mlir::Value branch(mlir::Value condition, mlir::Type type,
                     mlir::function_ref<mlir::Value()> then,
                     mlir::function_ref<mlir::Value()> otherwise);

private:
  mlir::Block *start;
  ParameterValues maxima;
  /// By their spelling.
  llvm::StringMap<mlir::Value> indices;
  llvm::MapVector<mlir::Value, mlir::Value> captured;
  mlir::Operation *lastConstant = nullptr;

  void setConstantInsertionPoint();
};

/// Shape {1, 1, ...} or {sizes...} as attributes, and unit strides, for slices.
mlir::SmallVector<mlir::OpFoldResult>
asIndexAttrs(mlir::OpBuilder &builder, mlir::ArrayRef<int64_t> values);

/// A short name for what `op` computes: its `st.name` if it has one.
std::string baseName(mlir::Operation *op);

/// "linalg.generic at model.py:12": the operation and its line in the model.
std::string describeSource(mlir::Operation *op);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_TASKBUILDER_H
