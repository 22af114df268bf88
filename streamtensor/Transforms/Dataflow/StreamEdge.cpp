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

#include "streamtensor/Support/ConverterInference.h"

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

/// `order` on the other side of `reshape`: expanded or collapsed.
static std::optional<TokenOrder> cross(const TokenOrder &order,
                                       const Reshape &reshape, bool expands,
                                       ArrayRef<int64_t> shape) {
  std::string reason;
  if (expands)
    return expandTokenOrder(order, reshape.groups,
                            std::vector<int64_t>(shape.begin(), shape.end()),
                            reason);
  return collapseTokenOrder(order, reshape.groups, reason);
}

std::optional<TokenOrder>
streamtensor::pushThrough(TokenOrder order, ArrayRef<Reshape> reshapes) {
  for (const Reshape &reshape : reshapes) {
    std::optional<TokenOrder> next =
        cross(order, reshape, reshape.expands, reshape.resultShape);
    if (!next)
      return std::nullopt;
    order = *next;
  }
  return order;
}

std::optional<TokenOrder>
streamtensor::pullThrough(const TokenOrder &destination,
                          ArrayRef<Reshape> reshapes) {
  TokenOrder order = destination;
  for (const Reshape &reshape : llvm::reverse(reshapes)) {
    std::optional<TokenOrder> next =
        cross(order, reshape, !reshape.expands, reshape.sourceShape);
    if (!next)
      return std::nullopt;
    order = *next;
  }
  return order;
}

int64_t streamtensor::bytesOf(int64_t elements, Type elementType) {
  return elements * llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

bool streamtensor::hasRevisits(const TokenOrder &order) {
  std::vector<int> dims = order.loopDims();
  for (auto [dim, trip] : llvm::zip_equal(dims, order.trips))
    if (dim < 0 && trip != 1)
      return true;
  return false;
}

/// Appends what turns `source` into `destination` over one tensor shape.
static void appendConversion(EdgePlan &plan, const TokenOrder &source,
                             const TokenOrder &destination) {
  if (source == destination)
    return;
  if (sameSequence(source, destination)) {
    plan.steps.push_back({EdgePlan::Kind::Cast, destination});
    return;
  }
  std::string error;
  std::optional<ConverterPlan> converter =
      inferConverter(source, destination, error);
  assert(converter && "both orders cover one tensor");
  plan.elements += converter->allocatedElements();
  plan.steps.push_back({elementOrderEqual(source, destination)
                            ? EdgePlan::Kind::Reassociate
                            : EdgePlan::Kind::Converter,
                        destination});
}

/// Appends the reshape of a stream to `result`, which has the same tokens.
static void appendReshape(EdgePlan &plan, ArrayRef<Reshape> reshapes,
                          const TokenOrder &result) {
  if (!reshapes.empty())
    plan.steps.push_back({EdgePlan::Kind::Reassociate, result});
}

EdgePlan streamtensor::planEdge(const TokenOrder &source,
                                ArrayRef<Reshape> reshapes,
                                const TokenOrder &destination) {
  std::optional<EdgePlan> best;
  auto consider = [&](EdgePlan plan) {
    if (!best || plan.elements < best->elements)
      best = std::move(plan);
  };
  if (std::optional<TokenOrder> pushed = pushThrough(source, reshapes)) {
    EdgePlan plan;
    appendReshape(plan, reshapes, *pushed);
    appendConversion(plan, *pushed, destination);
    consider(std::move(plan));
  }
  if (std::optional<TokenOrder> pulled = pullThrough(destination, reshapes);
      pulled && !reshapes.empty()) {
    EdgePlan plan;
    appendConversion(plan, source, *pulled);
    appendReshape(plan, reshapes, destination);
    consider(std::move(plan));
  }
  if (best)
    return *best;
  // Scalar tokens in memory order pass through every reshape.
  EdgePlan plan;
  TokenOrder flat = TokenOrder::rowMajor(
      std::vector<int64_t>(reshapes.front().sourceShape.begin(),
                           reshapes.front().sourceShape.end()));
  TokenOrder reshaped = TokenOrder::rowMajor(std::vector<int64_t>(
      reshapes.back().resultShape.begin(), reshapes.back().resultShape.end()));
  flat.element.assign(flat.map.size(), 1);
  reshaped.element.assign(reshaped.map.size(), 1);
  appendConversion(plan, source, flat);
  appendReshape(plan, reshapes, reshaped);
  appendConversion(plan, reshaped, destination);
  return plan;
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
