//===- FifoSizingTest.cpp - Depths from profiles --------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The token model against plain enumeration of reads and writes, hand-made
// networks with the arithmetic behind each number, and random ones.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoSizingSolver.h"

#include "unittests/Allocation/SizingEdges.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace streamtensor;

namespace {

using Values = std::vector<int64_t>;

/// `tokens` accesses from `first` on, `interval` cycles apart.
PortProfile every(int64_t interval, int64_t first, int64_t tokens) {
  return {first, first + interval * (tokens - 1)};
}

/// Solves with all solvers, verifies, demands equal depths, and that verify
/// refuses what is changed.
FifoSizingSolution solve(const FifoSizingProblem &problem) {
  EXPECT_EQ(problem.check().value_or(""), "");
  const FifoSizingSolution solution =
      solveFifoSizing(problem, SizingMethod::Circulation);
  EXPECT_EQ(problem.verify(solution).value_or(""), "");
  EXPECT_TRUE(solution.certificate);
  const FifoSizingSolution clp = solveFifoSizing(problem, SizingMethod::Clp);
  EXPECT_EQ(clp.starts, solution.starts);
  EXPECT_EQ(clp.depths, solution.depths);
  EXPECT_EQ(problem.verify(clp).value_or(""), "");
  if (hasClp()) {
    EXPECT_EQ(sizingMethodName(clp.method), "clp");
  }
  const FifoSizingSolution earliest =
      solveFifoSizing(problem, SizingMethod::Earliest);
  EXPECT_EQ(problem.verify(earliest).value_or(""), "");
  EXPECT_FALSE(earliest.certificate);
  EXPECT_LE(solution.objective, earliest.objective);

  for (size_t i = 0; i < solution.depths.size(); ++i) {
    FifoSizingSolution bad = solution;
    --bad.depths[i];
    EXPECT_NE(problem.verify(bad).value_or(""), "");
  }
  FifoSizingSolution bad = solution;
  bad.bits += 1;
  EXPECT_NE(problem.verify(bad).value_or(""), "");
  bad = solution;
  bad.objective += 1;
  EXPECT_NE(problem.verify(bad).value_or(""), "");
  return solution;
}

//===----------------------------------------------------------------------===//
// Token model
//===----------------------------------------------------------------------===//

int64_t cycleOf(PortProfile port, int64_t tokens, int64_t token) {
  return tokens == 1
             ? port.first
             : port.first + token * (port.last - port.first) / (tokens - 1);
}

/// Most places in use at a write, by the rules of docs/process-networks.md:
/// the place of a token read at c is free from c + 1 + crossing on.
int64_t peakOf(const FifoSizingProblem &problem, unsigned index,
               int64_t delay) {
  const SizingEdge &edge = problem.edges[index];
  const PortProfile write = problem.writeProfile(index),
                    read = problem.readProfile(index);
  int64_t peak = 0;
  for (int64_t k = 0; k < edge.tokens; ++k) {
    int64_t inUse = k + 1;
    for (int64_t j = 0; j < edge.tokens; ++j)
      inUse -= delay + cycleOf(read, edge.tokens, j) + 1 + edge.crossing <=
               cycleOf(write, edge.tokens, k);
    peak = std::max(peak, inUse);
  }
  return peak;
}

FifoSizingProblem randomEdge(std::mt19937 &random) {
  FifoSizingProblem problem;
  problem.addTask("a", 400);
  problem.addTask("b", 400);
  const int64_t tokens = 1 + random() % 20;
  auto port = [&]() {
    const int64_t first = random() % 30;
    const int64_t span = tokens - 1 + (tokens == 1 ? 0 : random() % 60);
    return PortProfile{first, first + span};
  };
  const PortProfile write = port(), read = port();
  problem.addEdge(stream("e", 0, 1, tokens, write, read));
  problem.edges[0].crossing = random() % 3;
  if (random() % 2)
    problem.strategy = FifoStrategy::Conservative;
  EXPECT_EQ(problem.check().value_or(""), "");
  return problem;
}

TEST(FifoSizing, DepthsAgainstEnumeration) {
  // Never too shallow. Exact where the source is as slow as the target or
  // slower; at most one too deep where it is faster.
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const FifoSizingProblem problem = randomEdge(random);
    const SizingEdge &edge = problem.edges[0];
    const int64_t delay = *problem.leastDelay(0) + random() % 80;
    const int64_t peak = peakOf(problem, 0, delay);
    const int64_t depth = problem.depthAt(0, delay);
    const bool sourceIsFaster =
        edge.write.last - edge.write.first < edge.read.last - edge.read.first;
    EXPECT_GE(depth, peak);
    EXPECT_LE(depth, peak + sourceIsFaster);
    EXPECT_LE(depth, edge.tokens);
  }
}

