//===- TaskEstimate.h - Time and area of tasks ------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What synthesis will make of a task function, estimated from its schedule, its
// operators and its arrays.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_TASKESTIMATE_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_TASKESTIMATE_H

#include "streamtensor/Analysis/Estimate/LoopInterval.h"
#include "streamtensor/Analysis/Estimate/StorageEstimate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>

namespace streamtensor {

/// One run of a task, in cycles, as if its streams never blocked.
struct TaskEstimate {
  int64_t interval = 1;  ///< largest initiation interval of its pipelines
  int64_t requested = 1; ///< largest interval that a directive asks for
  /// Of the pipeline with the largest interval.
  IntervalCause cause = IntervalCause::None;
  int64_t depth = 0;        ///< stages of its deepest pipeline
  int64_t latency = 0;      ///< from start to end
  int64_t initialDelay = 0; ///< from start to the first token written
  ResourceUse resources;
  /// Latency and resources are those of a synthesis report (`hls.csynth`).
  bool isFromCsynth = false;
};

/// Estimates a function marked `hls.task`, its stages included.
TaskEstimate estimateTask(mlir::func::FuncOp task);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_TASKESTIMATE_H
