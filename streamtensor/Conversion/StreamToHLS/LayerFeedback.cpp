//===- LayerFeedback.cpp - From one layer to the next ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A FIFO that holds a whole hidden state. The task that stores the state gets
// another one in front of it, which also writes it to the FIFO, in all layers
// but the last; the one that loads it reads the FIFO in all layers but the
// first. The wider of their tokens is cut into those of the other.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/StreamToHLS/RepeatLayers.h"

#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Analysis/Estimate/LoopInterval.h"
#include "streamtensor/Analysis/Estimate/StorageEstimate.h"
#include "streamtensor/Analysis/LinearOffset.h"
#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace streamtensor;

/// The innermost loop around the one access of a stream in `op`.
static scf::ForOp accessLoop(Operation *op) {
  scf::ForOp loop;
  op->walk([&](Operation *inner) {
    if (isa<stream::ReadOp, stream::WriteOp>(inner))
      loop = inner->getParentOfType<scf::ForOp>();
  });
  return loop;
}

/// Whether the task walks through memory from its begin to its end, one token
/// behind the other.
static bool isRowMajor(func::FuncOp task, int64_t tokenElements) {
  std::optional<LinearOffset> offset;
  Operation *access = nullptr;
  unsigned accesses = 0;
  task.walk([&](Operation *op) {
    if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      offset = offsetOf(view);
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (!isa<BlockArgument>(load.getMemRef()))
        return;
      offset = offsetOf(load.getMemRefType(), load.getIndices());
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (!isa<BlockArgument>(store.getMemRef()))
        return;
      offset = offsetOf(store.getMemRefType(), store.getIndices());
    } else {
      return;
    }
    access = op;
    ++accesses;
  });
  if (accesses != 1 || !offset || offset->constant != 0)
    return false;
  return contiguousRun(access, *offset, tokenElements).isComplete;
}

namespace {

/// Copies whole tokens in a function of its own form.
class TokenCopier {
public:
  TokenCopier(OpBuilder &builder, Location loc, Type element)
      : builder(builder), loc(loc), element(element) {}

