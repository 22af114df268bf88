//===- Directives.cpp - Pipelines, banks and memories ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a synthesis tool is told about a task. The figures come from published
// synthesis reports at 3.33 ns on UltraScale+ (Stream-HLS, FPGA '25 artifacts):
// a float sum carried from one iteration to the next is scheduled with
// initiation interval 4, a carried maximum with 1, and a sum over d independent
// cells needs d iterations of at most that latency.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/StreamToHLS/Steps.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Identifiers.h"
#include "streamtensor/Dialect/HLS/IR/Loops.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"
#include "streamtensor/Support/StreamLimits.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static hls::UnrollAttr unrollOf(scf::ForOp loop) {
  return loop->getAttrOfType<hls::UnrollAttr>(hls::kUnrollAttr);
}

/// All iterations exist at once: no loop in hardware.
static bool isFullyUnrolled(scf::ForOp loop) {
  hls::UnrollAttr unroll = unrollOf(loop);
  return unroll && unroll.getFactor() == 0;
}

/// The largest, when it is known at run time only.
static int64_t tripCount(scf::ForOp loop) { return hls::tripBounds(loop).max; }

/// How many of `trips` iterations of `loop` follow each other in hardware.
static int64_t iterationsOf(scf::ForOp loop, int64_t trips) {
  hls::UnrollAttr unroll = unrollOf(loop);
  if (!unroll)
    return trips;
  return unroll.getFactor() == 0 ? 1
                                 : llvm::divideCeil(trips, unroll.getFactor());
}

/// Iterations of `loop` in hardware.
static int64_t iterations(scf::ForOp loop) {
  return iterationsOf(loop, tripCount(loop));
}

/// The induction variables that `value` is computed from.
static void collectLoops(Value value, SmallPtrSetImpl<Operation *> &loops) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      loops.insert(loop);
    return;
  }
  for (Value operand : value.getDefiningOp()->getOperands())
    collectLoops(operand, loops);
}

static SmallPtrSet<Operation *, 4> loopsOf(ValueRange indices) {
  SmallPtrSet<Operation *, 4> loops;
  for (Value index : indices)
    collectLoops(index, loops);
  return loops;
}

//===----------------------------------------------------------------------===//
// Initiation interval
//===----------------------------------------------------------------------===//

/// Cycles of an operation on a carried path.
static int64_t carriedLatency(Operation *op) {
  return TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::AddFOp, arith::SubFOp>([](auto) { return 4; })
      .Case<arith::MulFOp>([](auto) { return 4; })
      .Case<arith::DivFOp>([](auto) { return 12; })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp, arith::CmpFOp, arith::SelectOp>(
          [](auto) { return 1; })
      .Default([](Operation *op) {
        return isa<math::MathDialect>(op->getDialect()) ? 14 : 1;
      });
}

/// The longest path from `load` to `value` in cycles, -1 when there is none.
static int64_t pathLatency(Value value, memref::LoadOp load) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return -1;
  if (op == load)
    return 0;
  if (isa<memref::LoadOp>(op))
    return -1;
  int64_t longest = -1;
  for (Value operand : op->getOperands())
    longest = std::max(longest, pathLatency(operand, load));
  return longest < 0 ? -1 : longest + carriedLatency(op);
}

/// Iterations of `loop` (and of what encloses it) between two updates of the
/// cell at `indices`, at the least sizes; 0 when no iteration comes back to it.
static int64_t updateDistance(scf::ForOp loop, ValueRange indices) {
  SmallPtrSet<Operation *, 4> used = loopsOf(indices);
  int64_t distance = 1;
  for (Operation *op = loop; op; op = op->getParentOp()) {
    auto outer = dyn_cast<scf::ForOp>(op);
    if (!outer || iterations(outer) == 1)
      continue;
    if (!used.contains(outer))
      return distance;
    distance *=
        std::max<int64_t>(1, iterationsOf(outer, hls::tripBounds(outer).min));
  }
  return 0;
}

static int64_t carriedInterval(scf::ForOp loop) {
  int64_t interval = 1;
  loop.walk([&](memref::StoreOp store) {
    // What is declared inside the loop is new in every iteration.
    Operation *memory = store.getMemRef().getDefiningOp();
    if (memory && loop->isProperAncestor(memory))
      return;
    SmallPtrSet<Operation *, 4> used = loopsOf(store.getIndices());
    // Lanes that add into one cell follow each other within one iteration.
    int64_t chained = 1;
    for (Operation *op = store->getParentOp(); op != loop;
         op = op->getParentOp())
      if (auto lanes = dyn_cast<scf::ForOp>(op))
        if (!used.contains(lanes))
          chained *= tripCount(lanes);
    int64_t distance = updateDistance(loop, store.getIndices());
    if (distance == 0)
      return;
    loop.walk([&](memref::LoadOp load) {
      if (load.getMemRef() != store.getMemRef() ||
          load.getIndices() != store.getIndices())
        return;
      int64_t latency = pathLatency(store.getValue(), load);
      if (latency <= 0)
        return;
      // The read of the accumulator array adds a cycle where there is an array.
      int64_t total = latency * chained + (distance > 1 ? 1 : 0);
      interval = std::max<int64_t>(interval, llvm::divideCeil(total, distance));
    });
  });
  return interval;
}

