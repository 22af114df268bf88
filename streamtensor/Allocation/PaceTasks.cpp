//===- PaceTasks.cpp - Tasks as slow as costs no time ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A linear program over differences, as that of start times, in which a task
// has a node for its start and one for its end.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/PaceTasks.h"

#include "streamtensor/Allocation/FifoSizingSolver.h"

#include <algorithm>

using namespace streamtensor;

namespace {

/// A moment in the time of a task that may take longer: so many cycles after
/// one of its two nodes.
struct Moment {
  unsigned node;
  int64_t offset;
};

class Pacer {
public:
  Pacer(const FifoSizingProblem &problem,
        const std::vector<std::optional<int64_t>> &mostAhead);

  FifoSizingProblem pace(SizingMethod method) const;

private:
  unsigned start(unsigned task) const { return task; }
  unsigned end(unsigned task) const { return numTasks + task; }
  unsigned hardware(unsigned task) const { return 2 * numTasks + task; }
  unsigned zero() const { return 3 * numTasks; }

  Moment moment(unsigned task, int64_t cycle) const;
  void addArc(Moment from, Moment to, int64_t cycles, int64_t price = 0,
              int64_t ahead = 0);
  void addTasks();
  void addEdge(const SizingEdge &edge);
  void addLimit(const SizingEdge &edge, int64_t most);
  void addLimits(const std::vector<std::optional<int64_t>> &mostAhead);
  void addEnd();

  const FifoSizingProblem &problem;
  unsigned numTasks;
  DelayProgram program;
};

} // namespace

Pacer::Pacer(const FifoSizingProblem &problem,
             const std::vector<std::optional<int64_t>> &mostAhead)
    : problem(problem), numTasks(problem.tasks.size()) {
  program.numNodes = zero() + 1;
  addTasks();
  for (const SizingEdge &edge : problem.edges)
    addEdge(edge);
  addLimits(mostAhead);
  addEnd();
}

/// The first half of a task keeps its distance from the start.
Moment Pacer::moment(unsigned task, int64_t cycle) const {
  const int64_t latency = problem.tasks[task].latency;
  if (cycle <= latency / 2)
    return {start(task), cycle};
  return {end(task), cycle - latency};
}

/// `to` is at least `cycles` after `from`; what is more than that and `ahead`
/// costs.
void Pacer::addArc(Moment from, Moment to, int64_t cycles, int64_t price,
                   int64_t ahead) {
  const int64_t least = from.offset + cycles - to.offset;
  program.arcs.push_back({from.node, to.node, least, price, least + ahead});
}

void Pacer::addTasks() {
  for (unsigned task = 0; task < numTasks; ++task) {
    addArc({zero(), 0}, {hardware(task), 0}, 0);
    addArc({hardware(task), 0}, {start(task), 0}, 0);
    addArc({start(task), 0}, {end(task), 0}, problem.tasks[task].latency);
  }
}

void Pacer::addEdge(const SizingEdge &edge) {
  if (edge.isPingPong) {
    addArc({end(edge.source), 0}, {hardware(edge.target), 0}, 1);
    return;
  }
  if (edge.initialTokens > 0)
    return;
  addArc({hardware(edge.source), 0}, {hardware(edge.target), 0}, 1);
  if (edge.tokens == 0)
    return;
  // What a cycle between write and read costs, and what the least depth lets
  // pass for nothing.
  const int64_t gaps = edge.tokens - 1;
  int64_t price = 0, ahead = 0;
  if (gaps > 0) {
    const int64_t span = std::max(edge.write.last - edge.write.first,
                                  edge.read.last - edge.read.first);
    const __int128 bits =
        __int128(FifoSizingProblem::kPriceUnit) * edge.tokenBits * gaps / span;
    price = std::max<int64_t>(1, static_cast<int64_t>(bits));
    const int64_t depth = std::min(edge.minDepth, edge.tokens);
    ahead = static_cast<int64_t>(__int128(depth - 1) * span / gaps);
  }
  auto addToken = [&](int64_t write, int64_t read) {
    addArc(moment(edge.source, write), moment(edge.target, read),
           1 + edge.crossing, price, ahead);
  };
  addToken(edge.write.first, edge.read.first);
  if (gaps > 0)
    addToken(edge.write.last, edge.read.last);
}

/// The reader is behind by so many tokens at most, of the writer at the
/// beginning and of the reader at the end.
void Pacer::addLimit(const SizingEdge &edge, int64_t most) {
  auto add = [&](PortProfile port, int64_t write, int64_t read) {
    const int64_t ahead = static_cast<int64_t>(
        __int128(most) * (port.last - port.first) / (edge.tokens - 1));
    addArc(moment(edge.target, read), moment(edge.source, write), -ahead);
  };
  add(edge.write, edge.write.first, edge.read.first);
  add(edge.read, edge.write.last, edge.read.last);
}

/// Those that leave time: a slow writer before a reader that takes all in the
/// first part of its time cannot be close behind it.
void Pacer::addLimits(const std::vector<std::optional<int64_t>> &mostAhead) {
  const size_t first = program.arcs.size();
  for (size_t i = 0; i < mostAhead.size(); ++i)
    if (const SizingEdge &edge = problem.edges[i];
        mostAhead[i] && *mostAhead[i] < edge.tokens && !edge.isPingPong &&
        edge.initialTokens == 0)
      addLimit(edge, *mostAhead[i]);
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned arc : program.findContradiction())
      if (arc >= first) {
        program.arcs[arc].least = std::nullopt;
        changed = true;
      }
  }
}

/// Nobody ends later than the last one must.
void Pacer::addEnd() {
  const std::vector<int64_t> earliest = earliestStarts(program);
  int64_t latest = 0;
  for (unsigned task = 0; task < numTasks; ++task)
    latest = std::max(latest, earliest[end(task)]);
  for (unsigned task = 0; task < numTasks; ++task)
    addArc({end(task), 0}, {zero(), 0}, -latest);
}

FifoSizingProblem Pacer::pace(SizingMethod method) const {
  const std::vector<int64_t> nodes = solveDelays(program, method).starts;
  FifoSizingProblem paced = problem;
  auto move = [&](unsigned task, int64_t &cycle) {
    const Moment at = moment(task, cycle);
    cycle = nodes[at.node] + at.offset - nodes[start(task)];
  };
  for (SizingEdge &edge : paced.edges) {
    if (edge.isPingPong || edge.tokens == 0)
      continue;
    move(edge.source, edge.write.first);
    move(edge.source, edge.write.last);
    move(edge.target, edge.read.first);
    move(edge.target, edge.read.last);
  }
  for (unsigned task = 0; task < numTasks; ++task)
    paced.tasks[task].latency = nodes[end(task)] - nodes[start(task)];
  return paced;
}

FifoSizingProblem
streamtensor::paceTasks(const FifoSizingProblem &problem,
                        const std::vector<std::optional<int64_t>> &mostAhead,
                        SizingMethod method) {
  if (problem.strategy != FifoStrategy::Normal)
    return problem;
  return Pacer(problem, mostAhead).pace(method);
}
