//===- SolveParameters.cpp - Parameters from sizes ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One unknown at a time: sizes of tensors are no systems of equations.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/SolveParameters.h"

using namespace streamtensor;

std::optional<int64_t> streamtensor::solveFor(const std::string &name,
                                              const TripCount &size,
                                              int64_t value,
                                              ParameterValues others) {
  // Without divisions the expression is affine.
  if (size.period() != 1)
    return std::nullopt;
  others[name] = 0;
  const int64_t base = size.evaluate(others);
  others[name] = 1;
  const int64_t factor = size.evaluate(others) - base;
  return (value - base) / factor;
}

std::optional<ParameterValues> streamtensor::solveParameters(
    const std::vector<std::pair<TripCount, int64_t>> &sizes,
    std::string &error) {
  ParameterValues solved, unknown;
  for (bool progress = true; progress;) {
    progress = false;
    unknown.clear();
    for (const auto &[size, value] : sizes) {
      ParameterValues open;
      size.collectParameters(open);
      for (const auto &known : solved)
        open.erase(known.first);
      unknown.insert(open.begin(), open.end());
      if (open.size() != 1)
        continue;
      const std::string name = open.begin()->first;
      const std::optional<int64_t> found = solveFor(name, size, value, solved);
      if (!found)
        continue;
      solved[name] = *found;
      progress = true;
    }
  }
  if (unknown.empty())
    return solved;
  error = "no size tells the value of ";
  for (auto it = unknown.begin(); it != unknown.end(); ++it)
    error += (it == unknown.begin() ? "'" : ", '") + it->first + "'";
  return std::nullopt;
}
