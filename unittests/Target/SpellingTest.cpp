//===- SpellingTest.cpp - Literals and expressions ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of the spelling of C++.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/HLSCpp/Spelling.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace mlir;
using namespace streamtensor::hlscpp;

namespace {

class SpellingTest : public testing::Test {
protected:
  std::string spell(float value) {
    return literal(builder.getF32FloatAttr(value))->text;
  }

  MLIRContext context;
  Builder builder{&context};
};

TEST_F(SpellingTest, Floats) {
  EXPECT_EQ(spell(0.0f), "0.0f");
  EXPECT_EQ(spell(-0.0f), "-0.0f");
  EXPECT_EQ(spell(1.0f), "1.0f");
  EXPECT_EQ(spell(0.1f), "0.1f");
  EXPECT_EQ(spell(1e-5f), "1e-05f");
  EXPECT_EQ(spell(16777216.0f), "16777216.0f");
  EXPECT_EQ(spell(INFINITY), "INFINITY");
  EXPECT_EQ(spell(-INFINITY), "-INFINITY");
  EXPECT_EQ(spell(NAN), "NAN");
}

/// strtof reads back every finite float, bit by bit.
TEST_F(SpellingTest, FloatsAreExact) {
  std::mt19937 generator(1);
  for (int i = 0; i < 5000; ++i) {
    uint32_t bits = generator();
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value))
      continue;
    std::string text = spell(value);
    ASSERT_EQ(text.back(), 'f');
    float back = std::strtof(text.c_str(), nullptr);
    ASSERT_EQ(std::memcmp(&back, &value, sizeof value), 0) << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;
  }
}

TEST_F(SpellingTest, Types) {
  EXPECT_EQ(vectorType(builder.getF32Type(), 16), "f32x16");
  EXPECT_EQ(vectorType(builder.getF32Type(), 1), "float");
  EXPECT_EQ(vectorType(builder.getI8Type(), 4), "i8x4");
  EXPECT_FALSE(vectorType(builder.getF64Type(), 4));
  EXPECT_EQ(vectorType(builder.getBF16Type(), 8), "bf16x8");
  EXPECT_EQ(scalarType(builder.getF16Type()), "st::f16");
  EXPECT_EQ(scalarType(builder.getIntegerType(17)), "st::sint<17>");
  EXPECT_EQ(vectorType(builder.getIntegerType(17), 16), "i17x16");
  EXPECT_FALSE(isComputedInteger(builder.getIntegerType(17)));
  EXPECT_FALSE(scalarType(builder.getIntegerType(128)));
  EXPECT_EQ(literal(builder.getFloatAttr(builder.getBF16Type(), 0.5))->text,
            "st::bf16(0.5f)");
  // The least number has no literal of its own in C++.
  EXPECT_EQ(literal(builder.getI64IntegerAttr(INT64_MIN))->text,
            "-9223372036854775807ll - 1");
  EXPECT_FALSE(literal(builder.getF64FloatAttr(1.0)));
}

TEST_F(SpellingTest, Precedence) {
  Expression a{"a"}, b{"b"}, c{"c"};
  auto minus = [](const Expression &l, const Expression &r) {
    return binary(l, "-", r, Precedence::Additive);
  };
  auto times = [](const Expression &l, const Expression &r) {
    return binary(l, "*", r, Precedence::Multiplicative);
  };
  EXPECT_EQ(minus(minus(a, b), c).text, "a - b - c");
  EXPECT_EQ(minus(a, minus(b, c)).text, "a - (b - c)");
  EXPECT_EQ(times(minus(a, b), c).text, "(a - b) * c");
  EXPECT_EQ(minus(times(a, b), c).text, "a * b - c");
  EXPECT_EQ(integerSum(a, integerSum(b, c)).text, "a + b + c");
  EXPECT_EQ(call("f", {minus(a, b), c}).text, "f(a - b, c)");
}

TEST_F(SpellingTest, Affine) {
  AffineExpr x = builder.getAffineDimExpr(0), y = builder.getAffineDimExpr(1);
  Expression dims[] = {{"x"}, {"y"}};
  auto spelled = [&](AffineExpr expr) { return affine(expr, dims)->text; };
  EXPECT_EQ(spelled(x + y * 16), "y * 16 + x");
  EXPECT_EQ(spelled(x * 2 + y), "x * 2 + y");
  EXPECT_EQ(spelled(x - 4), "x - 4");
  EXPECT_EQ(spelled(x - y * 2), "x - y * 2");
  EXPECT_EQ(spelled((x + y).floorDiv(4)), "(x + y) / 4");
  EXPECT_EQ(spelled((x + 1) % 4), "(x + 1) % 4");
  EXPECT_FALSE(affine(x.ceilDiv(4), dims));
}

} // namespace
