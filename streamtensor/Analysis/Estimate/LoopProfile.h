//===- LoopProfile.h - Loops known by their operators -----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same rules for a loop of which only the operators of an iteration are
// known, not their order: what synthesis reports of other compilers' designs
// show. This is how the rules are compared with such reports.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPPROFILE_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPPROFILE_H

#include "streamtensor/Analysis/Estimate/OperatorLibrary.h"
#include "streamtensor/Analysis/Estimate/Resources.h"

#include <string>
#include <utility>
#include <vector>

namespace streamtensor {

/// What is known of a pipelined loop.
struct LoopProfile {
  /// Operators of one iteration and how often each occurs.
  std::vector<std::pair<const OperatorInfo *, int64_t>> operations;
  /// Results (cells, or lanes) that one iteration updates.
  int64_t cells = 1;
  /// Whether sums begin with the cell's own value; else with their first two
  /// operands.
  bool accumulates = true;
  /// Iterations between two updates of a cell of a float sum; 0 when none comes
  /// back, or when it is not known.
  int64_t distance = 0;
  /// Whether operands or sums lie in arrays in memory.
  bool readsArrays = false;
  /// Most accesses to one port (of a FIFO or a bank) in an iteration.
  int64_t portAccesses = 1;
};

/// What the rules say of it.
struct ProfileEstimate {
  int64_t interval = 1;
  int64_t depth = 0;
  ResourceUse resources;
};

/// Applies the rules: sums are balanced (balancedLevels), every other kind of
/// operator stands once on the longest path.
ProfileEstimate estimateProfile(const LoopProfile &profile);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPPROFILE_H
