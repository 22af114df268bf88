//===- st_math.h - Minima and maxima ----------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalar helpers whose meaning C++ and hls_math leave open, as MLIR's arith
// dialect defines them: minima and maxima, and integers that wrap. C++14,
// synthesizable.
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

namespace detail {

/// The unsigned type of the same width, and one that is computed in: C++ would
/// compute with narrow types in int, where an overflow is undefined.
template <typename T>
struct Integer;
template <>
struct Integer<signed char> {
  typedef unsigned char Unsigned;
  typedef unsigned Wide;
};
template <>
struct Integer<short> {
  typedef unsigned short Unsigned;
  typedef unsigned Wide;
};
template <>
struct Integer<int> {
  typedef unsigned Unsigned;
  typedef unsigned Wide;
};
template <>
struct Integer<long long> {
  typedef unsigned long long Unsigned;
  typedef unsigned long long Wide;
};

} // namespace detail

/// The bits of `a` as an unsigned number.
template <typename T>
inline typename detail::Integer<T>::Unsigned to_unsigned(T a) {
  return static_cast<typename detail::Integer<T>::Unsigned>(a);
}

#define ST_WRAPPING(name_, op_)                                                \
  template <typename T>                                                        \
  inline T name_(T a, T b) {                                                   \
    typedef typename detail::Integer<T>::Wide Wide;                            \
    return static_cast<T>(static_cast<Wide>(a) op_ static_cast<Wide>(b));      \
  }
/// arith.addi, arith.subi, arith.muli: modulo the width of T.
ST_WRAPPING(add, +)
ST_WRAPPING(sub, -)
ST_WRAPPING(mul, *)
#undef ST_WRAPPING

/// arith.divsi, towards zero. The smallest number divided by -1 wraps.
template <typename T>
inline T div(T a, T b) {
  return b == -1 ? sub<T>(0, a) : static_cast<T>(a / b);
}

/// arith.remsi, with the sign of `a`.
template <typename T>
inline T rem(T a, T b) {
  return b == -1 ? T(0) : static_cast<T>(a % b);
}

/// arith.floordivsi.
template <typename T>
inline T floordiv(T a, T b) {
  const T quotient = div<T>(a, b);
  return rem<T>(a, b) != 0 && (a < 0) != (b < 0) ? sub<T>(quotient, 1)
                                                 : quotient;
}

/// arith.ceildivsi.
template <typename T>
inline T ceildiv(T a, T b) {
  const T quotient = div<T>(a, b);
  return rem<T>(a, b) != 0 && (a < 0) == (b < 0) ? add<T>(quotient, 1)
                                                 : quotient;
}

/// arith.shli, arith.shrsi, arith.shrui. A shift by the width or more leaves
/// nothing but copies of the sign (shrsi).
template <typename T>
inline T shl(T a, T b) {
  typedef typename detail::Integer<T>::Wide Wide;
  return to_unsigned<T>(b) < 8 * sizeof(T)
             ? static_cast<T>(static_cast<Wide>(a) << b)
             : T(0);
}
template <typename T>
inline T shr(T a, T b) {
  return static_cast<T>(a >> (to_unsigned<T>(b) < 8 * sizeof(T)
                                  ? static_cast<int>(b)
                                  : int(8 * sizeof(T) - 1)));
}
template <typename T>
inline T shru(T a, T b) {
  return to_unsigned<T>(b) < 8 * sizeof(T)
             ? static_cast<T>(to_unsigned<T>(a) >> b)
             : T(0);
}

/// arith.maxsi, arith.minsi.
template <typename T>
inline T max(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
inline T min(T a, T b) {
  return a < b ? a : b;
}

} // namespace st

#endif // ST_MATH_H
