//===- ReduceBooleans.cpp - Reductions of i1 ------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes `all` and `any` of booleans as minimum and maximum of 0.0 and 1.0.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_REDUCEBOOLEANS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

Value createConstant(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(builder.getF32Type(), value));
}

/// The i1 tensor of what is not 0 in the f32 tensor `input`.
Value createIsNonZero(OpBuilder &builder, Location loc, Value input) {
  auto type = cast<RankedTensorType>(input.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps(2, identity);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  Value zero = createConstant(builder, loc, 0.0);
  Value empty = streamtensor::createEmpty(builder, loc, type.getShape(),
                                          builder.getI1Type());
  return GenericOp::create(builder, loc, TypeRange(empty.getType()), input,
                           empty, maps, iterators,
                           [&](OpBuilder &body, Location loc, ValueRange args) {
                             Value test = arith::CmpFOp::create(
                                 body, loc, arith::CmpFPredicate::UNE, args[0],
                                 zero);
                             linalg::YieldOp::create(body, loc, test);
                           })
      .getResult(0);
}

struct ReduceBoolean : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "it does not reduce tensors");
    Operation *combiner = streamtensor::matchBooleanCombiner(op);
    if (!combiner)
      return rewriter.notifyMatchFailure(op, "it is no `all` or `any`");
    Value start = op.getDpsInitOperand(0)->get();
    std::optional<TypedAttr> splat = streamtensor::getSplatValue(start);
    if (!splat)
      return rewriter.notifyMatchFailure(op, "its start value is no constant");

    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type();
    bool startsTrue = !cast<IntegerAttr>(*splat).getValue().isZero();
    Value one = createConstant(rewriter, loc, 1.0);
    Value zero = createConstant(rewriter, loc, 0.0);
    Value empty = streamtensor::createEmpty(
        rewriter, loc, cast<RankedTensorType>(start.getType()).getShape(), f32);
    Value fill =
        linalg::FillOp::create(rewriter, loc, startsTrue ? one : zero, empty)
            .result();
    auto reduction = GenericOp::create(
        rewriter, loc, TypeRange(fill.getType()), op.getInputs(), fill,
        op.getIndexingMapsArray(), op.getIteratorTypesArray());
    // The body computes the element as before; only the combination changes.
    Region &region = reduction.getRegion();
    rewriter.inlineRegionBefore(op.getRegion(), region, region.begin());
    BlockArgument out = region.front().getArguments().back();
    unsigned element = combiner->getOperand(0) == out ? 1 : 0;
    rewriter.setInsertionPoint(combiner);
    Value term = arith::SelectOp::create(
        rewriter, loc, combiner->getOperand(element), one, zero);
    out.setType(f32);
    Value combined =
        isa<arith::AndIOp>(combiner)
            ? arith::MinimumFOp::create(rewriter, loc, term, out).getResult()
            : arith::MaximumFOp::create(rewriter, loc, term, out).getResult();
    rewriter.replaceOp(combiner, combined);

    rewriter.setInsertionPointAfter(reduction);
    rewriter.replaceOp(op,
                       createIsNonZero(rewriter, loc, reduction.getResult(0)));
    return success();
  }
};

struct ReduceBooleans : streamtensor::impl::ReduceBooleansBase<ReduceBooleans> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReduceBoolean>(&getContext());
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
