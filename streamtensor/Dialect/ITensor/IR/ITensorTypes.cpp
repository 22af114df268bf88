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

/// Reads the trip counts of a list; each maximum stands at the first use of its
/// parameter. Returns false and the cause in `error`.
static bool readTrips(StringRef text, SymbolicOrder &order,
                      std::string &error) {
  order.trips.clear();
  while (!text.empty()) {
    // A comma inside of a ceildiv separates nothing.
    size_t end = 0;
    for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ',');
         ++end)
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    std::optional<TripCount> trip =
        TripCount::parse(text.take_front(end).str(), order.maxima, error);
    if (!trip)
      return false;
    order.trips.push_back(*trip);
    text = text.drop_front(std::min(end + 1, text.size()));
  }
  return true;
}

LogicalResult ITensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> elementShape,
                                  Type elementType, ArrayRef<int64_t> trips,
                                  ArrayRef<int64_t> steps, AffineMap map,
                                  StringAttr runtimeTrips, bool overlapping) {
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
  TokenOrder order = makeOrder(elementShape, trips, steps, map);
  if (!runtimeTrips) {
    if (!order.verify(error, overlapping))
      return emitError() << error;
  } else {
    SymbolicOrder symbolic(order);
    if (!readTrips(runtimeTrips.getValue(), symbolic, error) ||
        !symbolic.verify(error, overlapping))
      return emitError() << error;
    if (symbolic.isStatic() || symbolic.tripsString() != runtimeTrips ||
        symbolic.largest() != order)
      return emitError()
             << "expected canonical run-time trip counts with their "
                "upper bounds but got '"
             << runtimeTrips.getValue() << "'";
  }
  if (overlapping && order.verify(error))
    return emitError() << "is marked overlapping but its tokens do not overlap";
  return success();
}

static AffineMap makeMap(MLIRContext *context,
                         const std::vector<std::vector<unsigned>> &dims,
                         size_t numLoops) {
  SmallVector<AffineExpr> results;
  for (const std::vector<unsigned> &loops : dims) {
    AffineExpr sum = getAffineConstantExpr(0, context);
    for (unsigned loop : loops)
      sum = sum + getAffineDimExpr(loop, context);
    results.push_back(sum);
  }
  return AffineMap::get(numLoops, 0, results, context);
}

ITensorType ITensorType::get(Type elementType, const TokenOrder &order,
                             bool overlapping) {
  MLIRContext *context = elementType.getContext();
  return get(context, order.element, elementType, order.trips, order.steps,
             makeMap(context, order.map, order.trips.size()), StringAttr(),
             overlapping);
}

/// The spelling of run-time trip counts; null when all are constants.
static StringAttr spellTrips(MLIRContext *context, const SymbolicOrder &order) {
  if (llvm::all_of(order.trips,
                   [](const TripCount &trip) { return trip.isConstant(); }))
    return {};
  return StringAttr::get(context, order.tripsString());
}

ITensorType ITensorType::get(Type elementType, const SymbolicOrder &order,
                             bool overlapping) {
  MLIRContext *context = elementType.getContext();
  TokenOrder largest = order.largest();
  return get(context, largest.element, elementType, largest.trips,
             largest.steps, makeMap(context, largest.map, largest.trips.size()),
             spellTrips(context, order), overlapping);
}

/// Appends one term of a trip count, and the sum that begins with it.
static ParseResult parseTrip(AsmParser &parser, std::string &text) {
  while (true) {
    int64_t number = 0;
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    OptionalParseResult integer = parser.parseOptionalInteger(number);
    if (integer.has_value()) {
      if (failed(*integer))
        return failure();
      text += std::to_string(number);
    }
    if (!integer.has_value() || succeeded(parser.parseOptionalStar())) {
      text += integer.has_value() ? " * " : "";
      if (failed(parser.parseOptionalKeyword(&name)))
        return parser.emitError(
            loc, "expected a trip count: an integer, a parameter or ceildiv");
      text += name;
      if (name == "ceildiv") {
        text += "(";
        if (parser.parseLParen() || parseTrip(parser, text) ||
            parser.parseComma() || parser.parseInteger(number) ||
            parser.parseRParen())
          return failure();
        text += ", " + std::to_string(number) + ")";
      } else if (succeeded(parser.parseOptionalKeyword("max"))) {
        if (parser.parseInteger(number))
          return failure();
        text += " max " + std::to_string(number);
      }
    }
    if (failed(parser.parseOptionalPlus()))
      return success();
    text += " + ";
  }
}

Type ITensorType::parse(AsmParser &parser) {
  SmallVector<int64_t> element, steps;
  Type elementType;
  AffineMap map;
  SmallVector<std::string> spelled;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(element, /*allowDynamic=*/false,
                                /*withTrailingX=*/true) ||
      parser.parseType(elementType) || parser.parseComma())
    return {};
  SMLoc tripsLoc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parseTrip(parser, spelled.emplace_back()); }) ||
      parser.parseStar() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parser.parseInteger(steps.emplace_back()); }) ||
      parser.parseComma() || parser.parseAffineMap(map))
    return {};
  bool overlapping = false;
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("overlapping"))
      return {};
    overlapping = true;
  }
  if (parser.parseGreater())
    return {};
  SymbolicOrder order;
  std::string error;
  SmallVector<int64_t> trips;
  for (const std::string &text : spelled) {
    // A plain number may have more digits than one inside an expression.
    int64_t number = 0;
    if (!StringRef(text).getAsInteger(10, number)) {
      order.trips.push_back(number);
    } else if (std::optional<TripCount> trip =
                   TripCount::parse(text, order.maxima, error)) {
      order.trips.push_back(*trip);
    } else {
      parser.emitError(tripsLoc) << error;
      return {};
    }
  }
  for (const TripCount &trip : order.trips)
    trips.push_back(trip.highest(order.maxima));
  return parser.getChecked<ITensorType>(
      loc, parser.getContext(), element, elementType, trips, steps, map,
      spellTrips(parser.getContext(), order), overlapping);
}

void ITensorType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getElementShape())
    printer << size << 'x';
  printer << getElementType() << ", [";
  if (getRuntimeTrips())
    printer << getRuntimeTrips().getValue();
  else
    llvm::interleaveComma(getTrips(), printer);
  printer << "] * [";
  llvm::interleaveComma(getSteps(), printer);
  printer << "], ";
  getMap().print(printer.getStream());
  if (getOverlapping())
    printer << ", overlapping";
  printer << '>';
}

TokenOrder ITensorType::getOrder() const {
  return makeOrder(getElementShape(), getTrips(), getSteps(), getMap());
}

SymbolicOrder ITensorType::getSymbolicOrder() const {
  SymbolicOrder order(getOrder());
  std::string error;
  if (getRuntimeTrips() &&
      !readTrips(getRuntimeTrips().getValue(), order, error))
    llvm_unreachable("the verifier reads the trip counts");
  return order;
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
