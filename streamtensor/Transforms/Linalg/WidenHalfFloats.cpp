//===- WidenHalfFloats.cpp - Compute with 16-bit floats in f32 ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the bodies of generics compute in f32 what they compute in f16 or bf16,
// with the conversions written out, and reductions accumulate in f32.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace streamtensor {
#define GEN_PASS_DEF_WIDENHALFFLOATS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// A reduction with a start value and a combiner in a 16-bit float.
bool reducesHalf(GenericOp op) {
  return op.getNumReductionLoops() != 0 && op.getNumResults() == 1 &&
         op.hasPureTensorSemantics() &&
         isHalf(getElementTypeOrSelf(op.getResult(0).getType())) &&
         streamtensor::matchCombiner(op) &&
         op.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
}

/// Lets the running value of `op` be an f32; a generic behind it rounds the
/// result once.
void widenReduction(OpBuilder &builder, GenericOp op) {
  Location loc = op.getLoc();
  Value result = op.getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  Type half = type.getElementType(), f32 = builder.getF32Type();
  builder.setInsertionPoint(op);
  auto fill = op.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  Value start =
      arith::ExtFOp::create(builder, loc, f32, fill.getInputs().front());
  Value empty = streamtensor::createEmpty(builder, loc, type.getShape(), f32);
  op.getDpsInitOperand(0)->set(
      linalg::FillOp::create(builder, loc, start, empty).getResult(0));
  result.setType(type.clone(f32));

  Operation *combiner = streamtensor::matchCombiner(op);
  BlockArgument out = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  out.setType(f32);
  builder.setInsertionPoint(combiner);
  for (OpOperand &operand : combiner->getOpOperands())
    if (operand.get() != out)
      operand.set(arith::ExtFOp::create(builder, loc, f32, operand.get()));
  combiner->getResult(0).setType(f32);

  builder.setInsertionPointAfter(op);
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  Value init = streamtensor::createEmpty(builder, loc, type.getShape(), half);
  auto rounded = GenericOp::create(
      builder, loc, TypeRange(type), result, init, maps, iterators,
      [&](OpBuilder &body, Location loc, ValueRange args) {
        Value value = arith::TruncFOp::create(body, loc, half, args.front());
        linalg::YieldOp::create(body, loc, value);
      });
  result.replaceAllUsesExcept(rounded.getResult(0), rounded);
}

/// Replaces `op`, which reads or makes 16-bit floats, by the operation on f32.
void widenScalar(OpBuilder &builder, Operation *op) {
  auto touchesHalf = [](TypeRange types) {
    return llvm::any_of(types, isHalf);
  };
  // Conversions, and what only moves values.
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::ConstantOp,
          linalg::YieldOp>(op) ||
      (!touchesHalf(op->getOperandTypes()) &&
       !touchesHalf(op->getResultTypes())))
    return;
  Location loc = op->getLoc();
  Type f32 = builder.getF32Type();
  builder.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isHalf(operand.get().getType()))
      operand.set(arith::ExtFOp::create(builder, loc, f32, operand.get()));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type half = result.getType();
    if (!isHalf(half))
      continue;
    result.setType(f32);
    Value rounded = arith::TruncFOp::create(builder, loc, half, result);
    result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
  }
}

struct WidenHalfFloats
    : streamtensor::impl::WidenHalfFloatsBase<WidenHalfFloats> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<GenericOp> generics;
    getOperation()->walk([&](GenericOp op) { generics.push_back(op); });
    for (GenericOp op : generics) {
      if (reducesHalf(op))
        widenReduction(builder, op);
      for (Operation &inner : llvm::make_early_inc_range(*op.getBody()))
        widenScalar(builder, &inner);
    }
  }
};

} // namespace
