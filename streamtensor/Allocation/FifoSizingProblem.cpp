//===- FifoSizingProblem.cpp - Depths from profiles -----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The token model, the linear program that it gives, and checks of solutions.
// The names of docs/fifo-sizing.md are those used here.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoSizingProblem.h"

#include <algorithm>
#include <cstdio>

using namespace streamtensor;

namespace {

using Wide = __int128;

Wide floorDiv(Wide a, Wide b) { return a / b - (a % b < 0); }
Wide ceilDiv(Wide a, Wide b) { return a / b + (a % b > 0); }

int64_t clamp(Wide value, int64_t low, int64_t high) {
  return static_cast<int64_t>(std::clamp<Wide>(value, low, high));
}

int64_t spanOf(PortProfile port) { return port.last - port.first; }

/// Whether the target starts when the source does.
bool startsTogether(const SizingEdge &edge) {
  return !edge.isPingPong && edge.initialTokens == 0;
}

/// All that can ever be in a FIFO.
int64_t mostTokens(const SizingEdge &edge) {
  return std::max<int64_t>(edge.tokens + edge.initialTokens, 1);
}

int64_t leastDepth(const SizingEdge &edge) {
  return std::min(std::max({edge.minDepth, edge.initialTokens, int64_t(1)}),
                  mostTokens(edge));
}

} // namespace

std::string_view streamtensor::sizingMethodName(SizingMethod method) {
  switch (method) {
  case SizingMethod::Clp:
    return "clp";
  case SizingMethod::Circulation:
    return "circulation";
  case SizingMethod::Earliest:
    return "earliest";
  }
  return "";
}

unsigned FifoSizingProblem::addTask(std::string name, int64_t latency,
                                    int64_t pipelineDepth) {
  tasks.push_back({std::move(name), latency, pipelineDepth});
  return tasks.size() - 1;
}

unsigned FifoSizingProblem::addEdge(SizingEdge edge) {
  edges.push_back(std::move(edge));
  return edges.size() - 1;
}

//===----------------------------------------------------------------------===//
// Rates
//===----------------------------------------------------------------------===//

int64_t FifoSizingProblem::slowestWork() const {
  int64_t most = 0;
  for (const SizingTask &task : tasks)
    most = std::max(most, task.latency - task.pipelineDepth);
  return most;
}

int64_t FifoSizingProblem::slowedLatency(unsigned task) const {
  const SizingTask &info = tasks[task];
  if (strategy != FifoStrategy::Conservative ||
      info.latency == info.pipelineDepth)
    return info.latency;
  return info.pipelineDepth + slowestWork();
}

namespace {

/// Stretches the time of a task so that `work` cycles take `slowest`.
class SlowDown {
public:
  SlowDown(int64_t work, int64_t slowest) : work(work), slowest(slowest) {}
  int64_t operator()(int64_t cycle) const {
    return work == 0
               ? cycle
               : static_cast<int64_t>(ceilDiv(Wide(cycle) * slowest, work));
  }
  /// Reads belong to the beginning of an iteration.
  PortProfile reads(PortProfile port) const {
    return {read(port.first), read(port.last)};
  }
  /// Writes to its end, which stays as far from the beginning as it was.
  PortProfile writes(PortProfile port, int64_t depth) const {
    return {write(port.first, depth), write(port.last, depth)};
  }

private:
  int64_t read(int64_t cycle) const {
    return cycle <= work ? (*this)(cycle) : (*this)(work) + cycle - work;
  }
  int64_t write(int64_t cycle, int64_t depth) const {
    return cycle <= depth ? cycle : depth + (*this)(cycle - depth);
  }
  int64_t work, slowest;
};

} // namespace

/// From the first access on, all tokens in the time of the slowest task.
PortProfile FifoSizingProblem::equalized(const SizingEdge &edge,
                                         PortProfile port) const {
  if (edge.tokens <= 1)
    return port;
  const Wide span = ceilDiv(Wide(edge.tokens - 1) * slowestWork(), edge.tokens);
  port.last = port.first + clamp(span, edge.tokens - 1, INT64_MAX);
  return port;
}

