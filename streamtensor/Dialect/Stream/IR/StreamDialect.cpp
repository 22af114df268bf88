//===- StreamDialect.cpp - stream dialect -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration, type syntax and verifiers of the stream dialect.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::stream;

#include "streamtensor/Dialect/Stream/IR/StreamDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "streamtensor/Dialect/Stream/IR/StreamTypes.cpp.inc"

#define GET_OP_CLASSES
#include "streamtensor/Dialect/Stream/IR/StreamOps.cpp.inc"

void StreamDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "streamtensor/Dialect/Stream/IR/StreamOps.cpp.inc"
      >();
}

void StreamDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "streamtensor/Dialect/Stream/IR/StreamTypes.cpp.inc"
      >();
}

LogicalResult StreamType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> tokenShape, Type elementType,
                                 int64_t depth) {
  if (!elementType.isIntOrFloat())
    return emitError() << "expected an integer or float element type but got "
                       << elementType;
  if (depth < 1)
    return emitError() << "expected a depth of at least 1 but got " << depth;
  return success();
}

Type StreamType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t depth = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/true) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseInteger(depth) || parser.parseGreater())
    return {};
  return parser.getChecked<StreamType>(loc, parser.getContext(), shape,
                                       elementType, depth);
}

void StreamType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getTokenShape())
    printer << size << 'x';
  printer << getElementType() << ", " << getDepth() << '>';
}

int64_t StreamType::getTokenElements() const {
  int64_t count = 1;
  for (int64_t size : getTokenShape())
    count *= size;
  return count;
}

int64_t StreamType::getTokenBits() const {
  return getTokenElements() * getElementType().getIntOrFloatBitWidth();
}

/// The first tasks that read and write a FIFO.
namespace {
struct Ends {
  dataflow::TaskOp writer, reader;
};
} // namespace

/// Refuses a second task at one end of the FIFO that `stream` names. Nested
/// tasks are told apart; accesses outside of tasks have no order to keep.
static LogicalResult verifyEnds(StreamOp op, Value stream, Ends &ends) {
  for (Operation *user : stream.getUsers()) {
    if (auto cast = dyn_cast<CastOp>(user)) {
      if (failed(verifyEnds(op, cast.getResult(), ends)))
        return failure();
      continue;
    }
    auto task = user->getParentOfType<dataflow::TaskOp>();
    if (!task || !isa<ReadOp, WriteOp>(user))
      continue;
    const bool writes = isa<WriteOp>(user);
    dataflow::TaskOp &end = writes ? ends.writer : ends.reader;
    if (end && end != task) {
      InFlightDiagnostic diag =
          op.emitOpError() << "expected one " << (writes ? "writer" : "reader")
                           << " but got tasks '" << end.getSym() << "' and '"
                           << task.getSym() << "'";
      diag.attachNote(end.getLoc()) << "one is here";
      diag.attachNote(task.getLoc()) << "another is here";
      return diag;
    }
    end = task;
  }
  return success();
}

LogicalResult StreamOp::verify() {
  Ends ends;
  return verifyEnds(*this, getResult(), ends);
}

/// Checks that `type` can carry one token of `stream`.
static LogicalResult verifyToken(Operation *op, StreamType stream, Type type) {
  if (stream.hasScalarToken() && type == stream.getElementType())
    return success();
  if (auto memref = dyn_cast<MemRefType>(type)) {
    if (memref.getShape() == stream.getTokenShape() &&
        memref.getElementType() == stream.getElementType())
      return success();
  }
  return op->emitOpError() << "expected a token of " << stream << " but got "
                           << type;
}

LogicalResult ReadOp::verify() {
  if (getDest() && getValue())
    return emitOpError() << "expected either a destination or a result";
  if (!getDest() && !getValue())
    return emitOpError() << "expected a destination or a result";
  return verifyToken(*this, getSource().getType(),
                     getDest() ? getDest().getType() : getValue().getType());
}

LogicalResult WriteOp::verify() {
  return verifyToken(*this, getDest().getType(), getValue().getType());
}

LogicalResult CastOp::verify() {
  StreamType source = getSource().getType(), result = getResult().getType();
  if (source.getElementType() == result.getElementType() &&
      source.getTokenElements() == result.getTokenElements() &&
      source.getDepth() == result.getDepth())
    return success();
  return emitOpError() << "expected a stream of the same depth and of "
                       << source.getTokenElements() << " elements of "
                       << source.getElementType() << " a token but got "
                       << result;
}

static LogicalResult verifyBridge(Operation *op, itensor::ITensorType itensor,
                                  StreamType stream) {
  if (itensor.getElementType() == stream.getElementType() &&
      itensor.getTokenElements() == stream.getTokenElements())
    return success();
  return op->emitOpError() << "expected a stream of "
                           << itensor.getTokenElements() << " elements of "
                           << itensor.getElementType() << " a token, as "
                           << itensor << " has, but got " << stream;
}

LogicalResult FromITensorOp::verify() {
  return verifyBridge(*this, getSource().getType(), getResult().getType());
}

LogicalResult ToITensorOp::verify() {
  return verifyBridge(*this, getResult().getType(), getSource().getType());
}
