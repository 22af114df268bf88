//===- Utils.cpp - Shared questions about Linalg generics -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small predicates and builders that the normalization passes share.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace streamtensor {

bool isStreamable(Type element) {
  return element.isF32() || element.isF16() || element.isBF16() ||
         llvm::any_of(ArrayRef<unsigned>{1, 8, 16, 32, 64}, [&](unsigned bits) {
           return element.isSignlessInteger(bits);
         });
}

bool isParallelGeneric(linalg::GenericOp op) {
  return op && op.getNumResults() == 1 && op.hasPureTensorSemantics() &&
         op.getNumLoops() == op.getNumParallelLoops();
}

bool isCopy(linalg::GenericOp op) {
  if (!isParallelGeneric(op) || op.getNumDpsInputs() != 1)
    return false;
  Block *body = op.getBody();
  return llvm::hasSingleElement(body->getOperations()) &&
         body->getTerminator()->getOperand(0) == body->getArgument(0);
}

/// Whether `expr` is a sum of loops times positive constants; collects the
/// loops.
static bool isLoopSum(AffineExpr expr, llvm::SmallDenseSet<unsigned> &loops) {
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return loops.insert(loop.getPosition()).second;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return isLoopSum(binary.getLHS(), loops) &&
           isLoopSum(binary.getRHS(), loops);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         factor.getValue() > 0 && isa<AffineDimExpr>(binary.getLHS()) &&
         isLoopSum(binary.getLHS(), loops);
}

bool isWindowMap(AffineMap map) {
  llvm::SmallDenseSet<unsigned> loops;
  return !map.isProjectedPermutation() &&
         llvm::all_of(map.getResults(), [&](AffineExpr result) {
           return isLoopSum(result, loops);
         });
}

bool isWindow(linalg::GenericOp op) {
  return isCopy(op) && isWindowMap(op.getIndexingMapsArray().front()) &&
         op.getIndexingMapsArray().back().isIdentity();
}

/// True if `value`, in the body of `op`, is computed from the block argument
/// `arg`.
static bool dependsOn(Value value, BlockArgument arg) {
  if (value == arg)
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != arg.getOwner())
    return false;
  return llvm::any_of(def->getOperands(),
                      [&](Value operand) { return dependsOn(operand, arg); });
}

/// The operation with which the body of `op` combines the running value of
/// result number `index` and a value that does not depend on it; else null.
static Operation *matchLastOperation(linalg::GenericOp op, unsigned index) {
  Block *body = op.getBody();
  BlockArgument out = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
  Operation *last = body->getTerminator()->getOperand(index).getDefiningOp();
  if (!last || last->getBlock() != body || last->getNumOperands() != 2)
    return nullptr;
  Value lhs = last->getOperand(0), rhs = last->getOperand(1);
  if (lhs != out && rhs != out)
    return nullptr;
  return dependsOn(lhs == out ? rhs : lhs, out) ? nullptr : last;
}

Operation *matchCombiner(linalg::GenericOp op, unsigned index) {
  Operation *last = matchLastOperation(op, index);
  return isa_and_nonnull<arith::AddFOp, arith::MulFOp, arith::MaximumFOp,
                         arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
                         arith::AddIOp, arith::MulIOp, arith::MaxSIOp,
                         arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
                         arith::AndIOp, arith::OrIOp, arith::XOrIOp>(last)
             ? last
             : nullptr;
}

/// The value that the integer operation `combiner` leaves its operand with.
static APInt getNeutralInteger(Operation *combiner, unsigned bits) {
  return llvm::TypeSwitch<Operation *, APInt>(combiner)
      .Case<arith::MulIOp>([&](auto) { return APInt(bits, 1); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return APInt::getSignedMinValue(bits); })
      .Case<arith::MinSIOp>(
          [&](auto) { return APInt::getSignedMaxValue(bits); })
      .Case<arith::MinUIOp, arith::AndIOp>(
          [&](auto) { return APInt::getAllOnes(bits); })
      .Default([&](auto) { return APInt::getZero(bits); });
}

TypedAttr getNeutralElement(Operation *combiner) {
  if (auto integer = dyn_cast<IntegerType>(combiner->getResult(0).getType()))
    return IntegerAttr::get(integer,
                            getNeutralInteger(combiner, integer.getWidth()));
  auto type = cast<FloatType>(combiner->getResult(0).getType());
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  APFloat value =
      llvm::TypeSwitch<Operation *, APFloat>(combiner)
          .Case<arith::MulFOp>([&](auto) { return APFloat::getOne(semantics); })
          .Case<arith::MaximumFOp, arith::MaxNumFOp>(
              [&](auto) { return APFloat::getInf(semantics, true); })
          .Case<arith::MinimumFOp, arith::MinNumFOp>(
              [&](auto) { return APFloat::getInf(semantics); })
          .Default([&](auto) { return APFloat::getZero(semantics); });
  return FloatAttr::get(type, value);
}

std::optional<TypedAttr> getSplatValue(Value value) {
  TypedAttr attr;
  if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
    if (matchPattern(fill.getInputs()[0], m_Constant(&attr)))
      return attr;
    return std::nullopt;
  }
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<TypedAttr>();
  return std::nullopt;
}

