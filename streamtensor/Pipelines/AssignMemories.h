//===- AssignMemories.h - What arrays and FIFOs are built of ----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last step of phase `allocated`: shift registers, LUTs, BRAM or UltraRAM
// for each array and FIFO, by shape, under the budgets of the dies. It needs
// the depths of FIFOs. docs/dies.md has the mathematics.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_ASSIGNMEMORIES_H
#define STREAMTENSOR_PIPELINES_ASSIGNMEMORIES_H

#include "streamtensor/Allocation/MemoryAssignmentProblem.h"
#include "streamtensor/Pipelines/TrialDesign.h"

#include "llvm/Support/JSON.h"

namespace streamtensor {

struct DieAssignment;

/// An array of a task (arrays of one name are one), or a FIFO.
struct DesignMemory {
  unsigned task = 0;            ///< on whose die it is: of a FIFO its reader
  std::optional<unsigned> fifo; ///< nothing: an array
  std::string name;
  std::vector<StorageChoice> choices;
};

/// What there is to choose for, and what everything else of a task takes.
struct DesignMemories {
  std::vector<DesignMemory> memories;
  std::vector<ResourceUse> logic; ///< one per task
};

DesignMemories collectMemories(const TrialDesign &trial);

/// The problem for tasks on `dies` (one per task). Memory ports count on
/// `memoryDie`.
MemoryAssignmentProblem memoryProblem(const TrialDesign &trial,
                                      const DesignMemories &parts,
                                      const std::vector<unsigned> &dies,
                                      unsigned memoryDie,
                                      std::vector<MemoryDie> budgets);

/// Chooses, verifies, and writes the choice onto the operations of
/// `trial.original` (`dataflow.memory` on FIFOs, `dataflow.memories` on tasks).
/// Within the limits at which routing is easy if possible, else, with a
/// warning, within the budgets. Emits an error and fails when that is not
/// possible either. Returns what the report says of it.
mlir::FailureOr<llvm::json::Object> assignMemories(TrialDesign &trial,
                                                   const DieAssignment &dies);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_ASSIGNMEMORIES_H
