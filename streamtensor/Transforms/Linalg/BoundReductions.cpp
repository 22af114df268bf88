//===- BoundReductions.cpp - Bits that sums of integers need --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interval analysis of integers: bodies by the interface that operations of
// arith have for it, tensors by what makes them, floats that become integers by
// the limits that they are clamped to.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Dataflow/IR/Widths.h"
#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

#include <cmath>
#include <limits>

namespace streamtensor {
#define GEN_PASS_DEF_BOUNDREDUCTIONS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

/// The numbers that a float can be; a NaN is none of them.
struct FloatBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

FloatBounds maximum(FloatBounds a, FloatBounds b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

FloatBounds minimum(FloatBounds a, FloatBounds b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}

FloatBounds boundsOf(Value value) {
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    const double number = constant.getValueAsDouble();
    return std::isnan(number) ? FloatBounds() : FloatBounds{number, number};
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    return maximum(boundsOf(op->getOperand(0)), boundsOf(op->getOperand(1)));
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    return minimum(boundsOf(op->getOperand(0)), boundsOf(op->getOperand(1)));
  if (isa<math::RoundEvenOp, math::RoundOp, math::FloorOp, math::CeilOp,
          math::TruncOp>(op)) {
    const FloatBounds bounds = boundsOf(op->getOperand(0));
    return {std::floor(bounds.low), std::ceil(bounds.high)};
  }
  // a < b ? b : a and a > b ? b : a.
  auto select = dyn_cast<arith::SelectOp>(op);
  auto compare =
      select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  if (!compare || select.getTrueValue() != compare.getRhs() ||
      select.getFalseValue() != compare.getLhs())
    return {};
  const FloatBounds lhs = boundsOf(compare.getLhs()),
                    rhs = boundsOf(compare.getRhs());
  switch (compare.getPredicate()) {
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    return maximum(lhs, rhs);
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    return minimum(lhs, rhs);
  default:
    return {};
  }
}

/// Ranges of signed integers in one function.
class Ranges {
public:
  /// Of the elements of a tensor, or of a scalar.
  ConstantIntRanges of(Value value);
  /// Of the sum that a reduction computes, with all sums of a part of its
  /// terms, in twice as many bits; nothing where it is no sum of known length.
  std::optional<ConstantIntRanges> ofSum(GenericOp op);

private:
  ConstantIntRanges compute(Value value);
  ConstantIntRanges ofResult(OpResult result);

  llvm::DenseMap<Value, ConstantIntRanges> known;
};

} // namespace

static unsigned widthOf(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

static ConstantIntRanges anything(unsigned width) {
  return ConstantIntRanges::maxRange(width);
}

ConstantIntRanges Ranges::of(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  if (type.isIndex())
    return anything(64);
  auto it = known.find(value);
  if (it == known.end())
    // Another value may be inserted before this one is known.
    it = known.insert({value, compute(value)}).first;
  return it->second;
}

ConstantIntRanges Ranges::compute(Value value) {
  const unsigned width = widthOf(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<GenericOp>(argument.getOwner()->getParentOp());
    // What is accumulated is bounded as a whole.
    if (!op || argument.getArgNumber() >= op.getNumDpsInputs())
      return anything(width);
    return of(op.getDpsInputs()[argument.getArgNumber()]);
  }
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return ConstantIntRanges::constant(constant);
  return ofResult(cast<OpResult>(value));
}

ConstantIntRanges Ranges::ofResult(OpResult result) {
  Operation *op = result.getOwner();
  const unsigned width = widthOf(result);
  if (auto generic = dyn_cast<GenericOp>(op)) {
    if (generic.getNumReductionLoops() != 0) {
      std::optional<ConstantIntRanges> sum = ofSum(generic);
      return sum && sum->smin().getSignificantBits() <= width &&
                     sum->smax().getSignificantBits() <= width
                 ? ConstantIntRanges::fromSigned(sum->smin().trunc(width),
                                                 sum->smax().trunc(width))
                 : anything(width);
    }
    return of(generic.getBody()->getTerminator()->getOperand(
        result.getResultNumber()));
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return of(fill.getInputs().front());
  if (Value source = streamtensor::stripViews(result); source != result)
    return of(source);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    std::optional<ConstantIntRanges> all;
    for (Value part : concat.getInputs())
      all = all ? all->rangeUnion(of(part)) : of(part);
    return *all;
  }
  if (isa<arith::FPToSIOp>(op)) {
    const FloatBounds bounds = boundsOf(op->getOperand(0));
    const double limit = std::ldexp(1.0, width - 1);
    if (width > 32 || bounds.low < -limit || bounds.high > limit - 1)
      return anything(width);
    return ConstantIntRanges::fromSigned(
        APInt(width, static_cast<int64_t>(bounds.low), /*isSigned=*/true),
        APInt(width, static_cast<int64_t>(bounds.high), /*isSigned=*/true));
  }
  auto inferring = dyn_cast<InferIntRangeInterface>(op);
  if (!inferring || isa<ShapedType>(result.getType()))
    return anything(width);
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands()) {
    if (!operand.getType().isIntOrIndex())
      return anything(width);
    operands.push_back(of(operand));
  }
  std::optional<ConstantIntRanges> found;
  inferring.inferResultRanges(
      operands, [&](Value inferred, const ConstantIntRanges &range) {
        if (inferred == result)
          found = range;
      });
  return found ? *found : anything(width);
}

std::optional<ConstantIntRanges> Ranges::ofSum(GenericOp op) {
  Operation *combiner =
      op.getNumResults() == 1 ? streamtensor::matchCombiner(op) : nullptr;
  if (!isa_and_nonnull<arith::AddIOp>(combiner))
    return std::nullopt;
  OpOperand *init = op.getDpsInitOperand(0);
  BlockArgument out = op.getMatchingBlockArgument(init);
  Value term = combiner->getOperand(combiner->getOperand(0) == out ? 1 : 0);
  // 64 bits more than the type count the terms.
  const unsigned width = widthOf(term) + 64;
  APInt count(width, 1);
  for (auto [extent, iterator] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction) {
      if (ShapedType::isDynamic(extent))
        return std::nullopt;
      count *= APInt(width, extent);
    }
  const ConstantIntRanges terms = of(term), start = of(init->get());
  const APInt zero(width, 0);
  const APInt low = llvm::APIntOps::smin(terms.smin().sext(width), zero),
              high = llvm::APIntOps::smax(terms.smax().sext(width), zero);
  // Sums of a part of the terms may be added to the start, or to each other.
  const APInt least = llvm::APIntOps::smin(start.smin().sext(width), zero),
              most = llvm::APIntOps::smax(start.smax().sext(width), zero);
  return ConstantIntRanges::fromSigned(least + low * count,
                                       most + high * count);
}

namespace {

struct BoundReductions
    : streamtensor::impl::BoundReductionsBase<BoundReductions> {
  void runOnOperation() override {
    Ranges ranges;
    getOperation()->walk([&](GenericOp op) {
      if (op.getNumReductionLoops() == 0 || op.getNumResults() != 1)
        return;
      auto type = dyn_cast<IntegerType>(
          getElementTypeOrSelf(op.getResult(0).getType()));
      std::optional<ConstantIntRanges> sum;
      if (type && type.getWidth() > 1)
        sum = ranges.ofSum(op);
      if (!sum)
        return;
      const int64_t bits = std::max(sum->smin().getSignificantBits(),
                                    sum->smax().getSignificantBits());
      if (bits < type.getWidth())
        op->setAttr(
            streamtensor::dataflow::kBitsAttr,
            IntegerAttr::get(IntegerType::get(&getContext(), 64), bits));
    });
  }
};

} // namespace
