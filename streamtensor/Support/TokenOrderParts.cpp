//===- TokenOrderParts.cpp - Parts of a token sequence --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tokens of a stream fall into a slice of its tensor, or to one of
// several streams among which tokens are dealt out in turn.
//
// The loops of one data dimension are the digits of a mixed radix, so a range
// of positions is a range of digits: from the most significant one on, a digit
// is fixed as long as both ends of the range share it, and the first that they
// do not share is trimmed; both ends must be aligned to it. One more case is a
// loop nest: a range of the second half of one value and the first half of the
// next.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/TokenLoops.h"

#include <cassert>

using namespace streamtensor;

namespace {

/// The loop of `dim` with the largest step, or -1 when the dimension is one
/// token; loops of one trip do not count.
int topDigit(const TokenOrder &order, unsigned dim) {
  int top = -1;
  for (unsigned loop : order.map[dim])
    if (order.trips[loop] != 1 &&
        (top < 0 || order.steps[loop] > order.steps[top]))
      top = static_cast<int>(loop);
  return top;
}

/// The tokens of `order`, a normal form, at the positions [low, high) of `dim`,
/// which are not all; nothing when they are no loop nest.
std::optional<TokenOrder> trim(TokenOrder order, unsigned dim, int64_t low,
                               int64_t high) {
  const int top = topDigit(order, dim);
  if (top < 0 || high - low == order.dataExtents()[dim])
    return order;
  const int64_t step = order.steps[top];
  const int64_t first = low / step, last = (high - 1) / step;
  const int64_t head = low - first * step, tail = high - last * step;
  if (first == last) {
    // The digits around the fixed one may be contiguous now.
    order.trips[top] = 1;
    return trim(order.normalForm(), dim, head, tail);
  }
  if (head == 0 && tail == step) {
    order.trips[top] = last - first + 1;
    return order;
  }
  if (first + 1 != last || step - head != tail)
    return std::nullopt;
  // Half of one value and half of the next: two trips of half a step, if this
  // loop is outside the less significant ones, which walk both halves alike.
  for (int loop : order.map[dim])
    if (loop < top)
      return std::nullopt;
  const TokenOrder outer = sliceLoops(order, 0, top + 1, {});
  const TokenOrder inner =
      sliceLoops(order, top + 1, order.numLoops(), order.elementShape());
  const std::optional<TokenOrder> upper = trim(inner, dim, head, step),
                                  lower = trim(inner, dim, 0, tail);
  if (!upper || !lower || !sameSequence(*upper, *lower))
    return std::nullopt;
  TokenOrder both = concatLoops(outer, *lower);
  both.trips[top] = 2;
  both.steps[top] = tail;
  return both;
}

/// Whether the digits and the element of `dim` reach each position once.
bool isExactCover(const TokenOrder &order, unsigned dim) {
  int64_t positions = order.elementShape()[dim];
  for (unsigned loop : order.map[dim])
    positions *= order.trips[loop];
  return positions == order.dataExtents()[dim];
}

/// Row-major over the extents of `order`, but `size` along `dim`: one of them
/// is 0, so there are no tokens to be ordered, and the element need not divide.
TokenOrder withoutTokens(const TokenOrder &order, unsigned dim, int64_t size) {
  std::vector<int64_t> shape = order.dataExtents();
  shape[dim] = size;
  TokenOrder empty =
      TokenOrder::rowMajor(shape, std::vector<int64_t>(shape.size(), 1));
  empty.element = order.elementShape();
  empty.steps = empty.element;
  for (unsigned loop = 0; loop < empty.numLoops(); ++loop)
    empty.trips[loop] = shape[loop] / empty.element[loop];
  return empty;
}

} // namespace

std::optional<TokenOrder>
streamtensor::sliceTokenOrder(const TokenOrder &order, unsigned dim,
                              int64_t low, int64_t size, std::string &reason) {
  const std::vector<int64_t> extents = order.dataExtents();
  if (dim >= order.rank()) {
    reason = "expected a data dimension below " + std::to_string(order.rank()) +
             " but got " + std::to_string(dim);
    return std::nullopt;
  }
  const std::string range = "[" + std::to_string(low) + ", " +
                            std::to_string(low + size) +
                            ") of data dimension " + std::to_string(dim);
  if (low < 0 || size < 0 || low > extents[dim] - size) {
    reason = range + " leaves the extent of " + std::to_string(extents[dim]);
    return std::nullopt;
  }
  if (size == 0)
    return withoutTokens(order, dim, 0);
  const int64_t element = order.elementShape()[dim];
  if (low % element != 0 || size % element != 0) {
    reason = range + " cuts through tokens of " + std::to_string(element);
    return std::nullopt;
  }
  if (order.numTokens() == 0)
    return withoutTokens(order, dim, size);
  if (!isExactCover(order, dim)) {
    reason = "tokens overlap along data dimension " + std::to_string(dim);
    return std::nullopt;
  }
  // The normal form merges digits that need not be aligned to each other.
  std::optional<TokenOrder> slice =
      trim(order.normalForm(), dim, low, low + size);
  if (!slice) {
    reason = range + " is not made of whole iterations of a loop (" +
             order.normalForm().str() + ")";
    return std::nullopt;
  }
  return slice->normalForm();
}

std::optional<TokenOrder> streamtensor::dealTokenOrder(const TokenOrder &order,
                                                       int64_t ways,
                                                       std::string &reason) {
  assert(ways >= 1 && "tokens are dealt out to somebody");
  if (ways == 1 || order.numTokens() == 0)
    return order;
  TokenOrder share = order.normalForm();
  const int loop = static_cast<int>(share.numLoops()) - 1;
  if (loop < 0 || share.trips[loop] % ways != 0) {
    reason = "expected the innermost loop to make a multiple of " +
             std::to_string(ways) + " trips but got " +
             (loop < 0 ? "one token" : std::to_string(share.trips[loop]));
    return std::nullopt;
  }
  const int dim = share.loopDims()[loop];
  if (dim < 0) {
    reason = "the innermost loop is a revisit: every stream would carry the "
             "same tokens";
    return std::nullopt;
  }
  if (!isExactCover(share, dim)) {
    reason = "tokens overlap along data dimension " + std::to_string(dim);
    return std::nullopt;
  }
  // The digit of `ways` values above `step` goes; those above it move down.
  const int64_t step = share.steps[loop];
  share.trips[loop] /= ways;
  for (unsigned other : share.map[dim])
    if (share.steps[other] > step)
      share.steps[other] /= ways;
  return share.normalForm();
}
