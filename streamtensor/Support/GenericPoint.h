//===- GenericPoint.h - run-time trip counts as numbers ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is decided about token orders (reshapes, converters) needs numbers. For
// orders of run-time size each trip count becomes a prime that nothing else is
// a multiple of, so that no algorithm splits it or takes it for another number,
// and what comes out is read back: a multiple of the prime is a multiple of the
// trip count. The primes grow with the largest trip counts, so that costs
// compare much as they do for those.
//
// What was read back is right where the algorithm only multiplied and divided
// sizes; whoever uses it checks it (the verifiers of itensor operations do).
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_GENERICPOINT_H
#define STREAMTENSOR_SUPPORT_GENERICPOINT_H

#include "streamtensor/Support/SymbolicOrder.h"

namespace streamtensor {

class GenericPoint {
public:
  /// Numbers for all run-time trip counts of `orders`.
  explicit GenericPoint(const std::vector<SymbolicOrder> &orders);

  /// Whether there is a run-time trip count at all; else every number stands
  /// for itself.
  bool isStatic() const { return primes.empty(); }

  /// The order with numbers for trip counts. Every trip count has to be a
  /// multiple of one in the orders given before.
  TokenOrder lower(const SymbolicOrder &order) const;
  /// The number of one trip count; nothing for one that is no multiple of those
  /// in the orders.
  std::optional<int64_t> lower(const TripCount &trip) const;

  /// The order with these numbers; nothing when a step or element is not a
  /// constant, or a trip count of a data dimension the product of two run-time
  /// ones. A revisit of such a product becomes two.
  std::optional<SymbolicOrder> raise(const TokenOrder &order) const;
  /// The trip count of a number that is a multiple of at most one of those.
  std::optional<TripCount> raise(int64_t number) const;

  /// The largest value of what `number` stands for, a product of any numbers.
  int64_t largest(int64_t number) const;
  /// `text` with trip counts for the numbers in it.
  std::string raise(const std::string &text) const;

private:
  struct Prime {
    TripCount trip;
    int64_t value;
  };
  std::vector<Prime> primes;
  ParameterValues maxima;
};

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_GENERICPOINT_H
