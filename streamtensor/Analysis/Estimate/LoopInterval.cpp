//===- LoopInterval.cpp - Initiation intervals ----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recurrences: the longest path from a load to a store of the same cell,
// divided by the iterations until the cell comes again. Ports: accesses in one
// iteration divided by those that a port takes in a cycle.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/LoopInterval.h"

#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Analysis/Estimate/LoopRules.h"
#include "streamtensor/Analysis/Estimate/OperatorLibrary.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Loops.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"
#include "streamtensor/Support/StreamLimits.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>
#include <vector>

using namespace mlir;
using namespace streamtensor;

StringRef streamtensor::causeName(IntervalCause cause) {
  switch (cause) {
  case IntervalCause::None:
    return "none";
  case IntervalCause::Requested:
    return "requested";
  case IntervalCause::Recurrence:
    return "recurrence";
  case IntervalCause::FifoPort:
    return "fifo port";
  case IntervalCause::DevicePort:
    return "device memory port";
  case IntervalCause::MemoryBank:
    return "memory bank";
  case IntervalCause::Synthesis:
    return "csynth";
  }
  llvm_unreachable("all causes are named");
}

int64_t IntervalBounds::largest() const {
  return std::max({recurrence, fifoPort, devicePort, memoryBank});
}

IntervalCause IntervalBounds::cause() const {
  int64_t most = largest();
  return most <= 1            ? IntervalCause::None
         : most == recurrence ? IntervalCause::Recurrence
         : most == fifoPort   ? IntervalCause::FifoPort
         : most == devicePort ? IntervalCause::DevicePort
                              : IntervalCause::MemoryBank;
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

int64_t streamtensor::updateDistance(scf::ForOp loop, ValueRange indices) {
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

namespace {

/// The longest path from loads of one cell, in cycles.
class CarriedPaths {
public:
  /// The cell of `target` at `indices`, in the body of `loop`.
  CarriedPaths(scf::ForOp loop, Value target, ValueRange indices)
      : loop(loop), target(target), indices(indices) {}

  /// From a load of the cell to `value`; -1 when there is no path.
  int64_t to(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !loop->isAncestor(op))
      return -1;
    auto known = longest.find(op);
    if (known != longest.end())
      return known->second;
    longest[op] = -1; // of a circle through memory: counted once
    int64_t cycles = -1;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (load.getMemRef() == target && load.getIndices() == indices)
        cycles = 0;
      else if (isOfOneIteration(load.getMemRef()))
        // What was stored before in this iteration.
        for (Operation *user : load.getMemRef().getUsers())
          if (auto store = dyn_cast<memref::StoreOp>(user))
            cycles = std::max(cycles, to(store.getValue()));
    } else {
      for (Value operand : op->getOperands())
        cycles = std::max(cycles, to(operand));
      if (cycles >= 0)
        cycles += carriedLatency(op);
    }
    longest[op] = cycles;
    return cycles;
  }

private:
  bool isOfOneIteration(Value memory) {
    Operation *op = memory.getDefiningOp();
    return op && loop->isProperAncestor(op);
  }

  scf::ForOp loop;
  Value target;
  ValueRange indices;
  llvm::DenseMap<Operation *, int64_t> longest;
};

} // namespace

static int64_t carriedInterval(scf::ForOp loop) {
  int64_t interval = 1;
  loop.walk([&](memref::StoreOp store) {
    // What is declared inside the loop is new in every iteration.
    Operation *memory = store.getMemRef().getDefiningOp();
    if (memory && loop->isProperAncestor(memory))
      return;
    int64_t distance = updateDistance(loop, store.getIndices());
    if (distance == 0)
      return;
    CarriedPaths paths(loop, store.getMemRef(), store.getIndices());
    int64_t latency = paths.to(store.getValue());
    if (latency <= 0)
      return;
    // Lanes that add into one cell follow each other within one iteration.
    SmallPtrSet<Operation *, 4> used = loopsOf(store.getIndices());
    for (Operation *op = store->getParentOp(); op != loop;
         op = op->getParentOp())
      if (auto lanes = dyn_cast<scf::ForOp>(op))
        if (!used.contains(lanes))
          latency *= unrollFactor(lanes);
    interval = std::max(interval, recurrenceInterval(latency, distance));
  });
  return interval;
}

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

/// Reads and writes of one FIFO in one iteration of `loop`.
static int64_t streamInterval(scf::ForOp loop) {
  llvm::DenseMap<Value, int64_t> accesses;
  int64_t most = 1;
  loop.walk([&](Operation *op) {
    Value stream;
    if (auto read = dyn_cast<stream::ReadOp>(op))
      stream = read.getSource();
    else if (auto write = dyn_cast<stream::WriteOp>(op))
      stream = write.getDest();
    else
      return;
    int64_t &count = accesses[stream];
    count += copiesInside(op, loop);
    most = std::max(most, count);
  });
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
    // An array that a stage of a converter gets as an argument is none.
    if (!memory || !deviceMemoryOf(memory))
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

/// The value of an index when the loops have `counters`; those missing, and
/// what is unknown, count as 0.
static int64_t indexAt(Value index,
                       const llvm::SmallDenseMap<Value, int64_t, 8> &counters) {
  auto counter = counters.find(index);
  if (counter != counters.end())
    return counter->second;
  Operation *op = index.getDefiningOp();
  if (!op)
    return 0;
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return constant.value();
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<Attribute> operands, results;
    for (Value operand : apply.getMapOperands())
      operands.push_back(IntegerAttr::get(IndexType::get(op->getContext()),
                                          indexAt(operand, counters)));
    if (succeeded(apply.getAffineMap().constantFold(operands, results)))
      return cast<IntegerAttr>(results.front()).getInt();
  }
  if (isa<arith::AddIOp>(op))
    return indexAt(op->getOperand(0), counters) +
           indexAt(op->getOperand(1), counters);
  if (isa<arith::MulIOp>(op))
    return indexAt(op->getOperand(0), counters) *
           indexAt(op->getOperand(1), counters);
  return 0;
}

