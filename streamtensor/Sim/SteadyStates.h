//===- SteadyStates.h - Finds what repeats in a simulation ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A simulator that repeats itself can pass all repetitions at once. Here is
// what does not depend on the simulator: a log of which process did what, and
// from it, periods that may be worth to look at. A period that was seen twice
// is only a guess; the simulator takes a snapshot, and when the log has
// repeated once more, it compares its state with the snapshot and decides. So
// nothing here can make a result wrong. docs/simulator-speed.md says when a
// jump is exact.
//
// Periods lie within each other (a loop of a loop): a jump leaves entries in
// the log, so an outer period repeats with all the jumps inside of it.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_STEADYSTATES_H
#define STREAMTENSOR_SIM_STEADYSTATES_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace streamtensor {

/// The log: a ring of the last entries, with hashes of all that came before, so
/// that two stretches are compared in one step.
class PeriodLog {
public:
  /// Entries that are kept.
  static constexpr int64_t kCapacity = 1 << 19;
  /// The longest period that can be found.
  static constexpr int64_t kMostPeriod = kCapacity / 4;

  /// Forgets everything.
  void clear() { size = first = 0; }

  /// Entries so far.
  int64_t now() const { return size; }

  void note(uint32_t process, uint64_t what) {
    hash = hash * kBase + (what + 1) * kScramble + process;
    const Entry entry = {hash, process};
    if (size - first < int64_t(ring.size())) {
      ring[slot(size)] = entry;
    } else if (int64_t(ring.size()) < kCapacity && slot(size) == 0) {
      // Grows only when it is full and in order, so that places stay.
      grow();
      ring[slot(size)] = entry;
    } else {
      ring[slot(size)] = entry;
      ++first;
    }
    ++size;
  }

  uint32_t processAt(int64_t index) const { return ring[slot(index)].process; }
  bool holds(int64_t index) const { return index > first; }

  /// Whether the `period` entries from `begin` on are those before `begin`.
  bool repeats(int64_t begin, int64_t period) const {
    if (begin + period > size || !holds(begin - period))
      return false;
    const uint64_t power = powerOf(period);
    const uint64_t before = hashAt(begin - period), middle = hashAt(begin);
    return middle - before * power == hashAt(begin + period) - middle * power;
  }

private:
  struct Entry {
    /// Of all entries up to this one.
    uint64_t hash;
    uint32_t process;
  };
  static constexpr uint64_t kBase = 0x9e3779b97f4a7c15;
  static constexpr uint64_t kScramble = 0xbf58476d1ce4e5b9;

  size_t slot(int64_t index) const { return size_t(index) & (ring.size() - 1); }
  uint64_t hashAt(int64_t end) const { return ring[slot(end - 1)].hash; }
  void grow() {
    std::vector<Entry> larger(ring.size() * 2);
    for (int64_t i = first; i < size; ++i)
      larger[size_t(i) & (larger.size() - 1)] = ring[slot(i)];
    ring = std::move(larger);
  }
  static uint64_t powerOf(int64_t exponent) {
    uint64_t result = 1;
    for (uint64_t base = kBase; exponent > 0; exponent >>= 1, base *= base)
      if (exponent & 1)
        result *= base;
    return result;
  }

  std::vector<Entry> ring = std::vector<Entry>(256);
  int64_t size = 0, first = 0;
  uint64_t hash = 0;
};

/// Snapshots at the begin of periods that may repeat. Periods of different
/// length wait at the same time.
template <typename Snapshot>
class SteadyStates {
public:
  explicit SteadyStates(size_t numAnchors = 0) : anchors(numAnchors) {}

  /// Forgets everything, because something happened that no period contains.
  void clear() {
    log.clear();
    ++epoch;
    waiting = 0;
    nextDue = INT64_MAX;
  }

  /// Something happened to `process`; `what` tells it from other things that
  /// happen to it.
  void note(uint32_t process, uint64_t what) { log.note(process, what); }

  /// Called between two steps of a simulator. `passed` are the anchors passed
  /// since the last call: places in programs where a period may begin.
  /// `take(snapshot, processes)` stores the state of what concerns these
  /// processes; `jump(snapshot)` advances by as many periods as it can, and
  /// returns how many these were.
  template <typename Passed, typename Take, typename Jump>
  void look(const Passed &passed, const Take &take, const Jump &jump) {
    if (log.now() >= nextDue)
      lookAtDue(jump);
    const int64_t now = log.now();
    for (uint32_t index : passed) {
      const int64_t period = periodAt(anchors[index], now);
      if (period == 0)
        continue;
      const unsigned level = levelOf(period);
      if (waiting >> level & 1)
        continue;
      Waiting &slot = slots[level];
      slot.begin = now;
      slot.period = period;
      slot.anchor = index;
      collect(now - period, period, slot.processes);
      take(slot.snapshot, slot.processes);
      waiting |= 1u << level;
      nextDue = std::min(nextDue, now + period);
    }
  }

private:
  /// Passes of an anchor that a period contains, at most.
  static constexpr uint32_t kMostPasses = 4;
  struct Anchor {
    /// Places in the log of its last passes, the last one at `passes`, modulo
    /// their number.
    std::array<int64_t, 2 * kMostPasses> places = {};
    uint32_t epoch = 0, passes = 0, skip = 0, failures = 0;

