//===- SymbolicOrder.cpp - Token orders of run-time size ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verification, normal form and comparison over all values of the parameters.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/SymbolicOrder.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace streamtensor;

namespace {

/// Combinations of values that are tried before a comparison gives up.
constexpr int64_t maxCombinations = int64_t(1) << 18;

struct Loop {
  TripCount trip;
  int64_t step;
  int dim;
};

std::vector<Loop> loopsOf(const SymbolicOrder &order) {
  std::vector<Loop> loops;
  for (unsigned l = 0; l < order.numLoops(); ++l)
    loops.push_back({order.trips[l], order.steps[l], -1});
  for (unsigned dim = 0; dim < order.rank(); ++dim)
    for (unsigned l : order.map[dim])
      loops[l].dim = static_cast<int>(dim);
  return loops;
}

/// The parameters that `trips` use, with their maxima.
ParameterValues usedMaxima(const std::vector<TripCount> &trips,
                           const ParameterValues &maxima) {
  ParameterValues used;
  for (const TripCount &trip : trips)
    trip.collectParameters(used);
  for (auto &[name, maximum] : used)
    maximum = maxima.at(name);
  return used;
}

/// A run of revisits, which commute: their constant factor, then what is left
/// of each, sorted.
void appendRevisits(std::vector<Loop> &result, std::vector<TripCount> run) {
  int64_t constant = 1;
  std::vector<TripCount> rest;
  for (const TripCount &trip : run) {
    const int64_t content = trip.content();
    constant *= content;
    const TripCount primitive = trip.dividedBy(content);
    if (!primitive.isConstant(1))
      rest.push_back(primitive);
  }
  std::sort(
      rest.begin(), rest.end(),
      [](const TripCount &a, const TripCount &b) { return a.str() < b.str(); });
  if (constant != 1)
    result.push_back({constant, 1, -1});
  for (const TripCount &trip : rest)
    result.push_back({trip, 1, -1});
}

} // namespace

SymbolicOrder::SymbolicOrder(const TokenOrder &order)
    : element(order.element), trips(order.trips.begin(), order.trips.end()),
      steps(order.steps), map(order.map) {}

void SymbolicOrder::setMaxima(const ParameterValues &known) {
  ParameterValues used;
  for (const TripCount &trip : trips)
    trip.collectParameters(used);
  maxima.clear();
  for (const auto &[name, unused] : used)
    maxima[name] = known.at(name);
}

TokenOrder SymbolicOrder::at(const ParameterValues &values) const {
  TokenOrder order{element, {}, steps, map};
  for (const TripCount &trip : trips)
    order.trips.push_back(trip.evaluate(values));
  return order;
}

TokenOrder SymbolicOrder::largest() const {
  TokenOrder order{element, {}, steps, map};
  for (const TripCount &trip : trips)
    order.trips.push_back(trip.highest(maxima));
  return order;
}

bool SymbolicOrder::verify(std::string &error, bool allowOverlap) const {
  ParameterValues used;
  for (const TripCount &trip : trips)
    trip.collectParameters(used);
  for (const auto &[name, zero] : used)
    if (!maxima.count(name)) {
      error = "parameter '" + name + "' has no maximum";
      return false;
    }
  for (unsigned l = 0; l < numLoops(); ++l)
    if (const int64_t lowest = trips[l].lowest(maxima); lowest < 0) {
      error = "expected a trip count of at least 0 for loop d" +
              std::to_string(l) + " but '" + trips[l].str() +
              "' can be as low as " + std::to_string(lowest);
      return false;
    }
  const TokenOrder upper = largest();
  if (!upper.verify(error, allowOverlap))
    return false;
  // Exact cover: only the largest step of a dimension may run differently
  // often. Overlap: gaps appear first where every loop makes the fewest trips.
  const std::vector<Loop> loops = loopsOf(*this);
  for (unsigned l = 0; l < numLoops(); ++l)
    for (unsigned other = 0; other < numLoops(); ++other)
      if (loops[l].dim >= 0 && loops[l].dim == loops[other].dim &&
          !trips[l].isConstant() && !allowOverlap && upper.trips[other] > 1 &&
          steps[other] > steps[l]) {
        error = "data dimension " + std::to_string(loops[l].dim) +
                " is not covered for all values: expected a constant trip "
                "count for loop d" +
                std::to_string(l) + ", which loop d" + std::to_string(other) +
                " steps over, but got '" + trips[l].str() + "'";
        return false;
      }
  TokenOrder lower{element, {}, steps, map};
  for (const TripCount &trip : trips)
    lower.trips.push_back(std::max<int64_t>(trip.lowest(maxima), 1));
  if (allowOverlap && !lower.verify(error, allowOverlap)) {
    error += " (with the fewest trips)";
    return false;
  }
  return true;
}

