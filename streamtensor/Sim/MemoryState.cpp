//===- MemoryState.cpp - Memory ports in a timed simulation ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queues of bursts, and what channels make of them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/MemoryState.h"

#include <algorithm>
#include <cmath>

using namespace streamtensor;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

ChannelState::Slot ChannelState::serve(int64_t request, int64_t bytes) {
  const Slot slot = {
      std::max(request * kUnit, busyUntil),
      std::max<int64_t>(
          1, std::llround(double(bytes) * double(kUnit) / bytesPerCycle))};
  busyUntil = slot.begin + slot.length;
  return slot;
}

//===----------------------------------------------------------------------===//
// MemoryClient
//===----------------------------------------------------------------------===//

MemoryClient::MemoryClient(PortState &port, unsigned process, int64_t beats,
                           int64_t contiguousBeats)
    : port(port), process(process), totalBeats(beats),
      contiguous(contiguousBeats > 0 ? std::min(contiguousBeats, beats)
                                     : beats),
      burstBeats(port.burstBeats) {
  numBursts = beats / contiguous * ceilDiv(contiguous, burstBeats) +
              ceilDiv(beats % contiguous, burstBeats);
}

/// Runs of `contiguous` beats in bursts of `burstBeats`, the rest of each run
/// in a shorter one.
int64_t MemoryClient::burstSize(int64_t index) const {
  const int64_t perRun = ceilDiv(contiguous, burstBeats);
  const int64_t run = index / perRun, inRun = index % perRun;
  const int64_t length = std::min(contiguous, totalBeats - run * contiguous);
  return std::min(burstBeats, length - inRun * burstBeats);
}

void MemoryClient::start(int64_t start) {
  entered = passed = 0;
  wantsFrom = start;
  isStarted = true;
}

std::optional<int64_t> MemoryClient::wants() const {
  // A write burst is wanted when the one before has been given whole.
  if (!isStarted || entered == numBursts || (port.isWrite && entered > passed))
    return std::nullopt;
  return wantsFrom;
}

//===----------------------------------------------------------------------===//
// PortState
//===----------------------------------------------------------------------===//

MemoryClient &PortState::addClient(unsigned process, int64_t beats,
                                   int64_t contiguous) {
  if (clients.empty())
    ++channel.numPorts;
  clients.push_back(
      std::make_unique<MemoryClient>(*this, process, beats, contiguous));
  return *clients.back();
}

std::optional<unsigned> PortState::headProcess() const {
  if (bursts_.empty())
    return std::nullopt;
  return bursts_.front().client->process;
}

int64_t PortState::available(const MemoryClient &client) const {
  if (bursts_.empty() || bursts_.front().client != &client)
    return 0;
  const int64_t left = bursts_.front().size - passedOfHead;
  if (isWrite)
    return left;
  const TimeRuns::Run &run = arrivals.front();
  int64_t known = std::min(left, run.count);
  // Beats that came earlier pass in a row, as far as they did.
  if (run.first <= lastPass && run.step > 1)
    known = std::min(known, (lastPass + 1 - run.first) / (run.step - 1) + 1);
  return known;
}

int64_t PortState::availableAt() const {
  return std::max(lastPass + 1,
                  isWrite ? bursts_.front().entered : arrivals.front().first);
}

int64_t PortState::availableStep() const {
  if (isWrite)
    return 0;
  return arrivals.front().first <= lastPass ? 1 : arrivals.front().step;
}

bool PortState::pass(int64_t first, int64_t step, int64_t count) {
  if (!isWrite)
    arrivals.pop(count);
  lastPass = first + (count - 1) * step;
  passedOfHead += count;
  const Burst head = bursts_.front();
  if (passedOfHead < head.size)
    return false;
  passedOfHead = 0;
  bursts_.pop_front();
  ++head.client->passed;
  if (isWrite) {
    full.push_back({head.client, head.size, lastPass});
    head.client->wantsFrom = lastPass + 1;
  } else {
    leave(lastPass);
  }
  return true;
}

void PortState::leave(int64_t at) {
  ++numLeft;
  left.push_back(at);
}

MemoryClient *PortState::nextToEnter(int64_t &at) const {
  // The place of the burst `outstanding` before must be free.
  const bool isFirst = numEntered < outstanding;
  if (!isFirst && left.empty())
    return nullptr;
  MemoryClient *earliest = nullptr;
  int64_t wanted = INT64_MAX;
  for (const std::unique_ptr<MemoryClient> &client : clients)
    if (const std::optional<int64_t> from = client->wants();
        from && *from < wanted) {
      wanted = *from;
      earliest = client.get();
    }
  at = std::max(wanted, lastEntered + 1);
  if (!isFirst)
    at = std::max(at, left.front() + 1);
  return earliest;
}

std::optional<int64_t> PortState::nextEvent() const {
  int64_t enters = INT64_MAX;
  if (!nextToEnter(enters) && full.empty())
    return std::nullopt;
  return full.empty() ? enters : std::min(enters, full.front().at + 1);
}

unsigned PortState::serve() {
  int64_t at = INT64_MAX;
  MemoryClient *client = nextToEnter(at);
  if (!client || (!full.empty() && full.front().at + 1 <= at)) {
    const Full burst = full.front();
    full.pop_front();
    const ChannelState::Slot slot =
        channel.serve(burst.at + 1, burst.size * beatBytes);
    const int64_t done =
        ceilDiv(slot.begin + slot.length, ChannelState::kUnit) +
        channel.latency;
    leave(done);
    --burst.client->unfinished;
    burst.client->lastDone = std::max(burst.client->lastDone, done);
    return burst.client->process;
  }
  const int64_t size = client->burstSize(client->entered++);
  client->wantsFrom = at + 1;
  lastEntered = at;
  if (numEntered++ >= outstanding)
    left.pop_front();
  bursts_.push_back({client, size, at});
  beatsServed += size;
  if (isWrite) {
    ++client->unfinished;
    return client->process;
  }
  const ChannelState::Slot slot = channel.serve(at, size * beatBytes);
  for (int64_t i = 1; i <= size; ++i) {
    // Whole beats, one in a cycle at most.
    const double part = double(slot.length) * double(i) / double(size);
    lastArrival =
        std::max(lastArrival + 1,
                 ceilDiv(slot.begin + std::llround(part), ChannelState::kUnit) +
                     channel.latency);
    arrivals.push(lastArrival);
  }
  return client->process;
}
