//===- VerifyNormalized.cpp - The invariant of phase `normalized` ---------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fails on the first operation of each kind that breaks the normalized form.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"

#include "streamtensor/Analysis/SizeConsistency.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace streamtensor {
#define GEN_PASS_DEF_VERIFYNORMALIZED
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

/// An empty string if `type` may occur between operations, or what is wrong.
std::string checkType(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    stream << "expected a ranked tensor but got '" << type << "'";
  else if (!tensor.hasStaticShape())
    stream << "expected a static shape but got '" << type << "'";
  else if (llvm::is_contained(tensor.getShape(), 0))
    stream << "expected a tensor with elements but got '" << type << "'";
  else if (!streamtensor::isStreamable(tensor.getElementType()))
    stream << "expected elements of type f32, f16, bf16 or signless integers "
              "but got '"
           << type << "'";
  return text;
}

LogicalResult verifyBody(GenericOp op) {
  for (Operation &inner : *op.getBody()) {
    if (!isa<linalg::IndexOp, linalg::YieldOp>(inner) &&
        !isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()))
      return inner.emitOpError("expected only scalar operations in the body");
    for (Type type : inner.getResultTypes()) {
      // Of integers too: the canonicalizer folds a rounding of them into it.
      bool isConversion = isa<arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
                              arith::SelectOp, arith::ConstantOp>(inner);
      if (!type.isF32() && !type.isIntOrIndex() &&
          !(isConversion && streamtensor::isStreamable(type)))
        return inner.emitOpError("expected a scalar of type 'f32', an integer "
                                 "or an index but got ")
               << type;
    }
  }
  return success();
}

LogicalResult verifyGeneric(GenericOp op) {
  if (op.getNumResults() != 1)
    return op.emitOpError("expected one result but got ") << op.getNumResults();
  if (streamtensor::isWindow(op))
    return success();
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return op.emitOpError("expected projected permutations as indexing maps "
                            "but got ")
             << AffineMapAttr::get(map);
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  for (auto [dim, result] : llvm::enumerate(out.getResults()))
    if (cast<AffineDimExpr>(result).getPosition() != dim)
      return op.emitOpError("expected the result's dimensions as outermost "
                            "loops, in order, but got ")
             << AffineMapAttr::get(out);
  BlockArgument arg = op.getMatchingBlockArgument(init);
  if (op.getNumReductionLoops() == 0) {
    if (!init->get().getDefiningOp<tensor::EmptyOp>() || !arg.use_empty())
      return op.emitOpError("expected no start value without reduction loops");
  } else {
    auto fill = init->get().getDefiningOp<linalg::FillOp>();
    if (!fill || !streamtensor::getSplatValue(fill.getResult(0)))
      return op.emitOpError("expected a fill of a constant as start value of "
                            "the reduction");
    if (!streamtensor::matchCombiner(op))
      return op.emitOpError("expected a body that combines the running value "
                            "with one operation");
  }
  return verifyBody(op);
}

LogicalResult verifySlice(tensor::ExtractSliceOp op) {
  auto isDynamic = [](int64_t value) { return ShapedType::isDynamic(value); };
  if (llvm::any_of(op.getStaticOffsets(), isDynamic) ||
      llvm::any_of(op.getStaticSizes(), isDynamic))
    return op.emitOpError("expected static offsets and sizes");
  if (op.getSourceType().getRank() != op.getType().getRank())
    return op.emitOpError("expected a slice of the same rank but got ")
           << op.getType();
  for (auto [dim, stride] : llvm::enumerate(op.getStaticStrides()))
    if (stride != 1)
      return op.emitOpError("expected unit strides but got stride ")
             << stride << " in dimension " << dim;
  return success();
}

LogicalResult verifyConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (elements && elements.isSplat())
    return op.emitOpError("expected a scalar instead of a splat tensor");
  if (isa<ShapedType>(op.getType()) && !elements)
    return op.emitOpError("expected dense elements");
  return success();
}

/// Only start values of generics may be undefined or filled.
LogicalResult verifyStartValue(Operation *op) {
  for (OpOperand &use : op->getUses()) {
    auto destination = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    if (!destination || !destination.isDpsInit(&use))
      return op->emitOpError("expected only start values of operations as uses "
                             "but got '")
             << use.getOwner()->getName() << "'";
  }
  return success();
}

LogicalResult verifyReturn(func::ReturnOp op) {
  llvm::SmallPtrSet<Value, 8> seen;
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    Value shaped = streamtensor::stripReshapes(value);
    if (!seen.insert(shaped).second)
      return op.emitOpError("expected distinct results but result #")
             << index << " is another result too";
    if (!isa_and_nonnull<GenericOp, tensor::ConcatOp, tensor::PadOp>(
            streamtensor::stripViews(shaped).getDefiningOp()))
      return op.emitOpError("expected an operation to produce result #")
             << index << " but got an argument or a constant";
  }
  return success();
}

LogicalResult verifyOperation(Operation *op) {
  if (!isa<arith::ConstantOp>(op))
    for (Type type : op->getResultTypes())
      if (std::string problem = checkType(type); !problem.empty())
        return op->emitOpError(problem);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](GenericOp op) { return verifyGeneric(op); })
      .Case([](tensor::ExtractSliceOp op) { return verifySlice(op); })
      .Case([](arith::ConstantOp op) { return verifyConstant(op); })
      .Case<tensor::EmptyOp, linalg::FillOp>(
          [](Operation *op) { return verifyStartValue(op); })
      .Case([](func::ReturnOp op) { return verifyReturn(op); })
      .Case([](tensor::PadOp op) -> LogicalResult {
        if (streamtensor::isConstantPad(op))
          return success();
        return op.emitOpError("expected constant amounts and a constant value");
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ConcatOp>(
          [](Operation *) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError("is not part of the normalized form");
      });
}

struct VerifyNormalized
    : streamtensor::impl::VerifyNormalizedBase<VerifyNormalized> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    bool failed = false;
    auto check = [&](Type type, StringRef what, unsigned index) {
      std::string problem = checkType(type);
      if (problem.empty())
        return;
      func.emitOpError() << what << " #" << index << ": " << problem;
      failed = true;
    };
    for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
      check(type, "argument", index);
    for (auto [index, type] : llvm::enumerate(func.getResultTypes()))
      check(type, "result", index);
    for (Operation &op : func.getBody().getOps())
      failed |= ::failed(verifyOperation(&op));
    if (failed || ::failed(streamtensor::checkSizes(func)))
      signalPassFailure();
  }
};

} // namespace
