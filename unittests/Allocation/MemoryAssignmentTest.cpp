//===- MemoryAssignmentTest.cpp - Kinds of memory by enumeration ----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Choices by hand arithmetic, and on small random problems against all choices
// there are.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/MemoryAssignmentProblem.h"

#include "gtest/gtest.h"

#include <random>

using namespace streamtensor;

namespace {

using Choices = std::vector<unsigned>;
using Problem = MemoryAssignmentProblem;

/// In LUTs, BRAM18 or UltraRAM.
Memory memory(std::string name, int64_t lut, int64_t bram18, int64_t uram) {
  return {std::move(name),
          0,
          {{"lutram", {lut, 0, 0, 0, 0}},
           {"bram", {0, 0, bram18, 0, 0}},
           {"uram", {0, 0, 0, uram, 0}}}};
}

Problem oneDie(ResourceCounts budget) {
  Problem problem;
  problem.dies.push_back({"SLR0", budget, {}});
  return problem;
}

std::optional<MemoryAssignmentSolution> solve(const Problem &problem,
                                              std::string &error) {
  EXPECT_EQ(problem.check().value_or(""), "");
  const auto search =
      solveMemoryAssignment(problem, error, {/*useCbc=*/false, 0});
  const auto solution =
      solveMemoryAssignment(problem, error, {/*useCbc=*/true, 1000});
  for (const auto &one : {search, solution})
    if (one) {
      EXPECT_EQ(problem.verify(*one).value_or(""), "");
    }
  if (search) {
    EXPECT_TRUE(solution);
    EXPECT_LE(std::make_pair(solution->percent, solution->shares),
              std::make_pair(search->percent, search->shares));
  }
  return solution;
}

TEST(MemoryAssignment, TheFullestBudgetDecides) {
  // 100 BRAM18 and 10 UltraRAM. Each of four arrays takes 20 % of either. All
  // in one kind fill it to 80 %, two and two to 40 %.
  Problem problem = oneDie({1000000, 1000000, 100, 10, 100});
  for (int i = 0; i < 4; ++i)
    problem.memories.push_back(memory("m", 900000, 20, 2));
  std::string error;
  auto solution = solve(problem, error);
  ASSERT_TRUE(solution) << error;
  EXPECT_EQ(solution->percent, 40);
  EXPECT_EQ(solution->shares, 4 * 200000);
  // Where logic has taken 60 % of the LUTs, it is fullest anyway: shares count.
  problem.dies[0].logic[0] = 600000;
  problem.memories[0].candidates[2].uses[3] = 1;
  solution = solve(problem, error);
  ASSERT_TRUE(solution) << error;
  EXPECT_EQ(solution->percent, 60);
  EXPECT_EQ(solution->shares, 3 * 200000 + 100000);
}

/// Nothing to place, and an array that needs nothing of anything.
TEST(MemoryAssignment, TinyGraphs) {
  Problem problem = oneDie({1, 1, 1, 1, 1});
  std::string error;
  auto solution = solve(problem, error);
  ASSERT_TRUE(solution) << error;
  EXPECT_TRUE(solution->choices.empty());
  problem.memories.push_back(memory("empty", 0, 0, 0));
  solution = solve(problem, error);
  ASSERT_TRUE(solution) << error;
  EXPECT_EQ(solution->choices.size(), 1u);
}

TEST(MemoryAssignment, Obstacles) {
  Problem problem = oneDie({100, 0, 10, 0, 0});
  problem.dies[0].logic[0] = 50;
  problem.memories.push_back(memory("a", 50, 11, 1));
  problem.memories.push_back(memory("b", 50, 6, 1));
  problem.memories.push_back(memory("c", 50, 6, 1));
  std::string error;
  // Each resource alone could be spared: "a" is in LUTs, and one of the others
  // in BRAM.
  EXPECT_FALSE(solve(problem, error));
  EXPECT_EQ(error.rfind("expected a kind of memory for each buffer and fifo "
                        "within all budgets but ",
                        0),
            0u);
  EXPECT_NE(error.find(" of die 'SLR0' has "), std::string::npos);
  EXPECT_NE(error.find("would help"), std::string::npos);
  const std::string help = "; smaller tiles, FIFO strategy 'conservative' or "
                           "'min', or a larger target would help";
  problem.memories[1].candidates = {{"bram", {0, 0, 6, 0, 0}}};
  problem.memories[2].candidates = {{"bram", {0, 0, 6, 0, 0}}};
  EXPECT_FALSE(solve(problem, error));
  EXPECT_EQ(error,
            "expected at most 10 bram18 on die 'SLR0' but got 0 of logic and "
            "at least 12 of memories, 2 too many" +
                help);
  // One that fits nowhere, even alone.
  problem.dies[0].logic[0] = 60;
  EXPECT_FALSE(solve(problem, error));
  EXPECT_EQ(error, "expected room for 'a' beside the logic on die 'SLR0' but "
                   "got too little: lutram needs 50 lut of 40; bram needs 11 "
                   "bram18 of 10; uram needs 1 uram of 0" +
                       help);
}

TEST(MemoryAssignment, BadInput) {
  auto broken = [](auto change) {
    Problem problem = oneDie({1, 1, 1, 1, 1});
    problem.memories.push_back(memory("a", 1, 1, 1));
    change(problem);
    return problem.check().value_or("");
  };
  EXPECT_EQ(broken([](Problem &p) { p.dies.clear(); }),
            "expected at least one die but got none");
  EXPECT_EQ(broken([](Problem &p) { p.memories[0].die = 1; }),
            "expected a die below 1 for memory 'a' but got 1");
  EXPECT_EQ(broken([](Problem &p) { p.memories[0].candidates.clear(); }),
            "expected 1 to 64 kinds of memory for 'a' but got 0");
  EXPECT_EQ(
      broken([](Problem &p) { p.memories[0].candidates[1].uses[2] = -1; }),
      "expected bram18 of memory 'a' in bram of 0 to 4294967296 but got "
      "-1");
  EXPECT_EQ(broken([](Problem &p) { p.dies[0].logic[4] = -1; }),
            "expected dsp of die 'SLR0' of 0 to 4294967296 but got -1");
}

TEST(MemoryAssignment, VerifyRefusesWhatIsWrong) {
  Problem problem = oneDie({100, 100, 10, 10, 10});
  problem.memories.push_back(memory("a", 50, 11, 1));
  const MemoryAssignmentSolution good = problem.solutionAt({2});
  EXPECT_FALSE(problem.verify(good));
  EXPECT_TRUE(problem.verify(problem.solutionAt({1})));
  MemoryAssignmentSolution bad = good;
  bad.choices[0] = 3;
  EXPECT_TRUE(problem.verify(bad));
  bad.choices.clear();
  EXPECT_TRUE(problem.verify(bad));
  bad = good;
  ++bad.percent;
  EXPECT_TRUE(problem.verify(bad));
  bad = good;
  --bad.shares;
  EXPECT_TRUE(problem.verify(bad));
}

TEST(MemoryAssignment, RandomProblemsByEnumeration) {
  int solved = 0, none = 0, best = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    Problem problem;
    for (int64_t d = pick(1, 2); d-- > 0;) {
      MemoryDie die{"d", {}, {}};
      for (unsigned r = 0; r < kNumResources; ++r) {
        die.budget[r] = pick(0, 9) ? pick(20, 100) : 0;
        die.logic[r] = pick(0, die.budget[r] / 2);
      }
      problem.dies.push_back(die);
    }
    for (int64_t m = pick(0, 7); m-- > 0;) {
      Memory one = memory("m", pick(0, 60), pick(0, 30), pick(0, 30));
      one.die = pick(0, problem.dies.size() - 1);
      one.candidates[1].uses[0] = pick(0, 5);
      one.candidates.resize(pick(1, 3));
      problem.memories.push_back(one);
    }
    std::optional<std::pair<int64_t, int64_t>> expected;
    Choices choices(problem.memories.size(), 0);
    for (bool more = true; more;) {
      const MemoryAssignmentSolution at = problem.solutionAt(choices);
      const auto rank = std::make_pair(at.percent, at.shares);
      if (!problem.verify(at) && (!expected || rank < *expected))
        expected = rank;
      size_t i = 0;
      while (i < choices.size() &&
             choices[i] + 1 == problem.memories[i].candidates.size())
        choices[i++] = 0;
      more = i < choices.size();
      if (more)
        ++choices[i];
    }
    std::string error;
    const auto solution = solve(problem, error);
    if (problem.findObstacle()) {
      EXPECT_FALSE(expected);
    }
    if (!expected) {
      EXPECT_FALSE(solution);
      ++none;
      continue;
    }
    ++solved;
    if (hasCbc()) {
      ASSERT_TRUE(solution) << error;
      EXPECT_TRUE(solution->isOptimal);
      EXPECT_EQ(std::make_pair(solution->percent, solution->shares), *expected);
    }
    const auto search =
        solveMemoryAssignment(problem, error, {/*useCbc=*/false, 0});
    best +=
        search && std::make_pair(search->percent, search->shares) == *expected;
  }
  EXPECT_GT(solved, 50);
  EXPECT_GT(none, 10);
  // The built-in search alone mostly finds the best.
  EXPECT_GE(best * 10, solved * 7);
}

} // namespace
