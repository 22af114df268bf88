//===- StreamHandles.cpp - From itensor chains to streams -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An itensor is carried through a task like any value: into loops as an
// iteration argument, out of writes as a result. All values of such a chain are
// one FIFO. This step finds the `itensor.instance` at the root of each chain,
// lets reads and writes refer to it directly, and removes the chain.
//
// The order of accesses is kept, because reads and writes stay where they are.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/DataflowToStream/Steps.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Dialect/Dataflow/IR/ValueNames.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace streamtensor;
using dataflow::KernelOp;
using dataflow::TaskOp;
using itensor::ITensorType;

namespace {

bool isITensor(Value value) { return isa<ITensorType>(value.getType()); }

/// The conversion of one kernel.
class StreamHandles {
public:
  explicit StreamHandles(KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()) {}

  LogicalResult run();

private:
  LogicalResult createStreams();
  FailureOr<itensor::InstanceOp> findRoot(Value value);
  LogicalResult checkChains();
  LogicalResult redirectAccesses();
  LogicalResult checkEnds();
  void stripRegionOps();
  void stripTasks();
  void eraseChains();

  /// The stream of `root` as an itensor of `type`, built at the insertion
  /// point.
  Value handleFor(itensor::InstanceOp root, ITensorType type, Location loc);

  KernelOp kernel;
  OpBuilder builder;
  llvm::MapVector<Operation *, stream::StreamOp> streams;
  DenseMap<Operation *, llvm::SetVector<Operation *>> writers, readers;
  SmallVector<std::pair<Operation *, itensor::InstanceOp>> accesses;
};

} // namespace

/// The shape of a token in a stream.
static stream::StreamType streamType(ITensorType type, int64_t depth) {
  return stream::StreamType::get(type.getContext(), type.getElementShape(),
                                 type.getElementType(), depth);
}

LogicalResult StreamHandles::createStreams() {
  for (auto instance :
       llvm::make_early_inc_range(kernel.getOps<itensor::InstanceOp>())) {
    ITensorType type = instance.getType();
    if (type.getTokenBits() > kMaxTokenBits)
      return instance.emitOpError()
             << "expected a token of at most " << kMaxTokenBits
             << " bits but got " << type.getTokenBits() << " in " << type
             << "; choose a smaller tile for '" << instance.getSym() << "'";
    builder.setInsertionPoint(instance);
    auto tokens = instance->getAttrOfType<IntegerAttr>("tokens");
    if (!tokens)
      tokens = builder.getI64IntegerAttr(type.getNumTokens());
    auto op = stream::StreamOp::create(
        builder, instance.getLoc(), streamType(type, instance.getDepth()),
        instance.getSymAttr(), builder.getI64IntegerAttr(tokens.getInt()),
        instance.getReasonAttr());
    for (StringRef name : {dataflow::kCrossingAttr, dataflow::kMemoryAttr,
                           dataflow::kValuesAttr})
      if (Attribute value = instance->getAttr(name))
        op->setAttr(name, value);
    if (op->hasAttr(dataflow::kValuesAttr))
      op->setAttr(dataflow::kOrderAttr, TypeAttr::get(type));
    streams[instance] = op;
  }
  return success();
}

FailureOr<itensor::InstanceOp> StreamHandles::findRoot(Value value) {
  Value start = value;
  while (true) {
    Operation *op = value.getDefiningOp();
    unsigned index;
    if (op) {
      index =
          isa<OpResult>(value) ? cast<OpResult>(value).getResultNumber() : 0;
      if (auto instance = dyn_cast<itensor::InstanceOp>(op))
        return instance;
      if (auto write = dyn_cast<itensor::WriteOp>(op))
        value = write.getDest();
      else if (isa<itensor::CastOp, itensor::ReassociateOp>(op))
        value = op->getOperand(0);
      else if (auto task = dyn_cast<TaskOp>(op))
        value = task.getInits()[index];
      else if (auto loop = dyn_cast<scf::ForOp>(op))
        value = loop.getInitArgs()[index];
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        value = branch.thenYield()->getOperand(index);
      else {
        InFlightDiagnostic diag =
            op->emitOpError() << "expected an itensor.instance, or an "
                                 "operation that passes one on, as origin of "
                                 "a stream";
        diag.attachNote() << "allocate FIFOs first (phase allocated)";
        return diag;
      }
      continue;
    }
    auto argument = cast<BlockArgument>(value);
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto task = dyn_cast<TaskOp>(parent)) {
      value = task.getInits()[argument.getArgNumber()];
    } else if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      value = loop.getTiedLoopInit(argument)->get();
    } else {
      return emitError(start.getLoc())
             << "expected the stream of a task but got an argument of '"
             << parent->getName()
             << "'; accesses of memory must be DMA tasks (phase materialized)";
    }
  }
}

