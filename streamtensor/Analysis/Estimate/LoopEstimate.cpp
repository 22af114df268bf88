//===- LoopEstimate.cpp - Pipelined loops in time and area ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The depth is 3 + the longest path, on which an operator counts its latency
// and one register. Lanes run side by side, unless they add into one cell: then
// they follow each other.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/LoopEstimate.h"

#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

/// Cycles of a pipeline that are no operators: entry, exit and their registers.
static constexpr int64_t kPipelineOverhead = 3;
/// Cycles to read a word of an array in memory.
static constexpr int64_t kArrayReadCycles = 1;

int64_t LoopEstimate::iterations() const {
  int64_t count = 1;
  for (scf::ForOp loop : nest)
    count *= streamtensor::iterations(loop);
  return count;
}

int64_t LoopEstimate::cycles() const {
  int64_t count = iterations();
  return count == 0 ? 0 : interval * (count - 1) + depth;
}

/// The sum goes back to the cell that it came from, in an array that outlives
/// an iteration of `loop`.
static bool isCarried(Operation *op, Operation *loop) {
  if (!loop || !isa<arith::AddFOp, arith::SubFOp>(op))
    return false;
  for (Operation *user : op->getUsers()) {
    auto store = dyn_cast<memref::StoreOp>(user);
    if (!store || (store.getMemRef().getDefiningOp() &&
                   loop->isProperAncestor(store.getMemRef().getDefiningOp())))
      continue;
    for (Value operand : op->getOperands())
      if (auto load = operand.getDefiningOp<memref::LoadOp>())
        if (load.getMemRef() == store.getMemRef() &&
            load.getIndices() == store.getIndices())
          return true;
  }
  return false;
}

int64_t streamtensor::pathCycles(Operation *op, Operation *carriedLoop) {
  const OperatorInfo *unit = operatorOf(op, isCarried(op, carriedLoop));
  return unit ? unit->pathCycles() : 0;
}

void streamtensor::countOperators(Operation *scope, OperatorUses &uses,
                                  Operation *carriedLoop) {
  scope->walk([&](Operation *op) {
    const OperatorInfo *unit = operatorOf(op, isCarried(op, carriedLoop));
    if (!unit)
      return;
    int64_t copies = op == scope ? 1 : copiesInside(op, scope);
    if (auto loop = dyn_cast<scf::ForOp>(scope))
      copies *= unrollFactor(loop);
    uses[unit] += isAddress(*unit) ? 1 : copies;
  });
}

/// Cycles until what `op` reads from a memory is there.
static int64_t accessCycles(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  if (!load)
    return 0;
  if (auto buffer = load.getMemRef().getDefiningOp<stream::BufferOp>())
    return buffer->hasAttr(hls::kStorageAttr) ? kArrayReadCycles : 0;
  // An array of the caller of a stage.
  bool isArgument = isa<BlockArgument>(load.getMemRef());
  return isArgument && !deviceMemoryOf(load.getMemRef()) ? kArrayReadCycles : 0;
}

/// The longest path from the loads of the cell that `store` writes to it.
static int64_t chainCycles(Value value, memref::StoreOp store,
                           llvm::DenseMap<Value, int64_t> &known) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return -1;
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  int64_t cycles = -1;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (load.getMemRef() == store.getMemRef() &&
        load.getIndices() == store.getIndices())
      cycles = 0;
  } else {
    for (Value operand : op->getOperands())
      cycles = std::max(cycles, chainCycles(operand, store, known));
    if (cycles >= 0)
      cycles += pathCycles(op);
  }
  known[value] = cycles;
  return cycles;
}

/// Cycles that lanes of `loop` add because each one waits for the cell that the
/// lane before it writes.
static int64_t cyclesOfChains(scf::ForOp loop) {
  int64_t most = 0;
  for (auto store : loop.getBody()->getOps<memref::StoreOp>()) {
    Operation *memory = store.getMemRef().getDefiningOp();
    if ((memory && loop->isProperAncestor(memory)) ||
        loopsOf(store.getIndices()).contains(loop))
      continue;
    llvm::DenseMap<Value, int64_t> known;
    int64_t cycles = chainCycles(store.getValue(), store, known);
    most = std::max(most, cycles * (unrollFactor(loop) - 1));
  }
  return most;
}

int64_t streamtensor::pathCycles(Block &block,
                                 llvm::DenseMap<Value, int64_t> &ready,
                                 Operation *carriedLoop) {
  int64_t end = 0;
  for (Operation &op : block) {
    int64_t time = 0;
    for (Value operand : op.getOperands()) {
      auto known = ready.find(operand);
      if (known != ready.end())
        time = std::max(time, known->second);
    }
    time += pathCycles(&op, carriedLoop) + accessCycles(&op);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        time = std::max(time, pathCycles(inner, ready, carriedLoop));
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      int64_t chains = cyclesOfChains(loop);
      if (chains > 0)
        loop.walk(
            [&](memref::StoreOp store) { ready[store.getMemRef()] += chains; });
      time += chains;
    }
    if (auto store = dyn_cast<memref::StoreOp>(op))
      ready[store.getMemRef()] = std::max(ready[store.getMemRef()], time);
    for (Value result : op.getResults())
      ready[result] = time;
    end = std::max(end, time);
  }
  return end;
}

LoopEstimate streamtensor::estimateLoop(ArrayRef<scf::ForOp> nest,
                                        const ArrayBinding &arrays) {
  LoopEstimate estimate;
  estimate.nest.assign(nest.begin(), nest.end());
  scf::ForOp loop = estimate.loop();
  if (auto pipeline =
          loop->getAttrOfType<hls::PipelineAttr>(hls::kPipelineAttr))
    estimate.requested = pipeline.getIi();
  estimate.bounds = intervalBounds(loop, arrays);
  estimate.interval = std::max(estimate.requested, estimate.bounds.largest());
  estimate.cause = estimate.interval > estimate.bounds.largest()
                       ? IntervalCause::Requested
                       : estimate.bounds.cause();
  Operation *carried =
      estimate.interval >=
              OperatorLibrary::standard().get("fadd_fabric").latency
          ? loop.getOperation()
          : nullptr;
  llvm::DenseMap<Value, int64_t> ready;
  // The last of several accesses to one port is so much later than the first.
  int64_t transfer =
      std::max(estimate.bounds.devicePort, estimate.bounds.fifoPort) - 1;
  estimate.depth = kPipelineOverhead + transfer +
                   pathCycles(*loop.getBody(), ready, carried);
  countOperators(loop, estimate.uses, carried);
  return estimate;
}
