//===- ShrinkSchedule.cpp - smaller accumulators -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes one step after the other until the accumulator fits.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/ShrinkSchedule.h"

#include "streamtensor/Transforms/Dataflow/IterationSpace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace streamtensor;
using streamtensor::dataflow::ScheduleAttr;

namespace {

/// A schedule that can be changed: its loops, and the factors per dimension.
class Shrinker {
public:
  Shrinker(linalg::GenericOp op, ScheduleAttr schedule)
      : op(op), iterators(op.getIteratorTypesArray()),
        isBlocked(!schedule.getSteps().empty()), tile(schedule.getTile()),
        unroll(schedule.getUnroll()) {
    SmallVector<int64_t> outer = op.getStaticLoopRanges();
    for (auto [loop, dim] : llvm::enumerate(schedule.getOrder())) {
      int64_t step = schedule.getStep(loop);
      loops.push_back({dim, step, outer[dim] / step});
      outer[dim] = step;
    }
  }

  ScheduleAttr schedule() {
    SmallVector<int64_t> order, steps;
    for (const Loop &loop : loops) {
      order.push_back(loop.dim);
      steps.push_back(loop.step);
    }
    return ScheduleAttr::get(op.getContext(), order,
                             isBlocked ? ArrayRef<int64_t>(steps)
                                       : ArrayRef<int64_t>(),
                             tile, unroll);
  }

  /// Takes one step; returns whether there was one.
  bool shrink() { return takeFewerRows() || moveOut() || takeFewerLanes(); }

private:
  struct Loop {
    int64_t dim, step, trip;
  };

  bool isReduction(int64_t dim) const {
    return iterators[dim] == utils::IteratorType::reduction;
  }

  /// Makes the innermost tile smaller of those that are computed in several
  /// steps.
  bool takeFewerRows() {
    for (Loop &loop : llvm::reverse(loops)) {
      int64_t size = tile[loop.dim], lanes = unroll[loop.dim];
      if (!isReduction(loop.dim) && loop.step == size && size > lanes) {
        setTile(loop, size / lanes % 2 == 0 ? size / 2 : lanes);
        return true;
      }
    }
    return false;
  }

  /// Makes the innermost tile smaller of those that are computed at once.
  bool takeFewerLanes() {
    for (Loop &loop : llvm::reverse(loops)) {
      int64_t size = tile[loop.dim];
      if (!isReduction(loop.dim) && loop.step == size && size > 1) {
        setTile(loop, size % 2 == 0 ? size / 2 : 1);
        unroll[loop.dim] = tile[loop.dim];
        return true;
      }
    }
    return false;
  }

  /// `loop` is the innermost one of its dimension.
  void setTile(Loop &loop, int64_t size) {
    loop.trip *= loop.step / size;
    loop.step = tile[loop.dim] = size;
  }

  /// Moves the outermost parallel loop inside the first reduction loop outside
  /// of it.
  bool moveOut() {
    auto *reduction = llvm::find_if(loops, [&](const Loop &loop) {
      return isReduction(loop.dim) && loop.trip != 1;
    });
    for (auto *loop = reduction; loop != loops.end(); ++loop)
      if (!isReduction(loop->dim) && loop->trip != 1) {
        std::rotate(reduction, loop, loop + 1);
        return true;
      }
    return false;
  }

  linalg::GenericOp op;
  SmallVector<utils::IteratorType> iterators;
  bool isBlocked;
  SmallVector<Loop> loops;
  SmallVector<int64_t> tile, unroll;
};

} // namespace

ScheduleAttr streamtensor::shrinkAccumulator(linalg::GenericOp op,
                                             ScheduleAttr schedule,
                                             int64_t limitBytes) {
  Shrinker shrinker(op, schedule);
  while (accumulatorBytes(op, shrinker.schedule()) > limitBytes &&
         shrinker.shrink())
    ;
  return shrinker.schedule();
}

std::string streamtensor::describeShrinking(linalg::GenericOp op,
                                            ScheduleAttr before,
                                            ScheduleAttr after,
                                            int64_t limitBytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "an accumulator of " << accumulatorBytes(op, before)
     << " bytes exceeds the limit of " << limitBytes << ":";
  for (auto [dim, size] : llvm::enumerate(after.getTile()))
    if (size != before.getTile()[dim])
      os << " tile of dimension " << dim << " " << before.getTile()[dim]
         << " -> " << size << ",";
  if (before.getOrder() != after.getOrder()) {
    os << " loop order ";
    llvm::interleave(before.getOrder(), os, " ");
    os << " -> ";
    llvm::interleave(after.getOrder(), os, " ");
    os << ",";
  }
  os << " now " << accumulatorBytes(op, after) << " bytes";
  return text;
}
