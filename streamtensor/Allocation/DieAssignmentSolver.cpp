//===- DieAssignmentSolver.cpp - Cheapest assignments ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The built-in search: from several beginnings, move one task or swap two as
// long as that lowers the excess over limits, or the cost at the same excess.
// Beginnings are all tasks on one die, and the tasks in the order of the data,
// cut into pieces that fill one die after the other. From the best result,
// threshold accepting (G. Dueck, T. Scheuer, 1990) leaves local optima: random
// steps that cost no more than a threshold, which falls to 0. Its random
// numbers and the number of steps are fixed. Then the integer program, from the
// best assignment that the search has found.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DieAssignmentSolver.h"

#include <algorithm>
#include <random>
#include <tuple>

using namespace streamtensor;

namespace {

using Assignment = std::vector<unsigned>;

/// Of threshold accepting: steps at most, and how often.
constexpr int64_t kMostSteps = 150000;
constexpr unsigned kNumSeeds = 4;

class Search {
public:
  explicit Search(const DieAssignmentProblem &problem);
  /// The best of all beginnings.
  Assignment run();

private:
  /// Excess first, in millionths of the limits; then cost.
  struct Score {
    int64_t excess = 0, cost = 0;
    bool operator<(const Score &other) const {
      return std::tie(excess, cost) < std::tie(other.excess, other.cost);
    }
  };
  void begin(Assignment assignment);
  void move(unsigned task, unsigned die);
  Score score() const;
  void improve();
  void accept(unsigned seed);
  bool moveOne();
  bool swapTwo();
  std::vector<unsigned> order() const;
  Assignment fill(const std::vector<unsigned> &order,
                  const std::vector<unsigned> &dies, int64_t percent) const;

  const DieAssignmentProblem &problem;
  const unsigned numDies;
  /// Edges at each task.
  std::vector<std::vector<unsigned>> edgesAt;
  Assignment dies;
  DieFigures figures;
};

} // namespace

Search::Search(const DieAssignmentProblem &problem)
    : problem(problem), numDies(problem.dies.size()),
      edgesAt(problem.tasks.size()) {
  for (unsigned i = 0; i < problem.edges.size(); ++i) {
    edgesAt[problem.edges[i].source].push_back(i);
    edgesAt[problem.edges[i].target].push_back(i);
  }
}

void Search::begin(Assignment assignment) {
  for (unsigned t = 0; t < assignment.size(); ++t)
    assignment[t] = problem.tasks[t].die.value_or(assignment[t]);
  dies = std::move(assignment);
  figures = problem.figures(dies);
}

void Search::move(unsigned task, unsigned die) {
  const unsigned old = dies[task];
  for (unsigned r = 0; r < kNumResources; ++r) {
    figures.used[old][r] -= problem.tasks[task].uses[r];
    figures.used[die][r] += problem.tasks[task].uses[r];
  }
  for (unsigned index : edgesAt[task]) {
    const DieEdge &edge = problem.edges[index];
    const unsigned other =
        dies[edge.source == task ? edge.target : edge.source];
    auto count = [&](unsigned own, int64_t bits) {
      const auto [low, high] = std::minmax(own, other);
      for (unsigned k = low; k < high; ++k)
        figures.wires[k] += bits;
      figures.crossingBits += bits * static_cast<int64_t>(high - low);
    };
    count(old, -edge.bits);
    count(die, edge.bits);
  }
  dies[task] = die;
}

Search::Score Search::score() const {
  Score score;
  DieFigures now = figures;
  now.percent = 0;
  auto exceed = [&](int64_t got, int64_t most) {
    if (got > most)
      score.excess += static_cast<int64_t>(__int128(got - most) * 1000000 /
                                           std::max<int64_t>(most, 1)) +
                      1;
  };
  for (unsigned d = 0; d < numDies; ++d)
    for (unsigned r = 0; r < kNumResources; ++r) {
      exceed(figures.used[d][r], problem.limit(d, r));
      if (const int64_t budget = problem.dies[d].budget[r])
        now.percent = std::max(
            now.percent, (100 * figures.used[d][r] + budget - 1) / budget);
    }
  for (int64_t wires : figures.wires)
    exceed(wires, problem.maxWires);
  score.cost = problem.cost(now);
  return score;
}

bool Search::moveOne() {
  bool improved = false;
  Score best = score();
  for (unsigned t = 0; t < dies.size(); ++t) {
    if (problem.tasks[t].die)
      continue;
    for (unsigned d = 0; d < numDies; ++d) {
      const unsigned old = dies[t];
      if (d == old)
        continue;
      move(t, d);
      const Score now = score();
      if (now < best) {
        best = now;
        improved = true;
      } else {
        move(t, old);
      }
    }
  }
  return improved;
}

