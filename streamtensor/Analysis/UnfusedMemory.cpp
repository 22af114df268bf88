//===- UnfusedMemory.cpp - Memory of intermediates without fusion ---------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums the results of operations that are neither views nor results.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/UnfusedMemory.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

/// Whether the function returns `value` or a reshape of it.
static bool isReturned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return isReturned(user->getResult(0));
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Whether `value` is a cache argument of `function` or a reshape of one.
static bool isCache(func::FuncOp function, Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return false;
    value = op->getOperand(0);
  }
  auto role = function.getArgAttrOfType<StringAttr>(
      cast<BlockArgument>(value).getArgNumber(), "dataflow.role");
  return role && role.getValue() == "cache";
}

/// Whether `op` reads its one input at positions that overlap.
static bool isWindow(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 1 &&
         !op.getIndexingMapsArray().front().isProjectedPermutation(
             /*allowZeroInResults=*/true);
}

int64_t streamtensor::countUnfusedBytes(func::FuncOp function) {
  int64_t bytes = 0;
  for (Operation &op : function.getOps()) {
    auto concat = dyn_cast<tensor::ConcatOp>(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!concat && (!generic || isWindow(generic)))
      continue;
    if (concat && llvm::any_of(concat.getInputs(), [&](Value input) {
          return isCache(function, input);
        }))
      continue;
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || isReturned(result))
        continue;
      bytes += type.getNumElements() *
               llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    }
  }
  return bytes;
}
