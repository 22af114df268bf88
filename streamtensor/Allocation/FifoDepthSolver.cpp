//===- FifoDepthSolver.cpp - Smallest depths by simulation ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Grow and shrink, for each way to choose the FIFO that grows.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoDepthSolver.h"

#include "streamtensor/Sim/TokenSimulator.h"

#include <algorithm>
#include <cassert>

using namespace streamtensor;

namespace {

/// Depths, and for each FIFO deeper than its least depth the deadlock with one
/// token less.
struct Candidate {
  std::vector<int64_t> depths;
  std::vector<std::optional<TokenDeadlock>> proofs;
};

class Solver {
public:
  explicit Solver(const FifoDepthProblem &problem)
      : problem(problem), simulator(problem.network) {}

  /// Fails only on a true deadlock, which `error` then describes.
  std::optional<Candidate> solve(GrowingFifo choice, std::string &error);
  /// Whether some deadlock so far left a choice.
  bool hadChoice() const { return hasChoice; }
  /// Storage of all FIFOs.
  int64_t getBits(const Candidate &candidate) const;
  FifoDepthSolution explain(const Candidate &candidate) const;

private:
  bool grow(Candidate &candidate, GrowingFifo choice, std::string &error);
  unsigned chooseFifo(const Candidate &candidate, GrowingFifo choice,
                      const TokenDeadlock &deadlock);
  void shrink(Candidate &candidate);
  bool shrinkOne(Candidate &candidate, unsigned fifo);

  int64_t getBits(const Candidate &candidate, unsigned fifo) const {
    return candidate.depths[fifo] * problem.tokenBits[fifo];
  }
  std::string explainLeast(unsigned fifo) const;
  std::string explainGrown(const Candidate &candidate, unsigned fifo) const;

  const FifoDepthProblem &problem;
  TokenSimulator simulator;
  bool hasChoice = false;
};

} // namespace

unsigned Solver::chooseFifo(const Candidate &candidate, GrowingFifo choice,
                            const TokenDeadlock &deadlock) {
  const std::vector<BlockedProcess> &cycle = deadlock.cycle;
  const size_t size = cycle.size();
  std::optional<unsigned> smallest, smallestAllowed;
  size_t numFull = 0;
  auto take = [&](std::optional<unsigned> &best, unsigned fifo) {
    if (!best || std::make_pair(getBits(candidate, fifo), fifo) <
                     std::make_pair(getBits(candidate, *best), *best))
      best = fifo;
  };
  for (size_t i = 0; i < size; ++i) {
    if (!cycle[i].isWrite)
      continue;
    ++numFull;
    take(smallest, cycle[i].fifo);
    // A writer waits for the next process, so the reader is the next one.
    const size_t neighbour =
        choice == GrowingFifo::NextToReader ? i + 1 : i + size - 1;
    if (choice == GrowingFifo::Any || !cycle[neighbour % size].isWrite)
      take(smallestAllowed, cycle[i].fifo);
  }
  hasChoice |= numFull > 1;
  return smallestAllowed.value_or(*smallest);
}

bool Solver::grow(Candidate &candidate, GrowingFifo choice,
                  std::string &error) {
  simulator.reset(candidate.depths);
  while (!simulator.run()) {
    const TokenDeadlock deadlock = simulator.findDeadlock();
    if (!deadlock.isArtificial()) {
      error = deadlock.describe(problem.network);
      return false;
    }
    const unsigned fifo = chooseFifo(candidate, choice, deadlock);
    simulator.setDepth(fifo, ++candidate.depths[fifo]);
  }
  return true;
}

/// Returns whether the depth has changed.
bool Solver::shrinkOne(Candidate &candidate, unsigned fifo) {
  std::vector<int64_t> &depths = candidate.depths;
  std::optional<TokenDeadlock> &proof = candidate.proofs[fifo];
  const int64_t before = depths[fifo];
  --depths[fifo];
  simulator.reset(depths);
  if (!simulator.run()) {
    proof = simulator.findDeadlock();
    depths[fifo] = before;
    return false;
  }
  // The network ends with the depth it had, so every cycle until then goes
  // through this FIFO.
  proof.reset();
  depths[fifo] = problem.getLeastDepth(fifo);
  simulator.reset(depths);
  while (!simulator.run()) {
    proof = simulator.findDeadlock();
    simulator.setDepth(fifo, ++depths[fifo]);
    assert(depths[fifo] < before &&
           "expected no more than one less than before");
  }
  return true;
}

