//===- NetworkSizing.cpp - Profiles of a timed network --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks programs with a clock.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/NetworkSizing.h"

#include <algorithm>
#include <map>

using namespace streamtensor;

namespace {

using Kind = TimedNode::Kind;
/// FIFO, and whether it is written.
using Port = std::pair<unsigned, bool>;

/// What happens in a part of a program, in cycles from its beginning.
struct Times {
  int64_t cycles = 0;
  std::map<Port, PortTimes> ports;

  void add(Port port, const PortTimes &times, int64_t offset) {
    if (times.tokens == 0)
      return;
    PortTimes &own = ports[port];
    const int64_t first = times.first + offset, last = times.last + offset;
    own.first = own.tokens == 0 ? first : std::min(own.first, first);
    own.last = own.tokens == 0 ? last : std::max(own.last, last);
    own.tokens += times.tokens;
  }
  void add(const Times &part, int64_t offset) {
    for (const auto &[port, times] : part.ports)
      add(port, times, offset);
  }
};

bool usesLevel(const TimedSequence &sequence, unsigned level) {
  return std::any_of(
      sequence.begin(), sequence.end(), [&](const TimedNode &node) {
        return (node.kind == Kind::Branch && node.condition.uses(level)) ||
               usesLevel(node.body, level) || usesLevel(node.otherwise, level);
      });
}

class Walker {
public:
  explicit Walker(const ParameterValues &values) : values(values) {}

  Times walk(const TimedSequence &sequence) {
    Times result;
    for (const TimedNode &node : sequence) {
      const Times part = walk(node);
      result.add(part, result.cycles);
      result.cycles += part.cycles;
    }
    return result;
  }

private:
  Times walk(const TimedNode &node) {
    Times result;
    switch (node.kind) {
    case Kind::Wait:
      result.cycles = node.cycles;
      break;
    case Kind::Access:
      if (isFifo(node.access))
        result.add({node.target, node.access == AccessKind::Write},
                   {node.stage, node.stage, 1}, 0);
      break;
    case Kind::Branch:
      return walk(node.condition.evaluate(inductions.data()) != 0
                      ? node.body
                      : node.otherwise);
    case Kind::Loop:
      return iterate(node, 0, std::nullopt);
    case Kind::Pipeline: {
      int64_t iterations = 1;
      for (const TripCount &trip : node.trips)
        iterations *= trip.evaluate(values);
      if (iterations == 0)
        break;
      result = iterate(node, 0, node.ii * iterations);
      result.cycles = node.ii * (iterations - 1) + node.depth;
      break;
    }
    }
    return result;
  }

  /// The loop of trip count `index`, and those inside of it. `cycles` are
  /// those of all its iterations where the iterations do not say it.
  Times iterate(const TimedNode &node, size_t index,
                std::optional<int64_t> cycles) {
    if (index == node.trips.size())
      return walk(node.body);
    const int64_t trip = node.trips[index].evaluate(values);
    Times result;
    if (trip <= 0)
      return result;
    const unsigned level = inductions.size();
    inductions.push_back(0);
    std::optional<int64_t> each;
    if (cycles)
      each = *cycles / trip;
    auto iteration = [&](int64_t i) {
      inductions[level] = i;
      Times part = iterate(node, index + 1, each);
      part.cycles = each ? *each : part.cycles + node.cycles;
      return part;
    };
    if (usesLevel(node.body, level)) {
      for (int64_t i = 0; i < trip; ++i) {
        const Times part = iteration(i);
        result.add(part, result.cycles);
        result.cycles += part.cycles;
      }
    } else {
      const Times part = iteration(0);
      for (const auto &[port, times] : part.ports)
        result.add(port,
                   {times.first, times.last + (trip - 1) * part.cycles,
                    times.tokens * trip},
                   0);
      result.cycles = trip * part.cycles;
    }
    inductions.pop_back();
    return result;
  }

  const ParameterValues &values;
  std::vector<int64_t> inductions;
};

int64_t deepestWrite(const TimedSequence &sequence) {
  int64_t stage = 0;
  for (const TimedNode &node : sequence) {
    if (node.kind == Kind::Access && node.access == AccessKind::Write)
      stage = std::max(stage, node.stage);
    stage = std::max(
        {stage, deepestWrite(node.body), deepestWrite(node.otherwise)});
  }
  return stage;
}

} // namespace

ProcessTimes streamtensor::timesOf(const TimedNetwork &network,
                                   const TimedProcess &process,
                                   const ParameterValues &values) {
  ProcessTimes result;
  result.reads.resize(network.fifos.size());
  result.writes.resize(network.fifos.size());
  Times times;
  if (process.hasProgram) {
    times = Walker(values).walk(bindConditions(process.program, values));
    result.latency = times.cycles;
    result.pipelineDepth =
        std::min(deepestWrite(process.program), times.cycles);
  } else {
    result.latency = process.latency;
    for (const PortAccesses &port : process.accesses)
      for (const AccessPattern &pattern : port.at) {
        PortTimes times1{pattern.first, pattern.first, 1};
        for (const auto &[step, count] : pattern.levels) {
          times1.last += step * (count - 1);
          times1.tokens *= count;
        }
        if (isFifo(port.access))
          times.add({port.target, port.access == AccessKind::Write}, times1, 0);
      }
  }
  for (const auto &[port, portTimes] : times.ports)
    (port.second ? result.writes : result.reads)[port.first] = portTimes;
  return result;
}

FifoSizingProblem streamtensor::sizingProblemOf(const TimedNetwork &network,
                                                FifoStrategy strategy,
                                                const ParameterValues &given) {
  const ParameterValues values = network.complete(given);
  FifoSizingProblem problem;
  problem.strategy = strategy;
  std::vector<ProcessTimes> times;
  for (const TimedProcess &process : network.processes) {
    times.push_back(timesOf(network, process, values));
    problem.addTask(process.name, times.back().latency,
                    times.back().pipelineDepth);
  }
  for (unsigned i = 0; i < network.fifos.size(); ++i) {
    const TimedFifo &fifo = network.fifos[i];
    const PortTimes &write = times[fifo.writer].writes[i];
    const PortTimes &read = times[fifo.reader].reads[i];
    SizingEdge edge;
    edge.name = fifo.name;
    edge.source = fifo.writer;
    edge.target = fifo.reader;
    edge.tokens = write.tokens;
    edge.tokenBits = fifo.lanes * fifo.widthBits;
    edge.write = {write.first, write.last};
    edge.read = {read.first, read.last};
    edge.minDepth = fifo.depth;
    edge.initialTokens = network.initialTokensOf(i, values);
    edge.crossing = fifo.crossing;
    problem.addEdge(std::move(edge));
  }
  for (const PingPong &array : network.pingPongs) {
    SizingEdge edge;
    edge.name = array.name;
    edge.source = array.writer;
    edge.target = array.reader;
    edge.isPingPong = true;
    problem.addEdge(std::move(edge));
  }
  return problem;
}
