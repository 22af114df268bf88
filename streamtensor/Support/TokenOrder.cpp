//===- TokenOrder.cpp - The token sequence of a stream --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Coverage check, normal form and comparison of token sequences.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/TokenOrder.h"

#include <algorithm>
#include <cassert>

using namespace streamtensor;

namespace {

/// "[1, 2, 3]" with the given brackets.
template <typename T>
std::string listString(const std::vector<T> &values, const char *open,
                       const char *close) {
  std::string text = open;
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + close;
}

std::string loopName(size_t loop) { return "d" + std::to_string(loop); }

bool fail(std::string &error, std::string message) {
  error = std::move(message);
  return false;
}

bool verifyStructure(const TokenOrder &order, std::string &error) {
  if (order.steps.size() != order.trips.size())
    return fail(error, "expected one step per trip count (" +
                           std::to_string(order.trips.size()) + ") but got " +
                           std::to_string(order.steps.size()));
  if (!order.element.empty() && order.element.size() != order.map.size())
    return fail(error, "expected an element of rank 0 or " +
                           std::to_string(order.map.size()) +
                           " (the rank of the tensor) but got '" +
                           shapeString(order.element) + "'");
  for (int64_t size : order.element)
    if (size < 1)
      return fail(error, "expected element sizes of at least 1 but got '" +
                             shapeString(order.element) + "'");
  std::vector<int> use(order.trips.size(), -1);
  for (size_t dim = 0; dim < order.map.size(); ++dim)
    for (unsigned loop : order.map[dim]) {
      if (loop >= order.trips.size())
        return fail(error, "data dimension " + std::to_string(dim) +
                               " uses loop " + loopName(loop) +
                               " but there are only " +
                               std::to_string(order.trips.size()) + " loops");
      if (use[loop] >= 0)
        return fail(error, "loop " + loopName(loop) +
                               " is used twice, by data dimensions " +
                               std::to_string(use[loop]) + " and " +
                               std::to_string(dim));
      use[loop] = static_cast<int>(dim);
    }
  for (size_t loop = 0; loop < order.trips.size(); ++loop) {
    if (order.trips[loop] < 0)
      return fail(error, "expected a trip count of at least 0 for loop " +
                             loopName(loop) + " but got " +
                             std::to_string(order.trips[loop]));
    if (order.steps[loop] < 1)
      return fail(error, "expected a step of at least 1 for loop " +
                             loopName(loop) + " but got " +
                             std::to_string(order.steps[loop]));
    if (use[loop] < 0 && order.steps[loop] != 1)
      return fail(error, "expected step 1 for loop " + loopName(loop) +
                             ", which no data dimension uses, but got " +
                             std::to_string(order.steps[loop]));
  }
  return true;
}

/// The number of elements that pass, and every extent, must fit 64 bits, so
/// that nothing after this needs overflow checks.
bool verifySizes(const TokenOrder &order, std::string &error) {
  int64_t total = 1;
  for (const std::vector<int64_t> *factors : {&order.element, &order.trips})
    for (int64_t factor : *factors)
      if (__builtin_mul_overflow(total, std::max<int64_t>(factor, 1), &total))
        return fail(error, "the number of streamed elements exceeds 64 bits");
  for (size_t dim = 0; dim < order.map.size(); ++dim) {
    int64_t extent = order.element.empty() ? 1 : order.element[dim], span = 0;
    for (unsigned loop : order.map[dim])
      if (__builtin_mul_overflow(std::max<int64_t>(order.trips[loop] - 1, 0),
                                 order.steps[loop], &span) ||
          __builtin_add_overflow(extent, span, &extent))
        return fail(error, "the extent of data dimension " +
                               std::to_string(dim) + " exceeds 64 bits");
  }
  return true;
}

bool verifyCoverage(const TokenOrder &order, size_t dim, bool allowOverlap,
                    std::string &error) {
  std::vector<unsigned> loops;
  for (unsigned loop : order.map[dim]) {
    if (order.trips[loop] == 0)
      return true;
    if (order.trips[loop] > 1)
      loops.push_back(loop);
  }
  std::sort(loops.begin(), loops.end(), [&](unsigned a, unsigned b) {
    return std::pair(order.steps[a], a) < std::pair(order.steps[b], b);
  });
  int64_t covered = order.element.empty() ? 1 : order.element[dim];
  for (size_t i = 0; i < loops.size(); ++i) {
    const unsigned loop = loops[i];
    const int64_t step = order.steps[loop];
    if (step > covered || (step < covered && !allowOverlap))
      return fail(error,
                  "data dimension " + std::to_string(dim) + " is " +
                      (step > covered ? "covered with gaps" : "overlapped") +
                      ": expected step " + std::to_string(covered) +
                      " for loop " + loopName(loop) + " (" +
                      (i == 0 ? "the element size"
                              : "what loop " + loopName(loops[i - 1]) +
                                    " and those inside it cover") +
                      ") but got " + std::to_string(step));
    covered += (order.trips[loop] - 1) * step;
  }
  return true;
}

/// Drops loops of one trip and merges neighbours; loops of zero trips stay.
TokenOrder mergeLoops(const TokenOrder &order) {
  const std::vector<int> dims = order.loopDims();
  struct Loop {
    int64_t trip, step;
    int dim;
  };
  std::vector<Loop> loops;
  for (unsigned l = 0; l < order.numLoops(); ++l) {
    const Loop inner{order.trips[l], order.steps[l], dims[l]};
    if (inner.trip == 1)
      continue;
    if (!loops.empty() && loops.back().dim == inner.dim &&
        loops.back().trip != 0 && inner.trip != 0 &&
        (inner.dim < 0 || loops.back().step == inner.step * inner.trip)) {
      loops.back().trip *= inner.trip;
      loops.back().step = inner.step;
      continue;
    }
    loops.push_back(inner);
  }
  TokenOrder result;
  result.element = order.elementShape();
  result.map.resize(order.map.size());
  for (const Loop &loop : loops) {
    if (loop.dim >= 0)
      result.map[loop.dim].push_back(result.numLoops());
    result.trips.push_back(loop.trip);
    result.steps.push_back(loop.step);
  }
  return result;
}

bool isEmpty(const TokenOrder &order) {
  return std::find(order.trips.begin(), order.trips.end(), 0) !=
         order.trips.end();
}

} // namespace

