//===- DecisiveValues.cpp - Values that decide about branches -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks for parameters in conditions and in the loops that they name.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/DecisiveValues.h"

#include <algorithm>

using namespace streamtensor;

/// `around` are the trip counts of the loops around.
static void collect(const TimedSequence &sequence,
                    std::vector<const TripCount *> &around,
                    ParameterValues &found) {
  for (const TimedNode &node : sequence) {
    node.condition.collectParameters(found);
    for (unsigned level = 0; level < around.size(); ++level)
      if (node.condition.uses(level))
        around[level]->collectParameters(found);
    const size_t outer = around.size();
    for (const TripCount &trip : node.trips)
      around.push_back(&trip);
    collect(node.body, around, found);
    collect(node.otherwise, around, found);
    around.resize(outer);
  }
}

std::set<std::string>
streamtensor::decidingParameters(const TimedNetwork &network) {
  ParameterValues found;
  std::vector<const TripCount *> around;
  for (const TimedProcess &process : network.processes)
    collect(process.program, around, found);
  std::set<std::string> names;
  for (const auto &entry : found)
    names.insert(entry.first);
  return names;
}

static int64_t accessesAt(const TimedNetwork &network,
                          const ParameterValues &values) {
  int64_t accesses = 0;
  for (const AccessProcess &process : programOrder(network, values).processes)
    for (const AccessCount &count :
         countAccesses(process.program, network.fifos.size()))
      accesses += count.reads + count.writes;
  return accesses;
}

std::optional<std::vector<ParameterValues>>
streamtensor::decisiveValues(const TimedNetwork &network,
                             const std::set<std::string> &names,
                             std::string &error) {
  std::vector<ParameterValues> result{network.maxima()};
  std::string spelled;
  int64_t combinations = 1;
  for (const NetworkParameter &parameter : network.parameters) {
    if (!names.count(parameter.name))
      continue;
    const int64_t count = parameter.max - parameter.min + 1;
    spelled += (spelled.empty() ? "'" : ", '") + parameter.name + "' (" +
               std::to_string(parameter.min) + " to " +
               std::to_string(parameter.max) + ")";
    combinations = combinations > kMostDecisiveValues / count
                       ? kMostDecisiveValues + 1
                       : combinations * count;
  }
  if (combinations == 1)
    return result;
  const int64_t most =
      std::min(kMostDecisiveValues,
               kMostDecisiveWork /
                   std::max<int64_t>(1, accessesAt(network, result.front())));
  if (combinations > most) {
    error = "run-time sizes decide about more than how often loops run, so "
            "that each of their values has to be looked at; expected at most " +
            std::to_string(most) +
            " combinations in a design of this many accesses but got those "
            "of " +
            spelled + "; lower the largest sizes";
    return std::nullopt;
  }
  for (const NetworkParameter &parameter : network.parameters) {
    if (!names.count(parameter.name))
      continue;
    std::vector<ParameterValues> more;
    for (const ParameterValues &values : result)
      for (int64_t value = parameter.max; value >= parameter.min; --value) {
        more.push_back(values);
        more.back()[parameter.name] = value;
      }
    result = std::move(more);
  }
  return result;
}
