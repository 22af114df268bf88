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

#include "streamtensor/Allocation/FifoSizingSolver.h"

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

} // namespace

int main() {
  measureFifoSizing();
  return 0;
}
