//===- TimeBreakdownTest.cpp - What the time goes to ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks that are bounded by one thing each, and properties of the critical
// chain on random networks.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimedReport.h"
#include "unittests/Sim/RandomTimedNetworks.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

TimedProcess makeProcess(const std::string &name, const std::string &kind,
                         TimedSequence program) {
  TimedProcess process;
  process.name = name;
  process.kind = kind;
  process.source = "op of " + name;
  process.hasProgram = true;
  process.program = std::move(program);
  return process;
}

TimedFifo makeFifo(const std::string &name, unsigned writer, unsigned reader,
                   int64_t depth) {
  TimedFifo fifo;
  fifo.name = name;
  fifo.writer = writer;
  fifo.reader = reader;
  fifo.depth = depth;
  return fifo;
}

TimedNode touchMemory(AccessKind kind) {
  TimedNode node;
  node.kind = TimedNode::Kind::Access;
  node.access = kind;
  return node;
}

constexpr int64_t kTokens = 1000;

/// A load, a task, a store; one token each `ii` cycles in the task, memory
/// that gives 64 bytes, a token, in 64 / `bytesPerCycle` cycles.
TimedNetwork makeDesign(const std::string &kind, int64_t ii,
                        double bytesPerCycle) {
  TimedNetwork network;
  network.memory.channels = {{"HBM[0]", bytesPerCycle, 10}};
  network.memory.ports.resize(1);
  network.memory.ports[0].name = "gmem";
  // A pipeline's iterations are held up together, so it may not be deep where
  // it both reads and writes: its last results would wait for more tokens.
  network.processes = {
      makeProcess("load", "dma_in",
                  {timedPipeline(
                      {kTokens}, 1, 1,
                      {touchMemory(AccessKind::MemoryRead), timedWrite(0)})}),
      makeProcess("task", kind,
                  {timedPipeline({kTokens}, ii, ii,
                                 {timedRead(0), timedWrite(1, ii - 1)})}),
      makeProcess("store", "dma_out",
                  {timedPipeline(
                      {kTokens}, 1, 1,
                      {timedRead(1), touchMemory(AccessKind::MemoryWrite)})})};
  network.fifos = {makeFifo("in", 0, 1, 32), makeFifo("out", 1, 2, 2)};
  return network;
}

ExplainedRun explain(const TimedNetwork &network, TimedOptions options = {}) {
  EXPECT_EQ(network.check(options.values).value_or(""), "");
  std::string error;
  std::optional<ExplainedRun> run = explainTime(network, options, error);
  EXPECT_TRUE(run) << error;
  return std::move(*run);
}

/// "kind by", and checks that the shares are all of the time.
std::string bottleneckOf(const TimedNetwork &network, double least) {
  const ExplainedRun run = explain(network);
  EXPECT_TRUE(run.result.deadlock.empty());
  int64_t sum = 0;
  for (const TimeShare &share : run.breakdown.shares)
    sum += share.cycles;
  EXPECT_EQ(sum, run.breakdown.total);
  EXPECT_EQ(sum, run.result.cycles + 1);
  if (!run.breakdown.bottleneck)
    return "";
  const TimeShare &share = *run.breakdown.bottleneck;
  EXPECT_GE(run.breakdown.fraction(share.cycles), least);
  return std::string(timeKindName(share.kind)) + " " + share.by;
}

/// 4 cycles a token, where a token of memory takes 1: all but the load's first
/// and the store's last.
TEST(TimeBreakdown, Compute) {
  const TimedNetwork network = makeDesign("compute", 4, 64);
  EXPECT_EQ(bottleneckOf(network, 0.9), "compute task");
  EXPECT_EQ(explain(network).breakdown.bottleneck->source, "op of task");
  // The load waits for room in 'in', which does not matter.
  EXPECT_EQ(explain(network).breakdown.lostToFifos, 0);
}

TEST(TimeBreakdown, Converter) {
  EXPECT_EQ(bottleneckOf(makeDesign("converter", 4, 64), 0.9),
            "converter task");
}

