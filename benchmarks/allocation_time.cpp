//===- allocation_time.cpp - How long the solvers take --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random problems of the size of a decoder layer and larger. Prints one line
// per solver: the median and the largest time of the seeds.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DieAssignmentSolver.h"
#include "streamtensor/Allocation/FifoSizingSolver.h"
#include "streamtensor/Allocation/MemoryAssignmentProblem.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>

using namespace streamtensor;

namespace {

/// A chain of tasks with side paths of up to 30 tasks' length, as residuals and
/// forks make them, of unequal rates and widths.
FifoSizingProblem makeNetwork(unsigned seed, unsigned numTasks,
                              unsigned numEdges) {
  std::mt19937 random(seed);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  FifoSizingProblem problem;
  for (unsigned i = 0; i < numTasks; ++i) {
    const int64_t depth = pick(1, 200);
    problem.addTask("t" + std::to_string(i), 200000 + depth, depth);
  }
  for (unsigned i = 0; i < numEdges; ++i) {
    SizingEdge edge;
    edge.name = "e" + std::to_string(i);
    edge.source = i + 1 < numTasks ? i : pick(0, numTasks - 2);
    edge.target =
        i + 1 < numTasks
            ? i + 1
            : std::min<unsigned>(edge.source + pick(1, 30), numTasks - 1);
    edge.tokens = pick(1, 40000);
    edge.tokenBits = 32 * pick(1, 16);
    auto port = [&](int64_t first) {
      return PortProfile{first, first + edge.tokens * pick(1, 4)};
    };
    edge.write = port(pick(1, 5000));
    edge.read = port(pick(0, 100));
    if (edge.tokens == 1) {
      edge.write.last = edge.write.first;
      edge.read.last = edge.read.first;
    }
    problem.addEdge(edge);
  }
  if (std::optional<std::string> error = problem.check()) {
    std::fprintf(stderr, "error: %s\n", error->c_str());
    std::exit(1);
  }
  return problem;
}

void report(const char *what, std::vector<double> milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("%s: %.1f ms, at most %.1f ms measured\n", what,
              milliseconds[milliseconds.size() / 2], milliseconds.back());
}

double time(const std::function<void()> &work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

void measureFifoSizing() {
  std::vector<double> clp, circulation, verification;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const FifoSizingProblem problem = makeNetwork(seed, 500, 800);
    FifoSizingSolution solution;
    circulation.push_back(
        time([&] { solveFifoSizing(problem, SizingMethod::Circulation); }));
    clp.push_back(
        time([&] { solution = solveFifoSizing(problem, SizingMethod::Clp); }));
    if (solution.method != SizingMethod::Clp)
      std::printf("seed %u: without CLP\n", seed);
    verification.push_back(time([&] {
      if (std::optional<std::string> error = problem.verify(solution)) {
        std::fprintf(stderr, "error: %s\n", error->c_str());
        std::exit(1);
      }
    }));
  }
  report("start times of 500 tasks and 800 fifos by CLP", clp);
  report("start times of 500 tasks and 800 fifos by circulation", circulation);
  report("check of them", verification);
}

/// A decoder layer on a card of three dies: chains of compute tasks with forks
/// and converters between, weights from memory at every sixth task. It fills
/// `percent` of what the limits allow.
DieAssignmentProblem makeLayer(unsigned seed, unsigned numTasks,
                               int64_t percent) {
  std::mt19937 random(seed);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  DieAssignmentProblem problem;
  // Budgets of a U55C: LUT, FF, BRAM18, URAM, DSP (Target/Device/u55c.json).
  problem.dies = {{"SLR0", {386000, 773000, 1200, 320, 2664}},
                  {"SLR1", {364000, 729000, 1152, 320, 2784}},
                  {"SLR2", {381000, 763000, 1200, 320, 2856}}};
  auto connect = [&](unsigned source, unsigned target, int64_t bits) {
    DieEdge edge;
    edge.name = "e" + std::to_string(problem.edges.size());
    edge.source = source;
    edge.target = target;
    edge.bits = bits;
    problem.addEdge(edge);
  };
  std::vector<unsigned> chain;
  ResourceCounts total = {};
  while (problem.tasks.size() < numTasks) {
    const std::string name = "t" + std::to_string(problem.tasks.size());
    ResourceCounts uses = {pick(200, 3000), pick(300, 5000), 0, 0, 0};
    const int64_t kind = pick(0, 5);
    if (kind == 0) // a fork
      uses = {pick(20, 100), pick(20, 100), 0, 0, 0};
    if (kind == 1 || kind == 2) // a converter
      uses[2 + pick(0, 1)] = pick(4, 60);
    if (kind >= 3)
      uses[4] = pick(0, 1) ? pick(1, 20) : 16 * pick(4, 32);
    const unsigned task = problem.addTask(name, uses);
    if (!chain.empty())
      connect(chain.back(), task, 32 * (1 << pick(0, 4)));
    if (chain.size() > 12 && kind == 4)
      connect(chain[chain.size() - pick(2, 12)], task, 32 * (1 << pick(0, 4)));
    chain.push_back(task);
    if (chain.size() % 6 == 0) {
      const unsigned load =
          problem.addTask("load" + name, {1500, 2500, 8, 0, 0}, 0);
      connect(load, task, 512);
    }
  }
  for (const DieTask &task : problem.tasks)
    for (unsigned r = 0; r < kNumResources; ++r)
      total[r] += task.uses[r];
  // Scale what can be scaled so that each resource is as full as asked for.
  for (unsigned r = 0; r < kNumResources; ++r) {
    int64_t limits = 0;
    for (unsigned d = 0; d < problem.dies.size(); ++d)
      limits += problem.limit(d, r);
    for (DieTask &task : problem.tasks)
      task.uses[r] = task.uses[r] * limits * percent / (100 * total[r]);
  }
  return problem;
}

void measureDies(int64_t percent) {
  std::vector<double> search, cbc;
  int optimal = 0, solved = 0;
  double gain = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    const DieAssignmentProblem problem = makeLayer(seed, 150, percent);
    if (std::optional<std::string> issue = problem.check()) {
      std::fprintf(stderr, "error: %s\n", issue->c_str());
      std::exit(1);
    }
    std::string error;
    std::optional<DieAssignmentSolution> built, solution;
    search.push_back(time([&] {
      built = solveDieAssignment(problem, error, {/*useCbc=*/false, 0});
    }));
    cbc.push_back(time([&] { solution = solveDieAssignment(problem, error); }));
    if (!solution) {
      std::printf("seed %u: %s\n", seed, error.c_str());
      continue;
    }
    if (auto wrong = problem.verify(*solution)) {
      std::fprintf(stderr, "error: %s\n", wrong->c_str());
      std::exit(1);
    }
    ++solved;
    optimal += solution->isOptimal;
    if (built)
      gain += 1 - static_cast<double>(solution->cost) / built->cost;
  }
  const std::string what =
      "dies of 150 tasks, " + std::to_string(percent) + " % full, ";
  report((what + "by search").c_str(), search);
  report((what + "by search and CBC").c_str(), cbc);
  std::printf("%sproven optimal by CBC: %d of %d, %.1f %% cheaper than the "
              "search measured\n",
              what.c_str(), optimal, solved, 100 * gain / std::max(solved, 1));
}

