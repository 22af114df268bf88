//===- hls_math.h - Float functions of hls_math -----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The float functions of hls_math for C simulation, ours and beside AMD's open
// headers. C++14.
//
//===----------------------------------------------------------------------===//

#ifndef ST_HLS_MATH_H
#define ST_HLS_MATH_H

#include <cmath>

namespace hls {

inline float exp(float x) { return std::exp(x); }
inline float exp2(float x) { return std::exp2(x); }
inline float expm1(float x) { return std::expm1(x); }
inline float log(float x) { return std::log(x); }
inline float log2(float x) { return std::log2(x); }
inline float log10(float x) { return std::log10(x); }
inline float log1p(float x) { return std::log1p(x); }
inline float pow(float x, float y) { return std::pow(x, y); }
inline float sqrt(float x) { return std::sqrt(x); }
inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
inline float cbrt(float x) { return std::cbrt(x); }
inline float sin(float x) { return std::sin(x); }
inline float cos(float x) { return std::cos(x); }
inline float tan(float x) { return std::tan(x); }
inline float asin(float x) { return std::asin(x); }
inline float acos(float x) { return std::acos(x); }
inline float atan(float x) { return std::atan(x); }
inline float atan2(float y, float x) { return std::atan2(y, x); }
inline float sinh(float x) { return std::sinh(x); }
inline float cosh(float x) { return std::cosh(x); }
inline float tanh(float x) { return std::tanh(x); }
inline float asinh(float x) { return std::asinh(x); }
inline float acosh(float x) { return std::acosh(x); }
inline float atanh(float x) { return std::atanh(x); }
inline float erf(float x) { return std::erf(x); }
inline float erfc(float x) { return std::erfc(x); }
inline float fabs(float x) { return std::fabs(x); }
inline float floor(float x) { return std::floor(x); }
inline float ceil(float x) { return std::ceil(x); }
inline float trunc(float x) { return std::trunc(x); }
/// Halves away from zero.
inline float round(float x) { return std::round(x); }
/// Halves to even (the default rounding mode, which nothing here changes).
inline float rint(float x) { return std::nearbyint(x); }
inline float roundeven(float x) { return std::nearbyint(x); }
inline float fmod(float x, float y) { return std::fmod(x, y); }
inline float copysign(float magnitude, float sign) {
  return std::copysign(magnitude, sign);
}

} // namespace hls

#endif // ST_HLS_MATH_H
