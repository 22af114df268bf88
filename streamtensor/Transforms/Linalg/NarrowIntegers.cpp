//===- NarrowIntegers.cpp - Sums of 64 bits that need only 32 -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums and products modulo 2^64 are also right modulo 2^32. A reduction is
// computed in i32 when nobody looks at the upper half of its result (all
// readers truncate it), or when the range of its terms shows that the upper
// half repeats the sign.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/IntegerRanges.h"
#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace streamtensor {
#define GEN_PASS_DEF_NARROWINTEGERS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

/// The lower bits of `value` as a number of type `narrow`.
Value truncate(OpBuilder &builder, Value value, IntegerType narrow) {
  if (value.getType() == narrow)
    return value;
  Location loc = value.getLoc();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return arith::ConstantOp::create(
        builder, loc,
        IntegerAttr::get(narrow, constant.trunc(narrow.getWidth())));
  Operation *def = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(def)) {
    Value source = def->getOperand(0);
    if (source.getType() == narrow)
      return source;
    if (source.getType().getIntOrFloatBitWidth() < narrow.getWidth())
      return isa<arith::ExtSIOp>(def)
                 ? arith::ExtSIOp::create(builder, loc, narrow, source)
                       .getResult()
                 : arith::ExtUIOp::create(builder, loc, narrow, source)
                       .getResult();
  }
  // No carry moves downwards.
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(def)) {
    Value lhs = truncate(builder, def->getOperand(0), narrow);
    Value rhs = truncate(builder, def->getOperand(1), narrow);
    OperationState state(loc, def->getName(), {lhs, rhs}, {narrow});
    return builder.create(state)->getResult(0);
  }
  return arith::TruncIOp::create(builder, loc, narrow, value);
}

/// True if every reader of the tensor `value` uses only the lower `bits`.
bool isTruncated(Value value, unsigned bits) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    auto reader = dyn_cast<GenericOp>(use.getOwner());
    return reader && reader.isDpsInput(&use) &&
           llvm::all_of(
               reader.getMatchingBlockArgument(&use).getUsers(),
               [&](Operation *user) {
                 return isa<arith::TruncIOp>(user) &&
                        user->getResult(0).getType().isInteger() &&
                        user->getResult(0).getType().getIntOrFloatBitWidth() <=
                            bits;
               });
  });
}

struct NarrowReduction : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    constexpr unsigned kBits = 32;
    Operation *combiner =
        op.getNumResults() == 1 && op.getNumReductionLoops() != 0
            ? streamtensor::matchCombiner(op)
            : nullptr;
    if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(combiner) ||
        !combiner->getResult(0).getType().isInteger(64))
      return rewriter.notifyMatchFailure(op, "it is no sum or product in i64");
    OpOperand *init = op.getDpsInitOperand(0);
    auto fill = init->get().getDefiningOp<linalg::FillOp>();
    APInt start;
    if (!fill || !matchPattern(fill.getInputs().front(), m_ConstantInt(&start)))
      return rewriter.notifyMatchFailure(op, "its start value is not known");
    BlockArgument out = op.getMatchingBlockArgument(init);
    Value term = combiner->getOperand(combiner->getOperand(0) == out ? 1 : 0);
    if (!isTruncated(op.getResult(0), kBits) &&
        streamtensor::IntegerRanges().bitsOfSum(op).value_or(64) > kBits)
      return rewriter.notifyMatchFailure(op, "its result may need all bits");

    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    IntegerType narrow = rewriter.getIntegerType(kBits);
    Value scalar = arith::ConstantOp::create(
        rewriter, loc, IntegerAttr::get(narrow, start.trunc(kBits)));
    Value empty =
        streamtensor::createEmpty(rewriter, loc, type.getShape(), narrow);
    Value newInit =
        linalg::FillOp::create(rewriter, loc, scalar, empty).result();
    auto reduction = GenericOp::create(
        rewriter, loc, TypeRange(type.clone(narrow)), op.getInputs(), newInit,
        op.getIndexingMapsArray(), op.getIteratorTypesArray());
    Region &region = reduction.getRegion();
    rewriter.inlineRegionBefore(op.getRegion(), region, region.begin());
    out.setType(narrow);
    rewriter.setInsertionPoint(combiner);
    OperationState state(loc, combiner->getName(),
                         {truncate(rewriter, term, narrow), out}, {narrow});
    Value combined = rewriter.create(state)->getResult(0);
    rewriter.replaceOp(combiner, combined);

    rewriter.setInsertionPointAfter(reduction);
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<AffineMap> maps(2, identity);
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    Value wide = streamtensor::createEmpty(rewriter, loc, type.getShape(),
                                           type.getElementType());
    rewriter.replaceOpWithNewOp<GenericOp>(
        op, TypeRange(type), reduction.getResult(0), wide, maps, iterators,
        [&](OpBuilder &body, Location loc, ValueRange args) {
          Value value = arith::ExtSIOp::create(body, loc, type.getElementType(),
                                               args.front());
          linalg::YieldOp::create(body, loc, value);
        });
    return success();
  }
};

struct NarrowIntegers : streamtensor::impl::NarrowIntegersBase<NarrowIntegers> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NarrowReduction>(&getContext());
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
