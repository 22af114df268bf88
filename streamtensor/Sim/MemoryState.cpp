//===- MemoryState.cpp - Memory ports in a timed simulation ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A port requests one burst per cycle at most and has a limited number of them
// on the way; a channel serves bursts in the order of their requests.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/MemoryState.h"

#include <algorithm>
#include <cmath>

using namespace streamtensor;

MemoryClient::MemoryClient(const TimedNetwork &network, unsigned process,
                           unsigned port, bool isWrite, int64_t beats,
                           int64_t contiguousBeats)
    : process(process), port(port), isWrite(isWrite), totalBeats(beats) {
  const TimedPort &source = network.memory.ports[port];
  contiguous = contiguousBeats > 0 ? std::min(contiguousBeats, beats) : beats;
  contiguous = std::max<int64_t>(contiguous, 1);
  burstBeats = source.burstBeats;
  outstanding = source.outstanding;
  latency = network.memory.channels[source.channel].latency;
  const int64_t perRun = (contiguous + burstBeats - 1) / burstBeats;
  const int64_t rest = beats % contiguous;
  numBursts =
      beats / contiguous * perRun + (rest + burstBeats - 1) / burstBeats;
}

/// Runs of `contiguous` beats in bursts of `burstBeats`, the rest of each run
/// in a shorter one.
int64_t MemoryClient::burstSize(int64_t index) const {
  const int64_t perRun = (contiguous + burstBeats - 1) / burstBeats;
  const int64_t run = index / perRun, inRun = index % perRun;
  const int64_t length = std::min(contiguous, totalBeats - run * contiguous);
  return std::min(burstBeats, length - inRun * burstBeats);
}

void MemoryClient::start(int64_t start) {
  begin = start;
  nextBurst = current = passed = 0;
  ends.clear();
  firstEnd = 0;
  done.clear();
  written.clear();
  firstDone = 0;
  lastRequest = start - 1;
  requested = false;
  findRequest();
}

/// Looks for the next request whose time is known.
void MemoryClient::findRequest() {
  if (requested || nextBurst >= numBursts)
    return;
  int64_t earliest = std::max(begin, lastRequest + 1);
  if (isWrite) {
    // Goes out when it is full; the limit is on filling (`availableAt`).
    if (written.empty())
      return;
    earliest = std::max(earliest, written.front() + 1);
  } else if (nextBurst >= outstanding) {
    // When the burst `outstanding` before it has been taken.
    const int64_t index = nextBurst - outstanding;
    if (index >= firstEnd + int64_t(ends.size()))
      return;
    for (; firstEnd < index; ++firstEnd)
      ends.pop_front();
    earliest = std::max(earliest, ends.front() + 1);
  }
  request = earliest;
  requested = true;
}

void MemoryClient::serve(int64_t first, int64_t beatTime) {
  const int64_t size = burstSize(nextBurst);
  ++bursts;
  beatsServed += size;
  if (isWrite) {
    written.pop_front();
    const int64_t end = (first + size * beatTime + kUnit - 1) / kUnit + latency;
    done.push_back(end);
    lastWritten = std::max(lastWritten, end);
  } else if (beatTime <= kUnit) {
    // A port takes one beat in a cycle.
    arrivals.push((first + kUnit - 1) / kUnit + 1, 1, size);
  } else {
    for (int64_t i = 0; i < size; ++i)
      arrivals.push((first + (i + 1) * beatTime + kUnit - 1) / kUnit);
  }
  lastRequest = request;
  requested = false;
  ++nextBurst;
  findRequest();
}

int64_t MemoryClient::available() const {
  if (current >= numBursts)
    return 0;
  const int64_t left = burstSize(current) - passed;
  if (!isWrite)
    return arrivals.empty() ? 0 : std::min(left, arrivals.front().count);
  // Room for the burst at hand: that of `outstanding` bursts before is done.
  if (current < outstanding ||
      current - outstanding < firstDone + int64_t(done.size()))
    return left;
  return 0;
}

int64_t MemoryClient::availableAt() const {
  if (!isWrite)
    return arrivals.front().first;
  if (current < outstanding)
    return INT64_MIN / 2;
  return done[current - outstanding - firstDone] + 1;
}

int64_t MemoryClient::availableStep() const {
  return isWrite ? 0 : arrivals.front().step;
}

void MemoryClient::pass(int64_t first, int64_t step, int64_t count) {
  if (!isWrite)
    arrivals.pop(count);
  passed += count;
  if (passed < burstSize(current))
    return;
  passed = 0;
  ++current;
  const int64_t last = first + (count - 1) * step;
  if (isWrite) {
    written.push_back(last);
    for (; firstDone < current - outstanding; ++firstDone)
      done.pop_front();
  } else {
    ends.push_back(last);
  }
  findRequest();
}

void ChannelState::serve(MemoryClient &client, int64_t beatBytes) {
  const int64_t beatTime =
      std::max<int64_t>(1, std::llround(double(beatBytes) / bytesPerCycle *
                                        double(MemoryClient::kUnit)));
  const int64_t wait = client.isWrite ? 0 : latency;
  const int64_t first =
      std::max((client.requestTime() + wait) * MemoryClient::kUnit, busyUntil);
  busyUntil = first + client.requestBeats() * beatTime;
  client.serve(first, beatTime);
}
