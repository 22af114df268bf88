//===- FifoDepthTest.cpp - Depths by hand and by brute force --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depths that follow from the access orders by hand arithmetic, and on random
// networks solutions judged by running every access one by one.
//
//===----------------------------------------------------------------------===//

#include "../Sim/NaiveTokenSimulator.h"
#include "streamtensor/Allocation/FifoDepthSolver.h"

#include "gtest/gtest.h"

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

/// Solves and verifies; also demands that verify refuses one token less for
/// every FIFO that grew.
FifoDepthSolution solve(FifoDepthProblem &problem) {
  const std::optional<NetworkIssue> issue = problem.check();
  EXPECT_FALSE(issue) << issue->message;
  std::string error;
  const auto solution = solveFifoDepths(problem, error);
  if (!solution) {
    ADD_FAILURE() << error;
    return {};
  }
  EXPECT_EQ(problem.verify(*solution).value_or(""), "");
  for (size_t i = 0; i < solution->depths.size(); ++i) {
    if (solution->depths[i] == problem.getLeastDepth(i))
      continue;
    FifoDepthSolution shallower = *solution;
    --shallower.depths[i];
    EXPECT_NE(problem.verify(shallower).value_or(""), "");
  }
  return *solution;
}

using Depths = std::vector<int64_t>;

TEST(FifoDepth, ChainNeedsTheBaseDepth) {
  // Nothing waits for two things, so depth 1 would do, whatever the orders.
  FifoDepthProblem problem;
  const unsigned x = problem.addFifo("x"), y = problem.addFifo("y");
  problem.addProcess("load", {loop(100, {write(x)})});
  problem.addProcess("sort", {read(x, 100), write(y, 100)});
  problem.addProcess("store", {loop(100, {read(y)})});
  const FifoDepthSolution solution = solve(problem);
  EXPECT_EQ(solution.depths, (Depths{2, 2}));
  EXPECT_EQ(solution.reasons[0], "base depth");
}

/// Softmax over `rows` rows of `tokens` tokens: the maximum of a row is known
/// after its last token, and only then exp begins to read the copy.
FifoDepthProblem makeSoftmax(int64_t rows, int64_t tokens, bool copyFirst) {
  FifoDepthProblem problem;
  const unsigned x = problem.addFifo("x"), a = problem.addFifo("to_max"),
                 b = problem.addFifo("to_exp"), m = problem.addFifo("max_out"),
                 y = problem.addFifo("y");
  problem.addProcess("load", {write(x, rows * tokens)});
  problem.addProcess("fork",
                     {loop(rows * tokens, {read(x), write(copyFirst ? b : a),
                                           write(copyFirst ? a : b)})});
  problem.addProcess("max", {loop(rows, {read(a, tokens), write(m)})});
  problem.addProcess(
      "exp", {loop(rows, {read(m), loop(tokens, {read(b), write(y)})})});
  problem.addProcess("store", {read(y, rows * tokens)});
  return problem;
}

TEST(FifoDepth, DiamondHoldsARow) {
  // max needs to_max[7]. fork writes it after to_exp[0..6], which exp does not
  // read before: 7 tokens of a row of 8. Then max goes on, exp drains the row,
  // and the next row finds an empty FIFO: not more.
  FifoDepthProblem problem = makeSoftmax(4, 8, /*copyFirst=*/false);
  const FifoDepthSolution solution = solve(problem);
  EXPECT_EQ(solution.depths, (Depths{2, 2, 7, 2, 2}));
  EXPECT_EQ(
      solution.reasons[2],
      "holds 7 of 32 tokens while 'exp' waits to read 'max_out'; one less "
      "deadlocks: 'fork' waits to write full fifo 'to_exp' (6/6), 'exp' "
      "waits to read empty fifo 'max_out' (0/2), 'max' waits to read "
      "empty fifo 'to_max' (0/2)");
  // With the copy written first, to_exp[7] comes before to_max[7].
  FifoDepthProblem other = makeSoftmax(4, 8, /*copyFirst=*/true);
  EXPECT_EQ(solve(other).depths, (Depths{2, 2, 8, 2, 2}));
}