/// A chain must stay one FIFO: what a loop, a branch or a task gives back is
/// what it was given.
LogicalResult StreamHandles::checkChains() {
  auto check = [&](Operation *op, ValueRange yielded,
                   ValueRange expected) -> LogicalResult {
    for (auto [got, want] : llvm::zip_equal(yielded, expected)) {
      if (!isITensor(got))
        continue;
      FailureOr<itensor::InstanceOp> gotRoot = findRoot(got);
      FailureOr<itensor::InstanceOp> wantRoot = findRoot(want);
      if (failed(gotRoot) || failed(wantRoot))
        return failure();
      if (*gotRoot == *wantRoot)
        continue;
      return op->emitOpError()
             << "expected to give back the stream '"
             << itensor::InstanceOp(*wantRoot).getSym() << "' but got '"
             << itensor::InstanceOp(*gotRoot).getSym() << "'";
    }
    return success();
  };
  WalkResult result = kernel.walk([&](Operation *op) {
    LogicalResult ok = success();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      ok = check(op, loop.getYieldedValues(), loop.getInitArgs());
    else if (auto task = dyn_cast<TaskOp>(op))
      ok = check(op, task.getYield()->getOperands(), task.getInits());
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      if (branch.getNumResults() != 0)
        ok = check(op, branch.elseYield()->getOperands(),
                   branch.thenYield()->getOperands());
    return failed(ok) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

Value StreamHandles::handleFor(itensor::InstanceOp root, ITensorType type,
                               Location loc) {
  Value stream = streams.lookup(root).getResult();
  auto want = streamType(type, root.getDepth());
  if (stream.getType() != want)
    stream = stream::CastOp::create(builder, loc, want, stream);
  return stream::ToITensorOp::create(builder, loc, type, stream);
}

LogicalResult StreamHandles::redirectAccesses() {
  WalkResult result = kernel.walk([&](Operation *op) {
    auto read = dyn_cast<itensor::ReadOp>(op);
    auto write = dyn_cast<itensor::WriteOp>(op);
    if (!read && !write)
      return WalkResult::advance();
    Value accessed = read ? read.getSource() : write.getDest();
    FailureOr<itensor::InstanceOp> root = findRoot(accessed);
    if (failed(root))
      return WalkResult::interrupt();
    auto task = op->getParentOfType<TaskOp>();
    if (!task) {
      op->emitOpError() << "expected to stand inside a dataflow.task";
      return WalkResult::interrupt();
    }
    auto type = cast<ITensorType>(accessed.getType());
    if (type.getTokenElements() != root->getType().getTokenElements()) {
      InFlightDiagnostic diag =
          op->emitOpError()
          << "expected a token of " << root->getType().getTokenElements()
          << " elements but got " << type.getTokenElements()
          << "; a change of the token width is a task";
      diag.attachNote(root->getLoc()) << "the stream is this one";
      return WalkResult::interrupt();
    }
    (read ? readers : writers)[*root].insert(task);
    accesses.push_back({op, *root});
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto [op, root] : accesses) {
    builder.setInsertionPoint(op);
    if (auto read = dyn_cast<itensor::ReadOp>(op)) {
      read.getSourceMutable().assign(
          handleFor(root, read.getSource().getType(), op->getLoc()));
    } else {
      auto write = cast<itensor::WriteOp>(op);
      write.getDestMutable().assign(
          handleFor(root, write.getDest().getType(), op->getLoc()));
    }
  }
  return success();
}

LogicalResult StreamHandles::checkEnds() {
  for (auto &stream : streams) {
    Operation *instance = stream.first;
    auto check = [&](StringRef what, ArrayRef<Operation *> tasks) {
      if (tasks.size() == 1)
        return success();
      InFlightDiagnostic diag = instance->emitOpError()
                                << "expected one task that " << what << " '"
                                << cast<itensor::InstanceOp>(instance).getSym()
                                << "' but got " << tasks.size();
      for (Operation *task : tasks)
        diag.attachNote(task->getLoc())
            << what << " in task '" << cast<TaskOp>(task).getSym() << "'";
      return failure(true);
    };
    if (failed(check("writes", writers[instance].getArrayRef())) ||
        failed(check("reads", readers[instance].getArrayRef())))
      return failure();
  }
  return success();
}

/// Removes the results of `op` that are itensors, together with what `region`s
/// yield for them, and returns the indices that stay.
static SmallVector<unsigned> keptResults(Operation *op) {
  SmallVector<unsigned> kept;
  for (OpResult result : op->getResults())
    if (!isITensor(result))
      kept.push_back(result.getResultNumber());
  return kept;
}

static void keepOperands(Operation *op, ArrayRef<unsigned> kept) {
  SmallVector<Value> operands;
  for (unsigned index : kept)
    operands.push_back(op->getOperand(index));
  op->setOperands(operands);
}

/// Inner loops come first, so that no chain is used inside any more when its
/// loop is rebuilt.
void StreamHandles::stripRegionOps() {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp>(op) &&
        llvm::any_of(op->getResults(), isITensor))
      ops.push_back(op);
  });
  // The handles of outer chains are dead once reads, writes, and yields do not
  // use them, so yields go first.
  for (Operation *op : ops)
    for (Region &region : op->getRegions())
      if (!region.empty())
        keepOperands(region.front().getTerminator(), keptResults(op));
  for (Operation *op : ops) {
    SmallVector<unsigned> kept = keptResults(op);
    builder.setInsertionPoint(op);
    Operation *stripped;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      SmallVector<Value> inits;
      for (unsigned index : kept)
        inits.push_back(loop.getInitArgs()[index]);
      auto fresh =
          scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                             loop.getUpperBound(), loop.getStep(), inits);
      fresh.getRegion().takeBody(loop.getRegion());
      for (unsigned index = loop.getNumResults(); index-- > 0;)
        if (isITensor(loop.getResult(index))) {
          fresh.getBody()->getArgument(index + 1).dropAllUses();
          fresh.getBody()->eraseArgument(index + 1);
        }
      stripped = fresh;
    } else {
      auto branch = cast<scf::IfOp>(op);
      SmallVector<Type> types;
      for (unsigned index : kept)
        types.push_back(branch.getResult(index).getType());
      auto fresh =
          scf::IfOp::create(builder, branch.getLoc(), types,
                            branch.getCondition(), /*addThenBlock=*/false,
                            /*addElseBlock=*/false);
      fresh.getThenRegion().takeBody(branch.getThenRegion());
      fresh.getElseRegion().takeBody(branch.getElseRegion());
      stripped = fresh;
    }
    stripped->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    for (auto [position, index] : llvm::enumerate(kept))
      op->getResult(index).replaceAllUsesWith(stripped->getResult(position));
    // Uses that are left belong to chains only; they go with their users.
    op->dropAllUses();
    op->erase();
  }
}

