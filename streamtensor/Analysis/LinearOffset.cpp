//===- LinearOffset.cpp - offsets as sums of multiples --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the offsets of views off constants and affine.apply operations.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/LinearOffset.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;
using namespace streamtensor;

bool LinearOffset::isMultipleOf(int64_t number) const {
  return constant % number == 0 && llvm::all_of(terms, [&](const auto &term) {
           return term.second % number == 0;
         });
}

/// Adds `factor` times `expr` over `operands`; returns whether it is a sum of
/// multiples.
static bool addExpr(AffineExpr expr, int64_t factor, unsigned numDims,
                    ValueRange operands, LinearOffset &offset) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    offset.constant += factor * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    offset.terms.emplace_back(operands[dim.getPosition()], factor);
    return true;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    offset.terms.emplace_back(operands[numDims + symbol.getPosition()], factor);
    return true;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (binary.getKind() == AffineExprKind::Add)
    return addExpr(binary.getLHS(), factor, numDims, operands, offset) &&
           addExpr(binary.getRHS(), factor, numDims, operands, offset);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && constant &&
         addExpr(binary.getLHS(), factor * constant.getValue(), numDims,
                 operands, offset);
}

/// The sum of `positions` x the strides of `type`.
static std::optional<LinearOffset> offsetAt(MemRefType type,
                                            ArrayRef<OpFoldResult> positions) {
  SmallVector<int64_t> strides;
  LinearOffset offset;
  if (failed(type.getStridesAndOffset(strides, offset.constant)) ||
      ShapedType::isDynamic(offset.constant) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  for (auto [stride, position] : llvm::zip_equal(strides, positions)) {
    if (std::optional<int64_t> known = getConstantIntValue(position)) {
      offset.constant += *known * stride;
      continue;
    }
    Value value = cast<Value>(position);
    auto apply = value.getDefiningOp<affine::AffineApplyOp>();
    if (!apply) {
      offset.terms.emplace_back(value, stride);
      continue;
    }
    AffineMap map = apply.getAffineMap();
    if (!addExpr(map.getResult(0), stride, map.getNumDims(),
                 apply.getMapOperands(), offset))
      return std::nullopt;
  }
  return offset;
}

std::optional<LinearOffset> streamtensor::offsetOf(memref::SubViewOp view) {
  return offsetAt(view.getSourceType(), view.getMixedOffsets());
}

std::optional<LinearOffset> streamtensor::offsetOf(MemRefType type,
                                                   ValueRange indices) {
  return offsetAt(type, getAsOpFoldResult(indices));
}
