//===- DelayProgram.cpp - Start times with a price on delays --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of programs, of start times and of certificates, and longest paths.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DelayProgram.h"

#include <algorithm>
#include <limits>

using namespace streamtensor;

std::optional<std::string> DelayProgram::check() const {
  __int128 cycles = 0, prices = 0;
  for (size_t i = 0; i < arcs.size(); ++i) {
    const DelayArc &arc = arcs[i];
    const std::string name = "arc " + std::to_string(i);
    if (arc.from >= numNodes || arc.to >= numNodes)
      return "expected ends below " + std::to_string(numNodes) + " for " +
             name + " but got " + std::to_string(arc.from) + " and " +
             std::to_string(arc.to);
    if (arc.price < 0)
      return "expected a price of at least 0 for " + name + " but got " +
             std::to_string(arc.price);
    auto absolute = [](int64_t value) {
      return value < 0 ? -__int128(value) : __int128(value);
    };
    cycles += absolute(arc.least.value_or(0)) + absolute(arc.free);
    prices += arc.price;
    if (cycles > kMaxCycles || prices > kMaxPrice)
      return "expected delays and prices of at most 2^50 in total but got "
             "more at " +
             name;
  }
  return std::nullopt;
}

namespace {

struct Step {
  unsigned from, to, arc;
  int64_t length;
};

/// Longest paths from anywhere, lengths at least 0; or the arcs of a circle of
/// positive length (Bellman and Ford).
struct LongestPaths {
  std::vector<int64_t> length;
  std::vector<unsigned> circle;

  LongestPaths(unsigned numNodes, const std::vector<Step> &steps)
      : length(numNodes, 0) {
    constexpr size_t kNone = std::numeric_limits<size_t>::max();
    std::vector<size_t> last(numNodes, kNone);
    size_t changed = kNone;
    for (unsigned round = 0; round <= numNodes; ++round) {
      changed = kNone;
      for (size_t i = 0; i < steps.size(); ++i) {
        const Step &step = steps[i];
        const int64_t reached = length[step.from] + step.length;
        if (reached <= length[step.to])
          continue;
        length[step.to] = reached;
        last[step.to] = i;
        changed = i;
      }
      if (changed == kNone)
        return;
    }
    // Still growing after as many rounds as nodes: walk back into the circle.
    unsigned node = steps[changed].to;
    for (unsigned i = 0; i < numNodes; ++i)
      node = steps[last[node]].from;
    const unsigned first = node;
    do {
      circle.push_back(steps[last[node]].arc);
      node = steps[last[node]].from;
    } while (node != first);
    std::reverse(circle.begin(), circle.end());
  }
};

std::vector<Step> leastSteps(const DelayProgram &program) {
  std::vector<Step> steps;
  for (unsigned i = 0; i < program.arcs.size(); ++i)
    if (const DelayArc &arc = program.arcs[i]; arc.least)
      steps.push_back({arc.from, arc.to, i, *arc.least});
  return steps;
}

} // namespace

std::vector<unsigned> DelayProgram::findContradiction() const {
  return LongestPaths(numNodes, leastSteps(*this)).circle;
}

std::vector<int64_t> streamtensor::earliestStarts(const DelayProgram &program) {
  return LongestPaths(program.numNodes, leastSteps(program)).length;
}

std::optional<std::vector<int64_t>>
streamtensor::earliestOptimalStarts(const DelayProgram &program,
                                    const DelayCertificate &certificate) {
  std::vector<Step> steps = leastSteps(program);
  for (unsigned i = 0; i < program.arcs.size(); ++i) {
    const DelayArc &arc = program.arcs[i];
    auto atMost = [&](int64_t delay) {
      steps.push_back({arc.to, arc.from, i, -delay});
    };
    if (arc.least && certificate.needs[i] > 0)
      atMost(*arc.least);
    if (certificate.paid[i] > 0)
      steps.push_back({arc.from, arc.to, i, arc.free});
    if (certificate.paid[i] < arc.price)
      atMost(arc.free);
  }
  LongestPaths paths(program.numNodes, steps);
  if (!paths.circle.empty())
    return std::nullopt;
  return std::move(paths.length);
}

__int128 DelayProgram::objective(const std::vector<int64_t> &starts) const {
  __int128 sum = 0;
  for (const DelayArc &arc : arcs) {
    const int64_t paid = starts[arc.to] - starts[arc.from] - arc.free;
    sum += __int128(arc.price) * std::max<int64_t>(paid, 0);
  }
  return sum;
}

std::optional<std::string>
DelayProgram::verify(const std::vector<int64_t> &starts) const {
  if (starts.size() != numNodes)
    return "expected " + std::to_string(numNodes) + " start times but got " +
           std::to_string(starts.size());
  for (size_t i = 0; i < starts.size(); ++i)
    if (starts[i] < 0 || starts[i] > kMaxCycles)
      return "expected a start time of 0 to 2^50 for node " +
             std::to_string(i) + " but got " + std::to_string(starts[i]);
  for (size_t i = 0; i < arcs.size(); ++i) {
    const DelayArc &arc = arcs[i];
    const int64_t delay = starts[arc.to] - starts[arc.from];
    if (arc.least && delay < *arc.least)
      return "expected a delay of at least " + std::to_string(*arc.least) +
             " on arc " + std::to_string(i) + " but got " +
             std::to_string(delay);
  }
  return std::nullopt;
}

std::optional<std::string>
DelayProgram::verify(const std::vector<int64_t> &starts,
                     const DelayCertificate &certificate) const {
  if (std::optional<std::string> error = verify(starts))
    return error;
  const std::vector<int64_t> &needs = certificate.needs;
  const std::vector<int64_t> &paid = certificate.paid;
  if (needs.size() != arcs.size() || paid.size() != arcs.size())
    return "expected a certificate for " + std::to_string(arcs.size()) +
           " arcs but got one for " + std::to_string(needs.size()) + " and " +
           std::to_string(paid.size());
  std::vector<__int128> balance(numNodes, 0);
  __int128 bound = 0;
  for (size_t i = 0; i < arcs.size(); ++i) {
    const DelayArc &arc = arcs[i];
    if (needs[i] < 0 || (!arc.least && needs[i] != 0))
      return "expected a need of " +
             std::string(arc.least ? "at least 0" : "0") + " on arc " +
             std::to_string(i) + " but got " + std::to_string(needs[i]);
    if (paid[i] < 0 || paid[i] > arc.price)
      return "expected 0 to " + std::to_string(arc.price) +
             " to be paid on arc " + std::to_string(i) + " but got " +
             std::to_string(paid[i]);
    balance[arc.to] += __int128(needs[i]) - paid[i];
    balance[arc.from] -= __int128(needs[i]) - paid[i];
    bound += __int128(needs[i]) * arc.least.value_or(0) -
             __int128(paid[i]) * arc.free;
  }
  for (size_t i = 0; i < balance.size(); ++i)
    if (balance[i] != 0)
      return "expected as much to enter node " + std::to_string(i) +
             " as leaves it";
  if (bound != objective(starts))
    return "expected a certificate of the objective's value but got one of a "
           "lower bound below it";
  return std::nullopt;
}
