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
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::itensor;

#define GET_OP_CLASSES
#include "streamtensor/Dialect/ITensor/IR/ITensorOps.cpp.inc"

/// An error that names both types; with `difference`, a note says where their
/// sequences part.
static InFlightDiagnostic
emitMismatch(Operation *op, StringRef expected, ITensorType source,
             ITensorType result,
             const std::optional<TokenDifference> &difference = {}) {
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected types of " << expected << " but got "
                            << source << " and " << result;
  if (difference)
    diag.attachNote() << difference->describe(
        source.getOrder(), result.getOrder(), "source", "result");
  return diag;
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
    return emitMismatch(op, "one element type", source, result);
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
  if (auto difference = firstDifference(source.getOrder(), result.getOrder()))
    return emitMismatch(*this, "one token sequence", source, result,
                        difference);
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  if (auto producer = getSource().getDefiningOp<CastOp>())
    if (producer.getSource().getType() == getResult().getType())
      return producer.getSource();
  return {};
}

/// Reads around a cast in front of `op`, which does not depend on the spelling
/// of its source.
template <typename OpTy>
static LogicalResult skipCast(OpTy op, PatternRewriter &rewriter) {
  auto cast = op.getSource().template getDefiningOp<CastOp>();
  if (!cast)
    return rewriter.notifyMatchFailure(op, "its source is no cast");
  rewriter.modifyOpInPlace(
      op, [&] { op.getSourceMutable().assign(cast.getSource()); });
  return success();
}

LogicalResult CastOp::canonicalize(CastOp op, PatternRewriter &rewriter) {
  return skipCast(op, rewriter);
}

LogicalResult ReassociateOp::verify() {
  ITensorType source = getSource().getType(), result = getResult().getType();
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  if (auto difference =
          firstElementDifference(source.getOrder(), result.getOrder()))
    return emitMismatch(*this, "one element order", source, result, difference);
  return success();
}

OpFoldResult ReassociateOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  return {};
}

LogicalResult ReassociateOp::canonicalize(ReassociateOp op,
                                          PatternRewriter &rewriter) {
  ITensorType result = op.getResult().getType();
  if (sameSequence(op.getSource().getType().getOrder(), result.getOrder())) {
    rewriter.replaceOpWithNewOp<CastOp>(op, result, op.getSource());
    return success();
  }
  if (succeeded(skipCast(op, rewriter)))
    return success();
  auto producer = op.getSource().getDefiningOp<ReassociateOp>();
  if (!producer)
    return rewriter.notifyMatchFailure(op, "its source is no reassociate");
  // What is materialized is either a width adapter over one tensor shape or
  // nothing: two steps stay two where one would have to be both.
  ITensorType source = producer.getSource().getType();
  if (source.getTokenElements() != result.getTokenElements() &&
      source.getTensorShape() != result.getTensorShape())
    return rewriter.notifyMatchFailure(
        op, "one step would change both the token width and the tensor shape");
  rewriter.modifyOpInPlace(
      op, [&] { op.getSourceMutable().assign(producer.getSource()); });
  return success();
}

LogicalResult ConverterOp::verify() {
  ITensorType source = getSource().getType(), result = getResult().getType();
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  if (source.getTensorShape() != result.getTensorShape()) {
    InFlightDiagnostic diag =
        emitMismatch(*this, "one tensor shape", source, result);
    diag.attachNote() << "the source covers " << source.getTensorType()
                      << " but the result " << result.getTensorType();
    return diag;
  }
  if (std::optional<ArrayRef<int64_t>> buffer = getBufferShape()) {
    SmallVector<int64_t> shape = source.getTensorShape();
    bool fits = buffer->size() == shape.size();
    for (size_t dim = 0; fits && dim < shape.size(); ++dim)
      fits = (*buffer)[dim] >= 0 && (*buffer)[dim] <= shape[dim];
    if (!fits)
      return emitOpError() << "expected a buffer_shape within the tensor "
                           << source.getTensorType() << " but got [" << *buffer
                           << "]";
  }
  if (getSharedLoops().value_or(0) < 0 || getBytes().value_or(0) < 0)
    return emitOpError() << "expected shared_loops and bytes of at least 0";
  return success();
}

OpFoldResult ConverterOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  return {};
}

