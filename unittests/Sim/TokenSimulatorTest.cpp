//===- TokenSimulatorTest.cpp - Bounded runs against single steps ---------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The token simulator against the naive one on random networks, and deadlocks
// derived by hand.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TokenSimulator.h"
#include "NaiveTokenSimulator.h"

#include "gtest/gtest.h"

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

/// fork copies 8 tokens; sum reads all of a before it writes one; join needs
/// that one first, then b.
ProcessNetwork makeDiamond() {
  ProcessNetwork network;
  const unsigned x = network.addFifo("x"), a = network.addFifo("a"),
                 b = network.addFifo("b"), s = network.addFifo("s");
  network.addProcess("load", {loop(8, {write(x)})});
  network.addProcess("fork", {loop(8, {read(x), write(a), write(b)})});
  network.addProcess("sum", {loop(8, {read(a)}), write(s)});
  network.addProcess("join", {read(s), loop(8, {read(b)})});
  EXPECT_FALSE(network.connect());
  return network;
}

TEST(TokenSimulator, FindsTheCycleOfADiamond) {
  const ProcessNetwork network = makeDiamond();
  TokenSimulator simulator(network);
  // fork writes a[7] after b[6], so b must hold 7 tokens; with 6 it stops at
  // b[6], when a[6] was written and sum has read 7 of 8.
  simulator.reset({2, 2, 6, 2});
  EXPECT_FALSE(simulator.run());
  const TokenDeadlock deadlock = simulator.findDeadlock();
  EXPECT_TRUE(deadlock.isArtificial());
  ASSERT_EQ(deadlock.cycle.size(), 3u);
  EXPECT_EQ(deadlock.describe(network),
            "'fork' waits to write full fifo 'b' (6/6), "
            "'join' waits to read empty fifo 's' (0/2), "
            "'sum' waits to read empty fifo 'a' (0/2)");
  EXPECT_EQ(simulator.getTokens(1), 7);
  EXPECT_EQ(simulator.getTokens(2), 6);

  simulator.setDepth(2, 7);
  EXPECT_TRUE(simulator.run());
  EXPECT_EQ(simulator.getPeak(2), 7);
  // 8 of x, a and b and 1 of s, each written and read.
  EXPECT_EQ(simulator.getNumEvents(), 2 * (8 + 8 + 8 + 1));
}

TEST(TokenSimulator, NamesTrueDeadlocks) {
  ProcessNetwork network;
  const unsigned f = network.addFifo("forward"), b = network.addFifo("back");
  network.addProcess("first", {loop(4, {read(b), write(f)})});
  network.addProcess("second", {loop(4, {read(f), write(b)})});
  ASSERT_FALSE(network.connect());
  TokenSimulator simulator(network);
  simulator.reset({4, 4});
  EXPECT_FALSE(simulator.run());
  EXPECT_FALSE(simulator.findDeadlock().isArtificial());
  EXPECT_EQ(simulator.findDeadlock().describe(network),
            "'first' waits to read empty fifo 'back' (0/4), "
            "'second' waits to read empty fifo 'forward' (0/4)");
}

TEST(TokenSimulator, NamesAProcessThatEndedTooEarly) {
  // Not a connected network: one token is missing.
  ProcessNetwork network;
  const unsigned f = network.addFifo("f");
  network.fifos[f].reader = 1;
  network.addProcess("short", {write(f, 3)});
  network.addProcess("long", {read(f, 4)});
  TokenSimulator simulator(network);
  EXPECT_FALSE(simulator.run());
  const TokenDeadlock deadlock = simulator.findDeadlock();
  EXPECT_FALSE(deadlock.isArtificial());
  EXPECT_EQ(deadlock.describe(network),
            "'long' waits to read empty fifo 'f' (0/1), but 'short' has ended");
}

