//===- SizeNetworkTest.cpp - Depths judged by simulation ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depths of small networks against all depths, and what they cost in time,
// judged by the simulator that counts every cycle.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/SizeNetwork.h"
#include "streamtensor/Allocation/DepthCertificate.h"
#include "streamtensor/Allocation/FifoSizingSolver.h"
#include "streamtensor/Allocation/NetworkSizing.h"
#include "streamtensor/Allocation/PaceTasks.h"

#include "unittests/Allocation/SizingEdges.h"
#include "unittests/Sim/RandomTimedNetworks.h"

#include "gtest/gtest.h"

#include <cstdio>

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

using Depths = std::vector<int64_t>;

/// Cycles of three invocations, counted one by one; nothing at a deadlock.
std::optional<int64_t> cyclesOf(TimedNetwork network, const Depths &depths) {
  for (size_t i = 0; i < depths.size(); ++i)
    network.fifos[i].depth = depths[i];
  const NaiveTimedResult result = NaiveTimedSimulator(network, {}).run(3);
  if (!result.ended)
    return std::nullopt;
  return result.cycles;
}

/// All tokens of so many invocations, and those that are there before.
Depths allTokens(const TimedNetwork &network, int64_t invocations = 1) {
  Depths depths;
  const ParameterValues values;
  for (unsigned i = 0; i < network.fifos.size(); ++i) {
    const TimedFifo &fifo = network.fifos[i];
    const ProcessTimes times =
        timesOf(network, network.processes[fifo.writer], values);
    depths.push_back(std::max<int64_t>(1, invocations * times.writes[i].tokens +
                                              fifo.initialTokens));
  }
  return depths;
}
Depths everything(const TimedNetwork &network) { return allTokens(network, 3); }

/// The fewest bits with which the network takes no more than `limit` cycles, by
/// trying all depths up to `most`. A FIFO that is too shallow beside the
/// deepest others is too shallow beside all; nothing else is skipped but what
/// already has too many bits.
class ExhaustiveMinimum {
public:
  ExhaustiveMinimum(const TimedNetwork &network, Depths least, Depths most,
                    int64_t limit)
      : network(network), least(std::move(least)), most(std::move(most)),
        limit(limit) {}
  int64_t run() {
    best = depthBits(network, most);
    visit(0, most);
    return best;
  }

private:
  void visit(size_t fifo, Depths depths) {
    if (fifo == depths.size()) {
      best = std::min(best, depthBits(network, depths));
      return;
    }
    for (int64_t depth = least[fifo]; depth <= most[fifo]; ++depth) {
      depths[fifo] = depth;
      Depths fewest = depths;
      std::copy(least.begin() + fifo + 1, least.end(),
                fewest.begin() + fifo + 1);
      if (depthBits(network, fewest) >= best)
        return;
      TimedOptions options;
      options.invocations = 3;
      options.depths = depths;
      std::string error;
      const std::optional<TimedResult> result =
          simulateTimed(network, options, error);
      if (result && result->deadlock.empty() && result->cycles <= limit)
        visit(fifo + 1, depths);
    }
  }

  const TimedNetwork &network;
  Depths least, most;
  int64_t limit, best = 0;
};

/// A random network whose depths let it end in program order, or nothing.
std::optional<TimedNetwork> randomNetwork(unsigned seed, int64_t tokens,
                                          unsigned mostFifos) {
  RandomTimedNetworks random(seed);
  TimedNetwork network = random.make(false, tokens, mostFifos);
  network.stalls.clear();
  for (TimedFifo &fifo : network.fifos) {
    fifo.widthBits = random.oneOf({8, 32, 512});
    fifo.depth = std::max<int64_t>(fifo.initialTokens, 1);
  }
  if (network.check() || !cyclesOf(network, everything(network)))
    return std::nullopt;
  return network;
}

double choicesOf(const TimedNetwork &network) {
  double choices = 1;
  const Depths most = allTokens(network);
  for (size_t i = 0; i < most.size(); ++i)
    choices *= double(most[i] - network.fifos[i].depth + 1);
  return choices;
}

