//===- FifoSizingSolver.h - Cheapest start times ----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solvers of FifoSizingProblem behind one interface: CLP, and a built-in one
// that gives the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_FIFOSIZINGSOLVER_H
#define STREAMTENSOR_ALLOCATION_FIFOSIZINGSOLVER_H

#include "streamtensor/Allocation/FifoSizingProblem.h"

namespace streamtensor {

/// Start times of a program of delays, and how they were found.
struct DelayOptimum {
  std::vector<int64_t> starts;
  SizingMethod method = SizingMethod::Earliest;
  /// Absent where no optimum is claimed.
  std::optional<DelayCertificate> certificate;
};

/// Solves a program that passed its check and has no contradiction; always
/// succeeds. Where CLP is missing, or its floating-point answer does not round
/// to a certificate, the built-in solver takes its place. Both give the same
/// start times: of the optimal ones the earliest.
DelayOptimum solveDelays(const DelayProgram &program, SizingMethod method);

/// Solves a problem that passed its check; always succeeds, as
/// solveDelays does.
FifoSizingSolution solveFifoSizing(const FifoSizingProblem &problem,
                                   SizingMethod method = SizingMethod::Clp);

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_FIFOSIZINGSOLVER_H
