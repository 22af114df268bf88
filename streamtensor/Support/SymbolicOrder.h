//===- SymbolicOrder.h - Token orders of run-time size ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A token order whose trip counts may depend on run-time parameters: one
// TokenOrder for each value of the parameters.
//
//   1x16, [past max 255 + 1, 4] * [1, 16], (d0, d1) -> (d0, d1)
//
// Parameters are integers from 0 to their maximum, independent of each other; a
// trip count of 0 makes the sequence empty. Steps and elements are constants,
// so a run-time loop is the outermost step of its data dimension.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_SYMBOLICORDER_H
#define STREAMTENSOR_SUPPORT_SYMBOLICORDER_H

#include "streamtensor/Support/TokenOrder.h"
#include "streamtensor/Support/TripCount.h"

#include <functional>

namespace streamtensor {

/// See TokenOrder for the meaning of the members.
struct SymbolicOrder {
  std::vector<int64_t> element;
  std::vector<TripCount> trips;
  std::vector<int64_t> steps;
  std::vector<std::vector<unsigned>> map;
  /// The largest value of each parameter that a trip count uses.
  ParameterValues maxima;

  SymbolicOrder() = default;
  /// The order without parameters.
  SymbolicOrder(const TokenOrder &order);

  bool isStatic() const { return maxima.empty(); }
  unsigned rank() const { return static_cast<unsigned>(map.size()); }
  unsigned numLoops() const { return static_cast<unsigned>(trips.size()); }

  /// Sets `maxima` to those of `known` that the trip counts use.
  void setMaxima(const ParameterValues &known);

  /// The order for given values of the parameters.
  TokenOrder at(const ParameterValues &values) const;
  /// The order in which every trip count has its upper bound: what memory must
  /// be allocated for.
  TokenOrder largest() const;

  /// Checks that every parameter has a maximum, every trip count is at least 0
  /// for all values, and each data dimension is covered for all values as
  /// TokenOrder::verify demands. Refuses, beyond that, a run-time loop inside
  /// of another step of its data dimension.
  bool verify(std::string &error, bool allowOverlap = false) const;

  /// The same sequences in one spelling: loops of one trip are dropped,
  /// neighbours are merged where the trip count of the inner one is a constant
  /// (so the product stays affine), constant factors of neighbouring revisits
  /// are collected in front of them and the rest is sorted; a loop of at most
  /// one trip moves nothing: it is a revisit around all others. Equal normal
  /// forms mean equal sequences for all values of the parameters.
  SymbolicOrder normalForm() const;

  /// The same elements in scalar tokens over one dimension, as
  /// TokenOrder::linearOrder; nothing when a row-major weight depends on a
  /// parameter. Dimensions of one element do not count.
  std::optional<SymbolicOrder> linearOrder() const;

  /// Extent of the streamed tensor per data dimension; nothing where that is
  /// not affine: a dimension with several run-time loops, or with one whose
  /// tokens overlap.
  std::vector<std::optional<TripCount>> dataExtents() const;

  /// The spelling of the trip counts, "past max 255 + 1, 4".
  std::string tripsString() const;
  /// As TokenOrder::str.
  std::string str() const;

  bool operator==(const SymbolicOrder &other) const {
    return element == other.element && trips == other.trips &&
           steps == other.steps && map == other.map && maxima == other.maxima;
  }
};

/// Where two sequences part: the parameters for which they do, and the token.
struct SymbolicDifference {
  ParameterValues values;
  TokenDifference difference{TokenDifference::Kind::Length, 0, {}, {}};
  /// The two orders at these values.
  TokenOrder a, b;
  /// Why the orders do not agree when no values tell: a parameter with two
  /// maxima, or equality could not be shown. Empty otherwise.
  std::string reason;

  /// "with past = 3, token 5 is at ...", without parameters just the rest.
  std::string describe(const std::string &nameA = "source",
                       const std::string &nameB = "destination") const;
};

/// The first difference found between two families of sequences, or nothing
/// when they are equal for all values of the parameters. A parameter that both
/// use must have one maximum. Equal normal forms decide at once. Else values
/// are tried: between the lower and the upper end of a parameter the loops of a
/// normal form stay the same and their trip counts are affine in each residue
/// class of the divisors, so a number of values at both ends decides. More than
/// a quarter of a million combinations are not tried: then equality counts as
/// not shown.
std::optional<SymbolicDifference> firstDifference(const SymbolicOrder &a,
                                                  const SymbolicOrder &b);

/// The same for the row-major positions of elements, whatever the tokens and
/// the shapes.
std::optional<SymbolicDifference>
firstElementDifference(const SymbolicOrder &a, const SymbolicOrder &b);

/// The first values for which the tensors have different shapes, or nothing.
std::optional<SymbolicDifference> firstShapeDifference(const SymbolicOrder &a,
                                                       const SymbolicOrder &b);

/// Both orders describe the same tokens in the same order, for all values.
bool sameSequence(const SymbolicOrder &a, const SymbolicOrder &b);

/// Values of the parameters found by `findValues`, or why none were.
struct ValuesFound {
  /// Empty when `reason` is set.
  ParameterValues values;
  /// A parameter with two maxima, or too many combinations to decide.
  std::string reason;
};

/// Values of the parameters of all `orders` at which `fails` holds, or nothing
/// when it holds at none. Tries the values of which firstDifference speaks, so
/// `fails` must depend on nothing but the loops of the orders.
std::optional<ValuesFound>
findValues(const std::vector<SymbolicOrder> &orders,
           const std::function<bool(const ParameterValues &)> &fails);

/// "past = 3, seq = 0", in the order of the names.
std::string valuesString(const ParameterValues &values);

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_SYMBOLICORDER_H
