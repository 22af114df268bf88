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

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

bool isIntegerTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isIntOrIndex();
}

/// Whether the generic that defines `operand` may move into the body of its
/// owner.
bool mayFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<GenericOp>();
  auto consumer = dyn_cast<GenericOp>(operand->getOwner());
  if (!producer || !consumer || !operand->get().hasOneUse())
    return false;
  return isIntegerTensor(operand->get()) ||
         consumer.getMatchingIndexingMap(operand).isPermutation();
}

/// Gives every use of an integer generic a generic of its own, which then
/// fuses.
struct DuplicateIntegerGeneric : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!streamtensor::isParallelGeneric(op) ||
        !isIntegerTensor(op.getResult(0)) || op->use_empty() || op->hasOneUse())
      return rewriter.notifyMatchFailure(op, "it is no shared integer generic");
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
    patterns.add<DuplicateIntegerGeneric>(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, mayFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    streamtensor::addCanonicalizationPatterns(patterns);
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
