//===- StreamEdge.h - what lies on an edge -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans what lies between the producer and the consumer of a stream: nothing, a
// cast, a reassociation, a converter, or a sequence of them.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_DATAFLOW_STREAMEDGE_H
#define STREAMTENSOR_TRANSFORMS_DATAFLOW_STREAMEDGE_H

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Support/SymbolicOrder.h"

#include "mlir/IR/Builders.h"

namespace streamtensor {

/// One reshape between two tensors: each dimension of the smaller rank is a
/// group of dimensions of the larger one.
struct Reshape {
  bool expands;
  std::vector<std::vector<unsigned>> groups;
  mlir::SmallVector<int64_t> sourceShape, resultShape;
  /// The same for all values of the run-time parameters.
  mlir::SmallVector<TripCount> sourceSizes, resultSizes;
};

/// The tensor that `value` is a reshape of, and the reshapes from it to
/// `value`, in order.
mlir::Value traceReshapes(mlir::Value value, std::vector<Reshape> &reshapes);

/// What lies on an edge, source to destination.
struct EdgePlan {
  enum class Kind { Cast, Reassociate, Converter };
  struct Step {
    Kind kind;
    SymbolicOrder result;
  };
  std::vector<Step> steps;
  /// On-chip memory of all converters and width adapters, in elements, at the
  /// largest sizes.
  int64_t elements = 0;
  /// Not set: there is no such edge for all run-time sizes; `elements` is then
  /// more than any memory has.
  bool exists = true;
};

/// Plans the edge from a stream in order `source` through `reshapes` to a
/// consumer that wants `destination`. Where an order can't be carried through a
/// reshape, the edge goes through memory order; between static orders there
/// always is an edge.
EdgePlan planEdge(const SymbolicOrder &source, mlir::ArrayRef<Reshape> reshapes,
                  const SymbolicOrder &destination);

/// Creates the operations of `plan` behind `source`.
mlir::Value buildEdge(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value source, const EdgePlan &plan);

/// The order `source` seen from behind `reshapes`, when there is one.
std::optional<SymbolicOrder> pushThrough(const SymbolicOrder &source,
                                         mlir::ArrayRef<Reshape> reshapes);

/// The order `destination` seen from before `reshapes`, when there is one.
std::optional<SymbolicOrder> pullThrough(const SymbolicOrder &destination,
                                         mlir::ArrayRef<Reshape> reshapes);

/// Bytes of `elements` elements of type `elementType`, whole bytes each.
int64_t bytesOf(int64_t elements, mlir::Type elementType);

/// Whether a loop repeats what is inside it.
bool hasRevisits(const SymbolicOrder &order);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_STREAMEDGE_H