PortProfile FifoSizingProblem::writeProfile(unsigned edge) const {
  const SizingTask &task = tasks[edges[edge].source];
  if (strategy != FifoStrategy::Conservative)
    return edges[edge].write;
  return equalized(edges[edge],
                   SlowDown(task.latency - task.pipelineDepth, slowestWork())
                       .writes(edges[edge].write, task.pipelineDepth));
}

PortProfile FifoSizingProblem::readProfile(unsigned edge) const {
  const SizingTask &task = tasks[edges[edge].target];
  if (strategy != FifoStrategy::Conservative)
    return edges[edge].read;
  return equalized(edges[edge],
                   SlowDown(task.latency - task.pipelineDepth, slowestWork())
                       .reads(edges[edge].read));
}

//===----------------------------------------------------------------------===//
// Token model
//===----------------------------------------------------------------------===//

std::optional<int64_t> FifoSizingProblem::leastDelay(unsigned index) const {
  const SizingEdge &edge = edges[index];
  if (edge.isPingPong)
    return slowedLatency(edge.source) + 1;
  if (edge.tokens == 0 || edge.initialTokens > 0)
    return std::nullopt;
  return writeProfile(index).first + 1 + edge.crossing -
         readProfile(index).first;
}

/// The largest gap between tokens written and places that are free again, by
/// the paper's formulas, without initial tokens.
int64_t FifoSizingProblem::tokensAhead(unsigned index, int64_t delay) const {
  const SizingEdge &edge = edges[index];
  const int64_t tokens = edge.tokens;
  const PortProfile write = writeProfile(index), read = readProfile(index);
  // The place of the first token can be used again, in the source's time.
  const int64_t freed = delay + read.first + 1 + edge.crossing;
  if (tokens == 0)
    return 0;
  if (tokens == 1)
    return write.first < freed;
  if (spanOf(write) < spanOf(read)) {
    const Wide left = Wide(write.last + 1 - freed) * (tokens - 1);
    return clamp(tokens - floorDiv(left, spanOf(read)), 0, tokens);
  }
  const Wide lead = Wide(freed - write.first) * (tokens - 1);
  return clamp(ceilDiv(lead, spanOf(write)), 0, tokens);
}

int64_t FifoSizingProblem::depthAt(unsigned index, int64_t delay) const {
  const SizingEdge &edge = edges[index];
  if (edge.isPingPong)
    return 0;
  return std::max(leastDepth(edge),
                  edge.initialTokens + tokensAhead(index, delay));
}

std::optional<int64_t> FifoSizingProblem::mostDelay(unsigned index,
                                                    int64_t depth) const {
  const SizingEdge &edge = edges[index];
  const int64_t tokens = edge.tokens, ahead = depth - edge.initialTokens;
  if (edge.isPingPong || ahead >= tokens)
    return std::nullopt;
  const PortProfile write = writeProfile(index), read = readProfile(index);
  Wide freed = write.first;
  if (tokens > 1 && spanOf(write) < spanOf(read))
    freed = write.last + 1 -
            ceilDiv(Wide(tokens - ahead) * spanOf(read), tokens - 1);
  else if (tokens > 1)
    freed = write.first + floorDiv(Wide(ahead) * spanOf(write), tokens - 1);
  return static_cast<int64_t>(freed - read.first - 1 - edge.crossing);
}

int64_t FifoSizingProblem::price(unsigned index) const {
  const SizingEdge &edge = edges[index];
  // A single token needs one place whatever the delay.
  if (edge.isPingPong || edge.tokens <= 1 ||
      leastDepth(edge) == mostTokens(edge))
    return 0;
  const Wide interval =
      std::max(spanOf(writeProfile(index)), spanOf(readProfile(index)));
  const Wide perSpan = Wide(kPriceUnit) * edge.tokenBits * (edge.tokens - 1);
  return clamp((2 * perSpan + interval) / (2 * interval), 1, INT64_MAX);
}

