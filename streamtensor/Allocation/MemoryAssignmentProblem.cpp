//===- MemoryAssignmentProblem.cpp - A kind of memory for each ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks, figures of choices, and the integer program.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/MemoryAssignmentProblem.h"

#include <algorithm>

using namespace streamtensor;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// So that sums and products with millions stay far below 2^63.
static constexpr int64_t kMostUses = int64_t(1) << 32;
static constexpr size_t kMostItems = size_t(1) << 16;

static const char *const kWhatHelps =
    "; smaller tiles, FIFO strategy 'conservative' or 'min', or a larger "
    "target would help";

std::optional<std::string> MemoryAssignmentProblem::check() const {
  auto checkCounts =
      [](const std::string &of,
         const ResourceCounts &counts) -> std::optional<std::string> {
    for (unsigned r = 0; r < kNumResources; ++r)
      if (counts[r] < 0 || counts[r] > kMostUses)
        return "expected " + resourceName(r) + " of " + of + " of 0 to " +
               std::to_string(kMostUses) + " but got " +
               std::to_string(counts[r]);
    return std::nullopt;
  };
  if (dies.empty())
    return "expected at least one die but got none";
  if (std::max(memories.size(), dies.size()) > kMostItems)
    return "expected at most " + std::to_string(kMostItems) +
           " memories and dies but got more";
  for (const MemoryDie &die : dies)
    for (const ResourceCounts *counts : {&die.budget, &die.logic})
      if (auto error = checkCounts("die '" + die.name + "'", *counts))
        return error;
  for (const Memory &memory : memories) {
    if (memory.die >= dies.size())
      return "expected a die below " + std::to_string(dies.size()) +
             " for memory '" + memory.name + "' but got " +
             std::to_string(memory.die);
    if (memory.candidates.empty() || memory.candidates.size() > 64)
      return "expected 1 to 64 kinds of memory for '" + memory.name +
             "' but got " + std::to_string(memory.candidates.size());
    for (const MemoryCandidate &candidate : memory.candidates)
      if (auto error =
              checkCounts("memory '" + memory.name + "' in " + candidate.kind,
                          candidate.uses))
        return error;
  }
  return std::nullopt;
}

std::string MemoryAssignmentProblem::lackOf(const Memory &memory,
                                            unsigned candidate) const {
  const MemoryDie &die = dies[memory.die];
  std::string text;
  for (unsigned r = 0; r < kNumResources; ++r) {
    const int64_t uses = memory.candidates[candidate].uses[r];
    const int64_t left = std::max<int64_t>(0, die.budget[r] - die.logic[r]);
    if (uses > left)
      text += (text.empty() ? "" : ", ") + std::to_string(uses) + " " +
              resourceName(r) + " of " + std::to_string(left);
  }
  return text;
}

std::optional<std::string> MemoryAssignmentProblem::findObstacle() const {
  // What does not even fit alone is no choice.
  std::vector<std::vector<const MemoryCandidate *>> possible(memories.size());
  for (unsigned m = 0; m < memories.size(); ++m) {
    const Memory &memory = memories[m];
    std::string lacks;
    for (unsigned c = 0; c < memory.candidates.size(); ++c) {
      const std::string lack = lackOf(memory, c);
      if (lack.empty())
        possible[m].push_back(&memory.candidates[c]);
      else
        lacks += (lacks.empty() ? "" : "; ") + memory.candidates[c].kind +
                 " needs " + lack;
    }
    if (possible[m].empty())
      return "expected room for '" + memory.name +
             "' beside the logic on die '" + dies[memory.die].name +
             "' but got too little: " + lacks + kWhatHelps;
  }
  for (unsigned d = 0; d < dies.size(); ++d)
    for (unsigned r = 0; r < kNumResources; ++r) {
      const MemoryDie &die = dies[d];
      int64_t least = 0;
      for (unsigned m = 0; m < memories.size(); ++m) {
        if (memories[m].die != d)
          continue;
        int64_t smallest = possible[m].front()->uses[r];
        for (const MemoryCandidate *candidate : possible[m])
          smallest = std::min(smallest, candidate->uses[r]);
        least += smallest;
      }
      if (const int64_t total = die.logic[r] + least; total > die.budget[r])
        return "expected at most " + std::to_string(die.budget[r]) + " " +
               resourceName(r) + " on die '" + die.name + "' but got " +
               std::to_string(die.logic[r]) + " of logic and at least " +
               std::to_string(least) + " of memories, " +
               std::to_string(total - die.budget[r]) + " too many" + kWhatHelps;
    }
  return std::nullopt;
}

std::vector<ResourceCounts>
MemoryAssignmentProblem::used(const std::vector<unsigned> &choices) const {
  std::vector<ResourceCounts> result;
  for (const MemoryDie &die : dies)
    result.push_back(die.logic);
  for (unsigned m = 0; m < memories.size(); ++m)
    addCounts(result[memories[m].die], memories[m].candidates[choices[m]].uses);
  return result;
}

