//===- linear_sizing.cpp - What the linear model is worth -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads timed networks, finds depths by the linear model alone, each FIFO from
// one token on, and simulates one execution with them against FIFOs that are
// never full: each task at its own rate, as slow as costs no time, and all as
// slow as the slowest; and at last the whole of `normal`, with freedom of
// deadlock and simulation. Prints a line per network and model, and the sums.
//
// usage: linear_sizing NETWORK.json...
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoSizingSolver.h"
#include "streamtensor/Allocation/NetworkSizing.h"
#include "streamtensor/Allocation/PaceTasks.h"
#include "streamtensor/Allocation/SizeNetwork.h"
#include "streamtensor/Network/NetworkJson.h"
#include "streamtensor/Sim/TimedSimulator.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace streamtensor;

namespace {

enum Model { OwnRates, Paced, Conservative, Normal };
constexpr Model kModels[] = {OwnRates, Paced, Conservative, Normal};
constexpr const char *kModelNames[] = {"own rates", "paced", "conservative",
                                       "normal"};

struct Sum {
  double bits = 0;
  int networks = 0, deadlocks = 0, slower = 0;
  double worst = 0;
};

double bitsOf(const TimedNetwork &network, const std::vector<int64_t> &depths) {
  double bits = 0;
  for (size_t i = 0; i < network.fifos.size(); ++i)
    if (const TimedFifo &fifo = network.fifos[i]; !fifo.isControl)
      bits += static_cast<double>(depths[i]) * fifo.lanes * fifo.widthBits;
  return bits;
}

std::optional<std::vector<int64_t>>
depthsOf(const char *path, const TimedNetwork &network, Model model) {
  std::string error;
  if (model == Normal) {
    std::optional<NetworkDepths> sized =
        sizeNetwork(network, FifoStrategy::Normal, error);
    if (!sized) {
      std::printf("%s: %s\n", path, error.c_str());
      return std::nullopt;
    }
    return std::move(sized->depths);
  }
  FifoSizingProblem problem = sizingProblemOf(
      network, model == Conservative ? FifoStrategy::Conservative
                                     : FifoStrategy::Normal);
  if (std::optional<std::string> issue = problem.check()) {
    std::printf("%s: %s: %s\n", path, kModelNames[model], issue->c_str());
    return std::nullopt;
  }
  if (model == Paced)
    problem = paceTasks(problem);
  FifoSizingSolution solution = solveFifoSizing(problem);
  if (std::optional<std::string> wrong = problem.verify(solution)) {
    std::printf("%s: %s: wrong: %s\n", path, kModelNames[model],
                wrong->c_str());
    return std::nullopt;
  }
  for (size_t i = 0; i < network.fifos.size(); ++i)
    if (network.fifos[i].isControl)
      solution.depths[i] = network.fifos[i].depth;
  return std::move(solution.depths);
}

void report(const char *path, const TimedNetwork &network, Model model,
            int64_t unbounded, Sum &sum) {
  const char *name = kModelNames[model];
  std::optional<std::vector<int64_t>> depths = depthsOf(path, network, model);
  if (!depths)
    return;
  TimedOptions options;
  options.depths = std::move(*depths);
  std::string error;
  const std::optional<TimedResult> result =
      simulateTimed(network, options, error);
  const bool ends = result && result->deadlock.empty();
  const double bits = bitsOf(network, options.depths);
  ++sum.networks;
  sum.bits += bits;
  sum.deadlocks += !ends;
  sum.slower += ends && result->cycles > 1.001 * unbounded;
  const double slower = !ends ? 0
                              : 100.0 * (result->cycles - unbounded) /
                                    std::max<int64_t>(unbounded, 1);
  sum.worst = std::max(sum.worst, slower);
  std::printf("%s: %s: %.0f bits, %s\n", path, name, bits,
              !ends ? "deadlock"
                    : (std::to_string(slower) + " % slower simulated").c_str());
}

} // namespace

int main(int argc, char **argv) {
  Sum sums[std::size(kModels)];
  for (int i = 1; i < argc; ++i) {
    std::string error;
    std::optional<TimedNetwork> network = readNetworkFile(argv[i], error);
    if (!network) {
      std::fprintf(stderr, "error: %s\n", error.c_str());
      return 1;
    }
    for (TimedFifo &fifo : network->fifos)
      if (!fifo.isControl)
        fifo.depth = std::max<int64_t>(1, fifo.initialTokens);
    TimedOptions options;
    options.unbounded = true;
    const std::optional<TimedResult> unbounded =
        simulateTimed(*network, options, error);
    if (!unbounded || !unbounded->deadlock.empty()) {
      std::fprintf(stderr, "error: %s: %s\n", argv[i], error.c_str());
      return 1;
    }
    for (Model model : kModels)
      report(argv[i], *network, model, unbounded->cycles, sums[model]);
  }
  for (Model model : kModels)
    std::printf("%s: %d networks, %.1f Mbit, %d deadlock, %d more than 0.1 %% "
                "slower, the worst %.0f %%, simulated\n",
                kModelNames[model], sums[model].networks,
                sums[model].bits / 1e6, sums[model].deadlocks,
                sums[model].slower, sums[model].worst);
  return 0;
}
