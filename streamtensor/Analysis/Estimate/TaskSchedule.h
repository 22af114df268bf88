//===- TaskSchedule.h - When a task does what -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A task of phase `hls` as a tree of waits, accesses, loops and pipelines, in
// the order of its text, with the cycles that synthesis is expected to give
// them. docs/estimates.md has the rules.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_TASKSCHEDULE_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_TASKSCHEDULE_H

#include "streamtensor/Analysis/Estimate/LoopEstimate.h"
#include "streamtensor/Network/TimedNetwork.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace streamtensor {

struct ScheduleNode;
/// One after the other.
using ScheduleSequence = std::vector<ScheduleNode>;

/// A part of a task.
struct ScheduleNode {
  enum class Kind : uint8_t {
    /// Touches a FIFO or device memory: `access`, `target`, `copies`, and
    /// inside of a pipeline `stage`. Takes no time by itself.
    Access,
    /// `cycles` pass.
    Wait,
    /// `loop` runs `body` step by step.
    Loop,
    /// `pipeline`, with the accesses and branches of an iteration in `body`.
    Pipeline,
    /// An scf.if, `op`: `body` where it holds, `otherwise` where not.
    Branch,
    /// `loop`, marked `hls.dataflow`: each node of `body` is a Call of a stage;
    /// they overlap, iteration by iteration.
    Stages,
    /// Of a stage function, `op`; `body` is its schedule.
    Call
  };
  Kind kind = Kind::Wait;
  mlir::Operation *op = nullptr;

  AccessKind access = AccessKind::Read;
  /// The stream, behind casts, or the memory argument, behind views; an
  /// argument of the function that the access stands in.
  mlir::Value target;
  /// Cycles after the iteration's begin.
  int64_t stage = 0;
  /// Accesses one cycle after the other (lanes that share no beat).
  int64_t copies = 1;

  int64_t cycles = 0;
  mlir::scf::ForOp loop;
  LoopEstimate pipeline;
  ScheduleSequence body, otherwise;
};

/// The schedule of a task function or of a stage of one, from its start to its
/// end: its latency is the sum of what stands in it. `arrays` are those behind
/// the arguments of a stage.
ScheduleSequence scheduleTask(mlir::func::FuncOp task,
                              const ArrayBinding &arrays = ArrayBinding());

/// Cycles of a sequence at the largest sizes; of two branches the longer one.
int64_t scheduleCycles(const ScheduleSequence &sequence);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_TASKSCHEDULE_H