TEST(FifoDepth, RowsOfOneTokenNeedNoMore) {
  // A row of 1: 0 or 1 tokens of to_exp; the base depth is more.
  FifoDepthProblem problem = makeSoftmax(6, 1, /*copyFirst=*/true);
  EXPECT_EQ(solve(problem).depths, (Depths{2, 2, 2, 2, 2}));
}

/// A residual around a buffer that is filled before it is drained.
FifoDepthProblem makeResidual(int64_t tokens, bool skipFirst) {
  FifoDepthProblem problem;
  const unsigned x = problem.addFifo("x"), a = problem.addFifo("to_block"),
                 b = problem.addFifo("skip"), c = problem.addFifo("block_out"),
                 y = problem.addFifo("y");
  problem.addProcess("load", {write(x, tokens)});
  problem.addProcess("fork", {loop(tokens, {read(x), write(skipFirst ? b : a),
                                            write(skipFirst ? a : b)})});
  problem.addProcess("block", {read(a, tokens), write(c, tokens)});
  problem.addProcess("add", {loop(tokens, {read(b), read(c), write(y)})});
  problem.addProcess("store", {read(y, tokens)});
  return problem;
}

TEST(FifoDepth, ResidualAroundAFullBuffer) {
  // block needs to_block[99]. Before it fork has written skip[0..98]; add has
  // read one of them and waits for block_out: 98 are left.
  FifoDepthProblem problem = makeResidual(100, /*skipFirst=*/false);
  EXPECT_EQ(solve(problem).depths, (Depths{2, 2, 98, 2, 2}));
  // With the skip first, skip[99] as well: 99.
  FifoDepthProblem other = makeResidual(100, /*skipFirst=*/true);
  EXPECT_EQ(solve(other).depths, (Depths{2, 2, 99, 2, 2}));
}

TEST(FifoDepth, HoldsTheWholeOperandOnlyWhereOneLessDeadlocks) {
  // scale reads its factor first, which is known after the last of 100 tokens,
  // and fork writes the copy first: all 100 tokens wait.
  FifoDepthProblem problem = makeSoftmax(1, 100, /*copyFirst=*/true);
  const FifoDepthSolution solution = solve(problem);
  EXPECT_EQ(solution.depths, (Depths{2, 2, 100, 1, 2}));
  EXPECT_EQ(solution.reasons[2],
            "holds the whole operand of 100 tokens while 'exp' waits to read "
            "'max_out'; one less deadlocks: 'fork' waits to write full fifo "
            "'to_exp' (99/99), 'exp' waits to read empty fifo 'max_out' (0/1), "
            "'max' waits to read empty fifo 'to_max' (0/2)");
  EXPECT_EQ(solution.reasons[3], "all its tokens, fewer than the base depth");
}

TEST(FifoDepth, ForkToThreeConsumersOneLate) {
  // q and k are consumed at once; v waits until scores has seen all 20 tokens
  // of both. fork writes q, k, v: before k[19] it has written v[0..18].
  FifoDepthProblem problem;
  const unsigned x = problem.addFifo("x"), q = problem.addFifo("q"),
                 k = problem.addFifo("k"), v = problem.addFifo("v"),
                 s = problem.addFifo("s"), y = problem.addFifo("y");
  problem.addProcess("load", {write(x, 20)});
  problem.addProcess("fork",
                     {loop(20, {read(x), write(q), write(k), write(v)})});
  problem.addProcess("scores", {loop(20, {read(q), read(k)}), write(s, 20)});
  problem.addProcess("mix", {loop(20, {read(s), read(v), write(y)})});
  problem.addProcess("store", {read(y, 20)});
  EXPECT_EQ(solve(problem).depths, (Depths{2, 2, 2, 19, 2, 2}));
}

