//===- AccessProgramTest.cpp - Programs, counts, networks -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simplification and counting against programs written out access by access,
// and the errors of malformed networks.
//
//===----------------------------------------------------------------------===//

#include "../Sim/NaiveTokenSimulator.h"

#include "gtest/gtest.h"

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

const IndexExpr i0 = IndexExpr::induction(0), i1 = IndexExpr::induction(1);

TEST(IndexExpr, EvaluatesAffineAndDivisions) {
  const int64_t at[] = {5, 3};
  EXPECT_EQ((i0 * 4 + i1).evaluate(at), 23);
  auto divide = [&](IndexExpr::Op op, int64_t a, int64_t b) {
    return IndexExpr::binary(op, IndexExpr::constant(a), IndexExpr::constant(b))
        .evaluate(at);
  };
  EXPECT_EQ(divide(IndexExpr::Op::FloorDiv, -7, 2), -4);
  EXPECT_EQ(divide(IndexExpr::Op::CeilDiv, -7, 2), -3);
  EXPECT_EQ(divide(IndexExpr::Op::CeilDiv, 7, 2), 4);
  EXPECT_EQ(divide(IndexExpr::Op::Mod, -7, 4), 1);
  // 5 - 6 wraps around as an unsigned number.
  EXPECT_EQ(IndexExpr::binary(IndexExpr::Op::UnsignedLess,
                              i0 + IndexExpr::constant(-6),
                              IndexExpr::constant(10))
                .evaluate(at),
            0);
  EXPECT_EQ((i0 >= 5 && i1 < 4).evaluate(at), 1);
  EXPECT_EQ((i0 >= 5 && i1 == 4).evaluate(at), 0);
  EXPECT_EQ((i0 * 4 + i1).toString(), "((i0 * 4) + i1)");
  EXPECT_EQ((i0 + i1).getNumLevels(), 2u);
}

TEST(IndexExpr, KnowsWhatItCannotEvaluate) {
  EXPECT_TRUE((i0 < 3).isEvaluable());
  EXPECT_FALSE(IndexExpr().isEvaluable());
  EXPECT_FALSE(IndexExpr::binary(IndexExpr::Op::Mod, i0, i1).isEvaluable());
  EXPECT_FALSE(IndexExpr::binary(IndexExpr::Op::Mod, i0, IndexExpr::constant(0))
                   .isEvaluable());
  IndexExpr deep = i0;
  for (int i = 0; i < 40; ++i)
    deep = IndexExpr::binary(IndexExpr::Op::Add, i0, deep);
  EXPECT_FALSE(deep.isEvaluable());
}

TEST(AccessProgram, SimplifiesToRuns) {
  ProcessNetwork network;
  const unsigned x = network.addFifo("x"), w = network.addFifo("w"),
                 y = network.addFifo("y");
  // A matmul: per k one x and 96 w; then the result in a 2-D nest.
  const AccessSequence program = {
      loop(1, {loop(576, {read(x), loop(96, {read(w)})})}), loop(0, {read(x)}),
      loop(12, {loop(8, {write(y)})}), write(y), loop(4, {loop(5, {})})};
  EXPECT_EQ(toString(simplify(program), network),
            "loop 576 { read x; read w * 96 }; write y * 97");
}

TEST(AccessProgram, KeepsLevelsOfConditions) {
  ProcessNetwork network;
  const unsigned x = network.addFifo("x"), y = network.addFifo("y");
  // Rows 1 and 2 of 4 rows of 3 tokens.
  const AccessSequence slice = {loop(
      1,
      {loop(4, {loop(3, {read(x), branch(i1 >= 1 && i1 < 3, {write(y)})})})})};
  EXPECT_EQ(toString(simplify(slice), network),
            "loop 1 { loop 4 { loop 3 { read x; "
            "if ((1 <= i1) and (i1 < 3)) { write y } } } }");
  const std::vector<AccessCount> counts = countAccesses(slice, 2);
  EXPECT_EQ(counts[x].reads, 12);
  EXPECT_EQ(counts[y].writes, 6);
}

TEST(AccessProgram, SimplifyAndCountAgreeWithWritingOut) {
  RandomNetworks random(3);
  for (int round = 0; round < 5000; ++round) {
    const ProcessNetwork network = random.make(/*feedback=*/true);
    for (const AccessProcess &process : network.processes) {
      const auto expected = writeOut(process.program);
      const auto simplified = writeOut(simplify(process.program));
      ASSERT_EQ(simplified.size(), expected.size());
      std::vector<AccessCount> counts(network.fifos.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(simplified[i].fifo, expected[i].fifo);
        ASSERT_EQ(simplified[i].isWrite, expected[i].isWrite);
        AccessCount &count = counts[expected[i].fifo];
        ++(expected[i].isWrite ? count.writes : count.reads);
      }
      const auto counted = countAccesses(process.program, counts.size());
      for (size_t i = 0; i < counts.size(); ++i) {
        ASSERT_EQ(counted[i].reads, counts[i].reads);
        ASSERT_EQ(counted[i].writes, counts[i].writes);
      }
    }
  }
}

std::string connectError(ProcessNetwork network) {
  const auto issue = network.connect();
  return issue ? issue->message : "";
}

TEST(ProcessNetwork, ReportsDifferentTotals) {
  ProcessNetwork network;
  network.addFifo("f");
  network.addProcess("load", {loop(3, {write(0, 4)})});
  network.addProcess("add", {read(0, 10)});
  EXPECT_EQ(connectError(network),
            "expected as many tokens read as written on fifo 'f' but got 12 "
            "written by 'load' and 10 read by 'add'");
  network.processes.pop_back();
  EXPECT_EQ(connectError(network),
            "expected as many tokens read as written on fifo 'f' but got 12 "
            "written by 'load' and 0 read");
}

TEST(ProcessNetwork, ReportsTwoReaders) {
  ProcessNetwork network;
  network.addFifo("f");
  network.addProcess("load", {write(0, 4)});
  network.addProcess("a", {read(0, 2)});
  network.addProcess("b", {read(0, 2)});
  EXPECT_EQ(connectError(network), "expected one reader of fifo 'f' but got "
                                   "'a' and 'b'; insert an itensor.fork");
}

TEST(ProcessNetwork, ReportsMalformedPrograms) {
  auto error = [](AccessSequence program) {
    ProcessNetwork network;
    network.addFifo("f");
    network.addProcess("p", std::move(program));
    return connectError(network);
  };
  EXPECT_EQ(error({write(1)}),
            "process 'p': expected the index of a fifo below 1 but got 1");
  EXPECT_EQ(error({loop(-2, {write(0)})}),
            "process 'p': expected a count that is not negative but got -2");
  EXPECT_EQ(error({loop(2, {branch(i1 < 1, {write(0)})})}),
            "process 'p': expected a condition on the 1 loops around it but "
            "got '(i1 < 1)'");
  EXPECT_EQ(error({loop(2, {branch(IndexExpr(), {write(0)})})}),
            "process 'p': expected a condition that divides by positive "
            "constants only and holds at most 32 values at a time");
}

} // namespace
