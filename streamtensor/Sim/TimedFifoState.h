//===- TimedFifoState.h - One FIFO in a timed simulation --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The times of tokens that were written and not read yet, of slots that were
// freed and not used yet, and the most slots in use. Internal to the timed
// simulator.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMEDFIFOSTATE_H
#define STREAMTENSOR_SIM_TIMEDFIFOSTATE_H

#include "streamtensor/Sim/TimeRuns.h"

#include <algorithm>

namespace streamtensor {

class TimedFifoState {
public:
  /// Earlier than everything: tokens and slots that are there from the start.
  static constexpr int64_t kAlways = INT64_MIN / 2;

  TimedFifoState(int64_t depth, int64_t initialTokens, int64_t crossing)
      : delay(1 + crossing), depth(depth), initialLeft(initialTokens),
        freeLeft(depth - initialTokens), initialTokens(initialTokens),
        mostInUse(initialTokens) {}

  /// How many accesses can happen whose times are known, all equally far apart;
  /// 0: wait for the other end.
  int64_t readable() const {
    return initialLeft > 0  ? initialLeft
           : tokens.empty() ? 0
                            : tokens.front().count;
  }
  int64_t writable() const {
    return freeLeft > 0 ? freeLeft : frees.empty() ? 0 : frees.front().count;
  }
  /// When the next of them can happen at the earliest, and the distance of
  /// those after it.
  int64_t readableAt() const {
    return initialLeft > 0 ? kAlways : tokens.front().first + delay;
  }
  int64_t readableStep() const {
    return initialLeft > 0 ? 0 : tokens.front().step;
  }
  int64_t writableAt() const {
    return freeLeft > 0 ? kAlways : frees.front().first;
  }
  int64_t writableStep() const { return freeLeft > 0 ? 0 : frees.front().step; }

  /// `count` reads, at most `readable`, from `first` on.
  void read(int64_t first, int64_t step, int64_t count) {
    frees.push(first + delay, step, count);
    peakFrees.push(first + delay, step, count);
    numRead += count;
    if (initialLeft > 0) {
      initialLeft -= count;
      return;
    }
    notePeak(tokens.front().first, tokens.front().step, count);
    tokens.pop(count);
  }
  void write(int64_t first, int64_t step, int64_t count) {
    tokens.push(first, step, count);
    numWritten += count;
    if (freeLeft > 0)
      freeLeft -= count;
    else
      frees.pop(count);
  }

  /// When nothing more happens: also counts tokens that nobody has read.
  int64_t finishPeak() {
    for (; !tokens.empty(); tokens.pop(tokens.front().count))
      notePeak(tokens.front().first, tokens.front().step, tokens.front().count);
    return mostInUse;
  }
  int64_t fill() const { return initialTokens + numWritten - numRead; }
  int64_t numTokens() const { return numWritten; }
  int64_t capacity() const { return depth; }

  /// Whether nothing has happened since it was `then`.
  bool isSame(const TimedFifoState &then) const {
    return numWritten == then.numWritten && numRead == then.numRead;
  }
  /// Whether what can happen from now on is what could happen then, all `shift`
  /// cycles later.
  bool isShifted(const TimedFifoState &then, int64_t shift) const {
    return initialLeft == then.initialLeft && freeLeft == then.freeLeft &&
           noted - freed == then.noted - then.freed &&
           tokens.isShifted(then.tokens, shift) &&
           frees.isShifted(then.frees, shift) &&
           peakFrees.isShifted(then.peakFrees, shift);
  }
  /// What has happened since `then` happens `periods` times more, each `shift`
  /// cycles later.
  void repeat(const TimedFifoState &then, int64_t periods, int64_t shift) {
    tokens.shift(periods * shift);
    frees.shift(periods * shift);
    peakFrees.shift(periods * shift);
    numWritten += periods * (numWritten - then.numWritten);
    numRead += periods * (numRead - then.numRead);
    noted += periods * (noted - then.noted);
    freed += periods * (freed - then.freed);
  }

private:
  /// Tokens written at these times, whose reads have been noted: how many slots
  /// were in use after each write? Slots freed later than the last of them
  /// cannot be among those in `peakFrees` that count.
  void notePeak(int64_t first, int64_t step, int64_t count);

  int64_t delay, depth;
  int64_t initialLeft, freeLeft;
  TimeRuns tokens, frees, peakFrees;
  int64_t initialTokens, mostInUse;
  int64_t numWritten = 0, numRead = 0;
  /// Writes noted, and slots freed until then.
  int64_t noted = 0, freed = 0;
};

inline void TimedFifoState::notePeak(int64_t first, int64_t step,
                                     int64_t count) {
  // in use after write k = initial + k + 1 - slots freed until then. Inside of
  // one run of frees this rises with k where writes are closer together than
  // frees, and else falls, so that one end of the range is the largest.
  auto record = [&](int64_t index) {
    mostInUse = std::max(mostInUse, initialTokens + noted + index + 1 - freed);
  };
  auto timeOf = [&](int64_t index) { return first + index * step; };
  int64_t k = 0;
  while (k < count) {
    while (!peakFrees.empty() && peakFrees.front().first <= timeOf(k)) {
      const TimeRuns::Run &run = peakFrees.front();
      const int64_t passed =
          std::min(run.count, (timeOf(k) - run.first) / run.step + 1);
      freed += passed;
      peakFrees.pop(passed);
    }
    record(k);
    if (peakFrees.empty()) {
      record(count - 1);
      break;
    }
    // Until which write is the run at the front enough?
    const TimeRuns::Run &run = peakFrees.front();
    int64_t lastIndex = count - 1;
    if (timeOf(lastIndex) >= run.last())
      lastIndex = std::max(k, (run.last() - 1 - first) / step);
    if (run.first > timeOf(lastIndex)) {
      record(lastIndex);
      k = lastIndex + 1;
      continue;
    }
    if (step <= run.step) {
      const int64_t passed = (timeOf(lastIndex) - run.first) / run.step + 1;
      freed += passed;
      peakFrees.pop(passed);
      record(lastIndex);
      k = lastIndex + 1;
    } else {
      // Falls: the largest is the last write before the first free of the run
      // or k itself, which was recorded.
      const int64_t before =
          std::min(lastIndex, (run.first - 1 - first) / step);
      if (before > k)
        record(before);
      k = before + 1 > k ? before + 1 : k + 1;
      if (k <= lastIndex) {
        // One write after the first free, then straight to the end.
        const int64_t passed = (timeOf(k) - run.first) / run.step + 1;
        freed += passed;
        peakFrees.pop(passed);
        record(k);
        k = lastIndex + 1;
      }
    }
  }
  noted += count;
}

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMEDFIFOSTATE_H
