//===- ap_int.h - Integers of any width up to 64 ----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ap_int and ap_uint for the C simulation: values of W bits in native
// integers, so that a simulation of quantized models is fast.
//
// Assignment wraps to W bits, as AMD's types do. Arithmetic is done in 64
// bits, which is exact as long as a result needs at most 63; wider ones need
// AMD's headers.
//
//===----------------------------------------------------------------------===//

#ifndef ST_AP_INT_H
#define ST_AP_INT_H

#include <stddef.h>
#include <stdint.h>

namespace st {
namespace sim {

template <bool Fits8, bool Fits16, bool Fits32>
struct NativeInteger {
  typedef int64_t Signed;
  typedef uint64_t Unsigned;
};
template <>
struct NativeInteger<false, false, true> {
  typedef int32_t Signed;
  typedef uint32_t Unsigned;
};
template <>
struct NativeInteger<false, true, true> {
  typedef int16_t Signed;
  typedef uint16_t Unsigned;
};
template <>
struct NativeInteger<true, true, true> {
  typedef int8_t Signed;
  typedef uint8_t Unsigned;
};

/// The native type that holds W bits.
template <int W>
struct NativeOf : NativeInteger<(W <= 8), (W <= 16), (W <= 32)> {};

} // namespace sim
} // namespace st

#define ST_AP_OPERATORS(Type_)                                                 \
  Type_ &operator+=(int64_t other) { return *this = Type_(value + other); }    \
  Type_ &operator-=(int64_t other) { return *this = Type_(value - other); }    \
  Type_ &operator*=(int64_t other) { return *this = Type_(value * other); }    \
  Type_ &operator/=(int64_t other) { return *this = Type_(value / other); }    \
  Type_ &operator%=(int64_t other) { return *this = Type_(value % other); }    \
  Type_ &operator&=(int64_t other) { return *this = Type_(value & other); }    \
  Type_ &operator|=(int64_t other) { return *this = Type_(value | other); }    \
  Type_ &operator^=(int64_t other) { return *this = Type_(value ^ other); }    \
  Type_ &operator<<=(int bits) {                                               \
    return *this = Type_(                                                      \
               static_cast<int64_t>(static_cast<uint64_t>(value) << bits));    \
  }                                                                            \
  Type_ &operator>>=(int bits) { return *this = Type_(value >> bits); }        \
  Type_ &operator++() { return *this += 1; }                                   \
  Type_ &operator--() { return *this -= 1; }                                   \
  /* Bit `i`, and bits high..low as an unsigned number. */                     \
  bool operator[](int i) const { return (value >> i) & 1; }                    \
  uint64_t range(int high, int low) const {                                    \
    const int count = high - low + 1;                                          \
    const uint64_t bits = static_cast<uint64_t>(value) >> low;                 \
    return count == 64 ? bits : bits & ((uint64_t(1) << count) - 1);           \
  }                                                                            \
  int to_int() const { return static_cast<int>(value); }                       \
  int64_t to_int64() const { return value; }

/// A signed integer of W bits.
template <int W>
class ap_int {
  static_assert(W >= 1 && W <= 64, "expected a width from 1 to 64");
  typename st::sim::NativeOf<W>::Signed value;

public:
  enum { width = W };
  ap_int() = default;
  ap_int(int64_t number)
      : value(static_cast<decltype(value)>(
            static_cast<int64_t>(static_cast<uint64_t>(number) << (64 - W)) >>
            (64 - W))) {}
  operator int64_t() const { return value; }
  ST_AP_OPERATORS(ap_int)
};

/// An unsigned integer of W bits.
template <int W>
class ap_uint {
  static_assert(W >= 1 && W <= 63, "expected a width from 1 to 63");
  typename st::sim::NativeOf<W>::Unsigned value;

public:
  enum { width = W };
  ap_uint() = default;
  ap_uint(int64_t number)
      : value(static_cast<decltype(value)>(static_cast<uint64_t>(number) &
                                           ((uint64_t(1) << W) - 1))) {}
  operator int64_t() const { return static_cast<int64_t>(value); }
  ST_AP_OPERATORS(ap_uint)
};

#undef ST_AP_OPERATORS

#endif // ST_AP_INT_H
