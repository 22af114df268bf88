//===- NameOperations.cpp - Names for what generics compute ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sets the attribute `st.name` of every generic to a short name for people.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace streamtensor {
#define GEN_PASS_DEF_NAMEOPERATIONS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::GenericOp;

namespace {

/// A short name for a scalar operation: `add` for arith.addf.
std::string getScalarName(Operation *op) {
  if (!op)
    return "generic";
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp>(
          op))
    return "max";
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp, arith::MinUIOp>(
          op))
    return "min";
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return "div";
  StringRef name = op->getName().stripDialect();
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
          arith::NegFOp, arith::CmpFOp, math::AbsFOp, math::PowFOp,
          arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::CmpIOp,
          arith::AndIOp, arith::OrIOp, arith::XOrIOp, math::AbsIOp>(op))
    name = name.drop_back();
  return name.str();
}

/// The matrix product's name by the loops that its two factors span.
std::string getContractionName(GenericOp op, OpOperand *lhs, OpOperand *rhs) {
  bool batch = false, rows = false, columns = false;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (iterators[loop] != utils::IteratorType::parallel)
      continue;
    bool left = op.getMatchingIndexingMap(lhs).isFunctionOfDim(loop);
    bool right = op.getMatchingIndexingMap(rhs).isFunctionOfDim(loop);
    batch |= left && right;
    rows |= left && !right;
    columns |= right && !left;
  }
  StringRef kind = rows && columns   ? "matmul"
                   : rows || columns ? "matvec"
                                     : "dot";
  return ((batch ? "batch_" : "") + kind).str();
}

/// The value of fewer bits that `value` is.
Value stripExtensions(Value value) {
  while (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

std::string getReductionName(GenericOp op) {
  Operation *combiner = streamtensor::matchCombiner(op);
  if (!combiner)
    return "reduction";
  bool isSum = isa<arith::AddFOp, arith::AddIOp>(combiner);
  std::string name = isSum ? "sum"
                     : isa<arith::MulFOp, arith::MulIOp>(combiner)
                         ? "product"
                         : getScalarName(combiner);
  BlockArgument out = op.getBody()->getArguments().back();
  Value term = combiner->getOperand(combiner->getOperand(0) == out ? 1 : 0);
  Operation *def = stripExtensions(term).getDefiningOp();
  if (!def)
    return name;
  if (isa<arith::MulFOp, arith::MulIOp>(def)) {
    auto lhs = dyn_cast<BlockArgument>(stripExtensions(def->getOperand(0)));
    auto rhs = dyn_cast<BlockArgument>(stripExtensions(def->getOperand(1)));
    if (lhs && lhs == rhs)
      return "square_" + name;
    if (lhs && rhs && isSum)
      return getContractionName(op, op.getMatchingOpOperand(lhs),
                                op.getMatchingOpOperand(rhs));
  }
  return getScalarName(def) + "_" + name;
}

/// `x / (1 + exp(-x))` and its factors occur in every gated network.
bool hasSigmoid(Block *body) {
  bool negated = false, exp = false, quotient = false;
  for (Operation &op : *body) {
    negated |= isa<arith::NegFOp>(op);
    exp |= isa<math::ExpOp>(op) && negated;
    quotient |= isa<arith::DivFOp>(op) && exp;
  }
  return quotient;
}

std::string getParallelName(GenericOp op) {
  Block *body = op.getBody();
  Operation *last = body->getTerminator()->getOperand(0).getDefiningOp();
  if (streamtensor::isWindow(op))
    return "window";
  if (streamtensor::isCopy(op)) {
    AffineMap in = op.getIndexingMapsArray().front();
    return in.isIdentity()      ? "copy"
           : in.isPermutation() ? "transpose"
                                : "broadcast";
  }
  if (!last || last->getBlock() != body)
    return op.getNumDpsInputs() ? "select" : "fill";
  std::string name = getScalarName(last);
  Operation *function = nullptr;
  for (Operation &inner : *body)
    if (isa<math::MathDialect>(inner.getDialect()))
      function = &inner;
  if (!function || function == last)
    return name;
  std::string first = hasSigmoid(body) ? "sigmoid" : getScalarName(function);
  return first + "_" + name;
}

struct NameOperations : streamtensor::impl::NameOperationsBase<NameOperations> {
  void runOnOperation() override {
    getOperation()->walk([&](GenericOp op) {
      std::string name = op.getNumReductionLoops() ? getReductionName(op)
                                                   : getParallelName(op);
      op->setAttr("st.name", StringAttr::get(&getContext(), name));
    });
  }
};

} // namespace
