//===- SizeNetwork.cpp - Depths of all FIFOs of a network -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each step makes FIFOs deeper than the one before left them, and says why.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/SizeNetwork.h"

#include "streamtensor/Allocation/DepthCertificate.h"
#include "streamtensor/Allocation/FifoDepthSolver.h"
#include "streamtensor/Allocation/FifoSizingSolver.h"
#include "streamtensor/Allocation/NetworkSizing.h"
#include "streamtensor/Allocation/PaceTasks.h"
#include "streamtensor/Sim/TokenSimulator.h"

#include <algorithm>
#include <chrono>

using namespace streamtensor;

/// Tokens and beats of a network that can be simulated thousands of times in a
/// compile; and how many steps all simulations of a compile may take. Not a
/// time, so that the same network gets the same depths.
static constexpr int64_t kMostWorkToMinimize = 50'000;
static constexpr int64_t kMostSteps = 8'000'000;
static constexpr int64_t kMostSimulations = 2000;
static constexpr int64_t kShareOfInvocations = 48;
/// With more parameters than that, only the largest and the smallest values of
/// all are looked at.
static constexpr size_t kMostMixedParameters = 3;

namespace {

class NetworkSizer {
public:
  NetworkSizer(const TimedNetwork &network, FifoStrategy strategy,
               std::string &error)
      : network(network), strategy(strategy), error(error) {
    result.reasons.resize(network.fifos.size());
    points = {network.maxima()};
    ParameterValues smallest;
    for (const NetworkParameter &parameter : network.parameters)
      smallest[parameter.name] = parameter.min;
    if (!network.parameters.empty())
      points.push_back(smallest);
    // Sizes that differ are what is slow with depths for both ends: a step of
    // one token behind a long past.
    timePoints = points;
    if (network.parameters.size() > 1 &&
        network.parameters.size() <= kMostMixedParameters)
      for (const NetworkParameter &parameter : network.parameters) {
        ParameterValues mixed = points.front();
        mixed[parameter.name] = parameter.min;
        if (std::count(timePoints.begin(), timePoints.end(), mixed) == 0)
          timePoints.push_back(std::move(mixed));
      }
    std::stable_sort(timePoints.begin(), timePoints.end(),
                     [&](const ParameterValues &a, const ParameterValues &b) {
                       return simulationWork(network, a) <
                              simulationWork(network, b);
                     });
  }

  std::optional<NetworkDepths> run();

private:
  /// Lets the accesses of `order` end.
  bool deepenFor(ProcessNetwork order, const std::string &what);
  bool deepenForPipelines(const ParameterValues &values) {
    return deepenFor(pipelinedOrder(network, values), "stalling pipelines");
  }
  bool deepenForBasePoints();
  bool deepenForTime(const ParameterValues &values);
  std::optional<TimedSizing> sizeByTime();
  bool simulate();
  bool fail(const std::string &what) {
    error = what;
    return false;
  }
  void deepen(size_t fifo, int64_t depth, std::string reason) {
    if (depth <= network.fifos[fifo].depth)
      return;
    network.fifos[fifo].depth = depth;
    result.reasons[fifo] = std::move(reason);
  }

  /// With the depths found so far.
  TimedNetwork network;
  FifoStrategy strategy;
  std::string &error;
  std::vector<ParameterValues> points;
  /// Those at which time counts, the least work first: what FIFOs lack there
  /// is found in less time.
  std::vector<ParameterValues> timePoints;
  /// With which it ends.
  std::vector<int64_t> least;
  NetworkDepths result;
};

} // namespace

bool NetworkSizer::deepenFor(ProcessNetwork order, const std::string &what) {
  FifoDepthProblem problem;
  problem.network = std::move(order);
  for (const TimedFifo &fifo : network.fifos) {
    problem.baseDepths.push_back(fifo.depth);
    problem.tokenBits.push_back(fifo.widthBits * fifo.lanes);
  }
  if (std::optional<NetworkIssue> issue = problem.check())
    return fail(issue->message);
  std::string why;
  std::optional<FifoDepthSolution> solution = solveFifoDepths(problem, why);
  if (!solution)
    return fail("expected tasks that end with deep enough fifos but got a "
                "deadlock of " +
                what + " that no depth resolves: " + why);
  // A solver does not judge itself.
  if (std::optional<std::string> fault = problem.verify(*solution))
    return fail("internal error: the depths found are wrong: " + *fault);
  for (size_t i = 0; i < network.fifos.size(); ++i)
    deepen(i, solution->depths[i], what + ": " + solution->reasons[i]);
  return true;
}

/// It must end in both orders at each base point of its certificate; the depths
/// for program order were found at a few values.
bool NetworkSizer::deepenForBasePoints() {
  std::string ignored;
  const std::optional<CertificateWitness> witness =
      findWitness(network, ignored);
  if (!witness || witness->basePoints.size() == 1)
    return true;
  for (const ParameterValues &values : witness->basePoints) {
    std::string at;
    for (const auto &[name, value] : values)
      at +=
          (at.empty() ? " with " : ", ") + name + " = " + std::to_string(value);
    for (bool isPipelined : {false, true}) {
      ProcessNetwork order = isPipelined ? pipelinedOrder(network, values)
                                         : programOrder(network, values);
      if (std::optional<NetworkIssue> issue = order.connect())
        return fail(issue->message);
      std::vector<int64_t> depths;
      for (const TimedFifo &fifo : network.fifos)
        depths.push_back(fifo.depth);
      TokenSimulator simulator(order);
      simulator.reset(depths);
      if (!simulator.run() &&
          !deepenFor(std::move(order),
                     (isPipelined ? "stalling pipelines" : "program order") +
                         at))
        return false;
    }
  }
  return true;
}