TEST(FifoSizing, MostDelayIsTheLargestOne) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    const FifoSizingProblem problem = randomEdge(random);
    for (int64_t depth = 1; depth <= problem.edges[0].tokens; ++depth) {
      const std::optional<int64_t> most = problem.mostDelay(0, depth);
      if (depth == problem.edges[0].tokens) {
        EXPECT_FALSE(most);
        EXPECT_EQ(problem.depthAt(0, 100000), depth);
        continue;
      }
      EXPECT_LE(problem.depthAt(0, *most), depth);
      EXPECT_GT(problem.depthAt(0, *most + 1), depth);
    }
  }
}

TEST(FifoSizing, FormulasByHand) {
  // 10 tokens. The source writes at 5, 7, .., 23, the target reads one each
  // cycle. It starts at 6 at the earliest, one after the first write.
  FifoSizingProblem problem;
  problem.addTask("a", 24);
  problem.addTask("b", 30);
  problem.addEdge(stream("e", 0, 1, 10, every(2, 5, 10), every(1, 0, 10)));
  EXPECT_EQ(problem.leastDelay(0), 6);
  // At 6 the first place is free at 7, when the second token comes.
  EXPECT_EQ(problem.depthAt(0, 6), 1);
  // At 20: places are free from 21 on; written before 21 are 5, 7, .., 19.
  EXPECT_EQ(problem.depthAt(0, 20), 8);
  EXPECT_EQ(problem.depthAt(0, 1000), 10);
  // The other way around: writes at 0 .. 9, reads at 1, 3, .., 19. Of the
  // places, those of reads at 1, 3, 5, 7 are free at cycle 9: 10 - 4.
  FifoSizingProblem faster;
  faster.addTask("a", 24);
  faster.addTask("b", 30);
  faster.addEdge(stream("e", 0, 1, 10, every(1, 0, 10), every(2, 0, 10)));
  EXPECT_EQ(faster.depthAt(0, 1), 6);
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

/// x -> fork -> max -> exp and fork -> exp, over rows of `row` tokens: max
/// writes one token after each row, exp reads it before the row.
FifoSizingProblem makeSoftmax(int64_t rows, int64_t row, int64_t pipeline) {
  FifoSizingProblem problem;
  const int64_t tokens = rows * row;
  const unsigned fork = problem.addTask("fork", tokens + 1, 1);
  const unsigned max = problem.addTask("max", tokens + pipeline, pipeline);
  const unsigned exp = problem.addTask("exp", tokens);
  problem.addEdge(stream("to_max", fork, max, tokens, every(1, 1, tokens),
                         every(1, 0, tokens)));
  problem.addEdge(stream("to_exp", fork, exp, tokens, every(1, 1, tokens),
                         every(1, 0, tokens)));
  problem.addEdge(stream("max_out", max, exp, rows,
                         every(row, row - 1 + pipeline, rows),
                         every(row, 0, rows)));
  return problem;
}

TEST(FifoSizing, SoftmaxHoldsARow) {
  // fork starts at 0 and writes at 1, 2, ...; max starts at 2 and writes the
  // maximum of 8 tokens at 2 + 7 + 4 = 13; exp reads it at 14, and its first
  // place on the other path is free at 15. Written at 1 .. 14: 14 tokens.
  const FifoSizingProblem problem = makeSoftmax(3, 8, 4);
  const FifoSizingSolution solution = solve(problem);
  EXPECT_EQ(solution.starts, (Values{0, 2, 14}));
  EXPECT_EQ(solution.depths, (Values{2, 14, 1}));
  EXPECT_EQ(solution.bits, 32.0 * (2 + 14 + 1));
  EXPECT_EQ(problem.explain(1, solution),
            "holds 14 of 24 tokens: 'fork' writes from cycle 1 on, one in 1 "
            "cycles, 'exp' reads from cycle 14 on, one in 1 cycles");
  // With a single row, no more than all of it.
  EXPECT_EQ(solve(makeSoftmax(1, 8, 4)).depths, (Values{2, 8, 1}));
}

TEST(FifoSizing, ConservativeNeedsNoMoreThanTheSlowestLets) {
  // The same behind a task that takes 10 cycles per token: all others are
  // stretched tenfold. fork writes at 1, 11, ...; max starts at 2, has the
  // eighth token 70 later and writes 4 after that, at 76; exp reads at 77, the
  // place is free at 78. Written before: 1, 11, .., 71, which is the row.
  FifoSizingProblem problem = makeSoftmax(3, 8, 4);
  problem.addTask("slow", 240);
  problem.strategy = FifoStrategy::Conservative;
  const FifoSizingSolution solution = solve(problem);
  EXPECT_EQ(solution.starts, (Values{0, 2, 77, 0}));
  EXPECT_EQ(solution.depths, (Values{1, 8, 1}));
}

TEST(FifoSizing, ConservativeMakesRatesEqual) {
  // product writes all 1000 tokens in its last 1000 cycles of 24037, pass needs
  // no more than that many. Stretched alone, pass would take one in 24 cycles
  // while all come at once. With one in 24 cycles on both ends: the place of a
  // token is free two cycles after it was written.
  FifoSizingProblem problem;
  problem.addTask("product", 24037);
  problem.addTask("pass", 1015, 13);
  problem.addEdge(
      stream("e", 0, 1, 1000, every(1, 23036, 1000), every(1, 1, 1000)));
  problem.strategy = FifoStrategy::Conservative;
  EXPECT_EQ(solve(problem).depths, Values{1});
  for (PortProfile port : {problem.writeProfile(0), problem.readProfile(0)})
    EXPECT_EQ(port.last - port.first, (999 * 24037 + 999) / 1000);
}

TEST(FifoSizing, SlackGoesWhereItIsCheap) {
  // a -> b -> d and a -> c -> d. b needs 50 cycles to its first token, c 2.
  // c compresses: it takes two tokens of 32 bits per token of 8 bits. So c
  // starts at once, and its tokens wait in the cheap FIFO: a cycle there costs
  // 8 / 2 bits, before c 32. b starts at 2 and writes at 52, d reads at 53.
  FifoSizingProblem problem;
  const unsigned a = problem.addTask("a", 100), b = problem.addTask("b", 200),
                 c = problem.addTask("c", 110), d = problem.addTask("d", 100);
  problem.addEdge(stream("ab", a, b, 80, every(1, 1, 80), every(1, 0, 80)));
  problem.addEdge(stream("ac", a, c, 80, every(1, 1, 80), every(1, 0, 80)));
  problem.addEdge(stream("bd", b, d, 40, every(2, 50, 40), every(2, 0, 40)));
  problem.addEdge(stream("cd", c, d, 40, every(2, 2, 40), every(2, 0, 40)));
  problem.edges[3].tokenBits = 8;
  const FifoSizingSolution solution = solve(problem);
  EXPECT_EQ(solution.starts, (Values{0, 2, 2, 53}));
  // Free at 54: written at 4, 6, .., 52 are 25.
  EXPECT_EQ(solution.depths, (Values{2, 2, 1, 25}));
  // With tokens of 1000 bits, c waits: it writes its first at 52, so it starts
  // at 50, and its first place is free at 51: written at 1 .. 50.
  problem.edges[3].tokenBits = 1000;
  const FifoSizingSolution waiting = solve(problem);
  EXPECT_EQ(waiting.starts, (Values{0, 2, 50, 53}));
  EXPECT_EQ(waiting.depths, (Values{2, 50, 1, 1}));
}

TEST(FifoSizing, ADepthThatIsThereAnywayIsFree) {
  // As above, but ac has a depth of 50 for another reason: up to that, delay
  // costs nothing there, so that c waits although its tokens are cheaper.
  FifoSizingProblem problem;
  const unsigned a = problem.addTask("a", 100), b = problem.addTask("b", 200),
                 c = problem.addTask("c", 110), d = problem.addTask("d", 100);
  problem.addEdge(stream("ab", a, b, 80, every(1, 1, 80), every(1, 0, 80)));
  problem.addEdge(stream("ac", a, c, 80, every(1, 1, 80), every(1, 0, 80)));
  problem.addEdge(stream("bd", b, d, 40, every(2, 50, 40), every(2, 0, 40)));
  problem.addEdge(stream("cd", c, d, 40, every(2, 2, 40), every(2, 0, 40)));
  problem.edges[3].tokenBits = 8;
  problem.edges[1].minDepth = 50;
  EXPECT_EQ(solve(problem).depths, (Values{2, 50, 1, 1}));
  // More than all tokens is all tokens.
  problem.edges[1].minDepth = 500;
  EXPECT_EQ(solve(problem).depths, (Values{2, 80, 1, 1}));
}

TEST(FifoSizing, BitsAreNotPaidWithCycles) {
  // load feeds a late reader by a wide FIFO, and a long chain. A late start
  // would save 4096 bits a cycle, and the chain would end as much later.
  FifoSizingProblem problem;
  problem.addTask("load", 100);
  problem.addTask("slow", 50);
  problem.addTask("late", 100);
  problem.addTask("chain", 400);
  const int64_t n = 100;
  problem.addEdge(stream("wide", 0, 2, n, every(1, 0, n), every(1, 0, n)));
  problem.addEdge(stream("go", 1, 2, 1, {49, 49}, {0, 0}));
  problem.addEdge(stream("on", 0, 3, n, every(1, 0, n), every(1, 0, n)));
  problem.edges[0].tokenBits = 4096;
  EXPECT_EQ(problem.latestEnd(), 401);
  const FifoSizingSolution solution = solve(problem);
  EXPECT_EQ(solution.starts, (Values{0, 0, 50, 1}));
  EXPECT_EQ(solution.depths, (Values{51, 1, 2}));
  // A chain that is 49 cycles shorter than what is last leaves room for that.
  problem.tasks[3].latency = 100;
  EXPECT_EQ(problem.latestEnd(), 150);
  EXPECT_EQ(solve(problem).starts, (Values{49, 0, 50, 50}));
  FifoSizingSolution late = problem.solutionAt({50, 0, 51, 51});
  EXPECT_EQ(problem.verify(late).value_or(""),
            "expected task 'late' to end by cycle 150, when the last one can, "
            "but got 151");
}

TEST(FifoSizing, DiamondOfUnequalRates) {
  // a has an interval of 3 and its first output after 40 cycles, b of 1 and 7.
  // a starts at 2 and writes at 42 first, join starts at 43; b can start
  // anywhere from 2 to 35.
  FifoSizingProblem problem;
  const unsigned fork = problem.addTask("fork", 60, 1),
                 a = problem.addTask("a", 220), b = problem.addTask("b", 100),
                 join = problem.addTask("join", 60);
  problem.addEdge(stream("fa", fork, a, 50, every(1, 1, 50), every(3, 0, 50)));
  problem.addEdge(stream("fb", fork, b, 50, every(1, 1, 50), every(1, 0, 50)));
  problem.addEdge(stream("aj", a, join, 50, every(3, 40, 50), every(1, 0, 50)));
  problem.addEdge(stream("bj", b, join, 50, every(1, 7, 50), every(1, 0, 50)));
  const FifoSizingSolution solution = solve(problem);
  // Both ends of fb and bj cost the same per cycle; the earliest start wins.
  EXPECT_EQ(solution.starts, (Values{0, 2, 2, 43}));
  for (unsigned i = 0; i < 4; ++i) {
    const SizingEdge &edge = problem.edges[i];
    const int64_t peak =
        peakOf(problem, i,
               solution.starts[edge.target] - solution.starts[edge.source]);
    EXPECT_GE(solution.depths[i], peak);
    EXPECT_LE(solution.depths[i], peak + 1);
  }
  // Written by b at 9 .. 43, free at 44.
  EXPECT_EQ(solution.depths[3], 35);
}

//===----------------------------------------------------------------------===//
// Corners
//===----------------------------------------------------------------------===//

TEST(FifoSizing, TinyGraphs) {
  FifoSizingProblem problem;
  EXPECT_TRUE(solve(problem).starts.empty());
  problem.addTask("alone", 0);
  EXPECT_EQ(solve(problem).starts, Values{0});
  problem.addTask("isolated", 7, 7);
  EXPECT_EQ(solve(problem).starts, (Values{0, 0}));
  // A task of no latency, a FIFO of no tokens, one of one token, two FIFOs
  // between the same tasks, ties of all rates: also stretched.
  problem.addTask("zero", 0);
  problem.addEdge(stream("none", 0, 2, 0, {}, {}));
  problem.addEdge(stream("one", 0, 2, 1, {0, 0}, {0, 0}));
  problem.addEdge(stream("again", 0, 2, 1, {0, 0}, {0, 0}));
  for (FifoStrategy strategy :
       {FifoStrategy::Normal, FifoStrategy::Conservative}) {
    problem.strategy = strategy;
    const FifoSizingSolution solution = solve(problem);
    EXPECT_EQ(solution.starts, (Values{0, 0, 1}));
    EXPECT_EQ(solution.depths, (Values{1, 1, 1}));
    EXPECT_EQ(problem.explain(0, solution), "no tokens pass");
    EXPECT_EQ(problem.explain(1, solution), "all its tokens");
  }
}

TEST(FifoSizing, PingPong) {
  // The reader of an array starts one cycle after its writer has ended.
  FifoSizingProblem problem;
  const unsigned fill = problem.addTask("fill", 100),
                 drain = problem.addTask("drain", 50);
  SizingEdge array;
  array.name = "half";
  array.source = fill;
  array.target = drain;
  array.isPingPong = true;
  problem.addEdge(array);
  const FifoSizingSolution solution = solve(problem);
  EXPECT_EQ(solution.starts, (Values{0, 101}));
  EXPECT_EQ(solution.depths, Values{0});
  EXPECT_EQ(problem.explain(0, solution),
            "'drain' starts when 'fill' has ended");
  // It is a dependence like any other: no circle of arrays.
  std::swap(array.source, array.target);
  problem.addEdge(array);
  EXPECT_NE(problem.check().value_or("").find("'fill'"), std::string::npos);
}

TEST(FifoSizing, NoTaskRunsBeforeItStarts) {
  // b reads 30 cycles after its start. As far as tokens go it could start 29
  // before a does; but it starts one after a.
  FifoSizingProblem problem;
  problem.addTask("a", 10);
  problem.addTask("b", 40);
  problem.addEdge(stream("e", 0, 1, 10, every(1, 0, 10), every(1, 30, 10)));
  const FifoSizingSolution solution = solve(problem);
  EXPECT_EQ(problem.leastDelay(0), -29);
  // It ends at 41 at the earliest, whenever a runs. a waits, so that its first
  // token is read at 31, one after it has been written.
  EXPECT_EQ(problem.latestEnd(), 41);
  EXPECT_EQ(solution.starts, (Values{30, 1}));
  EXPECT_EQ(solution.depths, Values{2});
  EXPECT_EQ(problem.verify(problem.solutionAt({29, 0})).value_or(""),
            "expected a start time of at least 1 for task 'b', when it starts "
            "in hardware, but got 0");
}

TEST(FifoSizing, Crossing) {
  // Three stages each way: the target starts 1 + 3 after the first write, and
  // the first place is free another 1 + 3 later.
  FifoSizingProblem problem;
  problem.addTask("a", 100);
  problem.addTask("b", 100);
  problem.addEdge(stream("e", 0, 1, 100, every(1, 0, 100), every(1, 0, 100)));
  EXPECT_EQ(solve(problem).depths, Values{2});
  problem.edges[0].crossing = 3;
  const FifoSizingSolution solution = solve(problem);
  EXPECT_EQ(solution.starts, (Values{0, 4}));
  EXPECT_EQ(solution.depths, Values{8});
}

TEST(FifoSizing, Feedback) {
  // attention writes a row per execution that it reads back in the next one:
  // one initial token, no constraint, and a place for it.
  FifoSizingProblem problem;
  const unsigned read = problem.addTask("read", 100),
                 write = problem.addTask("write", 100);
  problem.addEdge(
      stream("forth", read, write, 100, every(1, 0, 100), every(1, 0, 100)));
  SizingEdge back =
      stream("back", write, read, 100, every(1, 0, 100), every(1, 0, 100));
  problem.addEdge(back);
  EXPECT_EQ(problem.check().value_or(""),
            "expected initial tokens on some fifo of each cycle but got none "
            "on 'read' -forth-> 'write' -back-> 'read'; give one of them "
            "initial tokens, or break the cycle");
  problem.edges[1].initialTokens = 100;
  EXPECT_EQ(solve(problem).depths, (Values{2, 100}));
  // Fewer: of 5 tokens the first is read at 0, and its place is free at 1, when
  // the first is written: never more than 5.
  problem.edges[1].initialTokens = 5;
  EXPECT_EQ(solve(problem).depths, (Values{2, 5}));
  // A task that feeds itself.
  FifoSizingProblem self;
  self.addTask("sum", 100);
  self.addEdge(stream("acc", 0, 0, 10, every(10, 9, 10), every(10, 0, 10)));
  EXPECT_NE(self.check().value_or("").find("'sum' -acc-> 'sum'"),
            std::string::npos);
  self.edges[0].initialTokens = 1;
  EXPECT_EQ(solve(self).depths, Values{1});
}

TEST(FifoSizing, GreatestDepths) {
  // The row of 8 and the pipeline of 4 need 14 places (see SoftmaxHoldsARow).
  FifoSizingProblem problem = makeSoftmax(3, 8, 4);
  problem.edges[1].maxDepth = 14;
  EXPECT_EQ(solve(problem).depths, (Values{2, 14, 1}));
  problem.edges[1].maxDepth = 13;
  EXPECT_EQ(problem.check().value_or(""),
            "expected greatest depths that leave time for the first tokens "
            "but got too small ones of fifos 'to_exp' (at most 13) against "
            "fifos 'to_max', 'max_out'; raise one of the greatest depths");
  problem.edges[1].maxDepth = 0;
  EXPECT_EQ(problem.check().value_or(""),
            "expected a greatest depth of fifo 'to_exp' of at least 1, its "
            "least one, but got 0");
}

TEST(FifoSizing, BadInput) {
  auto broken = [](auto change) {
    FifoSizingProblem problem = makeSoftmax(3, 8, 4);
    change(problem);
    return problem.check().value_or("");
  };
  using Problem = FifoSizingProblem;
  EXPECT_EQ(broken([](Problem &p) { p.strategy = FifoStrategy::Min; }),
            "expected strategy 'normal' or 'conservative' but got 'min'");
  EXPECT_EQ(broken([](Problem &p) { p.tasks[1].latency = -1; }),
            "expected a latency of task 'max' of 0 to 1099511627776 but got "
            "-1");
  EXPECT_EQ(broken([](Problem &p) { p.tasks[1].pipelineDepth = 29; }),
            "expected a pipeline depth of task 'max' of 0 to 28 but got 29");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].target = 3; }),
            "expected ends of fifo 'to_max' among 3 tasks but got 0 and 3");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].tokens = -1; }),
            "expected tokens of fifo 'to_max' of 0 to 1099511627776 but got "
            "-1");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].tokenBits = 0; }),
            "expected bits of a token of fifo 'to_max' of 1 to 1048576 but got "
            "0");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].minDepth = 0; }),
            "expected a least depth of fifo 'to_max' of 1 to 1099511627776 but "
            "got 0");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].crossing = -1; }),
            "expected register stages of fifo 'to_max' of 0 to 1048576 but got "
            "-1");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].initialTokens = -1; }),
            "expected initial tokens of fifo 'to_max' of 0 to 1099511627776 "
            "but got -1");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].write.last = 100; }),
            "expected task 'fork' to write fifo 'to_max' between cycle 0 and "
            "its latency of 25 but got from cycle 1 to 100");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].read.last = 22; }),
            "expected task 'max' to read fifo 'to_max' at most once per cycle, "
            "24 times, but got from cycle 0 to 22");
}

