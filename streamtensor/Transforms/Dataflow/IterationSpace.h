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
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Support/SymbolicOrder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace streamtensor {

/// Whether `op` becomes a task of its own: a Linalg generic, a slice, a
/// concatenation or a padding of tensors.
bool isSchedulable(mlir::Operation *op);

/// Extent of each dimension that a schedule orders: the loops of a generic, the
/// dimensions of the source of a slice, those of the result of a concatenation
/// or padding.
mlir::SmallVector<int64_t> iterationExtents(mlir::Operation *op);

/// The same for all values of the run-time parameters; `iterationExtents` are
/// the largest ones.
dataflow::RuntimeShape iterationSizes(mlir::Operation *op);

/// Whether `op` copies the windows of a tensor: a generic whose input map adds
/// loops (see --st-extract-windows).
bool isWindow(mlir::Operation *op);

/// Factor of each loop in result `result` of a window map.
mlir::SmallVector<int64_t> windowFactors(mlir::AffineMap map, unsigned result);

/// The largest power of two up to `limit` that divides `extent`: how many
/// elements a token holds along a dimension.
int64_t powerOfTwoDivisor(int64_t extent, int64_t limit);

/// Whether `op` is a (batched) matrix product in the wide sense: of its two
/// inputs, one has every reduction dimension and the other at least one of
/// them. Those that it lacks are parts of its elements, such as the halves of a
/// byte.
bool isContraction(mlir::linalg::GenericOp op);

/// Emits an error on `op` and fails unless `schedule` has the rank of the
/// operation, its tiles divide the extents (and are 1, with one loop, where an
/// extent is known at run time only), (slices, concatenations, paddings)
/// every part is a whole number of tiles, and (windows) a token lies in a row
/// of the source.
mlir::LogicalResult checkSchedule(mlir::Operation *op,
                                  dataflow::ScheduleAttr schedule);

/// The loops of one operation, outermost first, without those of one trip.
struct LoopSpace {
  /// Per loop: the dimension of the iteration space, the trip count and the
  /// step. A dimension may have several loops.
  mlir::SmallVector<int64_t> dims;
  mlir::SmallVector<TripCount> trips;
  mlir::SmallVector<int64_t> steps;
  /// Per dimension of the iteration space: the tile.
  mlir::SmallVector<int64_t> tile;

  /// The largest value of each parameter in `trips`.
  ParameterValues maxima;

  LoopSpace(const dataflow::RuntimeShape &sizes,
            dataflow::ScheduleAttr schedule);

  size_t size() const { return dims.size(); }
  /// The largest trip count of a loop.
  int64_t largestTrip(size_t loop) const { return trips[loop].highest(maxima); }
};

/// The token order of an operand with indexing map `map` (a projected
/// permutation): the loops of `space` up to the last one that changes the
/// operand. Stores the number of loops of `space` that must be open when a
/// token is read or written into `depth`.
SymbolicOrder deriveOrder(const LoopSpace &space, mlir::AffineMap map,
                          size_t &depth);

/// A loop over the accumulator when it is drained: one of its own loops, or one
/// over the points of a cell, along one dimension of the result.
struct DrainLoop {
  size_t result;
  std::optional<size_t> accumulatorLoop;
  TripCount trip;
  int64_t step;
};

/// How a generic operation writes its result. An element-wise operation writes
/// tile by tile. A reduction drains its accumulator (the parallel loops inside
/// the first reduction loop) in memory order, in tokens of as many elements as
/// are computed at once.
struct ResultPlan {
  SymbolicOrder order;
  /// The first loop over a reduction dimension; the number of loops without
  /// one.
  size_t firstReduction = 0;
  mlir::SmallVector<size_t> accumulatorLoops;
  mlir::SmallVector<DrainLoop> drainLoops;

  ResultPlan(mlir::linalg::GenericOp op, dataflow::ScheduleAttr schedule,
             const LoopSpace &space);
};

/// Bytes of the accumulator of `op` under `schedule`: the tile of the result
/// for every iteration of the accumulator's loops. 0 without a reduction.
int64_t accumulatorBytes(mlir::linalg::GenericOp op,
                         dataflow::ScheduleAttr schedule);

/// The order in which scheduled `op` reads the tokens of tensor input `input`.
SymbolicOrder operandOrder(mlir::Operation *op, dataflow::ScheduleAttr schedule,
                           unsigned input);

/// The order in which scheduled `op` writes the tokens of its result.
SymbolicOrder resultOrder(mlir::Operation *op, dataflow::ScheduleAttr schedule);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_ITERATIONSPACE_H
