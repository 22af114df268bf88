//===- IntegerRanges.cpp - What integers can be ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bodies by the interface that operations of arith have for it, tensors by what
// makes them, floats that become integers by the limits that they are clamped
// to. What is not known has the range of its type.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/IntegerRanges.h"

#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;
using linalg::GenericOp;
using streamtensor::IntegerRanges;

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

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

/// The nearest value of `type`.
double rounded(double value, FloatType type) {
  llvm::APFloat number(value);
  bool losesInfo = false;
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

} // namespace

/// What the block argument or the tensor `value` is element by element; null
/// where that is not known.
static Value elementSource(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<GenericOp>(argument.getOwner()->getParentOp());
    // What is accumulated is bounded as a whole.
    return op && argument.getArgNumber() < op.getNumDpsInputs()
               ? op.getDpsInputs()[argument.getArgNumber()]
               : Value();
  }
  Operation *op = value.getDefiningOp();
  if (auto generic = dyn_cast<GenericOp>(op))
    return generic.getNumReductionLoops() == 0
               ? generic.getBody()->getTerminator()->getOperand(
                     cast<OpResult>(value).getResultNumber())
               : Value();
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getInputs().front();
  Value source = streamtensor::stripViews(value);
  return source != value ? source : Value();
}

static FloatBounds boundsOf(Value value) {
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    const double number = constant.getValueAsDouble();
    return std::isnan(number) ? FloatBounds() : FloatBounds{number, number};
  }
  if (Value source = elementSource(value))
    return boundsOf(source);
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
  if (isa<arith::ExtFOp>(op))
    return boundsOf(op->getOperand(0));
  // Rounding keeps the order.
  if (auto truncate = dyn_cast<arith::TruncFOp>(op)) {
    const FloatBounds bounds = boundsOf(truncate.getIn());
    auto type = cast<FloatType>(truncate.getType());
    return {rounded(bounds.low, type), rounded(bounds.high, type)};
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

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Bits of an integer or an index.
static unsigned widthOf(Value value) {
  return ConstantIntRanges::getStorageBitwidth(
      getElementTypeOrSelf(value.getType()));
}

static ConstantIntRanges anything(unsigned width) {
  return ConstantIntRanges::maxRange(width);
}

static ConstantIntRanges signedRange(unsigned width, int64_t low,
                                     int64_t high) {
  return ConstantIntRanges::fromSigned(APInt(width, low, /*isSigned=*/true),
                                       APInt(width, high, /*isSigned=*/true));
}

/// Of the loop that a linalg.index counts.
static ConstantIntRanges rangeOfLoop(linalg::IndexOp op) {
  auto generic = dyn_cast<GenericOp>(op->getParentOp());
  const int64_t extent =
      generic ? generic.getStaticLoopRanges()[op.getDim()] : 0;
  const unsigned width = widthOf(op.getResult());
  return ShapedType::isDynamic(extent) || extent < 1
             ? anything(width)
             : signedRange(width, 0, extent - 1);
}

static ConstantIntRanges rangeOfConversion(arith::FPToSIOp op) {
  const unsigned width = widthOf(op.getResult());
  const FloatBounds bounds = boundsOf(op.getIn());
  const double limit = std::ldexp(1.0, width - 1);
  if (width > 32 || bounds.low < -limit || bounds.high > limit - 1)
    return anything(width);
  return signedRange(width, static_cast<int64_t>(bounds.low),
                     static_cast<int64_t>(bounds.high));
}

static ConstantIntRanges rangeOfAbs(const ConstantIntRanges &operand) {
  // The least number has no absolute value and stays.
  if (operand.smin().isMinSignedValue())
    return anything(operand.smin().getBitWidth());
  const APInt low = operand.smin().abs(), high = operand.smax().abs();
  const APInt zero(low.getBitWidth(), 0);
  const bool hasZero =
      !operand.smin().isStrictlyPositive() && !operand.smax().isNegative();
  return ConstantIntRanges::fromSigned(
      hasZero ? zero : llvm::APIntOps::smin(low, high),
      llvm::APIntOps::smax(low, high));
}

ConstantIntRanges IntegerRanges::of(Value value) {
  auto it = known.find(value);
  if (it == known.end())
    // Another value may be inserted before this one is known.
    it = known.insert({value, compute(value)}).first;
  return it->second;
}

ConstantIntRanges IntegerRanges::compute(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return ConstantIntRanges::constant(constant);
  if (Value source = elementSource(value))
    return of(source);
  auto result = dyn_cast<OpResult>(value);
  return result ? ofResult(result) : anything(widthOf(value));
}

ConstantIntRanges IntegerRanges::ofResult(OpResult result) {
  Operation *op = result.getOwner();
  const unsigned width = widthOf(result);
  if (auto generic = dyn_cast<GenericOp>(op)) {
    std::optional<int64_t> bits = bitsOfSum(generic);
    if (!bits || *bits > width)
      return anything(width);
    const ConstantIntRanges sum = *ofSum(generic);
    return ConstantIntRanges::fromSigned(sum.smin().trunc(width),
                                         sum.smax().trunc(width));
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    std::optional<ConstantIntRanges> all;
    for (Value part : concat.getInputs())
      all = all ? all->rangeUnion(of(part)) : of(part);
    return *all;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    return padding ? of(pad.getSource()).rangeUnion(of(padding))
                   : anything(width);
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return rangeOfLoop(index);
  if (auto conversion = dyn_cast<arith::FPToSIOp>(op))
    return rangeOfConversion(conversion);
  if (auto abs = dyn_cast<math::AbsIOp>(op))
    return rangeOfAbs(of(abs.getOperand()));
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

std::optional<ConstantIntRanges> IntegerRanges::ofSum(GenericOp op) {
  Operation *combiner =
      op.getNumResults() == 1 && op.getNumReductionLoops() != 0
          ? streamtensor::matchCombiner(op)
          : nullptr;
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

std::optional<int64_t> IntegerRanges::bitsOfSum(GenericOp op) {
  std::optional<ConstantIntRanges> sum = ofSum(op);
  if (!sum)
    return std::nullopt;
  return std::max(sum->smin().getSignificantBits(),
                  sum->smax().getSignificantBits());
}
