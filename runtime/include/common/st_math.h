//===- st_math.h - Minima and maxima ----------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalar helpers whose meaning C++ and hls_math leave open: minima and maxima
// as MLIR's arith dialect defines them. C++14, synthesizable.
//
//===----------------------------------------------------------------------===//

#ifndef ST_MATH_H
#define ST_MATH_H

namespace st {
namespace detail {

union FloatBits {
  float value;
  unsigned bits;
};

} // namespace detail

/// arith.maximumf: NaN if either is NaN; +0 is larger than -0.
inline float max(float a, float b) {
  detail::FloatBits x, y;
  x.value = a;
  y.value = b;
  x.bits &= y.bits;
  const float larger = a > b || a != a ? a : b;
  return a == b ? x.value : larger;
}

/// arith.minimumf: NaN if either is NaN; -0 is smaller than +0.
inline float min(float a, float b) {
  detail::FloatBits x, y;
  x.value = a;
  y.value = b;
  x.bits |= y.bits;
  const float smaller = a < b || a != a ? a : b;
  return a == b ? x.value : smaller;
}

/// arith.maxnumf: the other operand where one is NaN.
inline float maxnum(float a, float b) { return a > b || b != b ? a : b; }

/// arith.minnumf: the other operand where one is NaN.
inline float minnum(float a, float b) { return a < b || b != b ? a : b; }

/// arith.maxsi, arith.maxui: by the signedness of T.
template <typename T>
inline T max(T a, T b) {
  return a > b ? a : b;
}

/// arith.minsi, arith.minui: by the signedness of T.
template <typename T>
inline T min(T a, T b) {
  return a < b ? a : b;
}

} // namespace st

#endif // ST_MATH_H
