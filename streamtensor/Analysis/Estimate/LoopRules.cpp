//===- LoopRules.cpp - Figures of pipelined loops -------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic of the rules.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/LoopRules.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace streamtensor;

int64_t streamtensor::recurrenceInterval(int64_t latency, int64_t distance) {
  if (latency <= 0 || distance <= 0)
    return 1;
  int64_t total = latency + (distance > 1 ? 1 : 0);
  return std::max<int64_t>(1, llvm::divideCeil(total, distance));
}

int64_t streamtensor::carriedPath(int64_t path, int64_t distance,
                                  int64_t interval) {
  if (distance <= 1)
    return path;
  int64_t room = distance * interval - kArrayReadCycles;
  return std::min(path, std::max<int64_t>(1, room));
}

int64_t streamtensor::unitsFor(int64_t uses, int64_t interval) {
  return llvm::divideCeil(uses, std::max<int64_t>(1, interval));
}

int64_t streamtensor::sharingCycles(int64_t uses, int64_t interval) {
  if (uses <= 0)
    return 0;
  return llvm::divideCeil(uses, unitsFor(uses, interval)) - 1;
}

int64_t streamtensor::visibleSharing(int64_t sharing, int64_t carried) {
  if (carried <= 1)
    return sharing;
  return carried <= 3 ? 0 : llvm::divideCeil(sharing, 2);
}

int64_t streamtensor::pipelineDepth(int64_t path, int64_t sharing) {
  return kPipelineOverhead + path + sharing;
}

int64_t streamtensor::balancedLevels(int64_t addends) {
  if (addends <= 1)
    return std::max<int64_t>(0, addends);
  int64_t levels = llvm::Log2_64_Ceil(addends + 1);
  return llvm::isPowerOf2_64(addends + 1) ? levels + 1 : levels;
}

int64_t streamtensor::carriedLevels(int64_t addends) {
  // Published intervals of distance 1 are 4, 12 and 16 cycles: one adder for up
  // to two addends, three for up to eight, four above.
  if (addends <= 2)
    return std::min<int64_t>(1, std::max<int64_t>(0, addends));
  return addends <= 8 ? 3 : 4;
}