TEST(SizeNetwork, MinIsTheExhaustiveMinimum) {
  double found = 0, possible = 0, worst = 1;
  int networks = 0;
  for (unsigned seed = 1; networks < 20 && seed < 2000; ++seed) {
    const std::optional<TimedNetwork> network = randomNetwork(seed, 16, 6);
    // Few enough choices to try them all in a test.
    if (!network || network->fifos.size() < 3 || choicesOf(*network) > 50'000)
      continue;
    std::string error;
    const std::optional<NetworkDepths> sized =
        sizeNetwork(*network, FifoStrategy::Min, error);
    // A feedback may need more initial tokens than it has.
    if (!sized)
      continue;
    Depths least;
    for (const TimedFifo &fifo : network->fifos)
      least.push_back(fifo.depth);
    const Depths most = allTokens(*network);
    const int64_t limit = *cyclesOf(*network, most);
    ASSERT_EQ(cyclesOf(*network, sized->depths).value_or(-1), limit)
        << "seed " << seed;
    const int64_t bits = depthBits(*network, sized->depths);
    const int64_t minimum =
        ExhaustiveMinimum(*network, least, most, limit).run();
    EXPECT_LE(double(bits), 1.1 * double(minimum)) << "seed " << seed;
    worst = std::max(worst, double(bits) / double(minimum));
    found += double(bits);
    possible += double(minimum);
    ++networks;
  }
  EXPECT_EQ(networks, 20);
  std::printf("min: %.0f bits, exhaustive minimum %.0f, worst ratio %.3f\n",
              found, possible, worst);
}

TEST(SizeNetwork, NormalCostsLittleTime) {
  int networks = 0;
  for (unsigned seed = 1; seed < 200; ++seed) {
    const std::optional<TimedNetwork> network = randomNetwork(seed, 60, 8);
    std::string error;
    if (!network)
      continue;
    const std::optional<NetworkDepths> sized =
        sizeNetwork(*network, FifoStrategy::Normal, error);
    if (!sized)
      continue;
    ++networks;
    const int64_t best = *cyclesOf(*network, allTokens(*network));
    const std::optional<int64_t> cycles = cyclesOf(*network, sized->depths);
    ASSERT_TRUE(cycles) << "seed " << seed;
    EXPECT_LE(double(*cycles), 1.01 * double(best)) << "seed " << seed;
    // A place for every token only where one less costs time.
    for (unsigned i = 0; i < network->fifos.size(); ++i) {
      const int64_t tokens = allTokens(*network)[i];
      if (sized->depths[i] <= 2 || sized->depths[i] < tokens)
        continue;
      Depths less = sized->depths;
      --less[i];
      const std::optional<int64_t> slower = cyclesOf(*network, less);
      EXPECT_TRUE(!slower || *slower > *cycles ||
                  less[i] < network->fifos[i].depth)
          << "seed " << seed << ", " << network->fifos[i].name;
    }
  }
  EXPECT_GT(networks, 60);
}

TEST(SizeNetwork, ConservativeEnds) {
  double normalBits = 0, conservativeBits = 0;
  for (unsigned seed = 1; seed < 120; ++seed) {
    const std::optional<TimedNetwork> network = randomNetwork(seed, 60, 8);
    std::string error;
    if (!network)
      continue;
    const std::optional<NetworkDepths> sized =
        sizeNetwork(*network, FifoStrategy::Conservative, error);
    const std::optional<NetworkDepths> normal =
        sizeNetwork(*network, FifoStrategy::Normal, error);
    ASSERT_EQ(sized.has_value(), normal.has_value()) << "seed " << seed;
    if (!sized)
      continue;
    EXPECT_TRUE(cyclesOf(*network, sized->depths)) << "seed " << seed;
    conservativeBits += double(depthBits(*network, sized->depths));
    normalBits += double(depthBits(*network, normal->depths));
  }
  std::printf("normal %.0f bits, conservative %.0f bits\n", normalBits,
              conservativeBits);
}

//===----------------------------------------------------------------------===//
// Pace
//===----------------------------------------------------------------------===//

TEST(PaceTasks, AFastWriterWaits) {
  // 100 tokens in 100 cycles to a reader of 10 cycles each: when the last one
  // is written, 9 places are free again. Nobody else waits for the writer, so
  // two places do.
  FifoSizingProblem problem;
  const unsigned load = problem.addTask("load", 100);
  const unsigned use = problem.addTask("use", 991);
  problem.addEdge(stream("f", load, use, 100, {0, 99}, {0, 990}));
  ASSERT_FALSE(problem.check());
  EXPECT_EQ(solveFifoSizing(problem).depths[0], 91);
  const FifoSizingProblem paced = paceTasks(problem);
  ASSERT_FALSE(paced.check());
  EXPECT_LE(solveFifoSizing(paced).depths[0], 2);
  EXPECT_EQ(paced.tasks[use].latency, 991);
}

TEST(PaceTasks, AWriterThatIsNeededElsewhereDoesNot) {
  // The second reader ends last, and only if it gets its tokens in time: 100
  // tokens by cycle 100, then 2,000 cycles of work. So the first FIFO holds
  // what the writer is ahead.
  FifoSizingProblem problem;
  const unsigned source = problem.addTask("source", 100);
  const unsigned slow = problem.addTask("slow", 991);
  const unsigned late = problem.addTask("late", 2100);
  problem.addEdge(stream("f", source, slow, 100, {0, 99}, {0, 990}));
  problem.addEdge(stream("g", source, late, 100, {0, 99}, {0, 99}));
  ASSERT_FALSE(problem.check());
  const FifoSizingProblem paced = paceTasks(problem);
  EXPECT_EQ(paced.tasks[source].latency, 100);
  EXPECT_EQ(solveFifoSizing(paced).depths[0], 91);
}

TEST(PaceTasks, ALimitOfTheLeadSlowsTheReader) {
  // One token in 10 cycles to a reader of one per cycle: far ahead, the reader
  // starts late and reads at its rate. With a lead of 4 it takes as long as the
  // writer.
  FifoSizingProblem problem;
  const unsigned load = problem.addTask("load", 1000);
  const unsigned use = problem.addTask("use", 120);
  const unsigned before = problem.addTask("before", 2000);
  problem.addEdge(stream("f", load, use, 100, {0, 990}, {0, 119}));
  problem.addEdge(stream("g", before, use, 2, {1998, 1999}, {0, 1}));
  ASSERT_FALSE(problem.check());
  EXPECT_EQ(paceTasks(problem).tasks[use].latency, 120);
  const FifoSizingProblem near = paceTasks(problem, {4, std::nullopt});
  EXPECT_FALSE(near.check());
  EXPECT_GT(near.tasks[use].latency, 900);
}

TEST(PaceTasks, RandomNetworks) {
  double ownRates = 0, pacedBits = 0;
  for (unsigned seed = 1; seed < 300; ++seed) {
    const std::optional<TimedNetwork> network = randomNetwork(seed, 60, 8);
    if (!network)
      continue;
    const FifoSizingProblem problem =
        sizingProblemOf(*network, FifoStrategy::Normal);
    if (problem.check())
      continue;
    const FifoSizingProblem paced = paceTasks(problem);
    ASSERT_EQ(paced.check().value_or(""), "") << "seed " << seed;
    for (size_t i = 0; i < paced.tasks.size(); ++i)
      EXPECT_GE(paced.tasks[i].latency, problem.tasks[i].latency);
    const FifoSizingSolution solution = solveFifoSizing(paced);
    EXPECT_EQ(paced.verify(solution).value_or(""), "");
    // Both solvers give the same.
    const FifoSizingProblem again =
        paceTasks(problem, {}, SizingMethod::Circulation);
    for (size_t i = 0; i < paced.tasks.size(); ++i)
      EXPECT_EQ(paced.tasks[i].latency, again.tasks[i].latency);
    ownRates += solveFifoSizing(problem).bits;
    pacedBits += solution.bits;
  }
  EXPECT_LT(pacedBits, ownRates);
  std::printf("own rates %.0f bits, paced %.0f bits\n", ownRates, pacedBits);
}

TimedNode branchOn(IndexExpr condition, TimedSequence body) {
  TimedNode node;
  node.kind = TimedNode::Kind::Branch;
  node.condition = std::move(condition);
  node.body = std::move(body);
  return node;
}

/// A writer and a reader of the FIFOs `first` and `second`.
TimedNetwork makePair(TimedSequence writes, TimedSequence reads) {
  TimedNetwork network;
  network.parameters = {{"n", 1, 9}, {"m", 0, 3}};
  for (const char *name : {"first", "second"}) {
    network.fifos.emplace_back().name = name;
    network.fifos.back().reader = 1;
  }
  for (const char *name : {"writer", "reader"}) {
    network.processes.emplace_back().name = name;
    network.processes.back().hasProgram = true;
  }
  network.processes[0].program = std::move(writes);
  network.processes[1].program = std::move(reads);
  return network;
}

/// At the one size 5, which lies between those that are tried elsewhere, four
/// tokens of `second` come before the first of `first`.
TEST(SizeNetwork, SizesThatDecideAboutBranches) {
  const IndexExpr isFive = IndexExpr::parameter("n") == 5;
  auto four = [](TimedNode access) {
    return TimedSequence{timedLoop(4, {access}, 1)};
  };
  const TimedNetwork network =
      makePair({branchOn(isFive, four(timedWrite(1))), timedWrite(0),
                waitFor(1), branchOn(isFive == 0, four(timedWrite(1)))},
               {timedRead(0), waitFor(1), timedLoop(4, {timedRead(1)}, 1)});
  std::string error;
  const std::optional<CertificateWitness> witness = findWitness(network, error);
  ASSERT_TRUE(witness) << error;
  EXPECT_EQ(witness->basePoints.size(), 9u);
  EXPECT_FALSE(certifyDepths(network, *witness, error));
  EXPECT_NE(error.find("; at m = 3, n = 5"), std::string::npos) << error;
  for (FifoStrategy strategy :
       {FifoStrategy::Min, FifoStrategy::Normal, FifoStrategy::Conservative}) {
    const std::optional<NetworkDepths> sizing =
        sizeNetwork(network, strategy, error);
    ASSERT_TRUE(sizing) << error;
    EXPECT_EQ(sizing->depths[1], 4);
    EXPECT_EQ(sizing->reasons[1].substr(0, 32),
              "program order with m = 3, n = 5:");
    TimedNetwork sized = network;
    for (size_t i = 0; i < sized.fifos.size(); ++i)
      sized.fifos[i].depth = sizing->depths[i];
    EXPECT_TRUE(certifyDepths(sized, *witness, error)) << error;
  }
}

TEST(SizeNetwork, BasePoints) {
  const TripCount n = TripCount::parameter("n"), m = TripCount::parameter("m");
  auto gapsOf = [](TimedSequence writes, TimedSequence reads) {
    std::string error;
    const TimedNetwork network = makePair(std::move(writes), std::move(reads));
    EXPECT_EQ(network.check().value_or(""), "");
    std::set<std::string> names;
    const std::optional<CertificateWitness> witness =
        findWitness(network, error);
    EXPECT_TRUE(witness) << error;
    for (const ParameterValues &values : witness->basePoints)
      for (const auto &[name, value] : values)
        if (value != network.maxima().at(name))
          names.insert(name);
    return names;
  };
  using Names = std::set<std::string>;
  // Both ends lose the same tokens.
  EXPECT_EQ(
      gapsOf({timedPipeline({n, 4}, 1, 3, {timedWrite(0, 2)})},
             {timedLoop(n, {timedPipeline({2, 2}, 1, 1, {timedRead(0)})}, 1)}),
      Names());
  EXPECT_EQ(gapsOf({timedPipeline({n + m}, 1, 3, {timedWrite(0, 2)})},
                   {timedPipeline({m}, 1, 1, {timedRead(0)}),
                    timedPipeline({n}, 1, 1, {timedRead(0)})}),
            Names());
  // Two rows of n, or n rows of two.
  EXPECT_EQ(gapsOf({timedPipeline({2, n}, 1, 1, {timedWrite(0)})},
                   {timedPipeline({n, 2}, 1, 1, {timedRead(0)})}),
            Names({"n"}));
  // A pipeline that overlaps rows of n.
  EXPECT_EQ(gapsOf({timedPipeline({2, n}, 1, 3, {timedWrite(0, 2)}),
                    timedPipeline({m}, 1, 1, {timedWrite(1)})},
                   {timedPipeline({2, n}, 1, 1, {timedRead(0)}),
                    timedPipeline({m}, 1, 1, {timedRead(1)})}),
            Names());
  EXPECT_EQ(
      gapsOf({timedPipeline({2, n}, 1, 3, {timedWrite(0, 2), timedWrite(1)})},
             {timedPipeline({2, n}, 1, 1, {timedRead(0)}),
              timedPipeline({2, n}, 1, 1, {timedRead(1)})}),
      Names({"n"}));
  // A condition on a loop, on a size.
  const IndexExpr isFirst = IndexExpr::induction(0) == 0;
  EXPECT_EQ(gapsOf({timedLoop(n, {branchOn(isFirst, {timedWrite(0)})}, 1)},
                   {timedLoop(1, {timedRead(0)}, 1)}),
            Names({"n"}));
  EXPECT_EQ(gapsOf({timedLoop(2, {branchOn(isFirst, {timedWrite(0)})}, 1)},
                   {timedLoop(1, {timedRead(0)}, 1)}),
            Names());
  EXPECT_EQ(gapsOf({timedLoop(n, {timedWrite(0)}, 1),
                    branchOn(IndexExpr::parameter("m") < 2, {waitFor(3)})},
                   {timedLoop(n, {timedRead(0)}, 1)}),
            Names({"m"}));
}

} // namespace
