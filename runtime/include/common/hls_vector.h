//===- hls_vector.h - hls::vector -------------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// hls::vector for C simulation, ours and beside AMD's open headers: N values
// of type T that travel as one token. C++14.
//
//===----------------------------------------------------------------------===//

#ifndef ST_HLS_VECTOR_H
#define ST_HLS_VECTOR_H

#include <stddef.h>

namespace hls {
namespace detail {

/// The alignment of a vector of `bytes` bytes: the next power of two, capped
/// at 64.
constexpr size_t vectorAlignment(size_t bytes, size_t alignment = 1) {
  return alignment >= 64 || alignment >= bytes
             ? alignment
             : vectorAlignment(bytes, 2 * alignment);
}

} // namespace detail

template <typename T, size_t N>
class alignas(detail::vectorAlignment(N * sizeof(T))) vector {
  static_assert(N > 0, "a vector has at least one lane");
  T lanes[N];

public:
  using value_type = T;
  static constexpr size_t width = N;

  /// Lanes are uninitialised, as in hardware.
  vector() = default;
  vector(const T &fill) {
    for (size_t i = 0; i < N; ++i)
      lanes[i] = fill;
  }

  T &operator[](size_t i) { return lanes[i]; }
  const T &operator[](size_t i) const { return lanes[i]; }
  static constexpr size_t size() { return N; }
  T *begin() { return lanes; }
  T *end() { return lanes + N; }
  const T *begin() const { return lanes; }
  const T *end() const { return lanes + N; }

#define ST_VECTOR_OPERATOR(op_)                                                \
  vector &operator op_## = (const vector &other) {                             \
    for (size_t i = 0; i < N; ++i)                                             \
      lanes[i] = static_cast<T>(lanes[i] op_ other.lanes[i]);                  \
    return *this;                                                              \
  }                                                                            \
  friend vector operator op_(vector left, const vector &right) {               \
    left op_## = right;                                                        \
    return left;                                                               \
  }
  ST_VECTOR_OPERATOR(+)
  ST_VECTOR_OPERATOR(-)
  ST_VECTOR_OPERATOR(*)
  ST_VECTOR_OPERATOR(/)
#undef ST_VECTOR_OPERATOR

  friend bool operator==(const vector &left, const vector &right) {
    for (size_t i = 0; i < N; ++i)
      if (!(left.lanes[i] == right.lanes[i]))
        return false;
    return true;
  }
  friend bool operator!=(const vector &left, const vector &right) {
    return !(left == right);
  }
};

} // namespace hls

#endif // ST_HLS_VECTOR_H
