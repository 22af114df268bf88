//===- InsertForks.cpp - one reader per stream -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Duplicates streams with several readers by explicit fork tasks.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Memory/Passes.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Transforms/Memory/StreamTasks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

namespace streamtensor {
#define GEN_PASS_DEF_INSERTFORKS
#include "streamtensor/Transforms/Memory/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::dataflow;

namespace {

/// One place that reads a stream: the operation, the value that it names, and
/// the casts between the stream and that value, nearest the reader first. Each
/// place needs all tokens: two reads in one task are two operands of its
/// operation, which advance on their own (x times its transpose).
struct Reader {
  Operation *op;
  TaskOp task;
  Value named;
  SmallVector<Operation *> aliases;
};

} // namespace

static bool isAlias(Operation *op) {
  return isa<itensor::CastOp, itensor::ReassociateOp>(op);
}

/// The task of `kernel` that contains `op`.
static TaskOp enclosingTask(Operation *op) {
  TaskOp task;
  for (; op && !isa<KernelOp>(op); op = op->getParentOp())
    if (auto candidate = dyn_cast<TaskOp>(op))
      task = candidate;
  return task;
}

/// Collects the readers of `value`, through aliases, in program order.
static void collectReaders(Value value, ArrayRef<Operation *> aliases,
                           std::vector<Reader> &readers) {
  SmallVector<Operation *> users;
  for (Operation *user : value.getUsers())
    if (!llvm::is_contained(users, user))
      users.push_back(user);
  std::vector<Reader> direct;
  for (Operation *user : llvm::reverse(users)) {
    if (isAlias(user)) {
      SmallVector<Operation *> chain{user};
      llvm::append_range(chain, aliases);
      collectReaders(user->getResult(0), chain, readers);
      continue;
    }
    if (TaskOp task = enclosingTask(user))
      direct.push_back({user, task, value, llvm::to_vector(aliases)});
  }
  readers.insert(readers.end(), direct.begin(), direct.end());
}

/// Renames what `reader` reads to `stream`, behind copies of its aliases.
static void redirect(OpBuilder &builder, const Reader &reader, Value stream) {
  for (Operation *alias : llvm::reverse(reader.aliases)) {
    Operation *copy = builder.clone(*alias);
    copy->setOperand(0, stream);
    stream = copy->getResult(0);
  }
  Value named = reader.named;
  named.replaceUsesWithIf(
      stream, [&](OpOperand &use) { return use.getOwner() == reader.op; });
}

namespace {

class InsertForks : public streamtensor::impl::InsertForksBase<InsertForks> {
public:
  using streamtensor::impl::InsertForksBase<InsertForks>::InsertForksBase;

  void runOnOperation() override {
    getOperation().walk([&](KernelOp kernel) {
      SmallVector<TaskOp> producers(kernel.getBlock().getOps<TaskOp>());
      for (TaskOp producer : producers)
        for (Value stream : producer.getResults())
          fork(producer, stream);
      eraseDeadAliases(kernel);
    });
  }

private:
  void fork(TaskOp producer, Value stream) {
    std::vector<Reader> readers;
    collectReaders(stream, {}, readers);
    if (readers.size() == 1)
      return;
    // In task order; the readers of one task keep theirs.
    std::vector<Reader> ordered;
    auto isBefore = [](const Reader &a, const Reader &b) {
      return a.task != b.task && TaskOp(a.task)->isBeforeInBlock(b.task);
    };
    for (Reader &reader : readers)
      ordered.insert(
          std::upper_bound(ordered.begin(), ordered.end(), reader, isBefore),
          std::move(reader));
    OpBuilder builder(producer->getContext());
    builder.setInsertionPointAfter(producer);
    std::string name =
        (readers.empty() ? "drain_" : "fork_") + producer.getSym().str();
    if (producer->getNumResults() > 1)
      name += "_" + std::to_string(cast<OpResult>(stream).getResultNumber());
    TaskOp task =
        buildFork(builder, producer.getLoc(), name, stream, readers.size());
    if (Attribute source = producer->getAttr("source"))
      task->setAttr("source", source);
    builder.setInsertionPointAfter(task);
    for (auto [reader, copy] : llvm::zip_equal(ordered, task.getResults()))
      redirect(builder, reader, copy);
  }

  void eraseDeadAliases(KernelOp kernel) {
    SmallVector<Operation *> aliases;
    for (Operation &op : kernel.getBlock())
      if (isAlias(&op))
        aliases.push_back(&op);
    for (Operation *op : llvm::reverse(aliases))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
