//===- ITensorOps.cpp - itensor operations -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers, folders and custom syntax of the itensor operations.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::itensor;

#define GET_OP_CLASSES
#include "streamtensor/Dialect/ITensor/IR/ITensorOps.cpp.inc"

/// Attaches where two token sequences part to `diag`.
static void noteFirstDifference(InFlightDiagnostic &diag, ITensorType source,
                                ITensorType result) {
  TokenOrder a = source.getOrder(), b = result.getOrder();
  if (std::optional<TokenDifference> difference = firstDifference(a, b))
    diag.attachNote() << difference->describe(a, b, "source", "result");
}

static LogicalResult verifyToken(Operation *op, ITensorType type, Type token) {
  if (token != type.getTokenType())
    return op->emitOpError() << "expected a token of type "
                             << type.getTokenType() << " but got " << token;
  return success();
}

static LogicalResult verifySameElementType(Operation *op, ITensorType source,
                                           ITensorType result) {
  if (source.getElementType() != result.getElementType())
    return op->emitOpError()
           << "expected element type " << source.getElementType() << " but got "
           << result.getElementType();
  return success();
}

LogicalResult ReadOp::verify() {
  if (failed(verifyToken(*this, getSource().getType(), getValue().getType())))
    return failure();
  bool isTensor = isa<RankedTensorType>(getValue().getType());
  if (isTensor && !getInit())
    return emitOpError() << "expected an init tensor for a token of type "
                         << getValue().getType();
  if (getInit() && getInit().getType() != getValue().getType())
    return emitOpError() << "expected an init of type " << getValue().getType()
                         << " but got " << getInit().getType();
  return success();
}

LogicalResult WriteOp::verify() {
  return verifyToken(*this, getDest().getType(), getValue().getType());
}

LogicalResult CastOp::verify() {
  ITensorType source = getSource().getType(), result = getResult().getType();
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  if (sameSequence(source.getOrder(), result.getOrder()))
    return success();
  InFlightDiagnostic diag = emitOpError()
                            << "expected types of one token sequence but got "
                            << source << " and " << result;
  noteFirstDifference(diag, source, result);
  return diag;
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  if (auto producer = getSource().getDefiningOp<CastOp>())
    if (producer.getSource().getType() == getResult().getType())
      return producer.getSource();
  return {};
}

LogicalResult ReassociateOp::verify() {
  ITensorType source = getSource().getType(), result = getResult().getType();
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  int64_t sourceElements = source.getNumTokens() * source.getTokenElements();
  int64_t resultElements = result.getNumTokens() * result.getTokenElements();
  if (sourceElements != resultElements)
    return emitOpError() << "expected as many elements as the source has, "
                         << sourceElements << ", but got " << resultElements;
  return success();
}

OpFoldResult ReassociateOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  return {};
}

LogicalResult ConverterOp::verify() {
  ITensorType source = getSource().getType(), result = getResult().getType();
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  if (source.getTensorShape() == result.getTensorShape())
    return success();
  return emitOpError() << "expected types of one tensor shape but got "
                       << source.getTensorType() << " and "
                       << result.getTensorType();
}

OpFoldResult ConverterOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  return {};
}

LogicalResult ForkOp::verify() {
  for (Value copy : getCopies())
    if (copy.getType() != getSource().getType())
      return emitOpError() << "expected a copy of type "
                           << getSource().getType() << " but got "
                           << copy.getType();
  if (getCopies().empty())
    return emitOpError() << "expected at least one copy";
  return success();
}

ParseResult ForkOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand source;
  Type type;
  int64_t copies = 0;
  if (parser.parseOperand(source) || parser.parseKeyword("times") ||
      parser.parseInteger(copies) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperand(source, type, result.operands))
    return failure();
  if (copies < 1)
    return parser.emitError(parser.getNameLoc(), "expected at least one copy");
  result.addTypes(SmallVector<Type>(copies, type));
  return success();
}

void ForkOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getSource() << " times " << getCopies().size();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getSource().getType();
}
