//===- TaskEstimate.cpp - Time and area of tasks --------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Area: ceil(uses / interval) units of each operator of a pipeline, one of each
// use of straight code, what surrounds them, and arrays.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/TaskEstimate.h"

#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Analysis/Estimate/TaskSchedule.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"

#include <optional>

using namespace mlir;
using namespace streamtensor;

namespace {

/// Gathers the facts of a schedule.
class Summary {
public:
  explicit Summary(TaskEstimate &estimate) : estimate(estimate) {}

  /// `begin` is when the sequence starts.
  void visit(const ScheduleSequence &sequence, int64_t begin);
  void addUnits(const OperatorUses &uses, int64_t interval);
  void finish();

private:
  void visitPipeline(const ScheduleNode &node, int64_t begin);

  TaskEstimate &estimate;
  std::optional<int64_t> firstWrite;
  UnitSums sums;
};

} // namespace

void Summary::addUnits(const OperatorUses &uses, int64_t interval) {
  // Addresses are needed in every iteration.
  for (const auto &[unit, count] : uses)
    sums.add(*unit, count, isAddress(*unit) ? 1 : interval);
}

/// The stage of the first write to a FIFO in an iteration.
static std::optional<int64_t> firstWriteStage(const ScheduleSequence &body) {
  std::optional<int64_t> first;
  auto consider = [&](std::optional<int64_t> stage) {
    if (stage && (!first || *stage < *first))
      first = stage;
  };
  for (const ScheduleNode &node : body) {
    if (node.kind == ScheduleNode::Kind::Access) {
      if (node.access == AccessKind::Write)
        consider(node.stage);
    } else {
      consider(firstWriteStage(node.body));
      consider(firstWriteStage(node.otherwise));
    }
  }
  return first;
}

void Summary::visitPipeline(const ScheduleNode &node, int64_t begin) {
  const LoopEstimate &pipeline = node.pipeline;
  if (pipeline.interval > estimate.interval) {
    estimate.interval = pipeline.interval;
    estimate.cause = pipeline.cause;
  }
  estimate.requested = std::max(estimate.requested, pipeline.requested);
  estimate.depth = std::max(estimate.depth, pipeline.depth);
  addUnits(pipeline.uses, pipeline.interval);
  if (!firstWrite)
    if (std::optional<int64_t> stage = firstWriteStage(node.body))
      firstWrite = begin + *stage;
}

void Summary::visit(const ScheduleSequence &sequence, int64_t begin) {
  int64_t now = begin;
  for (const ScheduleNode &node : sequence) {
    switch (node.kind) {
    case ScheduleNode::Kind::Access:
      if (!firstWrite && node.access == AccessKind::Write)
        firstWrite = now;
      break;
    case ScheduleNode::Kind::Wait:
      break;
    case ScheduleNode::Kind::Pipeline:
      visitPipeline(node, now);
      break;
    case ScheduleNode::Kind::Loop:
    case ScheduleNode::Kind::Branch:
    case ScheduleNode::Kind::Call:
      visit(node.body, now);
      visit(node.otherwise, now);
      break;
    case ScheduleNode::Kind::Stages: {
      int64_t stageBegin = now;
      for (const ScheduleNode &stage : node.body) {
        visit(stage.body, stageBegin);
        stageBegin += scheduleCycles(stage.body);
      }
      break;
    }
    }
    now += scheduleCycles({node});
  }
}

void Summary::finish() {
  estimate.initialDelay = firstWrite.value_or(0);
  estimate.resources += sums.resources();
}

/// Units of straight code of a function and of the stages that it calls.
static void countStraightCode(Block &block, OperatorUses &uses) {
  for (Operation &op : block) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && !isFullyUnrolled(loop)) {
      if (pipelinedNest(loop).empty())
        countStraightCode(*loop.getBody(), uses);
    } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
      for (Region &region : choice->getRegions())
        for (Block &inner : region)
          countStraightCode(inner, uses);
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      auto stage = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (stage && !stage.isExternal())
        countStraightCode(stage.getBody().front(), uses);
    } else {
      countOperators(&op, uses);
    }
  }
}

TaskEstimate streamtensor::estimateTask(func::FuncOp task) {
  TaskEstimate estimate;
  ScheduleSequence schedule = scheduleTask(task);
  estimate.latency = scheduleCycles(schedule);
  Summary summary(estimate);
  summary.visit(schedule, 0);
  OperatorUses straight;
  countStraightCode(task.getBody().front(), straight);
  summary.addUnits(straight, 1);
  summary.finish();
  task.walk([&](stream::BufferOp buffer) {
    estimate.resources += estimateBuffer(buffer);
  });
  if (auto csynth = task->getAttrOfType<DictionaryAttr>(hls::kCsynthAttr)) {
    auto number = [&](StringRef name, int64_t &out) {
      if (auto value = csynth.getAs<IntegerAttr>(name))
        out = value.getInt();
    };
    number("latency", estimate.latency);
    number("dsp", estimate.resources.dsp);
    number("lut", estimate.resources.lut);
    number("ff", estimate.resources.ff);
    number("bram18", estimate.resources.bram18);
    number("uram", estimate.resources.uram);
    estimate.isFromCsynth = true;
  }
  return estimate;
}
