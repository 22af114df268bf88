//===- ConcatenateParts.cpp - Insertion as concatenation ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes tensor.insert_slice as concatenations of slices, one dimension after
// the other.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_CONCATENATEPARTS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

/// `parts` one after the other along `dim`; a single part is itself.
Value concatenate(OpBuilder &builder, Location loc, int64_t dim,
                  ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  return tensor::ConcatOp::create(builder, loc, dim, parts);
}

/// `size` positions of `source` from `offset` along `dim`, all of the others.
Value sliceAlong(OpBuilder &builder, Location loc, Value source, int64_t dim,
                 int64_t offset, int64_t size) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
      strides(type.getRank(), 1);
  offsets[dim] = offset;
  sizes[dim] = size;
  return tensor::ExtractSliceOp::create(builder, loc, type.clone(sizes), source,
                                        ValueRange(), ValueRange(),
                                        ValueRange(), offsets, sizes, strides);
}

/// What lies before the inserted part along the first dimension that it does
/// not span, the part itself (inserted in turn along the others), and what lies
/// behind it.
struct ConcatenateInsertion : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!streamtensor::canConcatenate(op))
      return rewriter.notifyMatchFailure(op, "its bounds are not constant");
    Location loc = op.getLoc();
    ArrayRef<int64_t> sizes = op.getStaticSizes();
    Value source = op.getSource();
    if (op.getSourceType().getRank() != op.getDestType().getRank()) {
      auto type = op.getSourceType().clone(sizes);
      std::optional<SmallVector<ReassociationIndices>> groups =
          getReassociationIndicesForReshape(op.getSourceType(), type);
      if (!groups)
        return rewriter.notifyMatchFailure(op, "it drops no unit dimension");
      source =
          tensor::ExpandShapeOp::create(rewriter, loc, type, source, *groups);
    }
    rewriter.replaceOp(op, insert(rewriter, op, source, op.getDest(), 0));
    return success();
  }

private:
  Value insert(OpBuilder &builder, tensor::InsertSliceOp op, Value source,
               Value dest, int64_t dim) const {
    auto type = cast<RankedTensorType>(dest.getType());
    while (dim < type.getRank() &&
           op.getStaticSizes()[dim] == type.getDimSize(dim))
      ++dim;
    if (dim == type.getRank())
      return source;
    Location loc = op.getLoc();
    int64_t offset = op.getStaticOffsets()[dim];
    int64_t end = offset + op.getStaticSizes()[dim];
    int64_t extent = type.getDimSize(dim);
    SmallVector<Value> parts;
    if (offset != 0)
      parts.push_back(sliceAlong(builder, loc, dest, dim, 0, offset));
    Value covered = sliceAlong(builder, loc, dest, dim, offset, end - offset);
    parts.push_back(insert(builder, op, source, covered, dim + 1));
    if (end != extent)
      parts.push_back(sliceAlong(builder, loc, dest, dim, end, extent - end));
    return concatenate(builder, loc, dim, parts);
  }
};

struct ConcatenateParts
    : streamtensor::impl::ConcatenatePartsBase<ConcatenateParts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConcatenateInsertion>(&getContext());
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
