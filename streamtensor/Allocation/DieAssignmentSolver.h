//===- DieAssignmentSolver.h - Cheapest assignments -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solvers of DieAssignmentProblem behind one interface.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_DIEASSIGNMENTSOLVER_H
#define STREAMTENSOR_ALLOCATION_DIEASSIGNMENTSOLVER_H

#include "streamtensor/Allocation/DieAssignmentProblem.h"

namespace streamtensor {

struct DieAssignmentOptions {
  /// The integer program by CBC after the built-in search; false: only that.
  bool useCbc = true;
  /// Nodes of CBC's tree. Not a time, so that the result is the same always.
  int64_t maxNodes = 10;
};

/// Solves a problem that passed its check. Returns nothing and sets `error`
/// when there is no assignment, or none was found: which resource, by how much,
/// and what would help.
std::optional<DieAssignmentSolution>
solveDieAssignment(const DieAssignmentProblem &problem, std::string &error,
                   const DieAssignmentOptions &options = {});

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_DIEASSIGNMENTSOLVER_H
