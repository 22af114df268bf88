//===- StreamEdge.cpp - what lies on an edge -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Edge planning: carry token orders through reshapes, insert converters where
// they end up different.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/StreamEdge.h"

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Support/ConverterInference.h"
#include "streamtensor/Support/GenericPoint.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace streamtensor;
using streamtensor::itensor::ITensorType;

template <typename OpTy>
static Reshape describeReshape(OpTy op, bool expands) {
  Reshape reshape;
  reshape.expands = expands;
  for (const ReassociationIndices &group : op.getReassociationIndices())
    reshape.groups.emplace_back(group.begin(), group.end());
  reshape.sourceShape = llvm::to_vector(op.getSrcType().getShape());
  reshape.resultShape = llvm::to_vector(op.getResultType().getShape());
  reshape.sourceSizes = dataflow::shapeOf(op.getSrc()).sizes;
  reshape.resultSizes = dataflow::shapeOf(op.getResult()).sizes;
  return reshape;
}

Value streamtensor::traceReshapes(Value value, std::vector<Reshape> &reshapes) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      reshapes.push_back(describeReshape(expand, true));
      value = expand.getSrc();
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      reshapes.push_back(describeReshape(collapse, false));
      value = collapse.getSrc();
    } else {
      break;
    }
  }
  std::reverse(reshapes.begin(), reshapes.end());
  return value;
}

namespace {

/// One edge, with numbers for run-time trip counts.
class EdgePlanner {
public:
  EdgePlanner(std::vector<SymbolicOrder> orders, ArrayRef<Reshape> reshapes)
      : point(orders) {
    for (const Reshape &reshape : reshapes) {
      std::optional<Shape> source = lower(reshape.sourceSizes);
      std::optional<Shape> result = lower(reshape.resultSizes);
      canCross &= source && result;
      if (canCross)
        steps.push_back({reshape, *source, *result});
    }
  }

  const GenericPoint point;

  std::optional<TokenOrder> push(TokenOrder order) const {
    for (const Step &step : steps) {
      std::optional<TokenOrder> next =
          cross(order, step.reshape, step.reshape.expands, step.result);
      if (!next)
        return std::nullopt;
      order = *next;
    }
    return canCross ? std::optional(order) : std::nullopt;
  }

  std::optional<TokenOrder> pull(TokenOrder order) const {
    for (const Step &step : llvm::reverse(steps)) {
      std::optional<TokenOrder> next =
          cross(order, step.reshape, !step.reshape.expands, step.source);
      if (!next)
        return std::nullopt;
      order = *next;
    }
    return canCross ? std::optional(order) : std::nullopt;
  }

  /// The cheapest edge from `source` to `destination`.
  EdgePlan plan(const TokenOrder &source, const TokenOrder &destination) const {
    std::optional<EdgePlan> best;
    auto consider = [&](EdgePlan plan) {
      if (plan.exists && (!best || plan.elements < best->elements))
        best = std::move(plan);
    };
    if (std::optional<TokenOrder> pushed = push(source)) {
      EdgePlan plan;
      appendReshape(plan, *pushed);
      appendConversion(plan, *pushed, destination);
      consider(std::move(plan));
    }
    if (std::optional<TokenOrder> pulled = pull(destination);
        pulled && !steps.empty()) {
      EdgePlan plan;
      appendConversion(plan, source, *pulled);
      appendReshape(plan, destination);
      consider(std::move(plan));
    }
    if (!best && canCross && !steps.empty()) {
      // Scalar tokens in memory order pass through every reshape.
      EdgePlan plan;
      TokenOrder flat = TokenOrder::rowMajor(steps.front().source);
      TokenOrder reshaped = TokenOrder::rowMajor(steps.back().result);
      flat.element.assign(flat.map.size(), 1);
      reshaped.element.assign(reshaped.map.size(), 1);
      appendConversion(plan, source, flat);
      appendReshape(plan, reshaped);
      appendConversion(plan, reshaped, destination);
      consider(std::move(plan));
    }
    if (best)
      return *best;
    EdgePlan none;
    none.exists = false;
    none.elements = kNoMemory;
    return none;
  }

private:
  using Shape = std::vector<int64_t>;
  struct Step {
    const Reshape &reshape;
    Shape source, result;
  };
  /// Elements that no memory holds; their bytes are still a number.
  static constexpr int64_t kNoMemory = int64_t(1) << 50;

