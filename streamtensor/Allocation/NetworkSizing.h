//===- NetworkSizing.h - Profiles of a timed network ------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linear model of a timed network: of each process the latency, and of each
// end of a FIFO the first and the last cycle.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_NETWORKSIZING_H
#define STREAMTENSOR_ALLOCATION_NETWORKSIZING_H

#include "streamtensor/Allocation/FifoSizingProblem.h"
#include "streamtensor/Network/TimedNetwork.h"

namespace streamtensor {

/// One end of a FIFO.
struct PortTimes {
  int64_t first = 0, last = 0, tokens = 0;
};

struct ProcessTimes {
  /// From start to end when nothing waits; without memory.
  int64_t latency = 0;
  /// The largest stage of a write in a pipeline.
  int64_t pipelineDepth = 0;
  /// By FIFO; those that are not touched have no tokens.
  std::vector<PortTimes> reads, writes;
};

/// When a process of a network that passed its check touches what, without
/// waiting. Loops are multiplied out; only those that decide a branch are
/// enumerated. `values` must have all parameters.
ProcessTimes timesOf(const TimedNetwork &network, const TimedProcess &process,
                     const ParameterValues &values);

/// The sizing problem of a network that passed its check: task i is process i,
/// edge i is FIFO i, and the ping-pong arrays follow. A FIFO's depth in the
/// network is its least depth. Control FIFOs are edges like others, though
/// their depths stay what they are. Lanes are one FIFO with all their bits.
/// `values` as in TimedNetwork::check.
FifoSizingProblem sizingProblemOf(const TimedNetwork &network,
                                  FifoStrategy strategy,
                                  const ParameterValues &values = {});

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_NETWORKSIZING_H
