//===- DieAssignmentTest.cpp - Dies by hand and by enumeration ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assignments by hand arithmetic, and on small random problems against all
// assignments there are.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DieAssignmentSolver.h"

#include "gtest/gtest.h"

#include <random>

using namespace streamtensor;

namespace {

using Assignment = std::vector<unsigned>;
using Problem = DieAssignmentProblem;

DieEdge fifo(std::string name, unsigned source, unsigned target, int64_t bits) {
  DieEdge edge;
  edge.name = std::move(name);
  edge.source = source;
  edge.target = target;
  edge.bits = bits;
  return edge;
}

ResourceCounts dsp(int64_t count) { return {0, 0, 0, 0, count}; }

/// Three dies of 100 DSPs each, of which 80 may be used.
Problem threeDies() {
  Problem problem;
  for (const char *name : {"SLR0", "SLR1", "SLR2"})
    problem.dies.push_back({name, {100, 100, 100, 100, 100}});
  return problem;
}

std::optional<DieAssignmentSolution> solve(const Problem &problem,
                                           std::string &error) {
  EXPECT_EQ(problem.check().value_or(""), "");
  std::string searchError;
  const auto search =
      solveDieAssignment(problem, searchError, {/*useCbc=*/false, 0});
  const auto solution =
      solveDieAssignment(problem, error, {/*useCbc=*/true, 1000});
  for (const auto &one : {search, solution})
    if (one) {
      EXPECT_EQ(problem.verify(*one).value_or(""), "");
    }
  if (search) {
    EXPECT_TRUE(solution);
  }
  if (search && solution) {
    EXPECT_LE(solution->cost, search->cost);
  }
  return solution;
}

DieAssignmentSolution solve(const Problem &problem) {
  std::string error;
  const auto solution = solve(problem, error);
  EXPECT_TRUE(solution) << error;
  return solution.value_or(DieAssignmentSolution());
}

std::string failure(const Problem &problem) {
  std::string error;
  EXPECT_FALSE(solve(problem, error));
  return error;
}

TEST(DieAssignment, AChainIsCutWhereItIsThin) {
  // Four tasks of 50 of at most 80 DSPs: one per die does not do, and two on
  // one die are too many, so three fit nowhere; with 40 each, two are on a die.
  Problem problem = threeDies();
  for (const char *name : {"a", "b", "c", "d"})
    problem.addTask(name, dsp(40));
  problem.addEdge(fifo("ab", 0, 1, 512));
  problem.addEdge(fifo("bc", 1, 2, 32));
  problem.addEdge(fifo("cd", 2, 3, 512));
  const DieAssignmentSolution solution = solve(problem);
  EXPECT_EQ(solution.dies[0], solution.dies[1]);
  EXPECT_EQ(solution.dies[2], solution.dies[3]);
  EXPECT_EQ(solution.crossings, (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(solution.stages, (std::vector<int64_t>{0, 2, 0}));
  EXPECT_EQ(solution.crossingBits, 32);
  EXPECT_EQ(solution.percent, 80);
  EXPECT_EQ(solution.cost, 32 + 80 * 16);
}

TEST(DieAssignment, MemoryTasksStayAndPullTheirReaders) {
  // The loads are on die 0, which has place for one reader only. The reader of
  // the wide load gets it.
  Problem problem = threeDies();
  problem.addTask("load_wide", {}, 0);
  problem.addTask("load_thin", {}, 0);
  problem.addTask("wide", dsp(60));
  problem.addTask("thin", dsp(60));
  problem.addEdge(fifo("w", 0, 2, 512));
  problem.addEdge(fifo("t", 1, 3, 64));
  const DieAssignmentSolution solution = solve(problem);
  EXPECT_EQ(solution.dies, (Assignment{0, 0, 0, 1}));
  EXPECT_TRUE(solution.isOptimal || !hasCbc());
}

TEST(DieAssignment, BalanceIsWorthSomeBits) {
  // Two tasks of 40 %: together 80 % and no crossing, apart 40 % and 100 bits.
  Problem problem = threeDies();
  problem.addTask("a", dsp(40));
  problem.addTask("b", dsp(40));
  problem.addEdge(fifo("ab", 0, 1, 100));
  problem.balanceBits = 2;
  EXPECT_EQ(solve(problem).crossingBits, 0);
  problem.balanceBits = 3;
  EXPECT_EQ(solve(problem).crossingBits, 100);
}

TEST(DieAssignment, AFifoLiesWhereItIsRead) {
  // b's die must hold the blocks of the FIFO as well: with 50 of at most 80 it
  // has no place for 40 more.
  Problem problem = threeDies();
  problem.addTask("a", {0, 0, 0, 0, 0}, 0);
  problem.addTask("b", {0, 0, 50, 0, 0});
  problem.addTask("c", {0, 0, 0, 0, 0}, 1);
  problem.addEdge(fifo("ab", 0, 1, 1));
  problem.edges[0].uses[static_cast<unsigned>(Resource::Bram18)] = 40;
  EXPECT_NE(failure(problem).find("expected at most 80 bram18 (80 % of 100) in "
                                  "task 'b', the most that a die has, but got "
                                  "90, 10 too many"),
            std::string::npos);
  problem.tasks[1].uses[2] = 40;
  EXPECT_EQ(solve(problem).percent, 80);
}

TEST(DieAssignment, SharedArraysKeepTasksTogether) {
  Problem problem = threeDies();
  problem.addTask("fill", dsp(30), 2);
  problem.addTask("drain", dsp(30));
  problem.addTask("other", dsp(30), 0);
  problem.addEdge(fifo("half", 0, 1, 0));
  problem.edges[0].isShared = true;
  problem.addEdge(fifo("big", 1, 2, 4096));
  const DieAssignmentSolution solution = solve(problem);
  EXPECT_EQ(solution.dies, (Assignment{2, 2, 0}));
  EXPECT_EQ(solution.crossings, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(solution.stages, (std::vector<int64_t>{0, 4}));
  DieAssignmentSolution apart = problem.solutionAt({2, 0, 0});
  EXPECT_NE(problem.verify(apart).value_or("").find("array 'half'"),
            std::string::npos);
  problem.tasks[1].die = 0;
  EXPECT_EQ(problem.check().value_or(""),
            "expected tasks 'fill' and 'drain', which share arrays, on one die "
            "but got 'SLR2' and 'SLR0'");
}

/// On several dies: nothing, one task that needs nothing, and one beside it
/// that no FIFO leads to.
TEST(DieAssignment, TinyGraphs) {
  Problem problem;
  for (const char *name : {"SLR0", "SLR1"})
    problem.dies.push_back({name, {1000, 1000, 100, 10, 100}});
  EXPECT_TRUE(solve(problem).dies.empty());
  problem.addTask("alone", {});
  EXPECT_EQ(solve(problem).dies.size(), 1u);
  problem.addTask("isolated", {100, 0, 0, 0, 0}, 1);
  EXPECT_EQ(solve(problem).dies[1], 1u);
}

TEST(DieAssignment, OneDie) {
  Problem problem;
  problem.dies.push_back({"SLR0", {1000, 1000, 100, 10, 100}});
  EXPECT_TRUE(solve(problem).dies.empty());
  problem.addTask("a", {700, 500, 80, 8, 80});
  problem.addTask("b", {}, 0);
  problem.addEdge(fifo("ab", 0, 1, 4096));
  const DieAssignmentSolution solution = solve(problem);
  EXPECT_EQ(solution.dies, (Assignment{0, 0}));
  EXPECT_EQ(solution.stages, std::vector<int64_t>{0});
  EXPECT_EQ(solution.method, "one die");
  problem.tasks[0].uses[0] = 701;
  EXPECT_EQ(failure(problem),
            "expected at most 700 lut (70 % of 1000) on all dies but got 701, "
            "1 too many; smaller tiles or fewer lanes, or a larger target, or "
            "a limit of at least 71 % for lut would help");
  problem.tasks[0].uses[0] = 2000;
  EXPECT_EQ(failure(problem),
            "expected at most 700 lut (70 % of 1000) on all dies but got 2000, "
            "1300 too many; smaller tiles or fewer lanes, or a larger target "
            "would help");
}

TEST(DieAssignment, ObstaclesOfSeveralDies) {
  Problem problem = threeDies();
  for (int i = 0; i < 3; ++i)
    problem.addTask("t", dsp(90));
  EXPECT_EQ(failure(problem),
            "expected at most 240 dsp (80 % of 300) on all dies but got 270, "
            "30 too many; smaller tiles or fewer lanes, or a larger target, or "
            "a limit of at least 90 % for dsp would help");
  problem.tasks.pop_back();
  EXPECT_NE(failure(problem).find("in task 't', the most that a die has, but "
                                  "got 90, 10 too many"),
            std::string::npos);
  problem.tasks = {{"a", dsp(50), 1}, {"b", dsp(50), 1}};
  EXPECT_NE(failure(problem).find("in tasks that must be on die 'SLR1' but got "
                                  "100, 20 too many"),
            std::string::npos);
  // Enough in total, but no two of the four fit on one die.
  problem.tasks.assign(4, {"t", dsp(50), std::nullopt});
  EXPECT_EQ(failure(problem).find(
                std::string("expected an assignment of tasks to dies within "
                            "all limits but ") +
                (hasCbc() ? "there is none" : "found none") +
                "; in the closest one dsp of die 'SLR"),
            0u);
}

TEST(DieAssignment, WiresAreLimited) {
  Problem problem = threeDies();
  problem.addTask("a", dsp(60));
  problem.addTask("b", dsp(60));
  problem.addEdge(fifo("ab", 0, 1, 512));
  problem.maxWires = 512;
  EXPECT_EQ(solve(problem).crossingBits, 512);
  problem.maxWires = 511;
  EXPECT_NE(failure(problem).find("has 512 of at most 511 (1 too many)"),
            std::string::npos);
}

TEST(DieAssignment, BadInput) {
  auto broken = [](auto change) {
    Problem problem = threeDies();
    problem.addTask("a", dsp(1));
    problem.addEdge(fifo("e", 0, 0, 1));
    EXPECT_EQ(problem.check().value_or(""), "");
    change(problem);
    return problem.check().value_or("");
  };
  EXPECT_EQ(broken([](Problem &p) { p.dies.clear(); }),
            "expected at least one die but got none");
  EXPECT_EQ(broken([](Problem &p) { p.tasks[0].die = 3; }),
            "expected a die below 3 for task 'a' but got 3");
  EXPECT_EQ(broken([](Problem &p) { p.tasks[0].uses[1] = -1; }),
            "expected ff of task 'a' of 0 to 4294967296 but got -1");
  EXPECT_EQ(broken([](Problem &p) { p.dies[1].budget[3] = -1; }),
            "expected uram of die 'SLR1' of 0 to 4294967296 but got -1");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].target = 1; }),
            "expected ends of fifo 'e' among 1 tasks but got 0 and 1");
  EXPECT_EQ(broken([](Problem &p) { p.edges[0].bits = -1; }),
            "expected bits of fifo 'e' of 0 to 16777216 but got -1");
  EXPECT_EQ(broken([](Problem &p) { p.percentLimits[0] = 101; }),
            "expected a limit of lut in percent of 0 to 100 but got 101");
  EXPECT_NE(broken([](Problem &p) { p.maxWires = -1; }), "");
  EXPECT_NE(broken([](Problem &p) { p.balanceBits = -1; }), "");
  EXPECT_NE(broken([](Problem &p) { p.stagesPerBoundary = -1; }), "");
}

