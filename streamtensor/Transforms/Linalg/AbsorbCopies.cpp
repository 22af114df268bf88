//===- AbsorbCopies.cpp - Transposes and broadcasts into indexing maps ----===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Removes generics that only move data by composing their maps into consumers
// or into the producer.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_ABSORBCOPIES
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

/// The map from the dimensions of a copy's result to those of its source:
/// result element `r` is source element `map(r)`.
AffineMap getSourceOfResult(GenericOp copy) {
  AffineMap in = copy.getMatchingIndexingMap(copy.getDpsInputOperand(0));
  AffineMap out = copy.getMatchingIndexingMap(copy.getDpsInitOperand(0));
  return in.compose(inversePermutation(out));
}

/// True if `value` is the result of a copy whose maps are permutations, apart
/// from broadcast dimensions.
GenericOp getAbsorbableCopy(Value value) {
  auto copy = value.getDefiningOp<GenericOp>();
  if (!copy || !streamtensor::isCopy(copy))
    return nullptr;
  AffineMap out = copy.getMatchingIndexingMap(copy.getDpsInitOperand(0));
  AffineMap in = copy.getMatchingIndexingMap(copy.getDpsInputOperand(0));
  return out.isPermutation() && in.isProjectedPermutation() ? copy : nullptr;
}

/// A generic reads the source of a copy through the composed map.
struct AbsorbIntoConsumer : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      GenericOp copy = getAbsorbableCopy(operand->get());
      if (!copy)
        continue;
      unsigned index = operand->getOperandNumber();
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps[index] = getSourceOfResult(copy).compose(maps[index]);
      // A dimension that only the copy's result had gives a loop its bounds.
      if (!inversePermutation(concatAffineMaps(maps, rewriter.getContext())))
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        operand->set(copy.getDpsInputOperand(0)->get());
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is a copy to absorb");
  }
};

/// True if `value` is only read by generics, as an input.
bool isReadByGenericsOnly(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto generic = dyn_cast<GenericOp>(use.getOwner());
    return generic && !generic.isDpsInit(&use);
  });
}

/// A generic whose result a copy transposes writes transposed itself; what else
/// reads that result composes the inverse.
struct AbsorbIntoProducer : OpRewritePattern<GenericOp> {
  // Before AbsorbIntoConsumer: this one removes the copy for all its users.
  AbsorbIntoProducer(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(GenericOp copy,
                                PatternRewriter &rewriter) const override {
    if (!getAbsorbableCopy(copy.getResult(0)))
      return rewriter.notifyMatchFailure(copy, "it is no copy");
    AffineMap source = getSourceOfResult(copy);
    if (!source.isPermutation())
      return rewriter.notifyMatchFailure(copy, "it broadcasts");
    auto producer =
        copy.getDpsInputOperand(0)->get().getDefiningOp<GenericOp>();
    if (!producer || producer.getNumResults() != 1 ||
        producer->getBlock() != copy->getBlock() ||
        !isReadByGenericsOnly(producer.getResult(0)))
      return rewriter.notifyMatchFailure(copy, "its source cannot change");
    if (!producer->hasOneUse() && isReadByGenericsOnly(copy.getResult(0)))
      return rewriter.notifyMatchFailure(copy, "its consumers can absorb it");
    Value init = producer.getDpsInitOperand(0)->get();
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (!fill && !init.getDefiningOp<tensor::EmptyOp>())
      return rewriter.notifyMatchFailure(copy, "the start value is a tensor");
    Location loc = producer.getLoc();
    auto type = cast<RankedTensorType>(copy.getResult(0).getType());
    AffineMap target = inversePermutation(source);

    rewriter.setInsertionPoint(producer);
    Value newInit = streamtensor::createEmpty(rewriter, loc, type.getShape(),
                                              type.getElementType());
    if (fill)
      newInit = linalg::FillOp::create(rewriter, fill.getLoc(),
                                       fill.getInputs(), newInit)
                    .result();
    SmallVector<AffineMap> maps = producer.getIndexingMapsArray();
    maps.back() = target.compose(maps.back());
    auto transposed = GenericOp::create(
        rewriter, rewriter.getFusedLoc({copy.getLoc(), loc}), TypeRange(type),
        producer.getInputs(), newInit, maps, producer.getIteratorTypesArray());
    Region &region = transposed.getRegion();
    rewriter.inlineRegionBefore(producer.getRegion(), region, region.begin());
    rewriter.replaceOp(copy, transposed);

    for (OpOperand &use :
         llvm::make_early_inc_range(producer.getResult(0).getUses())) {
      auto reader = cast<GenericOp>(use.getOwner());
      SmallVector<AffineMap> readerMaps = reader.getIndexingMapsArray();
      AffineMap &map = readerMaps[use.getOperandNumber()];
      map = target.compose(map);
      rewriter.modifyOpInPlace(reader, [&] {
        use.set(transposed.getResult(0));
        reader.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(readerMaps));
      });
    }
    rewriter.eraseOp(producer);
    return success();
  }
};

struct AbsorbCopies : streamtensor::impl::AbsorbCopiesBase<AbsorbCopies> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AbsorbIntoConsumer, AbsorbIntoProducer>(&getContext());
    // Identity copies vanish, copies of fills become fills.
    GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    getContext()
        .getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