    int64_t before(uint32_t numPasses) const {
      return places[(passes - numPasses) % places.size()];
    }
  };
  struct Waiting {
    int64_t begin = 0, period = 0;
    uint32_t anchor = 0;
    std::vector<uint32_t> processes;
    Snapshot snapshot;
  };
  static constexpr uint32_t kMostFailures = 256, kMostSkip = 64;

  /// Shorter and longer periods do not hinder each other.
  static unsigned levelOf(int64_t period) {
    unsigned level = 0;
    for (; period > 3; period >>= 2)
      ++level;
    return level;
  }

  /// The distance to an earlier pass of an anchor, if the log repeats with it.
  int64_t periodAt(Anchor &anchor, int64_t now) {
    if (anchor.epoch != epoch) {
      anchor.epoch = epoch;
      anchor.passes = anchor.skip = anchor.failures = 0;
    }
    if (anchor.passes > 0 && anchor.before(1) == now)
      return 0;
    // Where one number of passes has failed, another one may not.
    int64_t found = 0;
    for (uint32_t i = 0; i < kMostPasses && found == 0; ++i) {
      const uint32_t passes =
          1 + (anchor.failures / kMostFailures + i) % kMostPasses;
      if (anchor.passes < 2 * passes)
        continue;
      const int64_t period = now - anchor.before(passes);
      if (anchor.before(passes) - anchor.before(2 * passes) == period &&
          period <= PeriodLog::kMostPeriod && log.repeats(now - period, period))
        found = period;
    }
    anchor.places[anchor.passes % anchor.places.size()] = now;
    ++anchor.passes;
    if (found > 0 && anchor.skip > 0) {
      --anchor.skip;
      return 0;
    }
    return found;
  }

  /// The processes of a stretch of the log, each once.
  void collect(int64_t begin, int64_t period, std::vector<uint32_t> &result) {
    result.clear();
    ++stamp;
    for (int64_t i = begin; i < begin + period; ++i) {
      const uint32_t process = log.processAt(i);
      if (process >= stamps.size())
        stamps.resize(process + 1, 0);
      if (stamps[process] == stamp)
        continue;
      stamps[process] = stamp;
      result.push_back(process);
    }
    std::sort(result.begin(), result.end());
  }

  template <typename Jump>
  void lookAtDue(const Jump &jump) {
    nextDue = INT64_MAX;
    for (unsigned level = 0; level < slots.size(); ++level) {
      if (!(waiting >> level & 1))
        continue;
      Waiting &slot = slots[level];
      const int64_t due = slot.begin + slot.period;
      if (log.now() < due) {
        nextDue = std::min(nextDue, due);
        continue;
      }
      waiting &= ~(1u << level);
      int64_t periods = 0;
      if (log.now() == due && log.holds(slot.begin) &&
          log.repeats(slot.begin, slot.period)) {
        // Equal hashes are no proof.
        collect(slot.begin, slot.period, found);
        if (found == slot.processes)
          periods = jump(slot.snapshot);
      }
      Anchor &anchor = anchors[slot.anchor];
      if (periods == 0) {
        // Now and then is no matter, and skips would themselves keep an outer
        // period from being one.
        if (++anchor.failures > kMostFailures)
          anchor.skip = std::min(anchor.failures - kMostFailures, kMostSkip);
        continue;
      }
      anchor.failures = 0;
      for (uint32_t process : slot.processes)
        note(process, kJumped);
    }
  }

  static constexpr uint64_t kJumped = uint64_t(1) << 40;

  PeriodLog log;
  std::vector<Anchor> anchors;
  uint32_t epoch = 1;
  /// By level of their period, with a bit for each that waits, and the place in
  /// the log where the first of them is due.
  std::array<Waiting, 12> slots;
  uint32_t waiting = 0;
  int64_t nextDue = INT64_MAX;
  /// Scratch.
  std::vector<uint32_t> stamps, found;
  uint32_t stamp = 0;
};

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_STEADYSTATES_H