TEST(DieAssignment, VerifyRefusesWhatIsWrong) {
  Problem problem = threeDies();
  problem.addTask("a", dsp(60), 0);
  problem.addTask("b", dsp(60));
  problem.addEdge(fifo("ab", 0, 1, 8));
  const DieAssignmentSolution good = solve(problem);
  EXPECT_EQ(good.dies, (Assignment{0, 1}));
  auto refused = [&](auto change) {
    DieAssignmentSolution bad = good;
    change(bad);
    return problem.verify(bad).has_value();
  };
  using Solution = DieAssignmentSolution;
  EXPECT_TRUE(refused([](Solution &s) { s.dies.pop_back(); }));
  EXPECT_TRUE(refused([](Solution &s) { s.dies[1] = 3; }));
  EXPECT_TRUE(refused([](Solution &s) { s.dies[1] = 2; }));
  EXPECT_TRUE(refused([](Solution &s) { s.crossings[0] = 0; }));
  EXPECT_TRUE(refused([](Solution &s) { s.stages[0] = 1; }));
  EXPECT_TRUE(refused([](Solution &s) { s.crossingBits = 7; }));
  EXPECT_TRUE(refused([](Solution &s) { s.percent = 1; }));
  EXPECT_TRUE(refused([](Solution &s) { s.cost = 1; }));
  EXPECT_TRUE(problem.verify(problem.solutionAt({1, 0})));
  EXPECT_TRUE(problem.verify(problem.solutionAt({0, 0})));
  EXPECT_FALSE(problem.verify(problem.solutionAt({0, 2})));
}

