//===- TimedSimulatorTest.cpp - Cycles of timed networks ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The timed simulator against one that moves one clock cycle by cycle, and
// small networks whose cycles can be counted by hand.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimedSimulator.h"
#include "streamtensor/Network/NetworkJson.h"
#include "unittests/Sim/RandomSteadyNetworks.h"
#include "unittests/Sim/RandomTimedNetworks.h"

#include <gtest/gtest.h>

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

TimedResult simulate(const TimedNetwork &network, TimedOptions options = {}) {
  EXPECT_EQ(network.check(options.values).value_or(""), "");
  std::string error;
  std::optional<TimedResult> result = simulateTimed(network, options, error);
  EXPECT_TRUE(result) << error;
  return result.value_or(TimedResult());
}

/// Each waits, by its trace, for the next.
void expectDeadlock(const TimedNetwork &network, const TimedResult &result,
                    const NaiveTimedResult &expected) {
  ASSERT_FALSE(result.deadlock.empty());
  for (size_t i = 0; i < result.deadlock.size(); ++i) {
    const TimedBlock &block = result.deadlock[i];
    const AccessKind kind =
        block.isMemory
            ? (block.isWrite ? AccessKind::MemoryWrite : AccessKind::MemoryRead)
            : (block.isWrite ? AccessKind::Write : AccessKind::Read);
    const std::vector<TimedAccess> &lacks =
        expected.processes[block.process].lacks;
    EXPECT_TRUE(
        std::any_of(lacks.begin(), lacks.end(), [&](const TimedAccess &access) {
          return access.kind == kind && access.target == block.fifo;
        }));
    unsigned peer;
    if (block.isMemory) {
      const std::pair<int, int64_t> &head =
          expected.heads[2 * block.fifo + block.isWrite];
      ASSERT_GE(head.first, 0);
      peer = head.first;
      EXPECT_NE(peer, block.process);
      EXPECT_EQ(block.fill, head.second);
      EXPECT_EQ(block.depth, network.memory.ports[block.fifo].outstanding);
    } else {
      const TimedFifo &fifo = network.fifos[block.fifo];
      EXPECT_EQ(block.fill, expected.fifos[block.fifo].fill);
      EXPECT_EQ(block.depth, fifo.depth);
      peer = block.isWrite ? fifo.reader : fifo.writer;
    }
    const bool isLast = i + 1 == result.deadlock.size();
    if (isLast && result.deadlockEnds) {
      EXPECT_TRUE(expected.processes[*result.deadlockEnds].done);
      // Unless the peer waits for its start, it is the one that has ended.
      if (expected.processes[peer].done)
        EXPECT_EQ(peer, *result.deadlockEnds);
    } else if (expected.processes[peer].running) {
      EXPECT_EQ(peer,
                result.deadlock[(i + 1) % result.deadlock.size()].process);
    }
  }
}

void expectEqual(const TimedNetwork &network, const TimedResult &result,
                 const NaiveTimedResult &expected) {
  EXPECT_EQ(result.cycles, expected.cycles);
  int64_t bytes = 0;
  for (const TimedPortResult &port : result.ports)
    bytes += port.bytes;
  EXPECT_EQ(bytes, expected.bytes);
  for (size_t i = 0; i < network.processes.size(); ++i) {
    const std::string &name = network.processes[i].name;
    EXPECT_EQ(result.processes[i].busy, expected.processes[i].busy) << name;
    EXPECT_EQ(result.processes[i].waitInput, expected.processes[i].waitInput)
        << name;
    EXPECT_EQ(result.processes[i].waitOutput, expected.processes[i].waitOutput)
        << name;
    EXPECT_EQ(result.processes[i].start, expected.processes[i].start) << name;
    EXPECT_EQ(result.processes[i].end, expected.processes[i].end) << name;
  }
  for (size_t i = 0; i < network.fifos.size(); ++i) {
    const std::string &name = network.fifos[i].name;
    EXPECT_EQ(result.fifos[i].tokens, expected.fifos[i].tokens) << name;
    EXPECT_EQ(result.fifos[i].peak, expected.fifos[i].peak) << name;
    EXPECT_EQ(result.fifos[i].fill, expected.fifos[i].fill) << name;
  }
  if (expected.ended)
    EXPECT_TRUE(result.deadlock.empty());
  else
    expectDeadlock(network, result, expected);
}

