//===- ITensorTypes.cpp - itensor type -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Syntax and verification of the itensor type. What the type means is decided
// by Support/TokenOrder; this file only translates.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::itensor;

#define GET_TYPEDEF_CLASSES
#include "streamtensor/Dialect/ITensor/IR/ITensorTypes.cpp.inc"

void ITensorDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "streamtensor/Dialect/ITensor/IR/ITensorTypes.cpp.inc"
      >();
}

/// The loops summed in one map result, or failure when the result is not a sum
/// of distinct dimensions or the constant 0.
static FailureOr<std::vector<unsigned>> loopsOfResult(AffineExpr expr) {
  std::vector<unsigned> loops;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    if (constant.getValue() != 0)
      return failure();
    return loops;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    loops.push_back(dim.getPosition());
    return loops;
  }
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return failure();
  for (AffineExpr side : {sum.getLHS(), sum.getRHS()}) {
    FailureOr<std::vector<unsigned>> part = loopsOfResult(side);
    if (failed(part) || part->empty())
      return failure();
    for (unsigned loop : *part) {
      if (llvm::is_contained(loops, loop))
        return failure();
      loops.push_back(loop);
    }
  }
  return loops;
}

static TokenOrder makeOrder(ArrayRef<int64_t> element, ArrayRef<int64_t> trips,
                            ArrayRef<int64_t> steps, AffineMap map) {
  TokenOrder order;
  order.element.assign(element.begin(), element.end());
  order.trips.assign(trips.begin(), trips.end());
  order.steps.assign(steps.begin(), steps.end());
  for (AffineExpr result : map.getResults())
    order.map.push_back(*loopsOfResult(result));
  return order;
}

LogicalResult ITensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> elementShape,
                                  Type elementType, ArrayRef<int64_t> trips,
                                  ArrayRef<int64_t> steps, AffineMap map) {
  if (!elementType.isIntOrFloat())
    return emitError() << "expected an integer or float element type but got "
                       << elementType;
  if (trips.size() != steps.size())
    return emitError() << "expected as many steps as trip counts but got "
                       << steps.size() << " and " << trips.size();
  if (map.getNumDims() != trips.size() || map.getNumSymbols() != 0)
    return emitError() << "expected a map of " << trips.size()
                       << " iteration dimensions but got " << map.getNumDims();
  if (!elementShape.empty() && elementShape.size() != map.getNumResults())
    return emitError() << "expected an element of rank " << map.getNumResults()
                       << " or a scalar but got rank " << elementShape.size();
  for (AffineExpr result : map.getResults())
    if (failed(loopsOfResult(result)))
      return emitError() << "expected each map result to be a sum of distinct "
                            "iteration dimensions or the constant 0";
  std::string error;
  if (!makeOrder(elementShape, trips, steps, map).verify(error))
    return emitError() << error;
  return success();
}

ITensorType ITensorType::get(Type elementType, const TokenOrder &order) {
  MLIRContext *context = elementType.getContext();
  SmallVector<AffineExpr> results;
  for (const std::vector<unsigned> &loops : order.map) {
    AffineExpr sum = getAffineConstantExpr(0, context);
    for (unsigned loop : loops)
      sum = sum + getAffineDimExpr(loop, context);
    results.push_back(sum);
  }
  auto map = AffineMap::get(order.trips.size(), 0, results, context);
  return get(context, order.element, elementType, order.trips, order.steps,
             map);
}

Type ITensorType::parse(AsmParser &parser) {
  SmallVector<int64_t> element, trips, steps;
  Type elementType;
  AffineMap map;
  auto parseList = [&](SmallVectorImpl<int64_t> &list) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return parser.parseInteger(list.emplace_back());
    });
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(element, /*allowDynamic=*/false,
                                /*withTrailingX=*/true) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parseList(trips) || parser.parseStar() || parseList(steps) ||
      parser.parseComma() || parser.parseAffineMap(map) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<ITensorType>(loc, parser.getContext(), element,
                                        elementType, trips, steps, map);
}

void ITensorType::print(AsmPrinter &printer) const {
  auto printList = [&](ArrayRef<int64_t> list) {
    printer << '[';
    llvm::interleaveComma(list, printer);
    printer << ']';
  };
  printer << '<';
  for (int64_t size : getElementShape())
    printer << size << 'x';
  printer << getElementType() << ", ";
  printList(getTrips());
  printer << " * ";
  printList(getSteps());
  printer << ", ";
  getMap().print(printer.getStream());
  printer << '>';
}

TokenOrder ITensorType::getOrder() const {
  return makeOrder(getElementShape(), getTrips(), getSteps(), getMap());
}

SmallVector<int64_t> ITensorType::getTensorShape() const {
  std::vector<int64_t> extents = getOrder().dataExtents();
  return SmallVector<int64_t>(extents.begin(), extents.end());
}

RankedTensorType ITensorType::getTensorType() const {
  return RankedTensorType::get(getTensorShape(), getElementType());
}

int64_t ITensorType::getTokenElements() const {
  int64_t count = 1;
  for (int64_t size : getElementShape())
    count *= size;
  return count;
}

int64_t ITensorType::getTokenBits() const {
  return getTokenElements() * getElementType().getIntOrFloatBitWidth();
}

int64_t ITensorType::getNumTokens() const {
  int64_t count = 1;
  for (int64_t trip : getTrips())
    count *= trip;
  return count;
}

Type ITensorType::getTokenType() const {
  if (hasScalarToken() && getMap().getNumResults() != 0)
    return getElementType();
  return RankedTensorType::get(getElementShape(), getElementType());
}
