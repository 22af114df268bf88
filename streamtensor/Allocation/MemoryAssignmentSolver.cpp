//===- MemoryAssignmentSolver.cpp - The choice that fills the least -------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The built-in search: each memory begins in the kind with the smallest share;
// then one memory, or two at a time, change kind as long as that lowers the
// excess over budgets, the percentage or the shares. Then the integer program
// by CBC, from the choice found.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/MemoryAssignmentProblem.h"

#include <algorithm>
#include <tuple>

using namespace streamtensor;

namespace {

using Choices = std::vector<unsigned>;

class Search {
public:
  explicit Search(const MemoryAssignmentProblem &problem);
  Choices run();

private:
  using Score = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  void change(unsigned memory, unsigned candidate);
  Score score() const;
  bool improveOne();
  bool improveTwo();

  const MemoryAssignmentProblem &problem;
  Choices choices;
  std::vector<ResourceCounts> used;
  int64_t shares = 0;
  bool hasSlope = true;
};

} // namespace

Search::Search(const MemoryAssignmentProblem &problem) : problem(problem) {
  for (unsigned m = 0; m < problem.memories.size(); ++m) {
    unsigned best = 0;
    for (unsigned c = 1; c < problem.memories[m].candidates.size(); ++c)
      if (problem.share(m, c) < problem.share(m, best))
        best = c;
    choices.push_back(best);
    shares += problem.share(m, best);
  }
  used = problem.used(choices);
}

void Search::change(unsigned m, unsigned candidate) {
  const Memory &memory = problem.memories[m];
  for (unsigned r = 0; r < kNumResources; ++r)
    used[memory.die][r] += memory.candidates[candidate].uses[r] -
                           memory.candidates[choices[m]].uses[r];
  shares += problem.share(m, candidate) - problem.share(m, choices[m]);
  choices[m] = candidate;
}

/// Excess in millionths of the budgets; the percentage; at first how full the
/// fullest budget is, so that a percentage that stays has a slope; shares.
Search::Score Search::score() const {
  int64_t excess = 0, fullness = 0;
  for (unsigned d = 0; d < problem.dies.size(); ++d)
    for (unsigned r = 0; r < kNumResources; ++r) {
      const int64_t budget = problem.dies[d].budget[r];
      if (used[d][r] > budget)
        excess += static_cast<int64_t>(__int128(used[d][r] - budget) * 1000000 /
                                       std::max<int64_t>(budget, 1)) +
                  1;
      else if (budget > 0)
        fullness = std::max(fullness, 1000000 * used[d][r] / budget);
    }
  return {excess, problem.percent(used), hasSlope ? fullness : 0, shares};
}

bool Search::improveOne() {
  bool improved = false;
  Score best = score();
  for (unsigned m = 0; m < choices.size(); ++m)
    for (unsigned c = 0; c < problem.memories[m].candidates.size(); ++c) {
      const unsigned old = choices[m];
      if (c == old)
        continue;
      change(m, c);
      if (const Score now = score(); now < best) {
        best = now;
        improved = true;
      } else {
        change(m, old);
      }
    }
  return improved;
}

bool Search::improveTwo() {
  bool improved = false;
  Score best = score();
  for (unsigned a = 0; a < choices.size(); ++a)
    for (unsigned b = a + 1; b < choices.size(); ++b) {
      const unsigned oldA = choices[a], oldB = choices[b];
      // Others are one change each, or none.
      if (oldA == oldB || problem.memories[a].die != problem.memories[b].die ||
          oldB >= problem.memories[a].candidates.size() ||
          oldA >= problem.memories[b].candidates.size())
        continue;
      change(a, oldB);
      change(b, oldA);
      if (const Score now = score(); now < best) {
        best = now;
        improved = true;
      } else {
        change(b, oldB);
        change(a, oldA);
      }
    }
  return improved;
}

Choices Search::run() {
  for (bool slope : {true, false}) {
    hasSlope = slope;
    for (unsigned round = 0; round < 50; ++round)
      if (!improveOne() && !improveTwo())
        break;
  }
  return choices;
}

std::optional<MemoryAssignmentSolution>
streamtensor::solveMemoryAssignment(const MemoryAssignmentProblem &problem,
                                    std::string &error,
                                    const MemoryAssignmentOptions &options) {
  if (std::optional<std::string> obstacle = problem.findObstacle()) {
    error = *obstacle;
    return std::nullopt;
  }
  const Choices found = Search(problem).run();
  auto isLegal = [&](const Choices &choices) {
    return problem.describeExcess(problem.used(choices)).empty();
  };
  const bool isFound = isLegal(found);
  auto finish = [&](Choices choices, std::string method, bool isOptimal) {
    MemoryAssignmentSolution solution = problem.solutionAt(std::move(choices));
    solution.method = std::move(method);
    solution.isOptimal = isOptimal;
    return solution;
  };
  using Status = IntegerResult::Status;
  std::optional<IntegerResult> result;
  if (options.useCbc)
    result =
        solveByCbc(problem.integerProgram(), options.maxNodes,
                   isFound ? problem.valuesOf(found) : std::vector<int64_t>());
  const bool isOptimal = result && result->status == Status::Optimal;
  if (isOptimal || (result && result->status == Status::Feasible)) {
    Choices choices;
    size_t column = 0;
    for (const Memory &memory : problem.memories) {
      choices.push_back(0);
      for (unsigned c = 0; c < memory.candidates.size(); ++c)
        if (result->values[column++] == 1)
          choices.back() = c;
    }
    // Rounded values can break a budget, and need not be better.
    auto rank = [&](const Choices &choices) {
      const MemoryAssignmentSolution at = problem.solutionAt(choices);
      return std::make_pair(at.percent, at.shares);
    };
    if (isLegal(choices) && (!isFound || rank(choices) < rank(found)))
      return finish(choices, "cbc", isOptimal);
  }
  if (isFound)
    return finish(found, isOptimal ? "cbc" : "search", isOptimal);
  error = std::string("expected a kind of memory for each buffer and fifo "
                      "within all budgets but ") +
          (result && result->status == Status::Infeasible ? "there is none"
                                                          : "found none") +
          "; in the closest choice " +
          problem.describeExcess(problem.used(found)) +
          "; smaller tiles, FIFO strategy 'conservative' or 'min', or a larger "
          "target would help";
  return std::nullopt;
}
