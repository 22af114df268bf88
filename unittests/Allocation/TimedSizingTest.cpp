//===- TimedSizingTest.cpp - Depths that simulation asks for -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks whose depths follow by hand arithmetic: who distributes to several
// readers, and runs behind each other.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/TimedSizing.h"

#include "gtest/gtest.h"

using namespace streamtensor;

namespace {

unsigned addProcess(TimedNetwork &network, const std::string &name,
                    TimedSequence program) {
  TimedProcess process;
  process.name = name;
  process.hasProgram = true;
  process.program = std::move(program);
  network.processes.push_back(std::move(process));
  return network.processes.size() - 1;
}

TimedFifo &addFifo(TimedNetwork &network, const std::string &name,
                   unsigned writer, unsigned reader, int64_t depth) {
  TimedFifo &fifo = network.fifos.emplace_back();
  fifo.name = name;
  fifo.writer = writer;
  fifo.reader = reader;
  fifo.depth = depth;
  return fifo;
}

TimedSizing grow(const TimedNetwork &network, int64_t invocations) {
  EXPECT_EQ(network.check().value_or(""), "");
  TimedSizingOptions options;
  options.invocations = invocations;
  std::string error;
  const auto sizing = growDepths(network, options, error);
  EXPECT_TRUE(sizing) << error;
  return sizing.value_or(TimedSizing());
}

int64_t cyclesOf(const TimedNetwork &network, std::vector<int64_t> depths,
                 int64_t invocations, bool unbounded = false) {
  TimedOptions options;
  options.depths = std::move(depths);
  options.invocations = invocations;
  options.unbounded = unbounded;
  std::string error;
  const auto result = simulateTimed(network, options, error);
  EXPECT_TRUE(result) << error;
  EXPECT_TRUE(result && result->deadlock.empty());
  return result ? result->cycles : -1;
}

/// One token for each of four readers in turn, one round in 16 cycles. The
/// fourth takes four tokens at once and then rests for 60 cycles, 16 cycles a
/// token, and tells the writer, which may be two tokens ahead of that.
TEST(TimedSizing, SerialDistributionWithASlowReader) {
  constexpr int64_t kRounds = 64;
  TimedNetwork network;
  TimedSequence round;
  for (unsigned i = 0; i < 4; ++i) {
    round.push_back(timedWrite(i));
    round.push_back(waitFor(4));
  }
  const unsigned writer =
      addProcess(network, "distribute", {timedLoop(kRounds, round)});
  for (unsigned i = 0; i < 3; ++i)
    addFifo(network, "to" + std::to_string(i), writer,
            addProcess(network, "reader" + std::to_string(i),
                       {timedPipeline({kRounds}, 1, 1, {timedRead(i)})}),
            1);
  const unsigned slow = addProcess(
      network, "slow",
      {timedLoop(kRounds / 4, {timedLoop(4, {timedRead(3), timedWrite(4)}, 1),
                               waitFor(60)})});
  addFifo(network, "to3", writer, slow, 1);
  // The writer reads one report per round, at its begin.
  addFifo(network, "reports", slow, writer, 8).initialTokens = 8;
  network.processes[writer].program[0].body.insert(
      network.processes[writer].program[0].body.begin(), timedRead(4));
  const TimedSizing sizing = grow(network, 1);
  ASSERT_EQ(sizing.depths.size(), 5u);
  // What arrives while the slow one rests, 60 / 16 tokens, and no thousand.
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_EQ(sizing.depths[i], 1) << i;
  EXPECT_GE(sizing.depths[3], 2);
  EXPECT_LE(sizing.depths[3], 5);
  EXPECT_LE(sizing.points[0].cycles, 1.01 * sizing.points[0].cyclesUnbounded);
  EXPECT_GT(cyclesOf(network, {1, 1, 1, 1, 8}, 1),
            1.01 * sizing.points[0].cyclesUnbounded);
}

/// a rests for 84 cycles and then writes 16 tokens; b takes one in five cycles
/// and rests for 20 in the end. In one run b is last whatever the depth is. One
/// behind the other, a must write in 16 cycles to begin the next in time.
TEST(TimedSizing, OneRunIsNotEnough) {
  TimedNetwork network;
  addProcess(network, "a",
             {waitFor(84), timedPipeline({16}, 1, 1, {timedWrite(0)})});
  addProcess(network, "b",
             {timedPipeline({16}, 5, 5, {timedRead(0)}), waitFor(20)});
  addFifo(network, "f", 0, 1, 1);
  EXPECT_EQ(grow(network, 1).depths, std::vector<int64_t>{1});
  const int64_t best = cyclesOf(network, {}, 3, /*unbounded=*/true);
  EXPECT_EQ(cyclesOf(network, {1}, 1),
            cyclesOf(network, {}, 1, /*unbounded=*/true));
  EXPECT_GT(cyclesOf(network, {1}, 3), 1.2 * best);
  const TimedSizing sizing = grow(network, TimedSizingOptions().invocations);
  // After 16 cycles b has taken 4.
  EXPECT_GE(sizing.depths[0], 8);
  EXPECT_LE(sizing.depths[0], 13);
  EXPECT_LE(cyclesOf(network, sizing.depths, 3), 1.01 * best);
}

/// Where a first run takes too many steps, the depths stay; with as many as a
/// whole search took, the result is the same.
TEST(TimedSizing, StepsAreLimited) {
  TimedNetwork network;
  addProcess(network, "a",
             {waitFor(84), timedPipeline({16}, 1, 1, {timedWrite(0)})});
  addProcess(network, "b",
             {timedPipeline({16}, 5, 5, {timedRead(0)}), waitFor(20)});
  addFifo(network, "f", 0, 1, 3);
  TimedSizingOptions options;
  options.least = {1};
  std::string error;
  const auto free = growDepths(network, options, error);
  ASSERT_TRUE(free) << error;
  EXPECT_FALSE(free->isTooLarge);
  EXPECT_GT(free->depths[0], 3);
  options.mostSteps = 4 * free->steps;
  const auto within = growDepths(network, options, error);
  ASSERT_TRUE(within) << error;
  EXPECT_FALSE(within->isTooLarge);
  EXPECT_EQ(within->depths, free->depths);
  options.mostSteps = 40;
  const auto given = growDepths(network, options, error);
  ASSERT_TRUE(given) << error;
  EXPECT_TRUE(given->isTooLarge);
  EXPECT_EQ(given->depths, std::vector<int64_t>{3});
  EXPECT_LE(given->steps, options.mostSteps);
}

/// No FIFOs, no tokens, no time.
TEST(TimedSizing, TinyGraphs) {
  TimedNetwork network;
  addProcess(network, "alone", {});
  EXPECT_TRUE(grow(network, 3).depths.empty());
  addProcess(network, "isolated", {waitFor(7)});
  addProcess(network, "reader", {timedRead(0)});
  addFifo(network, "one", 0, 2, 1);
  network.processes[0].program = {timedWrite(0)};
  EXPECT_EQ(grow(network, 3).depths, std::vector<int64_t>{1});
  std::string error;
  const auto smallest = smallestDepths(network, {}, error);
  ASSERT_TRUE(smallest) << error;
  EXPECT_EQ(smallest->depths, std::vector<int64_t>{1});
}

} // namespace