/// 8 cycles for each token from memory, and 8 into it, on one channel.
TEST(TimeBreakdown, Memory) {
  TimedNetwork network = makeDesign("compute", 2, 8);
  EXPECT_EQ(bottleneckOf(network, 0.4).substr(0, 7), "memory ");
  const ExplainedRun run = explain(network);
  EXPECT_GE(run.breakdown.fraction(run.breakdown.of(TimeKind::Memory)), 0.9);
}

/// A launch of 90,000 cycles before 4,000 cycles of work.
TEST(TimeBreakdown, Launch) {
  TimedNetwork network = makeDesign("compute", 4, 64);
  network.launchCycles = 90000;
  EXPECT_EQ(bottleneckOf(network, 0.9), "launch host");
  // Each of three serial runs has one.
  network.serialInvocations = true;
  TimedOptions options;
  options.invocations = 3;
  const ExplainedRun run = explain(network, options);
  EXPECT_EQ(run.breakdown.of(TimeKind::Launch), 3 * 90000);
}

/// With a depth of 1 a token is written, read in the next cycle, and its slot
/// written again in the one after: two cycles a token, instead of one.
TEST(TimeBreakdown, Fifo) {
  TimedNetwork network;
  network.processes = {
      makeProcess("a", "compute",
                  {timedPipeline({kTokens}, 1, 1, {timedWrite(0)})}),
      makeProcess("b", "compute",
                  {timedPipeline({kTokens}, 1, 1, {timedRead(0)})})};
  network.fifos = {makeFifo("f", 0, 1, 1)};
  EXPECT_EQ(bottleneckOf(network, 0.45), "fifo f");
  // 2 * 1000 cycles and 1000, apart from the same ends.
  EXPECT_EQ(explain(network).breakdown.lostToFifos, kTokens - 1);
  const std::string text =
      describeBottleneck(network, explain(network).breakdown);
  EXPECT_EQ(text.substr(0, 6), "fifo, ");
  EXPECT_NE(text.find("most by 'f' ('a' to 'b'): "), std::string::npos) << text;
  network.fifos[0].depth = 2;
  EXPECT_EQ(explain(network).breakdown.lostToFifos, 0);
  EXPECT_EQ(bottleneckOf(network, 0.9).substr(0, 8), "compute ");
}

/// a writes 16 tokens in 16 cycles and rests for 16; b takes one in two cycles.
/// With room for the burst both work all the time.
TEST(TimeBreakdown, FifoOfABurst) {
  TimedNetwork network;
  network.processes = {
      makeProcess("a", "compute",
                  {timedLoop(50, {timedPipeline({16}, 1, 1, {timedWrite(0)}),
                                  waitFor(16)})}),
      makeProcess("b", "compute",
                  {timedPipeline({50 * 16}, 2, 1, {timedRead(0)})})};
  network.fifos = {makeFifo("shallow", 0, 1, 2)};
  EXPECT_EQ(bottleneckOf(network, 0.2), "fifo shallow");
  network.fifos[0].depth = 16;
  EXPECT_NE(bottleneckOf(network, 0.9), "fifo shallow");
  EXPECT_EQ(explain(network).breakdown.lostToFifos, 0);
}

/// An array is handed over whole: the times add up, with a cycle between.
TEST(TimeBreakdown, PingPong) {
  TimedNetwork network;
  network.processes = {makeProcess("fill", "compute", {waitFor(50)}),
                       makeProcess("drain", "compute", {waitFor(30)})};
  network.pingPongs = {{"array", 0, 1}};
  const ExplainedRun run = explain(network);
  ASSERT_EQ(run.breakdown.shares.size(), 2u);
  EXPECT_EQ(run.breakdown.shares[0].by, "fill");
  EXPECT_EQ(run.breakdown.shares[0].cycles, 50);
  EXPECT_EQ(run.breakdown.shares[1].cycles, 31);
}

