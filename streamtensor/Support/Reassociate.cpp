//===- Reassociate.cpp - Token orders across expand and collapse ----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carries a token order over to the tensor that tensor.expand_shape or
// tensor.collapse_shape makes of its own, without moving an element.
//
// A flat dimension of extent b0 * b1 * ... has the weights w_j = product of the
// sizes behind dimension j. A loop of n trips and flat step s is a digit of the
// mixed radix that covers the flat strides [s, s * n). Collapsing multiplies
// steps by weights. Expanding cuts each digit at the weights that it crosses;
// the piece between two weights belongs to one dimension. A weight that a digit
// crosses but does not divide would need a carry between two loops: not
// expressible. Cutting a normal form finds every expressible order, because the
// flat image of a loop nest over the expanded tensor has that normal form.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/TokenOrder.h"

#include <algorithm>
#include <cassert>

using namespace streamtensor;

namespace {

bool checkGroups(const std::vector<std::vector<unsigned>> &groups,
                 size_t collapsedRank, size_t expandedRank,
                 std::string &reason) {
  if (groups.size() != collapsedRank) {
    reason = "expected one group per collapsed dimension (" +
             std::to_string(collapsedRank) + ") but got " +
             std::to_string(groups.size());
    return false;
  }
  unsigned next = 0;
  for (const std::vector<unsigned> &group : groups)
    for (unsigned dim : group)
      if (dim != next++) {
        reason = "expected groups that list the expanded dimensions in order "
                 "but got dimension " +
                 std::to_string(dim) + " at place " + std::to_string(next - 1);
        return false;
      }
  // Collapsing to rank 0 has no groups; all expanded sizes are 1 then.
  if (next != expandedRank && !(groups.empty() && collapsedRank == 0)) {
    reason = "expected groups over " + std::to_string(expandedRank) +
             " expanded dimensions but got " + std::to_string(next);
    return false;
  }
  return true;
}

/// Product of the sizes behind each dimension of the group; sizes of 0 count as
/// 1 so that the loops of an empty tensor still find their dimension.
std::vector<int64_t> weights(const std::vector<unsigned> &group,
                             const std::vector<int64_t> &shape) {
  std::vector<int64_t> result(group.size(), 1);
  for (size_t j = group.size(); j-- > 1;)
    result[j - 1] = result[j] * std::max<int64_t>(shape[group[j]], 1);
  return result;
}

bool allOnes(const std::vector<int64_t> &shape) {
  return std::all_of(shape.begin(), shape.end(),
                     [](int64_t size) { return size == 1; });
}

/// One loop of the expanded order: `dim` is -1 for a revisit.
struct Piece {
  int64_t trip, step;
  int dim;
};

/// Cuts the flat loop (trip, step) at the weights it crosses and appends the
/// pieces, outermost first.
bool cutLoop(int64_t trip, int64_t step, const std::vector<unsigned> &group,
             const std::vector<int64_t> &weight, std::vector<Piece> &pieces,
             std::string &reason) {
  for (size_t j = 0; j < group.size(); ++j) {
    const int64_t w = weight[j];
    const bool innermost = j + 1 == group.size();
    if (!innermost && w > step && w >= step * trip)
      continue; // lies entirely in the dimensions behind j
    if (step >= w) {
      if (step % w != 0) {
        reason = "a loop with step " + std::to_string(step) +
                 " does not step by whole rows of " + std::to_string(w) +
                 " in expanded dimension " + std::to_string(group[j]);
        return false;
      }
      pieces.push_back({trip, step / w, static_cast<int>(group[j])});
      return true;
    }
    // step < w < step * trip: cut at w.
    if (w % step != 0 || trip % (w / step) != 0) {
      reason = "a loop of " + std::to_string(trip) + " trips with step " +
               std::to_string(step) + " crosses the boundary at " +
               std::to_string(w) + " between expanded dimensions " +
               std::to_string(group[j]) + " and " +
               std::to_string(group[j + 1]) + " without meeting it";
      return false;
    }
    const int64_t inside = w / step;
    pieces.push_back({trip / inside, 1, static_cast<int>(group[j])});
    trip = inside;
  }
  assert(false && "the innermost weight is 1 and every step is at least 1");
  return false;
}

/// Spreads the flat element size `size` over the dimensions of the group.
bool cutElement(int64_t size, const std::vector<unsigned> &group,
                const std::vector<int64_t> &shape,
                std::vector<int64_t> &element, std::string &reason) {
  const int64_t whole = size;
  for (size_t j = group.size(); j-- > 0 && size > 1;) {
    const int64_t extent = shape[group[j]];
    if (size > extent && (extent == 0 || size % extent != 0)) {
      reason = "a token of " + std::to_string(whole) +
               " elements is no box in the expanded dimensions: it does not "
               "hold whole rows of dimension " +
               std::to_string(group[j]) + " (" + std::to_string(extent) + ")";
      return false;
    }
    element[group[j]] = std::min(size, extent);
    size /= element[group[j]];
  }
  if (size != 1) {
    reason = "a token of " + std::to_string(whole) +
             " elements exceeds the expanded dimensions";
    return false;
  }
  return true;
}

} // namespace