void StreamHandles::stripTasks() {
  for (auto task : llvm::make_early_inc_range(kernel.getOps<TaskOp>())) {
    builder.setInsertionPoint(task);
    auto fresh = TaskOp::create(builder, task.getLoc(), task.getSym(),
                                task.getKind(), ValueRange{});
    fresh.getBody().takeBody(task.getBody());
    fresh.getYield()->setOperands(ValueRange{});
    for (BlockArgument argument : fresh.getBlock().getArguments())
      argument.dropAllUses();
    fresh.getBlock().eraseArguments(0, fresh.getBlock().getNumArguments());
    fresh->setDiscardableAttrs(task->getDiscardableAttrDictionary());
    task->dropAllUses();
    task.erase();
  }
}

void StreamHandles::eraseChains() {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<itensor::InstanceOp, itensor::CastOp, itensor::ReassociateOp,
            itensor::EmptyOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops)) {
    op->dropAllUses();
    op->erase();
  }
}

LogicalResult StreamHandles::run() {
  if (failed(createStreams()) || failed(checkChains()) ||
      failed(redirectAccesses()) || failed(checkEnds()))
    return failure();
  stripRegionOps();
  stripTasks();
  eraseChains();
  return success();
}

LogicalResult streamtensor::replaceITensorsByStreams(ModuleOp module) {
  WalkResult result = module.walk([](KernelOp kernel) {
    if (kernel.getNumResults() != 0) {
      kernel.emitOpError() << "expected no results but got "
                           << kernel.getNumResults()
                           << "; materialize memory accesses first (phase "
                              "materialized)";
      return WalkResult::interrupt();
    }
    return failed(StreamHandles(kernel).run()) ? WalkResult::interrupt()
                                               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