  /// `stream` with tokens of one dimension.
  Value flat(Value stream) {
    auto type = cast<stream::StreamType>(stream.getType());
    auto result =
        stream::StreamType::get(builder.getContext(), {type.getTokenElements()},
                                element, type.getDepth());
    if (type == result)
      return stream;
    return stream::CastOp::create(builder, loc, result, stream);
  }
  Value token(int64_t elements) {
    return memref::AllocOp::create(builder, loc,
                                   MemRefType::get({elements}, element));
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  /// An unrolled loop; a single iteration is none.
  void repeat(int64_t trips, llvm::function_ref<void(Value)> body) {
    if (trips == 1)
      return body(index(0));
    Value zero = index(0), one = index(1), end = index(trips);
    auto loop = scf::ForOp::create(builder, loc, zero, end, one);
    loop->setAttr(hls::kUnrollAttr,
                  hls::UnrollAttr::get(builder.getContext(), 0));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  /// Elements of `from` from `part` times their number on, or the other way
  /// round: the smaller of the two is a part of the larger one.
  void move(Value from, Value to, Value part) {
    const int64_t source = cast<MemRefType>(from.getType()).getNumElements();
    const int64_t target = cast<MemRefType>(to.getType()).getNumElements();
    const int64_t size = std::min(source, target);
    repeat(size, [&](Value lane) {
      AffineExpr d0, d1;
      bindDims(builder.getContext(), d0, d1);
      Value place = affine::AffineApplyOp::create(
          builder, loc, AffineMap::get(2, 0, d0 * size + d1),
          ValueRange{part, lane});
      Value value = memref::LoadOp::create(builder, loc, from,
                                           source > size ? place : lane);
      memref::StoreOp::create(builder, loc, value, to,
                              target > size ? place : lane);
    });
  }

private:
  OpBuilder &builder;
  Location loc;
  Type element;
};

/// Leads the hidden state from the end of a layer to the begin of the next one.
class Feedback {
public:
  explicit Feedback(func::FuncOp group)
      : module(group->getParentOfType<ModuleOp>()), group(group),
        builder(module) {}

  /// `load` and `store` move the hidden state; `layer` counts the runs of the
  /// group.
  LogicalResult connect(HiddenMover load, HiddenMover store, Value layer,
                        Value layers);

private:
  LogicalResult check(HiddenMover &load, HiddenMover &store);
  stream::StreamOp declareStream(HiddenMover &store);
  void carry(HiddenMover store, Value feedback, Value layer, Value layers);
  void receive(HiddenMover load, Value feedback, Value layer);
  scf::ForOp copyLoops(ArrayRef<Operation *> ops, IRMapping mapping,
                       StringRef label);
  void pipeline(scf::ForOp loop);

  ModuleOp module;
  func::FuncOp group;
  OpBuilder builder;
  int64_t elements = 0; // of a token of the feedback
};

} // namespace

LogicalResult Feedback::check(HiddenMover &load, HiddenMover &store) {
  const int64_t in = load.streamType().getTokenElements();
  const int64_t out = store.streamType().getTokenElements();
  for (auto [mover, size, what] :
       {std::tuple(&load, in, "enters"), std::tuple(&store, out, "leaves")})
    if (!isRowMajor(mover->task, size))
      return mover->task.emitOpError()
             << "expected that the hidden state " << what
             << " a layer row by row, as the next one takes it from a stream";
  elements = std::min(in, out);
  if (std::max(in, out) % elements != 0)
    return store.task.emitOpError()
           << "expected that the hidden state enters and leaves a layer in "
              "tokens of which one is a multiple of the other but got "
           << in << " and " << out << " elements";
  return success();
}

/// It holds all tokens of a layer.
stream::StreamOp Feedback::declareStream(HiddenMover &store) {
  auto stream =
      store.call.getOperand(store.stream).getDefiningOp<stream::StreamOp>();
  stream::StreamType type = stream.getType();
  const int64_t tokens = static_cast<int64_t>(*stream.getTokens()) *
                         type.getTokenElements() / elements;
  builder.setInsertionPointToStart(&group.getBody().front());
  auto feedback = stream::StreamOp::create(
      builder, stream.getLoc(),
      stream::StreamType::get(module.getContext(), {elements},
                              type.getElementType(), tokens),
      builder.getStringAttr(
          (cppNameOf(store.task, store.memory) + "_feedback").str()),
      builder.getI64IntegerAttr(tokens),
      builder.getStringAttr("a whole hidden state, for the next layer"));
  feedback->setAttr(hls::kFeedbackAttr, builder.getUnitAttr());
  if (stream->hasAttr(dataflow::kMemoryAttr))
    feedback->setAttr(dataflow::kMemoryAttr,
                      builder.getStringAttr(memoryKindName(fifoKind(
                          tokens, feedback.getType().getTokenBits()))));
  return feedback;
}

/// Copies the body of a task that moves tokens, empties the loop around the
/// access and goes on there. Its loops are called `label`0 and so on: labels
/// are those of C++, each once in a function.
scf::ForOp Feedback::copyLoops(ArrayRef<Operation *> ops, IRMapping mapping,
                               StringRef label) {
  scf::ForOp outermost;
  for (Operation *op : ops)
    if (auto loop = dyn_cast<scf::ForOp>(builder.clone(*op, mapping)))
      outermost = loop;
  unsigned number = 0;
  outermost->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (loop->hasAttr(hls::kLabelAttr))
      loop->setAttr(hls::kLabelAttr,
                    builder.getStringAttr(label + std::to_string(number++)));
  });
  scf::ForOp loop = accessLoop(outermost);
  Block *inner = loop.getBody();
  while (!inner->without_terminator().empty())
    std::prev(inner->getTerminator()->getIterator())->erase();
  builder.setInsertionPointToStart(inner);
  return loop;
}

/// Once its body is complete.
void Feedback::pipeline(scf::ForOp loop) {
  loop->setAttr(hls::kPipelineAttr,
                hls::PipelineAttr::get(module.getContext(),
                                       intervalBounds(loop).largest()));
}

static SmallVector<Operation *> bodyOf(func::FuncOp task) {
  return llvm::to_vector(
      llvm::map_range(task.getBody().front().without_terminator(),
                      [](Operation &op) { return &op; }));
}

