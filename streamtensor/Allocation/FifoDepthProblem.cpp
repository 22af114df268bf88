//===- FifoDepthProblem.cpp - How deep each FIFO must be ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of the input and of solutions, by simulation of the whole network.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoDepthProblem.h"

#include "streamtensor/Sim/TokenSimulator.h"

#include <algorithm>

using namespace streamtensor;

unsigned FifoDepthProblem::addFifo(std::string name, int64_t baseDepth,
                                   int64_t bits) {
  baseDepths.push_back(baseDepth);
  tokenBits.push_back(bits);
  return network.addFifo(std::move(name));
}

int64_t FifoDepthProblem::getLeastDepth(unsigned fifo) const {
  const AccessFifo &info = network.fifos[fifo];
  const int64_t initial = std::max<int64_t>(info.initialTokens, 1);
  return std::max(initial,
                  std::min(baseDepths[fifo], info.tokens + info.initialTokens));
}

std::optional<NetworkIssue> FifoDepthProblem::check() {
  const size_t numFifos = network.fifos.size();
  if (baseDepths.size() != numFifos || tokenBits.size() != numFifos)
    return NetworkIssue{"expected a base depth and the bits of a token for " +
                            std::to_string(numFifos) + " fifos but got " +
                            std::to_string(baseDepths.size()) + " and " +
                            std::to_string(tokenBits.size()),
                        {},
                        {}};
  for (size_t i = 0; i < numFifos; ++i)
    if (baseDepths[i] < 1 || tokenBits[i] < 1)
      return NetworkIssue{
          "expected a base depth and bits of at least 1 for fifo '" +
              network.fifos[i].name + "' but got " +
              std::to_string(baseDepths[i]) + " and " +
              std::to_string(tokenBits[i]),
          {},
          {}};
  return network.connect();
}

std::optional<std::string>
FifoDepthProblem::verify(const FifoDepthSolution &solution) const {
  const std::vector<AccessFifo> &fifos = network.fifos;
  if (solution.depths.size() != fifos.size())
    return "expected depths of " + std::to_string(fifos.size()) +
           " fifos but got " + std::to_string(solution.depths.size());
  for (size_t i = 0; i < fifos.size(); ++i) {
    const int64_t least = getLeastDepth(i);
    const int64_t most =
        std::max<int64_t>(fifos[i].tokens + fifos[i].initialTokens, 1);
    const int64_t depth = solution.depths[i];
    if (depth < least || depth > most)
      return "expected a depth of " + std::to_string(least) + " to " +
             std::to_string(most) + " for fifo '" + fifos[i].name +
             "' but got " + std::to_string(depth);
  }
  TokenSimulator simulator(network);
  simulator.reset(solution.depths);
  if (!simulator.run())
    return "expected the network to end but got a deadlock: " +
           simulator.findDeadlock().describe(network);
  std::vector<int64_t> depths = solution.depths;
  for (size_t i = 0; i < fifos.size(); ++i) {
    if (depths[i] == getLeastDepth(i))
      continue;
    --depths[i];
    simulator.reset(depths);
    const bool ends = simulator.run();
    ++depths[i];
    if (ends)
      return "expected the smallest depth for fifo '" + fifos[i].name +
             "' but got " + std::to_string(depths[i]) +
             ", and one less lets the network end as well";
  }
  return std::nullopt;
}
