//===- Estimate.cpp - Time and area of tasks ------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time: a pipelined loop takes ii * (iterations - 1) + depth - 1 cycles, where
// the depth is 3 + the sum of (latency + 1) over the operators of its longest
// path. Loops that only contain a loop are flattened into it. Each loop adds
// one cycle, the function one more (a function around one loop: + 2).
//
// Area: ceil(uses / ii) units of each operator, 1.09 times their LUTs and 1.28
// times their flip-flops for what surrounds them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Report/Estimate.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Loops.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace streamtensor;

ResourceUse &ResourceUse::operator+=(const ResourceUse &other) {
  dsp += other.dsp;
  lut += other.lut;
  ff += other.ff;
  bram18 += other.bram18;
  uram += other.uram;
  return *this;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace {

/// One unit of an operator.
struct Operator {
  const char *name;
  int64_t latency, dsp, lut, ff;
};

// Published: fmul, fadd, fadd in fabric, fexp, maximum. The LUTs of the divider
// and of comparisons are ours, because reports show none; so is everything from
// fsqrt on, from the same building blocks.
constexpr Operator kMul = {"fmul", 3, 3, 78, 143};
constexpr Operator kAdd = {"fadd", 6, 2, 198, 318};
constexpr Operator kCarriedAdd = {"fadd_fabric", 4, 0, 338, 243};
constexpr Operator kExp = {"fexp", 13, 7, 748, 316};
constexpr Operator kMax = {"fmax", 0, 0, 373, 0};
constexpr Operator kDiv = {"fdiv", 11, 0, 800, 400};
constexpr Operator kCompare = {"fcmp", 1, 0, 60, 60};
constexpr Operator kSelect = {"select", 0, 0, 32, 0};
constexpr Operator kConvert = {"fconvert", 4, 0, 200, 200};
constexpr Operator kInteger = {"integer", 0, 0, 32, 0};
// Integers, by width; ours. A product takes multipliers of 27 x 18 bits.
constexpr Operator kMul18 = {"mul_18", 3, 1, 0, 32};
constexpr Operator kMul32 = {"mul_32", 4, 3, 50, 165};
constexpr Operator kMul64 = {"mul_64", 6, 10, 150, 500};
constexpr Operator kIntegerDiv = {"idiv", 36, 0, 1200, 2200};
constexpr Operator kInteger8 = {"integer_8", 0, 0, 8, 0};
constexpr Operator kInteger32 = {"integer_32", 0, 0, 32, 0};
constexpr Operator kInteger64 = {"integer_64", 0, 0, 64, 0};
constexpr Operator kRound16 = {"round_16", 0, 0, 40, 0};
constexpr Operator kSqrt = {"fsqrt", 11, 0, 500, 400};
constexpr Operator kRsqrt = {"frsqrt", 22, 0, 1300, 800};
constexpr Operator kTanh = {"ftanh", 32, 9, 1750, 1050};
constexpr Operator kLog = {"flog", 13, 13, 900, 400};
constexpr Operator kPow = {"fpow", 30, 23, 1750, 900};
constexpr Operator kFunction = {"function", 40, 20, 2000, 1500};

} // namespace

/// Bits of the number that `value` is, before its extension.
static int64_t numberBits(Value value) {
  while (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.getType().getIntOrFloatBitWidth();
}

/// The unit that computes an operation on integers that are data.
static const Operator *integerUnit(Operation *op) {
  int64_t bits = 1;
  for (Value operand : op->getOperands())
    bits = std::max(bits, numberBits(operand));
  if (isa<arith::MulIOp>(op))
    return bits <= 18 ? &kMul18 : bits <= 32 ? &kMul32 : &kMul64;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
    return &kIntegerDiv;
  return bits <= 8 ? &kInteger8 : bits <= 32 ? &kInteger32 : &kInteger64;
}

/// The unit that computes `op`, or null when it needs none.
static const Operator *operatorOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, const Operator *>(op)
      .Case<arith::MulFOp>([](auto) { return &kMul; })
      .Case<arith::AddFOp, arith::SubFOp>([](auto) { return &kAdd; })
      .Case<arith::DivFOp>([](arith::DivFOp div) {
        // Division by a constant becomes a product.
        bool byConstant = div.getRhs().getDefiningOp<arith::ConstantOp>();
        return byConstant ? &kMul : &kDiv;
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>([](auto) { return &kMax; })
      .Case<arith::CmpFOp>([](auto) { return &kCompare; })
      .Case<arith::SelectOp>([](auto) { return &kSelect; })
      .Case<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(
          [](auto) { return &kConvert; })
      .Case<arith::TruncFOp>([](auto) { return &kRound16; })
      .Case<arith::ConstantOp, arith::NegFOp, arith::IndexCastOp,
            arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, arith::ExtFOp,
            math::AbsFOp>([](auto) { return nullptr; })
      .Case<math::ExpOp, math::Exp2Op>([](auto) { return &kExp; })
      .Case<math::SqrtOp>([](auto) { return &kSqrt; })
      .Case<math::RsqrtOp>([](auto) { return &kRsqrt; })
      .Case<math::TanhOp>([](auto) { return &kTanh; })
      .Case<math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp>(
          [](auto) { return &kLog; })
      .Case<math::PowFOp>([](auto) { return &kPow; })
      .Default([](Operation *op) -> const Operator * {
        if (llvm::all_of(op->getOperandTypes(), llvm::IsaPred<IntegerType>) &&
            isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
          return integerUnit(op);
        if (isa<math::MathDialect>(op->getDialect()))
          return &kFunction;
        if (isa<arith::ArithDialect>(op->getDialect()) ||
            isa<affine::AffineApplyOp>(op))
          return &kInteger;
        return nullptr;
      });
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// LUTs of a memory in LUTs, per 32 bits of width.
static int64_t lutRamLuts(int64_t words) {
  return words <= 64 ? 33 : 65 * llvm::divideCeil(words, 128);
}

/// A memory of 36-bit wide, 512 deep blocks.
static int64_t bram18Blocks(int64_t words, int64_t bits) {
  return llvm::divideCeil(bits, 36) * llvm::divideCeil(words, 512);
}

ResourceUse streamtensor::estimateFifo(int64_t depth, int64_t bits) {
  ResourceUse use;
  int64_t lanes = llvm::divideCeil(bits, 32);
  if (depth <= 2 || depth * bits <= 1024) {
    use.lut = 50 * lanes;
    use.ff = 8 * lanes;
  } else if (depth <= 128) {
    use.lut = (depth <= 64 ? 100 : 179) * lanes;
    use.ff = (depth <= 64 ? 118 : 121) * lanes;
  } else {
    use.bram18 = bram18Blocks(depth, bits);
    use.lut = 78;
    use.ff = 95;
  }
  return use;
}

ResourceUse streamtensor::estimatePort(int64_t bits, int64_t burst) {
  // 16 outstanding bursts is the tool's default.
  ResourceUse use;
  use.bram18 = bram18Blocks(16 * burst, bits);
  return use;
}

/// Banks of a buffer, from its partitions.
static int64_t banksOf(stream::BufferOp buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t banks = 1;
  if (auto partitions = buffer->getAttrOfType<ArrayAttr>(hls::kPartitionAttr))
    for (auto partition : partitions.getAsRange<hls::PartitionAttr>())
      banks *= partition.getFactor() != 0
                   ? partition.getFactor()
                   : type.getDimSize(partition.getDim() - 1);
  return banks;
}

static ResourceUse estimateBuffer(stream::BufferOp buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bits = type.getElementTypeBitWidth();
  int64_t banks = banksOf(buffer);
  int64_t halves = buffer.getPingPong() ? 2 : 1;
  int64_t words = llvm::divideCeil(type.getNumElements(), banks);
  ResourceUse use;
  auto storage = buffer->getAttrOfType<hls::StorageAttr>(hls::kStorageAttr);
  if (!storage)
    use.ff = type.getNumElements() * bits * halves;
  else if (storage.getMemory() == "lutram")
    use.lut = banks * lutRamLuts(words * halves) * llvm::divideCeil(bits, 32);
  else if (storage.getMemory() == "bram")
    use.bram18 = banks * halves * bram18Blocks(words, bits);
  else
    use.uram = banks * llvm::divideCeil(bits, 72) *
               llvm::divideCeil(words * halves, 4096);
  return use;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Estimates are for the largest sizes.
static int64_t tripCount(scf::ForOp loop) { return hls::tripBounds(loop).max; }

/// How many iterations exist at once.
static int64_t unrollFactor(scf::ForOp loop) {
  auto unroll = loop->getAttrOfType<hls::UnrollAttr>(hls::kUnrollAttr);
  if (!unroll)
    return 1;
  return unroll.getFactor() == 0 ? tripCount(loop) : unroll.getFactor();
}

/// The one loop that `loop` contains and nothing else that takes a cycle; null
/// when there is none.
static scf::ForOp perfectInner(scf::ForOp loop) {
  scf::ForOp inner;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto next = dyn_cast<scf::ForOp>(op)) {
      if (inner)
        return nullptr;
      inner = next;
    } else if (!isa<arith::ConstantOp, affine::AffineApplyOp>(op)) {
      return nullptr;
    }
  }
  return inner;
}

namespace {

class TaskEstimator {
public:
  TaskEstimate run(func::FuncOp task);

private:
  /// Cycles of one pass through `block`.
  int64_t sequence(Block &block);
  int64_t loopCycles(scf::ForOp loop);
  int64_t pathDepth(Block &block, llvm::DenseMap<Value, int64_t> &ready,
                    int64_t start);
  void countOperators(Operation *scope, int64_t copies, int64_t interval);
  void addUnits(const Operator &op, int64_t uses, int64_t interval);
  bool isCarried(arith::AddFOp op, Operation *root);
  const Operator *unitOf(Operation *op);

  TaskEstimate estimate;
  /// Cycles until the first write, once it has been found.
  std::optional<int64_t> firstWrite;
  /// The pipelined loop at hand.
  Operation *root = nullptr;
  int64_t rootInterval = 1;
  int64_t now = 0;
  /// LUTs and flip-flops of operators, before what surrounds them.
  int64_t unitLuts = 0, unitFfs = 0;
};

} // namespace

void TaskEstimator::addUnits(const Operator &op, int64_t uses,
                             int64_t interval) {
  int64_t units = llvm::divideCeil(uses, interval);
  estimate.resources.dsp += units * op.dsp;
  unitLuts += units * op.lut;
  unitFfs += units * op.ff;
}

/// The sum goes back to the cell that it came from, in an array that outlives
/// `root`: synthesis uses the short adder in fabric.
bool TaskEstimator::isCarried(arith::AddFOp op, Operation *root) {
  for (Operation *user : op->getUsers()) {
    auto store = dyn_cast<memref::StoreOp>(user);
    if (!store || (store.getMemRef().getDefiningOp() &&
                   root->isProperAncestor(store.getMemRef().getDefiningOp())))
      continue;
    for (Value operand : op->getOperands())
      if (auto load = operand.getDefiningOp<memref::LoadOp>())
        if (load.getMemRef() == store.getMemRef() &&
            load.getIndices() == store.getIndices())
          return true;
  }
  return false;
}

/// The unit of `op` in the pipeline at hand.
const Operator *TaskEstimator::unitOf(Operation *op) {
  if (auto add = dyn_cast<arith::AddFOp>(op))
    if (root && rootInterval >= kCarriedAdd.latency && isCarried(add, root))
      return &kCarriedAdd;
  return operatorOf(op);
}

/// Units of everything inside `scope`, which starts an iteration every
/// `interval` cycles.
void TaskEstimator::countOperators(Operation *scope, int64_t copies,
                                   int64_t interval) {
  llvm::DenseMap<const Operator *, int64_t> uses;
  SmallVector<const Operator *> order;
  scope->walk([&](Operation *op) {
    const Operator *unit = unitOf(op);
    if (!unit)
      return;
    int64_t lanes = copies;
    for (Operation *outer = op; outer != scope; outer = outer->getParentOp())
      if (auto loop = dyn_cast<scf::ForOp>(outer->getParentOp()))
        if (loop != scope)
          lanes *= unrollFactor(loop);
    // Addresses of lanes differ by constants.
    if (unit == &kInteger)
      lanes = 1;
    if (!uses.count(unit))
      order.push_back(unit);
    uses[unit] += lanes;
  });
  for (const Operator *unit : order)
    addUnits(*unit, uses[unit], interval);
}

/// When the last result of one iteration of `block` is there, in cycles after
/// `start`. Lanes run side by side; what follows a store to an array waits for
/// it.
int64_t TaskEstimator::pathDepth(Block &block,
                                 llvm::DenseMap<Value, int64_t> &ready,
                                 int64_t start) {
  int64_t end = start;
  for (Operation &op : block) {
    int64_t time = start;
    for (Value operand : op.getOperands()) {
      auto known = ready.find(operand);
      if (known != ready.end())
        time = std::max(time, known->second);
    }
    if (const Operator *unit = unitOf(&op))
      if (unit->latency > 0)
        time += unit->latency + 1;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        time = std::max(time, pathDepth(inner, ready, start));
    if (auto store = dyn_cast<memref::StoreOp>(op))
      ready[store.getMemRef()] = std::max(ready[store.getMemRef()], time);
    for (Value result : op.getResults())
      ready[result] = time;
    end = std::max(end, time);
  }
  return end;
}

static bool writesStream(Operation *scope) {
  return scope
      ->walk([](Operation *op) {
        return isa<stream::WriteOp>(op) ? WalkResult::interrupt()
                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t TaskEstimator::loopCycles(scf::ForOp loop) {
  int64_t iterations = llvm::divideCeil(tripCount(loop), unrollFactor(loop));
  while (!loop->hasAttr(hls::kPipelineAttr)) {
    scf::ForOp inner = perfectInner(loop);
    if (!inner || unrollFactor(inner) == tripCount(inner))
      break;
    loop = inner;
    iterations *= llvm::divideCeil(tripCount(loop), unrollFactor(loop));
  }
  if (auto pipeline =
          loop->getAttrOfType<hls::PipelineAttr>(hls::kPipelineAttr)) {
    llvm::DenseMap<Value, int64_t> ready;
    root = loop;
    rootInterval = pipeline.getIi();
    int64_t depth = 3 + pathDepth(*loop.getBody(), ready, 0);
    countOperators(loop, unrollFactor(loop), pipeline.getIi());
    root = nullptr;
    rootInterval = 1;
    estimate.interval = std::max(estimate.interval, pipeline.getIi());
    estimate.depth = std::max(estimate.depth, depth);
    if (!firstWrite && writesStream(loop))
      firstWrite = now + depth - 2;
    return pipeline.getIi() * std::max<int64_t>(0, iterations - 1) + depth - 1;
  }
  // Sequential: the body again and again, one more cycle to return.
  int64_t before = now;
  int64_t body = 0;
  if (loop->hasAttr(hls::kDataflowAttr)) {
    // Stages overlap: the slowest decides, the others fill and drain.
    int64_t slowest = 0, total = 0;
    for (auto call : loop.getBody()->getOps<func::CallOp>()) {
      auto stage = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      int64_t cycles = stage ? sequence(stage.getBody().front()) : 0;
      now += cycles;
      slowest = std::max(slowest, cycles);
      total += cycles;
    }
    now = before;
    return slowest * std::max<int64_t>(0, iterations - 1) + total + 1;
  }
  body = sequence(*loop.getBody());
  now = before;
  return iterations * (body + 1);
}

int64_t TaskEstimator::sequence(Block &block) {
  int64_t begin = now, cycles = 0;
  llvm::DenseMap<Value, int64_t> ready;
  int64_t straight = 0;
  for (Operation &op : block) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && unrollFactor(loop) != tripCount(loop)) {
      cycles += straight;
      straight = 0;
      ready.clear();
      now = begin + cycles;
      cycles += loopCycles(loop) + 1;
      now = begin + cycles;
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto stage = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (stage)
        cycles += sequence(stage.getBody().front());
      continue;
    }
    // Straight code: its operators are used once per pass.
    countOperators(&op, loop ? unrollFactor(loop) : 1, 1);
    int64_t time = 0;
    for (Value operand : op.getOperands())
      if (ready.count(operand))
        time = std::max(time, ready[operand]);
    if (const Operator *unit = operatorOf(&op))
      time += unit->latency + 1;
    if (isa<stream::ReadOp, stream::WriteOp, memref::StoreOp>(op))
      time += 1;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        time = std::max(time, pathDepth(inner, ready, time));
    if (!firstWrite && writesStream(&op))
      firstWrite = begin + cycles + time;
    for (Value result : op.getResults())
      ready[result] = time;
    if (auto read = dyn_cast<stream::ReadOp>(op))
      if (read.getDest())
        ready[read.getDest()] = time;
    if (auto store = dyn_cast<memref::StoreOp>(op))
      ready[store.getMemRef()] = time;
    straight = std::max(straight, time);
  }
  now = begin;
  return cycles + straight;
}

TaskEstimate TaskEstimator::run(func::FuncOp task) {
  estimate.latency = sequence(task.getBody().front()) + 1;
  estimate.initialDelay = firstWrite.value_or(0);
  task.walk([&](stream::BufferOp buffer) {
    estimate.resources += estimateBuffer(buffer);
  });
  estimate.resources.lut += unitLuts * 109 / 100;
  estimate.resources.ff += unitFfs * 128 / 100;
  return estimate;
}

TaskEstimate streamtensor::estimateTask(func::FuncOp task) {
  return TaskEstimator().run(task);
}