TEST(TokenSimulator, EndsWithoutAccesses) {
  ProcessNetwork network;
  network.addFifo("unused");
  network.addProcess("idle", {});
  network.addProcess("empty loop", {loop(0, {write(0)})});
  ASSERT_FALSE(network.connect());
  TokenSimulator simulator(network);
  EXPECT_TRUE(simulator.run());
  EXPECT_TRUE(TokenSimulator(ProcessNetwork()).run());
}

TEST(TokenSimulator, AProcessMayFeedItself) {
  ProcessNetwork network;
  const unsigned f = network.addFifo("state");
  network.addProcess("self",
                     {write(f, 2), loop(3, {read(f), write(f)}), read(f, 2)});
  ASSERT_FALSE(network.connect());
  TokenSimulator simulator(network);
  simulator.reset({2});
  EXPECT_TRUE(simulator.run());
  simulator.reset({1});
  EXPECT_FALSE(simulator.run());
  EXPECT_EQ(simulator.findDeadlock().describe(network),
            "'self' waits to write full fifo 'state' (1/1)");
}

/// Random networks against the same executed access by access.
void compareWithSingleSteps(bool isLong, int rounds) {
  RandomNetworks random(7);
  int ended = 0, stopped = 0;
  for (int round = 0; round < rounds; ++round) {
    ProcessNetwork network = isLong ? random.makeLong(/*feedback=*/round % 2)
                                    : random.make(/*feedback=*/round % 2);
    ASSERT_FALSE(network.connect());
    const NaiveTokenSimulator oracle(network);
    TokenSimulator simulator(network);
    std::vector<int64_t> depths;
    for (const AccessFifo &fifo : network.fifos)
      depths.push_back(std::max(fifo.initialTokens, isLong && random.in(0, 1)
                                                        ? random.in(1, 40)
                                                        : random.in(1, 4)));
    simulator.reset(depths);
    // Twice: the second time one FIFO is deeper, and the run continues.
    for (int turn = 0; turn < 2; ++turn) {
      const NaiveState expected = oracle.run(depths);
      ASSERT_EQ(simulator.run(), expected.ended) << "round " << round;
      for (size_t i = 0; i < network.fifos.size(); ++i)
        ASSERT_EQ(simulator.getTokens(i), expected.written[i])
            << "round " << round;
      if (expected.ended) {
        ++ended;
        break;
      }
      ++stopped;
      // The cycle is one: each waits, by its trace, for the next.
      const std::vector<BlockedProcess> cycle = simulator.findDeadlock().cycle;
      ASSERT_FALSE(cycle.empty());
      for (size_t i = 0; i < cycle.size(); ++i) {
        const BlockedProcess &blocked = cycle[i];
        const size_t begin = expected.positions[blocked.process];
        const size_t end = oracle.endOfGroup(blocked.process, begin);
        const AccessFifo &fifo = network.fifos[blocked.fifo];
        bool isFound = false;
        for (size_t at = begin; at < end; ++at) {
          const SingleAccess access = oracle.getTrace(blocked.process)[at];
          isFound |= access.fifo == blocked.fifo &&
                     access.isWrite == blocked.isWrite &&
                     NaiveTokenSimulator::isLacking(expected, depths, access);
        }
        ASSERT_TRUE(isFound) << "round " << round;
        ASSERT_EQ(blocked.fill, blocked.isWrite ? depths[blocked.fifo] : 0);
        ASSERT_EQ(cycle[(i + 1) % cycle.size()].process,
                  blocked.isWrite ? fifo.reader : fifo.writer);
      }
      const unsigned fifo = random.in(0, network.fifos.size() - 1);
      depths[fifo] += random.in(0, 3);
      simulator.setDepth(fifo, depths[fifo]);
    }
  }
  // Both outcomes are frequent.
  EXPECT_GT(ended, rounds / 4);
  EXPECT_GT(stopped, rounds / 4);
}

TEST(TokenSimulator, AgreesWithSingleSteps) {
  compareWithSingleSteps(/*isLong=*/false, 20000);
}

TEST(TokenSimulator, AgreesWithSingleStepsInLongLoops) {
  compareWithSingleSteps(/*isLong=*/true, 6000);
}

} // namespace
