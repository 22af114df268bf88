//===- HeaderTest.cpp - Tests of the headers of emitted C++ ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// hls_vector.h, hls_math.h and st_math.h, which the simulation shares with
// AMD's open headers.
//
//===----------------------------------------------------------------------===//

#include "ap_int.h"
#include "hls_math.h"
#include "hls_vector.h"
#include "st_math.h"

#include <gtest/gtest.h>
#include <limits>

namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInfinity = std::numeric_limits<float>::infinity();

TEST(HlsVector, IsAlignedToAPowerOfTwoOfItsSize) {
  EXPECT_EQ(alignof(hls::vector<float, 1>), 4u);
  EXPECT_EQ(alignof(hls::vector<float, 2>), 8u);
  EXPECT_EQ(alignof(hls::vector<float, 3>), 16u);
  EXPECT_EQ(sizeof(hls::vector<float, 3>), 16u);
  EXPECT_EQ(alignof(hls::vector<float, 16>), 64u);
  EXPECT_EQ(sizeof(hls::vector<float, 16>), 64u);
  // Wider than a cache line: no stricter alignment, no padding.
  EXPECT_EQ(alignof(hls::vector<float, 128>), 64u);
  EXPECT_EQ(sizeof(hls::vector<float, 128>), 512u);
  EXPECT_EQ(alignof(hls::vector<signed char, 16>), 16u);
}

TEST(HlsVector, ComputesByLane) {
  hls::vector<float, 4> a(3.0f), b;
  for (int i = 0; i < 4; ++i)
    b[i] = static_cast<float>(i + 1);
  const hls::vector<float, 4> sum = a + b, product = a * b, quotient = a / b;
  a -= b;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(sum[i], 3.0f + (i + 1));
    EXPECT_EQ(product[i], 3.0f * (i + 1));
    EXPECT_EQ(quotient[i], 3.0f / (i + 1));
    EXPECT_EQ(a[i], 3.0f - (i + 1));
  }
  EXPECT_TRUE(sum == sum);
  EXPECT_TRUE(sum != product);
}

TEST(StMath, MaximumAndMinimumPropagateNan) {
  EXPECT_EQ(st::max(1.0f, 2.0f), 2.0f);
  EXPECT_EQ(st::max(2.0f, -kInfinity), 2.0f);
  EXPECT_EQ(st::min(1.0f, 2.0f), 1.0f);
  EXPECT_TRUE(std::isnan(st::max(kNan, 1.0f)));
  EXPECT_TRUE(std::isnan(st::max(1.0f, kNan)));
  EXPECT_TRUE(std::isnan(st::min(kNan, 1.0f)));
  EXPECT_TRUE(std::isnan(st::min(1.0f, kNan)));
}

TEST(StMath, ZerosAreOrdered) {
  EXPECT_FALSE(std::signbit(st::max(-0.0f, 0.0f)));
  EXPECT_FALSE(std::signbit(st::max(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(st::min(-0.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(st::min(0.0f, -0.0f)));
  EXPECT_EQ(st::max(-3.0f, -3.0f), -3.0f);
  EXPECT_EQ(st::min(-3.0f, -3.0f), -3.0f);
}

TEST(StMath, NumberVariantsIgnoreNan) {
  EXPECT_EQ(st::maxnum(kNan, 1.0f), 1.0f);
  EXPECT_EQ(st::maxnum(1.0f, kNan), 1.0f);
  EXPECT_EQ(st::maxnum(1.0f, 3.0f), 3.0f);
  EXPECT_EQ(st::minnum(kNan, 1.0f), 1.0f);
  EXPECT_EQ(st::minnum(1.0f, kNan), 1.0f);
  EXPECT_EQ(st::minnum(1.0f, 3.0f), 1.0f);
}

TEST(StMath, IntegersBySignedness) {
  EXPECT_EQ(st::max(-1, 1), 1);
  EXPECT_EQ(st::max(-1 + 0u, 1u), 4294967295u);
  EXPECT_EQ(st::min(-1, 1), -1);
}

TEST(ApInt, WrapsToItsWidth) {
  EXPECT_EQ(ap_int<4>(7).to_int(), 7);
  EXPECT_EQ(ap_int<4>(8).to_int(), -8);
  EXPECT_EQ(ap_int<4>(-9).to_int(), 7);
  EXPECT_EQ(ap_uint<4>(17).to_int(), 1);
  EXPECT_EQ(ap_uint<4>(-1).to_int(), 15);
  EXPECT_EQ(ap_int<1>(1).to_int(), -1);
  EXPECT_EQ(sizeof(ap_int<4>), 1u);
  EXPECT_EQ(sizeof(ap_int<24>), 4u);
}

TEST(ApInt, AccumulatesProductsExactly) {
  // The worst case of int4 weights and int8 activations over 4096 values:
  // -8 * -128 * 4096 = 2^22, which 24 bits hold and 16 do not.
  ap_int<24> wide = 0;
  ap_int<16> narrow = 0;
  const ap_int<4> weight = -8;
  const ap_int<8> activation = -128;
  for (int i = 0; i < 4096; ++i) {
    wide += weight * activation;
    narrow += weight * activation;
  }
  EXPECT_EQ(wide.to_int(), 1 << 22);
  EXPECT_EQ(narrow.to_int(), 0);
}

TEST(ApInt, BitsAndShifts) {
  const ap_uint<12> value = 0xabc;
  EXPECT_EQ(value.range(11, 8), 0xau);
  EXPECT_EQ(value.range(3, 0), 0xcu);
  EXPECT_TRUE(value[2]);
  EXPECT_FALSE(value[0]);
  ap_int<8> shifted = -64;
  shifted >>= 2;
  EXPECT_EQ(shifted.to_int(), -16);
  shifted <<= 4;
  EXPECT_EQ(shifted.to_int(), 0);
}

TEST(HlsMath, RoundingOfHalves) {
  EXPECT_EQ(hls::roundeven(0.5f), 0.0f);
  EXPECT_EQ(hls::roundeven(1.5f), 2.0f);
  EXPECT_EQ(hls::roundeven(-2.5f), -2.0f);
  EXPECT_EQ(hls::round(0.5f), 1.0f);
  EXPECT_EQ(hls::round(-2.5f), -3.0f);
  EXPECT_EQ(hls::floor(-1.5f), -2.0f);
  EXPECT_EQ(hls::ceil(-1.5f), -1.0f);
}

TEST(HlsMath, FunctionsAreFloatFunctions) {
  static_assert(sizeof(hls::exp(1.0f)) == sizeof(float), "no double");
  EXPECT_EQ(hls::rsqrt(4.0f), 0.5f);
  EXPECT_FLOAT_EQ(hls::exp(1.0f), 2.71828183f);
  EXPECT_FLOAT_EQ(hls::tanh(0.5f), 0.46211716f);
  EXPECT_FLOAT_EQ(hls::erf(0.5f), 0.52049988f);
  EXPECT_FLOAT_EQ(hls::pow(2.0f, 10.0f), 1024.0f);
}

} // namespace
