//===- KernelAccesses.h - The process network of a kernel -------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derives the access programs of the tasks of a kernel, from phase
// `materialized` until itensors become streams.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_KERNELACCESSES_H
#define STREAMTENSOR_ANALYSIS_KERNELACCESSES_H

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Network/AccessProgram.h"

namespace streamtensor {

/// A kernel as a process network: process i is `tasks[i]`, FIFO j is the task
/// result `fifos[j]`. itensor.cast and itensor.reassociate are other names of
/// their source's FIFO.
struct KernelAccesses {
  ProcessNetwork network;
  llvm::SmallVector<dataflow::TaskOp> tasks;
  llvm::SmallVector<mlir::OpResult> fifos;
};

/// The name of the FIFO behind a task's result: that of its itensor.instance,
/// or the name of the task with `_out`, and the number of the result when the
/// task has several.
std::string getFifoName(mlir::OpResult result);

/// Builds the network of `kernel` when the run-time parameters have `values`;
/// those that are missing have their maximum. Emits an error and fails when an
/// access depends on data, when a FIFO has not one writer and one reader, and
/// when these disagree on the number of tokens.
mlir::FailureOr<KernelAccesses>
analyzeAccesses(dataflow::KernelOp kernel, const ParameterValues &values = {});

/// The largest value of each parameter that trip counts in `kernel` depend on.
ParameterValues collectMaxima(dataflow::KernelOp kernel);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_KERNELACCESSES_H
