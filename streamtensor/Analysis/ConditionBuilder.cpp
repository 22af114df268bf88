//===- ConditionBuilder.cpp - Conditions on loops and sizes ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows definitions until leaves and induction variables.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/ConditionBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace streamtensor;

std::optional<int64_t> streamtensor::integerConstant(Value value) {
  IntegerAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (attribute.getType().isInteger(1))
    return attribute.getValue().getZExtValue();
  return attribute.getValue().getSExtValue();
}

static IndexExpr buildAffine(AffineExpr expr, unsigned numDims,
                             ArrayRef<IndexExpr> operands) {
  using Op = IndexExpr::Op;
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return IndexExpr::constant(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return operands[cast<AffineDimExpr>(expr).getPosition()];
  case AffineExprKind::SymbolId:
    return operands[numDims + cast<AffineSymbolExpr>(expr).getPosition()];
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  IndexExpr lhs = buildAffine(binary.getLHS(), numDims, operands);
  IndexExpr rhs = buildAffine(binary.getRHS(), numDims, operands);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return IndexExpr::binary(Op::Add, lhs, rhs);
  case AffineExprKind::Mul:
    return IndexExpr::binary(Op::Mul, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return IndexExpr::binary(Op::FloorDiv, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return IndexExpr::binary(Op::CeilDiv, lhs, rhs);
  default:
    return IndexExpr::binary(Op::Mod, lhs, rhs);
  }
}

void ConditionBuilder::enter(scf::ForOp loop, unsigned level, int64_t lower,
                             int64_t step) {
  known.try_emplace(loop.getInductionVar(), IndexExpr::induction(level) * step +
                                                IndexExpr::constant(lower));
}

void ConditionBuilder::define(Value argument, std::optional<IndexExpr> value) {
  known.erase(argument);
  if (value)
    known.try_emplace(argument, std::move(*value));
}

std::optional<IndexExpr> ConditionBuilder::build(Value value) {
  if (std::optional<IndexExpr> leaf = leafOf(value))
    return leaf;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return buildApply(apply);
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return build(cast.getIn());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return buildCompare(compare);
  if (isa<arith::AddIOp>(op))
    return buildBinary(Op::Add, op);
  if (isa<arith::MulIOp>(op))
    return buildBinary(Op::Mul, op);
  if (auto sub = dyn_cast<arith::SubIOp>(op)) {
    auto lhs = build(sub.getLhs()), rhs = build(sub.getRhs());
    if (!lhs || !rhs)
      return std::nullopt;
    IndexExpr negative = *rhs * -1;
    // A constant is one number.
    if (!negative.hasParameters())
      negative = negative.bind({});
    return *lhs + negative;
  }
  if (isa<arith::AndIOp>(op))
    return buildBinary(Op::And, op);
  if (isa<arith::OrIOp>(op))
    return buildBinary(Op::Or, op);
  if (isa<arith::XOrIOp>(op))
    return buildBinary(Op::Xor, op);
  return std::nullopt;
}

std::optional<IndexExpr> ConditionBuilder::buildBinary(Op kind, Operation *op) {
  auto lhs = build(op->getOperand(0)), rhs = build(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  return IndexExpr::binary(kind, *lhs, *rhs);
}

std::optional<IndexExpr> ConditionBuilder::buildCompare(arith::CmpIOp op) {
  auto lhs = build(op.getLhs()), rhs = build(op.getRhs());
  if (!lhs || !rhs)
    return std::nullopt;
  auto make = [](Op kind, const IndexExpr &a, const IndexExpr &b) {
    return IndexExpr::binary(kind, a, b);
  };
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return make(Op::Equal, *lhs, *rhs);
  case arith::CmpIPredicate::ne:
    return make(Op::Equal, *lhs, *rhs) == 0;
  case arith::CmpIPredicate::slt:
    return make(Op::Less, *lhs, *rhs);
  case arith::CmpIPredicate::sle:
    return make(Op::LessEqual, *lhs, *rhs);
  case arith::CmpIPredicate::sgt:
    return make(Op::Less, *rhs, *lhs);
  case arith::CmpIPredicate::sge:
    return make(Op::LessEqual, *rhs, *lhs);
  case arith::CmpIPredicate::ult:
    return make(Op::UnsignedLess, *lhs, *rhs);
  case arith::CmpIPredicate::ule:
    return make(Op::UnsignedLessEqual, *lhs, *rhs);
  case arith::CmpIPredicate::ugt:
    return make(Op::UnsignedLess, *rhs, *lhs);
  case arith::CmpIPredicate::uge:
    return make(Op::UnsignedLessEqual, *rhs, *lhs);
  }
  return std::nullopt;
}

std::optional<IndexExpr>
ConditionBuilder::buildApply(affine::AffineApplyOp op) {
  SmallVector<IndexExpr> operands;
  for (Value operand : op.getMapOperands()) {
    std::optional<IndexExpr> expr = build(operand);
    if (!expr)
      return std::nullopt;
    operands.push_back(*expr);
  }
  AffineMap map = op.getAffineMap();
  return buildAffine(map.getResult(0), map.getNumDims(), operands);
}
