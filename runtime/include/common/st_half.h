//===- st_half.h - Floats of 16 bits ----------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bfloat16 and IEEE half as 16 bits in memory and streams. A value is computed
// with as a float: it converts to float by itself and back only explicitly,
// rounding to nearest, ties to even. C++14, synthesizable: shifts, one
// comparison per special case, and for subnormal halves one addition.
//
//===----------------------------------------------------------------------===//

#ifndef ST_HALF_H
#define ST_HALF_H

#include "st_math.h"

namespace st {
namespace detail {

inline unsigned bitsOf(float value) {
  FloatBits x;
  x.value = value;
  return x.bits;
}

inline float floatOf(unsigned bits) {
  FloatBits x;
  x.bits = bits;
  return x.value;
}

} // namespace detail

/// 8 bits of exponent and 7 of fraction: the upper half of a float.
class bf16 {
  unsigned short bits;

public:
  bf16() = default;
  explicit bf16(float value) {
    const unsigned x = detail::bitsOf(value);
    // A NaN stays one whatever bits are cut off.
    bits = static_cast<unsigned short>(
        value != value ? (x >> 16) | 0x40u
                       : (x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
  }
  operator float() const {
    return detail::floatOf(static_cast<unsigned>(bits) << 16);
  }
};

/// IEEE 754 binary16: 5 bits of exponent and 10 of fraction.
class f16 {
  unsigned short bits;

public:
  f16() = default;
  explicit f16(float value) {
    const unsigned x = detail::bitsOf(value), sign = (x >> 16) & 0x8000u,
                   magnitude = x & 0x7fffffffu;
    unsigned rounded;
    if (magnitude > 0x7f800000u) // NaN
      rounded = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    else if (magnitude >= 0x47800000u) // 65536 and above
      rounded = 0x7c00u;
    else if (magnitude < 0x38800000u) // below 2^-14; 1/2 counts in 2^-24
      rounded = detail::bitsOf(detail::floatOf(magnitude) + 0.5f) - 0x3f000000u;
    else
      rounded =
          (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    bits = static_cast<unsigned short>(sign | rounded);
  }
  operator float() const {
    const unsigned sign = static_cast<unsigned>(bits & 0x8000u) << 16,
                   exponent = (bits >> 10) & 0x1fu, fraction = bits & 0x3ffu;
    if (exponent == 0) { // a multiple of 2^-24
      const float magnitude = static_cast<float>(static_cast<int>(fraction)) *
                              5.9604644775390625e-8f;
      return sign != 0 ? -magnitude : magnitude;
    }
    const unsigned wide = exponent == 31 ? 0xffu : exponent + 112u;
    return detail::floatOf(sign | (wide << 23) | (fraction << 13));
  }
};

} // namespace st

#endif // ST_HALF_H