/// Without limits of time.
DelayProgram FifoSizingProblem::dependences() const {
  DelayProgram program;
  const unsigned numTasks = tasks.size();
  program.numNodes = 2 * numTasks + 1;
  for (unsigned i = 0; i < edges.size(); ++i) {
    DelayArc arc{edges[i].source, edges[i].target, leastDelay(i), price(i), 0};
    if (arc.price > 0)
      arc.free = *mostDelay(i, leastDepth(edges[i]));
    if (edges[i].isPingPong)
      arc.to += numTasks;
    program.arcs.push_back(arc);
  }
  for (unsigned i = 0; i < edges.size(); ++i)
    if (const SizingEdge &edge = edges[i]; edge.maxDepth)
      if (std::optional<int64_t> most = mostDelay(i, *edge.maxDepth))
        program.arcs.push_back({edge.target, edge.source, -*most, 0, 0});
  // Hardware starts that depend on the end of a task are variables, others are
  // numbers.
  std::vector<bool> isVariable(numTasks, false);
  for (const SizingEdge &edge : edges)
    if (edge.isPingPong)
      isVariable[edge.target] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (const SizingEdge &edge : edges)
      if (startsTogether(edge) && isVariable[edge.source] &&
          !isVariable[edge.target])
        changed = isVariable[edge.target] = true;
  }
  const unsigned zero = 2 * numTasks;
  const std::vector<int64_t> fixed = startsAfter({});
  for (unsigned i = 0; i < numTasks; ++i) {
    if (!isVariable[i]) {
      program.arcs.push_back({zero, i, fixed[i], 0, 0});
      continue;
    }
    program.arcs.push_back({zero, numTasks + i, fixed[i], 0, 0});
    program.arcs.push_back({numTasks + i, i, 0, 0, 0});
  }
  for (const SizingEdge &edge : edges)
    if (startsTogether(edge) && isVariable[edge.source])
      program.arcs.push_back(
          {numTasks + edge.source, numTasks + edge.target, 1, 0, 0});
  return program;
}

std::vector<int64_t>
FifoSizingProblem::hardwareStarts(const std::vector<int64_t> &starts) const {
  return startsAfter(starts);
}

/// Without start times arrays do not count.
std::vector<int64_t>
FifoSizingProblem::startsAfter(const std::vector<int64_t> &starts) const {
  // Edges that matter form no cycle, so this ends.
  std::vector<int64_t> result(tasks.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const SizingEdge &edge : edges) {
      int64_t start = 0;
      if (edge.isPingPong && !starts.empty())
        start = starts[edge.source] + slowedLatency(edge.source) + 1;
      else if (startsTogether(edge))
        start = result[edge.source] + 1;
      if (start > result[edge.target]) {
        result[edge.target] = start;
        changed = true;
      }
    }
  }
  return result;
}

std::vector<int64_t>
FifoSizingProblem::allNodes(const std::vector<int64_t> &starts) const {
  std::vector<int64_t> nodes = starts;
  for (int64_t start : hardwareStarts(starts))
    nodes.push_back(start);
  nodes.push_back(0);
  return nodes;
}

int64_t FifoSizingProblem::latestEnd() const {
  const std::vector<int64_t> starts = earliestStarts(dependences());
  int64_t end = 0;
  for (unsigned i = 0; i < tasks.size(); ++i)
    end = std::max(end, starts[i] + slowedLatency(i));
  return end;
}

DelayProgram FifoSizingProblem::delayProgram() const {
  DelayProgram program = dependences();
  const int64_t end = latestEnd();
  const unsigned zero = 2 * tasks.size();
  for (unsigned i = 0; i < tasks.size(); ++i)
    program.arcs.push_back({i, zero, slowedLatency(i) - end, 0, 0});
  return program;
}

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

