//===- IntegerRanges.h - What integers can be -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interval analysis of the integers in a function of generics on tensors.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_LINALG_INTEGERRANGES_H
#define STREAMTENSOR_TRANSFORMS_LINALG_INTEGERRANGES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace streamtensor {

/// Ranges of the integers in one function, which must not change meanwhile.
/// Sizes count as they stand in the types: where they are those of some run
/// only, so are the ranges.
class IntegerRanges {
public:
  /// Of the elements of a tensor, or of a scalar, which are integers or
  /// indices.
  mlir::ConstantIntRanges of(mlir::Value value);
  /// Of the sum that a reduction computes and of all sums of a part of its
  /// terms, as if the type had 64 bits more; nothing where it is no sum of
  /// known length.
  std::optional<mlir::ConstantIntRanges> ofSum(mlir::linalg::GenericOp op);
  /// Bits of the least signed type that holds all that `ofSum` says.
  std::optional<int64_t> bitsOfSum(mlir::linalg::GenericOp op);

private:
  mlir::ConstantIntRanges compute(mlir::Value value);
  mlir::ConstantIntRanges ofResult(mlir::OpResult result);

  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> known;
};

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_LINALG_INTEGERRANGES_H
