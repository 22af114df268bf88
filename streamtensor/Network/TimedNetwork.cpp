//===- TimedNetwork.cpp - Checks of timed networks ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is wrong with a network, its access programs, and short forms.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/TimedNetwork.h"

#include <algorithm>
#include <queue>

using namespace streamtensor;

using Kind = TimedNode::Kind;

/// Beyond this many accesses, iterations of nested loops or cycles (of all
/// processes together, an hour at 300 MHz) a network is a mistake, and
/// sums could overflow.
static constexpr int64_t kMostAccesses = int64_t(1) << 42;
static constexpr int64_t kMostCycles = int64_t(1) << 40;
static constexpr int64_t kMostBeats = int64_t(1) << 20;
/// Beyond these, reading a network takes longer than seconds.
static constexpr int64_t kMostDecisions = int64_t(1) << 24;
static constexpr int64_t kMostParts = int64_t(1) << 12;

TimedNode streamtensor::waitFor(int64_t cycles) {
  TimedNode node;
  node.cycles = cycles;
  return node;
}

static TimedNode accessNode(AccessKind kind, unsigned target, int64_t stage) {
  TimedNode node;
  node.kind = Kind::Access;
  node.access = kind;
  node.target = target;
  node.stage = stage;
  return node;
}

TimedNode streamtensor::timedRead(unsigned fifo, int64_t stage) {
  return accessNode(AccessKind::Read, fifo, stage);
}

TimedNode streamtensor::timedWrite(unsigned fifo, int64_t stage) {
  return accessNode(AccessKind::Write, fifo, stage);
}

TimedNode streamtensor::timedLoop(TripCount trip, TimedSequence body,
                                  int64_t overhead) {
  TimedNode node;
  node.kind = Kind::Loop;
  node.trips = {std::move(trip)};
  node.body = std::move(body);
  node.cycles = overhead;
  return node;
}

TimedNode streamtensor::timedPipeline(std::vector<TripCount> trips, int64_t ii,
                                      int64_t depth, TimedSequence body) {
  TimedNode node;
  node.kind = Kind::Pipeline;
  node.trips = std::move(trips);
  node.ii = ii;
  node.depth = depth;
  node.body = std::move(body);
  return node;
}

SplitPattern::SplitPattern(const AccessPattern &pattern) {
  for (const auto &level : pattern.levels) {
    isEmpty |= level.second == 0;
    if (level.second > 1)
      levels.push_back(level);
  }
  if (isEmpty)
    levels.clear();
  std::stable_sort(
      levels.begin(), levels.end(),
      [](const auto &a, const auto &b) { return a.first > b.first; });
  // From the innermost level on; where one begins within those inside of it,
  // the one with the fewest repetitions is written out.
  int64_t span = 0;
  for (size_t l = levels.size(); l-- > 0;) {
    while (l < levels.size() && levels[l].first <= span) {
      size_t fewest = l;
      for (size_t inner = l; inner < levels.size(); ++inner)
        if (levels[inner].second < levels[fewest].second)
          fewest = inner;
      parts.push_back(levels[fewest]);
      if (fewest != l)
        span -= levels[fewest].first * (levels[fewest].second - 1);
      levels.erase(levels.begin() + fewest);
      if (fewest == l)
        break;
    }
    if (parts.empty() || l < levels.size()) {
      // The span of all levels from here on.
      span = 0;
      for (size_t inner = l; inner < levels.size(); ++inner)
        span += levels[inner].first * (levels[inner].second - 1);
    }
  }
}

ParameterValues TimedNetwork::maxima() const { return complete({}); }

ParameterValues TimedNetwork::complete(const ParameterValues &values) const {
  ParameterValues result = values;
  for (const NetworkParameter &parameter : parameters)
    result.emplace(parameter.name, parameter.max);
  return result;
}