bool Search::swapTwo() {
  bool improved = false;
  Score best = score();
  for (unsigned a = 0; a < dies.size(); ++a)
    for (unsigned b = a + 1; b < dies.size(); ++b) {
      const unsigned dieA = dies[a], dieB = dies[b];
      if (dieA == dieB || problem.tasks[a].die || problem.tasks[b].die)
        continue;
      move(a, dieB);
      move(b, dieA);
      const Score now = score();
      if (now < best) {
        best = now;
        improved = true;
      } else {
        move(b, dieB);
        move(a, dieA);
      }
    }
  return improved;
}

void Search::improve() {
  // Each step lowers the score, so this ends; the bound keeps it short.
  for (unsigned round = 0; round < 20; ++round)
    if (!moveOne() && !swapTwo())
      return;
}

/// Random steps from the assignment at hand to the best one on the way.
void Search::accept(unsigned seed) {
  std::vector<unsigned> movable;
  for (unsigned t = 0; t < dies.size(); ++t)
    if (!problem.tasks[t].die)
      movable.push_back(t);
  if (movable.empty())
    return;
  int64_t bits = problem.balanceBits * 100;
  for (const DieEdge &edge : problem.edges)
    bits += edge.bits;
  // A tenth of a limit too much costs as much as all edges.
  auto energy = [&](const Score &score) {
    return score.cost +
           static_cast<int64_t>(__int128(score.excess) * bits / 100000);
  };
  // At first a step may cost a few edges.
  const int64_t highest =
      4 * bits / static_cast<int64_t>(problem.edges.size() + 1) + 1;
  const int64_t numSteps = std::min<int64_t>(kMostSteps, 2000 * movable.size());
  std::mt19937 random(seed);
  auto pick = [&](size_t size) { return random() % size; };
  Score best = score();
  Assignment bestDies = dies;
  int64_t now = energy(best);
  for (int64_t step = 0; step < numSteps; ++step) {
    const int64_t threshold = static_cast<int64_t>(
        __int128(highest) * (numSteps - step) * (numSteps - step) /
        (__int128(numSteps) * numSteps));
    const unsigned a = movable[pick(movable.size())], dieA = dies[a];
    const unsigned dieB = (dieA + 1 + pick(numDies - 1)) % numDies;
    std::vector<std::pair<unsigned, unsigned>> back;
    auto take = [&](unsigned task, unsigned die) {
      back.emplace_back(task, dies[task]);
      move(task, die);
    };
    if (const unsigned kind = pick(4); kind == 0) {
      // In exchange for another one.
      const unsigned b = movable[pick(movable.size())];
      if (dies[b] == dieB)
        take(b, dieA);
      take(a, dieB);
    } else if (kind == 1) {
      take(a, dieB);
    } else {
      // With neighbours, which would hold it back.
      const size_t most = 2 + pick(14);
      take(a, dieB);
      for (size_t i = 0; i < back.size() && back.size() < most; ++i)
        for (unsigned index : edgesAt[back[i].first]) {
          const DieEdge &edge = problem.edges[index];
          const unsigned other =
              edge.source == back[i].first ? edge.target : edge.source;
          if (back.size() < most && dies[other] == dieA &&
              !problem.tasks[other].die)
            take(other, dieB);
        }
    }
    const Score reached = score();
    if (energy(reached) <= now + threshold) {
      now = energy(reached);
      if (reached < best) {
        best = reached;
        bestDies = dies;
      }
      continue;
    }
    for (auto move1 = back.rbegin(); move1 != back.rend(); ++move1)
      move(move1->first, move1->second);
  }
  begin(std::move(bestDies));
}

/// Tasks so that sources come before targets where no cycle prevents it.
std::vector<unsigned> Search::order() const {
  std::vector<unsigned> numSources(dies.size(), 0), result, ready;
  auto leaves = [&](unsigned task, const DieEdge &edge) {
    return edge.source == task && edge.target != task;
  };
  for (unsigned t = 0; t < problem.tasks.size(); ++t)
    for (unsigned index : edgesAt[t])
      if (leaves(t, problem.edges[index]))
        ++numSources[problem.edges[index].target];
  std::vector<bool> isDone(problem.tasks.size(), false);
  while (result.size() < problem.tasks.size()) {
    // The latest that has become ready, so that chains stay together.
    unsigned next = 0;
    if (!ready.empty()) {
      next = ready.back();
      ready.pop_back();
    } else {
      for (unsigned t = 1; t < problem.tasks.size(); ++t)
        if (!isDone[t] && (isDone[next] || numSources[t] < numSources[next]))
          next = t;
    }
    if (isDone[next])
      continue;
    isDone[next] = true;
    result.push_back(next);
    for (unsigned index : edgesAt[next])
      if (const DieEdge &edge = problem.edges[index]; leaves(next, edge))
        if (--numSources[edge.target] == 0)
          ready.push_back(edge.target);
  }
  return result;
}

