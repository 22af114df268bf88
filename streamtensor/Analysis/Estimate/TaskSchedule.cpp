//===- TaskSchedule.cpp - When a task does what ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The states of the controller that synthesis builds, counted:
// - A function that is nothing but a pipeline: one state, then the pipeline.
// - A pipeline beside other code becomes a module of its own: one state to
// start
//   it, one in which it starts, the pipeline, and one in which it ends.
// - A loop that runs step by step: a state before it, and at its end the test
//   that fails. The test of an iteration shares the first state of its body.
// - Straight code: operators take their latency and a register; accesses and
//   stores a state, those of different targets at the same time.
// - The last state is that in which the function is done: the latency is the
//   number of states less one.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/TaskSchedule.h"

#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"
#include "streamtensor/Support/StreamLimits.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static ScheduleNode makeWait(int64_t cycles) {
  ScheduleNode node;
  node.kind = ScheduleNode::Kind::Wait;
  node.cycles = cycles;
  return node;
}

static ScheduleNode makeAccess(Operation *op, AccessKind kind, Value target,
                               int64_t copies) {
  ScheduleNode node;
  node.kind = ScheduleNode::Kind::Access;
  node.op = op;
  node.access = kind;
  node.target = target;
  node.copies = copies;
  return node;
}

static int64_t beatsOf(Type token) {
  auto type = cast<MemRefType>(token);
  return llvm::divideCeil(
      type.getNumElements() *
          static_cast<int64_t>(type.getElementTypeBitWidth()),
      kMaxPortBits);
}

/// The accesses that `op` makes, inputs before outputs; none for most.
static void collectAccesses(Operation *op, int64_t copies,
                            ScheduleSequence &out) {
  if (auto read = dyn_cast<stream::ReadOp>(op)) {
    out.push_back(
        makeAccess(op, AccessKind::Read, streamOf(read.getSource()), copies));
    if (read.getDest())
      if (Value memory = deviceMemoryOf(read.getDest()))
        out.push_back(makeAccess(op, AccessKind::MemoryWrite, memory,
                                 copies * beatsOf(read.getDest().getType())));
  } else if (auto write = dyn_cast<stream::WriteOp>(op)) {
    if (isa<MemRefType>(write.getValue().getType()))
      if (Value memory = deviceMemoryOf(write.getValue()))
        out.push_back(makeAccess(op, AccessKind::MemoryRead, memory,
                                 copies * beatsOf(write.getValue().getType())));
    out.push_back(
        makeAccess(op, AccessKind::Write, streamOf(write.getDest()), copies));
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (Value memory = deviceMemoryOf(load.getMemRef()))
      out.push_back(makeAccess(op, AccessKind::MemoryRead, memory, copies));
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    if (Value memory = deviceMemoryOf(store.getMemRef()))
      out.push_back(makeAccess(op, AccessKind::MemoryWrite, memory, copies));
  }
}