std::string MemoryAssignmentProblem::describeExcess(
    const std::vector<ResourceCounts> &used) const {
  std::string text;
  for (unsigned d = 0; d < dies.size(); ++d)
    for (unsigned r = 0; r < kNumResources; ++r)
      if (const int64_t excess = used[d][r] - dies[d].budget[r]; excess > 0)
        text += (text.empty() ? "" : ", ") + resourceName(r) + " of die '" +
                dies[d].name + "' has " + std::to_string(used[d][r]) +
                " of at most " + std::to_string(dies[d].budget[r]) + " (" +
                std::to_string(excess) + " too many)";
  return text;
}

int64_t MemoryAssignmentProblem::percent(
    const std::vector<ResourceCounts> &used) const {
  int64_t result = 0;
  for (unsigned d = 0; d < dies.size(); ++d)
    for (unsigned r = 0; r < kNumResources; ++r)
      if (const int64_t budget = dies[d].budget[r])
        result = std::max(result, ceilDiv(100 * used[d][r], budget));
  return result;
}

int64_t MemoryAssignmentProblem::share(unsigned memory,
                                       unsigned candidate) const {
  const ResourceCounts &budget = dies[memories[memory].die].budget;
  const ResourceCounts &uses = memories[memory].candidates[candidate].uses;
  int64_t sum = 0;
  for (unsigned r = 0; r < kNumResources; ++r)
    // What does not fit at all counts as all of it.
    sum += uses[r] >= budget[r] ? (uses[r] == 0 ? 0 : 1000000)
                                : ceilDiv(1000000 * uses[r], budget[r]);
  return sum;
}

MemoryAssignmentSolution
MemoryAssignmentProblem::solutionAt(std::vector<unsigned> choices) const {
  MemoryAssignmentSolution solution;
  solution.percent = percent(used(choices));
  for (unsigned m = 0; m < memories.size(); ++m)
    solution.shares += share(m, choices[m]);
  solution.choices = std::move(choices);
  return solution;
}

std::optional<std::string> MemoryAssignmentProblem::verify(
    const MemoryAssignmentSolution &solution) const {
  if (solution.choices.size() != memories.size())
    return "expected choices for " + std::to_string(memories.size()) +
           " memories but got " + std::to_string(solution.choices.size());
  for (unsigned m = 0; m < memories.size(); ++m)
    if (solution.choices[m] >= memories[m].candidates.size())
      return "expected one of " +
             std::to_string(memories[m].candidates.size()) +
             " kinds of memory for '" + memories[m].name + "' but got " +
             std::to_string(solution.choices[m]);
  if (const std::string excess = describeExcess(used(solution.choices));
      !excess.empty())
    return "expected all budgets to hold but got " + excess;
  const MemoryAssignmentSolution stated = solutionAt(solution.choices);
  if (solution.percent != stated.percent || solution.shares != stated.shares)
    return "expected " + std::to_string(stated.percent) + " % and shares of " +
           std::to_string(stated.shares) + " but got " +
           std::to_string(solution.percent) + " and " +
           std::to_string(solution.shares);
  return std::nullopt;
}

int64_t MemoryAssignmentProblem::percentWeight() const {
  int64_t most = 1;
  for (unsigned m = 0; m < memories.size(); ++m) {
    int64_t largest = 0;
    for (unsigned c = 0; c < memories[m].candidates.size(); ++c)
      largest = std::max(largest, share(m, c));
    most += largest;
  }
  // Legal choices stay within the budgets, up to rounding.
  const int64_t legal = static_cast<int64_t>(
      kNumResources * (1000000 * dies.size() + memories.size()) + 1);
  return std::min(most, legal);
}

IntegerProgram MemoryAssignmentProblem::integerProgram() const {
  IntegerProgram program;
  std::vector<std::array<IntegerRow, kNumResources>> budgets(dies.size()),
      percents(dies.size());
  for (unsigned m = 0; m < memories.size(); ++m) {
    const Memory &memory = memories[m];
    IntegerRow one;
    for (unsigned c = 0; c < memory.candidates.size(); ++c) {
      const unsigned column = program.addColumn({0, 1, share(m, c), true});
      one.terms.push_back({column, 1});
      for (unsigned r = 0; r < kNumResources; ++r)
        if (const int64_t uses = memory.candidates[c].uses[r]) {
          budgets[memory.die][r].terms.push_back({column, uses});
          percents[memory.die][r].terms.push_back({column, 100 * uses});
        }
    }
    one.lower = one.upper = 1;
    program.addRow(std::move(one));
  }
  const unsigned percent = program.addColumn({0, 100, percentWeight(), true});
  for (unsigned d = 0; d < dies.size(); ++d)
    for (unsigned r = 0; r < kNumResources; ++r) {
      IntegerRow &budget = budgets[d][r], &share = percents[d][r];
      budget.upper = dies[d].budget[r] - dies[d].logic[r];
      share.terms.push_back({percent, -dies[d].budget[r]});
      share.upper = -100 * dies[d].logic[r];
      if (!budget.terms.empty())
        program.addRow(std::move(budget));
      if (dies[d].budget[r] > 0)
        program.addRow(std::move(share));
    }
  return program;
}

std::vector<int64_t>
MemoryAssignmentProblem::valuesOf(const std::vector<unsigned> &choices) const {
  std::vector<int64_t> values;
  for (unsigned m = 0; m < memories.size(); ++m)
    for (unsigned c = 0; c < memories[m].candidates.size(); ++c)
      values.push_back(choices[m] == c);
  values.push_back(percent(used(choices)));
  return values;
}
