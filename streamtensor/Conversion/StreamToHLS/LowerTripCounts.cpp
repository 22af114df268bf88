//===- LowerTripCounts.cpp - Run-time counts become arithmetic ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `dataflow.trip_count "past max 4 + seq max 8"` becomes `%past + %seq` on
// arguments of the task's function.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/StreamToHLS/Steps.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;
using dataflow::TripCountOp;

llvm::StringMap<BlockArgument>
streamtensor::parameterArguments(func::FuncOp function) {
  llvm::StringMap<BlockArgument> arguments;
  for (BlockArgument argument : function.getArguments())
    if (auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), dataflow::kParameterAttr))
      arguments[name.getValue()] = argument;
  return arguments;
}

/// The dimension of each parameter in an affine expression.
using Positions = std::map<std::string, unsigned>;

/// `count` on dimensions; nothing inside of a division is negative.
static AffineExpr affineOf(const TripCount &count, const Positions &positions,
                           MLIRContext *context) {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (const TripCount::Term &term : count.getTerms()) {
    AffineExpr value;
    if (term.numerator.empty()) {
      value = getAffineDimExpr(positions.at(term.name), context);
    } else {
      value = affineOf(term.numerator.front(), positions, context);
      value = (value + (term.divisor - 1)).floorDiv(term.divisor);
    }
    sum = sum + value * term.factor;
  }
  return sum + count.getConstant();
}

/// Says how often the loops to `op` run, whose value is within [least, most].
static LogicalResult boundLoops(TripCountOp op, int64_t least, int64_t most) {
  for (OpOperand &use : op->getUses()) {
    auto loop = dyn_cast<scf::ForOp>(use.getOwner());
    if (!loop || use.get() != loop.getUpperBound())
      continue;
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!lower || !step || *step <= 0)
      return loop.emitOpError() << "expected a constant lower bound and a "
                                   "positive constant step below a run-time "
                                   "upper bound";
    auto trips = [&](int64_t upper) {
      return upper > *lower ? llvm::divideCeil(upper - *lower, *step) : 0;
    };
    loop->setAttr(
        hls::kTripCountAttr,
        hls::TripCountAttr::get(op.getContext(), trips(least), trips(most)));
  }
  return success();
}

LogicalResult
streamtensor::lowerTripCounts(func::FuncOp task,
                              ArrayRef<dataflow::ParameterRange> parameters,
                              hls::UniqueIdentifiers &names) {
  SmallVector<TripCountOp> ops;
  task.walk([&](TripCountOp op) { ops.push_back(op); });
  ParameterValues smallest, largest, used;
  for (const dataflow::ParameterRange &parameter : parameters) {
    smallest[parameter.name] = parameter.smallest;
    largest[parameter.name] = parameter.largest;
  }
  for (TripCountOp op : ops) {
    ParameterValues maxima;
    TripCount count = op.getTripCount(maxima);
    for (const auto &[name, maximum] : maxima) {
      auto known = largest.find(name);
      if (known == largest.end())
        return op.emitOpError()
               << "expected '" << dataflow::kParametersAttr
               << "' of the function to say the values of '" << name << "'";
      if (known->second > maximum)
        return op.emitOpError()
               << "expected parameter '" << name << "' to be at most "
               << maximum << ", for which there is memory, but the function "
               << "takes up to " << known->second;
    }
    count.collectParameters(used);
    if (failed(boundLoops(op, count.lowest(largest, smallest),
                          count.highest(largest, smallest))))
      return failure();
  }
  Builder builder(task.getContext());
  Positions positions;
  SmallVector<Value> values;
  for (const auto &entry : used) {
    NamedAttribute attributes[] = {
        {hls::kNameAttr, builder.getStringAttr(names.get(entry.first))},
        {dataflow::kParameterAttr, builder.getStringAttr(entry.first)}};
    if (failed(task.insertArgument(
            task.getNumArguments(), builder.getIndexType(),
            builder.getDictionaryAttr(attributes), task.getLoc())))
      return failure();
    positions[entry.first] = values.size();
    values.push_back(task.getArguments().back());
  }
  for (TripCountOp op : ops) {
    ParameterValues maxima;
    AffineExpr expr =
        affineOf(op.getTripCount(maxima), positions, op.getContext());
    Value value;
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      value = values[dim.getPosition()];
    } else {
      OpBuilder before(op);
      AffineMap map = AffineMap::get(values.size(), /*symbolCount=*/0, expr);
      SmallVector<Value> operands(values);
      affine::canonicalizeMapAndOperands(&map, &operands);
      auto apply =
          affine::AffineApplyOp::create(before, op.getLoc(), map, operands);
      apply->setAttr(hls::kNameAttr, builder.getStringAttr("trips"));
      value = apply;
    }
    op.replaceAllUsesWith(value);
    op.erase();
  }
  return success();
}
