//===- NetworkSizingTest.cpp - Profiles of timed networks -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times of programs against unrolling them access by access, and the depths of
// the linear model in the timed simulator, on networks that keep their
// profiles.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/NetworkSizing.h"
#include "streamtensor/Allocation/FifoSizingSolver.h"
#include "streamtensor/Sim/TimedSimulator.h"

#include "gtest/gtest.h"

#include <functional>
#include <map>
#include <random>

using namespace streamtensor;

namespace {

using Kind = TimedNode::Kind;

/// Every access of a program, one by one: {fifo, is written} at which cycles.
struct Unrolled {
  std::map<std::pair<unsigned, bool>, std::vector<int64_t>> at;
  int64_t latency = 0;
};

/// Executes `sequence` from cycle `now` on; returns the cycle behind it.
int64_t unroll(const TimedSequence &sequence, int64_t now,
               std::vector<int64_t> &loops, Unrolled &result) {
  for (const TimedNode &node : sequence) {
    switch (node.kind) {
    case Kind::Wait:
      now += node.cycles;
      break;
    case Kind::Access:
      result.at[{node.target, node.access == AccessKind::Write}].push_back(
          now + node.stage);
      break;
    case Kind::Branch:
      now = unroll(node.condition.evaluate(loops.data()) ? node.body
                                                         : node.otherwise,
                   now, loops, result);
      break;
    case Kind::Loop:
    case Kind::Pipeline: {
      int64_t iterations = 0;
      std::function<void(size_t)> nest = [&](size_t depth) {
        if (depth < node.trips.size()) {
          const int64_t trip = node.trips[depth].evaluate({{"n", 3}});
          loops.push_back(0);
          for (int64_t &i = loops.back(); loops.back() < trip;) {
            nest(depth + 1);
            ++loops.back();
            (void)i;
          }
          loops.pop_back();
          return;
        }
        if (node.kind == Kind::Pipeline)
          unroll(node.body, now + node.ii * iterations++, loops, result);
        else
          now = unroll(node.body, now, loops, result) + node.cycles;
      };
      nest(0);
      if (iterations > 0)
        now += node.ii * (iterations - 1) + node.depth;
      break;
    }
    }
  }
  return now;
}

TimedSequence randomProgram(std::mt19937 &random, unsigned depth,
                            unsigned level, bool inPipeline) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  TimedSequence result;
  for (int64_t count = pick(1, 3); count-- > 0;) {
    const int64_t kind = pick(0, 9);
    auto trip = [&] {
      return pick(0, 4) ? TripCount(pick(0, 4)) : TripCount::parameter("n");
    };
    if (kind < 3 || depth == 0 || (inPipeline && kind > 6)) {
      const unsigned fifo = pick(0, 2);
      const int64_t stage = inPipeline ? pick(0, 5) : 0;
      result.push_back(pick(0, 1) ? timedRead(fifo, stage)
                                  : timedWrite(fifo, stage));
    } else if (kind < 6 && level > 0) {
      TimedNode node;
      node.kind = Kind::Branch;
      node.condition = IndexExpr::induction(pick(0, level - 1)) < pick(0, 3);
      node.body = randomProgram(random, depth - 1, level, inPipeline);
      if (pick(0, 1))
        node.otherwise = randomProgram(random, depth - 1, level, inPipeline);
      result.push_back(std::move(node));
    } else if (inPipeline) {
      continue;
    } else if (kind == 6) {
      result.push_back(waitFor(pick(0, 5)));
    } else if (kind == 7) {
      std::vector<TripCount> trips;
      for (int64_t i = pick(1, 3); i-- > 0;)
        trips.push_back(trip());
      const unsigned inner = level + trips.size();
      result.push_back(
          timedPipeline(std::move(trips), pick(1, 3), pick(6, 9),
                        randomProgram(random, depth - 1, inner, true)));
    } else {
      result.push_back(
          timedLoop(trip(), randomProgram(random, depth - 1, level + 1, false),
                    pick(0, 2)));
    }
  }
  return result;
}

TEST(NetworkSizing, TimesAgainstUnrolling) {
  std::mt19937 random(3);
  TimedNetwork network;
  network.fifos.resize(3);
  for (int round = 0; round < 2000; ++round) {
    TimedProcess process;
    process.hasProgram = true;
    process.program = randomProgram(random, 4, 0, false);
    Unrolled expected;
    std::vector<int64_t> loops;
    const int64_t latency = unroll(process.program, 0, loops, expected);
    const ProcessTimes times = timesOf(network, process, {{"n", 3}});
    EXPECT_EQ(times.latency, latency);
    for (unsigned fifo = 0; fifo < 3; ++fifo)
      for (bool isWrite : {false, true}) {
        const std::vector<int64_t> &at = expected.at[{fifo, isWrite}];
        const PortTimes &port =
            isWrite ? times.writes[fifo] : times.reads[fifo];
        ASSERT_EQ(port.tokens, int64_t(at.size())) << "round " << round;
        if (at.empty())
          continue;
        EXPECT_EQ(port.first, *std::min_element(at.begin(), at.end()));
        EXPECT_EQ(port.last, *std::max_element(at.begin(), at.end()));
      }
  }
}

TEST(NetworkSizing, TimesByCycles) {
  // Reads at 2 + 3 i + 20 j for i < 4, j < 2; and at 50.
  TimedNetwork network;
  network.fifos.resize(1);
  TimedProcess process;
  process.latency = 60;
  process.accesses = {
      {AccessKind::Read, 0, 1, 0, {{2, {{20, 2}, {3, 4}}}, {50, {}}}}};
  const ProcessTimes times = timesOf(network, process, {});
  EXPECT_EQ(times.latency, 60);
  EXPECT_EQ(times.reads[0].first, 2);
  EXPECT_EQ(times.reads[0].last, 50);
  EXPECT_EQ(times.reads[0].tokens, 9);
}