void Solver::shrink(Candidate &candidate) {
  std::vector<unsigned> grown;
  for (unsigned fifo = 0; fifo < candidate.depths.size(); ++fifo)
    if (candidate.depths[fifo] > problem.getLeastDepth(fifo))
      grown.push_back(fifo);
  std::stable_sort(grown.begin(), grown.end(), [&](unsigned a, unsigned b) {
    return getBits(candidate, a) > getBits(candidate, b);
  });
  size_t lastChange = 0;
  for (size_t i = 0; i < grown.size(); ++i)
    if (shrinkOne(candidate, grown[i]))
      lastChange = i;
  // Proofs found before the last change show depths that are no longer true.
  for (size_t i = 0; i < lastChange; ++i) {
    const unsigned fifo = grown[i];
    if (candidate.depths[fifo] == problem.getLeastDepth(fifo))
      continue;
    const bool changed = shrinkOne(candidate, fifo);
    assert(!changed && "expected one round to find the smallest depths");
    (void)changed;
  }
}

std::optional<Candidate> Solver::solve(GrowingFifo choice, std::string &error) {
  Candidate candidate;
  for (size_t i = 0; i < problem.network.fifos.size(); ++i)
    candidate.depths.push_back(problem.getLeastDepth(i));
  candidate.proofs.resize(candidate.depths.size());
  if (!grow(candidate, choice, error))
    return std::nullopt;
  shrink(candidate);
  return candidate;
}

int64_t Solver::getBits(const Candidate &candidate) const {
  int64_t bits = 0;
  for (size_t i = 0; i < candidate.depths.size(); ++i)
    bits += getBits(candidate, i);
  return bits;
}

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

std::string Solver::explainLeast(unsigned fifo) const {
  const int64_t tokens = problem.network.fifos[fifo].tokens;
  if (problem.baseDepths[fifo] <= tokens)
    return "base depth";
  return tokens == 0 ? "no tokens pass"
                     : "all its tokens, fewer than the base depth";
}

std::string Solver::explainGrown(const Candidate &candidate,
                                 unsigned fifo) const {
  const ProcessNetwork &network = problem.network;
  const TokenDeadlock deadlock = candidate.proofs[fifo]->startingAt(fifo);
  const int64_t tokens = network.fifos[fifo].tokens;
  const int64_t depth = candidate.depths[fifo];
  std::string text =
      depth == tokens
          ? "holds the whole operand of " + std::to_string(tokens) + " tokens"
          : "holds " + std::to_string(depth) + " of " + std::to_string(tokens) +
                " tokens";
  // The writer waits for the reader, which is next.
  const BlockedProcess &reader = deadlock.cycle[1 % deadlock.cycle.size()];
  text += " while '" + network.processes[reader.process].name + "' waits to " +
          (reader.isWrite ? "write '" : "read '") +
          network.fifos[reader.fifo].name + "'";
  return text + "; one less deadlocks: " + deadlock.describe(network, 4);
}

FifoDepthSolution Solver::explain(const Candidate &candidate) const {
  FifoDepthSolution solution;
  solution.depths = candidate.depths;
  for (unsigned fifo = 0; fifo < candidate.depths.size(); ++fifo)
    solution.reasons.push_back(candidate.proofs[fifo]
                                   ? explainGrown(candidate, fifo)
                                   : explainLeast(fifo));
  return solution;
}

std::optional<FifoDepthSolution>
streamtensor::solveFifoDepths(const FifoDepthProblem &problem,
                              std::string &error,
                              std::optional<GrowingFifo> only) {
  Solver solver(problem);
  GrowingFifo chosen = only.value_or(GrowingFifo::Any);
  std::optional<Candidate> best = solver.solve(chosen, error);
  if (!best)
    return std::nullopt;
  if (solver.hadChoice() && !only) {
    for (GrowingFifo choice :
         {GrowingFifo::NextToReader, GrowingFifo::NextToFirstWriter}) {
      std::optional<Candidate> other = solver.solve(choice, error);
      if (other && solver.getBits(*other) < solver.getBits(*best)) {
        best = std::move(other);
        chosen = choice;
      }
    }
  }
  FifoDepthSolution solution = solver.explain(*best);
  solution.choice = chosen;
  return solution;
}
