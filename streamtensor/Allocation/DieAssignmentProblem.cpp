//===- DieAssignmentProblem.cpp - Which die each task is on ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks, figures of assignments, and the integer program.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DieAssignmentProblem.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

using namespace streamtensor;

std::string streamtensor::resourceName(unsigned resource) {
  static constexpr const char *kNames[] = {"lut", "ff", "bram18", "uram",
                                           "dsp"};
  return kNames[resource];
}

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// So that sums and products with 100 stay far below 2^63.
constexpr int64_t kMostUses = int64_t(1) << 32;
constexpr int64_t kMostBits = int64_t(1) << 24;
constexpr size_t kMostItems = size_t(1) << 16;

const char *const kLessParallelism =
    "smaller tiles or fewer lanes, or a larger target";

} // namespace

unsigned DieAssignmentProblem::addTask(std::string name, ResourceCounts uses,
                                       std::optional<unsigned> die) {
  tasks.push_back({std::move(name), uses, die});
  return tasks.size() - 1;
}

unsigned DieAssignmentProblem::addEdge(DieEdge edge) {
  edges.push_back(std::move(edge));
  return edges.size() - 1;
}

int64_t DieAssignmentProblem::limit(unsigned die, unsigned resource) const {
  return dies[die].budget[resource] * percentLimits[resource] / 100;
}

bool DieAssignmentProblem::isCut(const DieEdge &edge) const {
  return edge.source != edge.target && edge.bits > 0;
}

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

std::optional<std::string> DieAssignmentProblem::check() const {
  auto expectRange = [](const std::string &what, int64_t value, int64_t low,
                        int64_t high) -> std::optional<std::string> {
    if (value >= low && value <= high)
      return std::nullopt;
    return "expected " + what + " of " + std::to_string(low) + " to " +
           std::to_string(high) + " but got " + std::to_string(value);
  };
  auto expectCounts =
      [&](const std::string &what,
          const ResourceCounts &counts) -> std::optional<std::string> {
    for (unsigned r = 0; r < kNumResources; ++r)
      if (auto error = expectRange(resourceName(r) + " of " + what, counts[r],
                                   0, kMostUses))
        return error;
    return std::nullopt;
  };
  if (dies.empty())
    return "expected at least one die but got none";
  if (std::max({dies.size(), tasks.size(), edges.size()}) > kMostItems)
    return "expected at most " + std::to_string(kMostItems) +
           " dies, tasks and edges but got more";
  for (const Die &die : dies)
    if (auto error = expectCounts("die '" + die.name + "'", die.budget))
      return error;
  for (unsigned r = 0; r < kNumResources; ++r)
    if (auto error =
            expectRange("a limit of " + resourceName(r) + " in percent",
                        percentLimits[r], 0, 100))
      return error;
  if (auto error = expectRange("wires over a boundary", maxWires, 0, INT64_MAX))
    return error;
  if (auto error = expectRange("bits for a percent of imbalance", balanceBits,
                               0, kMostBits))
    return error;
  if (auto error = expectRange("register stages per boundary",
                               stagesPerBoundary, 0, 1024))
    return error;
  for (const DieTask &task : tasks) {
    if (auto error = expectCounts("task '" + task.name + "'", task.uses))
      return error;
    if (task.die && *task.die >= dies.size())
      return "expected a die below " + std::to_string(dies.size()) +
             " for task '" + task.name + "' but got " +
             std::to_string(*task.die);
  }
  for (const DieEdge &edge : edges) {
    const std::string fifo = "fifo '" + edge.name + "'";
    if (edge.source >= tasks.size() || edge.target >= tasks.size())
      return "expected ends of " + fifo + " among " +
             std::to_string(tasks.size()) + " tasks but got " +
             std::to_string(edge.source) + " and " +
             std::to_string(edge.target);
    if (auto error = expectRange("bits of " + fifo, edge.bits, 0, kMostBits))
      return error;
    if (auto error = expectCounts(fifo, edge.uses))
      return error;
  }
  // One die per group.
  const std::vector<unsigned> group = groups();
  std::vector<const DieTask *> given(tasks.size(), nullptr);
  for (unsigned t = 0; t < tasks.size(); ++t) {
    if (!tasks[t].die)
      continue;
    const DieTask *&other = given[group[t]];
    if (other && *other->die != *tasks[t].die)
      return "expected tasks '" + other->name + "' and '" + tasks[t].name +
             "', which share arrays, on one die but got '" +
             dies[*other->die].name + "' and '" + dies[*tasks[t].die].name +
             "'";
    other = &tasks[t];
  }
  return std::nullopt;
}

