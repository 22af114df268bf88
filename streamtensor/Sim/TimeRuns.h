//===- TimeRuns.h - A queue of times, as runs -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times that ascend, appended at one end and taken from the other; equal
// distances are kept as one run.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMERUNS_H
#define STREAMTENSOR_SIM_TIMERUNS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace streamtensor {

class TimeRuns {
public:
  struct Run {
    int64_t first = 0, step = 1, count = 0;
    int64_t last() const { return first + (count - 1) * step; }
  };

  bool empty() const { return head == runs.size(); }
  const Run &front() const { return runs[head]; }

  void push(int64_t first, int64_t step = 1, int64_t count = 1) {
    if (!empty()) {
      Run &back = runs.back();
      if (count == 1) {
        if (back.count == 1) {
          back.step = first - back.first;
          back.count = 2;
          return;
        }
        if (first == back.first + back.count * back.step) {
          ++back.count;
          return;
        }
      } else if (first == back.last() + step &&
                 (back.count == 1 || back.step == step)) {
        back.step = step;
        back.count += count;
        return;
      }
    }
    if (head > 32 && head * 2 > runs.size()) {
      runs.erase(runs.begin(), runs.begin() + head);
      head = 0;
    }
    runs.push_back({first, step, count});
  }

  /// Takes `count` times from the front run, at most all of it.
  void pop(int64_t count = 1) {
    Run &run = runs[head];
    run.first += count * run.step;
    run.count -= count;
    if (run.count == 0 && ++head == runs.size()) {
      runs.clear();
      head = 0;
    }
  }

  size_t numRuns() const { return runs.size() - head; }
  /// How many times are at most `limit`, or more than `most` of them.
  int64_t sizeUntil(int64_t limit, int64_t most = INT64_MAX) const {
    int64_t size = 0;
    for (size_t i = head; i < runs.size() && size <= most; ++i) {
      const Run &run = runs[i];
      if (run.first > limit)
        break;
      if (run.count > 1 && run.last() > limit)
        return size + (limit - run.first) / run.step + 1;
      size += run.count;
    }
    return size;
  }
  /// Whether these are the times of `other`, all `shift` later; those until
  /// `limit`, for the others `shift` earlier, are as good as equal.
  bool isShifted(const TimeRuns &other, int64_t shift,
                 int64_t limit = INT64_MIN) const {
    size_t i = head, j = other.head;
    // How many of the run at hand have been compared.
    int64_t a = 0, b = 0;
    while (i < runs.size() && j < other.runs.size()) {
      const Run &mine = runs[i], &his = other.runs[j];
      const int64_t count = std::min(mine.count - a, his.count - b);
      for (int64_t at : {int64_t(0), count - 1}) {
        const int64_t time = mine.first + (a + at) * mine.step;
        const int64_t moved = his.first + (b + at) * his.step + shift;
        if (time != moved && (time > limit || moved > limit))
          return false;
      }
      a += count;
      b += count;
      if (a == mine.count)
        ++i, a = 0;
      if (b == his.count)
        ++j, b = 0;
    }
    return i == runs.size() && j == other.runs.size();
  }
  /// Whether there are at least `count` times.
  bool holds(int64_t count) const {
    for (size_t i = runs.size(); i > head && count > 0; --i)
      count -= runs[i - 1].count;
    return count <= 0;
  }
  /// Takes `count` times from the front, from as many runs as needed.
  void popMany(int64_t count) {
    while (count > 0) {
      const int64_t passed = std::min(count, front().count);
      pop(passed);
      count -= passed;
    }
  }
  /// Appends the last `count` times `periods` times more, each `shift` later.
  void repeatLast(int64_t count, int64_t periods, int64_t shift) {
    if (count == 0)
      return;
    std::vector<Run> pattern;
    for (size_t i = runs.size(); count > 0; --i) {
      Run run = runs[i - 1];
      if (run.count > count) {
        run.first += (run.count - count) * run.step;
        run.count = count;
      }
      count -= run.count;
      pattern.push_back(run);
    }
    if (pattern.size() == 1) {
      const Run &run = pattern.front();
      if (run.count == 1 || run.count * run.step == shift)
        return push(run.first + shift, run.count == 1 ? shift : run.step,
                    run.count * periods);
    }
    for (int64_t period = 1; period <= periods; ++period)
      for (size_t i = pattern.size(); i-- > 0;)
        push(pattern[i].first + period * shift, pattern[i].step,
             pattern[i].count);
  }
  void shift(int64_t cycles) {
    for (size_t i = head; i < runs.size(); ++i)
      runs[i].first += cycles;
  }

private:
  std::vector<Run> runs;
  size_t head = 0;
};

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMERUNS_H
