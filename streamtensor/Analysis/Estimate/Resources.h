//===- Resources.h - Blocks of an FPGA --------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts of blocks, and how units add up to them.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_RESOURCES_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_RESOURCES_H

#include <cstdint>

namespace streamtensor {

struct OperatorInfo;

/// Blocks of an FPGA.
struct ResourceUse {
  int64_t dsp = 0, lut = 0, ff = 0, bram18 = 0, uram = 0;

  ResourceUse &operator+=(const ResourceUse &other);
  ResourceUse operator*(int64_t count) const;
  /// Whether every count is at most that of `limit`.
  bool fitsIn(const ResourceUse &limit) const;
};

/// Adds up units. Multiplexers, registers between them and control take 9 % of
/// their LUTs and 28 % of their flip-flops (mean of 88 published processes).
class UnitSums {
public:
  /// The units for `uses` operations every `interval` cycles.
  void add(const OperatorInfo &unit, int64_t uses, int64_t interval);
  ResourceUse resources() const;

private:
  int64_t dsp = 0, lut = 0, ff = 0;
};

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_RESOURCES_H