BlockArgument streamtensor::addLayerArgument(func::FuncOp task,
                                             hls::TaskOp call, Value layer) {
  Builder builder(task.getContext());
  unsigned index = 0;
  while (index < task.getNumArguments() &&
         !task.getArgument(index).getType().isIndex())
    ++index;
  NamedAttribute attributes[] = {
      {hls::kNameAttr, builder.getStringAttr("layer")}};
  (void)task.insertArgument(index, builder.getIndexType(),
                            builder.getDictionaryAttr(attributes),
                            task.getLoc());
  SmallVector<Value> operands(call.getOperands());
  operands.insert(operands.begin() + index, layer);
  call->setOperands(operands);
  return task.getArgument(index);
}

/// A task in front of the one that stores: passes the hidden state on to it,
/// and, but for the last layer, to the next layer.
void Feedback::carry(HiddenMover store, Value feedback, Value layer,
                     Value layers) {
  auto stream =
      store.call.getOperand(store.stream).getDefiningOp<stream::StreamOp>();
  stream::StreamType type = stream.getType();
  Location loc = store.task.getLoc();
  const std::string name =
      ("carry_" + cppNameOf(store.task, store.memory)).str();
  builder.setInsertionPointAfter(stream);
  auto passed = stream::StreamOp::create(
      builder, loc,
      stream::StreamType::get(module.getContext(), type.getTokenShape(),
                              type.getElementType(), 2),
      builder.getStringAttr(name + "_out0"), stream.getTokensAttr(),
      builder.getStringAttr("the store reads at once"));
  if (stream->hasAttr(dataflow::kMemoryAttr))
    passed->setAttr(dataflow::kMemoryAttr, builder.getStringAttr("srl"));

  // The loops are those of the store; its run-time sizes come last.
  SmallVector<Type> types{type, passed.getType(), feedback.getType(),
                          builder.getIndexType(), builder.getIndexType()};
  SmallVector<Value> operands{stream, passed, feedback, layer, layers};
  SmallVector<unsigned> sizes;
  for (BlockArgument argument : store.task.getArguments())
    if (argument.getType().isIndex()) {
      sizes.push_back(argument.getArgNumber());
      types.push_back(argument.getType());
      operands.push_back(store.call.getOperand(argument.getArgNumber()));
    }
  builder.setInsertionPoint(group);
  auto task = func::FuncOp::create(builder, loc, name,
                                   builder.getFunctionType(types, {}));
  task.setPrivate();
  task->setAttr(hls::kTaskAttr, builder.getUnitAttr());
  task->setAttr("kind", builder.getStringAttr("fork"));
  task->setAttr(
      hls::kCommentAttr,
      builder.getStringAttr(
          name + ": the hidden state, for memory and the next layer"));
  for (StringRef attribute :
       {StringRef("source"), StringRef(dataflow::kDieAttr)})
    if (Attribute value = store.task->getAttr(attribute))
      task->setAttr(attribute, value);
  const char *names[] = {"in", "out0", "out1", "layer"};
  const char *directions[] = {"in", "out", "out"};
  for (unsigned i = 0; i < 4; ++i)
    task.setArgAttr(i, hls::kNameAttr, builder.getStringAttr(names[i]));
  for (unsigned i = 0; i < 3; ++i)
    task.setArgAttr(i, hls::kDirectionAttr,
                    builder.getStringAttr(directions[i]));
  auto setParameter = [&](unsigned index, StringRef parameter) {
    task.setArgAttr(index, hls::kNameAttr, builder.getStringAttr(parameter));
    task.setArgAttr(index, dataflow::kParameterAttr,
                    builder.getStringAttr(parameter));
  };
  setParameter(4,
               group->getAttrOfType<StringAttr>(hls::kRepeatAttr).getValue());
  for (auto [i, size] : llvm::enumerate(sizes))
    setParameter(
        5 + i,
        store.task.getArgAttrOfType<StringAttr>(size, dataflow::kParameterAttr)
            .getValue());
  Block *body = task.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  for (auto [i, size] : llvm::enumerate(sizes))
    mapping.map(store.task.getArgument(size), body->getArgument(5 + i));
  Value last = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq,
      affine::AffineApplyOp::create(
          builder, loc, AffineMap::get(1, 0, builder.getAffineDimExpr(0) + 1),
          ValueRange{body->getArgument(3)}),
      body->getArgument(4));
  auto choice = scf::IfOp::create(builder, loc, last, /*withElse=*/true);
  choice->setAttr(hls::kBoundaryAttr, builder.getUnitAttr());
  func::ReturnOp::create(builder, loc);
  for (bool isLast : {true, false}) {
    builder.setInsertionPointToStart(isLast ? choice.thenBlock()
                                            : choice.elseBlock());
    scf::ForOp loop =
        copyLoops(bodyOf(store.task), mapping, isLast ? "last" : "carry");
    TokenCopier copier(builder, loc, type.getElementType());
    Value token = copier.token(type.getTokenElements());
    stream::ReadOp::create(builder, loc, TypeRange(),
                           copier.flat(body->getArgument(0)), token);
    stream::WriteOp::create(builder, loc, token,
                            copier.flat(body->getArgument(1)));
    if (!isLast)
      copier.repeat(type.getTokenElements() / elements, [&](Value part) {
        Value out = token;
        if (type.getTokenElements() != elements) {
          out = copier.token(elements);
          copier.move(token, out, part);
        }
        stream::WriteOp::create(builder, loc, out, body->getArgument(2));
      });
    pipeline(loop);
  }
  builder.setInsertionPoint(store.call);
  hls::TaskOp::create(builder, loc, name, operands);
  store.call->setOperand(store.stream, passed);
  // The stream that it had may have been deeper, between dies for example.
  BlockArgument in = store.task.getArgument(store.stream);
  in.setType(passed.getType());
  for (Operation *user : in.getUsers())
    if (auto cast = dyn_cast<stream::CastOp>(user)) {
      stream::StreamType flat = cast.getType();
      cast.getResult().setType(stream::StreamType::get(
          module.getContext(), flat.getTokenShape(), flat.getElementType(),
          passed.getType().getDepth()));
    }
  updateType(store.task);
}

