//===- Phases.cpp - the named phases -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which passes lead to which phase, and why they stand in this order.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/Phases.h"

#include "streamtensor/Conversion/Passes.h"
#include "streamtensor/Transforms/Dataflow/Passes.h"
#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Memory/Passes.h"
#include "streamtensor/Transforms/Stream/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace streamtensor;

static constexpr llvm::StringLiteral kNames[] = {
    "linalg",       "normalized", "scheduled", "dataflow", "fused", "packed",
    "materialized", "vectorized", "allocated", "stream",   "hls"};

StringRef streamtensor::phaseName(Phase phase) {
  return kNames[static_cast<unsigned>(phase)];
}

std::optional<Phase> streamtensor::parsePhase(StringRef name) {
  for (auto [index, known] : llvm::enumerate(kNames))
    if (name == known)
      return static_cast<Phase>(index);
  return std::nullopt;
}

std::string streamtensor::phaseNames() {
  return llvm::join(std::begin(kNames), std::end(kNames), ", ");
}

void streamtensor::buildPhase(OpPassManager &pm, Phase phase,
                              const PhaseOptions &options) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  switch (phase) {
  case Phase::Linalg:
    // The imported text as it is.
    break;
  case Phase::Normalized: {
    // Refuses what can't be compiled before anything is changed, so that the
    // messages speak of the user's operations.
    NormalizeOptions normalize;
    normalize.demoteF64 = options.demoteF64;
    normalize.sizes = options.sizes;
    buildNormalizePipeline(pm, normalize);
    break;
  }
  case Phase::Scheduled: {
    // Decides everything that the next phase obeys.
    ScheduleOpsOptions schedule;
    schedule.maxLanes = options.maxLanes;
    // No kernel can be split further than into one of its own.
    schedule.maxAccumulatorBytes = options.onchipBudgetBytes;
    function.addPass(createScheduleOps(schedule));
    break;
  }
  case Phase::Dataflow:
    function.addPass(createBuildDataflow());
    break;
  case Phase::Fused: {
    // Converters are inferred after fusion, when both ends of an edge are
    // known.
    FuseKernelsOptions fuse;
    fuse.onchipBudgetBytes = options.onchipBudgetBytes;
    function.addPass(createFuseKernels(fuse));
    pm.addPass(createInferConverters());
    break;
  }
  case Phase::Packed:
    // Needs the operands of fused kernels: a weight that two kernels load after
    // fusion is loaded once.
    function.addPass(createPackWeights());
    break;
  case Phase::Materialized:
    // Forks last: converters of one producer are shared before, so a fork
    // copies to as few readers as possible.
    function.addPass(createMaterializeStreams());
    function.addPass(createInsertForks());
    break;
  case Phase::Vectorized:
    // Tokens have their final width from the schedule on.
    break;
  case Phase::Allocated: {
    AllocateFifosOptions allocate;
    allocate.strategy = fifoStrategyName(options.fifoStrategy);
    pm.addPass(createAllocateFifos(allocate));
    break;
  }
  case Phase::Stream:
    pm.addPass(createDataflowToStream());
    break;
  case Phase::HLS:
    pm.addPass(createStreamToHLS());
    // One half of a ping-pong buffer fills while the other one drains.
    pm.addPass(createSplitConverters());
    // Last: the functions that share a FIFO or a buffer are known.
    pm.addPass(createNarrowStorage());
    break;
  }
}
