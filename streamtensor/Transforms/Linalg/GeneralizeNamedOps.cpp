//===- GeneralizeNamedOps.cpp - Named Linalg operations to generics -------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns every Linalg operation except linalg.fill into linalg.generic.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace streamtensor {
#define GEN_PASS_DEF_GENERALIZENAMEDOPS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

struct GeneralizeNamedOps
    : streamtensor::impl::GeneralizeNamedOpsBase<GeneralizeNamedOps> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> named;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::FillOp>(op))
        named.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op))) {
        op->emitError() << "expected an operation that can be written as "
                           "linalg.generic but got '"
                        << op->getName() << "'";
        return signalPassFailure();
      }
    }
  }
};

} // namespace