/// Reads and writes of one FIFO in one iteration of `loop`.
static int64_t streamInterval(scf::ForOp loop) {
  DenseMap<Value, int64_t> accesses;
  loop.walk([&](Operation *op) {
    Value stream;
    if (auto read = dyn_cast<stream::ReadOp>(op))
      stream = read.getSource();
    else if (auto write = dyn_cast<stream::WriteOp>(op))
      stream = write.getDest();
    else
      return;
    int64_t count = 1;
    for (Operation *outer = op->getParentOp(); outer != loop;
         outer = outer->getParentOp())
      if (auto lanes = dyn_cast<scf::ForOp>(outer))
        count *= tripCount(lanes);
    accesses[stream] += count;
  });
  int64_t most = 1;
  for (auto [stream, count] : accesses)
    most = std::max(most, count);
  return most;
}

/// Accesses of device memory in one iteration of `loop`: lanes that are
/// neighbours in memory share a beat, others take a cycle each.
static int64_t portInterval(scf::ForOp loop) {
  int64_t most = 1;
  loop.walk([&](Operation *op) {
    Value memory;
    ValueRange indices;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      memory = load.getMemRef();
      indices = load.getIndices();
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      memory = store.getMemRef();
      indices = store.getIndices();
    }
    if (!memory || !isa<BlockArgument>(memory))
      return;
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return;
    int64_t lanes = 1, neighbours = 1;
    for (Operation *outer = op->getParentOp(); outer != loop;
         outer = outer->getParentOp()) {
      auto lane = dyn_cast<scf::ForOp>(outer);
      if (!lane)
        continue;
      lanes *= tripCount(lane);
      for (auto [index, stride] : llvm::zip_equal(indices, strides))
        if (stride == 1 && loopsOf(index).contains(lane))
          neighbours *= tripCount(lane);
    }
    int64_t beats = llvm::divideCeil(
        neighbours * static_cast<int64_t>(type.getElementTypeBitWidth()),
        kMaxPortBits);
    most = std::max(most, lanes / neighbours * beats);
  });
  return most;
}

/// Whether a loop inside `loop` takes cycles of its own.
static bool hasInnerLoop(scf::ForOp loop) {
  return loop
      .walk([&](scf::ForOp inner) {
        return inner != loop && !isFullyUnrolled(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static void attachLoopDirectives(func::FuncOp task) {
  MLIRContext *context = task.getContext();
  hls::UniqueIdentifiers labels;
  unsigned number = 0;
  task.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (isFullyUnrolled(loop))
      return;
    auto label = loop->getAttrOfType<StringAttr>(hls::kLabelAttr);
    std::string fallback = "loop" + std::to_string(number++);
    loop->setAttr(hls::kLabelAttr,
                  StringAttr::get(context, labels.get(label ? label.getValue()
                                                            : fallback)));
    if (hasInnerLoop(loop))
      return;
    int64_t interval = std::max(
        {carriedInterval(loop), streamInterval(loop), portInterval(loop)});
    loop->setAttr(hls::kPipelineAttr,
                  hls::PipelineAttr::get(context, interval));
  });
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// How many elements of each dimension of `memory` are accessed at once.
static SmallVector<int64_t> parallelAccesses(Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> parallel(type.getRank(), 1);
  for (Operation *user : memory.getUsers()) {
    ValueRange indices;
    if (auto load = dyn_cast<memref::LoadOp>(user))
      indices = load.getIndices();
    else if (auto store = dyn_cast<memref::StoreOp>(user))
      indices = store.getIndices();
    for (auto [dim, index] : llvm::enumerate(indices)) {
      int64_t lanes = 1;
      for (Operation *op : loopsOf(index)) {
        auto loop = cast<scf::ForOp>(op);
        lanes *= llvm::divideCeil(tripCount(loop), iterations(loop));
      }
      parallel[dim] = std::max(parallel[dim], lanes);
    }
  }
  return parallel;
}

/// Partitions `memory` so that what is accessed at once lies in different
/// banks, and chooses the kind of memory for one bank.
static void attachArrayDirectives(stream::BufferOp buffer) {
  MLIRContext *context = buffer.getContext();
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> parallel = parallelAccesses(buffer);
  SmallVector<Attribute> partitions;
  int64_t words = type.getNumElements();
  for (auto [dim, lanes] : llvm::enumerate(parallel)) {
    int64_t size = type.getDimSize(dim);
    if (lanes == 1 || size == 1)
      continue;
    bool complete = lanes >= size;
    partitions.push_back(
        hls::PartitionAttr::get(context, complete ? "complete" : "cyclic",
                                complete ? 0 : lanes, dim + 1));
    words = llvm::divideCeil(words, complete ? size : lanes);
  }
  if (!partitions.empty())
    buffer->setAttr(hls::kPartitionAttr, ArrayAttr::get(context, partitions));
  // One word a bank is a register; both halves of a ping-pong buffer share a
  // memory. Thresholds: what synthesis chooses for
  // 32-bit words.
  if (words <= 1)
    return;
  if (buffer.getPingPong())
    words *= 2;
  StringRef memory = words <= 128 ? "lutram" : words <= 2048 ? "bram" : "uram";
  buffer->setAttr(hls::kStorageAttr,
                  hls::StorageAttr::get(context, "ram_2p", memory));
}

void streamtensor::attachDirectives(func::FuncOp task) {
  attachLoopDirectives(task);
  task.walk([](stream::BufferOp buffer) { attachArrayDirectives(buffer); });
}
