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
    lastFree = first + delay + (count - 1) * step;
    numRead += count;
    if (initialLeft > 0)
      initialLeft -= count;
    else
      tokens.pop(count);
    while (!peakWrites.empty() && peakWrites.front().first <= lastFree) {
      const TimeRuns::Run &run = peakWrites.front();
      const int64_t known =
          countUntil(lastFree, run.first, run.step, run.count);
      notePeak(run.first, run.step, known);
      peakWrites.pop(known);
    }
  }
  void write(int64_t first, int64_t step, int64_t count) {
    tokens.push(first, step, count);
    numWritten += count;
    if (freeLeft > 0)
      freeLeft -= count;
    else
      frees.pop(count);
    const int64_t known = peakWrites.empty() && first <= lastFree
                              ? countUntil(lastFree, first, step, count)
                              : 0;
    if (known > 0)
      notePeak(first, step, known);
    if (known < count)
      peakWrites.push(first + known * step, step, count - known);
  }

  /// When nothing more happens: also counts tokens that nobody has read.
  int64_t finishPeak() {
    for (; !peakWrites.empty(); peakWrites.pop(peakWrites.front().count))
      notePeak(peakWrites.front().first, peakWrites.front().step,
               peakWrites.front().count);
    return mostInUse;
  }
  int64_t fill() const { return initialTokens + numWritten - numRead; }
  int64_t numTokens() const { return numWritten; }
  int64_t capacity() const { return depth; }

  /// How it was. Queues of many runs are left out: they are not compared.
  struct Mark {
    int64_t initialLeft = 0, freeLeft = 0, numWritten = 0, numRead = 0,
            noted = 0, freed = 0;
    /// Tokens and slots that were there for those who came.
    int64_t oldTokens = 0, oldSlots = 0;
    bool hasTokens = false, hasFrees = false, hasPeak = false;
    TimeRuns tokens, frees, peakWrites, peakFrees;
  };
  /// Writer and reader are at `writerAt` and `readerAt`.
  void mark(Mark &mark, int64_t writerAt, int64_t readerAt) const;
  /// Whether nothing has happened since it was `then`.
  bool isSame(const Mark &then) const {
    return numWritten == then.numWritten && numRead == then.numRead;
  }
  /// How many times more the same can happen as has happened since it was
  /// `then`, all `shift` cycles later; 0: none, or it is not known. Where
  /// writer and reader stand now, what lies before is there for them, whenever
  /// it came: `writerAt` and `readerAt`.
  int64_t repeatsOf(const Mark &then, int64_t shift, int64_t writerAt,
                    int64_t readerAt) const;
  /// So many times more.
  void repeat(const Mark &then, int64_t periods, int64_t shift,
              int64_t writerAt, int64_t readerAt);

private:
  /// How many of `count` times, the first of which is, are at most `limit`.
  static int64_t countUntil(int64_t limit, int64_t first, int64_t step,
                            int64_t count) {
    return count == 1 ? 1 : std::min(count, (limit - first) / step + 1);
  }
  bool areTokensShifted(const Mark &then, int64_t shift,
                        int64_t readerAt) const {
    return then.hasTokens && initialLeft == then.initialLeft &&
           tokens.isShifted(then.tokens, shift, readerAt - delay);
  }
  bool areSlotsShifted(const Mark &then, int64_t shift,
                       int64_t writerAt) const {
    return then.hasFrees && freeLeft == then.freeLeft &&
           frees.isShifted(then.frees, shift, writerAt);
  }
  bool isPeakShifted(const Mark &then, int64_t shift) const {
    return then.hasPeak && noted - freed == then.noted - then.freed &&
           peakWrites.isShifted(then.peakWrites, shift) &&
           peakFrees.isShifted(then.peakFrees, shift);
  }

  /// How many slots were in use after each of these writes? All reads that free
  /// a slot by then are known: a later one frees it after `lastFree`.
  void notePeak(int64_t first, int64_t step, int64_t count);

  int64_t delay, depth;
  int64_t initialLeft, freeLeft;
  TimeRuns tokens, frees;
  /// For the peak: writes that are not noted yet, slots freed that no noted
  /// write has found free; and when the last one was freed.
  TimeRuns peakWrites, peakFrees;
  int64_t lastFree = INT64_MIN;
  int64_t initialTokens, mostInUse;
  int64_t numWritten = 0, numRead = 0;
  /// Writes noted, and slots freed until then.
  int64_t noted = 0, freed = 0;
};

