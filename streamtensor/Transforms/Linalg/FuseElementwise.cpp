//===- FuseElementwise.cpp - Element-wise chains --------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuses element-wise generics where nothing is computed twice by it.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace streamtensor {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

/// Costs next to nothing beside a product: comparisons, selections, and what
/// integers are made of. Rounding to an integer is not among them.
bool isCheap(Operation *op) {
  if (isa<linalg::IndexOp, linalg::YieldOp, arith::ConstantOp, arith::CmpFOp,
          arith::CmpIOp, arith::ExtFOp, arith::IndexCastOp,
          arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
          arith::AddIOp, arith::SubIOp, arith::AndIOp, arith::OrIOp,
          arith::XOrIOp>(op))
    return true;
  // The product of two positions, for example, but not one of tensors.
  if (isa<arith::MulIOp, arith::SelectOp>(op))
    return op->getResult(0).getType().isIntOrIndex();
  // A shift by a constant is wiring: how packed integers are taken apart.
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return matchPattern(op->getOperand(1), m_Constant());
  return false;
}

/// A generic that widens floats and does nothing else.
bool isWidening(GenericOp op) {
  return llvm::all_of(*op.getBody(), [](Operation &inner) {
    return isa<arith::ExtFOp, linalg::YieldOp>(inner);
  });
}

/// A generic that is computed again rather than stored: it costs little, and
/// its result is no smaller than what it is made of.
bool isCheapGeneric(GenericOp op) {
  if (!streamtensor::isParallelGeneric(op))
    return false;
  if (!getElementTypeOrSelf(op.getResult(0)).isIntOrIndex())
    return isWidening(op);
  return llvm::all_of(*op.getBody(),
                      [](Operation &inner) { return isCheap(&inner); });
}

/// Whether the generic that defines `operand` may move into the body of its
/// owner.
bool mayFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<GenericOp>();
  auto consumer = dyn_cast<GenericOp>(operand->getOwner());
  if (!producer || !consumer || !operand->get().hasOneUse())
    return false;
  return isCheapGeneric(producer) ||
         consumer.getMatchingIndexingMap(operand).isPermutation();
}

/// Gives every use of a cheap generic a generic of its own, which then fuses.
struct DuplicateCheapGeneric : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isCheapGeneric(op) || op->use_empty() || op->hasOneUse())
      return rewriter.notifyMatchFailure(op, "it is no shared cheap generic");
    OpOperand &use = *op->getUses().begin();
    Operation *copy = rewriter.clone(*op);
    rewriter.modifyOpInPlace(use.getOwner(),
                             [&] { use.set(copy->getResult(0)); });
    return success();
  }
};

struct FuseElementwise
    : streamtensor::impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DuplicateCheapGeneric>(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, mayFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    streamtensor::addCanonicalizationPatterns(patterns);
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
