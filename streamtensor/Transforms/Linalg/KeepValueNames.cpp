//===- KeepValueNames.cpp - Which operation makes a value of the model ----===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator of the model becomes several operations, all at its location. The
// name of its value stays with the last of them only.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Dataflow/IR/ValueNames.h"
#include "streamtensor/Transforms/Linalg/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_KEEPVALUENAMES
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

namespace {

/// Whether somebody who does not make the value `name`, too, reads `op`, or
/// another shape of its result.
bool leaves(Operation *op, Attribute name) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    while (user->getParentRegion() != op->getParentRegion())
      user = user->getParentOp();
    // A terminator makes nothing, wherever it stands.
    if (user->getNumResults() == 0 ||
        !llvm::is_contained(dataflow::valueNames(user->getLoc()), name))
      return true;
    return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
               user) &&
           leaves(user, name);
  });
}

struct KeepValueNames : streamtensor::impl::KeepValueNamesBase<KeepValueNames> {
  void runOnOperation() override {
    SmallVector<std::pair<Operation *, SmallVector<StringAttr>>> inner;
    for (Block &block : getOperation().getBody())
      for (Operation &op : block) {
        SmallVector<StringAttr> names;
        for (StringAttr name : dataflow::valueNames(op.getLoc()))
          if (!leaves(&op, name))
            names.push_back(name);
        if (!names.empty())
          inner.push_back({&op, names});
      }
    for (auto &[op, names] : inner)
      op->setLoc(dataflow::withoutValueNames(op->getLoc(), names));
  }
};

} // namespace