/// Fills one die after the other up to a share of its limits.
Assignment Search::fill(const std::vector<unsigned> &order,
                        const std::vector<unsigned> &sequence,
                        int64_t percent) const {
  Assignment result(problem.tasks.size(), sequence.back());
  std::vector<ResourceCounts> used(numDies, ResourceCounts{});
  for (const DieTask &task : problem.tasks)
    if (task.die)
      for (unsigned r = 0; r < kNumResources; ++r)
        used[*task.die][r] += task.uses[r];
  size_t at = 0;
  for (unsigned t : order) {
    const DieTask &task = problem.tasks[t];
    if (task.die)
      continue;
    auto fits = [&](unsigned die) {
      for (unsigned r = 0; r < kNumResources; ++r)
        if (100 * (used[die][r] + task.uses[r]) >
            percent * problem.limit(die, r))
          return false;
      return true;
    };
    while (at + 1 < sequence.size() && !fits(sequence[at]))
      ++at;
    result[t] = sequence[at];
    for (unsigned r = 0; r < kNumResources; ++r)
      used[sequence[at]][r] += task.uses[r];
  }
  return result;
}

Assignment Search::run() {
  std::vector<Assignment> beginnings;
  for (unsigned d = 0; d < numDies; ++d)
    beginnings.push_back(Assignment(problem.tasks.size(), d));
  dies.assign(problem.tasks.size(), 0);
  std::vector<unsigned> upwards(numDies), downwards;
  for (unsigned d = 0; d < numDies; ++d)
    upwards[d] = d;
  downwards.assign(upwards.rbegin(), upwards.rend());
  const std::vector<unsigned> tasks = order();
  for (int64_t percent : {60, 80, 100})
    for (const std::vector<unsigned> &sequence : {upwards, downwards})
      beginnings.push_back(fill(tasks, sequence, percent));
  Assignment best;
  std::optional<Score> bestScore;
  auto keep = [&] {
    improve();
    const Score now = score();
    if (!bestScore || now < *bestScore) {
      bestScore = now;
      best = dies;
    }
  };
  for (Assignment &beginning : beginnings) {
    begin(std::move(beginning));
    keep();
  }
  for (unsigned seed = 1; seed <= kNumSeeds; ++seed) {
    begin(best);
    accept(seed);
    keep();
  }
  return best;
}

//===----------------------------------------------------------------------===//

namespace {

std::string explainFailure(const DieAssignmentProblem &problem,
                           const Assignment &closest, bool isProven) {
  return std::string("expected an assignment of tasks to dies within all "
                     "limits but ") +
         (isProven ? "there is none" : "found none") + "; in the closest one " +
         problem.describeExcess(problem.figures(closest)) +
         "; smaller tasks (smaller tiles or fewer lanes), a larger target, or "
         "higher limits would help";
}

} // namespace

std::optional<DieAssignmentSolution>
streamtensor::solveDieAssignment(const DieAssignmentProblem &problem,
                                 std::string &error,
                                 const DieAssignmentOptions &options) {
  if (std::optional<std::string> obstacle = problem.findObstacle()) {
    error = *obstacle;
    return std::nullopt;
  }
  const DieAssignmentProblem grouped = problem.grouped();
  const std::vector<unsigned> groups = problem.groups();
  auto finish = [&](const Assignment &dies, std::string method,
                    bool isOptimal) {
    Assignment all;
    for (unsigned group : groups)
      all.push_back(dies[group]);
    DieAssignmentSolution solution = problem.solutionAt(std::move(all));
    solution.method = std::move(method);
    solution.isOptimal = isOptimal;
    return solution;
  };
  if (problem.dies.size() == 1)
    return finish(Assignment(grouped.tasks.size(), 0), "one die", true);

  const Assignment found = Search(grouped).run();
  auto isWithinLimits = [&](const Assignment &dies) {
    return grouped.describeExcess(grouped.figures(dies)).empty();
  };
  const bool isFound = isWithinLimits(found);
  std::optional<IntegerResult> result;
  if (options.useCbc)
    result =
        solveByCbc(grouped.integerProgram(), options.maxNodes,
                   isFound ? grouped.valuesOf(found) : std::vector<int64_t>());
  using Status = IntegerResult::Status;
  if (result && (result->status == Status::Optimal ||
                 result->status == Status::Feasible)) {
    Assignment dies(grouped.tasks.size(), 0);
    for (unsigned t = 0; t < dies.size(); ++t)
      for (unsigned d = 0; d < problem.dies.size(); ++d)
        if (result->values[t * problem.dies.size() + d] == 1)
          dies[t] = d;
    // Rounded values can break a limit, and need not be better.
    auto cost = [&](const Assignment &dies) {
      return grouped.cost(grouped.figures(dies));
    };
    const bool isOptimal = result->status == Status::Optimal;
    if (isWithinLimits(dies) && (!isFound || cost(dies) < cost(found)))
      return finish(dies, "cbc", isOptimal);
    if (isFound)
      return finish(found, isOptimal ? "cbc" : "search", isOptimal);
  }
  if (isFound)
    return finish(found, "search", false);
  error = explainFailure(problem, finish(found, "", false).dies,
                         result && result->status == Status::Infeasible);
  return std::nullopt;
}