TEST(FifoDepth, IndependentConsumersNeedTheBaseDepth) {
  // Three consumers that meet nowhere: none can hold up the others for good,
  // however late it reads.
  FifoDepthProblem problem;
  std::vector<unsigned> out;
  const unsigned x = problem.addFifo("x");
  AccessSequence fork = {read(x)};
  for (const char *name : {"a", "b", "c"}) {
    out.push_back(problem.addFifo(name));
    fork.push_back(write(out.back()));
  }
  problem.addProcess("load", {write(x, 50)});
  problem.addProcess("fork", {loop(50, fork)});
  for (unsigned fifo : out)
    problem.addProcess("use" + std::to_string(fifo), {read(fifo, 50)});
  EXPECT_EQ(solve(problem).depths, (Depths{2, 2, 2, 2}));
}

TEST(FifoDepth, FewTokens) {
  // Never deeper than the tokens, and at least 1.
  FifoDepthProblem problem;
  const unsigned one = problem.addFifo("one"), none = problem.addFifo("none"),
                 three = problem.addFifo("three", /*baseDepth=*/32);
  problem.addProcess("p",
                     {write(one), loop(0, {write(none)}), write(three, 3)});
  problem.addProcess("q", {read(one), loop(0, {read(none)}), read(three, 3)});
  const FifoDepthSolution solution = solve(problem);
  EXPECT_EQ(solution.depths, (Depths{1, 1, 3}));
  EXPECT_EQ(solution.reasons[1], "no tokens pass");
}

/// No process, one alone, one that touches nothing beside others.
TEST(FifoDepth, TinyGraphs) {
  FifoDepthProblem problem;
  EXPECT_TRUE(solve(problem).depths.empty());
  problem.addProcess("alone", {});
  EXPECT_TRUE(solve(problem).depths.empty());
  const unsigned one = problem.addFifo("one");
  problem.addProcess("p", {write(one)});
  problem.addProcess("q", {read(one)});
  EXPECT_EQ(solve(problem).depths, Depths{1});
}

TEST(FifoDepth, ConcatAndSlice) {
  // rotate_half: x of 16 tokens is forked; lo takes tokens 0..7, hi 8..15, and
  // concat wants all of hi first. Until hi_out[7] there is to_hi[15], which
  // fork writes after to_lo[15]: the lower path takes 16 tokens before concat
  // reads any of it. Either to_lo + lo_out + 1 in the hands of lo >= 16, or
  // lo_out holds all 8 that lo selects, and lo swallows the others. Growing the
  // smaller one in turns ends at 8 + 7 + 1; lo_out alone at 8 + 2, which wins.
  const IndexExpr i0 = IndexExpr::induction(0);
  FifoDepthProblem problem;
  const unsigned x = problem.addFifo("x"), toLo = problem.addFifo("to_lo"),
                 toHi = problem.addFifo("to_hi"),
                 loOut = problem.addFifo("lo_out"),
                 hiOut = problem.addFifo("hi_out"), y = problem.addFifo("y");
  problem.addProcess("load", {write(x, 16)});
  problem.addProcess("fork", {loop(16, {read(x), write(toLo), write(toHi)})});
  problem.addProcess("lo",
                     {loop(16, {read(toLo), branch(i0 < 8, {write(loOut)})})});
  problem.addProcess("hi",
                     {loop(16, {read(toHi), branch(i0 >= 8, {write(hiOut)})})});
  problem.addProcess("concat", {loop(8, {read(hiOut), write(y)}),
                                loop(8, {read(loOut), write(y)})});
  problem.addProcess("store", {read(y, 16)});
  EXPECT_EQ(solve(problem).depths, (Depths{2, 2, 2, 8, 2, 2}));
}

