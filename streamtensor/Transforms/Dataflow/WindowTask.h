//===- WindowTask.h - line buffers -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The task that turns a tensor into its windows (convolutions, poolings): it
// keeps the rows that a window spans, and no more.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_DATAFLOW_WINDOWTASK_H
#define STREAMTENSOR_TRANSFORMS_DATAFLOW_WINDOWTASK_H

#include "streamtensor/Transforms/Dataflow/IterationSpace.h"
#include "streamtensor/Transforms/Dataflow/TaskBuilder.h"

namespace streamtensor {

/// How a window operation reads its source and what it keeps, given the order
/// in which it writes its windows.
///
/// The loops over dimensions that are no window, as far as they stand
/// outermost, are shared by source and windows. When the next loop moves the
/// windows along a dimension of the source, the source comes row by row along
/// that dimension, and the buffer is a ring of the rows that a window spans;
/// else it holds the source inside the shared loops.
struct WindowPlan {
  WindowPlan(mlir::linalg::GenericOp op, dataflow::ScheduleAttr schedule);

  /// Loops over the windows.
  LoopSpace space;
  /// How many of them are shared.
  size_t shared = 0;
  /// The dimension of the source that comes row by row, with the distance
  /// between two windows, and how many rows one spans.
  std::optional<unsigned> rowDim;
  int64_t stride = 1, rows = 0, sourceRows = 0, positions = 0;
  /// The order in which the source is read: the shared loops, the rows, then
  /// the rest in memory order.
  TokenOrder sourceOrder;
  /// The loops of `sourceOrder` that fill one row (or the whole buffer).
  size_t firstFillLoop = 0;
  /// Per dimension of the source, what the buffer holds.
  mlir::SmallVector<int64_t> bufferShape;

  int64_t bufferElements() const;
};

/// Fills `task`, whose source stream is `source`, with the loops of `plan`;
/// returns the destination after the last window.
TaskBuilder::Values buildWindowTask(TaskBuilder &task,
                                    mlir::linalg::GenericOp op,
                                    const WindowPlan &plan, mlir::Value source,
                                    mlir::Value dest);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_WINDOWTASK_H
