//===- TrialDesign.cpp - A design before it is decided --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tasks and FIFOs are paired by their place: names may have become others on
// the way, the order has not.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/TrialDesign.h"

using namespace mlir;
using namespace streamtensor;

void TrialDesign::updateDepths() {
  for (auto [info, fifo] : llvm::zip_equal(design.fifos, fifos))
    info.depth = fifo.getDepth();
}

FailureOr<TrialDesign>
streamtensor::makeTrialDesign(ModuleOp original,
                              OwningOpRef<ModuleOp> lowered) {
  TrialDesign trial;
  trial.original = original;
  trial.lowered = std::move(lowered);
  FailureOr<DesignInfo> design = collectDesign(*trial.lowered);
  if (failed(design))
    return failure();
  trial.design = std::move(*design);
  original.walk([&](dataflow::KernelOp kernel) {
    llvm::append_range(trial.tasks, kernel.getOps<dataflow::TaskOp>());
    llvm::append_range(trial.fifos, kernel.getOps<itensor::InstanceOp>());
  });
  SymbolTable symbols(*trial.lowered);
  for (const TaskInfo &task : trial.design.tasks)
    trial.functions.push_back(symbols.lookup<func::FuncOp>(task.name));
  if (trial.tasks.size() != trial.design.tasks.size() ||
      trial.fifos.size() != trial.design.fifos.size())
    return original.emitError()
           << "internal error: expected " << trial.tasks.size() << " tasks and "
           << trial.fifos.size() << " fifos of the lowered design but got "
           << trial.design.tasks.size() << " and " << trial.design.fifos.size();
  return trial;
}

ResourceCounts streamtensor::countsOf(const ResourceUse &use) {
  return {use.lut, use.ff, use.bram18, use.uram, use.dsp};
}

ResourceCounts streamtensor::countsOf(const DeviceResources &resources) {
  return {resources.lut, resources.ff, 2 * resources.bram36, resources.uram,
          resources.dsp};
}
