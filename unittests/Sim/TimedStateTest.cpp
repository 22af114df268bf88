//===- TimedStateTest.cpp - Runs of times, FIFOs, programs ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the timed simulator against the same written out.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimedFifoState.h"
#include "streamtensor/Sim/TimedProgram.h"
#include "unittests/Sim/RandomTimedNetworks.h"

#include <deque>
#include <gtest/gtest.h>

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

int64_t draw(std::mt19937 &engine, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(engine);
}

TEST(TimeRuns, KeepsEveryTime) {
  std::mt19937 engine(1);
  for (int round = 0; round < 300; ++round) {
    TimeRuns runs;
    std::deque<int64_t> times;
    int64_t next = 0, last = 0, step = 1;
    for (int action = 0; action < 200; ++action) {
      if (draw(engine, 0, 99) < 55) {
        if (draw(engine, 0, 3) == 0)
          step = draw(engine, 1, 3);
        const int64_t count = draw(engine, 0, 1) ? 1 : draw(engine, 1, 5);
        next = last + (draw(engine, 0, 1) ? step : draw(engine, 1, 4));
        runs.push(next, step, count);
        for (int64_t i = 0; i < count; ++i)
          times.push_back(next + i * step);
        last = times.back();
      } else if (!times.empty()) {
        const TimeRuns::Run front = runs.front();
        ASSERT_GE(front.count, 1);
        ASSERT_LE(front.count, int64_t(times.size()));
        for (int64_t i = 0; i < front.count; ++i)
          ASSERT_EQ(front.first + i * front.step, times[i]);
        const int64_t count = draw(engine, 1, front.count);
        runs.pop(count);
        times.erase(times.begin(), times.begin() + count);
      }
      ASSERT_EQ(runs.empty(), times.empty());
    }
  }
}

TEST(TimeRuns, JoinsEqualDistances) {
  TimeRuns runs;
  for (int64_t time = 0; time < 300; time += 3)
    runs.push(time);
  runs.push(300, 3, 100);
  EXPECT_EQ(runs.front().count, 200);
  EXPECT_EQ(runs.front().step, 3);
  // A run of one time takes over the distance of what comes.
  TimeRuns other;
  other.push(10);
  other.push(17, 7, 5);
  EXPECT_EQ(other.front().count, 6);
  EXPECT_EQ(other.front().last(), 45);
}

/// Accesses at both ends of one FIFO, many at once as far as they are known,
/// and the most slots in use counted write by write.
TEST(TimedFifoState, CountsSlotsInUse) {
  std::mt19937 engine(2);
  for (int round = 0; round < 3000; ++round) {
    const int64_t initial = draw(engine, 0, 3);
    const int64_t depth = initial + draw(engine, initial == 0, 12);
    const int64_t delay = 1 + (draw(engine, 0, 3) ? 0 : draw(engine, 1, 6));
    TimedFifoState fifo(depth, initial, delay - 1);
    std::vector<int64_t> writes, reads;
    for (int action = 0; action < 40; ++action) {
      const bool isRead = draw(engine, 0, 1);
      const int64_t known = isRead ? fifo.readable() : fifo.writable();
      // What is possible at most is known from the times of the other end.
      const int64_t possible =
          isRead ? initial + int64_t(writes.size()) - int64_t(reads.size())
                 : depth - initial + int64_t(reads.size()) -
                       int64_t(writes.size());
      ASSERT_LE(known, possible);
      ASSERT_EQ(known > 0, possible > 0);
      if (known == 0)
        continue;
      std::vector<int64_t> &mine = isRead ? reads : writes;
      const std::vector<int64_t> &others = isRead ? writes : reads;
      const int64_t shift = isRead ? initial : depth - initial;
      const int64_t at = isRead ? fifo.readableAt() : fifo.writableAt();
      const int64_t distance =
          isRead ? fifo.readableStep() : fifo.writableStep();
      // The times that the other end left, one by one.
      for (int64_t i = 0; i < known; ++i) {
        const int64_t index = int64_t(mine.size()) + i - shift;
        if (index < 0)
          ASSERT_EQ(at, TimedFifoState::kAlways);
        else
          ASSERT_EQ(at + i * distance, others[index] + delay);
      }
      const int64_t count = draw(engine, 1, known);
      const int64_t earliest = std::max(mine.empty() ? 0 : mine.back() + 1,
                                        at == TimedFifoState::kAlways ? 0 : at);
      const int64_t first =
          earliest + (draw(engine, 0, 2) ? 0 : draw(engine, 0, 9));
      const int64_t step = std::max<int64_t>(1, distance) +
                           (draw(engine, 0, 1) ? 0 : draw(engine, 0, 4));
      if (isRead)
        fifo.read(first, step, count);
      else
        fifo.write(first, step, count);
      for (int64_t i = 0; i < count; ++i)
        mine.push_back(first + i * step);
    }
    int64_t peak = initial;
    for (size_t i = 0; i < writes.size(); ++i) {
      int64_t freed = 0;
      for (int64_t read : reads)
        freed += read + delay <= writes[i];
      peak = std::max(peak, initial + int64_t(i) + 1 - freed);
    }
    ASSERT_EQ(fifo.finishPeak(), peak) << "round " << round;
    ASSERT_LE(peak, depth);
    ASSERT_EQ(fifo.numTokens(), int64_t(writes.size()));
    ASSERT_EQ(fifo.fill(),
              initial + int64_t(writes.size()) - int64_t(reads.size()));
  }
}

