//===- RepeatLayers.cpp - All layers in one launch ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass `--st-repeat-layers`. Three parts that know nothing of each other:
//
//   stacking   memory gets an outermost dimension, accesses an index
//   repetition the parameter, the loop, and who is told the layer
//   feedback   a stream from the task that stores the hidden state to the one
//              that loads it
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/Passes.h"

#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Analysis/Estimate/LoopInterval.h"
#include "streamtensor/Analysis/Estimate/StorageEstimate.h"
#include "streamtensor/Analysis/LinearOffset.h"
#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

#include <numeric>

namespace streamtensor {
#define GEN_PASS_DEF_REPEATLAYERS
#include "streamtensor/Conversion/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

static StringRef nameOf(func::FuncOp function, unsigned argument) {
  auto name =
      function.getArgAttrOfType<StringAttr>(argument, hls::kNameAttr);
  return name ? name.getValue() : StringRef();
}

/// The name by which the model's side knows an argument of the top function.
static StringRef hostNameOf(func::FuncOp top, unsigned argument) {
  auto name = top.getArgAttrOfType<StringAttr>(argument, "dataflow.name");
  return name ? name.getValue() : nameOf(top, argument);
}

/// After types of arguments have changed.
static void updateType(func::FuncOp function) {
  function.setType(
      FunctionType::get(function.getContext(),
                        function.getBody().front().getArgumentTypes(), {}));
}

//===----------------------------------------------------------------------===//
// Stacking
//===----------------------------------------------------------------------===//

/// `type` with `count` copies one behind the other. `stride` elements lie from
/// one to the next where that is more than those of the type.
static MemRefType stackedType(MemRefType type, int64_t count, int64_t stride) {
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, type.getShape());
  if (type.getLayout().isIdentity())
    return MemRefType::get(shape, type.getElementType());
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<int64_t> all{stride};
  llvm::append_range(all, strides);
  return MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), offset, all));
}

/// Groups of a reshape behind one more dimension.
static SmallVector<ReassociationIndices>
shifted(ArrayRef<ReassociationIndices> groups) {
  SmallVector<ReassociationIndices> result{{0}};
  for (const ReassociationIndices &group : groups) {
    result.emplace_back();
    for (int64_t dim : group)
      result.back().push_back(dim + 1);
  }
  return result;
}

namespace {

/// Gives memory of a design an outermost dimension over layers.
class Stacking {
public:
  Stacking(func::FuncOp top, StringRef parameter, int64_t count)
      : top(top), parameter(parameter), count(count), builder(top) {}

  /// Argument `index` of the top function, and its views.
  LogicalResult stackArgument(unsigned index);
  /// Accesses of argument `index` of a task to layer `layer`, whose memory has
  /// type `type` now.
  static LogicalResult stackAccesses(func::FuncOp task, unsigned index,
                                     MemRefType type, Value layer);

private:
  LogicalResult stackUsers(Value value);
  void stackAttributes(unsigned index, int64_t elements, MemRefType before);

  func::FuncOp top;
  StringRef parameter;
  int64_t count;
  OpBuilder builder;
};

} // namespace