//===----------------------------------------------------------------------===//
// In the simulator
//===----------------------------------------------------------------------===//

/// Processes of one pipeline each, all of one interval and one trip count, that
/// read all inputs at stage 0 and write all outputs at their last stage, after
/// a wait. Nobody starves, so these keep their profiles exactly.
TimedNetwork makeLinear(std::mt19937 &random) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  TimedNetwork network;
  const unsigned numProcesses = pick(2, 8);
  const int64_t interval = pick(1, 3), tokens = pick(1, 60);
  for (int64_t i = pick(1, 2 * numProcesses); i-- > 0;) {
    TimedFifo fifo;
    fifo.name = "f" + std::to_string(network.fifos.size());
    fifo.writer = pick(0, numProcesses - 2);
    fifo.reader = pick(fifo.writer + 1, numProcesses - 1);
    fifo.depth = 1;
    fifo.widthBits = 8 * pick(1, 16);
    fifo.crossing = pick(0, 3) ? 0 : pick(1, 3);
    network.fifos.push_back(fifo);
  }
  for (unsigned i = 0; i < numProcesses; ++i) {
    const int64_t depth = pick(1, 40);
    TimedSequence body;
    for (unsigned f = 0; f < network.fifos.size(); ++f)
      if (network.fifos[f].reader == i)
        body.push_back(timedRead(f));
    for (unsigned f = 0; f < network.fifos.size(); ++f)
      if (network.fifos[f].writer == i)
        body.push_back(timedWrite(f, depth - 1));
    TimedProcess process;
    process.name = "p" + std::to_string(i);
    process.hasProgram = true;
    process.program = {waitFor(pick(0, 1) * pick(0, 30)),
                       timedPipeline({tokens}, interval, depth, body)};
    network.processes.push_back(std::move(process));
  }
  EXPECT_EQ(network.check().value_or(""), "");
  return network;
}

int64_t cyclesOf(const TimedNetwork &network, const TimedOptions &options) {
  std::string error;
  const std::optional<TimedResult> result =
      simulateTimed(network, options, error);
  EXPECT_TRUE(result) << error;
  if (!result || !result->deadlock.empty())
    return -1;
  return result->cycles;
}

TEST(NetworkSizing, LinearNetworksLoseNoCycle) {
  std::mt19937 random(4);
  int tight = 0, tried = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const TimedNetwork network = makeLinear(random);
    const FifoSizingProblem problem =
        sizingProblemOf(network, FifoStrategy::Normal);
    EXPECT_EQ(problem.check().value_or(""), "");
    const FifoSizingSolution solution = solveFifoSizing(problem);
    EXPECT_EQ(problem.verify(solution).value_or(""), "");
    TimedOptions options;
    options.unbounded = true;
    const int64_t best = cyclesOf(network, options);
    options.unbounded = false;
    options.depths = solution.depths;
    EXPECT_EQ(cyclesOf(network, options), best);
    // Most depths cannot be smaller, the others as they are.
    for (unsigned i = 0; i < network.fifos.size() && round < 60; ++i) {
      if (solution.depths[i] == 1)
        continue;
      --options.depths[i];
      ++tried;
      tight += cyclesOf(network, options) != best;
      ++options.depths[i];
    }
  }
  EXPECT_GT(tight * 2, tried);
}

TEST(NetworkSizing, EdgesOfANetwork) {
  TimedNetwork network = TimedNetwork();
  TimedFifo fifo;
  fifo.name = "x";
  fifo.reader = 1;
  fifo.lanes = 4;
  fifo.widthBits = 16;
  fifo.depth = 3;
  fifo.crossing = 2;
  network.fifos = {fifo};
  TimedProcess source, target;
  source.name = "a";
  source.hasProgram = target.hasProgram = true;
  source.program = {
      timedPipeline({TripCount::parameter("n")}, 2, 5, {timedWrite(0, 4)})};
  target.name = "b";
  target.program = {waitFor(7), timedPipeline({TripCount::parameter("n")}, 1, 1,
                                              {timedRead(0)})};
  network.processes = {source, target};
  network.pingPongs = {{"array", 0, 1}};
  network.parameters = {{"n", 1, 10}};
  const FifoSizingProblem problem =
      sizingProblemOf(network, FifoStrategy::Conservative);
  EXPECT_EQ(problem.strategy, FifoStrategy::Conservative);
  ASSERT_EQ(problem.tasks.size(), 2u);
  EXPECT_EQ(problem.tasks[0].latency, 2 * 9 + 5);
  EXPECT_EQ(problem.tasks[0].pipelineDepth, 4);
  EXPECT_EQ(problem.tasks[1].latency, 7 + 10);
  ASSERT_EQ(problem.edges.size(), 2u);
  const SizingEdge &edge = problem.edges[0];
  EXPECT_EQ(edge.tokens, 10);
  EXPECT_EQ(edge.tokenBits, 64);
  EXPECT_EQ(edge.minDepth, 3);
  EXPECT_EQ(edge.crossing, 2);
  EXPECT_EQ(edge.write.first, 4);
  EXPECT_EQ(edge.write.last, 4 + 18);
  EXPECT_EQ(edge.read.first, 7);
  EXPECT_EQ(edge.read.last, 16);
  EXPECT_TRUE(problem.edges[1].isPingPong);
  // Where a parameter is given, it counts.
  EXPECT_EQ(sizingProblemOf(network, FifoStrategy::Normal, {{"n", 4}})
                .edges[0]
                .tokens,
            4);
}

} // namespace
