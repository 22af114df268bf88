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
// A port is a queue in each direction. Bursts of all its clients enter it in
// the order of time, and their beats pass it in this order: who does not take
// (or give) the beats of the burst at the head holds up everybody behind it.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_MEMORYSTATE_H
#define STREAMTENSOR_SIM_MEMORYSTATE_H

#include "streamtensor/Network/TimedNetwork.h"
#include "streamtensor/Sim/TimeRuns.h"

#include <deque>
#include <memory>

namespace streamtensor {

/// Serves bursts one after the other.
class ChannelState {
public:
  explicit ChannelState(const TimedChannel &channel)
      : bytesPerCycle(channel.bytesPerCycle), latency(channel.latency) {}

  /// Parts of a cycle in which channels count.
  static constexpr int64_t kUnit = 1 << 10;

  /// When a burst is on the bus, in units.
  struct Slot {
    int64_t begin, length;
  };
  /// The next burst, which is there from cycle `request` on.
  Slot serve(int64_t request, int64_t bytes);

  const double bytesPerCycle;
  const int64_t latency;
  /// Directions of ports with traffic.
  unsigned numPorts = 0;

private:
  friend class PortState;
  int64_t busyUntil = 0;
};

class PortState;

/// The traffic of one process through one port, in one direction.
class MemoryClient {
public:
  /// `beats` pass in an invocation, in runs of `contiguous` (0: all of them).
  MemoryClient(PortState &port, unsigned process, int64_t beats,
               int64_t contiguous);

  /// A new invocation, which may request from cycle `start` on.
  void start(int64_t start);

  /// Whether all its writes are in memory; always for reads.
  bool isDrained() const { return unfinished == 0; }
  /// When: the end of the last write.
  int64_t drainedAt() const { return lastDone; }

  PortState &port;
  const unsigned process;

private:
  friend class PortState;
  int64_t burstSize(int64_t index) const;
  /// How often bursts of the same sizes can enter as the last `count` ones,
  /// without the last of all.
  int64_t repeatsOf(int64_t count) const;
  /// From when on it wants its next burst to enter; nothing: not known yet, or
  /// there is none.
  std::optional<int64_t> wants() const;

  int64_t totalBeats, contiguous, burstBeats, numBursts;
  /// Of this invocation: bursts that have entered, and that have passed whole.
  int64_t entered = 0, passed = 0;
  /// From when on the next burst may enter, and whether that is known.
  int64_t wantsFrom = 0;
  bool isStarted = false;
  /// Writes that are not in memory yet, and the end of the last that is.
  int64_t unfinished = 0, lastDone = 0;
};

/// One direction of a port.
class PortState {
public:
  PortState(const TimedPort &port, unsigned index, bool isWrite,
            ChannelState &channel)
      : index(index), isWrite(isWrite), channel(channel),
        beatBytes(port.beatBytes), burstBeats(port.burstBeats),
        outstanding(port.outstanding) {}

  MemoryClient &addClient(unsigned process, int64_t beats, int64_t contiguous);

  /// Beats that can pass for this client now, equally far apart; 0: wait. Never
  /// beyond the end of a burst.
  int64_t available(const MemoryClient &client) const;
  /// When the next of them can pass at the earliest, and the distance of those
  /// after it.
  int64_t availableAt() const;
  int64_t availableStep() const;
  /// Passes `count` beats of the burst at the head, at most `available`. The
  /// first was wanted at `wanted`, the others `step` later each. Returns
  /// whether another burst is at the head then.
  bool pass(int64_t first, int64_t step, int64_t count, int64_t wanted);

  /// The cycle of what happens next here without any process: a burst enters,
  /// or one that is full goes to memory. Nothing: processes must go on first.
  std::optional<int64_t> nextEvent() const;
  /// Lets it happen. Returns the process that it may concern.
  unsigned serve();

  /// The process whose burst is at the head; nothing: the queue is empty.
  std::optional<unsigned> headProcess() const;
  /// Bursts in the queue.
  int64_t fill() const { return numEntered - numLeft; }
  int64_t capacity() const { return outstanding; }
  size_t numClients() const { return clients.size(); }
  /// Whether nobody competes here: it has one client, and a channel of its own.
  bool isAlone() const { return channel.numPorts == 1 && clients.size() == 1; }
  int64_t bursts() const { return numEntered; }
  int64_t beats() const { return beatsServed; }

  const unsigned index;
  const bool isWrite;
  ChannelState &channel;

  /// How a port that is alone was.
  struct Mark;
  void mark(Mark &mark) const;
  /// Whether nothing has happened since `mark`.
  bool isSame(const Mark &mark) const;
  /// How many times more the same can happen as has happened since `mark`, all
  /// `shift` cycles later; 0: none, or it is not known.
  int64_t repeatsOf(const Mark &mark, int64_t shift) const;
  void repeat(const Mark &mark, int64_t periods, int64_t shift);
  /// Passes the beats since `mark` `periods` times more, each `shift` cycles
  /// later. Returns in how many of them the port did not hold them up; beats of
  /// others have not passed, or only in part. Less than 0: it did before.
  int64_t replay(const Mark &mark, int64_t periods, int64_t shift);
  void restore(const Mark &mark);
  /// As if the passes since `mark` had been made so many times more.
  void repeatHistory(const Mark &mark, int64_t periods, int64_t shift);

private:
  friend class MemoryClient;
  /// A burst that has not passed whole.
  struct Burst {
    MemoryClient *client;
    int64_t size, entered;
  };
  /// A write that has passed whole and waits for the channel.
  struct Full {
    MemoryClient *client;
    int64_t size, at;
  };
  /// Beats that passed together.
  struct Pass {
    int64_t first, step, count, wanted;
    /// Some of them had to wait for the port.
    bool isHeld;
  };
  static constexpr size_t kMostHistory = 1 << 12;

  bool holdsUp(const Pass &pass) const;
  bool passAsBefore(Pass next);
  /// The client whose burst enters next, and when.
  MemoryClient *nextToEnter(int64_t &at) const;
  void leave(int64_t at);

  const int64_t beatBytes, burstBeats, outstanding;
  std::vector<std::unique_ptr<MemoryClient>> clients;
  std::deque<Burst> bursts_;
  /// Reads: when the beats of `bursts_` are there, in their order.
  TimeRuns arrivals;
  int64_t lastArrival = -1;
  /// Beats of the head that have passed, and when the last of all beats did.
  int64_t passedOfHead = 0, lastPass = -1;
  std::deque<Full> full;
  /// Bursts that have entered, and left the queue; when those left whose places
  /// are not taken again.
  int64_t numEntered = 0, numLeft = 0;
  std::deque<int64_t> left;
  int64_t lastEntered = -1;
  int64_t beatsServed = 0, beatsPassed = 0;
  /// The last passes, and how many are forgotten.
  std::vector<Pass> history;
  int64_t forgotten = 0;
  bool isReplaying = false;
};

struct PortState::Mark {
  std::deque<Burst> bursts;
  std::deque<Full> full;
  std::deque<int64_t> left;
  TimeRuns arrivals;
  int64_t lastArrival = 0, passedOfHead = 0, lastPass = 0, numEntered = 0,
          numLeft = 0, lastEntered = 0, beatsServed = 0, beatsPassed = 0,
          busyUntil = 0;
  /// Passes until then.
  int64_t passes = 0;
  /// Of its client.
  int64_t entered = 0, passed = 0, wantsFrom = 0, unfinished = 0, lastDone = 0;
};

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_MEMORYSTATE_H
