//===- DataflowOps.cpp - dataflow operations -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders, syntax and verifiers of kernel and task.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::dataflow;
using streamtensor::itensor::ITensorType;

#define GET_OP_CLASSES
#include "streamtensor/Dialect/Dataflow/IR/DataflowOps.cpp.inc"

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef sym,
                     TypeRange results, ValueRange inputs,
                     TypeRange argumentTypes) {
  state.addAttribute("sym", builder.getStringAttr(sym));
  state.addOperands(inputs);
  state.addTypes(results);
  Block &block = state.addRegion()->emplaceBlock();
  for (Type type : argumentTypes)
    block.addArgument(type, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr sym;
  if (parser.parseAttribute(sym, "sym", result.attributes))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  auto parseInput = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back(), /*allowType=*/true) ||
        parser.parseEqual() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(types.emplace_back()))
      return failure();
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput) ||
      parser.resolveOperands(operands, types, loc, result.operands) ||
      parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printAttribute(getSymAttr());
  printer << " (";
  llvm::interleaveComma(llvm::zip_equal(getBlock().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          auto [argument, input] = pair;
                          printer.printRegionArgument(argument);
                          printer << " = " << input << " : " << input.getType();
                        });
  printer << ')';
  printer.printOptionalArrowTypeList(getOutputs().getTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Checks that what crosses the kernel boundary is one tensor: `inside` streams
/// exactly the elements of `outside`.
static LogicalResult verifyBoundary(KernelOp kernel, StringRef what,
                                    unsigned index, Type outside, Type inside) {
  if (inside == outside)
    return success();
  auto stream = dyn_cast<ITensorType>(inside);
  auto tensor = dyn_cast<RankedTensorType>(outside);
  if (stream && tensor && stream.getTensorType() == tensor)
    return success();
  InFlightDiagnostic diag = kernel.emitOpError()
                            << "expected " << what << " " << index
                            << " to be an itensor over " << outside
                            << " but got " << inside;
  if (stream)
    diag.attachNote() << "it covers " << stream.getTensorType();
  return diag;
}

LogicalResult KernelOp::verify() {
  if (getBlock().getNumArguments() != getInputs().size())
    return emitOpError() << "expected " << getInputs().size()
                         << " block arguments but got "
                         << getBlock().getNumArguments();
  for (auto [index, argument, input] :
       llvm::enumerate(getBlock().getArguments(), getInputs()))
    if (failed(verifyBoundary(*this, "block argument", index, input.getType(),
                              argument.getType())))
      return failure();
  auto yield = dyn_cast<YieldOp>(getYield());
  if (!yield)
    return emitOpError() << "expected dataflow.yield as terminator";
  if (yield.getValues().size() != getOutputs().size())
    return emitOpError() << "expected " << getOutputs().size()
                         << " yielded values but got "
                         << yield.getValues().size();
  for (auto [index, value, output] :
       llvm::enumerate(yield.getValues(), getOutputs()))
    if (failed(verifyBoundary(*this, "yielded value", index, output.getType(),
                              value.getType())))
      return failure();
  return success();
}

/// The value that names the same FIFO as `stream` before casts.
static Value withoutAliases(Value stream) {
  while (Operation *op = stream.getDefiningOp()) {
    if (!isa<itensor::CastOp, itensor::ReassociateOp>(op))
      break;
    stream = op->getOperand(0);
  }
  return stream;
}

/// Refuses a stream that a task writes after somebody else did. A destination
/// without tokens is an `itensor.empty`, which carries no identity (any number
/// of tasks may start from one), an `itensor.instance`, or the destination of
/// an outer task; each of the latter is one FIFO.
LogicalResult KernelOp::verifyRegions() {
  llvm::DenseMap<Value, TaskOp> writers;
  WalkResult result = getBody().walk([&](TaskOp task) {
    for (unsigned index = 0; index < task.getInits().size(); ++index) {
      Value init = task.getInits()[index];
      if (!isa<ITensorType>(init.getType()))
        continue;
      Value stream = withoutAliases(init);
      Operation *producer = stream.getDefiningOp();
      if (isa_and_nonnull<itensor::EmptyOp>(producer))
        continue;
      auto refuse = [&](Location writer, const llvm::Twine &name) {
        InFlightDiagnostic diag =
            task.emitOpError()
            << "expected to be the only writer of the stream of init " << index
            << ", " << init.getType() << ", but " << name
            << " writes it too; a FIFO has one writer: write another stream "
               "and "
               "join them with itensor.concat or itensor.join";
        diag.attachNote(writer) << "the other writer is here";
        return WalkResult::interrupt();
      };
      auto argument = dyn_cast<BlockArgument>(stream);
      if (argument && argument.getOwner() == &getBlock())
        return refuse(getLoc(), "the load of operand " +
                                    llvm::Twine(argument.getArgNumber()) +
                                    " of the kernel");
      if (producer && !isa<itensor::InstanceOp>(producer))
        return refuse(producer->getLoc(),
                      "'" + producer->getName().getStringRef() + "'");
      TaskOp &other = writers[stream];
      if (other)
        return refuse(other.getLoc(), "task '" + other.getSym() + "'");
      other = task;
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// TaskOp
//===----------------------------------------------------------------------===//

void TaskOp::build(OpBuilder &builder, OperationState &state, StringRef sym,
                   StringRef kind, ValueRange inits) {
  state.addAttribute("sym", builder.getStringAttr(sym));
  state.addAttribute("kind", builder.getStringAttr(kind));
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  Block &block = state.addRegion()->emplaceBlock();
  for (Value init : inits)
    block.addArgument(init.getType(), state.location);
}

StringRef TaskOp::getKind() {
  auto kind = (*this)->getAttrOfType<StringAttr>("kind");
  return kind ? kind.getValue() : StringRef("compute");
}

ParseResult TaskOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr sym;
  if (parser.parseAttribute(sym, "sym", result.attributes))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("inits"))) {
    auto parseInit = [&]() -> ParseResult {
      if (parser.parseArgument(arguments.emplace_back()) ||
          parser.parseEqual() || parser.parseOperand(operands.emplace_back()))
        return failure();
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                       parseInit) ||
        parser.parseColon() || parser.parseLParen() ||
        parser.parseTypeList(types) || parser.parseRParen() ||
        parser.resolveOperands(operands, types, loc, result.operands))
      return failure();
    for (auto [argument, type] : llvm::zip_equal(arguments, types))
      argument.type = type;
    result.addTypes(types);
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  Region &body = *result.regions.front();
  Block &block = body.empty() ? body.emplaceBlock() : body.front();
  if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>()) {
    // Not atBlockEnd: the block has no parent yet that would know the context.
    OpBuilder builder(parser.getContext());
    builder.setInsertionPointToEnd(&block);
    YieldOp::create(builder, result.location);
  }
  return success();
}

void TaskOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printAttribute(getSymAttr());
  if (!getInits().empty()) {
    printer << " inits(";
    llvm::interleaveComma(
        llvm::zip_equal(getBlock().getArguments(), getInits()), printer,
        [&](auto pair) {
          auto [argument, init] = pair;
          printer << argument << " = " << init;
        });
    printer << ") : (";
    llvm::interleaveComma(getInits().getTypes(), printer);
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult TaskOp::verify() {
  if (getBlock().getArgumentTypes() != getInits().getTypes())
    return emitOpError() << "expected one block argument per init, of its type";
  if (getInits().getTypes() != getOutputs().getTypes())
    return emitOpError() << "expected one result per init, of its type";
  auto yield = dyn_cast<YieldOp>(getYield());
  if (!yield)
    return emitOpError() << "expected dataflow.yield as terminator";
  if (yield.getValues().getTypes() != getOutputs().getTypes()) {
    InFlightDiagnostic diag = emitOpError()
                              << "expected yielded values of types "
                              << getOutputs().getTypes() << " but got "
                              << yield.getValues().getTypes();
    for (auto [value, output] : llvm::zip(yield.getValues(), getOutputs())) {
      auto a = dyn_cast<ITensorType>(value.getType());
      auto b = dyn_cast<ITensorType>(output.getType());
      if (!a || !b)
        continue;
      if (auto difference =
              itensor::describeDifference(a, b, "yielded stream", "result")) {
        diag.attachNote() << *difference;
        break;
      }
    }
    return diag;
  }
  static constexpr StringRef kinds[] = {"compute",   "dma_in", "dma_out",
                                        "converter", "fork",   "join"};
  if (!llvm::is_contained(kinds, getKind()))
    return emitOpError() << "expected kind to be one of compute, dma_in, "
                            "dma_out, converter, fork, join but got '"
                         << getKind() << "'";
  return success();
}

LogicalResult TaskOp::canonicalize(TaskOp op, PatternRewriter &rewriter) {
  // Only what carries no effects may stand beside the one task inside.
  TaskOp inner;
  for (Operation &nested : op.getBlock().without_terminator()) {
    if (auto task = dyn_cast<TaskOp>(nested)) {
      if (inner)
        return rewriter.notifyMatchFailure(op, "it holds several tasks");
      inner = task;
    } else if (!isPure(&nested)) {
      return rewriter.notifyMatchFailure(op, "it does something besides");
    }
  }
  if (!inner)
    return rewriter.notifyMatchFailure(op, "it holds no task");
  if (!llvm::equal(cast<YieldOp>(op.getYield()).getValues(),
                   inner.getResults()))
    return rewriter.notifyMatchFailure(op, "it yields other values");
  rewriter.modifyOpInPlace(inner, [&] {
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (!inner->hasAttr(attribute.getName()))
        inner->setAttr(attribute.getName(), attribute.getValue());
  });
  Operation *yield = op.getYield();
  rewriter.inlineBlockBefore(&op.getBlock(), op, op.getInits());
  rewriter.eraseOp(yield);
  rewriter.replaceOp(op, inner.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// TripCountOp
//===----------------------------------------------------------------------===//

TripCount TripCountOp::getTripCount(ParameterValues &maxima) {
  std::string error;
  std::optional<TripCount> count =
      TripCount::parse(getCount().str(), maxima, error);
  assert(count && "the verifier reads the expression");
  return *count;
}

int64_t TripCountOp::getLargest() {
  ParameterValues maxima;
  TripCount count = getTripCount(maxima);
  return count.highest(maxima);
}

LogicalResult TripCountOp::verify() {
  ParameterValues maxima, seen;
  std::string error;
  std::optional<TripCount> count =
      TripCount::parse(getCount().str(), maxima, error);
  if (!count)
    return emitOpError() << error;
  if (count->isConstant())
    return emitOpError() << "expected an expression of run-time parameters but "
                            "got the constant "
                         << count->getConstant() << "; use arith.constant";
  if (count->lowest(maxima) < 0)
    return emitOpError() << "expected a trip count of at least 0 but '"
                         << getCount() << "' goes down to "
                         << count->lowest(maxima);
  if (std::string canonical = count->str(maxima, seen); canonical != getCount())
    return emitOpError() << "expected the canonical spelling '" << canonical
                         << "' but got '" << getCount() << "'";
  return success();
}
