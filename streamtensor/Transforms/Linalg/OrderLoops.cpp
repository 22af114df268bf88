//===- OrderLoops.cpp - Loops in the order of the result ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interchanges the loops of generics: result dimensions first, in order, then
// reductions.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace streamtensor {
#define GEN_PASS_DEF_ORDERLOOPS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

/// The interchange computes each index by a map that only picks one of the new
/// loops.
static void nameIndices(linalg::GenericOp op) {
  SmallVector<affine::AffineApplyOp> picks;
  op.getBody()->walk([&](affine::AffineApplyOp apply) {
    if (isa<AffineDimExpr>(apply.getAffineMap().getResult(0)))
      picks.push_back(apply);
  });
  for (affine::AffineApplyOp apply : picks) {
    auto dim = cast<AffineDimExpr>(apply.getAffineMap().getResult(0));
    apply.replaceAllUsesWith(apply.getMapOperands()[dim.getPosition()]);
    apply.erase();
  }
  SmallVector<linalg::IndexOp> unused;
  op.getBody()->walk([&](linalg::IndexOp index) {
    if (index->use_empty())
      unused.push_back(index);
  });
  for (linalg::IndexOp index : unused)
    index->erase();
}

namespace {

struct OrderLoops : streamtensor::impl::OrderLoopsBase<OrderLoops> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> generics;
    getOperation()->walk([&](linalg::GenericOp op) { generics.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : generics) {
      if (op.getNumResults() != 1)
        continue;
      AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
      if (!out.isProjectedPermutation())
        continue;
      SmallVector<unsigned> order;
      for (AffineExpr result : out.getResults())
        order.push_back(cast<AffineDimExpr>(result).getPosition());
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (!llvm::is_contained(order, loop))
          order.push_back(loop);
      if (llvm::equal(order, llvm::seq<unsigned>(0, op.getNumLoops())))
        continue;
      rewriter.setInsertionPoint(op);
      if (failed(linalg::interchangeGenericOp(rewriter, op, order))) {
        op->emitError() << "internal error: the loops could not be reordered";
        return signalPassFailure();
      }
      nameIndices(op);
    }
  }
};

} // namespace
