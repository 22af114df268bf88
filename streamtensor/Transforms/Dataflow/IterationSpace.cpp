//===- IterationSpace.cpp - what is scheduled -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Iteration spaces, schedule checks and the derivation of token orders.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/IterationSpace.h"

#include "streamtensor/Transforms/Dataflow/StreamEdge.h"
#include "streamtensor/Transforms/Dataflow/WindowTask.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace streamtensor;
using streamtensor::dataflow::ScheduleAttr;

bool streamtensor::isSchedulable(Operation *op) {
  return isa<linalg::GenericOp, tensor::ExtractSliceOp, tensor::ConcatOp,
             tensor::PadOp>(op);
}

SmallVector<int64_t> streamtensor::iterationExtents(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getStaticLoopRanges();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return llvm::to_vector(slice.getSourceType().getShape());
  return llvm::to_vector(
      cast<RankedTensorType>(op->getResult(0).getType()).getShape());
}

bool streamtensor::isWindow(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumDpsInputs() == 1 &&
         !generic.getIndexingMapsArray().front().isProjectedPermutation();
}

SmallVector<int64_t> streamtensor::windowFactors(AffineMap map,
                                                 unsigned result) {
  SmallVector<int64_t> factors(map.getNumDims(), 0);
  map.getResult(result).walk([&](AffineExpr expr) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      factors[loop.getPosition()] =
          std::max<int64_t>(factors[loop.getPosition()], 1);
    auto product = dyn_cast<AffineBinaryOpExpr>(expr);
    if (product && product.getKind() == AffineExprKind::Mul)
      factors[cast<AffineDimExpr>(product.getLHS()).getPosition()] =
          cast<AffineConstantExpr>(product.getRHS()).getValue();
  });
  return factors;
}

int64_t streamtensor::powerOfTwoDivisor(int64_t extent, int64_t limit) {
  int64_t lanes = 1;
  while (lanes * 2 <= limit && extent % (lanes * 2) == 0)
    lanes *= 2;
  return lanes;
}

bool streamtensor::isContraction(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumReductionLoops() == 0)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction &&
        (!maps[0].isFunctionOfDim(dim) || !maps[1].isFunctionOfDim(dim)))
      return false;
  return true;
}

/// Whether `dim` has more than one loop.
static bool isBlocked(ScheduleAttr schedule, int64_t dim) {
  return llvm::count(schedule.getOrder(), dim) > 1;
}

LogicalResult streamtensor::checkSchedule(Operation *op,
                                          ScheduleAttr schedule) {
  SmallVector<int64_t> extents = iterationExtents(op);
  if (schedule.getTile().size() != extents.size())
    return op->emitOpError() << "expected a schedule of rank " << extents.size()
                             << " but got " << schedule.getTile().size();
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent % schedule.getTile()[dim] != 0)
      return op->emitOpError()
             << "expected tile " << schedule.getTile()[dim]
             << " to divide the extent " << extent << " of dimension " << dim;
  for (auto [loop, dim] : llvm::enumerate(schedule.getOrder()))
    if (extents[dim] % schedule.getStep(loop) != 0)
      return op->emitOpError() << "expected step " << schedule.getStep(loop)
                               << " to divide the extent " << extents[dim]
                               << " of dimension " << dim;
  // A dimension that is cut has one loop, of whole tiles in every part.
  auto checkPart = [&](int64_t dim, int64_t size) -> LogicalResult {
    if (isBlocked(schedule, dim))
      return op->emitOpError() << "expected one loop over dimension " << dim
                               << ", along which it cuts";
    if (size % schedule.getTile()[dim] == 0)
      return success();
    return op->emitOpError() << "expected tile " << schedule.getTile()[dim]
                             << " to divide every part of dimension " << dim
                             << " but one is " << size;
  };
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    for (auto [dim, offset, size] :
         llvm::enumerate(slice.getStaticOffsets(), slice.getStaticSizes())) {
      if (size == extents[dim])
        continue;
      if (failed(checkPart(dim, offset)) || failed(checkPart(dim, size)))
        return failure();
    }
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    for (auto [dim, low, size] :
         llvm::enumerate(pad.getStaticLow(), pad.getSourceType().getShape())) {
      if (size == extents[dim])
        continue;
      if (failed(checkPart(dim, low)) || failed(checkPart(dim, size)))
        return failure();
    }
  } else if (isWindow(op)) {
    AffineMap map = cast<linalg::GenericOp>(op).getIndexingMapsArray().front();
    int64_t wide = llvm::count_if(schedule.getTile(),
                                  [](int64_t tile) { return tile > 1; });
    for (unsigned result = 0; result < map.getNumResults(); ++result)
      for (auto [dim, factor] : llvm::enumerate(windowFactors(map, result)))
        if (schedule.getTile()[dim] > 1 && factor > 1)
          wide = 2;
    if (wide > 1)
      return op->emitOpError() << "expected tokens of neighbours along one "
                                  "dimension of the source but got tile ["
                               << schedule.getTile() << "]";
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    int64_t axis = concat.getDim();
    for (Value input : concat.getInputs())
      if (failed(checkPart(
              axis, cast<RankedTensorType>(input.getType()).getDimSize(axis))))
        return failure();
  }
  return success();
}

