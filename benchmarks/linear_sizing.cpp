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
// never full. Prints a line per network and strategy, and the sums.
//
// usage: linear_sizing NETWORK.json...
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoSizingSolver.h"
#include "streamtensor/Allocation/NetworkSizing.h"
#include "streamtensor/Network/NetworkJson.h"
#include "streamtensor/Sim/TimedSimulator.h"

#include <algorithm>
#include <cstdio>

using namespace streamtensor;

namespace {

struct Sum {
  double bits = 0;
  int networks = 0, deadlocks = 0, slower = 0;
};

double bitsOf(const TimedNetwork &network, const std::vector<int64_t> &depths) {
  double bits = 0;
  for (size_t i = 0; i < network.fifos.size(); ++i)
    if (const TimedFifo &fifo = network.fifos[i]; !fifo.isControl)
      bits += static_cast<double>(depths[i]) * fifo.lanes * fifo.widthBits;
  return bits;
}

void report(const char *path, const TimedNetwork &network,
            FifoStrategy strategy, int64_t unbounded, Sum &sum) {
  const char *name = fifoStrategyName(strategy).data();
  const FifoSizingProblem problem = sizingProblemOf(network, strategy);
  if (std::optional<std::string> issue = problem.check()) {
    std::printf("%s: %s: %s\n", path, name, issue->c_str());
    return;
  }
  const FifoSizingSolution solution = solveFifoSizing(problem);
  if (std::optional<std::string> wrong = problem.verify(solution)) {
    std::printf("%s: %s: wrong: %s\n", path, name, wrong->c_str());
    return;
  }
  TimedOptions options;
  for (size_t i = 0; i < network.fifos.size(); ++i)
    options.depths.push_back(network.fifos[i].isControl ? network.fifos[i].depth
                                                        : solution.depths[i]);
  std::string error;
  const std::optional<TimedResult> result =
      simulateTimed(network, options, error);
  const bool ends = result && result->deadlock.empty();
  const double bits = bitsOf(network, options.depths);
  ++sum.networks;
  sum.bits += bits;
  sum.deadlocks += !ends;
  sum.slower += ends && result->cycles > 1.001 * unbounded;
  std::printf("%s: %s: %.0f bits, %s\n", path, name, bits,
              !ends ? "deadlock"
                    : (std::to_string(100.0 * (result->cycles - unbounded) /
                                      std::max<int64_t>(unbounded, 1)) +
                       " % slower simulated")
                          .c_str());
}

} // namespace

int main(int argc, char **argv) {
  Sum sums[2];
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
    for (FifoStrategy strategy :
         {FifoStrategy::Normal, FifoStrategy::Conservative})
      report(argv[i], *network, strategy, unbounded->cycles,
             sums[strategy == FifoStrategy::Conservative]);
  }
  for (unsigned i = 0; i < 2; ++i)
    std::printf("%s: %d networks, %.1f Mbit, %d deadlock, %d more than 0.1 %% "
                "slower simulated\n",
                i == 0 ? "normal" : "conservative", sums[i].networks,
                sums[i].bits / 1e6, sums[i].deadlocks, sums[i].slower);
  return 0;
}
