//===- RandomTokenOrders.h - Random types and plain enumeration -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small random token orders from a fixed seed, and the slow, obvious reading of
// a token order that the library is tested against: nested counters, element by
// element. Nothing here calls the library's algorithms.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_SUPPORT_RANDOMTOKENORDERS_H
#define STREAMTENSOR_UNITTESTS_SUPPORT_RANDOMTOKENORDERS_H

#include "streamtensor/Support/SymbolicOrder.h"

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace streamtensor::test {

using Shape = std::vector<int64_t>;
/// Offsets of the tokens of a sequence, in order.
using Sequence = std::vector<Shape>;

/// A seeded generator; `below` avoids the standard distributions, whose results
/// differ between libraries.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(engine() % n); }
  int64_t in(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T &pick(const std::vector<T> &values) {
    return values[below(static_cast<int64_t>(values.size()))];
  }
  template <typename T>
  void shuffle(std::vector<T> &values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[below(static_cast<int64_t>(i))]);
  }

private:
  std::mt19937_64 engine;
};

/// One loop of an order under construction; dim -1 is a revisit.
struct Loop {
  int64_t trip, step;
  int dim;
};

TokenOrder makeOrder(const Shape &element, const std::vector<Loop> &loops);
std::vector<Loop> loopsOf(const TokenOrder &order);

/// The same for trip counts that depend on parameters.
struct RuntimeLoop {
  TripCount trip;
  int64_t step;
  int dim;
};

/// The order of these loops; `maxima` has the largest value of each parameter.
SymbolicOrder makeOrder(const Shape &element,
                        const std::vector<RuntimeLoop> &loops,
                        const ParameterValues &maxima);

/// A random order that covers `shape` exactly (every size >= 1), with up to
/// `revisits` revisit loops, in random loop order.
TokenOrder randomOrderOver(Random &random, const Shape &shape, int revisits);

/// A random tensor shape of rank 0 to `maxRank` with few elements.
Shape randomShape(Random &random, int maxRank);

/// A random legal order; now and then with a loop of 0 trips.
TokenOrder randomOrder(Random &random);

/// The same sequence in another spelling: loops split, loops of one trip
/// inserted, map lists shuffled.
TokenOrder respell(Random &random, const TokenOrder &order);

/// A small change that may or may not change the sequence: two loops swapped, a
/// trip count or step or element size changed, a loop dropped or moved.
TokenOrder perturb(Random &random, const TokenOrder &order);

/// Token offsets by nested counters and the definition of the map.
Sequence enumerate(const TokenOrder &order);

/// All positions that pass, token by token, row-major inside a token.
Sequence enumerateElements(const TokenOrder &order);

/// Rank-complete element shape, computed here.
Shape fullElement(const TokenOrder &order);

/// Row-major index of `position` in a tensor of `shape`.
int64_t flatten(const Shape &position, const Shape &shape);
Shape unflatten(int64_t index, const Shape &shape);
int64_t volume(const Shape &shape);

/// The loop nest with the given offsets, found by looking at the sequence
/// alone: the longest run of one difference is the innermost loop, blocks must
/// repeat translated, and so on. Nothing when no loop nest has this sequence.
std::optional<std::vector<Loop>> fitLoops(Sequence sequence);

} // namespace streamtensor::test

#endif // STREAMTENSOR_UNITTESTS_SUPPORT_RANDOMTOKENORDERS_H