SymbolicOrder SymbolicOrder::normalForm() const {
  SymbolicOrder result;
  result.element =
      element.empty() ? std::vector<int64_t>(map.size(), 1) : element;
  result.map.resize(map.size());
  std::vector<Loop> loops;
  std::vector<TripCount> guards;
  for (Loop loop : loopsOf(*this)) {
    const int64_t highest = loop.trip.highest(maxima);
    if (highest == loop.trip.lowest(maxima))
      loop.trip = highest;
    if (highest == 0) {
      result.trips = {0};
      result.steps = {1};
      return result;
    }
    if (loop.trip.isConstant(1))
      continue;
    if (highest == 1) {
      if (std::find(guards.begin(), guards.end(), loop.trip) == guards.end())
        guards.push_back(loop.trip);
      continue;
    }
    while (!loops.empty() && loop.dim >= 0 && loops.back().dim == loop.dim &&
           loop.trip.isConstant() &&
           loops.back().step == loop.step * loop.trip.getConstant()) {
      loop.trip = loops.back().trip * loop.trip.getConstant();
      loops.pop_back();
    }
    loops.push_back(std::move(loop));
  }
  std::vector<Loop> ordered;
  std::vector<TripCount> run = std::move(guards);
  for (const Loop &loop : loops) {
    if (loop.dim < 0) {
      run.push_back(loop.trip);
      continue;
    }
    appendRevisits(ordered, std::move(run));
    run.clear();
    ordered.push_back(loop);
  }
  appendRevisits(ordered, std::move(run));
  for (const Loop &loop : ordered) {
    if (loop.dim >= 0)
      result.map[loop.dim].push_back(result.numLoops());
    result.trips.push_back(loop.trip);
    result.steps.push_back(loop.step);
  }
  result.maxima = usedMaxima(result.trips, maxima);
  return result;
}

std::vector<std::optional<TripCount>> SymbolicOrder::dataExtents() const {
  const TokenOrder upper = largest();
  std::vector<std::optional<TripCount>> extents;
  for (unsigned dim = 0; dim < rank(); ++dim) {
    // In an exact cover of one run-time loop the others cover one step of it.
    int runtime = -1, count = 0;
    int64_t inside = upper.elementShape()[dim];
    for (unsigned l : map[dim]) {
      if (trips[l].isConstant())
        inside *= upper.trips[l];
      else
        runtime = static_cast<int>(l), ++count;
    }
    if (count == 0)
      extents.push_back(TripCount(upper.dataExtents()[dim]));
    else if (count == 1 &&
             inside * upper.trips[runtime] == upper.dataExtents()[dim])
      extents.push_back(trips[runtime] * inside);
    else
      extents.push_back(std::nullopt);
  }
  return extents;
}

std::optional<SymbolicOrder> SymbolicOrder::linearOrder() const {
  const std::vector<std::optional<TripCount>> extents = dataExtents();
  SymbolicOrder linear;
  linear.element = {1};
  linear.trips = trips;
  linear.steps.assign(trips.size(), 1);
  linear.map = {{}};
  linear.maxima = maxima;
  int64_t weight = 1;
  bool isKnown = true;
  for (size_t dim = rank(); dim-- > 0;) {
    const int64_t size = element.empty() ? 1 : element[dim];
    const bool isUnit = extents[dim] && extents[dim]->isConstant(1);
    if (!isKnown && !isUnit)
      return std::nullopt;
    for (unsigned l : map[dim]) {
      linear.steps[l] = steps[l] * weight;
      linear.map[0].push_back(l);
    }
    if (size > 1) {
      // Inserted in front of the elements of the dimensions behind it.
      linear.map[0].push_back(linear.numLoops());
      linear.trips.insert(linear.trips.begin() + trips.size(), size);
      linear.steps.insert(linear.steps.begin() + trips.size(), weight);
    }
    if (extents[dim] && extents[dim]->isConstant())
      weight *= extents[dim]->getConstant();
    else
      isKnown = false;
  }
  return linear.normalForm();
}

std::string SymbolicOrder::tripsString() const {
  ParameterValues seen;
  std::string text;
  for (const TripCount &trip : trips)
    text += (text.empty() ? "" : ", ") + trip.str(maxima, seen);
  return text;
}

std::string SymbolicOrder::str() const {
  const std::string plain = largest().str();
  const size_t open = plain.find('['), close = plain.find(']');
  return plain.substr(0, open + 1) + tripsString() + plain.substr(close);
}

//===----------------------------------------------------------------------===//
// Comparison over all values
//===----------------------------------------------------------------------===//

