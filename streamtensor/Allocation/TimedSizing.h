//===- TimedSizing.h - Depths checked by timed simulation -------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a linear model says about depths is checked by the timed simulator:
// several invocations, pipelines that stall as a whole, memory that is shared.
// Where a network deadlocks or is slower than with FIFOs that are never full,
// exactly the FIFOs that are to blame grow. And the smallest depths that cost
// no time, for networks that can be simulated often.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_TIMEDSIZING_H
#define STREAMTENSOR_ALLOCATION_TIMEDSIZING_H

#include "streamtensor/Sim/TimedSimulator.h"

namespace streamtensor {

struct TimedSizingOptions {
  /// One behind the other, without a gap.
  int64_t invocations = 3;
  /// Slower than with FIFOs that are never full by at most this part; nothing:
  /// time does not count, only that it ends.
  std::optional<double> tolerance = 0.01;
  /// Values of the parameters to look at; at least one choice, which may be
  /// empty (the largest).
  std::vector<ParameterValues> points = {ParameterValues()};
  /// Depths that no FIFO goes below; empty for those that the network has.
  std::vector<int64_t> least;
  /// When so many simulations have run, what has been found so far counts, and
  /// is still right.
  int64_t mostSimulations = 2000;
  /// The same for the steps of all simulations (TimedResult::steps); and the
  /// first run at a point takes at most one in `firstShare` of them.
  int64_t mostSteps = INT64_MAX;
  int64_t firstShare = 2;
};

/// A load that runs further ahead than this is a buffer, not a FIFO.
inline constexpr int64_t kMostLoadDepth = 512;

/// Cycles at one choice of the parameters.
struct TimedSizingPoint {
  ParameterValues values;
  int64_t cycles = 0, cyclesUnbounded = 0;
};

struct TimedSizing {
  /// In tokens, one per FIFO.
  std::vector<int64_t> depths;
  /// Why a FIFO is deeper than it was at first; empty where it is not.
  std::vector<std::string> reasons;
  std::vector<TimedSizingPoint> points;
  int64_t simulations = 0, steps = 0;
  /// The steps were too few for a first run: there is nothing else.
  bool isTooLarge = false;
};

/// Makes FIFOs deeper than `network` has them until every point ends, within
/// the tolerance; then those that are deeper than `least` and whose depth saves
/// no more than the tolerance go back, the most bits first. Control FIFOs stay.
/// Where even a run with FIFOs that are never full is too much, depths grow as
/// long as that helps.
/// Returns nothing and sets `error` when even FIFOs that are never full
/// deadlock.
std::optional<TimedSizing> growDepths(const TimedNetwork &network,
                                      const TimedSizingOptions &options,
                                      std::string &error);

/// The smallest depths, each at least that of `network`, at which no point is
/// slower than with FIFOs that hold all tokens of an invocation (`tolerance` is
/// not used): one FIFO after the other is made as shallow as the rest allows,
/// in several orders, and the fewest bits win. No single FIFO of the result can
/// be shallower, unless simulations ran out.
std::optional<TimedSizing> smallestDepths(const TimedNetwork &network,
                                          const TimedSizingOptions &options,
                                          std::string &error);

/// Storage of all FIFOs of `network` at `depths`, without control FIFOs.
int64_t depthBits(const TimedNetwork &network,
                  const std::vector<int64_t> &depths);

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_TIMEDSIZING_H
