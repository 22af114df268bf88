//===- IntegerCbc.cpp - Integer programs by CBC ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// COIN-OR's branch and cut (J. Forrest et al.) as a library. Nothing in it may
// depend on time: no time limit, no preprocessing, no heuristics that watch the
// clock.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/IntegerProgram.h"

#include "CbcModel.hpp"
#include "CglKnapsackCover.hpp"
#include "CoinPackedMatrix.hpp"
#include "OsiClpSolverInterface.hpp"

#include <cmath>
#include <limits>
#include <numeric>

using namespace streamtensor;

bool streamtensor::hasCbc() { return true; }

namespace {

/// Rows are divided by their largest factor: tolerances are absolute.
void load(const IntegerProgram &program, OsiClpSolverInterface &solver) {
  const double infinity = solver.getInfinity();
  std::vector<int> rows, columns;
  std::vector<double> elements, rowLower, rowUpper;
  for (const IntegerRow &row : program.rows) {
    int64_t largest = 1;
    for (const LinearTerm &term : row.terms)
      largest = std::max(largest, std::abs(term.factor));
    const double scale = 1.0 / static_cast<double>(largest);
    for (const LinearTerm &term : row.terms) {
      rows.push_back(rowLower.size());
      columns.push_back(term.column);
      elements.push_back(static_cast<double>(term.factor) * scale);
    }
    rowLower.push_back(row.lower ? static_cast<double>(*row.lower) * scale
                                 : -infinity);
    rowUpper.push_back(row.upper ? static_cast<double>(*row.upper) * scale
                                 : infinity);
  }
  const int numColumns = program.columns.size(), numRows = rowLower.size();
  std::vector<double> lower, upper, costs;
  for (const IntegerColumn &column : program.columns) {
    lower.push_back(static_cast<double>(column.lower));
    upper.push_back(static_cast<double>(column.upper));
    costs.push_back(static_cast<double>(column.cost));
  }
  CoinPackedMatrix matrix(true, rows.data(), columns.data(), elements.data(),
                          elements.size());
  matrix.setDimensions(numRows, numColumns);
  solver.loadProblem(matrix, lower.data(), upper.data(), costs.data(),
                     rowLower.data(), rowUpper.data());
  for (int i = 0; i < numColumns; ++i)
    if (program.columns[i].isInteger)
      solver.setInteger(i);
}

} // namespace

std::optional<IntegerResult>
streamtensor::solveByCbc(const IntegerProgram &program, int64_t maxNodes,
                         const std::vector<int64_t> &start) {
  using Status = IntegerResult::Status;
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  solver.getModelPtr()->setLogLevel(0);
  load(program, solver);

  CbcModel model(solver);
  model.setLogLevel(0);
  model.messageHandler()->setLogLevel(0);
  model.solver()->messageHandler()->setLogLevel(0);
  model.setRandomSeed(1);
  model.setNumberThreads(0);
  model.setMaximumNodes(static_cast<int>(
      std::min<int64_t>(maxNodes, std::numeric_limits<int>::max())));
  // All costs are multiples of this, so a better solution is better by it.
  int64_t unit = 0;
  for (const IntegerColumn &column : program.columns)
    unit = std::gcd(unit, column.cost);
  if (unit > 0)
    model.setDblParam(CbcModel::CbcCutoffIncrement,
                      static_cast<double>(unit) - 1e-3);
  // Budgets are knapsacks. Other cuts, more rounds of them, and more trials
  // before a branch cost more time than nodes they save (measured on layers).
  CglKnapsackCover covers;
  model.addCutGenerator(&covers, 1, "covers");
  model.setMaximumCutPassesAtRoot(5);
  model.setMaximumCutPasses(1);
  model.setNumberStrong(3);
  model.setNumberBeforeTrust(3);
  if (!start.empty()) {
    std::vector<double> values(start.begin(), start.end());
    double cost = 0;
    for (size_t i = 0; i < values.size(); ++i)
      cost += values[i] * static_cast<double>(program.columns[i].cost);
    model.setBestSolution(values.data(), values.size(), cost, true);
  }
  model.initialSolve();
  model.branchAndBound();

  IntegerResult result;
  result.nodes = model.getNodeCount();
  const bool isComplete = model.isProvenOptimal() || model.isProvenInfeasible();
  const double *best = model.bestSolution();
  if (!best) {
    result.status = isComplete ? Status::Infeasible : Status::Unknown;
    return result;
  }
  result.status = isComplete ? Status::Optimal : Status::Feasible;
  for (size_t i = 0; i < program.columns.size(); ++i)
    result.values.push_back(std::llround(best[i]));
  return result;
}
