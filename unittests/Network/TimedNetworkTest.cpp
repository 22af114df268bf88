//===- TimedNetworkTest.cpp - Checks of timed networks --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each message of the check.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/TimedNetwork.h"
#include "streamtensor/Network/DecisiveValues.h"

#include <functional>
#include <gtest/gtest.h>

using namespace streamtensor;

namespace {

/// a writes f `seq` times, b reads it; memory on the side.
TimedNetwork makeNetwork() {
  TimedNetwork network;
  network.parameters = {{"seq", 1, 8}};
  network.memory.channels = {{"c", 32, 60}};
  network.memory.ports = {{"m", 0, 64, 64, 16}};
  network.fifos.emplace_back();
  network.fifos[0].name = "f";
  network.fifos[0].reader = 1;
  for (const char *name : {"a", "b"}) {
    TimedProcess &process = network.processes.emplace_back();
    process.name = name;
    process.hasProgram = true;
  }
  const TripCount seq = TripCount::parameter("seq");
  network.processes[0].program = {timedPipeline({seq}, 2, 4, {timedWrite(0)})};
  network.processes[1].program = {timedLoop(seq, {timedRead(0)}, 1)};
  return network;
}

/// Blocks of four writes, of which those beyond `seq` are left out; the reader
/// leaves out those of its nine.
TimedNetwork makeCutNetwork() {
  TimedNetwork network = makeNetwork();
  const IndexExpr seq = IndexExpr::parameter("seq");
  TimedNode inside, others;
  inside.kind = others.kind = TimedNode::Kind::Branch;
  inside.condition = IndexExpr::binary(
      IndexExpr::Op::Less,
      IndexExpr::induction(0) * 4 + IndexExpr::induction(1), seq);
  inside.body = {timedWrite(0, 1)};
  others.condition =
      IndexExpr::binary(IndexExpr::Op::Less, IndexExpr::induction(0), seq);
  others.body = {timedRead(0)};
  network.processes[0].program = {timedPipeline(
      {TripCount::ceilDiv(TripCount::parameter("seq"), 4), 4}, 1, 3, {inside})};
  network.processes[1].program = {timedLoop(9, {others}, 1)};
  return network;
}

TEST(TimedNetwork, ParametersDecideBranches) {
  const TimedNetwork network = makeCutNetwork();
  for (int64_t seq = 1; seq <= 8; ++seq) {
    const ParameterValues values = {{"seq", seq}};
    EXPECT_EQ(network.check(values), std::nullopt);
    const std::string count = std::to_string(seq);
    EXPECT_EQ(writeOut(programOrder(network, values)),
              "a\tw f " + count + "\nb\tr f " + count + "\n");
    ProcessNetwork order = pipelinedOrder(network, values);
    EXPECT_EQ(order.connect().has_value(), false);
    EXPECT_EQ(order.fifos[0].tokens, seq);
  }
}

TEST(TimedNetwork, ValuesToLookAt) {
  TimedNetwork network = makeCutNetwork();
  network.parameters.push_back({"past", 0, 3});
  EXPECT_EQ(decidingParameters(network), std::set<std::string>({"seq"}));
  // A condition on a loop over `past`.
  network.processes[1].program[0].body.push_back(
      timedLoop(TripCount::parameter("past"), {}, 1));
  TimedNode odd;
  odd.kind = TimedNode::Kind::Branch;
  odd.condition = IndexExpr::induction(1) == 2;
  network.processes[1].program[0].body[1].body = {odd};
  const std::set<std::string> both = {"past", "seq"};
  EXPECT_EQ(decidingParameters(network), both);
  std::string error;
  auto points = decisiveValues(network, both, error);
  ASSERT_TRUE(points) << error;
  EXPECT_EQ(points->size(), 8u * 4u);
  EXPECT_EQ(points->front(), network.maxima());
  EXPECT_EQ(std::set<ParameterValues>(points->begin(), points->end()).size(),
            8u * 4u);
  points = decisiveValues(network, {"past"}, error);
  ASSERT_TRUE(points) << error;
  EXPECT_EQ(points->size(), 4u);
  EXPECT_EQ(points->back(), ParameterValues({{"past", 0}, {"seq", 8}}));
  network.parameters[1].max = 5000;
  EXPECT_FALSE(decisiveValues(network, both, error));
  EXPECT_EQ(error,
            "run-time sizes decide about more than how often loops run, so "
            "that each of their values has to be looked at; expected at most "
            "4096 combinations in a design of this many accesses but got those "
            "of 'seq' (1 to 8), 'past' (0 to 5000); lower the largest sizes");
}

TEST(TimedNetwork, PassesItsCheck) {
  const TimedNetwork network = makeNetwork();
  EXPECT_EQ(network.check(), std::nullopt);
  EXPECT_EQ(network.check({{"seq", 1}}), std::nullopt);
}

TEST(TimedNetwork, NamesWhatIsWrong) {
  constexpr int64_t many = int64_t(1) << 39;
  struct Case {
    std::string message;
    std::function<void(TimedNetwork &)> change;
  };
  auto byCycles = [](TimedNetwork &n, std::vector<AccessPattern> at) {
    n.processes[0].hasProgram = false;
    n.processes[0].latency = 20;
    n.processes[0].accesses = {{AccessKind::Write, 0, 1, 0, std::move(at)}};
  };
  auto branchOn = [](IndexExpr condition) {
    TimedNode node;
    node.kind = TimedNode::Kind::Branch;
    node.condition = std::move(condition);
    return node;
  };
  const Case cases[] = {
      {"fifo 'f': expected a producer and a consumer among the 2 processes",
       [](TimedNetwork &n) { n.fifos[0].reader = 2; }},
      {"fifo 'f': expected depth, lanes and width from 1 on but got 0, 1, 32",
       [](TimedNetwork &n) { n.fifos[0].depth = 0; }},
      {"fifo 'f': expected from 0 to 2 initial tokens, the depth, but got 3",
       [](TimedNetwork &n) { n.fifos[0].initialTokens = 3; }},
      {"fifo 'f': expected from 0 to 2 initial tokens, the depth, but got -1",
       [](TimedNetwork &n) { n.fifos[0].initialTokens = -1; }},
      {"fifo 'f': expected crossing from 0 to 64 but got 65",
       [](TimedNetwork &n) { n.fifos[0].crossing = 65; }},
      {"fifo 'f': expected a depth of at most 4398046511104",
       [](TimedNetwork &n) { n.fifos[0].depth = int64_t(1) << 50; }},
      {"fifo 'f': expected at most 2^52 bits in all fifos together",
       [](TimedNetwork &n) { n.fifos[0].lanes = int64_t(1) << 50; }},
      {"memory channel 'c': expected bytes_per_cycle above 0 and a latency "
       "from 0 to 1000000 cycles",
       [](TimedNetwork &n) { n.memory.channels[0].bytesPerCycle = 0; }},
      {"memory port 'm': expected one of the channels but got channel 1",
       [](TimedNetwork &n) { n.memory.ports[0].channel = 1; }},
      {"memory port 'm': expected beat_bytes from 1 to 4096, burst_beats and "
       "outstanding from 1 to 65536",
       [](TimedNetwork &n) { n.memory.ports[0].outstanding = 0; }},
      {"process 'a': expected the index of a fifo below 1 but got 1",
       [](TimedNetwork &n) { n.processes[0].program[0].body[0].target = 1; }},
      {"process 'a': expected the index of a memory port below 1 but got 1",
       [](TimedNetwork &n) {
         TimedNode &node = n.processes[0].program[0].body[0];
         node.access = AccessKind::MemoryRead;
         node.target = 1;
       }},
      {"process 'a': expected from 1 to 65536 beats, 1 of a fifo, and "
       "contiguous "
       "ones from 0 on",
       [](TimedNetwork &n) { n.processes[0].program[0].body[0].beats = 0; }},
      {"process 'b': expected only 'a' to write fifo 'f', whose producer it is",
       [](TimedNetwork &n) { n.processes[1].program = {timedWrite(0)}; }},
      {"process 'a': expected only 'b' to read fifo 'f', whose consumer it is",
       [](TimedNetwork &n) { n.processes[0].program = {timedRead(0)}; }},
      {"process 'a': expected trip counts of parameters of the network but got "
       "'past'",
       [](TimedNetwork &n) {
         n.processes[0].program[0].trips = {TripCount::parameter("past")};
       }},
      {"process 'b': expected conditions on parameters of the network but got "
       "'(i0 < past)'",
       [=](TimedNetwork &n) {
         n.processes[1].program[0].body = {branchOn(
             IndexExpr::binary(IndexExpr::Op::Less, IndexExpr::induction(0),
                               IndexExpr::parameter("past")))};
       }},
      {"expected a name of letters, digits and '_' for a parameter, none that "
       "means something else in conditions (i0, i1, ..., and, or, xor, not, "
       "mod, floordiv, ceildiv), but got 'i1'",
       [](TimedNetwork &n) { n.parameters.push_back({"i1", 0, 1}); }},
      {"process 'a': expected trip counts from 0 on but got -3 for '-3'",
       [](TimedNetwork &n) { n.processes[0].program[0].trips = {-3}; }},
      {"process 'a': expected a stage from 0 to below the depth of its "
       "pipeline, or 0 outside of one, but got 4",
       [](TimedNetwork &n) { n.processes[0].program[0].body[0].stage = 4; }},
      {"process 'b': expected a stage from 0 to below the depth of its "
       "pipeline, or 0 outside of one, but got 1",
       [](TimedNetwork &n) { n.processes[1].program[0].body[0].stage = 1; }},
      {"process 'a': expected a wait of 0 or more cycles outside of pipelines",
       [](TimedNetwork &n) { n.processes[0].program[0].body = {waitFor(1)}; }},
      {"process 'a': expected a wait of 0 or more cycles outside of pipelines",
       [](TimedNetwork &n) { n.processes[0].program = {waitFor(-1)}; }},
      {"process 'b': expected a condition on the 1 loops around it but got "
       "'i1'",
       [=](TimedNetwork &n) {
         n.processes[1].program[0].body = {branchOn(IndexExpr::induction(1))};
       }},
      {"process 'b': expected at most 16777216 decisions of conditions until "
       "here",
       [=](TimedNetwork &n) {
         n.processes[1].program[0].trips = {1 << 30};
         n.processes[1].program[0].body = {branchOn(IndexExpr::induction(0))};
       }},
      {"process 'a': expected pipelines with loops around accesses and "
       "branches "
       "only",
       [](TimedNetwork &n) {
         n.processes[0].program[0].body = {timedLoop(1, {timedWrite(0)})};
       }},
      {"process 'a': expected an initiation interval and a depth from 1 on but "
       "got 0 and 4",
       [](TimedNetwork &n) { n.processes[0].program[0].ii = 0; }},
      {"process 'b': expected an overhead from 0 on",
       [](TimedNetwork &n) { n.processes[1].program[0].cycles = -1; }},
      {"process 'b': expected at most 2^40 cycles",
       [=](TimedNetwork &n) {
         n.processes[1].program = {timedLoop(many, {waitFor(many)})};
       }},
      {"process 'b': expected at most 2^40 iterations of nested loops",
       [=](TimedNetwork &n) {
         n.processes[1].program = {timedLoop(many, {timedLoop(8, {})})};
       }},
      {"expected at most 2^40 cycles in all processes and stalls together",
       [=](TimedNetwork &n) {
         n.processes[0].program.push_back(waitFor(many));
         n.processes[1].program.push_back(waitFor(many));
       }},
      {"expected at most 2^40 cycles in all processes and stalls together",
       [=](TimedNetwork &n) { n.stalls = {{0, 0, many}, {1, 0, many}}; }},
      {"process 'a': expected a latency from 0 on but got -1",
       [=](TimedNetwork &n) {
         byCycles(n, {});
         n.processes[0].latency = -1;
       }},
      {"process 'a': expected counts from 0 on, and steps of at least one "
       "cycle, but got 2 accesses 0 cycles apart",
       [=](TimedNetwork &n) { byCycles(n, {{0, {{0, 2}}}}); }},
      {"process 'a': expected counts from 0 on, and steps of at least one "
       "cycle, but got -1 accesses 1 cycles apart",
       [=](TimedNetwork &n) { byCycles(n, {{0, {{1, -1}}}}); }},
      {"process 'a': expected at most 4096 groups of accesses that interleave",
       [=](TimedNetwork &n) {
         // 3 accesses 2000 apart, again and again every 3 cycles.
         byCycles(n, {{0, {{3, 5000}, {2, 5000}}}});
         n.processes[0].latency = 100000;
       }},
      {"process 'a': expected accesses from cycle 0 to its latency, 20, but "
       "got "
       "one at -5",
       [=](TimedNetwork &n) { byCycles(n, {{-5, {}}}); }},
      {"process 'a': expected accesses from cycle 0 to its latency, 20, but "
       "got "
       "one at 21",
       [=](TimedNetwork &n) { byCycles(n, {{0, {{3, 8}}}}); }},
      {"fifo 'f': expected as many tokens read as written but got 7 written by "
       "'a' and 8 read by 'b'",
       [=](TimedNetwork &n) { byCycles(n, {{0, {{1, 7}}}}); }},
      {"fifo 'f': expected at most 2^42 tokens",
       [](TimedNetwork &n) {
         const TripCount trip(int64_t(1) << 40);
         n.processes[0].program = {
             timedLoop(trip, TimedSequence(8, timedWrite(0)))};
         n.processes[1].program = {
             timedLoop(trip, TimedSequence(8, timedRead(0)))};
       }},
      {"process 'a': expected at most 2^42 accesses to a port",
       [=](TimedNetwork &n) {
         byCycles(n, {{0, {{1, many / 2}, {1, 64}}}});
         n.processes[0].latency = many;
       }},
      {"ping-pong array 'x': expected a producer and a consumer among the 2 "
       "processes",
       [](TimedNetwork &n) { n.pingPongs = {{"x", 0, 7}}; }},
      {"expected stalls of a process at a cycle from 0 on, of 0 cycles or more",
       [](TimedNetwork &n) { n.stalls = {{0, -1, 3}}; }},
      {"expected launch_cycles from 0 on but got -1",
       [](TimedNetwork &n) { n.launchCycles = -1; }},
      {"expected initial tokens in a fifo of each circle, but there are none "
       "on "
       "the circle of processes 'b', 'a'",
       [](TimedNetwork &n) { n.pingPongs = {{"x", 1, 0}}; }},
      {"parameter 'seq': expected 0 <= min <= max below 2^31",
       [](TimedNetwork &n) { n.parameters[0].min = 9; }},
  };
  for (const Case &item : cases) {
    TimedNetwork network = makeNetwork();
    item.change(network);
    EXPECT_EQ(network.check().value_or("nothing"), item.message);
  }
}

TEST(TimedNetwork, ChecksValuesOfParameters) {
  const TimedNetwork network = makeNetwork();
  EXPECT_EQ(network.check({{"seq", 9}}),
            "parameter 'seq': expected from 1 to 8 but got 9");
  EXPECT_EQ(network.check({{"seq", 0}}),
            "parameter 'seq': expected from 1 to 8 but got 0");
  EXPECT_EQ(network.check({{"past", 1}}),
            "expected a parameter of the network but got 'past'");
}

TEST(TimedNetwork, CirclesNeedTokens) {
  // a -> b -> a; the first FIFO may be the one with tokens, or the second.
  for (unsigned fifo = 0; fifo < 2; ++fifo) {
    TimedNetwork network = makeNetwork();
    network.fifos.push_back(network.fifos[0]);
    network.fifos[1].name = "back";
    network.fifos[1].writer = 1;
    network.fifos[1].reader = 0;
    network.processes[0].program[0].body.push_back(timedRead(1));
    network.processes[1].program[0].body.push_back(timedWrite(1));
    EXPECT_NE(network.check(), std::nullopt);
    network.fifos[fifo].initialTokens = 1;
    EXPECT_EQ(network.check(), std::nullopt);
  }
  // A FIFO from a process to itself.
  TimedNetwork network = makeNetwork();
  network.fifos[0].reader = 0;
  network.processes[0].program[0].body.push_back(timedRead(0));
  network.processes[1].program.clear();
  EXPECT_EQ(network.check(),
            "fifo 'f': expected initial tokens in a fifo from process 'a' to "
            "itself");
  network.fifos[0].initialTokens = 1;
  EXPECT_EQ(network.check(), std::nullopt);
  // A ping-pong array from a process to itself never starts.
  network.pingPongs = {{"x", 1, 1}};
  EXPECT_NE(network.check(), std::nullopt);
}

/// What is never executed may be as large as it likes, and what overflows is
/// refused.
TEST(TimedNetwork, CountsWithoutOverflow) {
  constexpr int64_t many = int64_t(1) << 39;
  TimedNetwork network = makeNetwork();
  network.processes[1].program.push_back(
      timedPipeline({many, many, 0}, many, many, {}));
  network.processes[1].program.push_back(
      timedLoop(0, {timedLoop(many, {timedLoop(many, {timedRead(0)})})}));
  EXPECT_EQ(network.check(), std::nullopt);
  for (const std::vector<TripCount> &trips :
       {std::vector<TripCount>{many, many, many, many, many},
        std::vector<TripCount>{many, 4}}) {
    network = makeNetwork();
    network.processes[1].program.push_back(timedPipeline(trips, 1, 1, {}));
    EXPECT_EQ(network.check(),
              "process 'b': expected at most 2^40 iterations of nested loops");
  }
  // Sums of two in one process.
  network = makeNetwork();
  for (int i = 0; i < 3; ++i)
    network.processes[1].program.push_back(waitFor(many - 1));
  EXPECT_EQ(network.check(), "process 'b': expected at most 2^40 cycles");
}

} // namespace
