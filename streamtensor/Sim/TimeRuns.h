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

  /// Whether these are the times of `other`, all `shift` later.
  bool isShifted(const TimeRuns &other, int64_t shift) const {
    if (runs.size() - head != other.runs.size() - other.head)
      return false;
    for (size_t i = 0; head + i < runs.size(); ++i) {
      const Run &a = runs[head + i], &b = other.runs[other.head + i];
      if (a.count != b.count || a.first != b.first + shift ||
          (a.count > 1 && a.step != b.step))
        return false;
    }
    return true;
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
