//===- SolveParameters.h - Parameters from sizes ----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors of run-time size arrive with sizes; what are the parameters?
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_SOLVEPARAMETERS_H
#define STREAMTENSOR_SUPPORT_SOLVEPARAMETERS_H

#include "streamtensor/Support/TripCount.h"

#include <utility>
#include <vector>

namespace streamtensor {

/// The value of parameter `name` at which `size` is `value`, given those of its
/// other parameters in `others`, or nothing where `size` divides. It is
/// rounded: `size` need not be `value` there (2 * seq = 7 gives seq = 3).
std::optional<int64_t> solveFor(const std::string &name, const TripCount &size,
                                int64_t value, ParameterValues others);

/// Values of all parameters in `sizes`, pairs of an expression and its value.
/// An expression with one unknown parameter, outside of any `ceildiv`, gives
/// that one, so `past + seq` gives `past` where another one gives `seq`.
///
/// Returns nothing, and the names in `error`, when some are not determined. The
/// values need not satisfy every pair (2 * seq = 7 counts as 6), nor be within
/// their ranges: check, with the names that the caller knows.
std::optional<ParameterValues>
solveParameters(const std::vector<std::pair<TripCount, int64_t>> &sizes,
                std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_SOLVEPARAMETERS_H