//===----------------------------------------------------------------------===//
// Random problems
//===----------------------------------------------------------------------===//

Problem randomProblem(std::mt19937 &random, unsigned mostTasks) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Problem problem;
  for (int64_t d = pick(1, 3); d-- > 0;) {
    Die die{"d" + std::to_string(problem.dies.size()), {}};
    for (int64_t &budget : die.budget)
      budget = pick(0, 4) == 0 ? pick(0, 60) : pick(60, 120);
    problem.dies.push_back(die);
  }
  problem.balanceBits = pick(0, 1) ? 1 : pick(0, 20);
  problem.maxWires = pick(0, 2) ? 10000 : pick(100, 1500);
  for (int64_t t = pick(1, mostTasks); t-- > 0;) {
    ResourceCounts uses = {};
    for (int64_t &amount : uses)
      amount = pick(0, 2) ? pick(0, 30) : 0;
    const unsigned index =
        problem.addTask("t" + std::to_string(problem.tasks.size()), uses);
    if (pick(0, 4) == 0)
      problem.tasks[index].die = pick(0, problem.dies.size() - 1);
  }
  const unsigned numTasks = problem.tasks.size();
  for (int64_t e = pick(0, 12); e-- > 0;) {
    DieEdge edge =
        fifo("e", pick(0, numTasks - 1), pick(0, numTasks - 1), pick(0, 500));
    if (pick(0, 3) == 0)
      edge.uses[2] = pick(0, 10);
    edge.isShared = pick(0, 9) == 0;
    problem.addEdge(edge);
  }
  return problem;
}