/// What describes the argument to hosts and reports.
void Stacking::stackAttributes(unsigned index, int64_t elements,
                               MemRefType before) {
  auto prepend = [&](StringRef name) {
    auto shape = top.getArgAttrOfType<DenseI64ArrayAttr>(index, name);
    if (!shape)
      return;
    SmallVector<int64_t> all{count};
    llvm::append_range(all, shape.asArrayRef());
    top.setArgAttr(index, name, builder.getDenseI64ArrayAttr(all));
  };
  const int64_t rank = [&] {
    for (StringRef name : {"dataflow.tensor_shape", "dataflow.shape"})
      if (auto shape = top.getArgAttrOfType<DenseI64ArrayAttr>(index, name))
        return int64_t(shape.size());
    return before.getRank();
  }();
  for (StringRef name : {"dataflow.shape", "dataflow.tensor_shape",
                         "dataflow.buffer_shape"})
    prepend(name);
  if (auto packing =
          top.getArgAttrOfType<TypeAttr>(index, "dataflow.packing")) {
    auto order = cast<itensor::ITensorType>(packing.getValue());
    TokenOrder all = order.getOrder();
    all.element = all.elementShape();
    all.element.insert(all.element.begin(), 1);
    all.trips.insert(all.trips.begin(), count);
    all.steps.insert(all.steps.begin(), 1);
    for (std::vector<unsigned> &loops : all.map)
      for (unsigned &loop : loops)
        ++loop;
    all.map.insert(all.map.begin(), std::vector<unsigned>{0});
    top.setArgAttr(index, "dataflow.packing",
                   TypeAttr::get(itensor::ITensorType::get(
                       order.getElementType(), all)));
  }
  // Weights are files of all layers, whatever a launch runs.
  auto role = top.getArgAttrOfType<StringAttr>(index, "dataflow.role");
  if (!role || role.getValue() != "weight") {
    auto dims = top.getArgAttrOfType<ArrayAttr>(index, dataflow::kDimsAttr);
    SmallVector<Attribute> all{
        builder.getStringAttr(parameter + " max " + std::to_string(count))};
    for (int64_t dim = 0; dim < rank; ++dim)
      all.push_back(dims ? dims[dim] : builder.getStringAttr(""));
    top.setArgAttr(index, dataflow::kDimsAttr, builder.getArrayAttr(all));
  }
  auto port = top.getArgAttrOfType<hls::InterfaceAttr>(index,
                                                       hls::kInterfaceAttr);
  auto packed = top.getArgAttrOfType<IntegerAttr>(index, hls::kPackedAttr);
  if (port)
    top.setArgAttr(
        index, hls::kInterfaceAttr,
        hls::InterfaceAttr::get(
            top.getContext(), port.getBundle(),
            port.getDepth() +
                (count - 1) * elements / (packed ? packed.getInt() : 1),
            port.getBurst()));
}

/// Views of stacked memory; calls are changed with their functions.
LogicalResult Stacking::stackUsers(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    builder.setInsertionPoint(user);
    Operation *view;
    auto type = cast<MemRefType>(value.getType());
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(user)) {
      SmallVector<int64_t> shape{count};
      llvm::append_range(shape, expand.getResultType().getShape());
      view = memref::ExpandShapeOp::create(
          builder, user->getLoc(), shape, value,
          shifted(expand.getReassociationIndices()));
    } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(user)) {
      view = memref::CollapseShapeOp::create(
          builder, user->getLoc(), value,
          shifted(collapse.getReassociationIndices()));
    } else if (isa<func::CallOp>(user)) {
      continue;
    } else {
      return user->emitOpError()
             << "expected a reshape of memory in function '" << top.getName()
             << "', which all layers share, but got this view of a " << type;
    }
    user->getResult(0).replaceAllUsesWith(view->getResult(0));
    user->erase();
    if (failed(stackUsers(view->getResult(0))))
      return failure();
  }
  return success();
}

LogicalResult Stacking::stackArgument(unsigned index) {
  BlockArgument argument = top.getArgument(index);
  auto type = cast<MemRefType>(argument.getType());
  int64_t elements = type.getNumElements();
  if (auto shape = top.getArgAttrOfType<DenseI64ArrayAttr>(
          index, "dataflow.buffer_shape"))
    elements = std::accumulate(shape.asArrayRef().begin(),
                               shape.asArrayRef().end(), int64_t(1),
                               std::multiplies<int64_t>());
  if (type.getLayout().isIdentity() && elements != type.getNumElements())
    return top.emitOpError()
           << "expected the memory of argument '" << hostNameOf(top, index)
           << "' to be as large as its buffer";
  argument.setType(stackedType(type, count, elements));
  stackAttributes(index, elements, type);
  return stackUsers(argument);
}

