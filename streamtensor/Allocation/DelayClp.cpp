//===- DelayClp.cpp - Delay programs by CLP -------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linear program as it is written in DelayProgram.h, given to COIN-OR's CLP
// (J. Forrest et al.). Columns: the start times, and for each price the delay
// beyond the free one. The duals of the rows, rounded, are the certificate.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DelayProgram.h"

#include "ClpSimplex.hpp"
#include "CoinPackedMatrix.hpp"

#include <cmath>
#include <limits>

using namespace streamtensor;

bool streamtensor::hasClp() { return true; }

namespace {

/// The nearest integer; nothing where a double does not determine it.
std::optional<int64_t> roundExactly(double value) {
  if (!std::isfinite(value) || std::fabs(value) > 4503599627370496.0) // 2^52
    return std::nullopt;
  return std::llround(value);
}

} // namespace

std::optional<DelayCertificate>
streamtensor::solveByClp(const DelayProgram &program) {
  constexpr double kInfinity = std::numeric_limits<double>::max();
  const int numNodes = program.numNodes;
  const size_t numArcs = program.arcs.size();
  // Rows of needs and of prices, by arc; -1 for none.
  std::vector<int> needRow(numArcs, -1), priceRow(numArcs, -1);
  std::vector<int> rows, columns;
  std::vector<double> elements, rowLower, costs(numNodes, 0);
  auto addElement = [&](int column, double value) {
    rows.push_back(rowLower.size());
    columns.push_back(column);
    elements.push_back(value);
  };
  auto addRow = [&](double lower) {
    rowLower.push_back(lower);
    return static_cast<int>(rowLower.size()) - 1;
  };
  for (size_t i = 0; i < numArcs; ++i) {
    const DelayArc &arc = program.arcs[i];
    if (arc.from == arc.to)
      continue;
    if (arc.least) {
      addElement(arc.to, 1);
      addElement(arc.from, -1);
      needRow[i] = addRow(static_cast<double>(*arc.least));
    }
    if (arc.price > 0) {
      addElement(arc.to, -1);
      addElement(arc.from, 1);
      addElement(costs.size(), 1);
      costs.push_back(static_cast<double>(arc.price));
      priceRow[i] = addRow(-static_cast<double>(arc.free));
    }
  }
  const int numRows = rowLower.size(), numColumns = costs.size();
  CoinPackedMatrix matrix(true, rows.data(), columns.data(), elements.data(),
                          elements.size());
  matrix.setDimensions(numRows, numColumns);
  const std::vector<double> zeros(numColumns, 0),
      unlimited(numColumns, kInfinity), rowUpper(numRows, kInfinity);
  ClpSimplex model;
  model.setLogLevel(0);
  model.loadProblem(matrix, zeros.data(), unlimited.data(), costs.data(),
                    rowLower.data(), rowUpper.data());
  model.dual();
  if (!model.isProvenOptimal())
    return std::nullopt;

  const double *duals = model.dualRowSolution();
  DelayCertificate certificate;
  certificate.needs.assign(numArcs, 0);
  certificate.paid.assign(numArcs, 0);
  for (size_t i = 0; i < numArcs; ++i) {
    const DelayArc &arc = program.arcs[i];
    if (arc.from == arc.to && arc.free < 0)
      certificate.paid[i] = arc.price;
    if (needRow[i] >= 0) {
      const std::optional<int64_t> need = roundExactly(duals[needRow[i]]);
      if (!need)
        return std::nullopt;
      certificate.needs[i] = *need;
    }
    if (priceRow[i] >= 0) {
      const std::optional<int64_t> paid = roundExactly(duals[priceRow[i]]);
      if (!paid)
        return std::nullopt;
      certificate.paid[i] = *paid;
    }
  }
  return certificate;
}