bool NetworkSizer::deepenForTime(const ParameterValues &values) {
  const auto start = std::chrono::steady_clock::now();
  FifoSizingProblem problem = sizingProblemOf(
      network, strategy == FifoStrategy::Min ? FifoStrategy::Normal : strategy,
      values);
  auto isLoad = [&](size_t fifo) {
    return network.processes[network.fifos[fifo].writer].kind == "dma_in";
  };
  std::vector<std::optional<int64_t>> mostAhead(problem.edges.size());
  for (size_t i = 0; i < network.fifos.size(); ++i)
    if (isLoad(i))
      mostAhead[i] = std::max(network.fifos[i].depth, kMostLoadDepth);
  if (std::optional<std::string> fault = problem.check())
    return fail("internal error: no linear program: " + *fault);
  problem = paceTasks(problem, mostAhead);
  const FifoSizingSolution solution = solveFifoSizing(problem);
  if (std::optional<std::string> fault = problem.verify(solution))
    return fail("internal error: the depths found are wrong: " + *fault);
  const std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  result.lpSeconds = result.lpSeconds.value_or(0) + elapsed.count();
  result.method = solution.method;
  for (size_t i = 0; i < network.fifos.size(); ++i) {
    if (network.fifos[i].isControl)
      continue;
    int64_t depth = solution.depths[i];
    if (isLoad(i))
      depth = std::min(depth, kMostLoadDepth);
    // A place for every token is for those that the simulator shows to be slow
    // with one less.
    if (depth > 2)
      depth =
          std::min(depth, std::max<int64_t>(problem.edges[i].tokens - 1, 2));
    deepen(i, depth, problem.explain(i, solution));
  }
  return true;
}

/// Over several invocations, or one, whichever is affordable; at all points, or
/// without those that take most, when one invocation of them is too much.
std::optional<TimedSizing> NetworkSizer::sizeByTime() {
  TimedSizingOptions options;
  options.points = timePoints;
  options.least = least;
  options.mostSimulations = kMostSimulations;
  if (strategy == FifoStrategy::Min &&
      simulationWork(network, network.maxima()) <= kMostWorkToMinimize) {
    for (size_t i = 0; i < least.size(); ++i)
      network.fifos[i].depth = least[i];
    return smallestDepths(network, options, error);
  }
  options.mostSteps = kMostSteps;
  // The linear model of Conservative slows everybody down; what is left to show
  // is that it ends.
  if (strategy == FifoStrategy::Conservative)
    options.tolerance = std::nullopt;
  const int64_t share = options.firstShare;
  for (;;) {
    // Several invocations take several times as long; it is worse when FIFOs
    // cannot grow often enough.
    options.invocations = TimedSizingOptions().invocations;
    options.firstShare = kShareOfInvocations;
    std::optional<TimedSizing> sizing = growDepths(network, options, error);
    if (sizing && sizing->isTooLarge) {
      options.invocations = 1;
      options.firstShare = share;
      sizing = growDepths(network, options, error);
    }
    if (!sizing || !sizing->isTooLarge || options.points.size() == 1)
      return sizing;
    options.points.pop_back();
  }
}

bool NetworkSizer::simulate() {
  std::optional<TimedSizing> sizing = sizeByTime();
  if (!sizing)
    return fail("expected fifo depths with which the design ends but got a " +
                error);
  if (sizing->isTooLarge)
    return true;
  for (size_t i = 0; i < network.fifos.size(); ++i) {
    int64_t &depth = network.fifos[i].depth;
    if (!sizing->reasons[i].empty())
      result.reasons[i] = sizing->reasons[i];
    else if (sizing->depths[i] < depth)
      result.reasons[i] = "no more than " + std::to_string(sizing->depths[i]) +
                          " are of use (simulated); " + result.reasons[i];
    depth = sizing->depths[i];
  }
  result.points = std::move(sizing->points);
  result.simulations = sizing->simulations;
  return true;
}

std::optional<NetworkDepths> NetworkSizer::run() {
  // First of all, it must end.
  for (const ParameterValues &values : points)
    if (!deepenForPipelines(values))
      return std::nullopt;
  if (!deepenForBasePoints())
    return std::nullopt;
  for (const TimedFifo &fifo : network.fifos)
    least.push_back(fifo.depth);
  const std::vector<std::string> reasons = result.reasons;
  for (const ParameterValues &values : points)
    if (!deepenForTime(values))
      return std::nullopt;
  if (!simulate())
    return std::nullopt;
  for (size_t i = 0; i < network.fifos.size(); ++i) {
    result.depths.push_back(network.fifos[i].depth);
    if (result.depths[i] == least[i])
      result.reasons[i] = reasons[i];
  }
  return std::move(result);
}

std::optional<NetworkDepths>
streamtensor::sizeNetwork(const TimedNetwork &network, FifoStrategy strategy,
                          std::string &error) {
  return NetworkSizer(network, strategy, error).run();
}