LogicalResult ConverterOp::canonicalize(ConverterOp op,
                                        PatternRewriter &rewriter) {
  ITensorType result = op.getResult().getType();
  if (!sameSequence(op.getSource().getType().getOrder(), result.getOrder()))
    return skipCast(op, rewriter);
  rewriter.replaceOpWithNewOp<CastOp>(op, result, op.getSource());
  return success();
}

//===----------------------------------------------------------------------===//
// ForkOp
//===----------------------------------------------------------------------===//

LogicalResult ForkOp::verify() {
  ITensorType source = getSource().getType();
  for (Value copy : getCopies()) {
    auto result = cast<ITensorType>(copy.getType());
    if (result != source)
      return emitMismatch(
          *this, "one spelling", source, result,
          firstDifference(source.getOrder(), result.getOrder()));
  }
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

LogicalResult ForkOp::canonicalize(ForkOp op, PatternRewriter &rewriter) {
  // A copy that nobody reads is not made; the last one is the source itself.
  SmallVector<Value> used;
  for (Value copy : op.getCopies())
    if (!copy.use_empty())
      used.push_back(copy);
  if (used.size() == 1) {
    rewriter.replaceAllUsesWith(used.front(), op.getSource());
    rewriter.eraseOp(op);
    return success();
  }
  if (!used.empty() && used.size() < op.getCopies().size()) {
    auto fork =
        ForkOp::create(rewriter, op.getLoc(),
                       SmallVector<Type>(used.size(), op.getSource().getType()),
                       op.getSource(), op->getAttrs());
    for (auto [old, copy] : llvm::zip_equal(used, fork.getCopies()))
      rewriter.replaceAllUsesWith(old, copy);
    rewriter.eraseOp(op);
    return success();
  }
  // A fork of a copy is a wider fork.
  auto producer = op.getSource().getDefiningOp<ForkOp>();
  if (!producer || used.empty())
    return rewriter.notifyMatchFailure(op, "every copy is read, by no fork");
  if (producer->getBlock() != op->getBlock() || !op.getSource().hasOneUse())
    return rewriter.notifyMatchFailure(op, "the forked copy has other readers");
  rewriter.setInsertionPoint(producer);
  SmallVector<Value> old;
  for (Value copy : producer.getCopies())
    if (copy != op.getSource())
      old.push_back(copy);
  llvm::append_range(old, op.getCopies());
  auto fork =
      ForkOp::create(rewriter, producer.getLoc(),
                     SmallVector<Type>(old.size(), op.getSource().getType()),
                     producer.getSource(), producer->getAttrs());
  for (auto [before, after] : llvm::zip_equal(old, fork.getCopies()))
    rewriter.replaceAllUsesWith(before, after);
  rewriter.eraseOp(op);
  rewriter.eraseOp(producer);
  return success();
}

//===----------------------------------------------------------------------===//
// ChunkOp, ConcatOp and JoinOp
//===----------------------------------------------------------------------===//

/// Checks that `parts`, one behind the other along `dim`, are the slices of
/// `whole`, each in the order that `whole` has there.
static LogicalResult verifyParts(Operation *op, ITensorType whole,
                                 TypeRange parts, int64_t dim) {
  SmallVector<int64_t> shape = whole.getTensorShape();
  if (parts.empty())
    return op->emitOpError() << "expected at least one part";
  if (dim >= static_cast<int64_t>(shape.size()))
    return op->emitOpError() << "expected a dimension below " << shape.size()
                             << " but got " << dim;
  int64_t low = 0;
  for (auto [index, type] : llvm::enumerate(parts)) {
    auto part = cast<ITensorType>(type);
    if (failed(verifySameElementType(op, whole, part)))
      return failure();
    SmallVector<int64_t> expected = shape, got = part.getTensorShape();
    std::string reason;
    if (got.size() == shape.size()) {
      expected[dim] = got[dim];
      if (got == expected) {
        std::optional<TokenOrder> slice =
            sliceTokenOrder(whole.getOrder(), dim, low, got[dim], reason);
        low += got[dim];
        if (!slice)
          return op->emitOpError()
                 << "expected part " << index << " of " << whole
                 << " to be a stream but got " << part << ": " << reason;
        if (auto difference = firstDifference(*slice, part.getOrder())) {
          InFlightDiagnostic diag = op->emitOpError()
                                    << "expected part " << index
                                    << " to have the order of " << whole
                                    << " but got " << part;
          diag.attachNote() << difference->describe(
              *slice, part.getOrder(), "part of the whole", "part");
          return diag;
        }
        continue;
      }
    }
    return op->emitOpError()
           << "expected part " << index << " to be a slice of " << whole
           << " along dimension " << dim << " but got " << part;
  }
  if (low != shape[dim])
    return op->emitOpError()
           << "expected parts that fill dimension " << dim << " of " << whole
           << ", " << shape[dim] << ", but got " << low;
  return success();
}

LogicalResult ChunkOp::verify() {
  return verifyParts(*this, getSource().getType(), getParts().getTypes(),
                     getDim());
}

LogicalResult ChunkOp::canonicalize(ChunkOp op, PatternRewriter &rewriter) {
  if (op.getParts().size() == 1) {
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getParts().front().getType(),
                                        op.getSource());
    return success();
  }
  auto concat = op.getSource().getDefiningOp<ConcatOp>();
  if (!concat || concat.getDim() != op.getDim() ||
      concat.getParts().size() != op.getParts().size())
    return skipCast(op, rewriter);
  for (auto [before, after] : llvm::zip_equal(concat.getParts(), op.getParts()))
    if (cast<ITensorType>(before.getType()).getTensorShape() !=
        cast<ITensorType>(after.getType()).getTensorShape())
      return rewriter.notifyMatchFailure(op, "it cuts elsewhere than it joins");
  SmallVector<Value> parts;
  for (auto [before, after] : llvm::zip_equal(concat.getParts(), op.getParts()))
    parts.push_back(
        rewriter.createOrFold<CastOp>(op.getLoc(), after.getType(), before));
  rewriter.replaceOp(op, parts);
  return success();
}

