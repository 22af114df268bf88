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

/// Where in groups of `stride` elements, all inside the source, the elements of
/// a slice can stand; nothing when the last group would end beyond it.
std::optional<int64_t> placeInGroup(int64_t offset, int64_t size,
                                    int64_t stride, int64_t extent) {
  int64_t first = std::max<int64_t>(offset + stride * size - extent, 0);
  int64_t last = std::min(offset, stride - 1);
  if (first > last)
    return std::nullopt;
  // Groups that begin at a multiple of the stride suit other slices as well.
  int64_t aligned = offset % stride;
  return aligned >= first && aligned <= last ? aligned : first;
}

std::optional<int64_t> placeInGroup(tensor::ExtractSliceOp op, int64_t dim) {
  return placeInGroup(op.getStaticOffsets()[dim], op.getStaticSizes()[dim],
                      op.getStaticStrides()[dim],
                      op.getSourceType().getDimSize(dim));
}

/// Whether the stride of the dimension matters: not that of a single element.
bool skipsElements(tensor::ExtractSliceOp op, int64_t dim) {
  return op.getStaticStrides()[dim] != 1 && op.getStaticSizes()[dim] != 1;
}

/// Drops the dimensions that a rank-reducing slice dropped.
Value dropDims(OpBuilder &builder, tensor::ExtractSliceOp op, Value value) {
  if (op.getType().getRank() == op.getSourceType().getRank())
    return value;
  ArrayRef<int64_t> sizes = op.getStaticSizes();
  SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
  return tensor::ExtractSliceOp::create(builder, op.getLoc(), op.getType(),
                                        value, ValueRange(), ValueRange(),
                                        ValueRange(), offsets, sizes, strides);
}

/// Takes the last element alone when its group would end beyond the source.
struct SplitLastElement : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!streamtensor::canUnstride(op))
      return rewriter.notifyMatchFailure(op, "it has no stride to remove");
    auto dims = llvm::seq<int64_t>(0, op.getSourceType().getRank());
    auto found = llvm::find_if(dims, [&](int64_t dim) {
      return skipsElements(op, dim) && !placeInGroup(op, dim);
    });
    if (found == dims.end())
      return rewriter.notifyMatchFailure(op, "all groups end inside");
    int64_t dim = *found;
    auto part = [&](int64_t first, int64_t size) -> Value {
      SmallVector<int64_t> offsets(op.getStaticOffsets());
      SmallVector<int64_t> sizes(op.getStaticSizes());
      offsets[dim] += first * op.getStaticStrides()[dim];
      sizes[dim] = size;
      return tensor::ExtractSliceOp::create(
          rewriter, op.getLoc(),
          RankedTensorType::get(sizes, op.getType().getElementType()),
          op.getSource(), ValueRange(), ValueRange(), ValueRange(), offsets,
          sizes, op.getStaticStrides());
    };
    int64_t size = op.getStaticSizes()[dim];
    Value whole = tensor::ConcatOp::create(
        rewriter, op.getLoc(), dim,
        ValueRange{part(0, size - 1), part(size - 1, 1)});
    rewriter.replaceOp(op, dropDims(rewriter, op, whole));
    return success();
  }
};

struct UnstrideSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!streamtensor::canUnstride(op))
      return rewriter.notifyMatchFailure(op, "it has no stride to remove");
    RankedTensorType source = op.getSourceType();
    Location loc = op.getLoc();
    for (int64_t dim = 0; dim < source.getRank(); ++dim)
      if (skipsElements(op, dim) && !placeInGroup(op, dim))
        return rewriter.notifyMatchFailure(op, "its last group ends beyond");

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
      if (!skipsElements(op, dim)) {
        groups.add(offset, size);
      } else {
        int64_t place = *placeInGroup(op, dim);
        groups.add(offset - place, size * stride);
        group.push_back(expandedShape.size());
        expandedShape.push_back(stride);
        elements.add(place, 1);
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
    rewriter.replaceOp(op, dropDims(rewriter, op, value));
    return success();
  }
};

struct UnstrideSlices : streamtensor::impl::UnstrideSlicesBase<UnstrideSlices> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitLastElement, UnstrideSlice>(&getContext());
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
