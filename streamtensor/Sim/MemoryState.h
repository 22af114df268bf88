//===- MemoryState.h - Memory ports in a timed simulation -------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bursts of memory ports, and the channels that serve them one after the other.
// Internal to the timed simulator; docs/process-networks.md has the model.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_MEMORYSTATE_H
#define STREAMTENSOR_SIM_MEMORYSTATE_H

#include "streamtensor/Network/TimedNetwork.h"
#include "streamtensor/Sim/TimeRuns.h"

#include <deque>

namespace streamtensor {

/// The traffic of one process through one port, in one direction.
class MemoryClient {
public:
  MemoryClient(const TimedNetwork &network, unsigned process, unsigned port,
               bool isWrite, int64_t beats, int64_t contiguous);

  /// A new invocation, which may request from cycle `start` on.
  void start(int64_t start);

  /// Beats that can pass now, equally far apart; 0: wait for the memory. Never
  /// beyond the end of a burst.
  int64_t available() const;
  /// When the next of them can pass at the earliest, and the distance of those
  /// after it.
  int64_t availableAt() const;
  int64_t availableStep() const;
  /// Passes `count` beats, at most `available`.
  void pass(int64_t first, int64_t step, int64_t count);

  /// Whether everything has arrived in memory; always for reads.
  bool isDrained() const { return !isWrite || written.size() == 0; }
  /// When: the end of the last write.
  int64_t drainedAt() const { return lastWritten; }

  /// The burst that wants to be served next; nothing: none is ready.
  bool hasRequest() const { return requested; }
  int64_t requestTime() const { return request; }
  int64_t requestBeats() const { return burstSize(nextBurst); }
  /// Its beats arrive (are taken) from `first` on, `beatTime` / kUnit apart.
  void serve(int64_t first, int64_t beatTime);

  const unsigned process, port;
  const bool isWrite;
  int64_t bursts = 0, beatsServed = 0;

  /// Parts of a cycle in which channels count.
  static constexpr int64_t kUnit = 1 << 10;

private:
  int64_t burstSize(int64_t index) const;
  void findRequest();

  int64_t totalBeats, contiguous, burstBeats, outstanding, latency;
  int64_t numBursts = 0;

  int64_t begin = 0, nextBurst = 0, lastRequest = 0, request = 0;
  bool requested = false;
  /// Reads: when beats arrive. Beats passed of the burst at hand, whose index
  /// is `current`.
  TimeRuns arrivals;
  int64_t current = 0, passed = 0;
  /// Reads: when bursts were taken whole. Writes: when they were full.
  std::deque<int64_t> ends;
  int64_t firstEnd = 0;
  /// Writes: bursts full and not served yet; when those served are done, from
  /// burst `firstDone` on.
  std::deque<int64_t> written, done;
  int64_t firstDone = 0, lastWritten = 0;
};

/// Serves bursts one after the other.
class ChannelState {
public:
  explicit ChannelState(const TimedChannel &channel)
      : bytesPerCycle(channel.bytesPerCycle), latency(channel.latency) {}

  /// Serves the client's request.
  void serve(MemoryClient &client, int64_t beatBytes);

  double bytesPerCycle;
  int64_t latency;
  /// In 1/kUnit cycles.
  int64_t busyUntil = 0;
  unsigned numClients = 0;
};

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_MEMORYSTATE_H
