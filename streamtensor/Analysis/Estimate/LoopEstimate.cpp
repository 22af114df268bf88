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
#include "streamtensor/Analysis/Estimate/LoopRules.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

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

/// The buffer of an access to an array in memory; null for registers, tokens
/// and device memory.
static stream::BufferOp arrayOf(Operation *op, const PathContext &context) {
  Value memory;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    memory = load.getMemRef();
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    memory = store.getMemRef();
  else
    return nullptr;
  if (context.arrays)
    if (Value bound = context.arrays->lookup(memory))
      memory = bound;
  auto buffer = memory.getDefiningOp<stream::BufferOp>();
  return buffer && buffer->hasAttr(hls::kStorageAttr) ? buffer : nullptr;
}

static ValueRange indicesOf(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getIndices();
  return cast<memref::StoreOp>(op).getIndices();
}

/// Whether the address of an access to `buffer` at `indices` needs a product:
/// a stride inside of a bank is no power of two.
static bool needsProduct(stream::BufferOp buffer, ValueRange indices) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> sizes(type.getShape());
  if (auto partitions = buffer->getAttrOfType<ArrayAttr>(hls::kPartitionAttr))
    for (auto partition : partitions.getAsRange<hls::PartitionAttr>()) {
      int64_t &size = sizes[partition.getDim() - 1];
      size = partition.getFactor() == 0
                 ? 1
                 : llvm::divideCeil(size, partition.getFactor());
    }
  int64_t stride = 1;
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    bool counts = sizes[dim] > 1 && !loopsOf(indices[dim]).empty();
    if (counts && !llvm::isPowerOf2_64(stride))
      return true;
    stride *= sizes[dim];
  }
  return false;
}

int64_t streamtensor::pathCycles(Operation *op, const PathContext &context) {
  if (stream::BufferOp buffer = arrayOf(op, context))
    return (isa<memref::LoadOp>(op) ? kArrayReadCycles : 0) +
           (needsProduct(buffer, indicesOf(op)) ? kAddressCycles : 0);
  const OperatorInfo *unit = operatorOf(op, isCarried(op, context.carriedLoop));
  return unit ? unit->pathCycles() : 0;
}

void streamtensor::countOperators(Operation *scope, OperatorUses &uses,
                                  const PathContext &context) {
  const OperatorInfo &product = OperatorLibrary::standard().get("address_mac");
  SmallVector<std::pair<Operation *, ValueRange>> addresses;
  scope->walk([&](Operation *op) {
    if (stream::BufferOp buffer = arrayOf(op, context)) {
      // Accesses at the same indices share one address.
      std::pair<Operation *, ValueRange> address(buffer, indicesOf(op));
      if (needsProduct(buffer, address.second) &&
          !llvm::is_contained(addresses, address)) {
        addresses.push_back(address);
        uses[&product] += 1;
      }
      return;
    }
    const OperatorInfo *unit =
        operatorOf(op, isCarried(op, context.carriedLoop));
    if (!unit)
      return;
    int64_t copies = op == scope ? 1 : copiesInside(op, scope);
    if (auto loop = dyn_cast<scf::ForOp>(scope))
      copies *= unrollFactor(loop);
    uses[unit] += isAddress(*unit) ? 1 : copies;
  });
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
                                 const PathContext &context) {
  int64_t end = 0;
  for (Operation &op : block) {
    int64_t time = 0;
    for (Value operand : op.getOperands()) {
      auto known = ready.find(operand);
      if (known != ready.end())
        time = std::max(time, known->second);
    }
    time += pathCycles(&op, context);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        time = std::max(time, pathCycles(inner, ready, context));
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
  PathContext context;
  context.arrays = &arrays;
  if (estimate.interval >=
      OperatorLibrary::standard().get("fadd_fabric").latency)
    context.carriedLoop = loop;
  countOperators(loop, estimate.uses, context);
  // The last of several operations that share units, and of several accesses to
  // one port, is so much later than the first.
  int64_t sharing = 0;
  for (const auto &[unit, count] : estimate.uses)
    if (!isAddress(*unit))
      sharing = std::max(sharing, sharingCycles(count, estimate.interval));
  if (estimate.cause == IntervalCause::Recurrence)
    sharing = visibleSharing(
        sharing, estimate.interval /
                     OperatorLibrary::standard().get("fadd_fabric").latency);
  sharing = std::max(
      sharing,
      std::max(estimate.bounds.devicePort, estimate.bounds.fifoPort) - 1);
  llvm::DenseMap<Value, int64_t> ready;
  estimate.depth =
      pipelineDepth(pathCycles(*loop.getBody(), ready, context), sharing);
  if (auto csynth = loop->getAttrOfType<DictionaryAttr>(hls::kCsynthAttr)) {
    estimate.interval = csynth.getAs<IntegerAttr>("ii").getInt();
    estimate.depth = csynth.getAs<IntegerAttr>("depth").getInt();
    estimate.cause = IntervalCause::Synthesis;
  }
  return estimate;
}
