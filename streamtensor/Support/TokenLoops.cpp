//===- TokenLoops.cpp - Loops of token orders, cut and joined -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/TokenLoops.h"

using namespace streamtensor;

TokenOrder streamtensor::splitLoop(const TokenOrder &order, unsigned loop,
                                   int64_t head) {
  const int64_t tail = order.trips[loop] / head;
  const bool revisit = order.loopDims()[loop] < 0;
  TokenOrder result = order;
  result.trips[loop] = head;
  result.trips.insert(result.trips.begin() + loop + 1, tail);
  result.steps.insert(result.steps.begin() + loop + 1, order.steps[loop]);
  result.steps[loop] = revisit ? 1 : order.steps[loop] * tail;
  for (std::vector<unsigned> &loops : result.map) {
    std::vector<unsigned> renumbered;
    for (unsigned l : loops) {
      renumbered.push_back(l > loop ? l + 1 : l);
      if (l == loop)
        renumbered.push_back(loop + 1);
    }
    loops = std::move(renumbered);
  }
  return result;
}

TokenOrder streamtensor::sliceLoops(const TokenOrder &order, unsigned first,
                                    unsigned last,
                                    std::vector<int64_t> element) {
  TokenOrder result;
  result.element = std::move(element);
  result.trips.assign(order.trips.begin() + first, order.trips.begin() + last);
  result.steps.assign(order.steps.begin() + first, order.steps.begin() + last);
  for (const std::vector<unsigned> &loops : order.map) {
    result.map.emplace_back();
    for (unsigned l : loops)
      if (l >= first && l < last)
        result.map.back().push_back(l - first);
  }
  return result;
}

TokenOrder streamtensor::concatLoops(const TokenOrder &outer,
                                     const TokenOrder &inner) {
  TokenOrder result = outer;
  result.element = inner.element;
  result.trips.insert(result.trips.end(), inner.trips.begin(),
                      inner.trips.end());
  result.steps.insert(result.steps.end(), inner.steps.begin(),
                      inner.steps.end());
  for (unsigned dim = 0; dim < inner.rank(); ++dim)
    for (unsigned l : inner.map[dim])
      result.map[dim].push_back(l + outer.numLoops());
  return result;
}
