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

/// An error that names both types; `difference`, where there is one, follows as
/// a note.
static InFlightDiagnostic
emitMismatch(Operation *op, StringRef expected, ITensorType source,
             ITensorType result,
             const std::optional<std::string> &difference = {}) {
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected types of " << expected << " but got "
                            << source << " and " << result;
  if (difference)
    diag.attachNote() << *difference;
  return diag;
}

std::optional<std::string> itensor::describeDifference(ITensorType a,
                                                       ITensorType b,
                                                       StringRef nameA,
                                                       StringRef nameB) {
  if (a.isStatic() && b.isStatic()) {
    TokenOrder x = a.getOrder(), y = b.getOrder();
    if (auto difference = firstDifference(x, y))
      return difference->describe(x, y, nameA.str(), nameB.str());
    return std::nullopt;
  }
  if (auto difference =
          firstDifference(a.getSymbolicOrder(), b.getSymbolicOrder()))
    return difference->describe(nameA.str(), nameB.str());
  return std::nullopt;
}

bool itensor::isSameSequence(ITensorType a, ITensorType b) {
  return a == b || !describeDifference(a, b, "", "");
}

/// The same for the elements, whatever the tokens and shapes.
static std::optional<std::string> describeElementDifference(ITensorType a,
                                                            ITensorType b) {
  if (a.isStatic() && b.isStatic()) {
    TokenOrder x = a.getOrder(), y = b.getOrder();
    if (auto difference = firstElementDifference(x, y))
      return difference->describe(x, y, "source", "result");
    return std::nullopt;
  }
  if (auto difference =
          firstElementDifference(a.getSymbolicOrder(), b.getSymbolicOrder()))
    return difference->describe("source", "result");
  return std::nullopt;
}

/// Why the tensors of `a` and `b` have different shapes, or nothing.
static std::optional<std::string> describeShapeDifference(ITensorType a,
                                                          ITensorType b) {
  const auto shapes = [](const TokenOrder &x, const TokenOrder &y) {
    return "the source covers a tensor of " + shapeString(x.dataExtents()) +
           " but the result one of " + shapeString(y.dataExtents());
  };
  if (a.isStatic() && b.isStatic()) {
    TokenOrder x = a.getOrder(), y = b.getOrder();
    if (x.dataExtents() != y.dataExtents())
      return shapes(x, y);
    return std::nullopt;
  }
  if (auto difference =
          firstShapeDifference(a.getSymbolicOrder(), b.getSymbolicOrder()))
    return difference->reason.empty()
               ? "with " + valuesString(difference->values) + ", " +
                     shapes(difference->a, difference->b)
               : difference->reason;
  return std::nullopt;
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
  if (auto difference = describeDifference(source, result, "source", "result"))
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
  if (auto difference = describeElementDifference(source, result))
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
  if (isSameSequence(op.getSource().getType(), result)) {
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
      describeShapeDifference(source, result))
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
  if (auto difference = describeShapeDifference(source, result))
    return emitMismatch(*this, "one tensor shape", source, result, difference);
  if (std::optional<ArrayRef<int64_t>> buffer = getBufferShape()) {
    std::vector<int64_t> shape = source.getOrder().dataExtents();
    bool fits = buffer->size() == shape.size();
    for (size_t dim = 0; fits && dim < shape.size(); ++dim)
      fits = (*buffer)[dim] >= 0 && (*buffer)[dim] <= shape[dim];
    if (!fits)
      return emitOpError() << "expected a buffer_shape within the tensor "
                           << source.getTensorType() << " but got [" << *buffer
                           << "]";
  }
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
  if (!isSameSequence(op.getSource().getType(), result))
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
          describeDifference(source, result, "source", "result"));
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

