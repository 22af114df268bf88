//===- st_int.h - Integers of any width in C simulation ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What stores sums in the bits that they need, for the C simulation: the next
// wider type of C++, which a compiler can vectorize. The version in
// include-plain/ gives synthesis exactly that width; the compiler has shown
// that all sums fit.
//
//===----------------------------------------------------------------------===//

#ifndef ST_INT_H
#define ST_INT_H

namespace st {
namespace detail {

template <bool Fits, typename Type, typename Wider>
struct FirstThatFits {
  typedef Type type;
};
template <typename Type, typename Wider>
struct FirstThatFits<false, Type, Wider> {
  typedef typename Wider::type type;
};
struct Int64 {
  typedef long long type;
};

template <int Bits>
struct SignedInt
    : FirstThatFits<Bits <= 8, signed char,
                    FirstThatFits<Bits <= 16, short,
                                  FirstThatFits<Bits <= 32, int, Int64>>> {
  static_assert(Bits > 1 && Bits <= 64, "a signed integer has 2 to 64 bits");
};

} // namespace detail

/// A signed integer of at least `Bits` bits.
template <int Bits>
using sint = typename detail::SignedInt<Bits>::type;

} // namespace st

#endif // ST_INT_H
