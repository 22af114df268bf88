//===- MemoryModelTest.cpp - Ports and channels from first principles -----===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What bandwidth, latency and sharing must give, counted by hand. Random
// networks with memory are compared in TimedSimulatorTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimedReport.h"
#include "streamtensor/Sim/TimedSimulator.h"

#include <gtest/gtest.h>

using namespace streamtensor;

namespace {

TimedNode memoryAccess(AccessKind kind, unsigned port, int64_t beats = 1) {
  TimedNode node;
  node.kind = TimedNode::Kind::Access;
  node.access = kind;
  node.target = port;
  node.beats = beats;
  return node;
}

class MemoryModel : public testing::Test {
protected:
  void addChannel(double bytesPerCycle, int64_t latency) {
    network.memory.channels.push_back(
        {"c" + std::to_string(network.memory.channels.size()), bytesPerCycle,
         latency});
  }
  void addPort(unsigned channel, int64_t burstBeats, int64_t outstanding) {
    network.memory.ports.push_back(
        {"m" + std::to_string(network.memory.ports.size()), channel, 64,
         burstBeats, outstanding});
  }
  void addProcess(TimedSequence program) {
    TimedProcess &process = network.processes.emplace_back();
    process.name = "p" + std::to_string(network.processes.size() - 1);
    process.hasProgram = true;
    process.program = std::move(program);
  }
  /// Moves so many beats, one in a cycle if nothing waits.
  void addDma(AccessKind kind, unsigned port, int64_t beats) {
    addProcess({timedPipeline({beats}, 1, 1, {memoryAccess(kind, port)})});
  }
  TimedResult simulate() {
    EXPECT_EQ(network.check().value_or(""), "");
    std::string error;
    std::optional<TimedResult> result = simulateTimed(network, {}, error);
    EXPECT_TRUE(result) << error;
    return result.value_or(TimedResult());
  }

