//===- BoundReductions.cpp - Bits that sums of integers need --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes down what the ranges of integers say of sums.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Dataflow/IR/Widths.h"
#include "streamtensor/Transforms/Linalg/IntegerRanges.h"
#include "streamtensor/Transforms/Linalg/Passes.h"

namespace streamtensor {
#define GEN_PASS_DEF_BOUNDREDUCTIONS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

struct BoundReductions
    : streamtensor::impl::BoundReductionsBase<BoundReductions> {
  void runOnOperation() override {
    streamtensor::IntegerRanges ranges;
    getOperation()->walk([&](GenericOp op) {
      if (op.getNumReductionLoops() == 0 || op.getNumResults() != 1)
        return;
      auto type = dyn_cast<IntegerType>(
          getElementTypeOrSelf(op.getResult(0).getType()));
      if (!type || type.getWidth() == 1)
        return;
      std::optional<int64_t> bits = ranges.bitsOfSum(op);
      if (bits && *bits < type.getWidth())
        op->setAttr(
            streamtensor::dataflow::kBitsAttr,
            IntegerAttr::get(IntegerType::get(&getContext(), 64), *bits));
    });
  }
};

} // namespace
