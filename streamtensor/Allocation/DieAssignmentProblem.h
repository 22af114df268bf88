//===- DieAssignmentProblem.h - Which die each task is on -------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tasks onto the dies of a device, which lie in a row: each die has a budget of
// every resource, wires between neighbours are few, and each crossing costs.
// The problem checks its input and judges any solution. docs/dies.md has the
// mathematics.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_DIEASSIGNMENTPROBLEM_H
#define STREAMTENSOR_ALLOCATION_DIEASSIGNMENTPROBLEM_H

#include "streamtensor/Allocation/IntegerProgram.h"
#include "streamtensor/Allocation/ResourceCounts.h"

namespace streamtensor {

struct DieTask {
  std::string name;
  ResourceCounts uses = {};
  /// Its die where that is given: a DMA is where the memory is.
  std::optional<unsigned> die;
};

/// A FIFO, or an array between two tasks.
struct DieEdge {
  std::string name;
  unsigned source = 0, target = 0;
  /// Wires that it takes over a boundary: the bits of a token of all lanes.
  int64_t bits = 0;
  /// Of the FIFO, which lies on the die of its target.
  ResourceCounts uses = {};
  /// An array that both access: it cannot be cut.
  bool isShared = false;
};

struct Die {
  std::string name;
  ResourceCounts budget = {};
};

/// What an assignment is judged by: less excess first, then a smaller cost.
struct DieFigures {
  /// Per die.
  std::vector<ResourceCounts> used;
  /// Per boundary between die k and k + 1.
  std::vector<int64_t> wires;
  /// Sum over edges of bits times boundaries crossed.
  int64_t crossingBits = 0;
  /// The largest share of a budget that is used, in percent, rounded up.
  int64_t percent = 0;
};

struct DieAssignmentSolution {
  /// One per task.
  std::vector<unsigned> dies;
  /// One per edge: how many boundaries it crosses.
  std::vector<int64_t> crossings;
  /// One per edge: register stages, for TimedFifo::crossing.
  std::vector<int64_t> stages;
  int64_t crossingBits = 0, percent = 0, cost = 0;
  /// "cbc", "search" or "one die".
  std::string method;
  /// By the solver's word: no assignment has a smaller cost.
  bool isOptimal = false;
};

class DieAssignmentProblem {
public:
  std::vector<DieTask> tasks;
  std::vector<DieEdge> edges;
  /// In a row: neighbours are one boundary apart.
  std::vector<Die> dies;
  /// In percent of a budget, by resource: beyond that routing fails. The
  /// defaults are those at which FINN closes timing (HLS designs on U280 and
  /// U55C; github.com/Xilinx/finn, platforms.py).
  std::array<int64_t, kNumResources> percentLimits = {70, 50, 80, 80, 80};
  /// Wires over one boundary. About 23,040 exist between SLRs of UltraScale+;
  /// FINN plans with 5,000 of them (same source).
  int64_t maxWires = 23040;
  /// What one percent of the fullest budget costs, in crossing bits.
  int64_t balanceBits = 16;
  /// Register stages of a FIFO per boundary: one on either side.
  int64_t stagesPerBoundary = 2;

  /// Append and return the index.
  unsigned addTask(std::string name, ResourceCounts uses,
                   std::optional<unsigned> die = std::nullopt);
  unsigned addEdge(DieEdge edge);

  /// Returns what is wrong, or nothing: indices, negative or huge numbers, no
  /// dies, tasks that share an array but are given to different dies.
  /// Everything below needs a problem that passed.
  std::optional<std::string> check() const;

  /// Returns why there is no assignment where that can be told without a
  /// search: too much in total, too much that is given to one die, a task or
  /// tasks around a shared array that fit on none. Says by how much, and what
  /// would help.
  std::optional<std::string> findObstacle() const;

  /// Returns what is wrong with a solution, or nothing. It must put each task
  /// on a die, on the given one if there is one, keep shared arrays together
  /// and all limits, and state its figures.
  std::optional<std::string>
  verify(const DieAssignmentSolution &solution) const;

  /// What the limit allows of a resource on a die.
  int64_t limit(unsigned die, unsigned resource) const;
  DieFigures figures(const std::vector<unsigned> &dies) const;
  int64_t cost(const DieFigures &figures) const {
    return figures.crossingBits + balanceBits * figures.percent;
  }
  /// The limits that an assignment breaks, by how much, for people; empty for
  /// none.
  std::string describeExcess(const DieFigures &figures) const;
  DieAssignmentSolution solutionAt(std::vector<unsigned> dies) const;

  /// Tasks around shared arrays, as one each: the group of each task, in the
  /// order of their first tasks.
  std::vector<unsigned> groups() const;
  /// The same problem with one task for each group, one edge between two of
  /// them, and resources of FIFOs counted at their targets. Its assignments
  /// are those of this problem, at the same cost.
  DieAssignmentProblem grouped() const;

  /// The problem as an integer program. Column t * dies + d is 1 if task t is
  /// on die d.
  IntegerProgram integerProgram() const;
  /// All values of the program for an assignment.
  std::vector<int64_t> valuesOf(const std::vector<unsigned> &dies) const;

private:
  bool isCut(const DieEdge &edge) const;
};

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_DIEASSIGNMENTPROBLEM_H