inline void TimedFifoState::mark(Mark &mark, int64_t writerAt,
                                 int64_t readerAt) const {
  constexpr size_t kMostRuns = 64;
  // More than any period moves, and found fast.
  constexpr int64_t kEnough = 1 << 20;
  mark.initialLeft = initialLeft;
  mark.freeLeft = freeLeft;
  mark.numWritten = numWritten;
  mark.numRead = numRead;
  mark.noted = noted;
  mark.freed = freed;
  mark.hasTokens = tokens.numRuns() <= kMostRuns;
  if (mark.hasTokens)
    mark.tokens = tokens;
  mark.hasFrees = frees.numRuns() <= kMostRuns;
  if (mark.hasFrees)
    mark.frees = frees;
  mark.hasPeak =
      peakWrites.numRuns() <= kMostRuns && peakFrees.numRuns() <= kMostRuns;
  if (mark.hasPeak) {
    mark.peakWrites = peakWrites;
    mark.peakFrees = peakFrees;
  }
  mark.oldTokens =
      initialLeft > kEnough
          ? initialLeft
          : initialLeft + tokens.sizeUntil(readerAt - delay, kEnough);
  mark.oldSlots = freeLeft > kEnough
                      ? freeLeft
                      : freeLeft + frees.sizeUntil(writerAt, kEnough);
}

inline int64_t TimedFifoState::repeatsOf(const Mark &then, int64_t shift,
                                         int64_t writerAt,
                                         int64_t readerAt) const {
  const int64_t written = numWritten - then.numWritten;
  const int64_t read = numRead - then.numRead;
  if ((noted != then.noted || freed != then.freed) &&
      !isPeakShifted(then, shift))
    return 0;
  int64_t repeats = INT64_MAX;
  if (!areTokensShifted(then, shift, readerAt)) {
    // A stock of tokens that nobody waits for.
    if (read > then.oldTokens || !tokens.holds(written))
      return 0;
    if (read > 0)
      repeats = (initialLeft + tokens.sizeUntil(readerAt - delay)) / read;
  }
  if (!areSlotsShifted(then, shift, writerAt)) {
    // A stock of slots.
    if (written > then.oldSlots || !frees.holds(read))
      return 0;
    if (written > 0)
      repeats =
          std::min(repeats, (freeLeft + frees.sizeUntil(writerAt)) / written);
  }
  return repeats;
}

inline void TimedFifoState::repeat(const Mark &then, int64_t periods,
                                   int64_t shift, int64_t writerAt,
                                   int64_t readerAt) {
  const int64_t written = numWritten - then.numWritten;
  const int64_t read = numRead - then.numRead;
  // Takes from what was there from the start first.
  auto take = [](int64_t &always, TimeRuns &times, int64_t count) {
    const int64_t first = std::min(always, count);
    always -= first;
    times.popMany(count - first);
  };
  if (areTokensShifted(then, shift, readerAt)) {
    tokens.shift(periods * shift);
  } else {
    tokens.repeatLast(written, periods, shift);
    take(initialLeft, tokens, periods * read);
  }
  if (areSlotsShifted(then, shift, writerAt)) {
    frees.shift(periods * shift);
  } else {
    frees.repeatLast(read, periods, shift);
    take(freeLeft, frees, periods * written);
  }
  if (isPeakShifted(then, shift)) {
    peakWrites.shift(periods * shift);
    peakFrees.shift(periods * shift);
  } else {
    peakWrites.repeatLast(written, periods, shift);
    peakFrees.repeatLast(read, periods, shift);
  }
  if (read > 0)
    lastFree += periods * shift;
  numWritten += periods * written;
  numRead += periods * read;
  noted += periods * (noted - then.noted);
  freed += periods * (freed - then.freed);
}

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
