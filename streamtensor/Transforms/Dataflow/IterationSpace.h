//===- IterationSpace.h - what is scheduled -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration space of the operations that become tasks, and the checks of
// the schedules on them.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_DATAFLOW_ITERATIONSPACE_H
#define STREAMTENSOR_TRANSFORMS_DATAFLOW_ITERATIONSPACE_H

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Support/TokenOrder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace streamtensor {

/// Whether `op` becomes a task of its own: a Linalg generic, a slice or a
/// concatenation of tensors.
bool isSchedulable(mlir::Operation *op);

/// Extent of each dimension that a schedule orders: the loops of a generic, the
/// dimensions of the source of a slice, those of the result of a concatenation.
mlir::SmallVector<int64_t> iterationExtents(mlir::Operation *op);

/// Whether every reduction dimension of `op` is used by both of its two inputs:
/// a (batched) matrix product in the wide sense.
bool isContraction(mlir::linalg::GenericOp op);

/// Emits an error on `op` and fails unless `schedule` has the rank of the
/// operation, its tiles divide the extents, and (slices, concatenations) every
/// part is a whole number of tiles.
mlir::LogicalResult checkSchedule(mlir::Operation *op,
                                  dataflow::ScheduleAttr schedule);

/// The loops of one operation, outermost first, without those of one trip.
struct LoopSpace {
  /// Per loop: the dimension of the iteration space, and the trip count.
  mlir::SmallVector<int64_t> dims, trips;
  /// Per dimension of the iteration space: the tile.
  mlir::SmallVector<int64_t> tile;

  LoopSpace(mlir::ArrayRef<int64_t> extents, dataflow::ScheduleAttr schedule);

  size_t size() const { return dims.size(); }
};

/// The token order of an operand with indexing map `map` (a projected
/// permutation): the loops of `space` for which `keep` holds, up to the last
/// one that changes the operand. Stores the number of loops of `space` that
/// must be open when a token is read or written into `depth`.
TokenOrder deriveOrder(const LoopSpace &space, mlir::AffineMap map,
                       mlir::function_ref<bool(int64_t dim)> keep,
                       size_t &depth);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_ITERATIONSPACE_H
