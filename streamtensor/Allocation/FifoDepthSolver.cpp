//===- FifoDepthSolver.cpp - Smallest depths by simulation ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Grow, shrink, prove.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoDepthSolver.h"

#include "streamtensor/Sim/TokenSimulator.h"

#include <algorithm>
#include <cassert>

using namespace streamtensor;

namespace {

class Solver {
public:
  explicit Solver(const FifoDepthProblem &problem)
      : problem(problem), simulator(problem.network) {
    for (size_t i = 0; i < problem.network.fifos.size(); ++i)
      depths.push_back(problem.getLeastDepth(i));
  }

  bool grow(std::string &error);
  void shrink();
  FifoDepthSolution prove();

private:
  bool isGrown(unsigned fifo) const {
    return depths[fifo] > problem.getLeastDepth(fifo);
  }
  int64_t getBits(unsigned fifo) const {
    return depths[fifo] * problem.tokenBits[fifo];
  }
  std::string explainLeast(unsigned fifo) const;
  std::string explainGrown(unsigned fifo, const TokenDeadlock &deadlock) const;

  const FifoDepthProblem &problem;
  TokenSimulator simulator;
  std::vector<int64_t> depths;
};

} // namespace

bool Solver::grow(std::string &error) {
  simulator.reset(depths);
  while (!simulator.run()) {
    const TokenDeadlock deadlock = simulator.findDeadlock();
    if (!deadlock.isArtificial()) {
      error = deadlock.describe(problem.network);
      return false;
    }
    std::optional<unsigned> smallest;
    for (const BlockedProcess &blocked : deadlock.cycle) {
      if (!blocked.isWrite)
        continue;
      const unsigned fifo = blocked.fifo;
      if (!smallest || std::make_pair(getBits(fifo), fifo) <
                           std::make_pair(getBits(*smallest), *smallest))
        smallest = fifo;
    }
    simulator.setDepth(*smallest, ++depths[*smallest]);
  }
  return true;
}

void Solver::shrink() {
  std::vector<unsigned> grown;
  for (unsigned fifo = 0; fifo < depths.size(); ++fifo)
    if (isGrown(fifo))
      grown.push_back(fifo);
  std::stable_sort(grown.begin(), grown.end(), [&](unsigned a, unsigned b) {
    return getBits(a) > getBits(b);
  });
  // A single one was grown one by one already.
  if (grown.size() < 2)
    return;
  for (unsigned fifo : grown) {
    depths[fifo] = problem.getLeastDepth(fifo);
    simulator.reset(depths);
    // The network ends with the depth found before, so every cycle until then
    // goes through this FIFO.
    while (!simulator.run())
      simulator.setDepth(fifo, ++depths[fifo]);
  }
}

std::string Solver::explainLeast(unsigned fifo) const {
  const int64_t tokens = problem.network.fifos[fifo].tokens;
  if (problem.baseDepths[fifo] <= tokens)
    return "base depth";
  return tokens == 0 ? "no tokens pass"
                     : "all its tokens, fewer than the base depth";
}

std::string Solver::explainGrown(unsigned fifo,
                                 const TokenDeadlock &deadlock) const {
  const std::vector<BlockedProcess> &cycle = deadlock.cycle;
  const ProcessNetwork &network = problem.network;
  const int64_t tokens = network.fifos[fifo].tokens;
  std::string text =
      depths[fifo] == tokens
          ? "holds the whole operand of " + std::to_string(tokens) + " tokens"
          : "holds " + std::to_string(depths[fifo]) + " of " +
                std::to_string(tokens) + " tokens";
  // The reader stands next to the writer in the cycle.
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (cycle[i].fifo != fifo || !cycle[i].isWrite)
      continue;
    const BlockedProcess &reader = cycle[(i + 1) % cycle.size()];
    text += " while '" + network.processes[reader.process].name +
            "' waits to " + (reader.isWrite ? "write" : "read") + " '" +
            network.fifos[reader.fifo].name + "'";
  }
  return text + "; one less deadlocks: " + deadlock.describe(network);
}

FifoDepthSolution Solver::prove() {
  FifoDepthSolution solution;
  solution.depths = depths;
  for (unsigned fifo = 0; fifo < depths.size(); ++fifo) {
    if (!isGrown(fifo)) {
      solution.reasons.push_back(explainLeast(fifo));
      continue;
    }
    std::vector<int64_t> shallower = depths;
    --shallower[fifo];
    simulator.reset(shallower);
    const bool ends = simulator.run();
    assert(!ends && "expected one less to deadlock");
    (void)ends;
    solution.reasons.push_back(explainGrown(fifo, simulator.findDeadlock()));
  }
  return solution;
}

std::optional<FifoDepthSolution>
streamtensor::solveFifoDepths(const FifoDepthProblem &problem,
                              std::string &error) {
  Solver solver(problem);
  if (!solver.grow(error))
    return std::nullopt;
  solver.shrink();
  return solver.prove();
}