/// The task that loads takes the hidden state of all but the first layer from
/// the feedback.
void Feedback::receive(HiddenMover load, Value feedback, Value layer) {
  func::FuncOp task = load.task;
  Location loc = task.getLoc();
  auto type = load.streamType();
  // In front of the output: what is read comes first.
  SmallVector<Value> operands(load.call.getOperands());
  operands.insert(operands.begin() + load.stream, feedback);
  load.call->setOperands(operands);
  NamedAttribute attributes[] = {
      {hls::kNameAttr, builder.getStringAttr("feedback")},
      {hls::kDirectionAttr, builder.getStringAttr("in")}};
  (void)task.insertArgument(load.stream, feedback.getType(),
                            builder.getDictionaryAttr(attributes), loc);
  BlockArgument in = task.getArgument(load.stream);
  BlockArgument out = task.getArgument(load.stream + 1);
  Value number = addLayerArgument(task, load.call, layer);
  const SmallVector<Operation *> ops = bodyOf(task);
  builder.setInsertionPoint(task.getBody().front().getTerminator());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      number, zero);
  auto choice = scf::IfOp::create(builder, loc, first, /*withElse=*/true);
  choice->setAttr(hls::kBoundaryAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::ForOp loop = copyLoops(ops, IRMapping(), "next");
  for (Operation *op : ops)
    op->moveBefore(choice.thenBlock()->getTerminator());
  TokenCopier copier(builder, loc, type.getElementType());
  Value token = copier.token(type.getTokenElements());
  const bool isWhole = type.getTokenElements() == elements;
  copier.repeat(type.getTokenElements() / elements, [&](Value part) {
    Value read = isWhole ? token : copier.token(elements);
    stream::ReadOp::create(builder, loc, TypeRange(), in, read);
    if (!isWhole)
      copier.move(read, token, part);
  });
  stream::WriteOp::create(builder, loc, token, copier.flat(out));
  pipeline(loop);
}

LogicalResult Feedback::connect(HiddenMover load, HiddenMover store,
                                Value layer, Value layers) {
  if (!accessLoop(load.task) || !accessLoop(store.task))
    return store.task.emitOpError()
           << "expected a hidden state of several tokens";
  if (failed(check(load, store)))
    return failure();
  stream::StreamOp feedback = declareStream(store);
  carry(store, feedback, layer, layers);
  receive(load, feedback, layer);
  return success();
}

LogicalResult streamtensor::connectFeedback(func::FuncOp group,
                                            HiddenMover load, HiddenMover store,
                                            Value layer, Value layers) {
  return Feedback(group).connect(load, store, layer, layers);
}
