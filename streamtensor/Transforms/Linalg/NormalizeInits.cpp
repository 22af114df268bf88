//===- NormalizeInits.cpp - Start values of generics ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions start from a fill of a constant, everything else from
// tensor.empty.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_NORMALIZEINITS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using streamtensor::createEmpty;
using streamtensor::getSplatValue;

namespace {

/// A new tensor.empty with the type of the result of `op`.
Value createEmptyResult(PatternRewriter &rewriter, linalg::GenericOp op) {
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  return createEmpty(rewriter, op.getLoc(), type.getShape(),
                     type.getElementType());
}

/// A generic without reductions: its start value becomes a scalar of the body,
/// an input, or nothing.
struct DropParallelInit : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!streamtensor::isParallelGeneric(op))
      return rewriter.notifyMatchFailure(op, "it has reduction loops");
    OpOperand *init = op.getDpsInitOperand(0);
    BlockArgument arg = op.getMatchingBlockArgument(init);
    if (arg.use_empty()) {
      if (init->get().getDefiningOp<tensor::EmptyOp>())
        return rewriter.notifyMatchFailure(op, "it starts from nothing");
      Value empty = createEmptyResult(rewriter, op);
      rewriter.modifyOpInPlace(op, [&] { init->set(empty); });
      return success();
    }
    if (init->get().getDefiningOp<tensor::EmptyOp>())
      return rewriter.notifyMatchFailure(op, "it reads an undefined value");

    Value empty = createEmptyResult(rewriter, op);
    if (std::optional<TypedAttr> splat = getSplatValue(init->get())) {
      rewriter.modifyOpInPlace(op, [&] {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPointToStart(op.getBody());
        Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(), *splat);
        rewriter.replaceAllUsesWith(arg, scalar);
        init->set(empty);
      });
      return success();
    }

    SmallVector<Value> inputs = op.getInputs();
    inputs.push_back(init->get());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.push_back(maps.back());
    auto replacement = linalg::GenericOp::create(
        rewriter, op.getLoc(), op.getResultTypes(), inputs, empty, maps,
        op.getIteratorTypesArray());
    Region &region = replacement.getRegion();
    rewriter.inlineRegionBefore(op.getRegion(), region, region.begin());
    region.front().addArgument(arg.getType(), op.getLoc());
    rewriter.replaceOp(op, replacement);
    return success();
  }
};

/// A reduction that starts from a tensor: starts from the neutral element, and
/// the tensor is combined afterwards.
struct SplitReductionInit : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
        !op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "it is no single reduction");
    OpOperand *init = op.getDpsInitOperand(0);
    Location loc = op.getLoc();
    std::optional<TypedAttr> splat = getSplatValue(init->get());
    if (splat && init->get().getDefiningOp<linalg::FillOp>())
      return rewriter.notifyMatchFailure(op, "it starts from a fill");
    Operation *combiner = streamtensor::matchCombiner(op);
    if (!splat && !combiner)
      return rewriter.notifyMatchFailure(op, "the combination is not known");

    TypedAttr start =
        splat ? *splat : streamtensor::getNeutralElement(combiner);
    Value scalar = arith::ConstantOp::create(rewriter, loc, start);
    Value empty = createEmptyResult(rewriter, op);
    Value fill = linalg::FillOp::create(rewriter, loc, scalar, empty).result();
    Value old = init->get();
    rewriter.modifyOpInPlace(op, [&] { init->set(fill); });
    if (splat)
      return success();

    rewriter.setInsertionPointAfter(op);
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<AffineMap> maps(3, identity);
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto combined = linalg::GenericOp::create(
        rewriter, loc, TypeRange(type), ValueRange{op.getResult(0), old}, empty,
        maps, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange args) {
          OperationState state(loc, combiner->getName(), args.take_front(2),
                               TypeRange(type.getElementType()),
                               combiner->getAttrs());
          linalg::YieldOp::create(builder, loc,
                                  builder.create(state)->getResults());
        });
    rewriter.replaceAllUsesExcept(op.getResult(0), combined.getResult(0),
                                  combined);
    return success();
  }
};

struct NormalizeInits : streamtensor::impl::NormalizeInitsBase<NormalizeInits> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropParallelInit, SplitReductionInit>(&getContext());
    // A reshaped fill is a fill of the other shape.
    linalg::FillOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