/// The smallest cost of all assignments; nothing where none is legal.
std::optional<int64_t> enumerate(const Problem &problem) {
  std::optional<int64_t> best;
  Assignment dies(problem.tasks.size(), 0);
  while (true) {
    const DieAssignmentSolution solution = problem.solutionAt(dies);
    if (!problem.verify(solution) && (!best || solution.cost < *best))
      best = solution.cost;
    size_t i = 0;
    while (i < dies.size() && dies[i] + 1 == problem.dies.size())
      dies[i++] = 0;
    if (i == dies.size())
      return best;
    ++dies[i];
  }
}

TEST(DieAssignment, RandomProblemsByEnumeration) {
  int solved = 0, none = 0, found = 0, optimal = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const Problem problem = randomProblem(random, seed % 10 == 0 ? 8 : 6);
    if (problem.check())
      continue;
    const std::optional<int64_t> best = enumerate(problem);
    std::string error;
    const auto solution = solve(problem, error);
    if (problem.findObstacle()) {
      EXPECT_FALSE(best);
    }
    if (!best) {
      EXPECT_FALSE(solution);
      EXPECT_NE(error, "");
      ++none;
      continue;
    }
    ++solved;
    if (hasCbc()) {
      ASSERT_TRUE(solution) << error;
      EXPECT_TRUE(solution->isOptimal);
      EXPECT_EQ(solution->cost, *best);
    }
    const auto search =
        solveDieAssignment(problem, error, {/*useCbc=*/false, 0});
    found += search.has_value();
    optimal += search && search->cost == *best;
  }
  EXPECT_GT(solved, 40);
  EXPECT_GT(none, 20);
  // The built-in search finds most, and mostly the best.
  EXPECT_GE(found * 10, solved * 9);
  EXPECT_GE(optimal * 10, solved * 7);
}

TEST(DieAssignment, TheSameEveryTime) {
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    const Problem problem = randomProblem(random, 20);
    if (problem.check())
      continue;
    std::string error, again;
    const DieAssignmentOptions options{true, 5};
    const auto one = solveDieAssignment(problem, error, options);
    const auto two = solveDieAssignment(problem, again, options);
    EXPECT_EQ(error, again);
    ASSERT_EQ(one.has_value(), two.has_value());
    if (one) {
      EXPECT_EQ(one->dies, two->dies);
    }
  }
}

} // namespace