TEST(FifoDepth, GrowsTheCheaperFifo) {
  // skip passes through a narrow and a wide FIFO; the narrow one is grown.
  FifoDepthProblem problem;
  const unsigned a = problem.addFifo("a"),
                 wide = problem.addFifo("wide", 2, 512),
                 narrow = problem.addFifo("narrow", 2, 32),
                 c = problem.addFifo("c");
  problem.addProcess("fork", {loop(12, {write(a), write(wide)})});
  problem.addProcess("cast", {loop(12, {read(wide), write(narrow)})});
  problem.addProcess("block", {read(a, 12), write(c, 12)});
  problem.addProcess("add", {loop(12, {read(c), read(narrow)})});
  // a[11] after wide[0..10]: 11 = 2 in wide, 1 in cast, 8 in narrow.
  EXPECT_EQ(solve(problem).depths, (Depths{2, 2, 8, 2}));
}

TEST(FifoDepth, ShortensLongCyclesInReasons) {
  // fork -> s0 -> s1 -> s2 -> block -> add, and skip from fork to add. block
  // needs 6 tokens, the last after skip[4] was written.
  FifoDepthProblem problem;
  const unsigned skip = problem.addFifo("skip");
  unsigned path = problem.addFifo("p0");
  problem.addProcess("fork", {loop(6, {write(path), write(skip)})});
  for (int i = 0; i < 3; ++i) {
    const unsigned next = problem.addFifo("p" + std::to_string(i + 1));
    problem.addProcess("s" + std::to_string(i),
                       {loop(6, {read(path), write(next)})});
    path = next;
  }
  const unsigned sum = problem.addFifo("sum");
  problem.addProcess("block", {read(path, 6), write(sum)});
  problem.addProcess("add", {read(sum), read(skip, 6)});
  const FifoDepthSolution solution = solve(problem);
  EXPECT_EQ(solution.depths, (Depths{5, 2, 2, 2, 2, 1}));
  EXPECT_EQ(
      solution.reasons[skip],
      "holds 5 of 6 tokens while 'add' waits to read 'sum'; one less "
      "deadlocks: 'fork' waits to write full fifo 'skip' (4/4), 'add' "
      "waits to read empty fifo 'sum' (0/1), 'block' waits to read empty "
      "fifo 'p3' (0/2), 2 more, 's0' waits to read empty fifo 'p0' (0/2)");
}

TEST(FifoDepth, ReportsATrueDeadlock) {
  FifoDepthProblem problem;
  const unsigned f = problem.addFifo("forward"), b = problem.addFifo("back");
  problem.addProcess("first", {loop(4, {read(b), write(f)})});
  problem.addProcess("second", {loop(4, {read(f), write(b)})});
  ASSERT_FALSE(problem.check());
  std::string error;
  EXPECT_FALSE(solveFifoDepths(problem, error));
  EXPECT_EQ(error, "'first' waits to read empty fifo 'back' (0/2), "
                   "'second' waits to read empty fifo 'forward' (0/2)");
}

TEST(FifoDepth, AFeedbackThatWritesFirstIsLegal) {
  // Two tokens run in the circle, so no FIFO holds more than 2.
  FifoDepthProblem problem;
  const unsigned f = problem.addFifo("forward", 1),
                 b = problem.addFifo("back", 1);
  problem.addProcess("first",
                     {write(f, 2), loop(4, {read(b), write(f)}), read(b, 2)});
  problem.addProcess("second", {loop(6, {read(f), write(b)})});
  // first writes 2 before it reads: 1 in forward and 1 taken by second, which
  // writes it to back. Depth 1 is enough for both.
  EXPECT_EQ(solve(problem).depths, (Depths{1, 1}));
}