  TimedNetwork network;
};

TEST_F(MemoryModel, OnePortReachesTheSmallerBandwidth) {
  // Bytes per cycle of the channel, and cycles per beat of 64 bytes: a port
  // takes one in a cycle.
  for (const auto &[rate, cyclesPerBeat] :
       {std::pair<double, double>{16, 4}, {64, 1}, {1000, 1}, {12.8, 5}}) {
    network = TimedNetwork();
    addChannel(rate, 60);
    addPort(0, 64, 16);
    addDma(AccessKind::MemoryRead, 0, 6400);
    const TimedResult result = simulate();
    // The first beat: one cycle (or its time on the channel) and the latency.
    EXPECT_NEAR(double(result.processes[0].end), 60 + 6400 * cyclesPerBeat, 1);
    EXPECT_EQ(result.ports[0].bytes, 6400 * 64);
    EXPECT_EQ(result.ports[0].bursts, 100);
  }
}

TEST_F(MemoryModel, FewOutstandingBurstsAreBoundByLatency) {
  // A burst of 4 beats is requested one cycle after the last of the one before
  // was taken, and is there after the latency: 60 + 4 + 1 cycles each.
  addChannel(64, 60);
  addPort(0, 4, 1);
  addDma(AccessKind::MemoryRead, 0, 400);
  EXPECT_EQ(simulate().processes[0].end, 100 * 65);
  // Twice as many, half the time; with 17 * 4 beats on their way the latency is
  // hidden.
  network.memory.ports[0].outstanding = 2;
  EXPECT_NEAR(double(simulate().processes[0].end), 50 * 65, 65);
  network.memory.ports[0].outstanding = 17;
  EXPECT_NEAR(double(simulate().processes[0].end), 60 + 400, 2);
  // Writes: acknowledged 60 cycles after 4 on the channel.
  network.memory.ports[0].outstanding = 1;
  network.processes.clear();
  addDma(AccessKind::MemoryWrite, 0, 400);
  // Beats at 0..3, on the channel from 4 to 8, acknowledged at 68, next at 69.
  EXPECT_EQ(simulate().processes[0].end, 99 * 69 + 68);
}

TEST_F(MemoryModel, TwoPortsShareAChannelEqually) {
  addChannel(64, 60);
  addPort(0, 16, 8);
  addPort(0, 16, 8);
  addDma(AccessKind::MemoryRead, 0, 3200);
  addDma(AccessKind::MemoryRead, 1, 3200);
  const TimedResult result = simulate();
  EXPECT_NEAR(double(result.processes[0].end), 60 + 6400, 20);
  EXPECT_NEAR(double(result.processes[1].end), 60 + 6400, 20);
  // A third of the traffic behind it, then alone.
  network.processes.pop_back();
  addDma(AccessKind::MemoryRead, 1, 800);
  const TimedResult uneven = simulate();
  EXPECT_NEAR(double(uneven.processes[1].end), 60 + 1600, 20);
  EXPECT_NEAR(double(uneven.processes[0].end), 60 + 4000, 20);
}

TEST_F(MemoryModel, ReadsAndWritesShareAChannel) {
  addChannel(64, 60);
  addPort(0, 16, 8);
  addDma(AccessKind::MemoryRead, 0, 3200);
  addDma(AccessKind::MemoryWrite, 0, 3200);
  const TimedResult result = simulate();
  EXPECT_NEAR(
      double(std::max(result.processes[0].end, result.processes[1].end)),
      6400 + 60, 80);
}

TEST_F(MemoryModel, IdleNeighboursCostNothing) {
  addChannel(20, 60);
  addPort(0, 16, 8);
  addDma(AccessKind::MemoryRead, 0, 3200);
  const int64_t alone = simulate().processes[0].end;
  for (int i = 0; i < 3; ++i)
    addPort(0, 16, 8);
  EXPECT_EQ(simulate().processes[0].end, alone);
  // One that comes when the first is done.
  addProcess(
      {waitFor(alone + 100),
       timedPipeline({10}, 1, 1, {memoryAccess(AccessKind::MemoryRead, 1)})});
  // It asks for its first bursts at its start, so only these are in the way.
  EXPECT_LE(simulate().processes[0].end, alone + 10 * 64 / 20 + 1);
}

TEST_F(MemoryModel, ChannelsAreIndependent) {
  for (unsigned i = 0; i < 32; ++i) {
    addChannel(32, 60);
    addPort(i, 64, 16);
    addDma(AccessKind::MemoryRead, i, 1000 + i);
  }
  const TimedResult result = simulate();
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_NEAR(double(result.processes[i].end), 60 + 2 * (1000 + i), 1);
}

TEST_F(MemoryModel, SingleBeatsAndRunsThatDoNotDivide) {
  // 7 beats, runs of 3, bursts of 2: 2 1 2 1 1.
  addChannel(64, 10);
  addPort(0, 2, 4);
  TimedNode read = memoryAccess(AccessKind::MemoryRead, 0);
  read.contiguous = 3;
  addProcess({timedPipeline({7}, 1, 1, {read})});
  TimedResult result = simulate();
  EXPECT_EQ(result.ports[0].bursts, 5);
  EXPECT_EQ(result.ports[0].bytes, 7 * 64);
  // Bursts of one beat: as fast while enough of them are on their way.
  network.memory.ports[0] = {"m0", 0, 64, 1, 16};
  network.processes.clear();
  addDma(AccessKind::MemoryRead, 0, 500);
  result = simulate();
  EXPECT_EQ(result.ports[0].bursts, 500);
  EXPECT_NEAR(double(result.processes[0].end), 10 + 500, 2);
}

TEST_F(MemoryModel, WideAccessesTakeACycleForEachBeat) {
  addChannel(1000, 10);
  addPort(0, 16, 8);
  addProcess({timedPipeline({100}, 1, 1,
                            {memoryAccess(AccessKind::MemoryRead, 0, 4)})});
  // No more than one beat in a cycle through the port.
  EXPECT_NEAR(double(simulate().processes[0].end), 10 + 400, 2);
}

/// Two DMAs on one port. The first fills a FIFO whose reader wants the data of
/// the second before, which is behind data of the first.
TEST_F(MemoryModel, OneBlockedDmaBlocksItsPort) {
  addChannel(64, 10);
  addPort(0, 4, 2);
  for (unsigned i = 0; i < 2; ++i) {
    addProcess({timedPipeline(
        {100}, 1, 2,
        {memoryAccess(AccessKind::MemoryRead, 0), timedWrite(i, 1)})});
    TimedFifo &fifo = network.fifos.emplace_back();
    fifo.name = "f" + std::to_string(i);
    fifo.depth = 8;
    fifo.writer = i;
    fifo.reader = 2;
  }
  addProcess({timedPipeline({100}, 1, 1, {timedRead(1)}),
              timedPipeline({100}, 1, 1, {timedRead(0)})});
  const TimedResult result = simulate();
  EXPECT_EQ(describeDeadlock(network, result),
            "'p0' waits to write full fifo 'f0' (8/8), "
            "'p2' waits to read empty fifo 'f1' (0/8), "
            "'p1' waits to read behind others through memory port 'm0' (2/2)");
  const std::string json = timedReportJson(network, {}, result);
  EXPECT_NE(json.find("\"port\": \"m0\""), std::string::npos) << json;
  // With a port of its own nothing is in the way.
  addPort(0, 4, 2);
  network.processes[1].program[0].body[0].target = 1;
  EXPECT_TRUE(simulate().deadlock.empty());
  // Nor with a FIFO that takes all.
  network.processes[1].program[0].body[0].target = 0;
  network.fifos[0].depth = 100;
  EXPECT_TRUE(simulate().deadlock.empty());
}

} // namespace
