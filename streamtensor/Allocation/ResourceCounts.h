//===- ResourceCounts.h - How much of each resource -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a device has of each resource, and what a part of a design takes.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_RESOURCECOUNTS_H
#define STREAMTENSOR_ALLOCATION_RESOURCECOUNTS_H

#include <array>
#include <cstdint>
#include <string>

namespace streamtensor {

/// In the order of ResourceCounts. A BRAM36 counts as two BRAM18.
enum class Resource { Lut, Ff, Bram18, Uram, Dsp };
inline constexpr unsigned kNumResources = 5;
/// "lut", "ff", "bram18", "uram", "dsp".
std::string resourceName(unsigned resource);
/// How much of each resource.
using ResourceCounts = std::array<int64_t, kNumResources>;

inline void addCounts(ResourceCounts &sum, const ResourceCounts &part) {
  for (unsigned r = 0; r < kNumResources; ++r)
    sum[r] += part[r];
}

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_RESOURCECOUNTS_H