std::optional<TokenOrder> streamtensor::expandTokenOrder(
    const TokenOrder &order, const std::vector<std::vector<unsigned>> &groups,
    const std::vector<int64_t> &shape, std::string &reason) {
  if (!checkGroups(groups, order.rank(), shape.size(), reason))
    return std::nullopt;
  if (groups.empty() && !allOnes(shape)) {
    reason =
        "expected sizes of 1 when a tensor of rank 0 is expanded but got '" +
        shapeString(shape) + "'";
    return std::nullopt;
  }
  const std::vector<int64_t> extents = order.dataExtents();
  for (size_t dim = 0; dim < groups.size(); ++dim) {
    int64_t product = 1;
    for (unsigned d : groups[dim])
      product *= shape[d];
    if (product != extents[dim]) {
      reason = "expected the sizes of group " + std::to_string(dim) +
               " to multiply to " + std::to_string(extents[dim]) + " but got " +
               std::to_string(product);
      return std::nullopt;
    }
  }

  // The normal form of an empty sequence forgets the extents: keep its loops.
  const bool empty = order.numTokens() == 0;
  const TokenOrder flat = empty ? order : order.normalForm();
  const std::vector<int64_t> flatElement = flat.elementShape();
  TokenOrder result;
  result.element.assign(shape.size(), 1);
  result.map.resize(shape.size());
  std::vector<std::vector<int64_t>> weight;
  for (size_t dim = 0; dim < groups.size(); ++dim) {
    weight.push_back(weights(groups[dim], shape));
    if (!cutElement(flatElement[dim], groups[dim], shape, result.element,
                    reason))
      return std::nullopt;
  }
  const std::vector<int> dims = flat.loopDims();
  std::vector<Piece> pieces;
  for (unsigned l = 0; l < flat.numLoops(); ++l) {
    // A dimension without a group (all ones collapsed away) has no real loop.
    if (dims[l] < 0 || groups[dims[l]].empty())
      pieces.push_back({flat.trips[l], 1, -1});
    else if (!cutLoop(flat.trips[l], flat.steps[l], groups[dims[l]],
                      weight[dims[l]], pieces, reason))
      return std::nullopt;
  }
  for (const Piece &piece : pieces) {
    if (piece.dim >= 0)
      result.map[piece.dim].push_back(result.numLoops());
    result.trips.push_back(piece.trip);
    result.steps.push_back(piece.step);
  }
  // Overlapping windows can carry from one expanded dimension into the next;
  // the spans of the loops then exceed the shape.
  if (result.dataExtents() != shape) {
    reason = "expected the loops to span the shape '" + shapeString(shape) +
             "' but got '" + shapeString(result.dataExtents()) +
             "': tokens would carry from one expanded dimension into the next";
    return std::nullopt;
  }
  return empty ? result : result.normalForm();
}

std::optional<TokenOrder> streamtensor::collapseTokenOrder(
    const TokenOrder &order, const std::vector<std::vector<unsigned>> &groups,
    std::string &reason) {
  const std::vector<int64_t> shape = order.dataExtents();
  if (!checkGroups(groups, groups.size(), order.rank(), reason))
    return std::nullopt;
  if (groups.empty() && !allOnes(shape)) {
    reason =
        "expected sizes of 1 when a tensor is collapsed to rank 0 but got '" +
        shapeString(shape) + "'";
    return std::nullopt;
  }
  const std::vector<int64_t> element = order.elementShape();
  TokenOrder result;
  result.trips = order.trips;
  result.steps = order.steps;
  for (const std::vector<unsigned> &group : groups) {
    const std::vector<int64_t> weight = weights(group, shape);
    std::vector<unsigned> loops;
    int64_t size = 1;
    for (size_t j = 0; j < group.size(); ++j) {
      const unsigned dim = group[j];
      // Behind a dimension of which a token holds more than one element, it
      // must hold the other dimensions whole, or it is not contiguous.
      if (size > 1 && element[dim] != shape[dim]) {
        reason = "a token of shape '" + shapeString(element) +
                 "' is not contiguous once dimension " + std::to_string(dim) +
                 " (" + std::to_string(shape[dim]) +
                 ") is collapsed with those before it";
        return std::nullopt;
      }
      size *= element[dim];
      for (unsigned loop : order.map[dim]) {
        loops.push_back(loop);
        result.steps[loop] = order.steps[loop] * weight[j];
      }
    }
    std::sort(loops.begin(), loops.end());
    result.map.push_back(loops);
    result.element.push_back(size);
  }
  // Loops of dimensions that vanish into rank 0 have one trip: revisits.
  const std::vector<int> dims = result.loopDims();
  for (unsigned l = 0; l < result.numLoops(); ++l)
    if (dims[l] < 0)
      result.steps[l] = 1;
  return order.numTokens() == 0 ? result : result.normalForm();
}
