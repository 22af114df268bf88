//===- AssignMemories.cpp - What arrays and FIFOs are built of ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the MemoryAssignmentProblem of a design, and writes its solution back.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/AssignMemories.h"

#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Pipelines/AssignDies.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace streamtensor;

/// The arrays of a task by name. A choice for several of one name is one for
/// each of them: kinds that not all of them can be built of are none.
static llvm::MapVector<StringRef, std::vector<StorageChoice>>
arraysOf(func::FuncOp function) {
  llvm::MapVector<StringRef, std::vector<StorageChoice>> arrays;
  function.walk([&](stream::BufferOp buffer) {
    std::vector<StorageChoice> choices = arrayChoices(storageShape(buffer));
    // Registers are no choice.
    if (choices.front().kind == MemoryKind::Registers)
      return;
    auto [entry, isNew] = arrays.try_emplace(buffer.getSym(), choices);
    if (isNew)
      return;
    std::vector<StorageChoice> common;
    for (const StorageChoice &known : entry->second)
      for (const StorageChoice &other : choices)
        if (known.kind == other.kind) {
          common.push_back(known);
          common.back().use += other.use;
        }
    entry->second = std::move(common);
  });
  return arrays;
}

DesignMemories streamtensor::collectMemories(const TrialDesign &trial) {
  DesignMemories parts;
  llvm::StringMap<unsigned> indices;
  for (auto [index, task] : llvm::enumerate(trial.design.tasks)) {
    indices[task.name] = index;
    func::FuncOp function = trial.functions[index];
    ResourceUse logic = task.estimate.resources;
    auto arrays = arraysOf(function);
    function.walk([&](stream::BufferOp buffer) {
      if (arrays.count(buffer.getSym()) &&
          arrayChoices(storageShape(buffer)).front().kind !=
              MemoryKind::Registers)
        logic += estimateBuffer(buffer) * -1;
    });
    parts.logic.push_back(logic);
    for (auto &[name, choices] : arrays)
      parts.memories.push_back(
          {unsigned(index), std::nullopt, name.str(), choices});
  }
  for (auto [index, fifo] : llvm::enumerate(trial.design.fifos))
    parts.memories.push_back({indices.lookup(fifo.consumer), unsigned(index),
                              fifo.name,
                              fifoChoices(fifo.depth, fifo.tokenBits)});
  return parts;
}

MemoryAssignmentProblem streamtensor::memoryProblem(
    const TrialDesign &trial, const DesignMemories &parts,
    const std::vector<unsigned> &dies, unsigned memoryDie,
    std::vector<MemoryDie> budgets) {
  MemoryAssignmentProblem problem;
  problem.dies = std::move(budgets);
  for (auto [task, logic] : llvm::enumerate(parts.logic))
    addCounts(problem.dies[dies[task]].logic, countsOf(logic));
  for (const auto &[bundle, use] : trial.design.ports())
    addCounts(problem.dies[memoryDie].logic, countsOf(use));
  for (const DesignMemory &memory : parts.memories) {
    Memory entry;
    entry.name = memory.fifo
                     ? memory.name
                     : trial.design.tasks[memory.task].name + "." + memory.name;
    entry.die = dies[memory.task];
    for (const StorageChoice &choice : memory.choices)
      entry.candidates.push_back(
          {memoryKindName(choice.kind).str(), countsOf(choice.use)});
    problem.memories.push_back(std::move(entry));
  }
  return problem;
}

/// The kinds onto the operations that arrays and FIFOs will come from.
static void writeBack(TrialDesign &trial, const DesignMemories &parts,
                      const MemoryAssignmentSolution &solution) {
  Builder builder(trial.original.getContext());
  std::vector<NamedAttrList> kinds(trial.tasks.size());
  for (auto [memory, choice] :
       llvm::zip_equal(parts.memories, solution.choices)) {
    StringAttr kind =
        builder.getStringAttr(memoryKindName(memory.choices[choice].kind));
    if (memory.fifo)
      trial.fifos[*memory.fifo]->setAttr(dataflow::kMemoryAttr, kind);
    else
      kinds[memory.task].append(memory.name, kind);
  }
  for (auto [task, list] : llvm::zip_equal(trial.tasks, kinds))
    if (!list.empty())
      dataflow::TaskOp(task)->setAttr(
          dataflow::kMemoriesAttr,
          list.getDictionary(trial.original.getContext()));
}

FailureOr<llvm::json::Object>
streamtensor::assignMemories(TrialDesign &trial, const DieAssignment &dies) {
  const DesignMemories parts = collectMemories(trial);
  std::string error;
  auto solve =
      [&](bool isWithinLimits) -> std::optional<MemoryAssignmentSolution> {
    const MemoryAssignmentProblem problem =
        memoryProblem(trial, parts, dies.taskDies(), dies.memoryDie,
                      dies.memoryBudgets(isWithinLimits));
    if (std::optional<std::string> fault = problem.check()) {
      error = *fault;
      return std::nullopt;
    }
    std::optional<MemoryAssignmentSolution> solution =
        solveMemoryAssignment(problem, error);
    if (solution)
      if (std::optional<std::string> fault = problem.verify(*solution)) {
        error =
            "internal error: the kinds of memory found are wrong: " + *fault;
        return std::nullopt;
      }
    return solution;
  };
  bool isWithinLimits = dies.isWithinLimits;
  std::string exceeded = dies.exceeded;
  std::optional<MemoryAssignmentSolution> solution;
  if (isWithinLimits)
    solution = solve(/*isWithinLimits=*/true);
  if (!solution) {
    const std::string limit = error;
    solution = solve(/*isWithinLimits=*/false);
    if (solution && isWithinLimits) {
      warnAboutLimits(trial.original, limit);
      exceeded = limit;
    }
    isWithinLimits = false;
  }
  if (!solution)
    return failToFit(trial.original, error);
  writeBack(trial, parts, *solution);
  return llvm::json::Object{{"method", solution->method},
                            {"optimal", solution->isOptimal},
                            {"memories", int64_t(parts.memories.size())},
                            {"within_limits", isWithinLimits},
                            {"exceeded", orNull(exceeded)},
                            {"fullest_percent_of_limit", solution->percent},
                            {"label", "estimated"}};
}
