//===- AssignDies.cpp - Which die each task is on -------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the DieAssignmentProblem of a design, and writes its solution back.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/AssignDies.h"

#include "streamtensor/Allocation/DieAssignmentSolver.h"
#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Pipelines/AssignMemories.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

std::vector<unsigned> DieAssignment::taskDies() const {
  return {solution.dies.begin(), solution.dies.begin() + numTasks};
}

std::vector<MemoryDie> DieAssignment::memoryBudgets(bool isWithinLimits) const {
  std::vector<MemoryDie> result;
  for (unsigned d = 0; d < problem.dies.size(); ++d) {
    MemoryDie die;
    die.name = problem.dies[d].name;
    die.budget = problem.dies[d].budget;
    if (isWithinLimits)
      for (unsigned r = 0; r < kNumResources; ++r)
        die.budget[r] =
            die.budget[r] * DieAssignmentProblem().percentLimits[r] / 100;
    result.push_back(std::move(die));
  }
  return result;
}

llvm::json::Value streamtensor::orNull(const std::string &text) {
  return text.empty() ? llvm::json::Value(nullptr) : llvm::json::Value(text);
}

llvm::json::Object DieAssignment::describe() const {
  const DieFigures figures = problem.figures(solution.dies);
  llvm::json::Array wires;
  for (unsigned k = 0; k < figures.wires.size(); ++k)
    wires.push_back(llvm::json::Object{
        {"between",
         llvm::json::Array{problem.dies[k].name, problem.dies[k + 1].name}},
        {"used", figures.wires[k]},
        {"available", problem.maxWires}});
  llvm::json::Object limits;
  for (unsigned r = 0; r < kNumResources; ++r)
    limits[resourceName(r)] = problem.percentLimits[r];
  std::vector<unsigned> used = taskDies();
  llvm::sort(used);
  const int64_t numUsed = std::unique(used.begin(), used.end()) - used.begin();
  return llvm::json::Object{{"method", solution.method},
                            {"optimal", solution.isOptimal},
                            {"dies_used", numUsed},
                            {"crossing_bits", solution.crossingBits},
                            {"wires", std::move(wires)},
                            {"limits_percent", std::move(limits)},
                            {"within_limits", isWithinLimits},
                            {"exceeded", orNull(exceeded)},
                            {"fullest_percent", solution.percent},
                            {"label", "estimated"}};
}

/// Which kind of memory each array would be built of if the device were one
/// die, so that tasks take what they will take at the end, more or less.
static std::optional<std::vector<unsigned>>
chooseForDevice(const TrialDesign &trial, const DesignMemories &parts,
                const DieAssignmentProblem &limits, std::string &error) {
  const std::vector<unsigned> allOnOne(trial.tasks.size(), 0);
  MemoryAssignmentOptions options;
  options.useCbc = false;
  for (bool isWithinLimits : {true, false}) {
    MemoryDie whole;
    for (unsigned d = 0; d < limits.dies.size(); ++d) {
      const Die &die = limits.dies[d];
      whole.name += (d == 0 ? "" : ", ") + die.name;
      for (unsigned r = 0; r < kNumResources; ++r)
        whole.budget[r] += isWithinLimits ? limits.limit(d, r) : die.budget[r];
    }
    const MemoryAssignmentProblem problem =
        memoryProblem(trial, parts, allOnOne, 0, {whole});
    if (std::optional<std::string> fault = problem.check()) {
      error = *fault;
      return std::nullopt;
    }
    if (auto solution = solveMemoryAssignment(problem, error, options))
      return solution->choices;
  }
  return std::nullopt;
}

static std::optional<unsigned> findMemoryDie(const DeviceInfo &device,
                                             std::string &error) {
  for (auto [index, die] : llvm::enumerate(device.dies))
    if (die.name == device.memoryDie)
      return unsigned(index);
  error = "expected a die named '" + device.memoryDie +
          "', where the memory ports are, on target '" + device.name + "'";
  return std::nullopt;
}

