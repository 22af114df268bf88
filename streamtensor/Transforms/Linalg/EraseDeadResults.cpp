//===- EraseDeadResults.cpp - Unused operands and results of generics -----===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Removes the results of generics that nobody reads and what only they needed,
// and assertions in bodies.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace streamtensor {
#define GEN_PASS_DEF_ERASEDEADRESULTS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

struct EraseDeadResults
    : streamtensor::impl::EraseDeadResultsBase<EraseDeadResults> {
  void runOnOperation() override {
    getOperation()->walk([](cf::AssertOp op) {
      if (isa<linalg::LinalgOp>(op->getParentOp()))
        op.erase();
    });
    RewritePatternSet patterns(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(streamtensor::applyBounded(getOperation(), std::move(patterns),
                                          getArgument())))
      signalPassFailure();
  }
};

} // namespace