std::string streamtensor::shapeString(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return text;
}

TokenOrder TokenOrder::rowMajor(const std::vector<int64_t> &shape,
                                const std::vector<int64_t> &token) {
  assert((token.empty() || token.size() == shape.size()) && "rank mismatch");
  TokenOrder order;
  order.element = token;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const int64_t size = token.empty() ? 1 : token[dim];
    assert(size > 0 && shape[dim] % size == 0 && "token must divide the shape");
    order.map.push_back({static_cast<unsigned>(dim)});
    order.trips.push_back(shape[dim] / size);
    order.steps.push_back(size);
  }
  return order;
}

bool TokenOrder::verify(std::string &error, bool allowOverlap) const {
  if (!verifyStructure(*this, error) || !verifySizes(*this, error))
    return false;
  for (size_t dim = 0; dim < map.size(); ++dim)
    if (!verifyCoverage(*this, dim, allowOverlap, error))
      return false;
  return true;
}

int64_t TokenOrder::numTokens() const {
  int64_t count = 1;
  for (int64_t trip : trips)
    count *= trip;
  return count;
}

int64_t TokenOrder::tokenElements() const {
  int64_t count = 1;
  for (int64_t size : element)
    count *= size;
  return count;
}

std::vector<int64_t> TokenOrder::elementShape() const {
  return element.empty() ? std::vector<int64_t>(map.size(), 1) : element;
}

std::vector<int64_t> TokenOrder::dataExtents() const {
  std::vector<int64_t> extents = elementShape();
  for (size_t dim = 0; dim < map.size(); ++dim)
    for (unsigned loop : map[dim]) {
      if (trips[loop] == 0) {
        extents[dim] = 0;
        break;
      }
      extents[dim] += (trips[loop] - 1) * steps[loop];
    }
  return extents;
}

std::vector<int> TokenOrder::loopDims() const {
  std::vector<int> dims(trips.size(), -1);
  for (size_t dim = 0; dim < map.size(); ++dim)
    for (unsigned loop : map[dim]) {
      assert(loop < dims.size() && dims[loop] < 0 && "malformed token order");
      dims[loop] = static_cast<int>(dim);
    }
  return dims;
}

std::vector<int64_t> TokenOrder::tokenOffsets(int64_t index) const {
  assert(index >= 0 && index < numTokens() && "token index out of range");
  const std::vector<int> dims = loopDims();
  std::vector<int64_t> offsets(map.size(), 0);
  for (size_t l = trips.size(); l-- > 0;) {
    if (dims[l] >= 0)
      offsets[dims[l]] += index % trips[l] * steps[l];
    index /= trips[l];
  }
  return offsets;
}

TokenOrder TokenOrder::normalForm() const {
  if (!isEmpty(*this))
    return mergeLoops(*this);
  TokenOrder empty;
  empty.element = elementShape();
  empty.trips = {0};
  empty.steps = {1};
  empty.map.resize(map.size());
  return empty;
}

TokenOrder TokenOrder::scalarOrder() const {
  TokenOrder scalar = *this;
  const std::vector<int64_t> shape = elementShape();
  scalar.element.assign(map.size(), 1);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1)
      continue;
    scalar.map[dim].push_back(scalar.numLoops());
    scalar.trips.push_back(shape[dim]);
    scalar.steps.push_back(1);
  }
  return scalar.normalForm();
}

TokenOrder TokenOrder::linearOrder() const {
  const TokenOrder scalar = scalarOrder();
  TokenOrder linear{{1}, scalar.trips, scalar.steps, {{}}};
  const std::vector<int64_t> extents = scalar.dataExtents();
  int64_t weight = 1;
  for (size_t dim = rank(); dim-- > 0; weight *= extents[dim])
    for (unsigned loop : scalar.map[dim]) {
      linear.steps[loop] *= weight;
      linear.map[0].push_back(loop);
    }
  return linear.normalForm();
}