static bool isInput(AccessKind kind) {
  return kind == AccessKind::Read || kind == AccessKind::MemoryRead;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {

class Scheduler {
public:
  explicit Scheduler(const ArrayBinding &arrays) : arrays(arrays) {}

  ScheduleSequence run(func::FuncOp task);

private:
  ScheduleSequence schedule(Block &block);
  ScheduleNode schedulePipeline(ArrayRef<scf::ForOp> nest);
  /// Accesses so far in one iteration, by target and direction.
  using AccessCounts = llvm::DenseMap<std::pair<Value, unsigned>, int64_t>;
  void scheduleIteration(Block &block, const LoopEstimate &pipeline,
                         AccessCounts &accessesOf, ScheduleSequence &out);
  void scheduleLoop(scf::ForOp loop, ScheduleSequence &out);
  ScheduleNode scheduleCall(func::CallOp call);
  /// Straight code from `first` to before `last`.
  void scheduleStraight(Block::iterator first, Block::iterator last,
                        ScheduleSequence &out);

  const ArrayBinding &arrays;
};

} // namespace

/// Whether `op` is a part of a sequence of its own: it runs loops.
static bool hasLoops(Operation &op) {
  if (isa<func::CallOp>(op))
    return true;
  return op
      .walk([](scf::ForOp loop) {
        return isFullyUnrolled(loop) ? WalkResult::advance()
                                     : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// The accesses and branches of one iteration.
void Scheduler::scheduleIteration(Block &block, const LoopEstimate &pipeline,
                                  AccessCounts &accessesOf,
                                  ScheduleSequence &out) {
  for (Operation &op : block) {
    if (isa<scf::IfOp>(op)) {
      ScheduleNode branch;
      branch.kind = ScheduleNode::Kind::Branch;
      branch.op = &op;
      auto choice = cast<scf::IfOp>(op);
      // Of two branches only one accesses.
      AccessCounts other = accessesOf;
      scheduleIteration(*choice.thenBlock(), pipeline, accessesOf, branch.body);
      if (choice.elseBlock())
        scheduleIteration(*choice.elseBlock(), pipeline, other,
                          branch.otherwise);
      for (const auto &[target, count] : other)
        accessesOf[target] = std::max(accessesOf[target], count);
      if (!branch.body.empty() || !branch.otherwise.empty())
        out.push_back(std::move(branch));
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        scheduleIteration(inner, pipeline, accessesOf, out);
    size_t before = out.size();
    collectAccesses(&op, copiesInside(&op, pipeline.nest.back()), out);
    for (size_t i = before; i < out.size(); ++i) {
      // One access in a cycle: others of the same iteration follow.
      const bool input = isInput(out[i].access);
      int64_t &used = accessesOf[{out[i].target, input ? 1u : 0u}];
      out[i].stage =
          used + (input ? pipeline.readStage() : pipeline.writeStage());
      used += out[i].copies;
    }
  }
}

ScheduleNode Scheduler::schedulePipeline(ArrayRef<scf::ForOp> nest) {
  ScheduleNode node;
  node.kind = ScheduleNode::Kind::Pipeline;
  node.pipeline = estimateLoop(nest, arrays);
  node.loop = nest.back();
  node.op = node.loop;
  scf::ForOp loop = node.loop;
  AccessCounts accessesOf;
  scheduleIteration(*loop.getBody(), node.pipeline, accessesOf, node.body);
  // The last access of an iteration is two cycles before its end.
  const int64_t depth = node.pipeline.depth;
  for (const auto &[target, count] : accessesOf)
    node.pipeline.depth = std::max(node.pipeline.depth,
                                   (target.second ? 0 : depth - 2) + count + 1);
  return node;
}

ScheduleNode Scheduler::scheduleCall(func::CallOp call) {
  ScheduleNode node;
  node.kind = ScheduleNode::Kind::Call;
  node.op = call;
  auto stage = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!stage || stage.isExternal())
    return node;
  ArrayBinding bound;
  for (auto [argument, operand] :
       llvm::zip_equal(stage.getArguments(), call.getOperands())) {
    Value array = arrays.lookup(operand);
    bound[argument] = array ? array : operand;
  }
  node.body = scheduleTask(stage, bound);
  return node;
}

void Scheduler::scheduleLoop(scf::ForOp loop, ScheduleSequence &out) {
  if (loop->hasAttr(hls::kDataflowAttr)) {
    ScheduleNode node;
    node.kind = ScheduleNode::Kind::Stages;
    node.op = loop;
    node.loop = loop;
    for (auto call : loop.getBody()->getOps<func::CallOp>())
      node.body.push_back(scheduleCall(call));
    out.push_back(std::move(node));
    out.push_back(makeWait(1));
    return;
  }
  SmallVector<scf::ForOp> nest = pipelinedNest(loop);
  if (!nest.empty()) {
    out.push_back(makeWait(2));
    out.push_back(schedulePipeline(nest));
    out.push_back(makeWait(1));
    return;
  }
  ScheduleNode node;
  node.kind = ScheduleNode::Kind::Loop;
  node.op = loop;
  node.loop = loop;
  node.body = schedule(*loop.getBody());
  // An iteration without any state still has its test.
  if (scheduleCycles(node.body) == 0)
    node.body.push_back(makeWait(1));
  out.push_back(makeWait(1));
  out.push_back(std::move(node));
  out.push_back(makeWait(1));
}

void Scheduler::scheduleStraight(Block::iterator first, Block::iterator last,
                                 ScheduleSequence &out) {
  llvm::DenseMap<Value, int64_t> ready;
  // When a target, and the text so far, can be accessed again.
  llvm::DenseMap<Value, int64_t> nextFree;
  int64_t now = 0, end = 0;
  for (Operation &op : llvm::make_range(first, last)) {
    int64_t time = 0;
    for (Value operand : op.getOperands())
      if (ready.count(operand))
        time = std::max(time, ready[operand]);
    time += pathCycles(&op);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        time = std::max(time, pathCycles(inner, ready));
    ScheduleSequence accesses;
    op.walk([&](Operation *inner) {
      int64_t copies = 1;
      if (inner != &op) {
        copies = copiesInside(inner, &op);
        if (auto loop = dyn_cast<scf::ForOp>(op))
          copies *= unrollFactor(loop);
      }
      collectAccesses(inner, copies, accesses);
    });
    for (ScheduleNode &access : accesses) {
      for (int64_t copy = 0; copy < access.copies; ++copy) {
        time = std::max({time, now, nextFree.lookup(access.target)});
        if (time > now)
          out.push_back(makeWait(time - now));
        now = time;
        out.push_back(access);
        out.back().copies = 1;
        nextFree[access.target] = time + 1;
      }
      end = std::max(end, time + 1);
    }
    // Stores of one statement happen together, in a state.
    bool stores = op.walk([](memref::StoreOp) {
                      return WalkResult::interrupt();
                    }).wasInterrupted();
    if (!accesses.empty() || stores)
      ++time;
    for (Value result : op.getResults())
      ready[result] = time;
    if (auto read = dyn_cast<stream::ReadOp>(op))
      if (read.getDest())
        ready[read.getDest()] = time;
    op.walk([&](memref::StoreOp store) {
      ready[store.getMemRef()] = std::max(ready[store.getMemRef()], time);
    });
    end = std::max(end, time);
  }
  if (end > now)
    out.push_back(makeWait(end - now));
}

ScheduleSequence Scheduler::schedule(Block &block) {
  ScheduleSequence out;
  Block::iterator straight = block.begin(), op = block.begin();
  for (; op != block.end(); ++op) {
    if (!hasLoops(*op))
      continue;
    scheduleStraight(straight, op, out);
    straight = std::next(op);
    if (auto loop = dyn_cast<scf::ForOp>(*op)) {
      scheduleLoop(loop, out);
    } else if (auto call = dyn_cast<func::CallOp>(*op)) {
      out.push_back(scheduleCall(call));
    } else if (auto choice = dyn_cast<scf::IfOp>(*op)) {
      ScheduleNode branch;
      branch.kind = ScheduleNode::Kind::Branch;
      branch.op = choice;
      branch.body = schedule(*choice.thenBlock());
      if (choice.elseBlock())
        branch.otherwise = schedule(*choice.elseBlock());
      out.push_back(std::move(branch));
    }
  }
  scheduleStraight(straight, op, out);
  return out;
}

ScheduleSequence Scheduler::run(func::FuncOp task) {
  ScheduleSequence sequence = schedule(task.getBody().front());
  bool isOnePipeline =
      sequence.size() == 3 && sequence[1].kind == ScheduleNode::Kind::Pipeline;
  if (isOnePipeline) {
    sequence.pop_back();
    sequence.front().cycles = 1;
  } else if (!sequence.empty() &&
             sequence.back().kind == ScheduleNode::Kind::Wait) {
    if (--sequence.back().cycles == 0)
      sequence.pop_back();
  }
  return sequence;
}

ScheduleSequence streamtensor::scheduleTask(func::FuncOp task,
                                            const ArrayBinding &arrays) {
  return Scheduler(arrays).run(task);
}

//===----------------------------------------------------------------------===//
// Cycles
//===----------------------------------------------------------------------===//

int64_t streamtensor::scheduleCycles(const ScheduleSequence &sequence) {
  int64_t total = 0;
  for (const ScheduleNode &node : sequence) {
    switch (node.kind) {
    case ScheduleNode::Kind::Access:
      break;
    case ScheduleNode::Kind::Wait:
      total += node.cycles;
      break;
    case ScheduleNode::Kind::Loop:
      total += iterations(node.loop) * scheduleCycles(node.body);
      break;
    case ScheduleNode::Kind::Pipeline:
      total += node.pipeline.cycles();
      break;
    case ScheduleNode::Kind::Branch:
      total +=
          std::max(scheduleCycles(node.body), scheduleCycles(node.otherwise));
      break;
    case ScheduleNode::Kind::Stages: {
      // The slowest stage decides, the others fill and drain.
      int64_t slowest = 0, sum = 0;
      for (const ScheduleNode &stage : node.body) {
        int64_t cycles = scheduleCycles(stage.body);
        slowest = std::max(slowest, cycles);
        sum += cycles;
      }
      total += slowest * std::max<int64_t>(0, iterations(node.loop) - 1) + sum;
      break;
    }
    case ScheduleNode::Kind::Call:
      total += scheduleCycles(node.body);
      break;
    }
  }
  return total;
}
