//===- UnstrideSlices.cpp - Slices with strides ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces a slice of every s-th element by a slice of an expanded tensor.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_UNSTRIDESLICES
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

/// Offsets and sizes of a slice with unit strides.
struct Bounds {
  SmallVector<int64_t> offsets, sizes;
  void add(int64_t offset, int64_t size) {
    offsets.push_back(offset);
    sizes.push_back(size);
  }
};

Value createSlice(OpBuilder &builder, Location loc, Value source,
                  const Bounds &bounds) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> strides(bounds.sizes.size(), 1);
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(bounds.sizes, type.getElementType()),
      source, ValueRange(), ValueRange(), ValueRange(), bounds.offsets,
      bounds.sizes, strides);
}

struct UnstrideSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!streamtensor::canUnstride(op))
      return rewriter.notifyMatchFailure(op, "it has no stride to remove");
    RankedTensorType source = op.getSourceType(), type = op.getType();
    Location loc = op.getLoc();

    // A contiguous slice of whole groups; its dimensions with a stride split
    // into groups of `stride` elements; one element of each group; merged.
    Bounds groups, elements;
    SmallVector<int64_t> expandedShape;
    SmallVector<ReassociationIndices> reassociation;
    for (int64_t dim = 0; dim < source.getRank(); ++dim) {
      int64_t offset = op.getStaticOffsets()[dim];
      int64_t size = op.getStaticSizes()[dim];
      int64_t stride = op.getStaticStrides()[dim];
      ReassociationIndices group{static_cast<int64_t>(expandedShape.size())};
      expandedShape.push_back(size);
      elements.add(0, size);
      // The stride of a single element does not matter.
      if (stride == 1 || size == 1) {
        groups.add(offset, size);
      } else {
        groups.add(offset / stride * stride, size * stride);
        group.push_back(expandedShape.size());
        expandedShape.push_back(stride);
        elements.add(offset % stride, 1);
      }
      reassociation.push_back(group);
    }
    Type element = source.getElementType();
    Value value = createSlice(rewriter, loc, op.getSource(), groups);
    value = tensor::ExpandShapeOp::create(
        rewriter, loc, RankedTensorType::get(expandedShape, element), value,
        reassociation);
    value = createSlice(rewriter, loc, value, elements);
    value = tensor::CollapseShapeOp::create(
        rewriter, loc, RankedTensorType::get(op.getStaticSizes(), element),
        value, reassociation);
    if (type.getRank() != source.getRank()) {
      Bounds whole;
      for (int64_t size : op.getStaticSizes())
        whole.add(0, size);
      SmallVector<int64_t> strides(whole.sizes.size(), 1);
      value = tensor::ExtractSliceOp::create(
          rewriter, loc, type, value, ValueRange(), ValueRange(), ValueRange(),
          whole.offsets, whole.sizes, strides);
    }
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct UnstrideSlices : streamtensor::impl::UnstrideSlicesBase<UnstrideSlices> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<UnstrideSlice>(&getContext());
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