/// The shares are all of the time; a chain that needs no room is as long
/// without limits of FIFOs, and what a chain loses is what these would save.
TEST(TimeBreakdown, RandomNetworks) {
  unsigned lossy = 0, lossless = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const TimedNetwork network = RandomTimedNetworks(seed).make();
    TimedOptions options;
    options.invocations = 1 + seed % 3;
    const ExplainedRun run = explain(network, options);
    const TimeBreakdown &breakdown = run.breakdown;
    if (!run.result.deadlock.empty()) {
      EXPECT_TRUE(breakdown.shares.empty());
      continue;
    }
    int64_t sum = 0;
    for (const TimeShare &share : breakdown.shares)
      sum += share.cycles;
    EXPECT_EQ(sum, run.result.cycles + 1) << seed;
    options.unbounded = true;
    std::string error;
    const std::optional<TimedResult> freed =
        simulateTimed(network, options, error);
    ASSERT_TRUE(freed);
    EXPECT_EQ(run.result.cycles - freed->cycles, breakdown.lostToFifos) << seed;
    ++(breakdown.lostToFifos > 0 ? lossy : lossless);
  }
  EXPECT_GE(lossy, 20u);
  EXPECT_GE(lossless, 20u);
}

/// One screen, whatever the names.
TEST(TimeBreakdown, TextFitsOneScreen) {
  TimedNetwork network = makeDesign("compute", 4, 64);
  network.clockNs = 3.33;
  const std::string longName(150, 'x');
  for (int i = 0; i < 40; ++i) {
    TimedProcess copy = network.processes[1];
    copy.name = longName + std::to_string(i);
    copy.source = longName;
    const unsigned index = network.processes.size();
    // Through one after the other, each with a start of its own.
    copy.program = {waitFor(50),
                    timedPipeline({kTokens}, 4, 4,
                                  {timedRead(1 + i), timedWrite(2 + i, 3)})};
    network.processes.push_back(std::move(copy));
    network.fifos.back().reader = index;
    network.fifos.push_back(makeFifo("f" + std::to_string(i), index, 2, 2));
  }
  network.processes[2].program = {
      timedPipeline({kTokens}, 1, 1,
                    {timedRead(network.fifos.size() - 1),
                     touchMemory(AccessKind::MemoryWrite)})};
  const ExplainedRun run = explain(network);
  const std::string text = timedReportText(
      network, {}, run, {{0.5, 100, {}}, {0.75, 90, {}}, {1, 80, {}}});
  size_t lines = 0, columns = 0;
  for (size_t at = 0; at < text.size(); ++lines) {
    const size_t end = text.find('\n', at);
    columns = std::max(columns, end - at);
    at = end + 1;
  }
  EXPECT_LE(lines, 20u);
  EXPECT_LE(columns, 100u);
  EXPECT_NE(text.find("bound by compute"), std::string::npos);
}

/// Parts of the time line add up to the counters.
TEST(TimeBreakdown, TimelineAddsUp) {
  const ExplainedRun run = explain(makeDesign("compute", 4, 64));
  const auto parts = splitTimeline(run.timeline, run.result.cycles + 1, 7);
  for (size_t i = 0; i < parts.size(); ++i) {
    TimelinePart sum;
    for (const TimelinePart &part : parts[i]) {
      sum.busy += part.busy;
      sum.waitInput += part.waitInput;
      sum.waitOutput += part.waitOutput;
    }
    EXPECT_NEAR(sum.busy, run.result.processes[i].busy, 1e-6);
    EXPECT_NEAR(sum.waitInput, run.result.processes[i].waitInput, 1e-6);
    EXPECT_NEAR(sum.waitOutput, run.result.processes[i].waitOutput, 1e-6);
  }
  // The load writes a token in 4 cycles, as the task takes them: not all its
  // waits lie behind all its work, where many of both were passed at once.
  const double length = double(run.result.cycles + 1) / 7;
  for (size_t part = 1; part < 6; ++part)
    EXPECT_NEAR(parts[0][part].busy / length, 0.25, 0.05) << part;
}

} // namespace
