//===- Timeline.h - When processes ran and waited ---------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects what a timed simulation tells on the way: for traces, for the time
// line of a report, and to find out afterwards what the time went to.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMELINE_H
#define STREAMTENSOR_SIM_TIMELINE_H

#include "streamtensor/Sim/TimedSimulator.h"

namespace streamtensor {

/// A process stood still for `waited` of the cycles [from, to). Several waits
/// become one span where there are too many; the span then names the longest.
struct WaitSpan {
  bool isWrite, isMemory;
  /// An index into TimedNetwork::fifos, or into MemoryModel::ports.
  unsigned target;
  int64_t from, to, waited;
};

class Timeline {
public:
  struct Track {
    /// In order, without overlaps.
    std::vector<WaitSpan> waits;
    std::vector<BusySpan> invocations;

  private:
    friend class Timeline;
    /// Waits closer together than this become one span.
    int64_t resolution = 0;
  };

  /// `repetitions` of the network in one launch have as many times the spans.
  explicit Timeline(const TimedNetwork &network, int64_t repetitions = 1)
      : tracks_(network.processes.size()),
        mostSpans(kMostSpans * static_cast<size_t>(repetitions)) {}

  /// Sets the callbacks of `options`; must outlive the simulation.
  void observe(TimedOptions &options);

  /// One per process.
  const std::vector<Track> &tracks() const { return tracks_; }

  /// Per process and repetition; more takes memory and shows no more.
  static constexpr size_t kMostSpans = 4000;

private:
  void add(const StallSpan &span);
  void merge(Track &track) const;

  std::vector<Track> tracks_;
  size_t mostSpans;
};

/// A trace that ui.perfetto.dev opens (the JSON of Chrome's trace events; a
/// process is a track; one cycle is the network's clock, or 1 ns without one).
std::string traceJson(const TimedNetwork &network, const Timeline &timeline);

/// What a process does in one of `count` equal parts of the time, in cycles.
struct TimelinePart {
  double busy = 0, waitInput = 0, waitOutput = 0;
};

/// The time [0, end) in `count` equal parts, for each process.
std::vector<std::vector<TimelinePart>> splitTimeline(const Timeline &timeline,
                                                     int64_t end, size_t count);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMELINE_H