namespace {

/// No execution is as long, and sums of products still fit.
constexpr int64_t kMostCycles = int64_t(1) << 40;
constexpr int64_t kMostBits = int64_t(1) << 20;

std::optional<std::string> expectRange(const std::string &what, int64_t value,
                                       int64_t low, int64_t high) {
  if (value >= low && value <= high)
    return std::nullopt;
  return "expected " + what + " of " + std::to_string(low) + " to " +
         std::to_string(high) + " but got " + std::to_string(value);
}

} // namespace

std::optional<std::string> FifoSizingProblem::checkTasks() const {
  for (const SizingTask &task : tasks) {
    const std::string of = " of task '" + task.name + "'";
    if (auto error =
            expectRange("a latency" + of, task.latency, 0, kMostCycles))
      return error;
    if (auto error = expectRange("a pipeline depth" + of, task.pipelineDepth, 0,
                                 task.latency))
      return error;
  }
  return std::nullopt;
}

std::optional<std::string>
FifoSizingProblem::checkEdge(const SizingEdge &edge) const {
  const std::string of = " of fifo '" + edge.name + "'";
  if (edge.source >= tasks.size() || edge.target >= tasks.size())
    return "expected ends" + of + " among " + std::to_string(tasks.size()) +
           " tasks but got " + std::to_string(edge.source) + " and " +
           std::to_string(edge.target);
  if (edge.isPingPong)
    return std::nullopt;
  struct Range {
    const char *what;
    int64_t value, low, high;
  };
  for (const Range &range :
       {Range{"tokens", edge.tokens, 0, kMostCycles},
        Range{"initial tokens", edge.initialTokens, 0, kMostCycles},
        Range{"bits of a token", edge.tokenBits, 1, kMostBits},
        Range{"a least depth", edge.minDepth, 1, kMostCycles},
        Range{"register stages", edge.crossing, 0, kMostBits}})
    if (auto error =
            expectRange(range.what + of, range.value, range.low, range.high))
      return error;
  if (edge.maxDepth && *edge.maxDepth < leastDepth(edge))
    return "expected a greatest depth" + of + " of at least " +
           std::to_string(leastDepth(edge)) + ", its least one, but got " +
           std::to_string(*edge.maxDepth);
  if (edge.tokens == 0)
    return std::nullopt;
  auto checkPort = [&](const PortProfile &port, unsigned task,
                       const char *verb) -> std::optional<std::string> {
    const std::string who = "task '" + tasks[task].name + "' to " + verb +
                            " fifo '" + edge.name + "' ";
    const std::string got = "from cycle " + std::to_string(port.first) +
                            " to " + std::to_string(port.last);
    if (port.first < 0 || port.last < port.first ||
        port.last > tasks[task].latency)
      return "expected " + who + "between cycle 0 and its latency of " +
             std::to_string(tasks[task].latency) + " but got " + got;
    if (spanOf(port) < edge.tokens - 1 ||
        (edge.tokens == 1 && spanOf(port) != 0))
      return "expected " + who + "at most once per cycle, " +
             std::to_string(edge.tokens) + " times, but got " + got;
    return std::nullopt;
  };
  if (auto error = checkPort(edge.write, edge.source, "write"))
    return error;
  return checkPort(edge.read, edge.target, "read");
}

