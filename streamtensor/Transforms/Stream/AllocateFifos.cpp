//===- AllocateFifos.cpp - Depths of FIFOs --------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the depth problem of each kernel, solves it, and turns the placeholder
// behind each task result into a FIFO with name, depth and reason.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Stream/Passes.h"

#include "streamtensor/Allocation/FifoDepthSolver.h"
#include "streamtensor/Allocation/FifoStrategy.h"
#include "streamtensor/Analysis/KernelAccesses.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Dialect/Dataflow/IR/ValueNames.h"
#include "streamtensor/Sim/TokenSimulator.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace streamtensor {
#define GEN_PASS_DEF_ALLOCATEFIFOS
#include "streamtensor/Transforms/Stream/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;
using streamtensor::itensor::ITensorType;

/// From how many tokens on a load runs ahead.
static constexpr int64_t kMinTokensToRunAhead = 64;
/// Up to how many bits of a token a converter runs ahead: FIFOs of up to 1,024
/// bits are shift registers, which are 32 deep whether that is used or not.
static constexpr int64_t kMostBitsToRunAhead = 32;
/// Whatever is deeper needs a proof: a stream of more tokens must not become an
/// array by an option.
static constexpr int64_t kMaxLeastDepth = 64;

namespace {

struct AllocateFifos : streamtensor::impl::AllocateFifosBase<AllocateFifos> {
  using AllocateFifosBase::AllocateFifosBase;