/// Appends the source lines that `loc` names, innermost frame first.
static void collectFrames(Location loc,
                          SmallVectorImpl<FileLineColLoc> &frames) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    frames.push_back(file);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    collectFrames(name.getChildLoc(), frames);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectFrames(call.getCallee(), frames);
    collectFrames(call.getCaller(), frames);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : llvm::reverse(fused.getLocations()))
      collectFrames(part, frames);
  }
}

bool isLibraryFrame(StringRef file) { return file.contains("/torch/"); }

std::string getModelLine(Location loc) {
  SmallVector<FileLineColLoc> frames;
  collectFrames(loc, frames);
  if (frames.empty())
    return "";
  auto *frame = llvm::find_if_not(frames, [](FileLineColLoc frame) {
    return isLibraryFrame(frame.getFilename().getValue());
  });
  if (frame == frames.end())
    frame = frames.begin();
  return (frame->getFilename().getValue() + ":" + Twine(frame->getLine()))
      .str();
}

GreedyRewriteConfig getBoundedRewriteConfig() {
  GreedyRewriteConfig config;
  // One decoder layer needs a few hundred rewrites.
  config.setMaxNumRewrites(200000);
  config.setMaxIterations(50);
  return config;
}

LogicalResult applyBounded(Operation *op, RewritePatternSet &&patterns,
                           StringRef pass) {
  if (succeeded(applyPatternsGreedily(op, std::move(patterns),
                                      getBoundedRewriteConfig())))
    return success();
  return op->emitError() << "internal error: the rewrites of '" << pass
                         << "' did not converge";
}

namespace {
/// expand_shape or collapse_shape of tensor.empty.
template <typename ReshapeOp>
struct FoldReshapedEmpty : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern<ReshapeOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!op.getSrc().template getDefiningOp<tensor::EmptyOp>() ||
        !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "it reshapes no static empty");
    rewriter.replaceOp(op, createEmpty(rewriter, op.getLoc(), type.getShape(),
                                       type.getElementType()));
    return success();
  }
};
} // namespace

void addCanonicalizationPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
            tensor::TensorDialect>(op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
  patterns.add<FoldReshapedEmpty<tensor::ExpandShapeOp>,
               FoldReshapedEmpty<tensor::CollapseShapeOp>>(context);
  context->getLoadedDialect<linalg::LinalgDialect>()
      ->getCanonicalizationPatterns(patterns);
  context->getLoadedDialect<tensor::TensorDialect>()
      ->getCanonicalizationPatterns(patterns);
}

Value createEmpty(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                  Type element) {
  return tensor::EmptyOp::create(builder, loc, shape, element);
}

bool canUnstride(tensor::ExtractSliceOp op) {
  auto isDynamic = [](int64_t value) { return ShapedType::isDynamic(value); };
  if (!op.getSourceType().hasStaticShape() ||
      llvm::any_of(op.getStaticOffsets(), isDynamic) ||
      llvm::any_of(op.getStaticSizes(), isDynamic) ||
      llvm::any_of(op.getStaticStrides(), isDynamic))
    return false;
  return llvm::all_of(op.getStaticStrides(),
                      [](int64_t stride) { return stride >= 1; }) &&
         llvm::any_of(op.getStaticStrides(),
                      [](int64_t stride) { return stride != 1; });
}

bool isConstantPad(tensor::PadOp op) {
  auto isAmount = [](int64_t amount) { return amount >= 0; };
  Value value = op.getConstantPaddingValue();
  return value && matchPattern(value, m_Constant()) &&
         op.getSourceType().hasStaticShape() &&
         llvm::all_of(op.getStaticLow(), isAmount) &&
         llvm::all_of(op.getStaticHigh(), isAmount);
}

bool canConcatenate(tensor::InsertSliceOp op) {
  auto isStatic = [](int64_t value) { return !ShapedType::isDynamic(value); };
  return op.getDestType().hasStaticShape() &&
         llvm::all_of(op.getStaticOffsets(), isStatic) &&
         llvm::all_of(op.getStaticSizes(), isStatic) &&
         llvm::all_of(op.getStaticStrides(),
                      [](int64_t stride) { return stride == 1; });
}

Value stripReshapes(Value value) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Value stripViews(Value value) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                         tensor::ExtractSliceOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

SmallVector<ReassociationIndices> groupAround(int64_t rank,
                                              ArrayRef<int64_t> kept) {
  SmallVector<ReassociationIndices> groups(kept.size());
  if (kept.empty())
    return groups;
  size_t group = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (group + 1 < kept.size() && dim > kept[group])
      ++group;
    groups[group].push_back(dim);
  }
  return groups;
}

Value squeeze(OpBuilder &builder, Location loc, Value value,
              ArrayRef<int64_t> kept) {
  auto type = cast<RankedTensorType>(value.getType());
  if (static_cast<int64_t>(kept.size()) == type.getRank())
    return value;
  SmallVector<int64_t> shape;
  for (int64_t dim : kept)
    shape.push_back(type.getDimSize(dim));
  return tensor::CollapseShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), value,
      groupAround(type.getRank(), kept));
}

} // namespace streamtensor
