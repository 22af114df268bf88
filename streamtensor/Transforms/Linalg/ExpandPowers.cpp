//===- ExpandPowers.cpp - Powers with constant exponents ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces math.fpowi and math.powf with a constant exponent by products,
// roots and divisions, as PyTorch evaluates them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace streamtensor {
#define GEN_PASS_DEF_EXPANDPOWERS
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

struct ExpandPowers : streamtensor::impl::ExpandPowersBase<ExpandPowers> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandIntegerPower, ExpandFloatPower>(&getContext());
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
