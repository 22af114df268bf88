//===- SplitConverters.cpp - Filling overlaps with draining ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A converter fills its buffer and drains it, once per segment. With two halves
// the next segment can be filled while this one is drained; a synthesis tool
// builds that from the canonical dataflow loop:
//
//   for (segment) {
//   #pragma HLS dataflow
//     float buffer[..];
//     fill(in, buffer);
//     drain(buffer, out);
//   }
//
// So both halves of the loop body become functions. Executed in order (in C
// simulation) the meaning is the same.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/Passes.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Identifiers.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace streamtensor {
#define GEN_PASS_DEF_SPLITCONVERTERS
#include "streamtensor/Conversion/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

/// The loop whose body is the smallest that contains all uses of `buffer`.
static scf::ForOp segmentLoop(stream::BufferOp buffer) {
  Operation *loop = nullptr;
  for (Operation *user : buffer->getUsers()) {
    if (!loop) {
      loop = user->getParentOp();
      continue;
    }
    while (!loop->isProperAncestor(user))
      loop = loop->getParentOp();
  }
  return dyn_cast_or_null<scf::ForOp>(loop);
}

static bool touches(Operation &op, Value buffer, bool stores) {
  return op
      .walk([&](Operation *inner) {
        auto store = dyn_cast<memref::StoreOp>(inner);
        auto load = dyn_cast<memref::LoadOp>(inner);
        bool found = stores ? store && store.getMemRef() == buffer
                            : load && load.getMemRef() == buffer;
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

/// Splits the body of one segment loop.
class ConverterSplitter {
public:
  ConverterSplitter(func::FuncOp task, stream::BufferOp buffer, scf::ForOp loop)
      : task(task), buffer(buffer), loop(loop), builder(task.getContext()) {}

  void run();

private:
  bool findStages();
  void outline(ArrayRef<Operation *> ops, StringRef stage, StringRef direction);
  std::string nameOf(Value value);

  func::FuncOp task;
  stream::BufferOp buffer;
  scf::ForOp loop;
  OpBuilder builder;
  SmallVector<Operation *> fill, drain;
};

} // namespace

/// The body must be a part that only stores into the buffer, and then a part
/// that only loads from it.
bool ConverterSplitter::findStages() {
  bool draining = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool stores = touches(op, buffer, /*stores=*/true);
    bool loads = touches(op, buffer, /*stores=*/false);
    draining |= loads;
    if (draining && stores)
      return false;
    (draining ? drain : fill).push_back(&op);
  }
  return !fill.empty() && !drain.empty();
}

std::string ConverterSplitter::nameOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &task.getBody().front())
    return task
        .getArgAttrOfType<StringAttr>(argument.getArgNumber(), hls::kNameAttr)
        .str();
  if (value == buffer.getResult())
    return buffer.getSym().str();
  // A trip count has a name, the variable of the loop has none.
  Operation *producer = value.getDefiningOp();
  auto name = producer ? producer->getAttrOfType<StringAttr>(hls::kNameAttr)
                       : StringAttr();
  return name ? name.str() : "segment";
}

/// Moves `ops` into a function of their own, and calls it in their place.
void ConverterSplitter::outline(ArrayRef<Operation *> ops, StringRef stage,
                                StringRef direction) {
  llvm::SetVector<Value> captured;
  SmallVector<Operation *> constants;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        Operation *scope =
            producer ? producer : operand.getParentBlock()->getParentOp();
        bool isInside = llvm::any_of(
            ops, [&](Operation *op) { return op->isAncestor(scope); });
        if (!isInside)
          captured.insert(operand);
      }
    });
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value value : captured) {
    Operation *producer = value.getDefiningOp();
    if (producer && producer != buffer && isMemoryEffectFree(producer) &&
        producer->getNumOperands() == 0) {
      constants.push_back(producer);
      continue;
    }
    operands.push_back(value);
    types.push_back(value.getType());
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(task);
  std::string name = (task.getName() + "_" + stage).str();
  auto function = func::FuncOp::create(builder, ops.front()->getLoc(), name,
                                       builder.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr(hls::kStageAttr, builder.getUnitAttr());
  Block *body = function.addEntryBlock();
  hls::UniqueIdentifiers names;
  IRMapping mapping;
  for (auto [index, value] : llvm::enumerate(operands)) {
    function.setArgAttr(index, hls::kNameAttr,
                        builder.getStringAttr(names.get(nameOf(value))));
    Attribute used = builder.getStringAttr(direction);
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &task.getBody().front())
      used = task.getArgAttr(argument.getArgNumber(), hls::kDirectionAttr);
    if (used && !value.getType().isIndex())
      function.setArgAttr(index, hls::kDirectionAttr, used);
    if (value == buffer.getResult())
      function.setArgAttr(index, hls::kArrayAttr, builder.getUnitAttr());
    mapping.map(value, body->getArgument(index));
  }
  builder.setInsertionPointToStart(body);
  for (Operation *constant : constants)
    builder.clone(*constant, mapping);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  func::ReturnOp::create(builder, task.getLoc());
  builder.setInsertionPoint(ops.front());
  func::CallOp::create(builder, task.getLoc(), function, operands);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

void ConverterSplitter::run() {
  // A pipelined loop moves a token per iteration; nothing is left to overlap.
  if (loop->hasAttr(hls::kPipelineAttr) || !findStages())
    return;
  // Two shared loops of run-time size do not become one. What overlaps in the
  // inner one would have to end with each iteration of the outer one, and its
  // segments are short.
  if (loop->getParentOp() != task)
    return;
  // What the draining half computes from the filling half besides the buffer
  // would be a second channel.
  for (Operation *op : fill)
    for (Operation *user : op->getUsers())
      for (Operation *reader : drain)
        if (reader->isAncestor(user))
          return;
  outline(fill, "fill", "out");
  outline(drain, "drain", "in");
  buffer->moveBefore(&loop.getBody()->front());
  loop->setAttr(hls::kDataflowAttr, builder.getUnitAttr());
}

static void splitConverters(func::FuncOp task) {
  SmallVector<stream::BufferOp> buffers;
  task.walk([&](stream::BufferOp buffer) {
    if (buffer.getPingPong() &&
        cast<MemRefType>(buffer.getType()).getNumElements() > 1)
      buffers.push_back(buffer);
  });
  // A loop can be split once, around one buffer.
  if (buffers.size() != 1)
    return;
  if (scf::ForOp loop = segmentLoop(buffers.front()))
    ConverterSplitter(task, buffers.front(), loop).run();
}

namespace {

struct SplitConverters
    : public streamtensor::impl::SplitConvertersBase<SplitConverters> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> tasks;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(hls::kTaskAttr))
        tasks.push_back(function);
    for (func::FuncOp task : tasks)
      splitConverters(task);
  }
};

} // namespace