std::optional<DieAssignmentProblem>
streamtensor::dieProblem(const TrialDesign &trial, const DeviceInfo &device,
                         std::string &error) {
  const std::optional<unsigned> memoryDie = findMemoryDie(device, error);
  if (!memoryDie)
    return std::nullopt;
  DieAssignmentProblem problem;
  for (const DieInfo &die : device.dies)
    problem.dies.push_back({die.name, countsOf(die.resources)});
  const DesignMemories parts = collectMemories(trial);
  llvm::StringMap<unsigned> indices;
  for (auto [index, task] : llvm::enumerate(trial.design.tasks)) {
    indices[task.name] =
        problem.addTask(task.name, countsOf(parts.logic[index]),
                        task.argument.empty() ? std::nullopt : memoryDie);
  }
  for (const FifoInfo &fifo : trial.design.fifos)
    problem.addEdge({fifo.name,
                     indices.lookup(fifo.producer),
                     indices.lookup(fifo.consumer),
                     fifo.tokenBits,
                     {}});
  for (const auto &[bundle, use] : trial.design.ports())
    problem.addTask("memory port '" + bundle + "'", countsOf(use), memoryDie);
  const std::optional<std::vector<unsigned>> choices =
      chooseForDevice(trial, parts, problem, error);
  if (!choices) {
    // Without memories: where the logic is too much already, that is the cause.
    problem.percentLimits.fill(100);
    if (!problem.check())
      if (std::optional<std::string> obstacle = problem.findObstacle())
        error = *obstacle;
    return std::nullopt;
  }
  for (auto [memory, choice] : llvm::zip_equal(parts.memories, *choices)) {
    const ResourceCounts uses = countsOf(memory.choices[choice].use);
    addCounts(memory.fifo ? problem.edges[*memory.fifo].uses
                          : problem.tasks[memory.task].uses,
              uses);
  }
  return problem;
}

/// Gives `fifo` register stages, and the places that they cost: a token is
/// readable, and its place free again, so many cycles later.
static void addStages(itensor::InstanceOp fifo, int64_t stages,
                      int64_t tokens) {
  Builder builder(fifo.getContext());
  fifo->setAttr(dataflow::kCrossingAttr, builder.getI64IntegerAttr(stages));
  const int64_t depth = fifo.getDepth();
  const int64_t deeper = std::max(depth, std::min(depth + 2 * stages, tokens));
  if (deeper == depth)
    return;
  const std::string before = fifo.getReason() ? fifo.getReason()->str() : "";
  fifo.setDepthAttr(builder.getI64IntegerAttr(deeper));
  fifo.setReasonAttr(builder.getStringAttr(
      before + (before.empty() ? "" : ", and ") +
      std::to_string(deeper - depth) + " more for " + std::to_string(stages) +
      " register stages between dies"));
}

/// Dies and register stages onto the operations.
static void writeBack(TrialDesign &trial, const DieAssignment &result) {
  for (auto [index, task] : llvm::enumerate(trial.tasks))
    dataflow::TaskOp(task)->setAttr(
        dataflow::kDieAttr,
        StringAttr::get(trial.original.getContext(),
                        result.problem.dies[result.solution.dies[index]].name));
  for (auto [index, fifo] : llvm::enumerate(trial.fifos))
    if (const int64_t stages = result.solution.stages[index])
      addStages(fifo, stages, trial.design.fifos[index].tokens);
}

void streamtensor::warnAboutLimits(ModuleOp module, StringRef cause) {
  module.emitWarning() << "the design fits the target but not the limits at "
                          "which routing is easy: "
                       << cause;
}

InFlightDiagnostic streamtensor::failToFit(ModuleOp module, StringRef cause) {
  InFlightDiagnostic error = module.emitError() << cause;
  error.attachNote() << "options that make a design smaller: --dsp-budget=N "
                        "(fewer lanes), --onchip-budget-bytes=N (smaller tiles "
                        "and buffers), --fifo-strategy=conservative or min";
  return error;
}

FailureOr<DieAssignment> streamtensor::assignDies(TrialDesign &trial,
                                                  const DeviceInfo &device) {
  std::string error;
  DieAssignment result;
  result.numTasks = trial.tasks.size();
  std::optional<DieAssignmentProblem> problem =
      dieProblem(trial, device, error);
  if (!problem)
    return failToFit(trial.original, error);
  result.memoryDie = *findMemoryDie(device, error);
  result.problem = std::move(*problem);
  if (std::optional<std::string> fault = result.problem.check())
    return trial.original.emitError() << *fault;
  std::optional<DieAssignmentSolution> solution =
      solveDieAssignment(result.problem, error);
  if (!solution) {
    result.exceeded = error;
    result.isWithinLimits = false;
    result.problem.percentLimits.fill(100);
    solution = solveDieAssignment(result.problem, error);
    if (!solution)
      return failToFit(trial.original, error);
    warnAboutLimits(trial.original, result.exceeded);
  }
  // A solver does not judge itself.
  if (std::optional<std::string> fault = result.problem.verify(*solution))
    return trial.original.emitError()
           << "internal error: the dies found are wrong: " << *fault;
  result.solution = std::move(*solution);
  writeBack(trial, result);
  return result;
}