namespace {

/// The banks of an array: which one holds an element.
class Banks {
public:
  explicit Banks(stream::BufferOp buffer)
      : type(cast<MemRefType>(buffer.getType())) {
    if (auto list = buffer->getAttrOfType<ArrayAttr>(hls::kPartitionAttr))
      for (auto partition : list.getAsRange<hls::PartitionAttr>())
        partitions.push_back(partition);
  }

  int64_t bankOf(ArrayRef<int64_t> element) const {
    int64_t bank = 0;
    for (hls::PartitionAttr partition : partitions) {
      int64_t dim = partition.getDim() - 1, size = type.getDimSize(dim);
      int64_t index = element[dim], factor = partition.getFactor();
      if (factor == 0)
        bank = bank * size + index;
      else if (partition.getKind() == "block")
        bank = bank * factor + index / llvm::divideCeil(size, factor);
      else
        bank = bank * factor + index % factor;
    }
    return bank;
  }

private:
  MemRefType type;
  SmallVector<hls::PartitionAttr> partitions;
};

/// Distinct elements of one array that one iteration touches, by bank.
struct BankAccesses {
  std::map<int64_t, std::set<std::vector<int64_t>>> reads, writes;
};

} // namespace

/// More lanes than this are not looked at one by one; none of our tasks has
/// them.
static constexpr int64_t kMostLanes = 1 << 14;

/// Calls `visit` with the counters of every lane of `op` in one iteration of
/// `loop`.
static void forEachLane(
    Operation *op, scf::ForOp loop,
    llvm::function_ref<void(const llvm::SmallDenseMap<Value, int64_t, 8> &)>
        visit) {
  SmallVector<scf::ForOp> lanes;
  for (Operation *outer = op->getParentOp(); outer != loop;
       outer = outer->getParentOp())
    if (auto lane = dyn_cast<scf::ForOp>(outer))
      lanes.push_back(lane);
  llvm::SmallDenseMap<Value, int64_t, 8> counters;
  int64_t count = copiesInside(op, loop);
  if (count > kMostLanes)
    return;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    for (scf::ForOp lane : lanes) {
      int64_t step = 1;
      if (auto constant =
              lane.getStep().getDefiningOp<arith::ConstantIndexOp>())
        step = constant.value();
      counters[lane.getInductionVar()] = rest % unrollFactor(lane) * step;
      rest /= unrollFactor(lane);
    }
    visit(counters);
  }
}

/// Accesses to one bank of an array in one iteration, by the ports of its kind
/// of memory.
static int64_t bankInterval(scf::ForOp loop, const ArrayBinding &arrays) {
  llvm::MapVector<stream::BufferOp, BankAccesses> accesses;
  // Lanes of one access to one element share it; so do two accesses with the
  // same indices.
  std::vector<std::pair<Value, ValueRange>> spellings;
  loop.walk([&](Operation *op) {
    Value memory;
    ValueRange indices;
    bool isStore = false;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      memory = load.getMemRef();
      indices = load.getIndices();
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      memory = store.getMemRef();
      indices = store.getIndices();
      isStore = true;
    } else {
      return;
    }
    if (Value bound = arrays.lookup(memory))
      memory = bound;
    auto buffer = memory.getDefiningOp<stream::BufferOp>();
    // An array without memory is registers.
    if (!buffer || !buffer->hasAttr(hls::kStorageAttr))
      return;
    Banks banks(buffer);
    auto same = llvm::find_if(spellings, [&](const auto &known) {
      return known.first == memory && known.second == indices;
    });
    int64_t spelling = same - spellings.begin();
    if (same == spellings.end())
      spellings.emplace_back(memory, indices);
    BankAccesses &seen = accesses[buffer];
    forEachLane(op, loop, [&](const auto &counters) {
      std::vector<int64_t> element;
      for (Value index : indices)
        element.push_back(indexAt(index, counters));
      int64_t bank = banks.bankOf(element);
      element.push_back(spelling);
      (isStore ? seen.writes : seen.reads)[bank].insert(std::move(element));
    });
  });
  int64_t most = 1;
  for (auto &[buffer, seen] : accesses) {
    auto storage = buffer->getAttrOfType<hls::StorageAttr>(hls::kStorageAttr);
    // UG1399: ram_2p reads on both ports and writes on one of them; every other
    // kind that we use reads on one port and writes on the other.
    bool sharedPorts = storage.getType() == "ram_2p";
    std::set<int64_t> touched;
    for (const auto &[bank, elements] : seen.reads)
      touched.insert(bank);
    for (const auto &[bank, elements] : seen.writes)
      touched.insert(bank);
    for (int64_t bank : touched) {
      auto count = [&](const auto &side) -> int64_t {
        auto found = side.find(bank);
        return found == side.end() ? 0 : found->second.size();
      };
      int64_t reads = count(seen.reads), writes = count(seen.writes);
      int64_t cycles =
          sharedPorts
              ? std::max<int64_t>(writes, llvm::divideCeil(reads + writes, 2))
              : std::max(reads, writes);
      most = std::max(most, cycles);
    }
  }
  return most;
}

IntervalBounds streamtensor::intervalBounds(scf::ForOp loop,
                                            const ArrayBinding &arrays) {
  IntervalBounds bounds;
  bounds.recurrence = carriedInterval(loop);
  bounds.fifoPort = streamInterval(loop);
  bounds.devicePort = portInterval(loop);
  bounds.memoryBank = bankInterval(loop, arrays);
  return bounds;
}
