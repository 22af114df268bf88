//===- WindowTask.cpp - line buffers -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans line buffers and writes the tasks that own them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/WindowTask.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace streamtensor;
using Values = TaskBuilder::Values;

/// Widest token of the source.
static constexpr int64_t kMaxLanes = 16;

WindowPlan::WindowPlan(linalg::GenericOp op, dataflow::ScheduleAttr schedule)
    : space(iterationSizes(op), schedule) {
  AffineMap map = op.getIndexingMapsArray().front();
  auto source =
      cast<RankedTensorType>(op.getDpsInputOperand(0)->get().getType());
  // The dimension of the source that each loop moves along.
  SmallVector<unsigned> along(map.getNumDims(), 0);
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
    for (unsigned result = 0; result < map.getNumResults(); ++result)
      if (map.getResult(result).isFunctionOfDim(dim))
        along[dim] = result;
  auto isPlain = [&](int64_t dim) {
    return isa<AffineDimExpr>(map.getResult(along[dim]));
  };

  bufferShape.assign(source.getShape().begin(), source.getShape().end());
  sourceOrder.element.assign(source.getRank(), 1);
  sourceOrder.map.resize(source.getRank());
  auto addLoop = [&](unsigned result, int64_t trip, int64_t step) {
    sourceOrder.element[result] = step;
    if (trip == 1)
      return;
    sourceOrder.map[result].push_back(sourceOrder.numLoops());
    sourceOrder.trips.push_back(trip);
    sourceOrder.steps.push_back(step);
  };
  SmallVector<bool> done(source.getRank(), false);
  for (; shared < space.size() && isPlain(space.dims[shared]) &&
         llvm::count(space.dims, space.dims[shared]) == 1;
       ++shared) {
    int64_t dim = space.dims[shared];
    addLoop(along[dim], space.largestTrip(shared), space.steps[shared]);
    bufferShape[along[dim]] = space.tile[dim];
    done[along[dim]] = true;
  }
  if (shared < space.size()) {
    int64_t dim = space.dims[shared];
    unsigned result = along[dim];
    SmallVector<int64_t> factors = windowFactors(map, result);
    if (!isPlain(dim) && space.tile[dim] == 1 &&
        llvm::count(space.dims, dim) == 1) {
      rowDim = result;
      stride = factors[dim];
      positions = space.largestTrip(shared);
      rows = 1;
      SmallVector<int64_t> ranges = op.getStaticLoopRanges();
      for (auto [other, factor] : llvm::enumerate(factors))
        if (static_cast<int64_t>(other) != dim && factor != 0)
          rows += factor * (ranges[other] - 1);
      sourceRows = source.getDimSize(result);
      addLoop(result, sourceRows, 1);
      bufferShape[result] = rows;
      done[result] = true;
    }
  }
  firstFillLoop = sourceOrder.numLoops();
  if (rowDim && sourceRows == 1)
    rowDim.reset(); // a single row: the buffer holds it
  for (unsigned result = 0; result < source.getRank(); ++result) {
    if (done[result])
      continue;
    int64_t extent = source.getDimSize(result);
    bool last = result + 1 == source.getRank();
    int64_t lanes = last ? powerOfTwoDivisor(extent, kMaxLanes) : 1;
    addLoop(result, extent / lanes, lanes);
  }
}

int64_t WindowPlan::bufferElements() const {
  int64_t elements = 1;
  for (int64_t extent : bufferShape)
    elements *= extent;
  return elements;
}

namespace {

/// Writes one task.
class WindowTask {
public:
  WindowTask(TaskBuilder &task, linalg::GenericOp op, const WindowPlan &plan,
             Value source)
      : task(task), builder(task.builder), loc(op.getLoc()), plan(plan),
        map(op.getIndexingMapsArray().front()), source(source),
        elementType(cast<RankedTensorType>(op.getResult(0).getType())
                        .getElementType()) {}

  Values run(Value dest) {
    ArrayRef<TripCount> trips =
        ArrayRef<TripCount>(plan.space.trips).take_front(plan.shared);
    return task.nest(
        trips, "outer", dest,
        [&](ValueRange ivs, ValueRange carried) -> Values {
          auto empty = tensor::EmptyOp::create(builder, loc, plan.bufferShape,
                                               elementType);
          empty->setAttr("hls.name", builder.getStringAttr("lines"));
          if (!plan.rowDim) {
            Value filled = fill(empty.getResult(), Value());
            return emit(plan.shared, filled, Value(), carried.front());
          }
          Values results = task.loop(
              plan.sourceRows, "row", {empty.getResult(), carried.front()},
              [&](Value row, ValueRange inner) -> Values {
                Value filled = fill(inner[0], row);
                return {filled, emitWhenComplete(filled, row, inner[1])};
              });
          return {results.back()};
        });
  }

private:
  Value apply(AffineExpr expr, ValueRange operands) {
    return affine::AffineApplyOp::create(
        builder, loc, AffineMap::get(operands.size(), 0, expr), operands);
  }

