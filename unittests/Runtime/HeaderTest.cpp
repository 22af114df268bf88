//===- HeaderTest.cpp - Tests of the headers of emitted C++ ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// hls_vector.h, hls_math.h, st_math.h and st_half.h, which the simulation
// shares with AMD's open headers.
//
//===----------------------------------------------------------------------===//

#include "ap_int.h"
#include "hls_math.h"
#include "hls_vector.h"
#include "st_half.h"
#include "st_math.h"

#include <cstring>
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

/// All pairs of 8-bit numbers against 64-bit arithmetic, reduced to 8 bits.
TEST(StMath, IntegersWrapAtEightBits) {
  typedef signed char T;
  for (long long a = -128; a < 128; ++a)
    for (long long b = -128; b < 128; ++b) {
      EXPECT_EQ(st::add<T>(a, b), static_cast<T>(a + b));
      EXPECT_EQ(st::sub<T>(a, b), static_cast<T>(a - b));
      EXPECT_EQ(st::mul<T>(a, b), static_cast<T>(a * b));
      EXPECT_EQ(st::max<T>(a, b), std::max(a, b));
      EXPECT_EQ(st::min<T>(a, b), std::min(a, b));
      if (b == 0)
        continue;
      EXPECT_EQ(st::div<T>(a, b), static_cast<T>(a / b));
      EXPECT_EQ(st::rem<T>(a, b), a % b);
      const double quotient = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(st::floordiv<T>(a, b), static_cast<T>(std::floor(quotient)));
      EXPECT_EQ(st::ceildiv<T>(a, b), static_cast<T>(std::ceil(quotient)));
    }
  for (long long a = -128; a < 128; ++a)
    for (int bits = 0; bits < 8; ++bits) {
      EXPECT_EQ(st::shl<T>(a, bits), static_cast<T>(a * (1 << bits)));
      EXPECT_EQ(st::shr<T>(a, bits), a >> bits);
      EXPECT_EQ(st::shru<T>(a, bits), static_cast<T>((a & 255) >> bits));
    }
  EXPECT_EQ(st::shl<T>(1, 8), 0);
  EXPECT_EQ(st::shr<T>(-1, 9), -1);
  EXPECT_EQ(st::shru<T>(-1, 8), 0);
}

TEST(StMath, IntegersWrapAtTheirWidth) {
  const int least = std::numeric_limits<int>::min();
  const long long least64 = std::numeric_limits<long long>::min();
  EXPECT_EQ(st::add<short>(32767, 1), -32768);
  // The largest product of unsigned shorts does not fit an int.
  EXPECT_EQ(st::mul<short>(-1, -1), 1);
  EXPECT_EQ(st::sub<int>(least, 1), std::numeric_limits<int>::max());
  EXPECT_EQ(st::div<int>(least, -1), least);
  EXPECT_EQ(st::rem<int>(least, -1), 0);
  EXPECT_EQ(st::mul<long long>(least64, -1), least64);
  EXPECT_EQ(st::to_unsigned<int>(-1), 4294967295u);
}

TEST(StHalf, HalfEqualsTheCompilersType) {
  // Every half, what lies half way to the next one, and its neighbours.
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const unsigned short pattern = static_cast<unsigned short>(bits);
    st::f16 ours;
    _Float16 theirs;
    std::memcpy(&ours, &pattern, 2);
    std::memcpy(&theirs, &pattern, 2);
    const float value = static_cast<float>(theirs);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(ours)));
      EXPECT_TRUE(std::isnan(static_cast<float>(st::f16(value))));
      continue;
    }
    ASSERT_EQ(static_cast<float>(ours), value);
    unsigned middle;
    std::memcpy(&middle, &value, 4);
    middle += 0x1000;
    for (unsigned near : {middle - 0x1000, middle - 1, middle, middle + 1}) {
      float number;
      std::memcpy(&number, &near, 4);
      const st::f16 rounded(number);
      const _Float16 expected = static_cast<_Float16>(number);
      ASSERT_EQ(std::memcmp(&rounded, &expected, 2), 0) << number;
    }
  }
  for (float tiny : {1e-8f, -2.9802322e-8f, 2.9802326e-8f, 1e-45f, 5e-6f}) {
    const st::f16 rounded(tiny);
    const _Float16 expected = static_cast<_Float16>(tiny);
    EXPECT_EQ(std::memcmp(&rounded, &expected, 2), 0) << tiny;
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(st::f16(kNan))));
  EXPECT_EQ(static_cast<float>(st::f16(-1e30f)), -kInfinity);
}

TEST(StHalf, BfloatIsTheNearestOfItsNeighbours) {
  for (unsigned high = 0; high < 0x7f7fu; ++high)
    for (unsigned low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      for (unsigned sign : {0u, 0x80000000u}) {
        const unsigned x = sign | (high << 16) | low;
        float number;
        std::memcpy(&number, &x, 4);
        const bool up = low > 0x8000u || (low == 0x8000u && (high & 1) != 0);
        const unsigned nearest = sign | ((high + up) << 16);
        float expected;
        std::memcpy(&expected, &nearest, 4);
        ASSERT_EQ(static_cast<float>(st::bf16(number)), expected);
      }
  EXPECT_TRUE(std::isnan(static_cast<float>(st::bf16(kNan))));
  EXPECT_EQ(static_cast<float>(st::bf16(kInfinity)), kInfinity);
  EXPECT_EQ(static_cast<float>(st::bf16(3.4e38f)), kInfinity);
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
