//===- TimeBreakdown.h - Where the time goes --------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the time of a network goes to, and what bounds it.
//
// The critical chain is followed backwards from the last end. As long as its
// process works, the time is the process's. Where it waited for a token, the
// chain goes on with the writer at the cycle of the write; where it waited for
// room, with the reader at the cycle of the read; where it waited for memory,
// the time is memory's; before its start, with the process whose start or end
// it waited for. So each cycle from 0 to the last end belongs to one of them
// (docs/reports.md).
//
// A chain that waits for room somewhere may be shorter with a deeper FIFO, and
// says nothing of what would bound the time then. So the network is simulated
// again with FIFOs that are never full: the chain of this run is what tasks,
// memory and launches need, and the difference is what FIFOs cost. Chains that
// wait for no room need no second run: no depth makes them shorter.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMEBREAKDOWN_H
#define STREAMTENSOR_SIM_TIMEBREAKDOWN_H

#include "streamtensor/Sim/Timeline.h"

namespace streamtensor {

/// What takes time: a task that computes, a converter or DMA task (and what it
/// waits for from memory), a FIFO, or the host's launch.
enum class TimeKind : uint8_t { Compute, Converter, Memory, Fifo, Launch };

/// "compute", "converter", "memory", "fifo" or "launch".
const char *timeKindName(TimeKind kind);

struct TimeShare {
  TimeKind kind = TimeKind::Compute;
  /// The process, the FIFO, or "host".
  std::string by;
  /// The operation of the model that it comes from, of a FIFO that of its
  /// writer; empty where there is none.
  std::string source;
  int64_t cycles = 0;
};

struct TimeBreakdown {
  /// Everything on the critical chain, the largest first; with what FIFOs cost
  /// they add up to `total`, the last end.
  std::vector<TimeShare> shares;
  int64_t total = 0;
  /// Of that, for lack of room in FIFOs, which is the share of the FIFO at
  /// which the chain waits longest.
  int64_t lostToFifos = 0;
  /// The kind with most time, and of this kind what has most; the FIFO where
  /// FIFOs cost more than `kFifoBounds` of the time. Nothing took any time:
  /// empty.
  std::optional<TimeShare> bottleneck;

  static constexpr double kFifoBounds = 0.1;

  /// Cycles of all shares of one kind.
  int64_t of(TimeKind kind) const;
  /// A part of the total as a fraction.
  double fraction(int64_t cycles) const {
    return total > 0 ? double(cycles) / double(total) : 0.0;
  }
};

struct ExplainedRun {
  TimedResult result;
  Timeline timeline;
  /// Empty after a deadlock.
  TimeBreakdown breakdown;
};

/// Simulates `network`, which has passed its check, and finds out where the
/// time goes; the callbacks of `options` are not called. Fails as simulateTimed
/// does.
std::optional<ExplainedRun> explainTime(const TimedNetwork &network,
                                        const TimedOptions &options,
                                        std::string &error);

/// The same without a time line and a breakdown, which takes less time.
std::optional<ExplainedRun> simulateUnexplained(const TimedNetwork &network,
                                                const TimedOptions &options,
                                                std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMEBREAKDOWN_H
