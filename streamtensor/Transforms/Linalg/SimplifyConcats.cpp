//===- SimplifyConcats.cpp - Sizes that only a cast hides
//---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets concatenations read the static tensors behind casts to unknown sizes,
// and nothing that has no elements.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_SIMPLIFYCONCATS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

struct FoldCastIntoConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (OpOperand &operand : op->getOpOperands()) {
      auto cast = operand.get().getDefiningOp<tensor::CastOp>();
      if (!cast || !tensor::canFoldIntoConsumerOp(cast))
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(cast.getSource()); });
      changed = true;
    }
    if (!changed)
      return rewriter.notifyMatchFailure(op, "no operand hides its size");
    return success();
  }
};

/// Torch-mlir rolls a dimension of one element as nothing and the rest.
struct DropEmptyOperands : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> kept;
    for (Value operand : op.getInputs())
      if (!llvm::is_contained(
              cast<RankedTensorType>(operand.getType()).getShape(), 0))
        kept.push_back(operand);
    if (kept.empty() || kept.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op, "no operand to drop");
    if (kept.size() == 1 && kept.front().getType() == op.getType())
      rewriter.replaceOp(op, kept.front());
    else
      rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(kept); });
    return success();
  }
};

struct SimplifyConcats
    : streamtensor::impl::SimplifyConcatsBase<SimplifyConcats> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropEmptyOperands, FoldCastIntoConcat>(&getContext());
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
