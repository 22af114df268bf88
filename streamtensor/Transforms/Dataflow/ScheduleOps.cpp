//===- ScheduleOps.cpp - decide schedules -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fixed rule that gives every operation its loop order, token tile and
// unroll factors.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/Passes.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Transforms/Dataflow/IterationSpace.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace streamtensor {
#define GEN_PASS_DEF_SCHEDULEOPS
#include "streamtensor/Transforms/Dataflow/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;
using streamtensor::dataflow::kScheduleAttr;
using streamtensor::dataflow::ScheduleAttr;

/// The largest power of two up to `limit` that divides `extent`.
static int64_t powerOfTwoDivisor(int64_t extent, int64_t limit) {
  int64_t lanes = 1;
  while (lanes * 2 <= limit && extent % (lanes * 2) == 0)
    lanes *= 2;
  return lanes;
}

/// Dimensions of the iteration space in the order in which `map` names them.
static SmallVector<int64_t> dimsOfMap(AffineMap map) {
  SmallVector<int64_t> dims;
  for (AffineExpr result : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      dims.push_back(dim.getPosition());
  return dims;
}

namespace {

/// Builds the schedule of one Linalg operation.
class Scheduler {
public:
  Scheduler(linalg::GenericOp op, int64_t maxLanes, int64_t maxRows)
      : op(op), maxLanes(maxLanes), maxRows(maxRows),
        extents(op.getStaticLoopRanges()), maps(op.getIndexingMapsArray()),
        tile(extents.size(), 1), unroll(extents.size(), 1) {}

  ScheduleAttr run() {
    if (op.getNumReductionLoops() == 0)
      scheduleElementwise();
    else if (isContraction(op))
      scheduleContraction();
    else
      scheduleReduction();
    return ScheduleAttr::get(op.getContext(), order, tile, unroll);
  }

private:
  bool isReduction(int64_t dim) {
    return op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  }

  void append(int64_t dim) {
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  }

  /// Makes `dim` the dimension along which tokens hold several elements, all
  /// computed at once.
  void setLanes(int64_t dim) {
    tile[dim] = unroll[dim] = powerOfTwoDivisor(extents[dim], maxLanes);
  }

  void scheduleElementwise() {
    SmallVector<int64_t> outDims = dimsOfMap(maps.back());
    for (int64_t dim : outDims)
      append(dim);
    if (!outDims.empty())
      setLanes(outDims.back());
  }

  void scheduleContraction() {
    SmallVector<int64_t> outDims = dimsOfMap(maps.back());
    auto uses = [&](unsigned operand, int64_t dim) {
      return llvm::is_contained(dimsOfMap(maps[operand]), dim);
    };
    // The streamed operand holds the last dimension of the result; the other
    // one is held while the columns pass.
    unsigned streamed = 1;
    if (!outDims.empty() && !uses(1, outDims.back()))
      streamed = 0;
    unsigned held = 1 - streamed;
    SmallVector<int64_t> rows, columns;
    for (int64_t dim : outDims) {
      if (uses(0, dim) && uses(1, dim))
        append(dim);
      else if (uses(held, dim))
        rows.push_back(dim);
      else
        columns.push_back(dim);
    }
    for (int64_t dim : rows)
      append(dim);
    for (int64_t dim : dimsOfMap(maps[held]))
      if (isReduction(dim))
        append(dim);
    for (int64_t dim : columns)
      append(dim);
    if (!outDims.empty())
      setLanes(outDims.back());
    if (!rows.empty())
      tile[rows.back()] = powerOfTwoDivisor(extents[rows.back()], maxRows);
  }

  void scheduleReduction() {
    // The input of the highest rank leads; the first one among equals.
    unsigned leader = 0;
    for (unsigned i = 1, e = op.getNumDpsInputs(); i < e; ++i)
      if (maps[i].getNumResults() > maps[leader].getNumResults())
        leader = i;
    SmallVector<int64_t> leading;
    if (op.getNumDpsInputs() != 0)
      leading = dimsOfMap(maps[leader]);
    for (int64_t dim = 0, e = extents.size(); dim < e; ++dim)
      if (!llvm::is_contained(leading, dim) && !isReduction(dim))
        append(dim);
    for (int64_t dim : leading)
      append(dim);
    for (int64_t dim = 0, e = extents.size(); dim < e; ++dim)
      append(dim);
    if (!order.empty())
      setLanes(order.back());
  }

  linalg::GenericOp op;
  int64_t maxLanes, maxRows;
  SmallVector<int64_t> extents;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> order, tile, unroll;
};

class ScheduleOps : public streamtensor::impl::ScheduleOpsBase<ScheduleOps> {
public:
  using streamtensor::impl::ScheduleOpsBase<ScheduleOps>::ScheduleOpsBase;

  void runOnOperation() override {
    bool failedAny = false;
    getOperation().walk([&](Operation *op) {
      if (!isSchedulable(op))
        return;
      if (auto given = op->getAttrOfType<ScheduleAttr>(kScheduleAttr)) {
        failedAny |= failed(checkSchedule(op, given));
        return;
      }
      op->setAttr(kScheduleAttr, decide(op));
    });
    if (failedAny)
      signalPassFailure();
  }

private:
  ScheduleAttr decide(Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return Scheduler(generic, maxLanes, maxRows).run();
    // Slices and concatenations: memory order, lanes that divide every part.
    SmallVector<int64_t> extents = iterationExtents(op);
    int64_t rank = extents.size();
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    SmallVector<int64_t> tile(rank, 1);
    if (rank != 0) {
      int64_t common = lastDimensionParts(op);
      tile[rank - 1] = powerOfTwoDivisor(common, maxLanes);
    }
    return ScheduleAttr::get(op->getContext(), order, tile, tile);
  }

  /// The greatest common divisor of all sizes and offsets that the last
  /// dimension of a slice or concatenation is cut at.
  int64_t lastDimensionParts(Operation *op) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      int64_t parts = slice.getSourceType().getShape().back();
      parts = std::gcd(parts, slice.getStaticOffsets().back());
      return std::gcd(parts, slice.getStaticSizes().back());
    }
    auto concat = cast<tensor::ConcatOp>(op);
    int64_t parts = 0;
    for (Value input : concat.getInputs())
      parts = std::gcd(
          parts, cast<RankedTensorType>(input.getType()).getShape().back());
    return parts;
  }
};

} // namespace
