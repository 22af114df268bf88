//===- MaterializeResults.cpp - A producing operation for every result ----===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies results that are arguments, constants or results twice, in whatever
// shape; turns fills that are read as data into generics.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace streamtensor {
#define GEN_PASS_DEF_MATERIALIZERESULTS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

/// A generic over the dimensions of `type` that yields `input` (a tensor of
/// that type) or, if that is null, the scalar `constant`.
Value createCopy(OpBuilder &builder, Location loc, RankedTensorType type,
                 Value input, TypedAttr constant) {
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps(input ? 2 : 1, identity);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  Value empty = streamtensor::createEmpty(builder, loc, type.getShape(),
                                          type.getElementType());
  Value scalar =
      input ? Value() : arith::ConstantOp::create(builder, loc, constant);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(type),
             input ? ValueRange(input) : ValueRange(), empty, maps, iterators,
             [&](OpBuilder &body, Location loc, ValueRange args) {
               linalg::YieldOp::create(body, loc, input ? args[0] : scalar);
             })
      .getResult(0);
}

/// A copy of `value` without its dimensions of size one, expanded to its shape.
Value createSqueezedCopy(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      kept.push_back(dim);
  Value view = streamtensor::squeeze(builder, loc, value, kept);
  auto viewType = cast<RankedTensorType>(view.getType());
  Value copy = createCopy(builder, loc, viewType, view, TypedAttr());
  if (viewType == type)
    return copy;
  return tensor::ExpandShapeOp::create(
      builder, loc, type, copy,
      streamtensor::groupAround(type.getRank(), kept));
}

/// True if `use` reads a fill's result as data, not as a start value.
bool readsAsData(OpOperand &use) {
  auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
  return !generic || !generic.isDpsInit(&use);
}

struct MaterializeResults
    : streamtensor::impl::MaterializeResultsBase<MaterializeResults> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<Operation *> splats;
    getOperation()->walk([&](Operation *op) {
      if (op->getNumResults() == 1 &&
          streamtensor::getSplatValue(op->getResult(0)))
        splats.push_back(op);
    });
    for (Operation *op : splats) {
      Value old = op->getResult(0);
      if (llvm::none_of(old.getUses(), readsAsData))
        continue;
      builder.setInsertionPointAfter(op);
      Value generic = createCopy(builder, op->getLoc(),
                                 cast<RankedTensorType>(old.getType()), Value(),
                                 *streamtensor::getSplatValue(old));
      old.replaceUsesWithIf(generic, readsAsData);
      if (old.use_empty())
        op->erase();
    }

    getOperation()->walk([&](func::ReturnOp op) {
      llvm::SmallPtrSet<Value, 8> seen;
      builder.setInsertionPoint(op);
      for (OpOperand &operand : op->getOpOperands()) {
        // Two shapes of one value are one value: each result has a producer.
        Value shaped = streamtensor::stripReshapes(operand.get());
        Operation *def = streamtensor::stripViews(shaped).getDefiningOp();
        if (def && !isa<arith::ConstantOp>(def) && seen.insert(shaped).second)
          continue;
        operand.set(createSqueezedCopy(builder, op.getLoc(), operand.get()));
      }
    });
  }
};

} // namespace
