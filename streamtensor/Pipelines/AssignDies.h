//===- AssignDies.h - Which die each task is on -----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of phase `allocated`, before FIFOs are sized, because a FIFO between
// two dies has register stages that take time. docs/dies.md has the
// mathematics.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_ASSIGNDIES_H
#define STREAMTENSOR_PIPELINES_ASSIGNDIES_H

#include "streamtensor/Allocation/DieAssignmentProblem.h"
#include "streamtensor/Allocation/MemoryAssignmentProblem.h"
#include "streamtensor/Pipelines/TrialDesign.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"

namespace streamtensor {

/// The dies of a design.
struct DieAssignment {
  /// Its first tasks and edges are the tasks and FIFOs of the design; memory
  /// ports follow as further tasks.
  DieAssignmentProblem problem;
  DieAssignmentSolution solution;
  unsigned memoryDie = 0;
  /// Whether the limits hold at which routing is easy; else only the budgets,
  /// and which limit is exceeded.
  bool isWithinLimits = true;
  std::string exceeded;
  size_t numTasks = 0;

  std::vector<unsigned> taskDies() const;
  /// Budgets of the dies, or what the limits leave of them.
  std::vector<MemoryDie> memoryBudgets(bool isWithinLimits) const;
  /// What the report says of it.
  llvm::json::Object describe() const;
};

/// The problem of a design. Tasks that access memory are where it is; arrays
/// are built of what is best for the device as a whole. Fails with the cause in
/// `error` when `device` has no die that its memory is on, or when the memories
/// do not fit all dies together.
std::optional<DieAssignmentProblem> dieProblem(const TrialDesign &trial,
                                               const DeviceInfo &device,
                                               std::string &error);

/// Assigns, verifies, and writes the result onto the operations of
/// `trial.original`: `dataflow.die` on tasks, `dataflow.crossing` on FIFOs,
/// which become deeper by two tokens for each of their register stages. Within
/// the limits at which routing is easy if possible, else, with a warning,
/// within the budgets. Emits an error and fails when that is not possible
/// either.
mlir::FailureOr<DieAssignment> assignDies(TrialDesign &trial,
                                          const DeviceInfo &device);

/// The text, or null where there is none.
llvm::json::Value orNull(const std::string &text);

/// Says that the design is too large, and why; a note says which options make
/// it smaller.
mlir::InFlightDiagnostic failToFit(mlir::ModuleOp module,
                                   llvm::StringRef cause);

/// Says that the limits do not hold, and why.
void warnAboutLimits(mlir::ModuleOp module, llvm::StringRef cause);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_ASSIGNDIES_H
