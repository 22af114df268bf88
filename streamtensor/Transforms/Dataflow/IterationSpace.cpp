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

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace streamtensor;
using streamtensor::dataflow::ScheduleAttr;

bool streamtensor::isSchedulable(Operation *op) {
  return isa<linalg::GenericOp, tensor::ExtractSliceOp, tensor::ConcatOp>(op);
}

SmallVector<int64_t> streamtensor::iterationExtents(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getStaticLoopRanges();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return llvm::to_vector(slice.getSourceType().getShape());
  return llvm::to_vector(cast<tensor::ConcatOp>(op).getResultType().getShape());
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

LogicalResult streamtensor::checkSchedule(Operation *op,
                                          ScheduleAttr schedule) {
  SmallVector<int64_t> extents = iterationExtents(op);
  if (schedule.getOrder().size() != extents.size())
    return op->emitOpError() << "expected a schedule of rank " << extents.size()
                             << " but got " << schedule.getOrder().size();
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent % schedule.getTile()[dim] != 0)
      return op->emitOpError()
             << "expected tile " << schedule.getTile()[dim]
             << " to divide the extent " << extent << " of dimension " << dim;
  auto checkPart = [&](int64_t dim, int64_t size) -> LogicalResult {
    if (size % schedule.getTile()[dim] == 0)
      return success();
    return op->emitOpError() << "expected tile " << schedule.getTile()[dim]
                             << " to divide every part of dimension " << dim
                             << " but one is " << size;
  };
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    for (auto [dim, offset, size] :
         llvm::enumerate(slice.getStaticOffsets(), slice.getStaticSizes()))
      if (failed(checkPart(dim, offset)) || failed(checkPart(dim, size)))
        return failure();
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    for (Value input : concat.getInputs()) {
      auto type = cast<RankedTensorType>(input.getType());
      for (auto [dim, size] : llvm::enumerate(type.getShape()))
        if (failed(checkPart(dim, size)))
          return failure();
    }
  }
  return success();
}

LoopSpace::LoopSpace(ArrayRef<int64_t> extents, ScheduleAttr schedule)
    : tile(schedule.getTile()) {
  for (int64_t dim : schedule.getOrder()) {
    int64_t trip = extents[dim] / tile[dim];
    if (trip == 1)
      continue;
    dims.push_back(dim);
    trips.push_back(trip);
  }
}

TokenOrder streamtensor::deriveOrder(const LoopSpace &space, AffineMap map,
                                     function_ref<bool(int64_t)> keep,
                                     size_t &depth) {
  depth = 0;
  for (size_t loop = 0; loop < space.size(); ++loop)
    if (map.isFunctionOfDim(space.dims[loop]) && keep(space.dims[loop]))
      depth = loop + 1;
  TokenOrder order;
  SmallVector<int> position(map.getNumDims(), -1);
  for (size_t loop = 0; loop < depth; ++loop) {
    int64_t dim = space.dims[loop];
    if (!keep(dim))
      continue;
    position[dim] = order.trips.size();
    order.trips.push_back(space.trips[loop]);
    order.steps.push_back(map.isFunctionOfDim(dim) ? space.tile[dim] : 1);
  }
  for (AffineExpr result : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(result).getPosition();
    order.element.push_back(space.tile[dim]);
    order.map.emplace_back();
    if (position[dim] >= 0)
      order.map.back().push_back(position[dim]);
  }
  return order;
}