  void runOnOperation() override {
    std::optional<FifoStrategy> chosen = parseFifoStrategy(strategy);
    if (!chosen) {
      emitError(getOperation().getLoc())
          << "expected strategy " << kFifoStrategyNames << " but got '"
          << strategy << "'";
      return signalPassFailure();
    }
    depths = baseDepthsOf(*chosen);
    if (baseDepth != -1)
      depths.base = baseDepth;
    if (loadDepth != -1)
      depths.load = loadDepth;
    if (!isValid(depths.base) || !isValid(depths.load)) {
      emitError(getOperation().getLoc())
          << "expected base-depth and load-depth from 1 to " << kMaxLeastDepth
          << " but got " << depths.base << " and " << depths.load;
      return signalPassFailure();
    }
    llvm::StringSet<> names;
    WalkResult walk = getOperation()->walk([&](dataflow::KernelOp kernel) {
      return failed(allocate(kernel, names)) ? WalkResult::interrupt()
                                             : WalkResult::skip();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

private:
  static bool isValid(int64_t depth) {
    return depth >= 1 && depth <= kMaxLeastDepth;
  }
  LogicalResult allocate(dataflow::KernelOp kernel, llvm::StringSet<> &names);
  FifoDepthProblem buildProblem(const KernelAccesses &accesses);
  LogicalResult solve(dataflow::KernelOp kernel, const KernelAccesses &accesses,
                      const ParameterValues &values,
                      FifoDepthSolution &solution,
                      std::optional<GrowingFifo> growing);

  FifoBaseDepths depths = {};
};

} // namespace

static std::string makeUnique(std::string name, llvm::StringSet<> &names) {
  std::string candidate = name;
  for (unsigned suffix = 1; !names.insert(candidate).second; ++suffix)
    candidate = name + "_" + std::to_string(suffix);
  return candidate;
}

FifoDepthProblem AllocateFifos::buildProblem(const KernelAccesses &accesses) {
  FifoDepthProblem problem;
  problem.network = accesses.network;
  for (auto [value, fifo] :
       llvm::zip_equal(accesses.fifos, accesses.network.fifos)) {
    dataflow::TaskOp writer = accesses.tasks[fifo.writer];
    dataflow::TaskOp reader = accesses.tasks[fifo.reader];
    const int64_t bits = cast<ITensorType>(value.getType()).getTokenBits();
    const bool runsAhead =
        (writer.getKind() == "dma_in" ||
         (writer.getKind() == "converter" && bits <= kMostBitsToRunAhead)) &&
        reader.getKind() == "compute" && fifo.tokens >= kMinTokensToRunAhead;
    problem.baseDepths.push_back(runsAhead ? depths.load : depths.base);
    problem.tokenBits.push_back(bits);
  }
  return problem;
}

/// The parameters that trip counts in `kernel` depend on.
static SmallVector<dataflow::ParameterRange>
rangesOf(dataflow::KernelOp kernel) {
  SmallVector<dataflow::ParameterRange> ranges;
  for (const auto &[name, largest] : collectMaxima(kernel))
    ranges.push_back({name, 0, largest});
  if (auto function = kernel->getParentOfType<FunctionOpInterface>())
    for (const dataflow::ParameterRange &known :
         dataflow::parametersOf(function))
      for (dataflow::ParameterRange &range : ranges)
        if (range.name == known.name)
          range = known;
  return ranges;
}

static int64_t middleOf(int64_t smallest, int64_t largest) {
  return smallest + (largest - smallest) / 2;
}

/// Values of the parameters with these ranges for which depths are found: the
/// ends of each range, the one after the smallest and the middle, in all
/// combinations, the largest first.
static std::vector<ParameterValues>
valuesToTry(ArrayRef<dataflow::ParameterRange> ranges) {
  static constexpr size_t kMaxCombinations = 64;
  std::vector<ParameterValues> combinations(1);
  for (const auto &[name, smallest, largest] : ranges) {
    std::set<int64_t, std::greater<>> values{largest, smallest};
    if (combinations.size() * 4 <= kMaxCombinations)
      for (int64_t value : {middleOf(smallest, largest), smallest + 1})
        values.insert(std::clamp(value, smallest, largest));
    std::vector<ParameterValues> more;
    for (const ParameterValues &combination : combinations)
      for (int64_t value : values)
        more.emplace_back(combination)[name] = value;
    combinations = std::move(more);
  }
  return combinations;
}

/// Finds depths for the parameters `values` that are nowhere less than those in
/// `solution`, which may be empty, and keeps the larger ones there. `growing`
/// as in `solveFifoDepths`.
LogicalResult AllocateFifos::solve(dataflow::KernelOp kernel,
                                   const KernelAccesses &accesses,
                                   const ParameterValues &values,
                                   FifoDepthSolution &solution,
                                   std::optional<GrowingFifo> growing) {
  FifoDepthProblem problem = buildProblem(accesses);
  for (size_t i = 0; i < solution.depths.size(); ++i)
    problem.baseDepths[i] = solution.depths[i];
  if (std::optional<NetworkIssue> issue = problem.check())
    return kernel.emitOpError() << issue->message;
  // Most choices of sizes need no more than the largest ones.
  if (!solution.depths.empty()) {
    TokenSimulator simulator(problem.network);
    simulator.reset(solution.depths);
    if (simulator.run())
      return success();
  }
  const std::string at = values.empty() ? "" : "with " + valuesString(values);
  std::string error;
  std::optional<FifoDepthSolution> found =
      solveFifoDepths(problem, error, growing);
  if (!found)
    return kernel.emitOpError()
           << "expected tasks that end with deep enough fifos but got a "
              "deadlock that no depth resolves"
           << (at.empty() ? "" : " ") << at << ": " << error;
  // A solver does not judge itself.
  if (std::optional<std::string> fault = problem.verify(*found))
    return kernel.emitOpError()
           << "internal error: the depths found are wrong: " << *fault;
  if (solution.depths.empty()) {
    solution = std::move(*found);
    return success();
  }
  for (size_t i = 0; i < solution.depths.size(); ++i)
    if (found->depths[i] > solution.depths[i]) {
      solution.depths[i] = found->depths[i];
      solution.reasons[i] = at + ": " + found->reasons[i];
    }
  return success();
}

/// The names of the values that `task` makes, or of those that it moves; none
/// where they come from memory or have no names.
static SmallVector<StringAttr> valuesOf(dataflow::TaskOp task) {
  while (task && (task.getKind() == "converter" || task.getKind() == "fork")) {
    Value source;
    task.walk([&](itensor::ReadOp read) { source = read.getSource(); });
    while (source && isa_and_nonnull<itensor::CastOp, itensor::ReassociateOp>(
                         source.getDefiningOp()))
      source = source.getDefiningOp()->getOperand(0);
    task = source ? source.getDefiningOp<dataflow::TaskOp>() : nullptr;
  }
  return task && task.getKind() != "dma_in"
             ? dataflow::valueNames(task.getLoc())
             : SmallVector<StringAttr>();
}

LogicalResult AllocateFifos::allocate(dataflow::KernelOp kernel,
                                      llvm::StringSet<> &names) {
  // At the largest sizes first: these decide about the least depths. Which FIFO
  // should grow shows at smaller ones as well, in less time.
  std::optional<KernelAccesses> largest;
  FifoDepthSolution solution;
  SmallVector<dataflow::ParameterRange> ranges = rangesOf(kernel);
  std::optional<GrowingFifo> growing;
  if (!ranges.empty()) {
    ParameterValues fewer;
    for (const auto &[name, smallest, largestValue] : ranges)
      fewer[name] = middleOf(smallest, middleOf(smallest, largestValue));
    FailureOr<KernelAccesses> accesses = analyzeAccesses(kernel, fewer);
    FifoDepthSolution ofFewer;
    if (failed(accesses) ||
        failed(solve(kernel, *accesses, fewer, ofFewer, std::nullopt)))
      return failure();
    growing = ofFewer.choice;
  }
  for (const ParameterValues &values : valuesToTry(ranges)) {
    FailureOr<KernelAccesses> accesses = analyzeAccesses(kernel, values);
    if (failed(accesses) ||
        failed(solve(kernel, *accesses, values, solution, growing)))
      return failure();
    if (!largest)
      largest = std::move(*accesses);
  }

  for (auto [index, value] : llvm::enumerate(largest->fifos)) {
    auto task = cast<dataflow::TaskOp>(value.getOwner());
    OpOperand &init = task->getOpOperand(value.getResultNumber());
    auto empty = init.get().getDefiningOp<itensor::EmptyOp>();
    if (!empty)
      return task.emitOpError()
             << "expected init " << value.getResultNumber()
             << " to be itensor.empty but got "
             << (init.get().getDefiningOp()
                     ? init.get().getDefiningOp()->getName().getStringRef()
                     : StringRef("a block argument"))
             << "; fifos are allocated once, after --st-insert-forks";
    OpBuilder builder(task);
    const AccessFifo &fifo = largest->network.fifos[index];
    auto instance = itensor::InstanceOp::create(
        builder, task.getLoc(), value.getType(),
        builder.getStringAttr(makeUnique(fifo.name, names)),
        builder.getI64IntegerAttr(solution.depths[index]),
        builder.getStringAttr(solution.reasons[index]));
    instance->setAttr("tokens", builder.getI64IntegerAttr(fifo.tokens));
    const SmallVector<StringAttr> values = valuesOf(task);
    if (!values.empty())
      instance->setAttr(dataflow::kValuesAttr,
                        builder.getArrayAttr(SmallVector<Attribute>(
                            values.begin(), values.end())));
    init.set(instance);
    if (empty->use_empty())
      empty->erase();
  }
  return success();
}