  /// Reads one row (all of the buffer without rows) into its place.
  Value fill(Value lines, Value row) {
    SmallVector<TripCount> trips;
    for (size_t loop = plan.firstFillLoop; loop < plan.sourceOrder.numLoops();
         ++loop)
      trips.push_back(plan.sourceOrder.trips[loop]);
    return task
        .nest(trips, "fill", lines,
              [&](ValueRange ivs, ValueRange carried) -> Values {
                Value token = task.read(source);
                SmallVector<OpFoldResult> offsets;
                for (auto [result, loops] :
                     llvm::enumerate(plan.sourceOrder.map)) {
                  SmallVector<std::pair<Value, int64_t>> terms;
                  for (unsigned loop : loops)
                    if (loop >= plan.firstFillLoop)
                      terms.emplace_back(ivs[loop - plan.firstFillLoop],
                                         plan.sourceOrder.steps[loop]);
                  offsets.push_back(task.offset(terms));
                }
                if (row)
                  offsets[*plan.rowDim] =
                      apply(builder.getAffineDimExpr(0) % plan.rows, row);
                return {tensor::InsertSliceOp::create(
                    builder, loc, token, carried.front(), offsets,
                    asIndexAttrs(builder, plan.sourceOrder.element),
                    unitStrides())};
              })
        .front();
  }

  SmallVector<OpFoldResult> unitStrides() {
    return SmallVector<OpFoldResult>(plan.bufferShape.size(),
                                     builder.getIndexAttr(1));
  }

  /// Emits the windows whose last row is `row`, if there are any.
  Value emitWhenComplete(Value lines, Value row, Value dest) {
    int64_t first = plan.rows - 1;
    int64_t last = first + (plan.positions - 1) * plan.stride;
    Value complete =
        task.requireRange(Value(), row, plan.sourceRows, first, last + 1);
    if (plan.stride > 1) {
      int64_t shift = (plan.stride - first % plan.stride) % plan.stride;
      complete = task.require(
          complete, arith::CmpIPredicate::eq,
          apply((builder.getAffineDimExpr(0) + shift) % plan.stride, row), 0);
    }
    return task.branch(
        complete, dest.getType(),
        [&] { return emit(plan.shared + 1, lines, row, dest).front(); },
        [&] { return dest; });
  }

  /// The windows inside the first `open` loops.
  Values emit(size_t open, Value lines, Value row, Value dest) {
    ArrayRef<TripCount> trips =
        ArrayRef<TripCount>(plan.space.trips).drop_front(open);
    return task.nest(trips, "window", dest,
                     [&](ValueRange ivs, ValueRange carried) -> Values {
                       Value token = windowToken(open, lines, row, ivs);
                       return {task.write(token, carried.front())};
                     });
  }

  Value windowToken(size_t open, Value lines, Value row, ValueRange ivs) {
    SmallVector<OpFoldResult> offsets, sizes;
    int64_t width = 1;
    for (unsigned result = 0; result < map.getNumResults(); ++result) {
      SmallVector<int64_t> factors = windowFactors(map, result);
      SmallVector<std::pair<Value, int64_t>> terms;
      for (auto [i, iv] : llvm::enumerate(ivs))
        if (int64_t factor = factors[plan.space.dims[open + i]])
          terms.emplace_back(iv, factor * plan.space.steps[open + i]);
      int64_t size = 1;
      for (auto [dim, factor] : llvm::enumerate(factors))
        if (factor != 0)
          size *= plan.space.tile[dim];
      width *= size;
      sizes.push_back(builder.getIndexAttr(size));
      if (row && result == *plan.rowDim) {
        // The row before the window's first one stands at `row` - `rows`, which
        // is `row` in the ring.
        AffineExpr sum = builder.getAffineDimExpr(0) + 1;
        Values operands{row};
        for (auto [iv, step] : terms) {
          sum = sum + builder.getAffineDimExpr(operands.size()) * step;
          operands.push_back(iv);
        }
        offsets.push_back(apply(sum % plan.rows, operands));
        continue;
      }
      offsets.push_back(task.offset(terms));
    }
    auto line = RankedTensorType::get({width}, elementType);
    Value slice = tensor::ExtractSliceOp::create(builder, loc, line, lines,
                                                 offsets, sizes, unitStrides());
    auto token = RankedTensorType::get(plan.space.tile, elementType);
    if (token == line)
      return slice;
    ReassociationIndices all =
        llvm::to_vector(llvm::seq<int64_t>(0, token.getRank()));
    return tensor::ExpandShapeOp::create(builder, loc, token, slice,
                                         ArrayRef<ReassociationIndices>(all));
  }

  TaskBuilder &task;
  OpBuilder &builder;
  Location loc;
  const WindowPlan &plan;
  AffineMap map;
  Value source;
  Type elementType;
};

} // namespace

Values streamtensor::buildWindowTask(TaskBuilder &task, linalg::GenericOp op,
                                     const WindowPlan &plan, Value source,
                                     Value dest) {
  return WindowTask(task, op, plan, source).run(dest);
}
