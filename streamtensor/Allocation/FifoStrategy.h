//===- FifoStrategy.h - How far writers may run ahead -----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The strategies of FIFO sizing by name, and the depth that each gives a FIFO
// that needs none. What a FIFO needs is the same under all of them.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_FIFOSTRATEGY_H
#define STREAMTENSOR_ALLOCATION_FIFOSTRATEGY_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace streamtensor {

/// Ordered by the depths they give: no FIFO without need is deeper under a
/// later one than under an earlier one.
enum class FifoStrategy {
  /// Each task at its own rate: a load runs ahead of memory's latency.
  Normal,
  /// Every task at the rate of the slowest: no lead, but writer and reader work
  /// at the same time.
  Conservative,
  /// The fewest tokens with which the design ends.
  Min
};

/// In tokens, at least 1.
struct FifoBaseDepths {
  int64_t base; ///< of any FIFO
  int64_t load; ///< of one from a DMA to a computation
};

/// All names, for messages: "normal, conservative, min".
inline constexpr std::string_view kFifoStrategyNames =
    "normal, conservative, min";

std::optional<FifoStrategy> parseFifoStrategy(std::string_view name);
std::string_view fifoStrategyName(FifoStrategy strategy);

FifoBaseDepths baseDepthsOf(FifoStrategy strategy);

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_FIFOSTRATEGY_H