TEST(FifoDepth, RefusesMalformedProblems) {
  FifoDepthProblem problem;
  const unsigned f = problem.addFifo("f", /*baseDepth=*/0);
  problem.addProcess("p", {write(f, 3)});
  problem.addProcess("q", {read(f, 2)});
  EXPECT_EQ(problem.check()->message,
            "expected a base depth and bits of at least 1 for fifo 'f' but got "
            "0 and 32");
  problem.baseDepths = {2};
  const NetworkIssue issue = *problem.check();
  EXPECT_EQ(issue.message, "expected as many tokens read as written on fifo "
                           "'f' but got 3 written by 'p' and 2 read by 'q'");
  EXPECT_EQ(issue.process, 0u);
  EXPECT_EQ(issue.other, 1u);
  problem.baseDepths.clear();
  EXPECT_EQ(problem.check()->message,
            "expected a base depth and the bits of a token for 1 fifos but got "
            "0 and 1");
}

TEST(FifoDepth, VerifyExplainsItself) {
  FifoDepthProblem problem = makeSoftmax(4, 8, /*copyFirst=*/false);
  ASSERT_FALSE(problem.check());
  auto verify = [&](Depths depths) {
    return problem.verify({depths, {}}).value_or("");
  };
  EXPECT_EQ(verify({2, 2, 7, 2, 2}), "");
  EXPECT_EQ(verify({2, 2, 7}), "expected depths of 5 fifos but got 3");
  EXPECT_EQ(verify({2, 2, 33, 2, 2}),
            "expected a depth of 2 to 32 for fifo 'to_exp' but got 33");
  EXPECT_EQ(verify({1, 2, 7, 2, 2}),
            "expected a depth of 2 to 32 for fifo 'x' but got 1");
  EXPECT_EQ(verify({2, 2, 8, 2, 2}),
            "expected the smallest depth for fifo 'to_exp' but got 8, and one "
            "less lets the network end as well");
  EXPECT_EQ(verify({2, 2, 6, 2, 2}),
            "expected the network to end but got a deadlock: 'fork' waits to "
            "write full fifo 'to_exp' (6/6), 'exp' waits to read empty fifo "
            "'max_out' (0/2), 'max' waits to read empty fifo 'to_max' (0/2)");
}

TEST(FifoDepth, RandomNetworksByBruteForce) {
  RandomNetworks random(11);
  int grown = 0, impossible = 0;
  for (int round = 0; round < 3000; ++round) {
    FifoDepthProblem problem;
    problem.network = random.make(/*feedback=*/round % 3 == 0);
    for (size_t i = 0; i < problem.network.fifos.size(); ++i) {
      problem.baseDepths.push_back(random.in(1, 2));
      problem.tokenBits.push_back(random.in(0, 1) ? 32 : 512);
    }
    ASSERT_FALSE(problem.check());
    const NaiveTokenSimulator oracle(problem.network);
    Depths unbounded;
    for (const AccessFifo &fifo : problem.network.fifos)
      unbounded.push_back(std::max<int64_t>(fifo.tokens, 1));
    std::string error;
    const auto solution = solveFifoDepths(problem, error);
    ASSERT_EQ(solution.has_value(), oracle.run(unbounded).ended) << error;
    if (!solution) {
      ++impossible;
      continue;
    }
    ASSERT_TRUE(oracle.run(solution->depths).ended);
    ASSERT_EQ(problem.verify(*solution).value_or(""), "");
    for (size_t i = 0; i < unbounded.size(); ++i) {
      const int64_t least = std::min(problem.baseDepths[i], unbounded[i]);
      ASSERT_GE(solution->depths[i], least);
      ASSERT_LE(solution->depths[i], unbounded[i]);
      if (solution->depths[i] == least)
        continue;
      ++grown;
      // No smaller depth of this FIFO ends, given the others.
      FifoDepthSolution shallower = *solution;
      while (--shallower.depths[i] >= least)
        ASSERT_FALSE(oracle.run(shallower.depths).ended);
      shallower.depths[i] = solution->depths[i] - 1;
      ASSERT_TRUE(problem.verify(shallower).has_value());
    }
  }
  EXPECT_GT(grown, 1000);
  EXPECT_GT(impossible, 50);
}

} // namespace
