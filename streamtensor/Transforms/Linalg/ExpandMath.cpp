//===- ExpandMath.cpp - Powers and functions without hardware -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces math.fpowi and math.powf with a constant exponent by products,
// roots and divisions, as PyTorch evaluates them; log1p, expm1, exp2, log2 and
// log10 by exp, log and powf.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

namespace streamtensor {
#define GEN_PASS_DEF_EXPANDMATH
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

/// Above this exponent a product chain costs more than math.powf.
constexpr int64_t kLargestProduct = 8;

Value createConstant(OpBuilder &builder, Location loc, Type type,
                     double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

/// `base` to the power of `exponent` >= 1 by repeated squaring.
Value createProduct(OpBuilder &builder, Location loc, Value base,
                    int64_t exponent) {
  Value result, square = base;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result =
          result
              ? arith::MulFOp::create(builder, loc, square, result).getResult()
              : square;
    if (exponent > 1)
      square = arith::MulFOp::create(builder, loc, square, square);
  }
  return result;
}

/// The power as products and roots, or null if `exponent` needs math.powf.
Value expandPower(OpBuilder &builder, Location loc, Value base,
                  double exponent) {
  Type type = base.getType();
  if (exponent == 0.0)
    return createConstant(builder, loc, type, 1.0);
  if (exponent == 0.5)
    return math::SqrtOp::create(builder, loc, base);
  if (exponent == -0.5)
    return math::RsqrtOp::create(builder, loc, base);
  double magnitude = std::abs(exponent);
  if (magnitude > kLargestProduct || magnitude != std::floor(magnitude))
    return nullptr;
  Value product =
      createProduct(builder, loc, base, static_cast<int64_t>(magnitude));
  if (exponent > 0)
    return product;
  Value one = createConstant(builder, loc, type, 1.0);
  return arith::DivFOp::create(builder, loc, one, product);
}

struct ExpandIntegerPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    APInt exponent;
    if (!matchPattern(op.getRhs(), m_ConstantInt(&exponent)))
      return rewriter.notifyMatchFailure(op, "the exponent is no constant");
    double value = static_cast<double>(exponent.getSExtValue());
    Value power = expandPower(rewriter, op.getLoc(), op.getLhs(), value);
    if (!power)
      power = math::PowFOp::create(
          rewriter, op.getLoc(), op.getLhs(),
          createConstant(rewriter, op.getLoc(), op.getType(), value));
    rewriter.replaceOp(op, power);
    return success();
  }
};

struct ExpandFloatPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    APFloat exponent(0.0f);
    if (!matchPattern(op.getRhs(), m_ConstantFloat(&exponent)))
      return rewriter.notifyMatchFailure(op, "the exponent is no constant");
    Value power = expandPower(rewriter, op.getLoc(), op.getLhs(),
                              exponent.convertToDouble());
    if (!power)
      return rewriter.notifyMatchFailure(op, "the exponent needs a real power");
    rewriter.replaceOp(op, power);
    return success();
  }
};

/// Values up to here lose digits in `exp(x) - 1` and `1 + x`.
constexpr double kSmall = 0.5;

/// True where `value` is larger than kSmall in magnitude.
Value isLarge(OpBuilder &builder, Location loc, Value value) {
  Value magnitude = math::AbsFOp::create(builder, loc, value);
  return arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OGT, magnitude,
      createConstant(builder, loc, value.getType(), kSmall));
}

/// log(1 + x). For small x the rounding of u = 1 + x is divided out again:
/// log(u) x / (u - 1), and x itself where u is 1 (W. Kahan's method).
struct ExpandLog1p : OpRewritePattern<math::Log1pOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Log1pOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Value one = createConstant(rewriter, loc, x.getType(), 1.0);
    Value u = arith::AddFOp::create(rewriter, loc, one, x);
    Value log = math::LogOp::create(rewriter, loc, u);
    Value rounded = arith::SubFOp::create(rewriter, loc, u, one);
    Value ratio = arith::DivFOp::create(rewriter, loc, x, rounded);
    Value corrected = arith::MulFOp::create(rewriter, loc, log, ratio);
    Value isOne =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OEQ, u, one);
    Value small = arith::SelectOp::create(rewriter, loc, isOne, x, corrected);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isLarge(rewriter, loc, x),
                                                 log, small);
    return success();
  }
};

/// exp(x) - 1. For small x the rounding of u = exp(x) is divided out again:
/// (u - 1) x / log(u), and x itself where u is 1.
struct ExpandExpm1 : OpRewritePattern<math::ExpM1Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpM1Op op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Value one = createConstant(rewriter, loc, x.getType(), 1.0);
    Value u = math::ExpOp::create(rewriter, loc, x);
    Value difference = arith::SubFOp::create(rewriter, loc, u, one);
    Value log = math::LogOp::create(rewriter, loc, u);
    Value ratio = arith::DivFOp::create(rewriter, loc, x, log);
    Value corrected = arith::MulFOp::create(rewriter, loc, difference, ratio);
    Value isOne =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OEQ, u, one);
    Value small = arith::SelectOp::create(rewriter, loc, isOne, x, corrected);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isLarge(rewriter, loc, x),
                                                 difference, small);
    return success();
  }
};

/// exp2(x) as a power of two: x ln 2 would be rounded before the exponential.
struct ExpandExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    Value two = createConstant(rewriter, op.getLoc(), op.getType(), 2.0);
    rewriter.replaceOpWithNewOp<math::PowFOp>(op, two, op.getOperand());
    return success();
  }
};

/// A logarithm to another base: log(x) times a constant.
template <typename LogOp>
struct ExpandLog : OpRewritePattern<LogOp> {
  ExpandLog(MLIRContext *context, double base)
      : OpRewritePattern<LogOp>(context), scale(1.0 / std::log(base)) {}
  LogicalResult matchAndRewrite(LogOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value log = math::LogOp::create(rewriter, loc, op.getOperand());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(
        op, log, createConstant(rewriter, loc, op.getType(), scale));
    return success();
  }
  double scale;
};

struct ExpandMath : streamtensor::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandIntegerPower, ExpandFloatPower, ExpandLog1p, ExpandExpm1,
                 ExpandExp2>(&getContext());
    patterns.add<ExpandLog<math::Log2Op>>(&getContext(), 2.0);
    patterns.add<ExpandLog<math::Log10Op>>(&getContext(), 10.0);
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