/// Walks through a program access by access or, where `skips` says so, many at
/// a time as the simulator does in batches.
TimedTrace walk(const TimedProgram &program, std::mt19937 *skips) {
  TimedTrace trace;
  ProgramCursor cursor(program);
  cursor.restart();
  std::vector<ProgramCursor::Access> group;
  for (;;) {
    if (skips && draw(*skips, 0, 1)) {
      // As many as lie before everything else.
      ProgramCursor::Stream *earliest = nullptr;
      int64_t second = INT64_MAX;
      for (ProgramCursor::Stream &stream : cursor.streams()) {
        if (stream.count == 0)
          continue;
        if (!earliest || stream.time < earliest->time) {
          if (earliest)
            second = std::min(second, earliest->time);
          earliest = &stream;
        } else {
          second = std::min(second, stream.time);
        }
      }
      if (earliest && earliest->time < second) {
        int64_t count = earliest->count;
        if (second != INT64_MAX)
          count = std::min(count,
                           (second - 1 - earliest->time) / earliest->step + 1);
        count = draw(*skips, 1, count);
        for (int64_t i = 0; i < count; ++i)
          trace.accesses.push_back({earliest->time + i * earliest->step,
                                    earliest->of->kind, earliest->of->target});
        cursor.skip(*earliest, count);
        continue;
      }
    }
    if (!cursor.next(group))
      break;
    for (const ProgramCursor::Access &access : group)
      trace.accesses.push_back({cursor.time(), access.kind, access.target});
  }
  trace.latency = cursor.time();
  return trace;
}

void expectTrace(const TimedTrace &actual, const TimedTrace &expected) {
  ASSERT_EQ(actual.latency, expected.latency);
  ASSERT_EQ(actual.accesses.size(), expected.accesses.size());
  auto sorted = [](std::vector<TimedAccess> accesses) {
    auto key = [](const TimedAccess &access) {
      return std::make_tuple(access.time, access.kind, access.target);
    };
    // Times ascend already.
    for (size_t i = 1; i < accesses.size(); ++i)
      EXPECT_LE(accesses[i - 1].time, accesses[i].time);
    std::sort(accesses.begin(), accesses.end(),
              [&](const TimedAccess &a, const TimedAccess &b) {
                return key(a) < key(b);
              });
    return accesses;
  };
  const std::vector<TimedAccess> a = sorted(actual.accesses),
                                 b = sorted(expected.accesses);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].time, b[i].time);
    ASSERT_EQ(a[i].kind, b[i].kind);
    ASSERT_EQ(a[i].target, b[i].target);
  }
}

TEST(ProgramCursor, VisitsEveryAccess) {
  std::mt19937 skips(3);
  for (unsigned seed = 0; seed < 200; ++seed) {
    const TimedNetwork network = RandomTimedNetworks(seed).make();
    for (const TimedProcess &process : network.processes) {
      const TimedTrace expected = writeOut(process, {});
      const TimedProgram program(process, {});
      expectTrace(walk(program, nullptr), expected);
      expectTrace(walk(program, &skips), expected);
      if (HasFatalFailure() || HasFailure())
        FAIL() << "seed " << seed << " process " << process.name;
    }
  }
}

TEST(ProgramCursor, VisitsNestsInTheOrderOfTime) {
  // {first, levels} as a file may give them: outer steps below inner ones,
  // groups that interleave, counts of 0 and 1.
  const std::vector<AccessPattern> nests = {
      {0, {{1, 4}, {10, 3}}},          {5, {{3, 4}, {2, 3}}},
      {0, {{100, 2}, {7, 5}, {3, 2}}}, {2, {{9, 3}, {4, 5}}},
      {1, {{50, 0}, {1, 3}}},          {3, {{0, 1}, {2, 6}}},
      {0, {{15, 4}, {6, 4}, {4, 2}}},
  };
  for (const AccessPattern &nest : nests) {
    TimedProcess process;
    process.latency = 1000;
    process.accesses = {{AccessKind::Read, 0, 1, 0, {nest}}};
    const TimedProgram program(process, {});
    expectTrace(walk(program, nullptr), writeOut(process, {}));
  }
}

TEST(ProgramCursor, IdleLoopsTakeNoSteps) {
  // 2^40 iterations in which nothing is touched, around, before and behind
  // what is: time must not depend on their number.
  const int64_t many = int64_t(1) << 40;
  TimedProcess process;
  process.hasProgram = true;
  process.program = {timedLoop(many, {waitFor(3)}),
                     timedRead(0),
                     timedPipeline({many}, 2, 7, {}),
                     timedLoop(0, {timedRead(0)}),
                     waitFor(1),
                     timedRead(0)};
  const TimedTrace trace = walk(TimedProgram(process, {}), nullptr);
  ASSERT_EQ(trace.accesses.size(), 2u);
  EXPECT_EQ(trace.accesses[0].time, 3 * many);
  EXPECT_EQ(trace.accesses[1].time, 3 * many + 2 * (many - 1) + 7 + 1);
  EXPECT_EQ(trace.latency, trace.accesses[1].time);
}

TEST(ProgramCursor, ParametersSetTripCounts) {
  TimedProcess process;
  process.hasProgram = true;
  ParameterValues maxima;
  std::string error;
  const std::optional<TripCount> tiles =
      TripCount::parse("ceildiv(seq max 64, 16)", maxima, error);
  ASSERT_TRUE(tiles) << error;
  process.program = {timedPipeline({*tiles, 2}, 3, 4, {timedWrite(0, 1)})};
  for (int64_t seq : {0, 1, 16, 17, 64}) {
    const ParameterValues values = {{"seq", seq}};
    const TimedTrace trace = walk(TimedProgram(process, values), nullptr);
    expectTrace(trace, writeOut(process, values));
    EXPECT_EQ(int64_t(trace.accesses.size()), (seq + 15) / 16 * 2);
  }
}

} // namespace
