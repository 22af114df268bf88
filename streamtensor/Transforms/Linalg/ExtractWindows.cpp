//===- ExtractWindows.cpp - windows of convolutions and poolings ----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits an operand that is read through overlapping windows into the windows,
// a tensor of higher rank that never exists as a whole, and an operation that
// reads them by projected permutations.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_EXTRACTWINDOWS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

/// The windows that `operand` of `op` reads: element (d..) over the loops that
/// its map names, in loop order.
static Value buildWindows(OpBuilder &builder, GenericOp op, OpOperand *operand,
                          AffineMap &windowMap) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), shape;
  SmallVector<AffineExpr> kept, position(map.getNumDims());
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim) {
    if (!map.isFunctionOfDim(dim))
      continue;
    position[dim] = builder.getAffineDimExpr(kept.size());
    kept.push_back(builder.getAffineDimExpr(dim));
    shape.push_back(ranges[dim]);
  }
  windowMap = AffineMap::get(map.getNumDims(), 0, kept, op.getContext());
  SmallVector<AffineExpr> source;
  for (AffineExpr result : map.getResults())
    source.push_back(result.replaceDims(position));
  Type element =
      cast<RankedTensorType>(operand->get().getType()).getElementType();
  Value empty = streamtensor::createEmpty(builder, op.getLoc(), shape, element);
  SmallVector<AffineMap> maps{
      AffineMap::get(kept.size(), 0, source, op.getContext()),
      builder.getMultiDimIdentityMap(kept.size())};
  SmallVector<utils::IteratorType> iterators(kept.size(),
                                             utils::IteratorType::parallel);
  auto windows = GenericOp::create(
      builder, op.getLoc(), empty.getType(), operand->get(), empty, maps,
      iterators, [](OpBuilder &body, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(body, loc, arguments.front());
      });
  return windows.getResult(0);
}

/// Removes inputs that the body does not read, if the others still name every
/// loop: a pooling has one only for the sizes of its windows.
static void dropUnreadInputs(RewriterBase &rewriter, GenericOp op) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  llvm::BitVector dropped(op->getNumOperands());
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (op.getMatchingBlockArgument(operand).use_empty()) {
      dropped.set(operand->getOperandNumber());
      continue;
    }
    inputs.push_back(operand->get());
    maps.push_back(op.getMatchingIndexingMap(operand));
  }
  if (dropped.none())
    return;
  maps.push_back(op.getIndexingMapsArray().back());
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (llvm::none_of(maps,
                      [&](AffineMap map) { return map.isFunctionOfDim(loop); }))
      return;
  rewriter.setInsertionPoint(op);
  auto copy =
      GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs,
                        op.getDpsInits(), maps, op.getIteratorTypesArray());
  copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getRegion(), copy.getRegion(),
                              copy.getRegion().begin());
  copy.getBody()->eraseArguments(dropped);
  rewriter.replaceOp(op, copy);
}

namespace {

struct ExtractWindows : streamtensor::impl::ExtractWindowsBase<ExtractWindows> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<GenericOp> generics;
    getOperation()->walk([&](GenericOp op) { generics.push_back(op); });
    for (GenericOp op : generics) {
      if (llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
            return map.isProjectedPermutation();
          }))
        continue;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      for (OpOperand *operand : op.getDpsInputOperands()) {
        AffineMap &map = maps[operand->getOperandNumber()];
        if (!streamtensor::isWindowMap(map) || streamtensor::isWindow(op))
          continue;
        rewriter.setInsertionPoint(op);
        operand->set(buildWindows(rewriter, op, operand, map));
      }
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      dropUnreadInputs(rewriter, op);
    }
  }
};

} // namespace