LogicalResult Stacking::stackAccesses(func::FuncOp task, unsigned index,
                                      MemRefType type, Value layer) {
  BlockArgument argument = task.getArgument(index);
  SmallVector<Operation *> users(argument.getUsers());
  argument.setType(type);
  OpBuilder builder(task);
  auto indices = [&](ValueRange inner) {
    SmallVector<Value> all{layer};
    llvm::append_range(all, inner);
    return all;
  };
  for (Operation *user : users) {
    builder.setInsertionPoint(user);
    if (auto load = dyn_cast<memref::LoadOp>(user)) {
      auto access = memref::LoadOp::create(builder, load.getLoc(), argument,
                                           indices(load.getIndices()));
      load.replaceAllUsesWith(access.getResult());
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      memref::StoreOp::create(builder, store.getLoc(), store.getValue(),
                              argument, indices(store.getIndices()));
    } else if (auto view = dyn_cast<memref::SubViewOp>(user)) {
      auto one = builder.getIndexAttr(1);
      SmallVector<OpFoldResult> offsets{layer}, sizes{one}, strides{one};
      llvm::append_range(offsets, view.getMixedOffsets());
      llvm::append_range(sizes, view.getMixedSizes());
      llvm::append_range(strides, view.getMixedStrides());
      auto result = cast<MemRefType>(
          memref::SubViewOp::inferRankReducedResultType(
              view.getType().getShape(), type, offsets, sizes, strides));
      auto access = memref::SubViewOp::create(
          builder, view.getLoc(), result, argument, offsets, sizes, strides);
      view.replaceAllUsesWith(access.getResult());
    } else {
      return user->emitOpError() << "expected loads and stores of memory only";
    }
    user->erase();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Feedback
//===----------------------------------------------------------------------===//

/// The loops around the one access of a task that moves tokens between memory
/// and a stream.
static scf::ForOp accessLoop(func::FuncOp task) {
  scf::ForOp loop;
  task.walk([&](Operation *op) {
    if (isa<stream::ReadOp, stream::WriteOp>(op))
      loop = op->getParentOfType<scf::ForOp>();
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
  int64_t covered = tokenElements;
  for (Operation *op = access->getParentOp(); op != task; op = op->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return false;
    int64_t factor = 0;
    for (const auto &[value, multiple] : offset->terms)
      if (value == loop.getInductionVar())
        factor += multiple;
    const int64_t trips = tripCount(loop);
    if (trips == 1 && factor == 0)
      continue;
    if (factor != covered)
      return false;
    covered *= trips;
  }
  return true;
}

namespace {

/// A task that moves the hidden state between memory and a stream.
struct Mover {
  hls::TaskOp call;
  func::FuncOp task;
  /// Arguments: the memory, the stream.
  unsigned memory = 0, stream = 0;

  stream::StreamType streamType() {
    return cast<stream::StreamType>(task.getArgument(stream).getType());
  }
};

/// Copies whole tokens in a function of its own form.
class TokenCopier {
public:
  TokenCopier(OpBuilder &builder, Location loc, Type element)
      : builder(builder), loc(loc), element(element) {}

  /// `stream` with tokens of one dimension.
  Value flat(Value stream) {
    auto type = cast<stream::StreamType>(stream.getType());
    auto result = stream::StreamType::get(
        builder.getContext(), {type.getTokenElements()}, element,
        type.getDepth());
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
  Feedback(ModuleOp module, func::FuncOp group, int64_t count)
      : module(module), group(group), count(count), builder(module) {}

  /// `load` and `store` move the hidden state; `layer` counts the runs of the
  /// group.
  LogicalResult connect(Mover load, Mover store, Value layer, Value layers);

private:
  LogicalResult check(Mover &load, Mover &store);
  stream::StreamOp declareStream(Mover &store);
  void carry(Mover store, Value feedback, Value layer, Value layers);
  void receive(Mover load, Value feedback, Value layer);
  void relabel(Operation *op, StringRef prefix);

  ModuleOp module;
  func::FuncOp group;
  int64_t count;
  OpBuilder builder;
  int64_t elements = 0; // of a token of the feedback
};

} // namespace

LogicalResult Feedback::check(Mover &load, Mover &store) {
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
stream::StreamOp Feedback::declareStream(Mover &store) {
  auto stream = store.call.getOperand(store.stream)
                    .getDefiningOp<stream::StreamOp>();
  stream::StreamType type = stream.getType();
  const int64_t tokens = static_cast<int64_t>(*stream.getTokens()) *
                         type.getTokenElements() / elements;
  builder.setInsertionPointToStart(&group.getBody().front());
  auto feedback = stream::StreamOp::create(
      builder, stream.getLoc(),
      stream::StreamType::get(module.getContext(), {elements},
                              type.getElementType(), tokens),
      builder.getStringAttr(
          (nameOf(store.task, store.memory) + "_feedback").str()),
      builder.getI64IntegerAttr(tokens),
      builder.getStringAttr("a whole hidden state, for the next layer"));
  feedback->setAttr(hls::kFeedbackAttr, builder.getUnitAttr());
  if (stream->hasAttr(dataflow::kMemoryAttr))
    feedback->setAttr(
        dataflow::kMemoryAttr,
        builder.getStringAttr(memoryKindName(
            fifoKind(tokens, feedback.getType().getTokenBits()))));
  return feedback;
}

/// Labels are C++ labels, each once in a function.
void Feedback::relabel(Operation *op, StringRef prefix) {
  unsigned number = 0;
  op->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (loop->hasAttr(hls::kLabelAttr))
      loop->setAttr(hls::kLabelAttr, builder.getStringAttr(
                                         prefix + std::to_string(number++)));
  });
}

/// Adds an argument behind the streams and memory, with its attributes.
static unsigned addArgument(func::FuncOp task, hls::TaskOp call, Type type,
                            StringRef name, StringRef direction,
                            Value operand) {
  Builder builder(task.getContext());
  unsigned index = 0;
  while (index < task.getNumArguments() &&
         !task.getArgument(index).getType().isIndex())
    ++index;
  SmallVector<NamedAttribute> attributes{
      {hls::kNameAttr, builder.getStringAttr(name)}};
  if (!direction.empty())
    attributes.push_back(
        {hls::kDirectionAttr, builder.getStringAttr(direction)});
  (void)task.insertArgument(index, type, builder.getDictionaryAttr(attributes),
                            task.getLoc());
  SmallVector<Value> operands(call.getOperands());
  operands.insert(operands.begin() + index, operand);
  call->setOperands(operands);
  return index;
}

/// A task in front of the one that stores: passes the hidden state on to it,
/// and, but for the last layer, to the next layer.
void Feedback::carry(Mover store, Value feedback, Value layer, Value layers) {
  auto stream = store.call.getOperand(store.stream)
                    .getDefiningOp<stream::StreamOp>();
  stream::StreamType type = stream.getType();
  Location loc = store.task.getLoc();
  const std::string name =
      ("carry_" + nameOf(store.task, store.memory)).str();
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
  task->setAttr(hls::kCommentAttr,
                builder.getStringAttr(
                    name + ": the hidden state, for memory and the next layer"));
  for (StringRef attribute : {StringRef("source"), StringRef(dataflow::kDieAttr)})
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
  setParameter(4, group->getAttrOfType<StringAttr>(hls::kRepeatAttr).getValue());
  for (auto [i, size] : llvm::enumerate(sizes))
    setParameter(5 + i, store.task
                            .getArgAttrOfType<StringAttr>(
                                size, dataflow::kParameterAttr)
                            .getValue());
  Block *body = task.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  for (auto [i, size] : llvm::enumerate(sizes))
    mapping.map(store.task.getArgument(size), body->getArgument(5 + i));
  Value last = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq,
      affine::AffineApplyOp::create(
          builder, loc,
          AffineMap::get(1, 0, builder.getAffineDimExpr(0) + 1),
          ValueRange{body->getArgument(3)}),
      body->getArgument(4));
  auto choice = scf::IfOp::create(builder, loc, last, /*withElse=*/true);
  choice->setAttr(hls::kBoundaryAttr, builder.getUnitAttr());
  func::ReturnOp::create(builder, loc);
  for (bool isLast : {true, false}) {
    Block *block = isLast ? choice.thenBlock() : choice.elseBlock();
    builder.setInsertionPointToStart(block);
    IRMapping local(mapping);
    Operation *outermost = nullptr;
    for (Operation &op : store.task.getBody().front().without_terminator()) {
      Operation *copy = builder.clone(op, local);
      if (isa<scf::ForOp>(copy))
        outermost = copy;
    }
    scf::ForOp loop;
    outermost->walk([&](stream::ReadOp read) {
      loop = read->getParentOfType<scf::ForOp>();
    });
    Block *inner = loop.getBody();
    while (!inner->without_terminator().empty())
      std::prev(inner->getTerminator()->getIterator())->erase();
    builder.setInsertionPointToStart(inner);
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
    relabel(outermost, isLast ? "last" : "carry");
    loop->setAttr(hls::kPipelineAttr,
                  hls::PipelineAttr::get(module.getContext(),
                                         intervalBounds(loop).largest()));
  }
  builder.setInsertionPoint(store.call);
  hls::TaskOp::create(builder, loc, name, operands);
  store.call->setOperand(store.stream, passed);
}

/// The task that loads takes the hidden state of all but the first layer from
/// the feedback.
void Feedback::receive(Mover load, Value feedback, Value layer) {
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
  Value number = task.getArgument(addArgument(
      task, load.call, builder.getIndexType(), "layer", "", layer));
  Block &body = task.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  builder.setInsertionPoint(body.getTerminator());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      number, zero);
  auto choice = scf::IfOp::create(builder, loc, first, /*withElse=*/true);
  choice->setAttr(hls::kBoundaryAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(choice.elseBlock());
  IRMapping mapping;
  Operation *outermost = nullptr;
  for (Operation *op : ops) {
    Operation *copy = builder.clone(*op, mapping);
    if (isa<scf::ForOp>(copy))
      outermost = copy;
  }
  for (Operation *op : ops)
    op->moveBefore(choice.thenBlock()->getTerminator());
  scf::ForOp loop;
  outermost->walk([&](stream::WriteOp write) {
    loop = write->getParentOfType<scf::ForOp>();
  });
  Block *inner = loop.getBody();
  while (!inner->without_terminator().empty())
    std::prev(inner->getTerminator()->getIterator())->erase();
  builder.setInsertionPointToStart(inner);
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
  relabel(outermost, "next");
  loop->setAttr(hls::kPipelineAttr,
                hls::PipelineAttr::get(module.getContext(),
                                       intervalBounds(loop).largest()));
}

LogicalResult Feedback::connect(Mover load, Mover store, Value layer,
                                Value layers) {
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

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

namespace {

class LayerRepeater {
public:
  LayerRepeater(ModuleOp module, func::FuncOp top, DictionaryAttr repeat)
      : module(module), top(top), repeat(repeat), builder(module) {}

  LogicalResult run();

private:
  LogicalResult readAttribute();
  LogicalResult findGroup();
  BlockArgument addParameter(func::FuncOp function);
  LogicalResult stackMemory();
  LogicalResult stackTask(hls::TaskOp call);
  FailureOr<Mover> findMover(StringRef argument, StringRef kind);
  int findArgument(StringRef name);

  ModuleOp module;
  func::FuncOp top, group;
  DictionaryAttr repeat;
  OpBuilder builder;
  std::string parameter, argument, result;
  int64_t count = 0;
  llvm::StringSet<> shared;
  func::CallOp call;
  Value layer, layers;
};

} // namespace

LogicalResult LayerRepeater::readAttribute() {
  auto text = [&](StringRef name) {
    auto attr = repeat.getAs<StringAttr>(name);
    return attr ? attr.str() : std::string();
  };
  parameter = text("parameter");
  argument = text("argument");
  result = text("result");
  if (auto number = repeat.getAs<IntegerAttr>("count"))
    count = number.getInt();
  if (auto names = repeat.getAs<ArrayAttr>("shared"))
    for (auto name : names.getAsRange<StringAttr>())
      shared.insert(name.getValue());
  for (const auto &name : shared)
    if (findArgument(name.getKey()) < 0)
      return top.emitOpError() << "'" << dataflow::kRepeatAttr
                               << "': expected an argument named '"
                               << name.getKey() << "'";
  for (const std::string &name : {argument, result})
    if (findArgument(name) < 0)
      return top.emitOpError() << "'" << dataflow::kRepeatAttr
                               << "': expected an argument named '" << name
                               << "'";
  if (parameter.empty() || count < 1)
    return top.emitOpError()
           << "'" << dataflow::kRepeatAttr
           << "': expected the name of a parameter and a count from 1 on";
  for (const dataflow::ParameterRange &other : dataflow::parametersOf(top))
    if (other.name == parameter)
      return top.emitOpError()
             << "'" << dataflow::kRepeatAttr
             << "': expected a parameter of its own but '" << parameter
             << "' is a size of the layer";
  return success();
}

int LayerRepeater::findArgument(StringRef name) {
  for (unsigned i = 0; i < top.getNumArguments(); ++i)
    if (isa<MemRefType>(top.getArgument(i).getType()) &&
        hostNameOf(top, i) == name)
      return static_cast<int>(i);
  return -1;
}

LogicalResult LayerRepeater::findGroup() {
  SmallVector<func::CallOp> calls(top.getBody().front().getOps<func::CallOp>());
  if (calls.size() != 1)
    return top.emitOpError()
           << "expected one fused kernel, as all layers of a launch stream "
              "their hidden state, but got "
           << calls.size()
           << "; raise --onchip-budget-bytes";
  call = calls.front();
  group = module.lookupSymbol<func::FuncOp>(call.getCallee());
  return success();
}

/// Run-time parameters stand in the order of their names.
BlockArgument LayerRepeater::addParameter(func::FuncOp function) {
  unsigned index = function.getNumArguments();
  for (unsigned i = function.getNumArguments(); i-- > 0;)
    if (auto other = function.getArgAttrOfType<StringAttr>(
            i, dataflow::kParameterAttr);
        other && other.getValue() > parameter)
      index = i;
  NamedAttribute attributes[] = {
      {hls::kNameAttr, builder.getStringAttr(parameter)},
      {dataflow::kParameterAttr, builder.getStringAttr(parameter)}};
  (void)function.insertArgument(index, builder.getIndexType(),
                                builder.getDictionaryAttr(attributes),
                                function.getLoc());
  return function.getArgument(index);
}

/// The accesses of a task to stacked memory.
LogicalResult LayerRepeater::stackTask(hls::TaskOp taskCall) {
  auto task = module.lookupSymbol<func::FuncOp>(taskCall.getCallee());
  Value number;
  for (unsigned i = 0; i < task.getNumArguments(); ++i) {
    auto type = dyn_cast<MemRefType>(taskCall.getOperand(i).getType());
    if (!type || task.getArgument(i).getType() == type)
      continue;
    if (!number)
      number = task.getArgument(addArgument(
          task, taskCall, builder.getIndexType(), "layer", "", layer));
    if (failed(Stacking::stackAccesses(task, i, type, number)))
      return failure();
  }
  updateType(task);
  return success();
}

LogicalResult LayerRepeater::stackMemory() {
  Stacking stacking(top, parameter, count);
  for (unsigned i = 0; i < top.getNumArguments(); ++i) {
    if (!isa<MemRefType>(top.getArgument(i).getType()))
      continue;
    StringRef name = hostNameOf(top, i);
    // A table of the program's own is the same for all layers.
    if (name == argument || shared.contains(name) ||
        top.getArgAttr(i, "dataflow.value"))
      continue;
    if (failed(stacking.stackArgument(i)))
      return failure();
  }
  for (auto [operand, parameter] :
       llvm::zip_equal(call.getOperands(), group.getArguments()))
    parameter.setType(operand.getType());
  updateType(top);
  updateType(group);
  for (auto task : group.getOps<hls::TaskOp>())
    if (failed(stackTask(task)))
      return failure();
  return success();
}

/// The one task of `kind` that accesses the top function's argument `name`.
FailureOr<Mover> LayerRepeater::findMover(StringRef name, StringRef kind) {
  const int index = findArgument(name);
  SmallVector<Mover> found;
  for (auto task : group.getOps<hls::TaskOp>()) {
    auto function = module.lookupSymbol<func::FuncOp>(task.getCallee());
    Mover mover{task, function};
    bool isMover = false;
    unsigned streams = 0;
    for (auto [i, operand] : llvm::enumerate(task.getOperands())) {
      if (auto memory = dyn_cast<BlockArgument>(operand);
          memory && isa<MemRefType>(memory.getType())) {
        Value base = call.getOperand(memory.getArgNumber());
        while (Operation *view = base.getDefiningOp())
          base = view->getOperand(0);
        isMover |= base == top.getArgument(index);
        mover.memory = i;
      } else if (operand.getDefiningOp<stream::StreamOp>()) {
        mover.stream = i;
        ++streams;
      }
    }
    auto own = function->getAttrOfType<StringAttr>("kind");
    if (!isMover)
      continue;
    if (streams != 1 || !own || own.getValue() != kind)
      return function.emitOpError()
             << "expected a task that only moves the hidden state '" << name
             << "' between memory and one stream";
    found.push_back(mover);
  }
  if (found.size() != 1)
    return top.emitOpError()
           << "expected one task that moves the hidden state '" << name
           << "', which all layers of a launch stream, but got "
           << found.size();
  return found.front();
}

LogicalResult LayerRepeater::run() {
  if (failed(readAttribute()) || failed(findGroup()))
    return failure();
  FailureOr<Mover> load = findMover(argument, "dma_in");
  if (failed(load))
    return failure();
  FailureOr<Mover> store = findMover(result, "dma_out");
  if (failed(store))
    return failure();
  SmallVector<dataflow::ParameterRange> parameters =
      dataflow::parametersOf(top);
  parameters.push_back({parameter, 1, count});
  dataflow::setParameters(top, parameters);
  BlockArgument given = addParameter(top);
  layers = addParameter(group);
  SmallVector<Value> operands(call.getOperands());
  operands.insert(operands.begin() +
                      cast<BlockArgument>(layers).getArgNumber(),
                  given);
  call->setOperands(operands);
  group->setAttr(hls::kRepeatAttr, builder.getStringAttr(parameter));
  builder.setInsertionPointToStart(&group.getBody().front());
  layer = hls::IterationOp::create(builder, group.getLoc(),
                                    builder.getIndexType(), "layer");
  // Before addresses have a layer: what is compared is one of them.
  if (failed(Feedback(module, group, count)
                 .connect(*load, *store, layer, layers)))
    return failure();
  return stackMemory();
}

namespace {

struct RepeatLayers : public streamtensor::impl::RepeatLayersBase<RepeatLayers> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto repeat =
          function->getAttrOfType<DictionaryAttr>(dataflow::kRepeatAttr);
      if (!function->hasAttr(hls::kTopAttr) || !repeat)
        continue;
      if (failed(LayerRepeater(getOperation(), function, repeat).run()))
        return signalPassFailure();
      // Said once, it is done.
      function->removeAttr(dataflow::kRepeatAttr);
      return;
    }
  }
};

} // namespace