TEST(FifoSizing, HugeNumbers) {
  const int64_t most = int64_t(1) << 40;
  FifoSizingProblem problem;
  problem.addTask("a", most);
  problem.addTask("b", most, most);
  problem.addTask("c", 1);
  problem.addEdge(stream("ab", 0, 1, most, {0, most - 1}, {1, most}));
  problem.addEdge(stream("ac", 0, 2, 1, {most, most}, {1, 1}));
  problem.addEdge(stream("bc", 1, 2, 2, {0, most}, {0, 1}));
  problem.edges[0].tokenBits = 1 << 20;
  for (FifoStrategy strategy :
       {FifoStrategy::Normal, FifoStrategy::Conservative}) {
    problem.strategy = strategy;
    solve(problem);
  }
  // Too many of them are refused, not computed wrongly.
  for (unsigned i = 0; i < 2000; ++i) {
    problem.addTask("more", most);
    problem.addEdge(stream("more", 2 + i, 3 + i, 1, {0, 0}, {0, 0}));
    problem.edges.back().isPingPong = true;
  }
  EXPECT_NE(problem.check().value_or("").find("2^50"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Random networks
//===----------------------------------------------------------------------===//

FifoSizingProblem randomNetwork(std::mt19937 &random) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  FifoSizingProblem problem;
  const unsigned numTasks = pick(1, 12);
  for (unsigned i = 0; i < numTasks; ++i) {
    const int64_t latency = pick(0, 3) == 0 ? pick(0, 3) : pick(0, 300);
    problem.addTask("t" + std::to_string(i), latency,
                    pick(0, 1) ? pick(0, latency) : 0);
  }
  for (int64_t i = pick(0, 25); i-- > 0;) {
    unsigned source = pick(0, numTasks - 1), target = pick(0, numTasks - 1);
    const bool feedback = source >= target;
    const int64_t slots =
        std::min(problem.tasks[source].latency, problem.tasks[target].latency);
    const int64_t tokens = pick(0, slots + 1);
    auto port = [&](unsigned task) {
      const int64_t latency = problem.tasks[task].latency;
      if (tokens <= 1) {
        const int64_t at = pick(0, latency);
        return PortProfile{at, at};
      }
      const int64_t first = pick(0, latency - tokens + 1);
      return PortProfile{first, pick(first + tokens - 1, latency)};
    };
    const PortProfile write = port(source), read = port(target);
    SizingEdge edge = stream("e" + std::to_string(problem.edges.size()), source,
                             target, tokens, write, read);
    edge.tokenBits = pick(1, 512);
    edge.minDepth = pick(0, 2) ? 1 : pick(1, 40);
    edge.crossing = pick(0, 3) ? 0 : pick(1, 4);
    edge.isPingPong = pick(0, 9) == 0;
    if (feedback) {
      if (pick(0, 3) != 0)
        continue;
      edge.initialTokens = pick(0, 9) ? pick(1, 20) : 0;
    }
    if (pick(0, 4) == 0)
      edge.maxDepth = pick(1, 100);
    problem.addEdge(edge);
  }
  if (pick(0, 1))
    problem.strategy = FifoStrategy::Conservative;
  return problem;
}

TEST(FifoSizing, RandomNetworks) {
  int solved = 0, refused = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const FifoSizingProblem problem = randomNetwork(random);
    if (problem.check()) {
      ++refused;
      continue;
    }
    ++solved;
    const FifoSizingSolution solution = solve(problem);
    for (unsigned i = 0; i < problem.edges.size(); ++i) {
      const SizingEdge &edge = problem.edges[i];
      const int64_t delay =
          solution.starts[edge.target] - solution.starts[edge.source];
      if (edge.isPingPong)
        continue;
      EXPECT_GE(solution.depths[i], 1);
      EXPECT_LE(solution.depths[i],
                std::max<int64_t>(edge.tokens + edge.initialTokens, 1));
      if (edge.initialTokens == 0) {
        EXPECT_GE(solution.depths[i], peakOf(problem, i, delay));
      }
      EXPECT_FALSE(problem.explain(i, solution).empty());
    }
  }
  EXPECT_GT(solved, 500);
  EXPECT_GT(refused, 100);
}

TEST(FifoSizing, SlowerIsNeverDeeperInAChainOfOneRate) {
  // What the strategy is for: a bypass around pipelines, behind a slow task.
  // Normal counts the latency of the bypassed tasks at one token per cycle,
  // conservative at the slowest task's rate.
  FifoSizingProblem problem;
  const int64_t tokens = 256;
  problem.addTask("slow", tokens * 16);
  problem.addTask("fork", tokens + 1, 1);
  problem.addTask("long", tokens + 64, 64);
  problem.addTask("join", tokens + 1, 1);
  problem.addEdge(
      stream("in", 0, 1, tokens, every(16, 0, tokens), every(1, 0, tokens)));
  problem.addEdge(stream("to_long", 1, 2, tokens, every(1, 1, tokens),
                         every(1, 0, tokens)));
  problem.addEdge(stream("from_long", 2, 3, tokens, every(1, 64, tokens),
                         every(1, 0, tokens)));
  problem.addEdge(
      stream("bypass", 1, 3, tokens, every(1, 1, tokens), every(1, 0, tokens)));
  // fork writes at 1, long starts at 2 and writes at 66, join reads at 67, the
  // place is free at 68 (times of fork): 67 writes, or one in 16 cycles.
  EXPECT_EQ(solve(problem).depths[3], 67);
  problem.strategy = FifoStrategy::Conservative;
  EXPECT_EQ(solve(problem).depths[3], 5);
}

} // namespace
