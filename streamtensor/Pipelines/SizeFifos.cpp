//===- SizeFifos.cpp - Depths of FIFOs by time ----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derives the network, sizes it, and writes depths and reasons back by name.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/SizeFifos.h"

#include "streamtensor/Allocation/FifoDepthSolver.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Target/Report/DeriveNetwork.h"
#include "streamtensor/Target/Report/WriteDesign.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace streamtensor;

/// Tokens and beats of a network that can be simulated hundreds of times in a
/// compile, and of one that can be simulated some times.
static constexpr int64_t kMostWorkToMinimize = 50'000;
static constexpr int64_t kMostWorkToGrow = 1'000'000;
static constexpr int64_t kMostSimulations = 2000;

/// The largest values, and the smallest ones.
static std::vector<ParameterValues> pointsOf(const TimedNetwork &network) {
  std::vector<ParameterValues> points = {network.maxima()};
  ParameterValues smallest;
  for (const NetworkParameter &parameter : network.parameters)
    smallest[parameter.name] = parameter.min;
  if (!network.parameters.empty())
    points.push_back(std::move(smallest));
  return points;
}

/// Deepens FIFOs of `network` until it ends in the order of own time at
/// `values`, and says why.
static LogicalResult deepenForPipelines(ModuleOp module, TimedNetwork &network,
                                        const ParameterValues &values,
                                        std::vector<std::string> &reasons) {
  FifoDepthProblem problem;
  problem.network = pipelinedOrder(network, values);
  for (const TimedFifo &fifo : network.fifos) {
    problem.baseDepths.push_back(fifo.depth);
    problem.tokenBits.push_back(fifo.widthBits * fifo.lanes);
  }
  if (std::optional<NetworkIssue> issue = problem.check())
    return module.emitError() << issue->message;
  std::string error;
  std::optional<FifoDepthSolution> solution = solveFifoDepths(problem, error);
  if (!solution)
    return module.emitError()
           << "expected tasks that end with deep enough fifos but got a "
              "deadlock of stalling pipelines that no depth resolves: "
           << error;
  // A solver does not judge itself.
  if (std::optional<std::string> fault = problem.verify(*solution))
    return module.emitError()
           << "internal error: the depths found are wrong: " << *fault;
  for (size_t i = 0; i < network.fifos.size(); ++i)
    if (solution->depths[i] > network.fifos[i].depth) {
      network.fifos[i].depth = solution->depths[i];
      reasons[i] = "stalling pipelines: " + solution->reasons[i];
    }
  return success();
}

/// What depths cost in time, where the network is small enough to be simulated
/// often; otherwise the depths stay as they are.
static FailureOr<TimedSizing> sizeByTime(ModuleOp module,
                                         const TimedNetwork &network,
                                         FifoStrategy strategy) {
  TimedSizingOptions options;
  options.points = pointsOf(network);
  const int64_t work = simulationWork(network, network.maxima());
  std::string error;
  std::optional<TimedSizing> sizing;
  if (strategy == FifoStrategy::Min && work <= kMostWorkToMinimize)
    sizing = smallestDepths(network, options, kMostSimulations, error);
  else if (strategy != FifoStrategy::Conservative && work <= kMostWorkToGrow)
    sizing = growDepths(network, options, error);
  else
    sizing = sameDepths(network);
  if (!sizing)
    return module.emitError()
           << "expected fifo depths with which the design ends but got a "
           << error;
  return std::move(*sizing);
}

FailureOr<TimedSizing> streamtensor::sizeFifos(ModuleOp module,
                                               ModuleOp lowered,
                                               const DeviceInfo &device,
                                               FifoStrategy strategy) {
  std::vector<MemoryPort> ports;
  FailureOr<DesignInfo> design = collectPlacedDesign(lowered, device, ports);
  if (failed(design))
    return failure();
  FailureOr<std::optional<TimedNetwork>> derived =
      deriveNetwork(lowered, *design, device);
  if (failed(derived))
    return failure();
  // Without a network the depths stay those of program order.
  if (!*derived)
    return TimedSizing();
  TimedNetwork *network = &**derived;
  // First of all, it must end.
  std::vector<std::string> reasons(network->fifos.size());
  for (const ParameterValues &values : pointsOf(*network))
    if (failed(deepenForPipelines(module, *network, values, reasons)))
      return failure();
  FailureOr<TimedSizing> timed = sizeByTime(module, *network, strategy);
  if (failed(timed))
    return failure();
  TimedSizing sizing = std::move(*timed);
  for (size_t i = 0; i < reasons.size(); ++i)
    if (sizing.reasons[i].empty())
      sizing.reasons[i] = std::move(reasons[i]);
  llvm::StringMap<unsigned> indices;
  for (unsigned i = 0; i < network->fifos.size(); ++i)
    indices[network->fifos[i].name] = i;
  module.walk([&](itensor::InstanceOp op) {
    auto index = indices.find(op.getSym());
    if (index == indices.end() || sizing.reasons[index->second].empty())
      return;
    Builder builder(op.getContext());
    op.setDepthAttr(builder.getI64IntegerAttr(sizing.depths[index->second]));
    op.setReasonAttr(builder.getStringAttr(sizing.reasons[index->second]));
  });
  return sizing;
}
