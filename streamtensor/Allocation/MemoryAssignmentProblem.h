//===- MemoryAssignmentProblem.h - A kind of memory for each ----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers and FIFOs into LUTs, BRAM or UltraRAM under the budgets of the dies
// that they are on. What each takes in each kind of memory is input; the
// problem checks it and judges any choice. docs/dies.md has the mathematics.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_MEMORYASSIGNMENTPROBLEM_H
#define STREAMTENSOR_ALLOCATION_MEMORYASSIGNMENTPROBLEM_H

#include "streamtensor/Allocation/IntegerProgram.h"
#include "streamtensor/Allocation/ResourceCounts.h"

namespace streamtensor {

/// One way to build a memory.
struct MemoryCandidate {
  std::string kind; ///< "lutram", "bram", "uram", ...
  ResourceCounts uses = {};
};

/// A buffer or a FIFO, and the ways to build it; at least one.
struct Memory {
  std::string name;
  unsigned die = 0;
  std::vector<MemoryCandidate> candidates;
};

struct MemoryDie {
  std::string name;
  /// What may be used, the logic included, and what the logic uses.
  ResourceCounts budget = {}, logic = {};
};

struct MemoryAssignmentSolution {
  /// One per memory: an index of its candidates.
  std::vector<unsigned> choices;
  /// The largest share of a budget that logic and memories use, in percent,
  /// rounded up.
  int64_t percent = 0;
  /// Sum over memories and resources of the share of the budget that each
  /// takes, in millionths.
  int64_t shares = 0;
  /// "cbc" or "search".
  std::string method;
  /// By the solver's word: none has a smaller percentage, and of those with the
  /// same none smaller shares.
  bool isOptimal = false;
};

class MemoryAssignmentProblem {
public:
  std::vector<Memory> memories;
  std::vector<MemoryDie> dies;

  /// Returns what is wrong, or nothing: no dies, a die that does not exist, no
  /// candidates, negative or huge numbers. Everything below needs a problem
  /// that passed.
  std::optional<std::string> check() const;

  /// Returns why there is no choice where that can be told without a search: a
  /// memory that fits in no kind, or a resource of which the memories of a die
  /// take too much even in those kinds that fit and take the least of it.
  std::optional<std::string> findObstacle() const;

  /// Returns what is wrong with a solution, or nothing. It must choose a
  /// candidate for each memory, keep the budgets, and state its figures.
  std::optional<std::string>
  verify(const MemoryAssignmentSolution &solution) const;

  /// Per die: logic and memories.
  std::vector<ResourceCounts> used(const std::vector<unsigned> &choices) const;
  /// The budgets that are exceeded, by how much, for people; empty for none.
  std::string describeExcess(const std::vector<ResourceCounts> &used) const;
  int64_t percent(const std::vector<ResourceCounts> &used) const;
  /// In millionths of the budgets of its die.
  int64_t share(unsigned memory, unsigned candidate) const;
  MemoryAssignmentSolution solutionAt(std::vector<unsigned> choices) const;

  /// The problem as an integer program. The candidates of all memories are the
  /// first columns, 1 for the chosen one; the percentage is the last column.
  IntegerProgram integerProgram() const;
  std::vector<int64_t> valuesOf(const std::vector<unsigned> &choices) const;
  /// What a percent counts against shares: more than all of them.
  int64_t percentWeight() const;

private:
  /// What a candidate takes beyond what the logic leaves of its die: "12 bram18
  /// of 4"; empty when it fits alone.
  std::string lackOf(const Memory &memory, unsigned candidate) const;
};

struct MemoryAssignmentOptions {
  /// The integer program by CBC after the built-in search; false: only that.
  bool useCbc = true;
  /// Nodes of CBC's tree. Not a time, so that the result is the same always.
  int64_t maxNodes = 60;
};

/// Solves a problem that passed its check. Returns nothing and sets `error`
/// when there is no choice, or none was found: which resource, by how much, and
/// what would help.
std::optional<MemoryAssignmentSolution>
solveMemoryAssignment(const MemoryAssignmentProblem &problem,
                      std::string &error,
                      const MemoryAssignmentOptions &options = {});

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_MEMORYASSIGNMENTPROBLEM_H
