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

namespace {

struct Optimum {
  std::vector<int64_t> starts;
  DelayCertificate certificate;
};

/// Nothing when the certificate shows no optimum.
std::optional<Optimum> readOptimum(const DelayProgram &program,
                                   std::optional<DelayCertificate> found) {
  if (!found)
    return std::nullopt;
  std::optional<std::vector<int64_t>> starts =
      earliestOptimalStarts(program, *found);
  if (!starts || program.verify(*starts, *found))
    return std::nullopt;
  return Optimum{std::move(*starts), std::move(*found)};
}

} // namespace

FifoSizingSolution
streamtensor::solveFifoSizing(const FifoSizingProblem &problem,
                              SizingMethod method) {
  const DelayProgram program = problem.delayProgram();
  std::optional<Optimum> optimum;
  if (method == SizingMethod::Clp)
    optimum = readOptimum(program, solveByClp(program));
  if (method != SizingMethod::Earliest && !optimum) {
    method = SizingMethod::Circulation;
    optimum = readOptimum(program, solveByCirculation(program));
    assert(optimum && "expected a circulation to be a certificate");
  }
  std::vector<int64_t> starts =
      optimum ? std::move(optimum->starts) : earliestStarts(program);
  starts.resize(problem.tasks.size());
  FifoSizingSolution solution = problem.solutionAt(std::move(starts));
  solution.method = method;
  if (optimum)
    solution.certificate = std::move(optimum->certificate);
  return solution;
}
