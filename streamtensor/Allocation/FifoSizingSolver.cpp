//===- FifoSizingSolver.cpp - Cheapest start times ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the solver, and of all optima one that does not depend on it.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoSizingSolver.h"

#include <cassert>

using namespace streamtensor;

/// The earliest optimal start times of a certificate that proves them.
static std::optional<DelayOptimum>
readOptimum(const DelayProgram &program, SizingMethod method,
            std::optional<DelayCertificate> found) {
  if (!found)
    return std::nullopt;
  std::optional<std::vector<int64_t>> starts =
      earliestOptimalStarts(program, *found);
  if (!starts || program.verify(*starts, *found))
    return std::nullopt;
  return DelayOptimum{std::move(*starts), method, std::move(*found)};
}

DelayOptimum streamtensor::solveDelays(const DelayProgram &program,
                                       SizingMethod method) {
  if (method == SizingMethod::Earliest)
    return {earliestStarts(program), method, std::nullopt};
  std::optional<DelayOptimum> optimum;
  if (method == SizingMethod::Clp)
    optimum = readOptimum(program, method, solveByClp(program));
  if (!optimum)
    optimum = readOptimum(program, SizingMethod::Circulation,
                          solveByCirculation(program));
  assert(optimum && "expected a circulation to be a certificate");
  return std::move(*optimum);
}

FifoSizingSolution
streamtensor::solveFifoSizing(const FifoSizingProblem &problem,
                              SizingMethod method) {
  DelayOptimum optimum = solveDelays(problem.delayProgram(), method);
  optimum.starts.resize(problem.tasks.size());
  FifoSizingSolution solution = problem.solutionAt(std::move(optimum.starts));
  solution.method = optimum.method;
  solution.certificate = std::move(optimum.certificate);
  return solution;
}
