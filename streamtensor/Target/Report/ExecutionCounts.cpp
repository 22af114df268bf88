//===- ExecutionCounts.cpp - How often operations run ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Multiplies trip counts.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Report/ExecutionCounts.h"

#include "streamtensor/Dialect/HLS/IR/Loops.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

/// The value of an index that depends on run-time parameters only.
static std::optional<int64_t> evaluate(Value value,
                                       const ParameterValues &values) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return constant;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = function
                    ? function.getArgAttrOfType<StringAttr>(
                          argument.getArgNumber(), dataflow::kParameterAttr)
                    : StringAttr();
    auto known = name ? values.find(name.str()) : values.end();
    return known == values.end() ? std::nullopt : std::optional(known->second);
  }
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return std::nullopt;
  Builder builder(value.getContext());
  SmallVector<Attribute> operands, results;
  for (Value operand : apply.getMapOperands()) {
    std::optional<int64_t> number = evaluate(operand, values);
    if (!number)
      return std::nullopt;
    operands.push_back(builder.getIndexAttr(*number));
  }
  if (failed(apply.getAffineMap().constantFold(operands, results)))
    return std::nullopt;
  return cast<IntegerAttr>(results.front()).getInt();
}

int64_t streamtensor::countExecutions(Operation *op,
                                      const ParameterValues &values) {
  int64_t count = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<int64_t> upper = evaluate(loop.getUpperBound(), values),
                           lower = evaluate(loop.getLowerBound(), values),
                           step = evaluate(loop.getStep(), values);
    if (!upper || !lower || !step)
      count *= hls::tripBounds(loop).max;
    else
      count *= *upper > *lower ? llvm::divideCeil(*upper - *lower, *step) : 0;
  }
  return count;
}

/// Computes with data, not with addresses.
static bool isWork(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         !op->hasTrait<OpTrait::ConstantLike>() &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<IndexType>);
}

bool streamtensor::countsWork(func::FuncOp task, BlockArgument stream,
                              ArrayRef<dataflow::ParameterRange> parameters) {
  ParameterValues largest, smallest;
  for (const dataflow::ParameterRange &parameter : parameters) {
    largest[parameter.name] = parameter.largest;
    smallest[parameter.name] = parameter.smallest;
  }
  SmallVector<Operation *> accesses;
  Operation *work = nullptr;
  int64_t mostWork = 0;
  task.walk([&](Operation *op) {
    auto read = dyn_cast<stream::ReadOp>(op);
    auto write = dyn_cast<stream::WriteOp>(op);
    if ((read && read.getSource() == stream) ||
        (write && write.getDest() == stream))
      accesses.push_back(op);
    if (!isWork(op))
      return;
    int64_t count = countExecutions(op, largest);
    if (count > mostWork) {
      work = op;
      mostWork = count;
    }
  });
  if (!work)
    return true;
  auto tokens = [&](const ParameterValues &values) {
    int64_t count = 0;
    for (Operation *access : accesses)
      count += countExecutions(access, values);
    return count;
  };
  SmallVector<ParameterValues> samples = {smallest};
  for (const dataflow::ParameterRange &parameter : parameters) {
    samples.push_back(largest);
    samples.back()[parameter.name] = parameter.smallest;
  }
  int64_t mostTokens = tokens(largest);
  return llvm::all_of(samples, [&](const ParameterValues &values) {
    return tokens(values) * mostWork ==
           countExecutions(work, values) * mostTokens;
  });
}
