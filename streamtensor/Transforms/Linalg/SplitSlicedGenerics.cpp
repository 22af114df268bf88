//===- SplitSlicedGenerics.cpp - Results that are read in slices ----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces a generic that is only read in disjoint slices by one generic per
// slice.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_SPLITSLICEDGENERICS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;
using tensor::ExtractSliceOp;

namespace {

/// True for a static slice with unit strides that keeps the rank.
bool isPlainSlice(ExtractSliceOp op) {
  auto isDynamic = [](int64_t value) { return ShapedType::isDynamic(value); };
  return op.getSourceType().getRank() == op.getType().getRank() &&
         llvm::none_of(op.getStaticOffsets(), isDynamic) &&
         llvm::none_of(op.getStaticSizes(), isDynamic) &&
         llvm::all_of(op.getStaticStrides(),
                      [](int64_t stride) { return stride == 1; });
}

/// True if no element is in both slices: they are apart in some dimension.
bool areDisjoint(ExtractSliceOp a, ExtractSliceOp b) {
  for (auto [offsetA, sizeA, offsetB, sizeB] :
       llvm::zip(a.getStaticOffsets(), a.getStaticSizes(), b.getStaticOffsets(),
                 b.getStaticSizes()))
    if (offsetA + sizeA <= offsetB || offsetB + sizeB <= offsetA)
      return true;
  return false;
}

/// The slices that read `op`, if nothing else does and they are disjoint.
SmallVector<ExtractSliceOp> getDisjointSlices(GenericOp op) {
  SmallVector<ExtractSliceOp> slices;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<ExtractSliceOp>(user);
    if (!slice || !isPlainSlice(slice) ||
        !llvm::all_of(slices, [&](ExtractSliceOp other) {
          return areDisjoint(slice, other);
        }))
      return {};
    slices.push_back(slice);
  }
  // Users come in no particular order: query, key, value read better.
  llvm::sort(slices, [](ExtractSliceOp a, ExtractSliceOp b) {
    return std::lexicographical_compare(
        a.getStaticOffsets().begin(), a.getStaticOffsets().end(),
        b.getStaticOffsets().begin(), b.getStaticOffsets().end());
  });
  return slices;
}

/// The part of `operand` that the loops between `offsets` and
/// `offsets + sizes` read through `map`; the operand itself if it is all.
Value sliceOperand(OpBuilder &builder, Location loc, Value operand,
                   AffineMap map, ArrayRef<int64_t> offsets,
                   ArrayRef<int64_t> sizes) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type)
    return operand;
  SmallVector<int64_t> from, extent, strides(type.getRank(), 1);
  for (AffineExpr result : map.getResults()) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    from.push_back(offsets[loop]);
    extent.push_back(sizes[loop]);
  }
  auto part = RankedTensorType::get(extent, type.getElementType());
  if (part == type)
    return operand;
  return ExtractSliceOp::create(builder, loc, part, operand, ValueRange(),
                                ValueRange(), ValueRange(), from, extent,
                                strides);
}

struct SplitSlicedGeneric : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() != 1 || !op.hasPureTensorSemantics() ||
        op.hasIndexSemantics())
      return rewriter.notifyMatchFailure(op, "its body counts elements");
    if (!llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
          return map.isProjectedPermutation();
        }))
      return rewriter.notifyMatchFailure(op, "its maps do not slice");
    SmallVector<ExtractSliceOp> slices = getDisjointSlices(op);
    if (slices.empty())
      return rewriter.notifyMatchFailure(op, "it is not read in slices only");
    Value init = op.getDpsInitOperand(0)->get();
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (!fill && !init.getDefiningOp<tensor::EmptyOp>())
      return rewriter.notifyMatchFailure(op, "its start value is a tensor");

    Location loc = op.getLoc();
    AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (ExtractSliceOp slice : slices) {
      rewriter.setInsertionPoint(op);
      SmallVector<int64_t> sizes = op.getStaticLoopRanges();
      SmallVector<int64_t> offsets(sizes.size(), 0);
      for (auto [dim, result] : llvm::enumerate(out.getResults())) {
        unsigned loop = cast<AffineDimExpr>(result).getPosition();
        offsets[loop] = slice.getStaticOffsets()[dim];
        sizes[loop] = slice.getStaticSizes()[dim];
      }
      SmallVector<Value> inputs;
      for (OpOperand *input : op.getDpsInputOperands())
        inputs.push_back(sliceOperand(rewriter, loc, input->get(),
                                      op.getMatchingIndexingMap(input), offsets,
                                      sizes));
      RankedTensorType type = slice.getType();
      Value start = streamtensor::createEmpty(rewriter, loc, type.getShape(),
                                              type.getElementType());
      if (fill)
        start = linalg::FillOp::create(rewriter, fill.getLoc(),
                                       fill.getInputs(), start)
                    .result();
      auto part = GenericOp::create(
          rewriter, rewriter.getFusedLoc({slice.getLoc(), loc}),
          TypeRange(type), inputs, start, op.getIndexingMapsArray(),
          op.getIteratorTypesArray());
      Region &region = part.getRegion();
      rewriter.cloneRegionBefore(op.getRegion(), region, region.begin());
      rewriter.replaceOp(slice, part);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct SplitSlicedGenerics
    : streamtensor::impl::SplitSlicedGenericsBase<SplitSlicedGenerics> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitSlicedGeneric>(&getContext());
    ExtractSliceOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