struct Tally {
  int ended = 0, stopped = 0;
  int64_t events = 0, steps = 0, jumps = 0;
};

/// Random networks in both simulators. TIMED_SEED and TIMED_COUNT choose
/// others.
template <typename Networks, typename... Arguments>
Tally compareWithOneClock(unsigned count, Arguments... arguments) {
  const char *seedText = std::getenv("TIMED_SEED");
  const char *countText = std::getenv("TIMED_COUNT");
  const unsigned first = seedText ? std::atoi(seedText) : 0;
  if (countText)
    count = std::atoi(countText);
  Tally tally;
  for (unsigned seed = first; seed < first + count; ++seed) {
    Networks random(seed);
    const TimedNetwork network = random.make(arguments...);
    TimedOptions options;
    options.invocations = random.in(1, 3);
    const TimedResult result = simulate(network, options);
    const NaiveTimedResult expected =
        NaiveTimedSimulator(network, {}).run(options.invocations);
    expectEqual(network, result, expected);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed << ", " << options.invocations
                    << " invocations";
      break;
    }
    ++(expected.ended ? tally.ended : tally.stopped);
    tally.events += result.events;
    tally.steps += result.steps;
    tally.jumps += result.jumps;
  }
  return tally;
}

TEST(TimedSimulator, AgreesWithOneClock) {
  const Tally tally =
      compareWithOneClock<RandomTimedNetworks>(1500, /*withMemory=*/false);
  // Both outcomes are frequent, and iterations are passed many at once.
  EXPECT_GT(tally.ended * 4, tally.stopped);
  EXPECT_GT(tally.stopped * 4, tally.ended);
  EXPECT_LT(tally.steps * 3, tally.events * 2);
}

TEST(TimedSimulator, AgreesWithOneClockOnMemory) {
  const Tally tally =
      compareWithOneClock<RandomTimedNetworks>(400, /*withMemory=*/true);
  EXPECT_GT(tally.ended * 4, tally.stopped);
  EXPECT_GT(tally.stopped * 8, tally.ended);
}

TEST(TimedSimulator, AgreesWithOneClockOnWhatRepeats) {
  const Tally tally = compareWithOneClock<RandomSteadyNetworks>(400);
  EXPECT_GT(tally.ended, 4 * tally.stopped);
  // Much is passed at once.
  EXPECT_GT(tally.jumps, 10 * (tally.ended + tally.stopped));
}

/// Processes in a row with FIFOs of `depth` between them; each moves `tokens`
/// tokens, one every `intervals[i]` cycles, within `latency` cycles.
TimedNetwork makeChain(const std::vector<int64_t> &intervals, int64_t tokens,
                       int64_t depth, int64_t latency = 3) {
  TimedNetwork network;
  for (unsigned i = 0; i < intervals.size(); ++i) {
    TimedSequence body;
    if (i > 0)
      body.push_back(timedRead(i - 1));
    if (i + 1 < intervals.size()) {
      body.push_back(timedWrite(i, latency - 1));
      TimedFifo fifo;
      fifo.name = "f" + std::to_string(i);
      fifo.depth = depth;
      fifo.writer = i;
      fifo.reader = i + 1;
      network.fifos.push_back(fifo);
    }
    TimedProcess &process = network.processes.emplace_back();
    process.name = "p" + std::to_string(i);
    process.hasProgram = true;
    process.program = {
        timedPipeline({tokens}, intervals[i], latency, std::move(body))};
  }
  return network;
}

/// The same with `i + p - 7` for the iteration number i of each loop.
TimedSequence onParameter(TimedSequence program) {
  std::vector<IndexExpr> levels;
  for (unsigned level = 0; level < 8; ++level)
    levels.push_back(IndexExpr::induction(level) + IndexExpr::parameter("p") +
                     IndexExpr::constant(-7));
  for (TimedNode &node : program) {
    node.condition = node.condition.substitute(levels);
    node.body = onParameter(std::move(node.body));
    node.otherwise = onParameter(std::move(node.otherwise));
  }
  return program;
}