std::optional<std::string> DieAssignmentProblem::findObstacle() const {
  const DieAssignmentProblem problem = grouped();
  ResourceCounts total = {}, limits = {}, budgets = {};
  std::vector<ResourceCounts> given(dies.size(), ResourceCounts{});
  for (const DieTask &task : problem.tasks) {
    addCounts(total, task.uses);
    if (task.die)
      addCounts(given[*task.die], task.uses);
  }
  for (unsigned d = 0; d < dies.size(); ++d)
    for (unsigned r = 0; r < kNumResources; ++r) {
      limits[r] += limit(d, r);
      budgets[r] += dies[d].budget[r];
    }
  /// A higher limit helps where it is one that exists.
  auto help = [&](unsigned r, int64_t uses, int64_t budget) {
    std::string text = std::string("; ") + kLessParallelism;
    if (uses <= budget)
      text += ", or a limit of at least " +
              std::to_string(ceilDiv(100 * uses, budget)) + " % for " +
              resourceName(r);
    return text + " would help";
  };
  auto atMost = [&](unsigned r, int64_t most, int64_t budget) {
    return "expected at most " + std::to_string(most) + " " + resourceName(r) +
           " (" + std::to_string(percentLimits[r]) + " % of " +
           std::to_string(budget) + ")";
  };
  auto butGot = [&](int64_t uses, int64_t most) {
    return " but got " + std::to_string(uses) + ", " +
           std::to_string(uses - most) + " too many";
  };
  for (unsigned r = 0; r < kNumResources; ++r)
    if (total[r] > limits[r])
      return atMost(r, limits[r], budgets[r]) + " on all dies" +
             butGot(total[r], limits[r]) + help(r, total[r], budgets[r]);
  for (unsigned d = 0; d < dies.size(); ++d)
    for (unsigned r = 0; r < kNumResources; ++r)
      if (given[d][r] > limit(d, r))
        return atMost(r, limit(d, r), dies[d].budget[r]) +
               " in tasks that must be on die '" + dies[d].name + "'" +
               butGot(given[d][r], limit(d, r)) +
               help(r, given[d][r], dies[d].budget[r]);
  for (const DieTask &task : problem.tasks)
    for (unsigned r = 0; r < kNumResources; ++r) {
      unsigned largest = 0;
      for (unsigned d = 0; d < dies.size(); ++d)
        if (limit(d, r) > limit(largest, r))
          largest = d;
      const int64_t most = limit(largest, r);
      const int64_t budget = dies[largest].budget[r];
      if (task.uses[r] > most)
        return atMost(r, most, budget) + " in task '" + task.name +
               "', the most that a die has," + butGot(task.uses[r], most) +
               help(r, task.uses[r], budget);
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

DieFigures
DieAssignmentProblem::figures(const std::vector<unsigned> &assigned) const {
  DieFigures figures;
  figures.used.assign(dies.size(), ResourceCounts{});
  figures.wires.assign(dies.size() - 1, 0);
  for (unsigned t = 0; t < tasks.size(); ++t)
    addCounts(figures.used[assigned[t]], tasks[t].uses);
  for (const DieEdge &edge : edges) {
    addCounts(figures.used[assigned[edge.target]], edge.uses);
    const auto [low, high] =
        std::minmax(assigned[edge.source], assigned[edge.target]);
    for (unsigned k = low; k < high; ++k)
      figures.wires[k] += edge.bits;
    figures.crossingBits += edge.bits * (high - low);
  }
  for (unsigned d = 0; d < dies.size(); ++d)
    for (unsigned r = 0; r < kNumResources; ++r)
      if (const int64_t budget = dies[d].budget[r])
        figures.percent = std::max(figures.percent,
                                   ceilDiv(100 * figures.used[d][r], budget));
  return figures;
}

std::string
DieAssignmentProblem::describeExcess(const DieFigures &figures) const {
  std::string text;
  auto describe = [&](const std::string &what, int64_t got, int64_t most) {
    if (got <= most)
      return;
    text += (text.empty() ? "" : ", ") + what + " has " + std::to_string(got) +
            " of at most " + std::to_string(most) + " (" +
            std::to_string(got - most) + " too many)";
  };
  for (unsigned d = 0; d < dies.size(); ++d)
    for (unsigned r = 0; r < kNumResources; ++r)
      describe(resourceName(r) + " of die '" + dies[d].name + "'",
               figures.used[d][r], limit(d, r));
  for (unsigned k = 0; k < figures.wires.size(); ++k)
    describe("wires between dies '" + dies[k].name + "' and '" +
                 dies[k + 1].name + "'",
             figures.wires[k], maxWires);
  return text;
}

DieAssignmentSolution
DieAssignmentProblem::solutionAt(std::vector<unsigned> assigned) const {
  DieAssignmentSolution solution;
  for (const DieEdge &edge : edges) {
    const auto [low, high] =
        std::minmax(assigned[edge.source], assigned[edge.target]);
    solution.crossings.push_back(high - low);
    solution.stages.push_back((high - low) * stagesPerBoundary);
  }
  const DieFigures all = figures(assigned);
  solution.crossingBits = all.crossingBits;
  solution.percent = all.percent;
  solution.cost = cost(all);
  solution.dies = std::move(assigned);
  return solution;
}

std::optional<std::string>
DieAssignmentProblem::verify(const DieAssignmentSolution &solution) const {
  if (solution.dies.size() != tasks.size())
    return "expected dies of " + std::to_string(tasks.size()) +
           " tasks but got " + std::to_string(solution.dies.size());
  for (unsigned t = 0; t < tasks.size(); ++t) {
    const DieTask &task = tasks[t];
    if (solution.dies[t] >= dies.size())
      return "expected a die below " + std::to_string(dies.size()) +
             " for task '" + task.name + "' but got " +
             std::to_string(solution.dies[t]);
    if (task.die && *task.die != solution.dies[t])
      return "expected task '" + task.name + "' on die '" +
             dies[*task.die].name + "' but got '" +
             dies[solution.dies[t]].name + "'";
  }
  for (const DieEdge &edge : edges)
    if (edge.isShared &&
        solution.dies[edge.source] != solution.dies[edge.target])
      return "expected tasks '" + tasks[edge.source].name + "' and '" +
             tasks[edge.target].name + "' on one die, for array '" + edge.name +
             "', but got two";
  const DieFigures all = figures(solution.dies);
  if (const std::string excess = describeExcess(all); !excess.empty())
    return "expected all limits to hold but got " + excess;
  const DieAssignmentSolution stated = solutionAt(solution.dies);
  if (solution.crossings != stated.crossings ||
      solution.stages != stated.stages)
    return "expected the crossings and register stages that follow from the "
           "dies but got others";
  if (solution.crossingBits != stated.crossingBits ||
      solution.percent != stated.percent || solution.cost != stated.cost)
    return "expected " + std::to_string(stated.crossingBits) +
           " crossing bits, " + std::to_string(stated.percent) +
           " % and a cost of " + std::to_string(stated.cost) + " but got " +
           std::to_string(solution.crossingBits) + ", " +
           std::to_string(solution.percent) + " and " +
           std::to_string(solution.cost);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Groups and the integer program
//===----------------------------------------------------------------------===//

std::vector<unsigned> DieAssignmentProblem::groups() const {
  std::vector<unsigned> parent(tasks.size());
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](unsigned task) {
    while (parent[task] != task)
      task = parent[task] = parent[parent[task]];
    return task;
  };
  for (const DieEdge &edge : edges)
    if (edge.isShared) {
      const auto [low, high] =
          std::minmax(find(edge.source), find(edge.target));
      parent[high] = low;
    }
  std::vector<unsigned> group(tasks.size());
  unsigned numGroups = 0;
  for (unsigned t = 0; t < tasks.size(); ++t)
    group[t] = find(t) == t ? numGroups++ : group[find(t)];
  return group;
}

DieAssignmentProblem DieAssignmentProblem::grouped() const {
  DieAssignmentProblem result = *this;
  result.tasks.clear();
  result.edges.clear();
  const std::vector<unsigned> group = groups();
  for (unsigned t = 0; t < tasks.size(); ++t) {
    if (group[t] == result.tasks.size())
      result.tasks.push_back({tasks[t].name, {}, std::nullopt});
    DieTask &merged = result.tasks[group[t]];
    addCounts(merged.uses, tasks[t].uses);
    if (tasks[t].die)
      merged.die = tasks[t].die;
  }
  std::map<std::pair<unsigned, unsigned>, unsigned> between;
  for (const DieEdge &edge : edges) {
    addCounts(result.tasks[group[edge.target]].uses, edge.uses);
    const auto [low, high] =
        std::minmax(group[edge.source], group[edge.target]);
    if (low == high || edge.bits == 0)
      continue;
    const auto [place, isNew] =
        between.try_emplace({low, high}, result.edges.size());
    if (isNew)
      result.edges.push_back({edge.name, low, high, 0, {}, false});
    result.edges[place->second].bits += edge.bits;
  }
  return result;
}

IntegerProgram DieAssignmentProblem::integerProgram() const {
  IntegerProgram program;
  const unsigned numDies = dies.size();
  auto isOn = [&](unsigned task, unsigned die) { return task * numDies + die; };
  for (const DieTask &task : tasks) {
    IntegerRow one;
    for (unsigned d = 0; d < numDies; ++d) {
      IntegerColumn column;
      if (task.die) {
        column.lower = *task.die == d;
        column.upper = *task.die == d;
      }
      one.terms.push_back({program.addColumn(column), 1});
    }
    one.lower = one.upper = 1;
    program.addRow(one);
  }
  // The largest share of a budget, in percent, that any die uses.
  const unsigned percent =
      program.addColumn({0, 100, balanceBits, /*isInteger=*/true});
  for (unsigned d = 0; d < numDies; ++d)
    for (unsigned r = 0; r < kNumResources; ++r) {
      IntegerRow budget, share;
      auto use = [&](unsigned task, int64_t amount) {
        if (amount == 0)
          return;
        budget.terms.push_back({isOn(task, d), amount});
        share.terms.push_back({isOn(task, d), 100 * amount});
      };
      ResourceCounts none = {};
      std::vector<ResourceCounts> uses(tasks.size(), none);
      for (unsigned t = 0; t < tasks.size(); ++t)
        addCounts(uses[t], tasks[t].uses);
      for (const DieEdge &edge : edges)
        addCounts(uses[edge.target], edge.uses);
      for (unsigned t = 0; t < tasks.size(); ++t)
        use(t, uses[t][r]);
      if (budget.terms.empty())
        continue;
      budget.upper = limit(d, r);
      program.addRow(std::move(budget));
      share.terms.push_back({percent, -dies[d].budget[r]});
      share.upper = 0;
      if (dies[d].budget[r] > 0)
        program.addRow(std::move(share));
    }
  // Whether an edge crosses a boundary: its ends are on different sides.
  std::vector<IntegerRow> wires(numDies - 1);
  for (const DieEdge &edge : edges) {
    if (!isCut(edge))
      continue;
    for (unsigned k = 0; k + 1 < numDies; ++k) {
      const unsigned crosses =
          program.addColumn({0, 1, edge.bits, /*isInteger=*/false});
      wires[k].terms.push_back({crosses, edge.bits});
      IntegerRow up, down;
      for (unsigned d = k + 1; d < numDies; ++d) {
        up.terms.push_back({isOn(edge.source, d), 1});
        up.terms.push_back({isOn(edge.target, d), -1});
        down.terms.push_back({isOn(edge.source, d), -1});
        down.terms.push_back({isOn(edge.target, d), 1});
      }
      for (IntegerRow *row : {&up, &down}) {
        row->terms.push_back({crosses, -1});
        row->upper = 0;
        program.addRow(std::move(*row));
      }
    }
  }
  for (const DieEdge &edge : edges)
    if (edge.isShared && edge.source != edge.target)
      for (unsigned d = 0; d < numDies; ++d)
        program.addRow(
            {{{isOn(edge.source, d), 1}, {isOn(edge.target, d), -1}}, 0, 0});
  for (IntegerRow &row : wires)
    if (!row.terms.empty()) {
      row.upper = maxWires;
      program.addRow(std::move(row));
    }
  return program;
}

std::vector<int64_t>
DieAssignmentProblem::valuesOf(const std::vector<unsigned> &assigned) const {
  std::vector<int64_t> values;
  for (unsigned t = 0; t < tasks.size(); ++t)
    for (unsigned d = 0; d < dies.size(); ++d)
      values.push_back(assigned[t] == d);
  values.push_back(figures(assigned).percent);
  for (const DieEdge &edge : edges)
    if (isCut(edge))
      for (unsigned k = 0; k + 1 < dies.size(); ++k)
        values.push_back((assigned[edge.source] > k) !=
                         (assigned[edge.target] > k));
  return values;
}