std::optional<std::string> FifoSizingProblem::findCycle() const {
  // Depth first, over edges in their order, without recursion.
  enum : uint8_t { Unseen, OnPath, Done };
  std::vector<std::vector<unsigned>> leaving(tasks.size());
  for (unsigned i = 0; i < edges.size(); ++i)
    if (edges[i].isPingPong || edges[i].initialTokens == 0)
      leaving[edges[i].source].push_back(i);
  std::vector<uint8_t> state(tasks.size(), Unseen);
  std::vector<size_t> next(tasks.size(), 0);
  for (unsigned root = 0; root < tasks.size(); ++root) {
    if (state[root] != Unseen)
      continue;
    std::vector<unsigned> path{root}, taken;
    state[root] = OnPath;
    while (!path.empty()) {
      const unsigned task = path.back();
      if (next[task] == leaving[task].size()) {
        state[task] = Done;
        path.pop_back();
        if (!taken.empty())
          taken.pop_back();
        continue;
      }
      const unsigned edge = leaving[task][next[task]++];
      const unsigned target = edges[edge].target;
      if (state[target] == Done)
        continue;
      taken.push_back(edge);
      if (state[target] == Unseen) {
        state[target] = OnPath;
        path.push_back(target);
        continue;
      }
      const size_t begin =
          std::find(path.begin(), path.end(), target) - path.begin();
      std::string text;
      for (size_t i = begin; i < path.size(); ++i)
        text +=
            "'" + tasks[path[i]].name + "' -" + edges[taken[i]].name + "-> ";
      return "expected initial tokens on some fifo of each cycle but got none "
             "on " +
             text + "'" + tasks[target].name +
             "'; give one of them initial tokens, or break the cycle";
    }
  }
  return std::nullopt;
}

std::optional<std::string> FifoSizingProblem::findContradiction() const {
  const DelayProgram program = dependences();
  if (std::optional<std::string> error = program.check())
    return error;
  const std::vector<unsigned> circle = program.findContradiction();
  if (circle.empty())
    return delayProgram().check();
  std::string needs, limits;
  for (unsigned arc : circle) {
    if (arc < edges.size()) {
      needs += (needs.empty() ? "" : ", ") + ("'" + edges[arc].name + "'");
      continue;
    }
    unsigned index = edges.size();
    for (unsigned i = 0; i < edges.size(); ++i)
      if (edges[i].maxDepth && mostDelay(i, *edges[i].maxDepth) &&
          index++ == arc)
        limits += (limits.empty() ? "" : ", ") +
                  ("'" + edges[i].name + "' (at most " +
                   std::to_string(*edges[i].maxDepth) + ")");
  }
  return "expected greatest depths that leave time for the first tokens but "
         "got too small ones of fifos " +
         limits + (needs.empty() ? "" : " against fifos " + needs) +
         "; raise one of the greatest depths";
}

std::optional<std::string> FifoSizingProblem::check() const {
  if (strategy != FifoStrategy::Normal &&
      strategy != FifoStrategy::Conservative)
    return "expected strategy 'normal' or 'conservative' but got '" +
           std::string(fifoStrategyName(strategy)) + "'";
  if (auto error = checkTasks())
    return error;
  for (const SizingEdge &edge : edges)
    if (auto error = checkEdge(edge))
      return error;
  if (auto error = findCycle())
    return error;
  return findContradiction();
}

//===----------------------------------------------------------------------===//
// Solutions
//===----------------------------------------------------------------------===//

FifoSizingSolution
FifoSizingProblem::solutionAt(std::vector<int64_t> starts) const {
  FifoSizingSolution solution;
  for (unsigned i = 0; i < edges.size(); ++i) {
    const int64_t delay = starts[edges[i].target] - starts[edges[i].source];
    solution.depths.push_back(depthAt(i, delay));
    solution.bits +=
        static_cast<double>(solution.depths.back()) * edges[i].tokenBits;
  }
  solution.objective =
      static_cast<double>(dependences().objective(allNodes(starts))) /
      kPriceUnit;
  solution.starts = std::move(starts);
  return solution;
}

