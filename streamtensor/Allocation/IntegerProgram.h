//===- IntegerProgram.h - Integer programs and their solver -----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear programs with integer numbers, and COIN-OR's CBC for them. Problems
// write themselves as one and judge what comes back by their own rules.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_INTEGERPROGRAM_H
#define STREAMTENSOR_ALLOCATION_INTEGERPROGRAM_H

#include <cstdint>
#include <optional>
#include <vector>

namespace streamtensor {

struct LinearTerm {
  unsigned column = 0;
  int64_t factor = 0;
};

/// lower <= sum of terms <= upper.
struct IntegerRow {
  std::vector<LinearTerm> terms;
  std::optional<int64_t> lower, upper;
};

struct IntegerColumn {
  int64_t lower = 0, upper = 1, cost = 0;
  /// Otherwise it takes an integer value by itself in some optimum.
  bool isInteger = true;
};

/// Minimizes the sum of the costs.
struct IntegerProgram {
  std::vector<IntegerColumn> columns;
  std::vector<IntegerRow> rows;

  /// Append and return the index.
  unsigned addColumn(IntegerColumn column) {
    columns.push_back(column);
    return columns.size() - 1;
  }
  unsigned addRow(IntegerRow row) {
    rows.push_back(std::move(row));
    return rows.size() - 1;
  }
};

/// What a solver says; the caller checks what it can.
struct IntegerResult {
  enum class Status {
    Optimal,    ///< the best values, by the solver's word
    Feasible,   ///< values, perhaps not the best: the limit was reached
    Infeasible, ///< there are none, by the solver's word
    Unknown     ///< the limit was reached without any
  };
  Status status = Status::Unknown;
  /// Rounded; one per column.
  std::vector<int64_t> values;
  /// How many nodes of the search tree it took.
  int64_t nodes = 0;
};

/// Branch and cut by CBC with one thread, a fixed seed and a limit on the nodes
/// of the search tree, not on time, so that the same program gives the same
/// bytes. `start` are values that satisfy the program, or none. Nothing where
/// the library is missing.
std::optional<IntegerResult> solveByCbc(const IntegerProgram &program,
                                        int64_t maxNodes,
                                        const std::vector<int64_t> &start = {});
/// Whether CBC was there when this was built.
bool hasCbc();

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_INTEGERPROGRAM_H