std::optional<std::string>
TimedNetwork::setMemoryEfficiency(double efficiency) {
  if (!(efficiency >= 0.01) || efficiency > 1)
    return "expected a memory efficiency from 0.01 to 1 but got " +
           std::to_string(efficiency);
  if (memory.channels.empty())
    return "expected memory channels, whose efficiency could be set, but there "
           "are none";
  if (memory.efficiency <= 0)
    return "the network does not say the efficiency at which its memory "
           "channels give their bytes_per_cycle; add \"efficiency\" to "
           "\"memory\"";
  for (TimedChannel &channel : memory.channels)
    channel.bytesPerCycle *= efficiency / memory.efficiency;
  memory.efficiency = efficiency;
  return std::nullopt;
}

TimedSequence streamtensor::bindConditions(const TimedSequence &sequence,
                                           const ParameterValues &values) {
  TimedSequence result = sequence;
  for (TimedNode &node : result) {
    node.condition = node.condition.bind(values);
    node.body = bindConditions(node.body, values);
    node.otherwise = bindConditions(node.otherwise, values);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Program order
//===----------------------------------------------------------------------===//

static AccessSequence accessesOf(const TimedSequence &sequence,
                                 const ParameterValues &values) {
  AccessSequence result;
  for (const TimedNode &node : sequence) {
    switch (node.kind) {
    case Kind::Wait:
      break;
    case Kind::Access:
      if (isFifo(node.access))
        result.push_back(node.access == AccessKind::Read ? read(node.target)
                                                         : write(node.target));
      break;
    case Kind::Branch:
      result.push_back(branch(node.condition.bind(values),
                              accessesOf(node.body, values),
                              accessesOf(node.otherwise, values)));
      break;
    case Kind::Loop:
    case Kind::Pipeline: {
      AccessSequence body = accessesOf(node.body, values);
      for (auto trip = node.trips.rbegin(); trip != node.trips.rend(); ++trip)
        body = {loop(std::max<int64_t>(0, trip->evaluate(values)),
                     std::move(body))};
      for (AccessNode &inner : body)
        result.push_back(std::move(inner));
      break;
    }
    }
  }
  return result;
}

/// The accesses of a process that is given by cycles, in their order.
static AccessSequence accessesOf(const std::vector<PortAccesses> &ports) {
  std::vector<std::pair<int64_t, AccessNode>> all;
  for (const PortAccesses &port : ports) {
    if (!isFifo(port.access))
      continue;
    for (const AccessPattern &pattern : port.at) {
      std::vector<int64_t> times{pattern.first};
      for (const auto &[step, count] : pattern.levels) {
        std::vector<int64_t> more;
        for (int64_t time : times)
          for (int64_t i = 0; i < count; ++i)
            more.push_back(time + i * step);
        times = std::move(more);
      }
      for (int64_t time : times)
        all.emplace_back(time, port.access == AccessKind::Read
                                   ? read(port.target)
                                   : write(port.target));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
    return a.first < b.first;
  });
  AccessSequence result;
  for (auto &[time, node] : all)
    result.push_back(std::move(node));
  return result;
}

/// Without accesses to control FIFOs.
static TimedSequence withoutControl(const TimedNetwork &network,
                                    const TimedSequence &sequence) {
  TimedSequence result;
  for (const TimedNode &node : sequence) {
    if (node.kind == Kind::Access && isFifo(node.access) &&
        network.fifos[node.target].isControl)
      continue;
    result.push_back(node);
    result.back().body = withoutControl(network, node.body);
    result.back().otherwise = withoutControl(network, node.otherwise);
  }
  return result;
}

static bool isLoop(const TimedNode &node) { return node.kind == Kind::Loop; }

/// The stages first, ..., last - 1 as one program: what stands before the loop
/// of the first one, a loop with the bodies of all, what stands behind the loop
/// of the last one.
static TimedSequence mergeStages(const TimedNetwork &network, size_t first,
                                 size_t last) {
  TimedSequence result;
  TimedNode segments;
  for (size_t index = first; index < last; ++index) {
    const TimedSequence program =
        withoutControl(network, network.processes[index].program);
    const auto loop = std::find_if(program.begin(), program.end(), isLoop);
    result.insert(result.end(), program.begin(), loop);
    if (loop == program.end())
      continue;
    if (segments.kind != Kind::Loop) {
      segments = *loop;
    } else {
      segments.body.insert(segments.body.end(), loop->body.begin(),
                           loop->body.end());
    }
    if (index + 1 == last) {
      result.push_back(segments);
      result.insert(result.end(), loop + 1, program.end());
    }
  }
  return result;
}

ProcessNetwork streamtensor::programOrder(const TimedNetwork &network,
                                          const ParameterValues &values) {
  const ParameterValues all = network.complete(values);
  ProcessNetwork result;
  for (unsigned fifo = 0; fifo < network.fifos.size(); ++fifo) {
    const unsigned index = result.addFifo(network.fifos[fifo].name);
    if (!network.fifos[fifo].isControl)
      result.fifos[index].initialTokens = network.initialTokensOf(fifo, all);
  }
  const std::vector<TimedProcess> &processes = network.processes;
  for (size_t index = 0; index < processes.size();) {
    const TimedProcess &process = processes[index];
    size_t next = index + 1;
    while (!process.stageOf.empty() && next < processes.size() &&
           processes[next].stageOf == process.stageOf)
      ++next;
    if (!process.hasProgram)
      result.addProcess(process.name, accessesOf(process.accesses));
    else if (process.stageOf.empty())
      result.addProcess(process.name, accessesOf(process.program, all));
    else
      result.addProcess(process.stageOf,
                        accessesOf(mergeStages(network, index, next), all));
    index = next;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {

/// Thrown and caught in this file only.
struct Fault {
  std::string message;
};

class Checker {
public:
  Checker(const TimedNetwork &network, const ParameterValues &values)
      : network(network), values(values) {}

  void run() {
    checkFifos();
    checkMemory();
    for (const TimedProcess &process : network.processes)
      addCycles(checkProcess(process));
    for (const PingPong &array : network.pingPongs)
      checkEnds("ping-pong array '" + array.name + "'", array.writer,
                array.reader);
    for (const InjectedStall &stall : network.stalls)
      if (stall.process >= network.processes.size() || stall.at < 0 ||
          stall.cycles < 0)
        throw Fault{"expected stalls of a process at a cycle from 0 on, of 0 "
                    "cycles or more"};
      else
        addCycles(stall.cycles);
    if (network.launchCycles < 0)
      throw Fault{"expected launch_cycles from 0 on but got " +
                  std::to_string(network.launchCycles)};
    addCycles(network.launchCycles);
    checkTokens();
    checkStarts();
  }

private:
  void checkEnds(const std::string &what, unsigned writer,
                 unsigned reader) const {
    if (writer >= network.processes.size() ||
        reader >= network.processes.size())
      throw Fault{what + ": expected a producer and a consumer among the " +
                  std::to_string(network.processes.size()) + " processes"};
  }
  void addCycles(int64_t cycles) {
    if (cycles > kMostCycles || (total += cycles) > kMostCycles)
      throw Fault{
          "expected at most 2^40 cycles in all processes and stalls together"};
  }
  void checkFifos() const;
  void checkMemory() const;
  /// Returns the cycles of `process` when it never waits.
  int64_t checkProcess(const TimedProcess &process);
  /// Adds the parts of a pattern that interleave to those of its process.
  void checkPattern(const AccessPattern &pattern, int64_t latency,
                    int64_t &parts) const;
  void checkAccess(AccessKind kind, unsigned target, int64_t beats,
                   int64_t contiguous) const;
  /// Returns the cycles of `sequence`, which stands inside of loops with these
  /// trip counts.
  int64_t checkSequence(const TimedSequence &sequence,
                        const std::vector<int64_t> &trips,
                        const TimedNode *pipeline) const;
  /// The product of the trip counts of a loop or pipeline.
  int64_t checkTrips(const TimedNode &node, std::vector<int64_t> &trips) const;
  void checkStage(const TimedProcess &process) const;
  void checkTokens() const;
  void checkStarts() const;

  const TimedNetwork &network;
  const ParameterValues &values;
  /// The process at hand.
  unsigned self = 0;
  std::string where;
  /// Cycles and decisions seen so far.
  int64_t total = 0, decisions = 0;
};

} // namespace

/// The product of two numbers from 0 on, or one beyond kMostCycles.
static int64_t multiply(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  return a > kMostCycles / b ? kMostCycles + 1 : a * b;
}

void Checker::checkFifos() const {
  double bits = 0;
  for (const TimedFifo &fifo : network.fifos) {
    const std::string where = "fifo '" + fifo.name + "'";
    checkEnds(where, fifo.writer, fifo.reader);
    if (fifo.depth < 1 || fifo.lanes < 1 || fifo.widthBits < 1)
      throw Fault{
          where + ": expected depth, lanes and width from 1 on but got " +
          std::to_string(fifo.depth) + ", " + std::to_string(fifo.lanes) +
          ", " + std::to_string(fifo.widthBits)};
    if (fifo.initialTokens < 0 || fifo.initialTokens > fifo.depth)
      throw Fault{where + ": expected from 0 to " + std::to_string(fifo.depth) +
                  " initial tokens, the depth, but got " +
                  std::to_string(fifo.initialTokens)};
    if (fifo.isCarried && fifo.initialTokens != 0)
      throw Fault{where + ": expected no number of initial tokens for what is "
                          "carried from one invocation to the next"};
    if (fifo.crossing < 0 || fifo.crossing > 64)
      throw Fault{where + ": expected crossing from 0 to 64 but got " +
                  std::to_string(fifo.crossing)};
    if (fifo.depth > kMostAccesses)
      throw Fault{where + ": expected a depth of at most " +
                  std::to_string(kMostAccesses)};
    bits += double(fifo.depth) * double(fifo.lanes) * double(fifo.widthBits);
    if (bits > 0x1p52)
      throw Fault{where + ": expected at most 2^52 bits in all fifos together"};
  }
}

void Checker::checkMemory() const {
  if (!(network.memory.peakBytesPerCycle >= 0) ||
      network.memory.peakBytesPerCycle > 1e12)
    throw Fault{"memory: expected peak_bytes_per_cycle from 0 on"};
  if (!(network.memory.efficiency >= 0) || network.memory.efficiency > 1)
    throw Fault{"memory: expected an efficiency above 0 and of at most 1"};
  for (const TimedChannel &channel : network.memory.channels)
    if (!(channel.bytesPerCycle > 1e-6) || channel.bytesPerCycle > 1e9 ||
        channel.latency < 0 || channel.latency > 1000000)
      throw Fault{"memory channel '" + channel.name +
                  "': expected bytes_per_cycle above 0 and a latency from 0 to "
                  "1000000 cycles"};
  for (const TimedPort &port : network.memory.ports) {
    if (port.channel >= network.memory.channels.size())
      throw Fault{"memory port '" + port.name +
                  "': expected one of the channels but got channel " +
                  std::to_string(port.channel)};
    if (port.beatBytes < 1 || port.burstBeats < 1 || port.outstanding < 1 ||
        port.beatBytes > 4096 || port.burstBeats > 65536 ||
        port.outstanding > 65536)
      throw Fault{"memory port '" + port.name +
                  "': expected beat_bytes from 1 to 4096, burst_beats and "
                  "outstanding from 1 to 65536"};
    if (port.burstBeats * port.outstanding > kMostBeats)
      throw Fault{"memory port '" + port.name +
                  "': expected at most 2^20 beats in its outstanding bursts"};
  }
}

void Checker::checkAccess(AccessKind kind, unsigned target, int64_t beats,
                          int64_t contiguous) const {
  const size_t targets =
      isFifo(kind) ? network.fifos.size() : network.memory.ports.size();
  if (target >= targets)
    throw Fault{where + ": expected the index of a " +
                (isFifo(kind) ? "fifo" : "memory port") + " below " +
                std::to_string(targets) + " but got " + std::to_string(target)};
  if (beats < 1 || beats > (isFifo(kind) ? 1 : 65536) || contiguous < 0 ||
      contiguous > kMostCycles)
    throw Fault{where + ": expected from 1 to 65536 beats, 1 of a fifo, and "
                        "contiguous ones from 0 on"};
  if (!isFifo(kind))
    return;
  const TimedFifo &fifo = network.fifos[target];
  const bool isRead = kind == AccessKind::Read;
  const unsigned declared = isRead ? fifo.reader : fifo.writer;
  if (self != declared)
    throw Fault{where + ": expected only '" + network.processes[declared].name +
                "' to " + (isRead ? "read" : "write") + " fifo '" + fifo.name +
                "', whose " + (isRead ? "consumer" : "producer") + " it is"};
}

int64_t Checker::checkTrips(const TimedNode &node,
                            std::vector<int64_t> &trips) const {
  int64_t product = 1;
  for (const TripCount &trip : node.trips) {
    ParameterValues used;
    trip.collectParameters(used);
    for (const auto &[name, unused] : used)
      if (!values.count(name))
        throw Fault{where +
                    ": expected trip counts of parameters of the "
                    "network but got '" +
                    trip.str() + "'"};
    const int64_t value = trip.evaluate(values);
    if (value < 0 || value > kMostCycles)
      throw Fault{where + ": expected trip counts from 0 on but got " +
                  std::to_string(value) + " for '" + trip.str() + "'"};
    trips.push_back(value);
    product = multiply(product, value);
  }
  int64_t nested = 1;
  for (int64_t trip : trips)
    nested = multiply(nested, trip);
  if (nested > kMostCycles)
    throw Fault{where + ": expected at most 2^40 iterations of nested loops"};
  return product;
}

static bool usesLevel(const TimedSequence &sequence, unsigned level) {
  return std::any_of(
      sequence.begin(), sequence.end(), [&](const TimedNode &node) {
        return (node.kind == Kind::Branch && node.condition.uses(level)) ||
               usesLevel(node.body, level) || usesLevel(node.otherwise, level);
      });
}

/// How many conditions are decided, in this sequence behind `level` loops, when
/// loops are written out on which some condition in them depends.
static int64_t countDecisions(const TimedSequence &sequence, unsigned level,
                              const ParameterValues &values) {
  int64_t decisions = 0;
  for (const TimedNode &node : sequence) {
    const unsigned inner = level + unsigned(node.trips.size());
    int64_t own = node.kind == Kind::Branch;
    own += countDecisions(node.body, inner, values) +
           countDecisions(node.otherwise, inner, values);
    for (unsigned l = level; l < inner && own > 0; ++l)
      if (usesLevel(node.body, l))
        own = multiply(own, node.trips[l - level].evaluate(values));
    decisions = std::min(decisions + own, kMostCycles);
  }
  return decisions;
}

int64_t Checker::checkSequence(const TimedSequence &sequence,
                               const std::vector<int64_t> &trips,
                               const TimedNode *pipeline) const {
  int64_t cycles = 0;
  for (const TimedNode &node : sequence) {
    switch (node.kind) {
    case Kind::Access:
      checkAccess(node.access, node.target, node.beats, node.contiguous);
      if (node.stage < 0 || (!pipeline && node.stage != 0) ||
          (pipeline && node.stage >= pipeline->depth))
        throw Fault{where +
                    ": expected a stage from 0 to below the depth of "
                    "its pipeline, or 0 outside of one, but got " +
                    std::to_string(node.stage)};
      break;
    case Kind::Wait:
      if (pipeline || node.cycles < 0 || node.cycles > kMostCycles)
        throw Fault{where + ": expected a wait of 0 or more cycles outside of "
                            "pipelines"};
      cycles += node.cycles;
      break;
    case Kind::Branch: {
      if (!node.condition.isEvaluable() ||
          node.condition.getNumLevels() > trips.size())
        throw Fault{where + ": expected a condition on the " +
                    std::to_string(trips.size()) +
                    " loops around it but got '" + node.condition.toString() +
                    "'"};
      for (const std::string &name : node.condition.getNames())
        if (!values.count(name))
          throw Fault{where +
                      ": expected conditions on parameters of the network but "
                      "got '" +
                      node.condition.toString() + "'"};
      cycles += std::max(checkSequence(node.body, trips, pipeline),
                         checkSequence(node.otherwise, trips, pipeline));
      break;
    }
    case Kind::Loop:
    case Kind::Pipeline: {
      const bool isPipeline = node.kind == Kind::Pipeline;
      if (pipeline || node.trips.empty() ||
          (!isPipeline && node.trips.size() != 1))
        throw Fault{where + ": expected pipelines with loops around accesses "
                            "and branches only"};
      std::vector<int64_t> inner = trips;
      const int64_t iterations = checkTrips(node, inner);
      if (isPipeline && (node.ii < 1 || node.depth < 1 ||
                         node.ii > kMostCycles || node.depth > kMostCycles))
        throw Fault{where +
                    ": expected an initiation interval and a depth "
                    "from 1 on but got " +
                    std::to_string(node.ii) + " and " +
                    std::to_string(node.depth)};
      if (!isPipeline && (node.cycles < 0 || node.cycles > kMostCycles))
        throw Fault{where + ": expected an overhead from 0 on"};
      const int64_t body =
          checkSequence(node.body, inner, isPipeline ? &node : nullptr);
      if (iterations > 0)
        cycles += isPipeline ? multiply(node.ii, iterations - 1) + node.depth
                             : multiply(iterations, body + node.cycles);
      break;
    }
    }
    if (cycles > kMostCycles)
      throw Fault{where + ": expected at most 2^40 cycles"};
  }
  return cycles;
}

void Checker::checkPattern(const AccessPattern &pattern, int64_t latency,
                           int64_t &parts) const {
  double last = double(pattern.first), accesses = 1;
  for (const auto &[step, count] : pattern.levels) {
    if (count < 0 || (count > 1 && step < 1))
      throw Fault{where +
                  ": expected counts from 0 on, and steps of at least one "
                  "cycle, but got " +
                  std::to_string(count) + " accesses " + std::to_string(step) +
                  " cycles apart"};
    accesses *= double(count);
    last += double(step) * double(std::max<int64_t>(0, count - 1));
  }
  if (pattern.first < 0 || (accesses > 0 && last > double(latency)))
    throw Fault{where + ": expected accesses from cycle 0 to its latency, " +
                std::to_string(latency) + ", but got one at " +
                std::to_string(pattern.first < 0
                                   ? pattern.first
                                   : int64_t(std::min(last, 0x1p60)))};
  if (accesses > double(kMostAccesses))
    throw Fault{where + ": expected at most 2^42 accesses to a port"};
  const SplitPattern split(pattern);
  int64_t product = split.parts.empty() ? 0 : 1;
  for (const auto &level : split.parts)
    product = multiply(product, level.second);
  if ((parts += product) > kMostParts)
    throw Fault{where + ": expected at most " + std::to_string(kMostParts) +
                " groups of accesses that interleave"};
}

int64_t Checker::checkProcess(const TimedProcess &process) {
  self = &process - network.processes.data();
  where = "process '" + process.name + "'";
  if (process.hasProgram) {
    const int64_t cycles = checkSequence(process.program, {}, nullptr);
    if ((decisions += countDecisions(process.program, 0, values)) >
        kMostDecisions)
      throw Fault{where + ": expected at most " +
                  std::to_string(kMostDecisions) +
                  " decisions of conditions until here"};
    if (!process.stageOf.empty())
      checkStage(process);
    return cycles;
  }
  if (!process.stageOf.empty())
    throw Fault{where + ": expected a stage to be given by a program"};
  if (process.latency < 0)
    throw Fault{where + ": expected a latency from 0 on but got " +
                std::to_string(process.latency)};
  int64_t parts = 0;
  for (const PortAccesses &port : process.accesses) {
    checkAccess(port.access, port.target, port.beats, port.contiguous);
    for (const AccessPattern &pattern : port.at)
      checkPattern(pattern, process.latency, parts);
  }
  return process.latency;
}

void Checker::checkStage(const TimedProcess &process) const {
  const auto loops = [](const TimedProcess &stage) {
    return std::count_if(stage.program.begin(), stage.program.end(), isLoop);
  };
  if (loops(process) != 1)
    throw Fault{where + ": expected one outermost loop in the stage of a task"};
  if (self == 0 || network.processes[self - 1].stageOf != process.stageOf)
    return;
  const TimedProcess &before = network.processes[self - 1];
  if (!before.hasProgram || loops(before) != 1 ||
      std::find_if(before.program.begin(), before.program.end(), isLoop)
              ->trips.front() !=
          std::find_if(process.program.begin(), process.program.end(), isLoop)
              ->trips.front())
    throw Fault{where +
                ": expected as many segments as in the stage before, '" +
                before.name + "'"};
}

/// Tokens written and read must agree.
void Checker::checkTokens() const {
  struct Ends {
    double writes = 0, reads = 0;
  };
  std::vector<Ends> ends(network.fifos.size());
  for (const TimedProcess &process : network.processes) {
    auto add = [&](AccessKind kind, unsigned fifo, double tokens) {
      (kind == AccessKind::Read ? ends[fifo].reads : ends[fifo].writes) +=
          tokens;
    };
    if (process.hasProgram) {
      const std::vector<AccessCount> counts = countAccesses(
          accessesOf(process.program, values), network.fifos.size());
      for (unsigned fifo = 0; fifo < counts.size(); ++fifo) {
        add(AccessKind::Read, fifo, double(counts[fifo].reads));
        add(AccessKind::Write, fifo, double(counts[fifo].writes));
      }
      continue;
    }
    for (const PortAccesses &port : process.accesses)
      for (const AccessPattern &pattern : port.at) {
        double tokens = 1;
        for (const auto &[step, count] : pattern.levels)
          tokens *= double(count);
        if (isFifo(port.access))
          add(port.access, port.target, tokens);
      }
  }
  for (unsigned fifo = 0; fifo < ends.size(); ++fifo) {
    const TimedFifo &self = network.fifos[fifo];
    if (std::max(ends[fifo].reads, ends[fifo].writes) > double(kMostAccesses))
      throw Fault{"fifo '" + self.name + "': expected at most 2^42 tokens"};
    if (ends[fifo].reads != ends[fifo].writes)
      throw Fault{"fifo '" + self.name +
                  "': expected as many tokens read as written but got " +
                  std::to_string(int64_t(ends[fifo].writes)) + " written by '" +
                  network.processes[self.writer].name + "' and " +
                  std::to_string(int64_t(ends[fifo].reads)) + " read by '" +
                  network.processes[self.reader].name + "'"};
    if (self.isCarried && ends[fifo].reads > double(self.depth))
      throw Fault{"fifo '" + self.name + "': expected a depth of " +
                  std::to_string(int64_t(ends[fifo].reads)) +
                  ", all tokens of an invocation, as they are carried to the "
                  "next one, but got " +
                  std::to_string(self.depth)};
    if (self.writer == self.reader && !self.isFeedback() &&
        ends[fifo].reads > 0)
      throw Fault{"fifo '" + self.name +
                  "': expected initial tokens in a fifo from process '" +
                  network.processes[self.writer].name + "' to itself"};
  }
}

/// Each circle needs a FIFO with initial tokens, or nothing on it ever starts.
void Checker::checkStarts() const {
  const size_t size = network.processes.size();
  std::vector<std::vector<unsigned>> after(size);
  std::vector<unsigned> waits(size);
  auto addEdge = [&](unsigned from, unsigned to) {
    after[from].push_back(to);
    ++waits[to];
  };
  for (const TimedFifo &fifo : network.fifos) {
    if (fifo.isFeedback())
      continue;
    // Without tokens, a FIFO from a process to itself is never used.
    if (fifo.writer != fifo.reader)
      addEdge(fifo.writer, fifo.reader);
  }
  for (const PingPong &array : network.pingPongs)
    addEdge(array.writer, array.reader);
  std::queue<unsigned> ready;
  for (unsigned process = 0; process < size; ++process)
    if (waits[process] == 0)
      ready.push(process);
  size_t started = 0;
  for (; !ready.empty(); ready.pop(), ++started)
    for (unsigned next : after[ready.front()])
      if (--waits[next] == 0)
        ready.push(next);
  if (started == size)
    return;
  // Whoever waits has somebody before it that waits, so walking back ends in a
  // circle.
  std::vector<int> before(size, -1);
  for (unsigned process = 0; process < size; ++process)
    if (waits[process] > 0)
      for (unsigned next : after[process])
        before[next] = int(process);
  unsigned at = 0;
  while (waits[at] == 0)
    ++at;
  std::vector<unsigned> seen(size, 0);
  while (!seen[at]++)
    at = unsigned(before[at]);
  std::string names = "'" + network.processes[at].name + "'";
  for (int next = before[at]; next != int(at); next = before[next])
    names = "'" + network.processes[next].name + "', " + names;
  throw Fault{"expected initial tokens in a fifo of each circle, but there are "
              "none on the circle of processes " +
              names};
}

int64_t TimedNetwork::initialTokensOf(unsigned fifo,
                                      const ParameterValues &values) const {
  if (!fifos[fifo].isCarried)
    return fifos[fifo].initialTokens;
  const TimedProcess &reader = processes[fifos[fifo].reader];
  return countAccesses(reader.hasProgram ? accessesOf(reader.program, values)
                                         : accessesOf(reader.accesses),
                       fifos.size())[fifo]
      .reads;
}

std::optional<std::string>
TimedNetwork::check(const ParameterValues &given) const {
  const ParameterValues values = complete(given);
  try {
    for (const NetworkParameter &parameter : parameters) {
      if (!isParameterName(parameter.name))
        throw Fault{"expected a name of letters, digits and '_' for a "
                    "parameter, none that means something else in conditions "
                    "(i0, i1, ..., and, or, xor, not, mod, floordiv, "
                    "ceildiv), but got '" +
                    parameter.name + "'"};
      if (parameter.min < 0 || parameter.min > parameter.max ||
          parameter.max > INT32_MAX)
        throw Fault{"parameter '" + parameter.name +
                    "': expected 0 <= min <= max below 2^31"};
      const int64_t value = values.at(parameter.name);
      if (value < parameter.min || value > parameter.max)
        throw Fault{"parameter '" + parameter.name + "': expected from " +
                    std::to_string(parameter.min) + " to " +
                    std::to_string(parameter.max) + " but got " +
                    std::to_string(value)};
    }
    ParameterValues known = maxima();
    if (!repeat.empty() && !known.count(repeat))
      throw Fault{"repeat: expected a parameter of the network but got '" +
                  repeat + "'"};
    for (const auto &value : given)
      if (!known.count(value.first))
        throw Fault{"expected a parameter of the network but got '" +
                    value.first + "'"};
    Checker(*this, values).run();
  } catch (const Fault &fault) {
    return fault.message;
  }
  return std::nullopt;
}
