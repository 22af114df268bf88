//===- SizeNetwork.h - Depths of all FIFOs of a network ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole way from a network that ends in program order to depths: first it
// must end when pipelines overlap iterations and stall as a whole, then the
// linear model says what is needed so that nobody loses time, and where the
// network can be simulated, the timed simulator corrects the model.
// docs/fifo-sizing.md.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_SIZENETWORK_H
#define STREAMTENSOR_ALLOCATION_SIZENETWORK_H

#include "streamtensor/Allocation/FifoSizingProblem.h"
#include "streamtensor/Allocation/TimedSizing.h"

namespace streamtensor {

struct NetworkDepths {
  /// In tokens, one per FIFO; reasons only where deeper than at first, or
  /// shrunk.
  std::vector<int64_t> depths;
  std::vector<std::string> reasons;
  /// Wall-clock time of the linear programs, in seconds; absent where there
  /// were none.
  std::optional<double> lpSeconds;
  SizingMethod method = SizingMethod::Earliest;
  /// What was simulated; empty where the network is too large.
  std::vector<TimedSizingPoint> points;
  int64_t simulations = 0;
};

/// Finds depths for `network`, which passed its check and whose depths let it
/// end in program order: none gets less, except under Min, where a small
/// network gets the smallest depths that cost no time. Looks at the largest and
/// the smallest values of the parameters. Returns nothing and sets `error` when
/// no depths let it end.
std::optional<NetworkDepths> sizeNetwork(const TimedNetwork &network,
                                         FifoStrategy strategy,
                                         std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_SIZENETWORK_H