LogicalResult ConcatOp::verify() {
  return verifyParts(*this, getResult().getType(), getParts().getTypes(),
                     getDim());
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getParts().size() == 1 &&
      getParts().front().getType() == getResult().getType())
    return getParts().front();
  return {};
}

LogicalResult ConcatOp::canonicalize(ConcatOp op, PatternRewriter &rewriter) {
  if (op.getParts().size() == 1) {
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getResult().getType(),
                                        op.getParts().front());
    return success();
  }
  auto chunk = op.getParts().front().getDefiningOp<ChunkOp>();
  if (!chunk || chunk.getDim() != op.getDim() ||
      !llvm::equal(chunk.getParts(), op.getParts()))
    return rewriter.notifyMatchFailure(
        op, "its parts are not those of one chunk, in order");
  // Equal parts do not make equal wholes: these may interleave them
  // differently.
  ITensorType source = chunk.getSource().getType();
  if (!sameSequence(source.getOrder(), op.getResult().getType().getOrder()))
    return rewriter.notifyMatchFailure(
        op, "it delivers the parts in another order than the chunk takes them");
  rewriter.replaceOpWithNewOp<CastOp>(op, op.getResult().getType(),
                                      chunk.getSource());
  return success();
}

LogicalResult JoinOp::verify() {
  ITensorType result = getResult().getType();
  if (getSources().empty())
    return emitOpError() << "expected at least one source";
  std::string reason;
  std::optional<TokenOrder> share =
      dealTokenOrder(result.getOrder(), getSources().size(), reason);
  if (!share)
    return emitOpError() << "expected " << getSources().size()
                         << " streams that make up " << result
                         << " in turn: " << reason;
  for (auto [index, value] : llvm::enumerate(getSources())) {
    auto source = cast<ITensorType>(value.getType());
    if (failed(verifySameElementType(*this, source, result)))
      return failure();
    if (auto difference = firstDifference(*share, source.getOrder())) {
      InFlightDiagnostic diag = emitOpError()
                                << "expected source " << index
                                << " to have the order of its share of "
                                << result << " but got " << source;
      diag.attachNote() << difference->describe(*share, source.getOrder(),
                                                "share", "source");
      return diag;
    }
  }
  return success();
}

OpFoldResult JoinOp::fold(FoldAdaptor) {
  if (getSources().size() == 1 &&
      getSources().front().getType() == getResult().getType())
    return getSources().front();
  return {};
}