namespace {

/// Values of one parameter of `maximum` that decide about `orders`.
std::vector<int64_t> decidingValues(const std::vector<SymbolicOrder> &orders,
                                    int64_t maximum) {
  // Beyond `edge` from both ends, all trip counts are at least 2 and none
  // passes a quotient of two steps. Then come enough values in each residue
  // class for a product of all trip counts, a polynomial of that degree.
  int64_t edge = 2, period = 1, degree = 1;
  for (const SymbolicOrder &order : orders)
    for (unsigned l = 0; l < order.numLoops(); ++l) {
      edge = std::max({edge, order.trips[l].largestNumber(), order.steps[l]});
      period = std::lcm(period, order.trips[l].period());
      ++degree;
    }
  int64_t count = maximum;
  if (edge < maximum && period < maximum)
    count = std::min(maximum, (edge + 2 + degree) * period);
  // The ends first: they tell most pairs apart.
  std::vector<int64_t> values;
  for (int64_t i = 0; i <= count && i <= maximum - i &&
                      static_cast<int64_t>(values.size()) <= maxCombinations;
       ++i) {
    values.push_back(maximum - i);
    if (i != maximum - i)
      values.push_back(i);
  }
  return values;
}

using Compare = std::function<std::optional<TokenDifference>(
    const TokenOrder &, const TokenOrder &)>;

/// The first values of the parameters at which `compare` finds a difference.
std::optional<SymbolicDifference> searchValues(const SymbolicOrder &a,
                                               const SymbolicOrder &b,
                                               const Compare &compare) {
  SymbolicDifference found;
  const std::optional<ValuesFound> values =
      findValues({a, b}, [&](const ParameterValues &at) {
        found.a = a.at(at);
        found.b = b.at(at);
        const std::optional<TokenDifference> difference =
            compare(found.a, found.b);
        if (difference)
          found.difference = *difference;
        return difference.has_value();
      });
  if (!values)
    return std::nullopt;
  found.values = values->values;
  found.reason = values->reason;
  return found;
}

std::optional<TokenDifference> compareShapes(const TokenOrder &a,
                                             const TokenOrder &b) {
  if (a.dataExtents() == b.dataExtents())
    return std::nullopt;
  return TokenDifference{a.rank() == b.rank() ? TokenDifference::Kind::Length
                                              : TokenDifference::Kind::Rank,
                         0,
                         {},
                         {}};
}

} // namespace

std::optional<ValuesFound> streamtensor::findValues(
    const std::vector<SymbolicOrder> &orders,
    const std::function<bool(const ParameterValues &)> &fails) {
  ParameterValues maxima;
  for (const SymbolicOrder &order : orders)
    for (const auto &[name, maximum] : order.maxima) {
      const auto [known, isNew] = maxima.emplace(name, maximum);
      if (known->second != maximum)
        return ValuesFound{{},
                           "parameter '" + name + "' has a maximum of " +
                               std::to_string(known->second) +
                               " on one side and of " +
                               std::to_string(maximum) + " on the other"};
    }
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> choices;
  int64_t combinations = 1;
  for (const auto &[name, maximum] : maxima) {
    names.push_back(name);
    choices.push_back(decidingValues(orders, maximum));
    if (__builtin_mul_overflow(combinations,
                               static_cast<int64_t>(choices.back().size()),
                               &combinations))
      combinations = INT64_MAX;
  }
  std::vector<size_t> index(names.size(), 0);
  ParameterValues values;
  for (int64_t i = 0; i < std::min(combinations, maxCombinations); ++i) {
    for (size_t p = 0; p < names.size(); ++p)
      values[names[p]] = choices[p][index[p]];
    if (fails(values))
      return ValuesFound{values, ""};
    for (size_t p = names.size(); p-- > 0;) {
      if (++index[p] < choices[p].size())
        break;
      index[p] = 0;
    }
  }
  if (combinations <= maxCombinations)
    return std::nullopt;
  return ValuesFound{
      {},
      "they could not be shown to be equal for all values of the "
      "parameters"};
}

std::string streamtensor::valuesString(const ParameterValues &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  return text;
}

std::string SymbolicDifference::describe(const std::string &nameA,
                                         const std::string &nameB) const {
  if (!reason.empty())
    return reason;
  return (values.empty() ? "" : "with " + valuesString(values) + ", ") +
         difference.describe(a, b, nameA, nameB);
}

std::optional<SymbolicDifference>
streamtensor::firstDifference(const SymbolicOrder &a, const SymbolicOrder &b) {
  if (a.normalForm() == b.normalForm())
    return std::nullopt;
  return searchValues(a, b, [](const TokenOrder &x, const TokenOrder &y) {
    return firstDifference(x, y);
  });
}

std::optional<SymbolicDifference>
streamtensor::firstElementDifference(const SymbolicOrder &a,
                                     const SymbolicOrder &b) {
  const std::optional<SymbolicOrder> linearA = a.linearOrder(),
                                     linearB = b.linearOrder();
  if (a.normalForm() == b.normalForm() ||
      (linearA && linearB && *linearA == *linearB))
    return std::nullopt;
  return searchValues(a, b, [](const TokenOrder &x, const TokenOrder &y) {
    return firstElementDifference(x, y);
  });
}

std::optional<SymbolicDifference>
streamtensor::firstShapeDifference(const SymbolicOrder &a,
                                   const SymbolicOrder &b) {
  const std::vector<std::optional<TripCount>> extentsA = a.dataExtents(),
                                              extentsB = b.dataExtents();
  const auto isKnown = [](const std::optional<TripCount> &extent) {
    return extent.has_value();
  };
  if (extentsA == extentsB &&
      std::all_of(extentsA.begin(), extentsA.end(), isKnown) &&
      usedMaxima(a.trips, a.maxima) == usedMaxima(b.trips, b.maxima))
    return std::nullopt;
  return searchValues(a, b, compareShapes);
}

bool streamtensor::sameSequence(const SymbolicOrder &a,
                                const SymbolicOrder &b) {
  return !firstDifference(a, b);
}
