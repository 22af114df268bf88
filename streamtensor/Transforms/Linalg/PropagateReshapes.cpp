//===- PropagateReshapes.cpp - Reshapes become loops ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expands generics around reshapes (with the upstream patterns) and moves
// expand_shape above concatenations and slices.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

namespace streamtensor {
#define GEN_PASS_DEF_PROPAGATERESHAPES
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

/// Whether the upstream patterns may fold the reshape on either side of
/// `operand`.
bool mayFold(OpOperand *operand) {
  // A view that only adds dimensions of size one would bring them back.
  auto hasUnitDim = [](Type type) {
    return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 1);
  };
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner()))
    return !hasUnitDim(expand.getType()) && operand->get().hasOneUse();
  if (auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>())
    return !hasUnitDim(collapse.getSrcType());
  return false;
}

/// The group of the expanded shape that dimension `dim` of the source became.
ArrayRef<int64_t> getGroup(tensor::ExpandShapeOp op,
                           SmallVector<ReassociationIndices> &groups,
                           int64_t dim) {
  groups = op.getReassociationIndices();
  return groups[dim];
}

/// `value` expanded like the source of `op`, where dimension `axis` may have
/// another size (and stays one dimension).
Value expandLike(OpBuilder &builder, tensor::ExpandShapeOp op, Value value,
                 int64_t axis) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  SmallVector<int64_t> shape(op.getType().getShape());
  if (axis >= 0)
    shape[groups[axis].front()] = type.getDimSize(axis);
  return tensor::ExpandShapeOp::create(
      builder, op.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      value, groups);
}

/// expand_shape of a concatenation along a dimension that it does not split.
struct ExpandAboveConcat : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto concat = op.getSrc().getDefiningOp<tensor::ConcatOp>();
    if (!concat || !concat->hasOneUse())
      return rewriter.notifyMatchFailure(op,
                                         "its source is no concat of its own");
    SmallVector<ReassociationIndices> groups;
    ArrayRef<int64_t> group = getGroup(op, groups, concat.getDim());
    if (group.size() != 1 || llvm::is_contained(op.getType().getShape(), 1))
      return rewriter.notifyMatchFailure(op,
                                         "it splits the concat's dimension");
    SmallVector<Value> inputs;
    for (Value input : concat.getInputs())
      inputs.push_back(expandLike(rewriter, op, input, concat.getDim()));
    auto moved = tensor::ConcatOp::create(rewriter, concat.getLoc(),
                                          group.front(), inputs);
    rewriter.replaceOp(op, moved);
    return success();
  }
};

/// expand_shape of a slice that is whole in the dimensions that it splits.
struct ExpandAboveSlice : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto slice = op.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || !slice->hasOneUse() ||
        slice.getSourceType().getRank() != slice.getType().getRank() ||
        llvm::is_contained(op.getType().getShape(), 1))
      return rewriter.notifyMatchFailure(op,
                                         "its source is no slice of its own");
    RankedTensorType source = slice.getSourceType();
    SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
    SmallVector<int64_t> offsets, sizes, strides, shape;
    for (auto [dim, group] : llvm::enumerate(groups)) {
      bool whole = slice.getStaticSizes()[dim] == source.getDimSize(dim);
      if (group.size() > 1 && !whole)
        return rewriter.notifyMatchFailure(op, "it splits a cut dimension");
      for (int64_t expanded : group) {
        bool cut = group.size() == 1;
        sizes.push_back(op.getType().getDimSize(expanded));
        shape.push_back(cut ? source.getDimSize(dim) : sizes.back());
        offsets.push_back(cut ? slice.getStaticOffsets()[dim] : 0);
        strides.push_back(cut ? slice.getStaticStrides()[dim] : 1);
      }
    }
    Value expanded = tensor::ExpandShapeOp::create(
        rewriter, op.getLoc(),
        RankedTensorType::get(shape, source.getElementType()),
        slice.getSource(), groups);
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, op.getType(), expanded, ValueRange(), ValueRange(), ValueRange(),
        offsets, sizes, strides);
    return success();
  }
};

/// A body that counts elements gets the position in the old dimension as
/// affine.apply of the new loops: arithmetic on indices in bodies is arith.
void expandAffineApplies(Operation *root) {
  root->walk([](affine::AffineApplyOp op) {
    OpBuilder builder(op);
    std::optional<SmallVector<Value, 8>> values = affine::expandAffineMap(
        builder, op.getLoc(), op.getAffineMap(), op.getOperands());
    if (!values)
      return;
    op.replaceAllUsesWith(values->front());
    op.erase();
  });
}

struct PropagateReshapes
    : streamtensor::impl::PropagateReshapesBase<PropagateReshapes> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    // Equal reshapes of one value must become one before that value counts as
    // used once; a chain of such values needs a round each.
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      RewritePatternSet patterns(&getContext());
      patterns.add<ExpandAboveConcat, ExpandAboveSlice>(&getContext());
      linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, mayFold);
      streamtensor::addCanonicalizationPatterns(patterns);
      if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                            getArgument())))
        return signalPassFailure();
      eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    }
    expandAffineApplies(getOperation());
  }
};

} // namespace
