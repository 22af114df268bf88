//===- DropUnitDims.cpp - Remove dimensions of size one -------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Removes dimensions of size one from generics (with the upstream patterns),
// concatenations and slices.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace streamtensor {
#define GEN_PASS_DEF_DROPUNITDIMS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using streamtensor::groupAround;
using streamtensor::squeeze;

namespace {

/// concat of tensors with common dimensions of size one.
struct SqueezeConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResultType();
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "its shape is dynamic");
    int64_t axis = op.getDim(), rank = type.getRank(), newAxis = 0;
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (dim == axis)
        newAxis = kept.size();
      if (dim == axis || type.getDimSize(dim) != 1)
        kept.push_back(dim);
    }
    if (static_cast<int64_t>(kept.size()) == rank)
      return rewriter.notifyMatchFailure(op, "it has no unit dimension");
    SmallVector<Value> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(squeeze(rewriter, op.getLoc(), input, kept));
    Value concat =
        tensor::ConcatOp::create(rewriter, op.getLoc(), newAxis, inputs);
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, concat,
                                                       groupAround(rank, kept));
    return success();
  }
};

/// extract_slice of a tensor with dimensions of size one, or to a lower rank:
/// becomes a slice that keeps the rank, of a source without unit dimensions.
struct SqueezeSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType source = op.getSourceType(), type = op.getType();
    if (!source.hasStaticShape() || !type.hasStaticShape() ||
        llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) ||
        llvm::any_of(op.getStaticStrides(), ShapedType::isDynamic))
      return rewriter.notifyMatchFailure(op, "it is dynamic");
    SmallVector<int64_t> kept, offsets, sizes, strides, left;
    for (int64_t dim = 0; dim < source.getRank(); ++dim) {
      if (source.getDimSize(dim) == 1)
        continue;
      if (op.getStaticSizes()[dim] != 1)
        left.push_back(kept.size());
      kept.push_back(dim);
      offsets.push_back(op.getStaticOffsets()[dim]);
      sizes.push_back(op.getStaticSizes()[dim]);
      strides.push_back(op.getStaticStrides()[dim]);
    }
    bool reduced = type.getRank() != source.getRank();
    if (static_cast<int64_t>(kept.size()) == source.getRank() && !reduced)
      return rewriter.notifyMatchFailure(op, "it has no unit dimension");

    Location loc = op.getLoc();
    Value view = squeeze(rewriter, loc, op.getSource(), kept);
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, loc, RankedTensorType::get(sizes, type.getElementType()),
        view, ValueRange(), ValueRange(), ValueRange(), offsets, sizes,
        strides);
    Value squeezed = squeeze(rewriter, loc, slice, left);
    // The wanted type has the same dimensions and, maybe, some of size one.
    SmallVector<int64_t> wanted;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) != 1)
        wanted.push_back(dim);
    if (squeezed.getType() != type)
      squeezed = tensor::ExpandShapeOp::create(
          rewriter, loc, type, squeezed, groupAround(type.getRank(), wanted));
    rewriter.replaceOp(op, squeezed);
    return success();
  }
};

/// The elements that a generic reads of each dimension of `operand`, where only
/// one loop of a window, or none, makes more than one trip: without the other
/// loops that loop alone names the dimension, which then has to be as long.
SmallVector<int64_t> partThatIsRead(linalg::GenericOp op, OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  SmallVector<int64_t> trips = op.getStaticLoopRanges();
  SmallVector<AffineExpr> last, many;
  for (auto [loop, trip] : llvm::enumerate(trips)) {
    last.push_back(getAffineConstantExpr(trip - 1, op.getContext()));
    many.push_back(trip == 1 ? getAffineConstantExpr(0, op.getContext())
                             : getAffineDimExpr(loop, op.getContext()));
  }
  SmallVector<int64_t> sizes = llvm::to_vector(
      cast<RankedTensorType>(operand->get().getType()).getShape());
  for (auto [size, expr] : llvm::zip_equal(sizes, map.getResults())) {
    AffineExpr left = expr.replaceDims(many);
    if (!isa<AffineDimExpr>(expr) &&
        isa<AffineDimExpr, AffineConstantExpr>(left))
      size = cast<AffineConstantExpr>(expr.replaceDims(last)).getValue() + 1;
  }
  return sizes;
}

/// Cuts off what no window reads, from operands of generics whose windows have
/// one position.
void trimWindows(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  function.walk([&](linalg::GenericOp op) {
    if (op.hasDynamicShape())
      return;
    builder.setInsertionPoint(op);
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      if (!type ||
          !streamtensor::isWindowMap(op.getMatchingIndexingMap(operand)))
        continue;
      SmallVector<int64_t> sizes = partThatIsRead(op, operand);
      if (ArrayRef(sizes) == type.getShape())
        continue;
      SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
      operand->set(tensor::ExtractSliceOp::create(
          builder, op.getLoc(), type.clone(sizes), operand->get(), ValueRange(),
          ValueRange(), ValueRange(), offsets, sizes, strides));
    }
  });
}

struct DropUnitDims : streamtensor::impl::DropUnitDimsBase<DropUnitDims> {
  void runOnOperation() override {
    trimWindows(getOperation());
    linalg::ControlDropUnitDims options;
    RewritePatternSet fold(&getContext());
    linalg::populateFoldUnitExtentDimsPatterns(fold, options);
    // Upstream states that these must not be driven greedily.
    walkAndApplyPatterns(getOperation(), std::move(fold));

    // Not upstream's canonicalizations for unit dimensions: they reduce the
    // rank of slices, which SqueezeSlice undoes.
    RewritePatternSet clean(&getContext());
    clean.add<SqueezeConcat, SqueezeSlice>(&getContext());
    streamtensor::addCanonicalizationPatterns(clean);
    if (failed(streamtensor::applyBounded(getOperation(), std::move(clean),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