/// Why `parts`, one behind the other along `dim`, are not the slices of
/// `whole`, each in the order that `whole` has there; empty when they are.
static std::string describeParts(const TokenOrder &whole,
                                 ArrayRef<TokenOrder> parts, unsigned dim) {
  const std::vector<int64_t> shape = whole.dataExtents();
  int64_t low = 0;
  for (auto [index, part] : llvm::enumerate(parts)) {
    const std::string name = "part " + std::to_string(index);
    std::vector<int64_t> expected = shape, got = part.dataExtents();
    if (got.size() == shape.size())
      expected[dim] = got[dim];
    if (got != expected)
      return name + " covers a tensor of " + shapeString(got) +
             ", which is no slice of " + shapeString(shape) +
             " along dimension " + std::to_string(dim);
    std::string reason;
    std::optional<TokenOrder> slice =
        sliceTokenOrder(whole, dim, low, got[dim], reason);
    if (!slice)
      return name + " is no stream: " + reason;
    if (auto difference = firstDifference(*slice, part))
      return difference->describe(*slice, part, "whole (at " + name + ")",
                                  name);
    low += got[dim];
  }
  if (low != shape[dim])
    return "the parts fill " + std::to_string(low) + " of " +
           std::to_string(shape[dim]) + " along dimension " +
           std::to_string(dim);
  return "";
}

/// Why `sources` do not make up `result` in turn; empty when they do.
static std::string describeTurns(const TokenOrder &result,
                                 ArrayRef<TokenOrder> sources) {
  std::string reason;
  std::optional<TokenOrder> share =
      dealTokenOrder(result, sources.size(), reason);
  if (!share)
    return reason;
  for (auto [index, source] : llvm::enumerate(sources))
    if (auto difference = firstDifference(*share, source))
      return difference->describe(*share, source, "share",
                                  "source " + std::to_string(index));
  return "";
}

/// Checks that `describe` has nothing to say about `whole` and `parts` at all
/// values of their parameters; `expected` begins the error.
static LogicalResult verifyRelation(
    Operation *op, const llvm::Twine &expected, ITensorType whole,
    TypeRange parts,
    function_ref<std::string(const TokenOrder &, ArrayRef<TokenOrder>)>
        describe) {
  SmallVector<TokenOrder> orders;
  std::vector<SymbolicOrder> symbolic = {whole.getSymbolicOrder()};
  for (Type type : parts) {
    auto part = cast<ITensorType>(type);
    if (failed(verifySameElementType(op, whole, part)))
      return failure();
    symbolic.push_back(part.getSymbolicOrder());
  }
  std::string problem;
  std::optional<ValuesFound> found =
      findValues(symbolic, [&](const ParameterValues &values) {
        orders.clear();
        for (const SymbolicOrder &part : llvm::drop_begin(symbolic))
          orders.push_back(part.at(values));
        problem = describe(symbolic.front().at(values), orders);
        return !problem.empty();
      });
  if (!found)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << expected << " " << whole << " but got " << parts;
  if (!found->values.empty())
    problem = "with " + valuesString(found->values) + ", " + problem;
  diag.attachNote() << (found->reason.empty() ? problem : found->reason);
  return diag;
}

static LogicalResult verifyParts(Operation *op, ITensorType whole,
                                 TypeRange parts, uint64_t dim) {
  if (parts.empty())
    return op->emitOpError() << "expected at least one part";
  if (dim >= whole.getMap().getNumResults())
    return op->emitOpError()
           << "expected a dimension below " << whole.getMap().getNumResults()
           << " but got " << dim;
  return verifyRelation(
      op, "expected parts that make up", whole, parts,
      [&](const TokenOrder &order, ArrayRef<TokenOrder> orders) {
        return describeParts(order, orders, dim);
      });
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
    if (describeShapeDifference(cast<ITensorType>(before.getType()),
                                cast<ITensorType>(after.getType())))
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
  if (!isSameSequence(chunk.getSource().getType(), op.getResult().getType()))
    return rewriter.notifyMatchFailure(
        op, "it delivers the parts in another order than the chunk takes them");
  rewriter.replaceOpWithNewOp<CastOp>(op, op.getResult().getType(),
                                      chunk.getSource());
  return success();
}

LogicalResult JoinOp::verify() {
  if (getSources().empty())
    return emitOpError() << "expected at least one source";
  return verifyRelation(*this, "expected sources that take turns in",
                        getResult().getType(), getSources().getTypes(),
                        describeTurns);
}

OpFoldResult JoinOp::fold(FoldAdaptor) {
  if (getSources().size() == 1 &&
      getSources().front().getType() == getResult().getType())
    return getSources().front();
  return {};
}