TEST(TimedSimulator, ParametersDecideBranches) {
  const ParameterValues values = {{"p", 7}};
  TimedOptions options;
  options.invocations = 3;
  options.values = values;
  int branches = 0;
  for (unsigned seed = 0; seed < 80; ++seed) {
    const TimedNetwork plain = seed % 2
                                   ? RandomSteadyNetworks(seed).make()
                                   : RandomTimedNetworks(seed).make(seed % 4);
    TimedNetwork network = plain;
    network.parameters.push_back({"p", 0, 9});
    for (TimedProcess &process : network.processes) {
      process.program = onParameter(std::move(process.program));
      for (const TimedNode &node : process.program)
        for (const TimedNode &inner : node.body)
          branches += inner.condition.hasParameters();
    }
    SCOPED_TRACE(seed);
    const TimedResult result = simulate(network, options);
    expectEqual(network, result, NaiveTimedSimulator(plain, {}).run(3));
    EXPECT_EQ(writeOut(programOrder(network, values)),
              writeOut(programOrder(plain, {})));
    EXPECT_EQ(simulationWork(network, values), simulationWork(plain, {}));
    // What was written reads back the same.
    std::string error;
    const std::string text = printNetwork(network);
    const std::optional<TimedNetwork> again = parseNetwork(text, error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(printNetwork(*again), text);
  }
  EXPECT_GT(branches, 20);
}

TEST(TimedSimulator, ChainsWithoutBackPressure) {
  // p0 writes token i at 2 + i. p1 starts at 1 and wants token i at 1 + i, so
  // it waits 2 cycles once: reads at 3 + i, writes at 5 + i. p2 starts at 2,
  // reads at 6 + i, waits 4 cycles, and ends at 2 + 4 + 9 + 3.
  const TimedResult result = simulate(makeChain({1, 1, 1}, 10, 16));
  EXPECT_EQ(result.processes[0].end, 12);
  EXPECT_EQ(result.processes[1].waitInput, 2);
  EXPECT_EQ(result.processes[2].waitInput, 4);
  EXPECT_EQ(result.processes[2].end, 18);
  EXPECT_EQ(result.cycles, 17);
  // Written at c, read at c + 1, the slot is in use until c + 2.
  EXPECT_EQ(result.fifos[0].peak, 2);
}

TEST(TimedSimulator, DepthOneMovesATokenEveryOtherCycle) {
  // Written at c, read at c + 1, written again at c + 2: each of 10 tokens but
  // the first costs the writer one cycle more than its interval of 1.
  const TimedResult result = simulate(makeChain({1, 1}, 10, 1));
  EXPECT_EQ(result.processes[0].waitOutput, 9);
  EXPECT_EQ(result.fifos[0].peak, 1);
  // With a crossing of r both ways take r cycles more: 2 + 2r per token.
  TimedNetwork network = makeChain({1, 1}, 10, 1);
  network.fifos[0].crossing = 3;
  EXPECT_EQ(simulate(network).processes[0].waitOutput, 9 * 7);
}

TEST(TimedSimulator, SlowestProcessSetsThePace) {
  // A million tokens and an interval of 5 in the middle: p1 reads the last at
  // 3 + 5 * (n - 1), p2 three cycles later, and ends after three more. Where
  // nothing blocks, steps do not grow with tokens.
  const int64_t tokens = 1000000;
  TimedOptions options;
  options.unbounded = true;
  const TimedResult result = simulate(makeChain({1, 5, 1}, tokens, 2), options);
  EXPECT_EQ(result.cycles, 5 * tokens + 3);
  EXPECT_EQ(result.events, 4 * tokens);
  EXPECT_LT(result.steps, 100);
  const TimedResult bounded = simulate(makeChain({1, 5, 1}, tokens / 10, 8));
  EXPECT_EQ(bounded.cycles, 5 * tokens / 10 + 3);
}

TEST(TimedSimulator, OptionsReplaceDepths) {
  const TimedNetwork network = makeChain({1, 4}, 20, 2);
  TimedOptions options;
  options.depths = {20};
  const TimedResult result = simulate(network, options);
  EXPECT_EQ(result.processes[0].waitOutput, 0);
  EXPECT_GT(simulate(network).processes[0].waitOutput, 0);
  options.depths.clear();
  options.unbounded = true;
  EXPECT_EQ(simulate(network, options).fifos[0].peak, result.fifos[0].peak);
}

/// A process that reads two slow streams in one iteration waits for both in
/// each iteration, so no straight line describes it; its output must not run
/// ahead.
TEST(TimedSimulator, TwoInputsHoldUpOneIteration) {
  for (int64_t interval : {2, 3})
    for (int64_t first : {5, 8})
      for (int64_t second : {5, 8})
        for (int64_t offset = 0; offset < 18; ++offset) {
          TimedNetwork network;
          // Ends in the middle, so that its times are those of p3.
          TimedNode output;
          output.kind = TimedNode::Kind::Branch;
          output.condition = IndexExpr::induction(0) < 20;
          output.body = {timedWrite(2, offset % 2)};
          auto add = [&](unsigned writer, unsigned reader) {
            TimedFifo &fifo = network.fifos.emplace_back();
            fifo.name = std::to_string(network.fifos.size() - 1);
            fifo.depth = 64;
            fifo.writer = writer;
            fifo.reader = reader;
          };
          add(0, 2);
          add(1, 2);
          add(2, 3);
          for (TimedSequence program :
               {TimedSequence{timedPipeline({40}, first, 1, {timedWrite(0)})},
                TimedSequence{waitFor(offset / 2),
                              timedPipeline({40}, second, 1, {timedWrite(1)})},
                TimedSequence{
                    timedPipeline({40}, interval, interval,
                                  {timedRead(0), timedRead(1, 1), output})},
                TimedSequence{timedPipeline({20}, 1, 1, {timedRead(2)})}}) {
            TimedProcess &process = network.processes.emplace_back();
            process.name = "p" + std::to_string(network.processes.size() - 1);
            process.hasProgram = true;
            process.program = std::move(program);
          }
          expectEqual(network, simulate(network),
                      NaiveTimedSimulator(network, {}).run(1));
          ASSERT_FALSE(HasFailure())
              << interval << " " << first << " " << second << " " << offset;
        }
}

/// A ring of two processes; `feedback` says what is in the FIFO that closes it.
static TimedNetwork ring(const std::string &feedback, const std::string &more) {
  const std::string text = R"({"schema": 1, "launch_cycles": 10, )" + more + R"(
"parameters": [{"name": "layers", "min": 1, "max": 4},
               {"name": "n", "min": 1, "max": 3}],
"processes": [
{"name": "enter", "program": [{"wait": 1}, {"pipeline": ["n"], "ii": 1,
 "depth": 3, "body": [{"read": 0}, {"write": 1, "stage": 2}]}]},
{"name": "leave", "program": [{"wait": 2}, {"pipeline": ["n"], "ii": 2,
 "depth": 5, "body": [{"read": 1}, {"write": 0, "stage": 4}]}]}],
"fifos": [
{"name": "hidden", "depth": 6, "producer": "leave", "consumer": "enter", )" +
                           feedback + R"(},
{"name": "passed", "depth": 2, "producer": "enter", "consumer": "leave"}]})";
  std::string error;
  std::optional<TimedNetwork> network = parseNetwork(text, error);
  EXPECT_TRUE(network) << error;
  return network.value_or(TimedNetwork());
}

