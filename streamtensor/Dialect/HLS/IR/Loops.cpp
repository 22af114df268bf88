//===- Loops.cpp - Trip counts of loops ----------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads bounds and attributes of loops.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/HLS/IR/Loops.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

hls::TripBounds hls::tripBounds(scf::ForOp loop) {
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (upper && lower && step && *step > 0) {
    int64_t trips =
        *upper > *lower ? llvm::divideCeil(*upper - *lower, *step) : 0;
    return {trips, trips};
  }
  if (auto bounds = loop->getAttrOfType<TripCountAttr>(kTripCountAttr))
    return {bounds.getMin(), bounds.getMax()};
  return {1, 1};
}
