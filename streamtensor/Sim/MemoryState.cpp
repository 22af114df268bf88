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

/// Whether some of these beats, all available, are there later than they are
/// wanted, and not just because another one passes in the cycle before.
bool PortState::holdsUp(const Pass &pass) const {
  // All of these are straight lines.
  const int64_t last = pass.count - 1;
  const int64_t at = availableAt(), distance = availableStep();
  if (at <= pass.wanted &&
      at + last * distance <= pass.wanted + last * pass.step)
    return false;
  return at > std::max(pass.wanted, lastPass + 1) ||
         (last > 0 &&
          (at + distance > pass.first + 1 ||
           at + last * distance > pass.first + (last - 1) * pass.step + 1));
}

bool PortState::pass(int64_t first, int64_t step, int64_t count,
                     int64_t wanted) {
  if (isAlone() && !isReplaying) {
    if (history.size() == kMostHistory) {
      forgotten += history.size();
      history.clear();
    }
    history.push_back({first, step, count, wanted, false});
    history.back().isHeld = holdsUp(history.back());
  }
  if (!isWrite)
    arrivals.pop(count);
  lastPass = first + (count - 1) * step;
  passedOfHead += count;
  beatsPassed += count;
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

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

int64_t MemoryClient::repeatsOf(int64_t count) const {
  if (count == 0)
    return INT64_MAX;
  const int64_t perRun = ceilDiv(contiguous, burstBeats);
  // Until here all bursts are full, or runs are all the same.
  int64_t end = totalBeats / contiguous * perRun;
  if (contiguous == totalBeats)
    end = numBursts - 1;
  else if (contiguous % burstBeats != 0 && count % perRun != 0)
    return 0;
  return std::max<int64_t>(0, end - 1 - entered) / count;
}

void PortState::mark(Mark &mark) const {
  const MemoryClient &client = *clients.front();
  mark.bursts = bursts_;
  mark.full = full;
  mark.left = left;
  mark.arrivals = arrivals;
  mark.lastArrival = lastArrival;
  mark.passedOfHead = passedOfHead;
  mark.lastPass = lastPass;
  mark.numEntered = numEntered;
  mark.numLeft = numLeft;
  mark.lastEntered = lastEntered;
  mark.beatsServed = beatsServed;
  mark.beatsPassed = beatsPassed;
  mark.busyUntil = channel.busyUntil;
  mark.passes = forgotten + history.size();
  mark.entered = client.entered;
  mark.passed = client.passed;
  mark.wantsFrom = client.wantsFrom;
  mark.unfinished = client.unfinished;
  mark.lastDone = client.lastDone;
}

bool PortState::isSame(const Mark &mark) const {
  return numEntered == mark.numEntered && numLeft == mark.numLeft &&
         beatsPassed == mark.beatsPassed && full.size() == mark.full.size();
}

int64_t PortState::repeatsOf(const Mark &mark, int64_t shift) const {
  const MemoryClient &client = *clients.front();
  // While places have never been used, bursts enter without waiting for one.
  if (mark.numEntered < outstanding || passedOfHead != mark.passedOfHead ||
      lastPass != mark.lastPass + shift ||
      lastEntered != mark.lastEntered + shift ||
      client.wantsFrom != mark.wantsFrom + shift ||
      client.unfinished != mark.unfinished ||
      bursts_.size() != mark.bursts.size() || full.size() != mark.full.size() ||
      left.size() != mark.left.size() ||
      !arrivals.isShifted(mark.arrivals, shift))
    return 0;
  if (isWrite ? client.lastDone != mark.lastDone + shift
              : lastArrival != mark.lastArrival + shift)
    return 0;
  for (size_t i = 0; i < bursts_.size(); ++i)
    if (bursts_[i].size != mark.bursts[i].size ||
        bursts_[i].entered != mark.bursts[i].entered + shift)
      return 0;
  for (size_t i = 0; i < full.size(); ++i)
    if (full[i].size != mark.full[i].size ||
        full[i].at != mark.full[i].at + shift)
      return 0;
  for (size_t i = 0; i < left.size(); ++i)
    if (left[i] != mark.left[i] + shift)
      return 0;
  // Where the channel is idle before the next request, it is no matter since
  // when.
  const bool wasIdle =
      !isWrite &&
      mark.busyUntil <= (mark.lastEntered + 1) * ChannelState::kUnit &&
      channel.busyUntil <= (lastEntered + 1) * ChannelState::kUnit;
  if (!wasIdle &&
      channel.busyUntil != mark.busyUntil + shift * ChannelState::kUnit)
    return 0;
  return client.repeatsOf(client.entered - mark.entered);
}

void PortState::restore(const Mark &mark) {
  MemoryClient &client = *clients.front();
  bursts_ = mark.bursts;
  full = mark.full;
  left = mark.left;
  arrivals = mark.arrivals;
  lastArrival = mark.lastArrival;
  passedOfHead = mark.passedOfHead;
  lastPass = mark.lastPass;
  numEntered = mark.numEntered;
  numLeft = mark.numLeft;
  lastEntered = mark.lastEntered;
  beatsServed = mark.beatsServed;
  beatsPassed = mark.beatsPassed;
  channel.busyUntil = mark.busyUntil;
  client.entered = mark.entered;
  client.passed = mark.passed;
  client.wantsFrom = mark.wantsFrom;
  client.unfinished = mark.unfinished;
  client.lastDone = mark.lastDone;
}

/// Passes beats at the times of `next`, unless the port would hold them up.
bool PortState::passAsBefore(Pass next) {
  const MemoryClient &client = *clients.front();
  while (next.count > 0) {
    const int64_t count = std::min(next.count, available(client));
    if (count == 0)
      return false;
    Pass part = next;
    part.count = count;
    if (availableAt() > next.first || holdsUp(part))
      return false;
    pass(next.first, next.step, count, next.wanted);
    while (nextEvent())
      serve();
    next.first += count * next.step;
    next.wanted += count * next.step;
    next.count -= count;
  }
  return true;
}

int64_t PortState::replay(const Mark &mark, int64_t periods, int64_t shift) {
  // The next beat of an access at hand passes behind the last one.
  if (mark.passes < forgotten || lastPass != mark.lastPass + shift)
    return -1;
  const std::vector<Pass> pattern(history.begin() + (mark.passes - forgotten),
                                  history.end());
  for (const Pass &pass : pattern)
    if (pass.isHeld)
      return -1;
  isReplaying = true;
  int64_t done = 0;
  auto passAll = [&] {
    for (Pass pass : pattern) {
      pass.first += (done + 1) * shift;
      pass.wanted += (done + 1) * shift;
      if (!passAsBefore(pass))
        return false;
    }
    return true;
  };
  while (done < periods && passAll())
    ++done;
  isReplaying = false;
  return done;
}

void PortState::repeatHistory(const Mark &mark, int64_t periods,
                              int64_t shift) {
  const int64_t count = forgotten + int64_t(history.size()) - mark.passes;
  if (mark.passes < forgotten ||
      count * periods > int64_t(kMostHistory - history.size())) {
    // Whoever has a mark from before cannot replay it.
    forgotten += history.size() + count * periods + 1;
    history.clear();
    return;
  }
  const size_t begin = history.size() - count;
  for (int64_t period = 1; period <= periods; ++period)
    for (int64_t i = 0; i < count; ++i) {
      Pass pass = history[begin + i];
      pass.first += period * shift;
      pass.wanted += period * shift;
      history.push_back(pass);
    }
}

void PortState::repeat(const Mark &mark, int64_t periods, int64_t shift) {
  repeatHistory(mark, periods, shift);
  MemoryClient &client = *clients.front();
  const int64_t cycles = periods * shift;
  for (Burst &burst : bursts_)
    burst.entered += cycles;
  for (Full &burst : full)
    burst.at += cycles;
  for (int64_t &at : left)
    at += cycles;
  arrivals.shift(cycles);
  if (!isWrite)
    lastArrival += cycles;
  lastPass += cycles;
  lastEntered += cycles;
  channel.busyUntil += cycles * ChannelState::kUnit;
  numEntered += periods * (numEntered - mark.numEntered);
  numLeft += periods * (numLeft - mark.numLeft);
  beatsServed += periods * (beatsServed - mark.beatsServed);
  beatsPassed += periods * (beatsPassed - mark.beatsPassed);
  client.entered += periods * (client.entered - mark.entered);
  client.passed += periods * (client.passed - mark.passed);
  client.wantsFrom += cycles;
  if (isWrite)
    client.lastDone += cycles;
}