std::string TokenOrder::str() const {
  std::string text = shapeString(element) + ", " + listString(trips, "[", "]") +
                     " * " + listString(steps, "[", "]") + ", (";
  for (size_t l = 0; l < trips.size(); ++l)
    text += (l ? ", " : "") + loopName(l);
  text += ") -> (";
  for (size_t dim = 0; dim < map.size(); ++dim) {
    text += dim ? ", " : "";
    for (size_t i = 0; i < map[dim].size(); ++i)
      text += (i ? " + " : "") + loopName(map[dim][i]);
    text += map[dim].empty() ? "0" : "";
  }
  return text + ")";
}

bool streamtensor::sameSequence(const TokenOrder &a, const TokenOrder &b) {
  return a.normalForm() == b.normalForm();
}

bool streamtensor::elementOrderEqual(const TokenOrder &a, const TokenOrder &b) {
  return a.scalarOrder() == b.scalarOrder();
}

std::optional<TokenDifference>
streamtensor::firstDifference(const TokenOrder &a, const TokenOrder &b) {
  using Kind = TokenDifference::Kind;
  if (a.rank() != b.rank())
    return TokenDifference{Kind::Rank, 0, {}, {}};
  if (a.elementShape() != b.elementShape())
    return TokenDifference{Kind::Element, 0, {}, {}};
  const TokenOrder na = a.normalForm(), nb = b.normalForm();
  if (na == nb)
    return std::nullopt;

  // Count equal loops from the inside. At the first pair that differs, either
  // the offsets differ after one iteration, or the shorter loop ends: then its
  // order goes on elsewhere (a contiguous continuation would have been merged)
  // or ends as well.
  const std::vector<int> da = na.loopDims(), db = nb.loopDims();
  int64_t index = 1;
  if (isEmpty(na) || isEmpty(nb)) {
    index = 0;
  } else {
    size_t la = na.numLoops(), lb = nb.numLoops();
    while (la > 0 && lb > 0 && na.trips[la - 1] == nb.trips[lb - 1] &&
           na.steps[la - 1] == nb.steps[lb - 1] && da[la - 1] == db[lb - 1]) {
      index *= na.trips[--la];
      --lb;
    }
    if (la > 0 && lb > 0 && na.steps[la - 1] == nb.steps[lb - 1] &&
        da[la - 1] == db[lb - 1])
      index *= std::min(na.trips[la - 1], nb.trips[lb - 1]);
  }
  TokenDifference difference{Kind::Offset, index, {}, {}};
  if (index < a.numTokens())
    difference.offsetsA = a.tokenOffsets(index);
  if (index < b.numTokens())
    difference.offsetsB = b.tokenOffsets(index);
  if (!difference.offsetsA || !difference.offsetsB)
    difference.kind = Kind::Length;
  return difference;
}

/// The row-major position `index` of a tensor of shape `shape`.
static std::vector<int64_t> positionOf(int64_t index,
                                       const std::vector<int64_t> &shape) {
  std::vector<int64_t> position(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; index /= shape[dim])
    position[dim] = index % shape[dim];
  return position;
}

std::optional<TokenDifference>
streamtensor::firstElementDifference(const TokenOrder &a, const TokenOrder &b) {
  std::optional<TokenDifference> difference =
      firstDifference(a.linearOrder(), b.linearOrder());
  if (!difference)
    return std::nullopt;
  difference->ofElements = true;
  if (difference->offsetsA)
    difference->offsetsA =
        positionOf(difference->offsetsA->front(), a.dataExtents());
  if (difference->offsetsB)
    difference->offsetsB =
        positionOf(difference->offsetsB->front(), b.dataExtents());
  return difference;
}

std::string TokenDifference::describe(const TokenOrder &a, const TokenOrder &b,
                                      const std::string &nameA,
                                      const std::string &nameB) const {
  switch (kind) {
  case Kind::Rank:
    return "the " + nameA + " streams a tensor of rank " +
           std::to_string(a.rank()) + " but the " + nameB + " one of rank " +
           std::to_string(b.rank());
  case Kind::Element:
    return "the " + nameA + " has tokens of shape '" + shapeString(a.element) +
           "' but the " + nameB + " of shape '" + shapeString(b.element) + "'";
  case Kind::Length: {
    const auto count = [&](const TokenOrder &order) {
      return std::to_string(order.numTokens() *
                            (ofElements ? order.tokenElements() : 1));
    };
    return "the " + nameA + " has " + count(a) +
           (ofElements ? " elements" : " tokens") + " but the " + nameB +
           " has " + count(b);
  }
  case Kind::Offset:
    break;
  }
  const auto place = [&](const std::vector<int64_t> &offsets,
                         const TokenOrder &order) {
    return listString(offsets, "(", ")") +
           (ofElements ? " of " + shapeString(order.dataExtents()) : "");
  };
  return (ofElements ? "element " : "token ") + std::to_string(index) +
         " is at " + place(*offsetsA, a) + " in the " + nameA + " but at " +
         place(*offsetsB, b) + " in the " + nameB;
}