/// One launch of some layers is as many invocations with the initial tokens of
/// one; and the text of the network says so.
TEST(TimedSimulator, LaunchesRunAllLayers) {
  const TimedNetwork repeated =
      ring("\"carried\": true", "\"repeat\": \"layers\",");
  std::string error;
  std::optional<TimedNetwork> again =
      parseNetwork(printNetwork(repeated), error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(printNetwork(*again), printNetwork(repeated));
  int64_t before = 0;
  for (int64_t n = 1; n <= 3; ++n)
    for (int64_t layers = 1; layers <= 4; ++layers) {
      TimedOptions options;
      options.values = {{"layers", layers}, {"n", n}};
      const TimedResult one = simulate(*again, options);
      options.invocations = layers;
      const TimedResult other = simulate(
          ring("\"initial_tokens\": " + std::to_string(n), ""), options);
      EXPECT_EQ(one.cycles, other.cycles) << n << " " << layers;
      EXPECT_EQ(one.processes[1].busy, layers * (2 + 2 * (n - 1) + 5));
      // A layer waits for the one before.
      EXPECT_GT(one.cycles, layers == 1 ? 0 : before);
      before = one.cycles;
    }
}

TEST(TimedSimulator, WhatIsCarriedMustFit) {
  TimedNetwork network = ring("\"carried\": true", "\"repeat\": \"layers\",");
  network.fifos[0].depth = 2;
  EXPECT_EQ(network.check().value_or(""),
            "fifo 'hidden': expected a depth of 3, all tokens of an "
            "invocation, as they are carried to the next one, but got 2");
  EXPECT_FALSE(network.check({{"n", 2}}));
  network.fifos[0].depth = 3;
  network.fifos[0].initialTokens = 1;
  EXPECT_EQ(network.check().value_or(""),
            "fifo 'hidden': expected no number of initial tokens for what is "
            "carried from one invocation to the next");
  network.fifos[0].initialTokens = 0;
  network.repeat = "layer";
  EXPECT_EQ(network.check().value_or(""),
            "repeat: expected a parameter of the network but got 'layer'");
}

TEST(TimedSimulator, StartsFollowTheRules) {
  // A ping-pong array from p0 to p1, both 10 cycles long.
  TimedNetwork network;
  for (unsigned i = 0; i < 2; ++i) {
    TimedProcess &process = network.processes.emplace_back();
    process.name = "p" + std::to_string(i);
    process.latency = i == 0 ? 10 : 30;
  }
  network.pingPongs.push_back({"a", 0, 1});
  TimedOptions options;
  options.invocations = 4;
  // p0 runs 0-10, 11-21; its third run must wait for the first end of p1, which
  // runs 11-41, 42-72, 73-103, 104-134.
  TimedResult result = simulate(network, options);
  EXPECT_EQ(result.processes[1].end, 134);
  EXPECT_EQ(result.processes[0].end, 73 + 10);
  EXPECT_EQ(result.cycles, 133);
  // One after the other: 0-10, 11-41, each 42 cycles later, or 42 + 5.
  network.serialInvocations = true;
  EXPECT_EQ(simulate(network, options).processes[1].end, 3 * 42 + 41);
  network.launchCycles = 5;
  EXPECT_EQ(simulate(network, options).processes[1].end, 4 * 5 + 3 * 42 + 41);
  // In a row, only the first is launched.
  network.serialInvocations = false;
  EXPECT_EQ(simulate(network, options).processes[1].end, 5 + 134);
}

TEST(TimedSimulator, InjectedStallsComeBeforeTheAccess) {
  // p0 writes at 2; p1, which starts at 1, stands still for 4 cycles when its
  // own time is 0 and then finds the token. In each invocation.
  TimedNetwork network = makeChain({1, 1}, 1, 2);
  network.stalls = {{1, 0, 4}};
  TimedResult result = simulate(network);
  EXPECT_EQ(result.processes[1].waitInput, 0);
  EXPECT_EQ(result.processes[1].end, 1 + 4 + 3);
  TimedOptions options;
  options.invocations = 2;
  result = simulate(network, options);
  EXPECT_EQ(result.processes[1].end, 1 + 4 + 3 + 1 + 4 + 3);
  // Beyond the latency they never come.
  network.stalls = {{1, 4, 100}};
  EXPECT_EQ(simulate(network).processes[1].end, 1 + 2 + 3);
}

TEST(TimedSimulator, NamesDeadlocks) {
  // p0 writes all of f0 before f1, p1 reads them by turns: 3 tokens do not fit.
  TimedNetwork network = makeChain({1, 1}, 4, 3);
  network.fifos.push_back(network.fifos[0]);
  network.fifos[1].name = "late";
  network.processes[0].program = {timedPipeline({4}, 1, 1, {timedWrite(0)}),
                                  timedPipeline({4}, 1, 1, {timedWrite(1)})};
  network.processes[1].program = {
      timedPipeline({4}, 1, 2, {timedRead(1), timedRead(0, 1)})};
  TimedResult result = simulate(network);
  EXPECT_EQ(describeDeadlock(network, result),
            "'p0' waits to write full fifo 'f0' (3/3), "
            "'p1' waits to read empty fifo 'late' (0/3)");
  // The fourth slot holds the last of f0.
  network.fifos[0].depth = 4;
  EXPECT_TRUE(simulate(network).deadlock.empty());
}

TEST(TimedSimulator, RefusesTwoAccessesInACycle) {
  auto refusal = [](TimedProcess process) {
    TimedNetwork network = makeChain({1, 1}, 1, 64);
    process.name = "twice";
    network.processes[0] = std::move(process);
    std::string error;
    EXPECT_FALSE(simulateTimed(network, {}, error));
    return error;
  };
  const std::string expected =
      "process 'twice': expected one access in a cycle to one end of fifo 'f0' "
      "but got two at its cycle ";
  TimedProcess process;
  process.hasProgram = true;
  process.program = {waitFor(2), timedLoop(2, {timedWrite(0)})};
  EXPECT_EQ(refusal(process), expected + "2");
  // The last access of one part and the first of the next.
  process.program = {timedLoop(1, {waitFor(1), timedWrite(0)}),
                     timedPipeline({1}, 1, 1, {timedWrite(0)})};
  EXPECT_EQ(refusal(process), expected + "1");
  // In one pipeline, of two iterations.
  process.program = {
      timedPipeline({8}, 2, 5, {timedWrite(0), timedWrite(0, 4)})};
  EXPECT_EQ(refusal(process), expected + "4");
  process = TimedProcess();
  process.latency = 100;
  process.accesses = {
      {AccessKind::Write, 0, 1, 0, {{0, {{10, 8}}}, {35, {{5, 2}}}}}};
  EXPECT_EQ(refusal(process), expected + "40");
}

TEST(TimedSimulator, GivesUpAfterTooManyEvents) {
  TimedOptions options;
  options.mostEvents = 1000;
  std::string error;
  EXPECT_TRUE(simulateTimed(makeChain({1, 1}, 100, 2), options, error));
  EXPECT_FALSE(simulateTimed(makeChain({1, 1}, 3000, 2), options, error));
  EXPECT_EQ(
      error.rfind("expected at most 1000 events but got more by cycle ", 0), 0u)
      << error;
  // Nothing is touched in these iterations, but each is decided.
  TimedNetwork network = makeChain({1, 1}, 1, 2);
  TimedNode node;
  node.kind = TimedNode::Kind::Branch;
  node.condition = IndexExpr::induction(0) == 5;
  node.body = {waitFor(1)};
  network.processes[0].program.push_back(timedLoop(1 << 20, {node}, 1));
  EXPECT_EQ(network.check(), std::nullopt);
  EXPECT_FALSE(simulateTimed(network, options, error));
}

/// With a step less than it takes it gives up, which is no error.
TEST(TimedSimulator, StopsAfterItsSteps) {
  const TimedNetwork network = makeChain({1, 3}, 100, 2);
  TimedOptions options;
  std::string error;
  const auto whole = simulateTimed(network, options, error);
  ASSERT_TRUE(whole) << error;
  EXPECT_FALSE(whole->isTruncated);
  options.mostSteps = whole->steps;
  const auto same = simulateTimed(network, options, error);
  ASSERT_TRUE(same) << error;
  EXPECT_FALSE(same->isTruncated);
  EXPECT_EQ(same->cycles, whole->cycles);
  options.mostSteps = whole->steps - 1;
  const auto truncated = simulateTimed(network, options, error);
  ASSERT_TRUE(truncated) << error;
  EXPECT_TRUE(truncated->isTruncated);
  EXPECT_TRUE(truncated->deadlock.empty());
}

/// Spans of waiting add up to what the result says.
TEST(TimedSimulator, ReportsWaits) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const TimedNetwork network = RandomTimedNetworks(seed).make();
    std::vector<int64_t> waited(network.processes.size()), last(waited);
    std::vector<int64_t> invocations(waited);
    TimedOptions options;
    options.invocations = 2;
    options.onStall = [&](const StallSpan &span) {
      EXPECT_LT(span.from, span.to);
      EXPECT_GE(span.from, last[span.process]);
      last[span.process] = span.to;
      EXPECT_LE(span.waited, span.to - span.from);
      waited[span.process] += span.waited;
    };
    options.onInvocation = [&](const BusySpan &span) {
      EXPECT_EQ(span.invocation, invocations[span.process]++);
      EXPECT_GE(span.to, last[span.process]);
    };
    const TimedResult result = simulate(network, options);
    for (size_t i = 0; i < waited.size(); ++i)
      EXPECT_EQ(waited[i],
                result.processes[i].waitInput + result.processes[i].waitOutput);
    if (result.deadlock.empty())
      EXPECT_EQ(invocations, std::vector<int64_t>(waited.size(), 2));
  }
}

} // namespace
