//===- Allocate.cpp - Dies, depths and memories ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the steps in order.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/Allocate.h"

#include "streamtensor/Pipelines/AssignDies.h"
#include "streamtensor/Pipelines/AssignMemories.h"
#include "streamtensor/Pipelines/SizeFifos.h"

#include "mlir/IR/Diagnostics.h"

#include <chrono>

using namespace mlir;
using namespace streamtensor;

namespace {

using Clock = std::chrono::steady_clock;

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
                             FifoStrategy strategy, LowerCopy lowerCopy,
                             std::string *misfit) {
  AllocationSummary summary;
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
  FailureOr<NetworkDepths> sizing =
      sizeFifos(module, lowered ? *lowered : *trial->lowered, device, strategy);
  if (failed(sizing))
    return failure();
  summary.lpSeconds = sizing->lpSeconds;

  start = Clock::now();
  trial->updateDepths();
  FailureOr<llvm::json::Object> memories = failure();
  auto assign = [&] { memories = assignMemories(*trial, *dies); };
  if (misfit)
    *misfit = messagesOf(module.getContext(), assign);
  else
    assign();
  if (failed(memories))
    return failure();
  summary.memories = std::move(*memories);
  summary.memories["seconds"] = keepSeconds("memories", start);
  return std::move(summary);
}
