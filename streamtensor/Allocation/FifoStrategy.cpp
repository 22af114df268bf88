//===- FifoStrategy.cpp - How far writers may run ahead -------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names and depths of the strategies; docs/fifo-depths.md has the reasons.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoStrategy.h"

#include <iterator>

using namespace streamtensor;

namespace {

struct StrategyInfo {
  std::string_view name;
  FifoBaseDepths depths;
};

/// In the order of the enumeration.
constexpr StrategyInfo kStrategies[] = {
    {"normal", {2, 32}},
    {"conservative", {2, 2}},
    {"min", {1, 1}},
};

} // namespace

std::optional<FifoStrategy>
streamtensor::parseFifoStrategy(std::string_view name) {
  for (size_t i = 0; i < std::size(kStrategies); ++i)
    if (kStrategies[i].name == name)
      return static_cast<FifoStrategy>(i);
  return std::nullopt;
}

std::string_view streamtensor::fifoStrategyName(FifoStrategy strategy) {
  return kStrategies[static_cast<size_t>(strategy)].name;
}

FifoBaseDepths streamtensor::baseDepthsOf(FifoStrategy strategy) {
  return kStrategies[static_cast<size_t>(strategy)].depths;
}