LoopSpace::LoopSpace(ArrayRef<int64_t> extents, ScheduleAttr schedule)
    : tile(schedule.getTile()) {
  SmallVector<int64_t> outer(extents);
  for (auto [loop, dim] : llvm::enumerate(schedule.getOrder())) {
    int64_t step = schedule.getStep(loop);
    int64_t trip = outer[dim] / step;
    outer[dim] = step;
    if (trip == 1)
      continue;
    dims.push_back(dim);
    trips.push_back(trip);
    steps.push_back(step);
  }
}

TokenOrder streamtensor::deriveOrder(const LoopSpace &space, AffineMap map,
                                     size_t &depth) {
  depth = 0;
  for (size_t loop = 0; loop < space.size(); ++loop)
    if (map.isFunctionOfDim(space.dims[loop]))
      depth = loop + 1;
  TokenOrder order;
  std::vector<std::vector<unsigned>> loops(map.getNumDims());
  for (size_t loop = 0; loop < depth; ++loop) {
    int64_t dim = space.dims[loop];
    loops[dim].push_back(order.trips.size());
    order.trips.push_back(space.trips[loop]);
    order.steps.push_back(map.isFunctionOfDim(dim) ? space.steps[loop] : 1);
  }
  for (AffineExpr result : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(result).getPosition();
    order.element.push_back(space.tile[dim]);
    order.map.push_back(loops[dim]);
  }
  return order;
}

ResultPlan::ResultPlan(linalg::GenericOp op, ScheduleAttr schedule,
                       const LoopSpace &space)
    : firstReduction(space.size()) {
  AffineMap map = op.getIndexingMapsArray().back();
  if (op.getNumReductionLoops() == 0) {
    size_t depth = 0;
    order = deriveOrder(space, map, depth);
    return;
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (size_t loop = 0; loop < space.size(); ++loop) {
    if (iterators[space.dims[loop]] == utils::IteratorType::reduction)
      firstReduction = std::min(firstReduction, loop);
    else if (firstReduction < loop)
      accumulatorLoops.push_back(loop);
  }
  SmallVector<int64_t> outDims;
  for (AffineExpr result : map.getResults())
    outDims.push_back(cast<AffineDimExpr>(result).getPosition());
  order.map.resize(outDims.size());
  auto addLoop = [&](int64_t dim, int64_t trip, int64_t step) {
    auto result = llvm::find(outDims, dim) - outDims.begin();
    order.map[result].push_back(order.numLoops());
    order.trips.push_back(trip);
    order.steps.push_back(step);
  };
  for (size_t loop = 0; loop < firstReduction; ++loop)
    addLoop(space.dims[loop], space.trips[loop], space.steps[loop]);
  for (auto [result, dim] : llvm::enumerate(outDims)) {
    int64_t lanes = schedule.getUnroll()[dim];
    order.element.push_back(lanes);
    for (size_t loop : accumulatorLoops)
      if (space.dims[loop] == dim) {
        drainLoops.push_back({result, loop, space.trips[loop], 1});
        addLoop(dim, space.trips[loop], space.steps[loop]);
      }
    if (int64_t trip = space.tile[dim] / lanes; trip != 1) {
      drainLoops.push_back({result, std::nullopt, trip, lanes});
      addLoop(dim, trip, lanes);
    }
  }
}

int64_t streamtensor::accumulatorBytes(linalg::GenericOp op,
                                       ScheduleAttr schedule) {
  if (op.getNumReductionLoops() == 0)
    return 0;
  LoopSpace space(iterationExtents(op), schedule);
  ResultPlan plan(op, schedule, space);
  int64_t elements = 1;
  for (size_t loop : plan.accumulatorLoops)
    elements *= space.trips[loop];
  for (AffineExpr result : op.getIndexingMapsArray().back().getResults())
    elements *= space.tile[cast<AffineDimExpr>(result).getPosition()];
  return bytesOf(elements, getElementTypeOrSelf(op.getResult(0)));
}

/// The shape that input `input` of a slice or concatenation has.
static ArrayRef<int64_t> inputShape(Operation *op, unsigned input) {
  return cast<RankedTensorType>(op->getOperand(input).getType()).getShape();
}

TokenOrder streamtensor::operandOrder(Operation *op, ScheduleAttr schedule,
                                      unsigned input) {
  size_t depth = 0;
  if (isWindow(op))
    return WindowPlan(cast<linalg::GenericOp>(op), schedule).sourceOrder;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return deriveOrder(LoopSpace(iterationExtents(op), schedule),
                       generic.getIndexingMapsArray()[input], depth);
  ArrayRef<int64_t> shape = inputShape(op, input);
  return deriveOrder(
      LoopSpace(shape, schedule),
      AffineMap::getMultiDimIdentityMap(shape.size(), op->getContext()), depth);
}

TokenOrder streamtensor::resultOrder(Operation *op, ScheduleAttr schedule) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    LoopSpace space(iterationExtents(op), schedule);
    return ResultPlan(generic, schedule, space).order;
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  size_t depth = 0;
  return deriveOrder(
      LoopSpace(type.getShape(), schedule),
      AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext()),
      depth);
}
