//===- Allocate.cpp - Dies, depths and memories ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the steps in order, and a second time with fewer bits where memories do
// not fit.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/Allocate.h"

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Pipelines/AssignDies.h"
#include "streamtensor/Pipelines/AssignMemories.h"
#include "streamtensor/Pipelines/SizeFifos.h"

#include "mlir/IR/Diagnostics.h"

#include <chrono>

using namespace mlir;
using namespace streamtensor;

namespace {

using Clock = std::chrono::steady_clock;

/// Depths of FIFOs as they were, to start again from them.
class SavedDepths {
public:
  explicit SavedDepths(ModuleOp module) {
    module.walk([&](itensor::InstanceOp op) {
      saved.push_back({op, op.getDepthAttr(), op.getReasonAttr()});
    });
  }

  void restore() {
    for (Depth &depth : saved) {
      depth.fifo.setDepthAttr(depth.depth);
      depth.fifo.setReasonAttr(depth.reason);
    }
  }

private:
  struct Depth {
    itensor::InstanceOp fifo;
    IntegerAttr depth;
    StringAttr reason;
  };
  std::vector<Depth> saved;
};

/// Runs `step` and keeps its messages instead of printing them.
template <typename Step>
std::string messagesOf(MLIRContext *context, Step step) {
  std::string messages;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    messages += (messages.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  step();
  return messages;
}

} // namespace

FailureOr<AllocationSummary>
streamtensor::allocateDesign(ModuleOp module, const DeviceInfo &device,
                             FifoStrategy strategy, LowerCopy lowerCopy) {
  AllocationSummary summary;
  summary.strategy = strategy;
  auto keepSeconds = [&](StringRef step, Clock::time_point start) {
    double elapsed =
        std::chrono::duration<double>(Clock::now() - start).count();
    summary.seconds.emplace_back(step.str(), elapsed);
    return elapsed;
  };

  OwningOpRef<ModuleOp> lowered = lowerCopy();
  if (!lowered)
    return failure();
  auto start = Clock::now();
  FailureOr<TrialDesign> trial = makeTrialDesign(module, std::move(lowered));
  if (failed(trial))
    return failure();
  FailureOr<DieAssignment> dies = assignDies(*trial, device);
  if (failed(dies))
    return failure();
  summary.dies = dies->describe();
  summary.dies["seconds"] = keepSeconds("dies", start);

  // Register stages between dies are part of what is sized.
  if (dies->solution.crossingBits > 0 && !(lowered = lowerCopy()))
    return failure();
  SavedDepths programOrder(module);
  auto size = [&](FifoStrategy chosen) -> LogicalResult {
    FailureOr<NetworkDepths> sizing =
        sizeFifos(module, lowered ? *lowered : *trial->lowered, device, chosen);
    if (failed(sizing))
      return failure();
    summary.lpSeconds = sizing->lpSeconds;
    trial->updateDepths();
    return success();
  };
  if (failed(size(strategy)))
    return failure();

  start = Clock::now();
  FailureOr<llvm::json::Object> memories = failure();
  std::string misfit = messagesOf(
      module.getContext(), [&] { memories = assignMemories(*trial, *dies); });
  if (failed(memories) && strategy != FifoStrategy::Conservative) {
    programOrder.restore();
    if (failed(size(FifoStrategy::Conservative)))
      return failure();
    summary.strategy = FifoStrategy::Conservative;
    summary.fallback = misfit;
    start = Clock::now();
    misfit = messagesOf(module.getContext(),
                        [&] { memories = assignMemories(*trial, *dies); });
  }
  if (failed(memories))
    return failToFit(module, misfit);
  summary.memories = std::move(*memories);
  summary.memories["seconds"] = keepSeconds("memories", start);
  if (!summary.fallback.empty())
    module.emitWarning()
        << "the memories of the design do not fit with the FIFO depths of "
           "strategy '"
        << fifoStrategyName(strategy)
        << "', so those of 'conservative' are used, which may cost time: "
        << summary.fallback;
  return summary;
}
