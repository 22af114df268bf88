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

#include "streamtensor/Analysis/SizeConsistency.h"
#include "streamtensor/Transforms/Dataflow/StreamEdge.h"
#include "streamtensor/Transforms/Dataflow/WindowTask.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace streamtensor;
using streamtensor::dataflow::RuntimeShape;
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

RuntimeShape streamtensor::iterationSizes(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return dataflow::shapeOf(
        isa<tensor::ExtractSliceOp>(op) ? op->getOperand(0) : op->getResult(0));
  RuntimeShape sizes;
  llvm::append_range(sizes.sizes, generic.getStaticLoopRanges());
  for (OpOperand &operand : generic->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    RuntimeShape shape = operandShape(generic, operand);
    for (auto [size, expr] :
         llvm::zip_equal(shape.sizes,
                         generic.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !size.isConstant())
        sizes.sizes[dim.getPosition()] = size;
    sizes.maxima.insert(shape.maxima.begin(), shape.maxima.end());
  }
  return sizes;
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
  if (op.getNumDpsInputs() != 2)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  int64_t reductions = 0;
  int64_t used[2] = {0, 0};
  for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (iterator != utils::IteratorType::reduction)
      continue;
    ++reductions;
    for (unsigned input : {0, 1})
      used[input] += maps[input].isFunctionOfDim(dim);
  }
  return std::min(used[0], used[1]) > 0 &&
         std::max(used[0], used[1]) == reductions;
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
  RuntimeShape sizes = iterationSizes(op);
  for (int64_t dim = 0, e = extents.size(); dim < e; ++dim) {
    if (sizes.isStatic(dim))
      continue;
    if (isWindow(op))
      return op->emitOpError()
             << "expected windows of a tensor of known size but dimension "
             << dim << " is '" << sizes.sizes[dim].str()
             << "'; export the module with this size fixed";
    if (schedule.getTile()[dim] != 1 || isBlocked(schedule, dim))
      return op->emitOpError()
             << "expected one loop with tile 1 over dimension " << dim
             << ", whose extent '" << sizes.sizes[dim].str()
             << "' is known at run time only";
  }
  for (auto [loop, dim] : llvm::enumerate(schedule.getOrder()))
    if (extents[dim] % schedule.getStep(loop) != 0)
      return op->emitOpError() << "expected step " << schedule.getStep(loop)
                               << " to divide the extent " << extents[dim]
                               << " of dimension " << dim;
  // The outermost loop over a dimension that is cut makes whole steps in every
  // part.
  auto checkPart = [&](int64_t dim, int64_t size) -> LogicalResult {
    int64_t step = schedule.getOutermostStep(dim);
    if (size % step == 0)
      return success();
    return op->emitOpError() << "expected the outermost step " << step
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

LoopSpace::LoopSpace(const RuntimeShape &sizes, ScheduleAttr schedule)
    : tile(schedule.getTile()), maxima(sizes.maxima) {
  SmallVector<TripCount> outer(sizes.sizes);
  for (auto [loop, dim] : llvm::enumerate(schedule.getOrder())) {
    int64_t step = schedule.getStep(loop);
    TripCount trip = outer[dim].dividedBy(step);
    outer[dim] = TripCount(step);
    if (trip.isConstant(1))
      continue;
    dims.push_back(dim);
    trips.push_back(trip);
    steps.push_back(step);
  }
}

SymbolicOrder streamtensor::deriveOrder(const LoopSpace &space, AffineMap map,
                                        size_t &depth) {
  depth = 0;
  for (size_t loop = 0; loop < space.size(); ++loop)
    if (map.isFunctionOfDim(space.dims[loop]))
      depth = loop + 1;
  SymbolicOrder order;
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
  order.setMaxima(space.maxima);
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
  auto addLoop = [&](int64_t dim, const TripCount &trip, int64_t step) {
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
  order.setMaxima(space.maxima);
}

int64_t streamtensor::accumulatorBytes(linalg::GenericOp op,
                                       ScheduleAttr schedule) {
  if (op.getNumReductionLoops() == 0)
    return 0;
  LoopSpace space(iterationSizes(op), schedule);
  ResultPlan plan(op, schedule, space);
  int64_t elements = 1;
  for (size_t loop : plan.accumulatorLoops)
    elements *= space.largestTrip(loop);
  for (AffineExpr result : op.getIndexingMapsArray().back().getResults())
    elements *= space.tile[cast<AffineDimExpr>(result).getPosition()];
  return bytesOf(elements, getElementTypeOrSelf(op.getResult(0)));
}

/// The order in which `value`, which an operation without indexing maps reads
/// or writes, passes under `schedule`.
static SymbolicOrder identityOrder(Value value, ScheduleAttr schedule) {
  RuntimeShape shape = dataflow::shapeOf(value);
  size_t depth = 0;
  return deriveOrder(
      LoopSpace(shape, schedule),
      AffineMap::getMultiDimIdentityMap(shape.sizes.size(), value.getContext()),
      depth);
}

SymbolicOrder streamtensor::operandOrder(Operation *op, ScheduleAttr schedule,
                                         unsigned input) {
  size_t depth = 0;
  if (isWindow(op))
    return WindowPlan(cast<linalg::GenericOp>(op), schedule).sourceOrder;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return deriveOrder(LoopSpace(iterationSizes(op), schedule),
                       generic.getIndexingMapsArray()[input], depth);
  return identityOrder(op->getOperand(input), schedule);
}

SymbolicOrder streamtensor::resultOrder(Operation *op, ScheduleAttr schedule) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return identityOrder(op->getResult(0), schedule);
  LoopSpace space(iterationSizes(op), schedule);
  return ResultPlan(generic, schedule, space).order;
}