/// 300 buffers and FIFOs of random shapes on three dies, of which the smallest
/// choices would take about `percent`.
void measureMemories(int64_t percent) {
  std::vector<double> cbc;
  int optimal = 0, solved = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    MemoryAssignmentProblem problem;
    for (const char *name : {"SLR0", "SLR1", "SLR2"})
      problem.dies.push_back({name,
                              {254800, 364500, 921, 256, 2227},
                              {100000, 150000, 0, 0, 1500}});
    for (unsigned i = 0; i < 300; ++i) {
      const int64_t words = pick(1, 4) * 4096 * percent / 100;
      const int64_t bits = 8 << pick(0, 6);
      const int64_t blocks = (bits + 35) / 36 * ((words + 511) / 512);
      problem.memories.push_back(
          {"m" + std::to_string(i),
           static_cast<unsigned>(pick(0, 2)),
           {{"lutram", {words * bits / 48, 100, 0, 0, 0}},
            {"bram", {70, 90, blocks, 0, 0}},
            {"uram",
             {70, 90, 0, (bits + 71) / 72 * ((words + 4095) / 4096), 0}}}});
    }
    std::string error;
    std::optional<MemoryAssignmentSolution> solution;
    cbc.push_back(
        time([&] { solution = solveMemoryAssignment(problem, error); }));
    if (solution && problem.verify(*solution)) {
      std::fprintf(stderr, "error: a wrong solution\n");
      std::exit(1);
    }
    solved += solution.has_value();
    optimal += solution && solution->isOptimal;
  }
  const std::string what =
      "memories, 300, size " + std::to_string(percent) + " %";
  report(what.c_str(), cbc);
  std::printf("%s, fit: %d of 10, proven optimal by CBC: %d measured\n",
              what.c_str(), solved, optimal);
}

} // namespace

int main() {
  measureFifoSizing();
  for (int64_t percent : {10, 25, 50})
    measureMemories(percent);
  for (int64_t percent : {30, 60, 90})
    measureDies(percent);
  return 0;
}
