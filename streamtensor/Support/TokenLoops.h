//===- TokenLoops.h - Loops of token orders, cut and joined -----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop nest of a token order taken apart and put together, for the
// algorithms of Support that work on prefixes of loops.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_TOKENLOOPS_H
#define STREAMTENSOR_SUPPORT_TOKENLOOPS_H

#include "streamtensor/Support/TokenOrder.h"

namespace streamtensor {

/// `order` with loop `loop` split into `head` outer iterations, which must
/// divide its trip count, and the rest.
TokenOrder splitLoop(const TokenOrder &order, unsigned loop, int64_t head);

/// The loops [first, last) of `order` as an order of their own, in tokens of
/// shape `element`.
TokenOrder sliceLoops(const TokenOrder &order, unsigned first, unsigned last,
                      std::vector<int64_t> element);

/// The loops `outer` around the loops `inner`, in tokens of `inner`.
TokenOrder concatLoops(const TokenOrder &outer, const TokenOrder &inner);

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_TOKENLOOPS_H
