//===- ConditionBuilder.h - Conditions on loops and sizes -------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates values that depend on induction variables and run-time sizes only
// into expressions.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_CONDITIONBUILDER_H
#define STREAMTENSOR_ANALYSIS_CONDITIONBUILDER_H

#include "streamtensor/Network/IndexExpr.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>
#include <optional>

namespace streamtensor {

/// The value of an integer or index constant, a bit as 0 or 1; nothing for
/// anything else.
std::optional<int64_t> integerConstant(mlir::Value value);

class ConditionBuilder {
public:
  /// Says which values are constants or known in another way.
  using LeafOf = std::function<std::optional<IndexExpr>(mlir::Value)>;

  explicit ConditionBuilder(LeafOf leafOf) : leafOf(std::move(leafOf)) {}

  /// The induction variable of `loop` is `lower` plus `step` times the
  /// iteration number of the loop at `level`.
  void enter(mlir::scf::ForOp loop, unsigned level, int64_t lower,
             int64_t step);

  /// `argument` of a function that is called stands for `value`; for nothing
  /// known if there is none.
  void define(mlir::Value argument, std::optional<IndexExpr> value);

  /// The expression of `value`, or nothing when it depends on anything but
  /// leaves, loops that were entered, and arguments that were defined.
  std::optional<IndexExpr> build(mlir::Value value);

private:
  using Op = IndexExpr::Op;

  std::optional<IndexExpr> buildBinary(Op kind, mlir::Operation *op);
  std::optional<IndexExpr> buildCompare(mlir::arith::CmpIOp op);
  std::optional<IndexExpr> buildApply(mlir::affine::AffineApplyOp op);

  LeafOf leafOf;
  /// Induction variables and arguments.
  llvm::DenseMap<mlir::Value, IndexExpr> known;
};

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_CONDITIONBUILDER_H