std::optional<std::string>
FifoSizingProblem::verify(const FifoSizingSolution &solution) const {
  if (solution.starts.size() != tasks.size() ||
      solution.depths.size() != edges.size())
    return "expected start times of " + std::to_string(tasks.size()) +
           " tasks and depths of " + std::to_string(edges.size()) +
           " fifos but got " + std::to_string(solution.starts.size()) +
           " and " + std::to_string(solution.depths.size());
  const std::vector<int64_t> &starts = solution.starts;
  for (unsigned i = 0; i < tasks.size(); ++i)
    if (starts[i] < 0 || starts[i] > DelayProgram::kMaxCycles)
      return "expected a start time of 0 to 2^50 for task '" + tasks[i].name +
             "' but got " + std::to_string(starts[i]);
  for (unsigned i = 0; i < edges.size(); ++i) {
    const SizingEdge &edge = edges[i];
    const std::string fifo = "fifo '" + edge.name + "'";
    const int64_t delay = starts[edge.target] - starts[edge.source];
    const std::optional<int64_t> least = leastDelay(i);
    if (least && delay < *least)
      return "expected '" + tasks[edge.target].name + "' to start " +
             std::to_string(*least) + " cycles or more after '" +
             tasks[edge.source].name + "' for the first token of " + fifo +
             " but got " + std::to_string(delay);
    const int64_t depth = depthAt(i, delay);
    if (solution.depths[i] != depth)
      return "expected a depth of " + std::to_string(depth) + " for " + fifo +
             " but got " + std::to_string(solution.depths[i]);
    if (edge.maxDepth && depth > *edge.maxDepth)
      return "expected a depth of at most " + std::to_string(*edge.maxDepth) +
             " for " + fifo + " but got " + std::to_string(depth);
  }
  const std::vector<int64_t> hardware = hardwareStarts(starts);
  for (unsigned i = 0; i < tasks.size(); ++i)
    if (starts[i] < hardware[i])
      return "expected a start time of at least " +
             std::to_string(hardware[i]) + " for task '" + tasks[i].name +
             "', when it starts in hardware, but got " +
             std::to_string(starts[i]);
  const int64_t latest = latestEnd();
  for (unsigned i = 0; i < tasks.size(); ++i)
    if (starts[i] + slowedLatency(i) > latest)
      return "expected task '" + tasks[i].name + "' to end by cycle " +
             std::to_string(latest) + ", when the last one can, but got " +
             std::to_string(starts[i] + slowedLatency(i));
  const FifoSizingSolution stated = solutionAt(starts);
  if (solution.bits != stated.bits || solution.objective != stated.objective)
    return "expected " + std::to_string(stated.bits) +
           " bits and an objective of " + std::to_string(stated.objective) +
           " but got " + std::to_string(solution.bits) + " and " +
           std::to_string(solution.objective);
  if (!solution.certificate)
    return std::nullopt;
  return delayProgram().verify(allNodes(starts), *solution.certificate);
}

std::string
FifoSizingProblem::explain(unsigned index,
                           const FifoSizingSolution &solution) const {
  const SizingEdge &edge = edges[index];
  const std::string &source = tasks[edge.source].name;
  const std::string &target = tasks[edge.target].name;
  if (edge.isPingPong)
    return "'" + target + "' starts when '" + source + "' has ended";
  const int64_t depth = solution.depths[index];
  if (edge.tokens == 0)
    return "no tokens pass";
  if (depth == leastDepth(edge))
    return depth == mostTokens(edge) ? "all its tokens" : "least depth";
  auto describe = [&](PortProfile port, int64_t start) {
    char text[96];
    std::snprintf(text, sizeof(text), "from cycle %lld on, one in %.4g cycles",
                  static_cast<long long>(start + port.first),
                  edge.tokens == 1
                      ? 1.0
                      : static_cast<double>(spanOf(port)) / (edge.tokens - 1));
    return std::string(text);
  };
  return "holds " + std::to_string(depth) + " of " +
         std::to_string(mostTokens(edge)) + " tokens: '" + source +
         "' writes " +
         describe(writeProfile(index), solution.starts[edge.source]) + ", '" +
         target + "' reads " +
         describe(readProfile(index), solution.starts[edge.target]);
}