  std::optional<Shape> lower(ArrayRef<TripCount> sizes) const {
    Shape shape;
    for (const TripCount &size : sizes) {
      std::optional<int64_t> number = point.lower(size);
      if (!number)
        return std::nullopt;
      shape.push_back(*number);
    }
    return shape;
  }

  /// The order behind one reshape.
  static std::optional<TokenOrder> cross(const TokenOrder &order,
                                         const Reshape &reshape, bool expands,
                                         const Shape &shape) {
    std::string reason;
    if (expands)
      return expandTokenOrder(order, reshape.groups, shape, reason);
    return collapseTokenOrder(order, reshape.groups, reason);
  }

  void append(EdgePlan &plan, EdgePlan::Kind kind,
              const TokenOrder &result) const {
    std::optional<SymbolicOrder> order = point.raise(result);
    plan.exists &= order.has_value();
    if (order)
      plan.steps.push_back({kind, *order});
  }

  /// Appends what turns `source` into `destination`, over one tensor.
  void appendConversion(EdgePlan &plan, const TokenOrder &source,
                        const TokenOrder &destination) const {
    if (source == destination)
      return;
    if (sameSequence(source, destination))
      return append(plan, EdgePlan::Kind::Cast, destination);
    std::string error;
    std::optional<SymbolicOrder> from = point.raise(source);
    std::optional<SymbolicOrder> to = point.raise(destination);
    std::optional<SymbolicConverterPlan> converter;
    if (from && to)
      converter = inferConverter(*from, *to, error);
    if (!converter) {
      plan.exists = false;
      return;
    }
    plan.elements += converter->allocatedElements();
    append(plan,
           elementOrderEqual(source, destination) ? EdgePlan::Kind::Reassociate
                                                  : EdgePlan::Kind::Converter,
           destination);
  }

  void appendReshape(EdgePlan &plan, const TokenOrder &result) const {
    if (!steps.empty())
      append(plan, EdgePlan::Kind::Reassociate, result);
  }

  SmallVector<Step> steps;
  /// Whether the shapes of all reshapes are known in the numbers of `point`.
  bool canCross = true;
};

} // namespace

std::optional<SymbolicOrder>
streamtensor::pushThrough(const SymbolicOrder &source,
                          ArrayRef<Reshape> reshapes) {
  EdgePlanner planner({source}, reshapes);
  std::optional<TokenOrder> order = planner.push(planner.point.lower(source));
  return order ? planner.point.raise(*order) : std::nullopt;
}

std::optional<SymbolicOrder>
streamtensor::pullThrough(const SymbolicOrder &destination,
                          ArrayRef<Reshape> reshapes) {
  EdgePlanner planner({destination}, reshapes);
  std::optional<TokenOrder> order =
      planner.pull(planner.point.lower(destination));
  return order ? planner.point.raise(*order) : std::nullopt;
}

int64_t streamtensor::bytesOf(int64_t elements, Type elementType) {
  return elements * llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

bool streamtensor::hasRevisits(const SymbolicOrder &order) {
  std::vector<int> dims = order.largest().loopDims();
  for (auto [dim, trip] : llvm::zip_equal(dims, order.trips))
    if (dim < 0 && !trip.isConstant(1))
      return true;
  return false;
}

EdgePlan streamtensor::planEdge(const SymbolicOrder &source,
                                ArrayRef<Reshape> reshapes,
                                const SymbolicOrder &destination) {
  EdgePlanner planner({source, destination}, reshapes);
  return planner.plan(planner.point.lower(source),
                      planner.point.lower(destination));
}

Value streamtensor::buildEdge(OpBuilder &builder, Location loc, Value source,
                              const EdgePlan &plan) {
  Type elementType = cast<ITensorType>(source.getType()).getElementType();
  for (const EdgePlan::Step &step : plan.steps) {
    auto type = ITensorType::get(elementType, step.result);
    switch (step.kind) {
    case EdgePlan::Kind::Cast:
      source = itensor::CastOp::create(builder, loc, type, source);
      break;
    case EdgePlan::Kind::Reassociate:
      source = itensor::ReassociateOp::create(builder, loc, type, source);
      break;
    case EdgePlan::Kind::Converter:
      source = itensor::ConverterOp::create(builder, loc, type, source,
                                            DenseI64ArrayAttr(), IntegerAttr(),
                                            IntegerAttr(), StringAttr());
      break;
    }
  }
  return source;
}
