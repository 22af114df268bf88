//===- TimedSimulator.cpp - Cycles of a network ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processes run until the time that they wait for is unknown; who makes it
// known wakes them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimedSimulator.h"

#include "streamtensor/Sim/TimedSimulation.h"

#include <algorithm>
#include <cassert>

using namespace streamtensor;

using Access = ProgramCursor::Access;
using Stream = ProgramCursor::Stream;

static constexpr int64_t kAlways = TimedFifoState::kAlways;
/// Fewer iterations than this are not worth looking for straight lines.
static constexpr int64_t kMinBatch = 4;

TimedSimulation::TimedSimulation(const TimedNetwork &network,
                                 const TimedOptions &options)
    : network(network), options(options) {
  const ParameterValues values = network.complete(options.values);
  const size_t size = network.processes.size();
  programs.reserve(size);
  for (const TimedProcess &process : network.processes)
    programs.emplace_back(process, values);
  for (const TimedProgram &program : programs)
    processes.emplace_back(program, options.mostEvents);
  for (size_t i = 0; i < network.fifos.size(); ++i) {
    const TimedFifo &fifo = network.fifos[i];
    int64_t depth = options.depths.empty() ? fifo.depth : options.depths[i];
    if (options.unbounded)
      depth = INT64_MAX / 4;
    fifos.emplace_back(depth, network.initialTokensOf(i, values),
                       fifo.crossing);
  }
  for (const TimedChannel &channel : network.memory.channels)
    channels.emplace_back(channel);
  createClients(values);
  for (const InjectedStall &stall : network.stalls)
    processes[stall.process].injected.push_back(stall);
  for (ProcessState &process : processes)
    std::stable_sort(process.injected.begin(), process.injected.end(),
                     [](const InjectedStall &a, const InjectedStall &b) {
                       return a.at < b.at;
                     });
  startsAfter.resize(size);
  wakesOnStart.resize(size);
  wakesOnEnd.resize(size);
  for (const TimedFifo &fifo : network.fifos)
    if (!fifo.isFeedback() && fifo.writer != fifo.reader) {
      startsAfter[fifo.reader].push_back({fifo.writer, StartEdge::Started});
      wakesOnStart[fifo.writer].push_back(fifo.reader);
    }
  for (const PingPong &array : network.pingPongs) {
    startsAfter[array.reader].push_back({array.writer, StartEdge::Ended});
    wakesOnEnd[array.writer].push_back(array.reader);
    startsAfter[array.writer].push_back(
        {array.reader, StartEdge::EndedTwoBefore});
    wakesOnEnd[array.reader].push_back(array.writer);
  }
  fifosOf.resize(size);
  for (unsigned i = 0; i < network.fifos.size(); ++i) {
    fifosOf[network.fifos[i].writer].push_back(i);
    if (network.fifos[i].reader != network.fifos[i].writer)
      fifosOf[network.fifos[i].reader].push_back(i);
  }
  uint32_t places = 0;
  for (unsigned i = 0; i < size; ++i) {
    processes[i].anchors = places;
    places += 2 * programs[i].numPlaces();
  }
  steady = SteadyStates<SimulationMark>(places);
  invocations = options.invocations * network.repetitions(values);
  endedOf.resize(invocations);
  lastEndOf.resize(invocations);
  result.processes.resize(size);
  result.fifos.resize(network.fifos.size());
}

/// Beats of each memory access of a process, by port and direction.
void TimedSimulation::createClients(const ParameterValues &values) {
  struct Use {
    int64_t beats = 0, contiguous = 0;
  };
  ports.resize(2 * network.memory.ports.size());
  for (unsigned index = 0; index < processes.size(); ++index) {
    std::vector<Use> uses(ports.size());
    const TimedProcess &process = network.processes[index];
    countMemory(
        process, values,
        [&](AccessKind kind, unsigned port, int64_t beats, int64_t contiguous) {
          Use &use = uses[2 * port + (kind == AccessKind::MemoryWrite)];
          use.beats += beats;
          use.contiguous = contiguous > 0 && use.contiguous > 0
                               ? std::min(use.contiguous, contiguous)
                               : std::max(use.contiguous, contiguous);
        });
    for (unsigned i = 0; i < uses.size(); ++i) {
      if (uses[i].beats == 0)
        continue;
      const TimedPort &port = network.memory.ports[i / 2];
      if (!ports[i])
        ports[i] = std::make_unique<PortState>(port, i / 2, i % 2 != 0,
                                               channels[port.channel]);
      processes[index].clients.push_back(
          &ports[i]->addClient(index, uses[i].beats, uses[i].contiguous));
    }
  }
}

MemoryClient *TimedSimulation::clientOf(const ProcessState &process,
                                        AccessKind kind, unsigned port) const {
  for (MemoryClient *client : process.clients)
    if (client->port.index == port &&
        client->port.isWrite == (kind == AccessKind::MemoryWrite))
      return client;
  assert(false && "expected a client of each memory access");
  return nullptr;
}

int64_t TimedSimulation::available(const ProcessState &process, AccessKind kind,
                                   unsigned target) const {
  if (kind == AccessKind::Read)
    return fifos[target].readable();
  if (kind == AccessKind::Write)
    return fifos[target].writable();
  const MemoryClient &client = *clientOf(process, kind, target);
  return client.port.available(client);
}

int64_t TimedSimulation::availableAt(const ProcessState &process,
                                     AccessKind kind, unsigned target) const {
  if (kind == AccessKind::Read)
    return fifos[target].readableAt();
  if (kind == AccessKind::Write)
    return fifos[target].writableAt();
  return clientOf(process, kind, target)->port.availableAt();
}

int64_t TimedSimulation::availableStep(const ProcessState &process,
                                       AccessKind kind, unsigned target) const {
  if (kind == AccessKind::Read)
    return fifos[target].readableStep();
  if (kind == AccessKind::Write)
    return fifos[target].writableStep();
  return clientOf(process, kind, target)->port.availableStep();
}

void TimedSimulation::enqueue(unsigned index) {
  ProcessState &process = processes[index];
  if (process.queued || process.done)
    return;
  process.queued = true;
  ready.push_back(index);
}

/// Makes `count` accesses at the real times first, first + step, ...; without
/// any waiting they were at `wanted`, ...
void TimedSimulation::pass(unsigned index, ProcessState &process,
                           AccessKind kind, unsigned target, int64_t first,
                           int64_t step, int64_t count, int64_t wanted) {
  result.events += count;
  if (isFifo(kind)) {
    TimedFifoState &fifo = fifos[target];
    const bool isRead = kind == AccessKind::Read;
    if (isRead)
      fifo.read(first, step, count);
    else
      fifo.write(first, step, count);
    const unsigned other =
        isRead ? network.fifos[target].writer : network.fifos[target].reader;
    const ProcessState &peer = processes[other];
    if (peer.blocked && peer.blockedOn.target == target &&
        peer.blockedOn.kind == (isRead ? AccessKind::Write : AccessKind::Read))
      enqueue(other);
    return;
  }
  PortState &port = clientOf(process, kind, target)->port;
  if (port.pass(first, step, count, wanted))
    if (const std::optional<unsigned> next = port.headProcess();
        next && *next != index)
      enqueue(*next);
  serveReady(port);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Lets happen what nobody else can be earlier than: on a port of one client
/// with a channel of its own.
void TimedSimulation::serveReady(PortState &port) {
  if (port.isAlone())
    while (port.nextEvent())
      port.serve();
}

/// Lets the earliest event of all ports happen. Returns false when there is
/// none.
bool TimedSimulation::serveMemory() {
  PortState *earliest = nullptr;
  int64_t time = INT64_MAX;
  for (const std::unique_ptr<PortState> &port : ports)
    if (port)
      if (const std::optional<int64_t> at = port->nextEvent();
          at && *at < time) {
        earliest = port.get();
        time = *at;
      }
  if (!earliest)
    return false;
  // Changes what no process has touched.
  steady.clear();
  enqueue(earliest->serve());
  return true;
}

//===----------------------------------------------------------------------===//
// Starts and ends
//===----------------------------------------------------------------------===//

bool TimedSimulation::tryStart(unsigned index) {
  ProcessState &process = processes[index];
  const int64_t m = process.invocation;
  int64_t start = 0;
  if (m == 0) {
    start = network.launchCycles;
  } else if (network.serialInvocations) {
    if (endedOf[m - 1] < processes.size())
      return false;
    start = lastEndOf[m - 1] + 1 + network.launchCycles;
  } else {
    start = process.ends.back() + 1;
  }
  for (const StartEdge &edge : startsAfter[index]) {
    const ProcessState &other = processes[edge.process];
    const int64_t wanted = edge.what == StartEdge::EndedTwoBefore ? m - 2 : m;
    if (wanted < 0)
      continue;
    const std::vector<int64_t> &times =
        edge.what == StartEdge::Started ? other.starts : other.ends;
    if (int64_t(times.size()) <= wanted)
      return false;
    start = std::max(start, times[wanted] + 1);
  }
  process.running = true;
  process.start = start;
  process.stalled = 0;
  process.hasGroup = process.atEnd = false;
  process.nextInjected = 0;
  process.cursor.restart();
  process.starts.push_back(start);
  for (MemoryClient *client : process.clients) {
    client->start(start);
    serveReady(client->port);
  }
  for (unsigned next : wakesOnStart[index])
    enqueue(next);
  return true;
}

void TimedSimulation::endInvocation(unsigned index, ProcessState &process) {
  const int64_t end = process.start + process.time + process.stalled;
  TimedProcessResult &total = result.processes[index];
  total.busy += process.time;
  if (total.start < 0)
    total.start = process.starts.front();
  total.end = end;
  process.lastEvent = std::max(process.lastEvent, end);
  if (options.onInvocation)
    options.onInvocation({index, process.invocation, process.start, end});
  process.ends.push_back(end);
  process.running = process.hasGroup = false;
  const int64_t m = process.invocation++;
  process.done = process.invocation == invocations;
  lastEndOf[m] = std::max(lastEndOf[m], end);
  if (++endedOf[m] == processes.size() && network.serialInvocations)
    for (unsigned other = 0; other < processes.size(); ++other)
      enqueue(other);
  for (unsigned next : wakesOnEnd[index])
    enqueue(next);
}

//===----------------------------------------------------------------------===//
// One group of accesses
//===----------------------------------------------------------------------===//

bool TimedSimulation::findDuplicate(const ProcessState &process,
                                    unsigned index) {
  const std::vector<Access> &group = process.group;
  for (size_t i = 1; i < group.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (group[i].kind == group[j].kind &&
          group[i].target == group[j].target) {
        error = "process '" + network.processes[index].name +
                "': expected one access in a cycle to one end of " +
                (isFifo(group[i].kind)
                     ? "fifo '" + network.fifos[group[i].target].name
                     : "memory port '" +
                           network.memory.ports[group[i].target].name) +
                "' but got two at its cycle " + std::to_string(process.time);
        return true;
      }
  return false;
}

std::optional<int64_t>
TimedSimulation::waitFor(unsigned index, ProcessState &process, int64_t &inputs,
                         int64_t &outputs, Access &last) {
  const int64_t now = process.start + process.time + process.stalled;
  inputs = outputs = now;
  // Beats that are not the last ones pass one by one as they come, even where
  // something else of the group lacks: or their times would be known too late
  // to compete with requests of others.
  for (Access &access : process.group)
    while (access.beats > 1) {
      int64_t count = std::min(access.beats - 1,
                               available(process, access.kind, access.target));
      if (count == 0)
        break;
      const int64_t at = availableAt(process, access.kind, access.target);
      const int64_t distance = std::max<int64_t>(
          1, availableStep(process, access.kind, access.target));
      // Those that are there already pass in a row.
      if (at < now && distance > 1)
        count = std::min(count, (now - at) / (distance - 1) + 1);
      pass(index, process, access.kind, access.target, std::max(now, at),
           at < now ? 1 : distance, count, now);
      access.beats -= count;
    }
  for (const Access &access : process.group) {
    if (access.beats > 1 ||
        available(process, access.kind, access.target) == 0) {
      process.blockedOn = access;
      return std::nullopt;
    }
    const int64_t at = availableAt(process, access.kind, access.target);
    int64_t &latest = isInput(access.kind) ? inputs : outputs;
    if (at > std::max(inputs, outputs))
      last = access;
    latest = std::max(latest, at);
  }
  if (process.atEnd)
    for (const MemoryClient *client : process.clients) {
      if (!client->isDrained()) {
        process.blockedOn = {AccessKind::MemoryWrite, client->port.index, 1, 0};
        return std::nullopt;
      }
      if (client->drainedAt() > std::max(inputs, outputs)) {
        outputs = client->drainedAt();
        last = {AccessKind::MemoryWrite, client->port.index, 1, 0};
      }
    }
  return std::max(inputs, outputs);
}

/// Adds cycles that \p process waited before the present, or in many parts
/// since the real time \p since.
void TimedSimulation::addStall(unsigned index, ProcessState &process,
                               int64_t cycles, bool isOutput,
                               const Access &access, int64_t since) {
  if (cycles <= 0)
    return;
  TimedProcessResult &total = result.processes[index];
  (isOutput ? total.waitOutput : total.waitInput) += cycles;
  if (access.kind == AccessKind::Write)
    result.fifos[access.target].waitFull += cycles;
  else if (access.kind == AccessKind::Read)
    result.fifos[access.target].waitEmpty += cycles;
  process.stalled += cycles;
  if (options.onStall) {
    const int64_t to = process.start + process.time + process.stalled;
    options.onStall({index, isOutput, !isFifo(access.kind), access.target,
                     since < 0 ? to - cycles : since, to, cycles});
  }
}

void TimedSimulation::executeGroup(unsigned index, ProcessState &process) {
  const int64_t now = process.start + process.time + process.stalled;
  process.lastEvent = std::max(process.lastEvent, now);
  for (const Access &access : process.group) {
    pass(index, process, access.kind, access.target, now, 1, 1, process.wanted);
  }
  process.hasGroup = false;
}

void TimedSimulation::giveUp(const ProcessState &process) {
  error = "expected at most " + std::to_string(options.mostEvents) +
          " events but got more by cycle " +
          std::to_string(process.start + process.time + process.stalled);
}

bool TimedSimulation::isNeighbour(unsigned index, unsigned other) const {
  return std::any_of(fifosOf[index].begin(), fifosOf[index].end(),
                     [&](uint32_t fifo) {
                       return network.fifos[fifo].writer == other ||
                              network.fifos[fifo].reader == other;
                     });
}

void TimedSimulation::runProcess(unsigned index) {
  ProcessState &process = processes[index];
  process.blocked = false;
  const size_t others = ready.size();
  bool hasPassed = false;
  while (!process.done && error.empty() && !result.isTruncated) {
    // Those that it has woken go on first, and neighbours take turns: in small
    // steps, what repeats is found early.
    if (ready.size() > others ||
        (hasPassed && !ready.empty() && isNeighbour(index, ready.back()))) {
      process.queued = true;
      ready.insert(ready.begin() + std::min(others, ready.size() - 1), index);
      return;
    }
    if (++result.steps + result.events > options.mostEvents)
      return giveUp(process);
    result.isTruncated = result.steps > options.mostSteps;
    if (!process.running && !tryStart(index))
      return;
    if (!process.hasGroup) {
      if (runBatch(index, process)) {
        hasPassed = true;
        continue;
      }
      process.atEnd = !process.cursor.next(process.group);
      if (process.cursor.isExhausted())
        return giveUp(process);
      process.time = process.cursor.time();
      process.hasGroup = true;
      if (findDuplicate(process, index))
        return;
    }
    for (; process.nextInjected < process.injected.size() &&
           process.injected[process.nextInjected].at <= process.time;
         ++process.nextInjected)
      process.stalled += process.injected[process.nextInjected].cycles;
    int64_t inputs = 0, outputs = 0;
    Access last = {};
    const std::optional<int64_t> at =
        waitFor(index, process, inputs, outputs, last);
    if (!at) {
      process.blocked = true;
      return;
    }
    const int64_t now = process.start + process.time + process.stalled;
    process.wanted = now;
    addStall(index, process, inputs - now, false, last);
    addStall(index, process, *at - std::max(inputs, now), true, last);
    hasPassed = true;
    if (process.atEnd)
      endInvocation(index, process);
    else
      executeGroup(index, process);
  }
}

//===----------------------------------------------------------------------===//
// Many iterations at once
//===----------------------------------------------------------------------===//

/// The largest m <= most such that alpha + j * beta <= limit + j * slope for
/// all 0 <= j < m.
static int64_t holdsFor(int64_t alpha, int64_t beta, int64_t limit,
                        int64_t slope, int64_t most) {
  if (alpha > limit)
    return 0;
  if (beta <= slope)
    return most;
  return std::min(most, (limit - alpha) / (beta - slope) + 1);
}

/// Iteration j of a region accesses stream c at own time phase_c + j * period.
/// It waits until alpha_c + j * beta_c, relative to the time without any stall.
/// The stall after an access is the largest of all until then, and the one from
/// before. Two cases give straight lines again: nothing is above the stall from
/// before; or one stream, which was the last to stall, stays above all others.
bool TimedSimulation::runBatch(unsigned index, ProcessState &process) {
  std::vector<Stream> &streams = process.cursor.streams();
  int64_t first = INT64_MAX, period = 0;
  for (const Stream &stream : streams)
    if (stream.count > 0 && stream.time < first) {
      first = stream.time;
      period = stream.step;
      if (stream.count < kMinBatch)
        period = 0;
    }
  if (first == INT64_MAX || period <= 0)
    return false;
  // Which streams take part, and how many iterations are known.
  int64_t most = INT64_MAX, behind = INT64_MAX, latest = first;
  lines.clear();
  for (Stream &stream : streams) {
    if (stream.count == 0)
      continue;
    if (stream.time - first >= period) {
      behind = std::min(behind, stream.time);
      continue;
    }
    if (stream.count < kMinBatch || stream.step != period)
      return false;
    const AccessKind kind = stream.of->kind;
    const unsigned target = stream.of->target;
    if (!isFifo(kind) && stream.of->beats != 1)
      return false;
    for (const Line &line : lines)
      if (line.stream->of->kind == kind && line.stream->of->target == target)
        return false;
    const int64_t known = available(process, kind, target);
    if (known < kMinBatch)
      return false;
    most = std::min({most, stream.count, known});
    latest = std::max(latest, stream.time);
    const int64_t at = availableAt(process, kind, target);
    lines.push_back(
        {&stream, at == kAlways ? 0 : at - process.start - stream.time,
         availableStep(process, kind, target) - period, at == kAlways, 0});
  }
  if (process.nextInjected < process.injected.size())
    behind = std::min(behind, process.injected[process.nextInjected].at);
  // All accesses of iteration m - 1 are before what does not take part.
  if (behind != INT64_MAX)
    most = behind <= latest
               ? 0
               : std::min(most, (behind - 1 - latest) / period + 1);
  if (most < kMinBatch)
    return false;
  // Streams of one cycle have one phase.
  for (Line &line : lines)
    for (const Line &other : lines)
      line.phase += other.stream->time < line.stream->time;

  const int64_t stalled = process.stalled;
  const Line *leading = nullptr;
  int64_t count = most;
  for (const Line &line : lines)
    if (!line.constant)
      count = holdsFor(line.alpha, line.beta, stalled, 0, count);
  if (count < kMinBatch) {
    // Does one stream stay above the others?
    count = 0;
    for (const Line &lead : lines) {
      if (lead.constant || lead.beta <= 0 || lead.alpha - lead.beta != stalled)
        continue;
      int64_t holds = most;
      for (const Line &line : lines) {
        if (&line == &lead || line.constant)
          continue;
        // Before the leading one's phase its stall is that of the iteration
        // before; so it is for an input that the leading output would hide.
        const bool before =
            line.phase < lead.phase ||
            (line.phase == lead.phase && isInput(line.stream->of->kind) &&
             !isInput(lead.stream->of->kind));
        holds = holdsFor(line.alpha, line.beta,
                         before ? lead.alpha - lead.beta : lead.alpha,
                         lead.beta, holds);
      }
      if (holds > count) {
        count = holds;
        leading = &lead;
      }
    }
    if (count < kMinBatch)
      return false;
  }
  const int64_t slope = leading ? leading->beta : 0;
  for (const Line &line : lines) {
    const bool after = leading && line.phase >= leading->phase;
    const int64_t at =
        process.start + line.stream->time + stalled + (after ? slope : 0);
    process.lastEvent =
        std::max(process.lastEvent, at + (count - 1) * (period + slope));
    pass(index, process, line.stream->of->kind, line.stream->of->target, at,
         period + slope, count, at - (after ? slope : 0));
  }
  process.time = latest + (count - 1) * period;
  process.cursor.setTime(process.time);
  if (leading)
    addStall(index, process, count * slope, !isInput(leading->stream->of->kind),
             {leading->stream->of->kind, leading->stream->of->target, 1, 0},
             process.start + first + stalled);
  for (const Line &line : lines)
    process.cursor.skip(*line.stream, count);
  return true;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Whom does a process wait for that has not started?
unsigned TimedSimulation::startsBehind(unsigned index) const {
  const ProcessState &process = processes[index];
  for (const StartEdge &edge : startsAfter[index]) {
    const ProcessState &other = processes[edge.process];
    const int64_t wanted =
        process.invocation - (edge.what == StartEdge::EndedTwoBefore ? 2 : 0);
    const std::vector<int64_t> &times =
        edge.what == StartEdge::Started ? other.starts : other.ends;
    if (int64_t(times.size()) <= wanted)
      return edge.process;
  }
  if (network.serialInvocations)
    for (unsigned other = 0; other < processes.size(); ++other)
      if (processes[other].invocation < process.invocation)
        return other;
  return index;
}

void TimedSimulation::findDeadlock(TimedResult &result) const {
  constexpr size_t kUnseen = SIZE_MAX;
  // Where the walk stood when it came to each process.
  std::vector<size_t> seen(processes.size(), kUnseen);
  unsigned at = 0;
  while (processes[at].done)
    ++at;
  std::vector<TimedBlock> walk;
  while (seen[at] == kUnseen) {
    const ProcessState &process = processes[at];
    if (process.done) {
      result.deadlockEnds = at;
      result.deadlock = std::move(walk);
      return;
    }
    seen[at] = walk.size();
    if (!process.running) {
      at = startsBehind(at);
      continue;
    }
    const Access &access = process.blockedOn;
    TimedBlock block;
    block.process = at;
    block.isWrite = !isInput(access.kind);
    block.isMemory = !isFifo(access.kind);
    block.fifo = access.target;
    if (block.isMemory) {
      const PortState &port = *ports[2 * access.target + block.isWrite];
      block.fill = port.fill();
      block.depth = port.capacity();
      // Its beats come behind those of the burst at the head.
      at = port.headProcess().value_or(at);
    } else {
      const TimedFifo &fifo = network.fifos[access.target];
      block.fill = fifos[access.target].fill();
      block.depth = fifos[access.target].capacity();
      at = block.isWrite ? fifo.reader : fifo.writer;
    }
    walk.push_back(block);
  }
  walk.erase(walk.begin(), walk.begin() + seen[at]);
  result.deadlock = std::move(walk);
}

std::optional<TimedResult> TimedSimulation::run(std::string &message) {
  for (unsigned index = processes.size(); index-- > 0;)
    enqueue(index);
  do {
    while (!ready.empty() && error.empty() && !result.isTruncated) {
      const unsigned index = ready.back();
      ready.pop_back();
      processes[index].queued = false;
      runProcess(index);
      // Traces want to see each wait.
      if (!options.onStall)
        lookForRepetition(index);
    }
  } while (error.empty() && !result.isTruncated && serveMemory());
  if (!error.empty()) {
    message = error;
    return std::nullopt;
  }
  if (result.isTruncated)
    return std::move(result);
  for (const ProcessState &process : processes)
    result.cycles = std::max(result.cycles, process.lastEvent - 1);
  for (size_t i = 0; i < fifos.size(); ++i) {
    result.fifos[i].tokens = fifos[i].numTokens();
    result.fifos[i].fill = fifos[i].fill();
    result.fifos[i].peak = fifos[i].finishPeak();
  }
  result.ports.resize(network.memory.ports.size());
  for (const std::unique_ptr<PortState> &port : ports)
    if (port) {
      TimedPortResult &total = result.ports[port->index];
      total.bytes +=
          port->beats() * network.memory.ports[port->index].beatBytes;
      total.bursts += port->bursts();
    }
  if (std::any_of(processes.begin(), processes.end(),
                  [](const ProcessState &process) { return !process.done; }))
    findDeadlock(result);
  return std::move(result);
}

std::optional<TimedResult>
streamtensor::simulateTimed(const TimedNetwork &network,
                            const TimedOptions &options, std::string &error) {
  return TimedSimulation(network, options).run(error);
}

int64_t streamtensor::simulationWork(const TimedNetwork &network,
                                     const ParameterValues &values) {
  int64_t work = 0;
  for (const AccessProcess &process : programOrder(network, values).processes)
    for (const AccessCount &count :
         countAccesses(process.program, network.fifos.size()))
      work += count.reads + count.writes;
  for (const TimedProcess &process : network.processes)
    countMemory(
        process, network.complete(values),
        [&](AccessKind, unsigned, int64_t beats, int64_t) { work += beats; });
  return work * network.repetitions(network.complete(values));
}

std::string streamtensor::describeDeadlock(const TimedNetwork &network,
                                           const TimedResult &result,
                                           size_t most) {
  const std::vector<TimedBlock> &cycle = result.deadlock;
  const size_t skipped = cycle.size() > most ? cycle.size() - most : 0;
  std::string text;
  for (size_t i = 0; i < cycle.size(); ++i) {
    text += text.empty() ? "" : ", ";
    // The last one closes the cycle.
    if (skipped > 0 && i == most - 1) {
      text += std::to_string(skipped) + " more, ";
      i += skipped;
    }
    const TimedBlock &block = cycle[i];
    text += "'" + network.processes[block.process].name + "' waits to ";
    if (block.isMemory)
      text += std::string(block.isWrite ? "write" : "read") +
              " behind others through memory port '" +
              network.memory.ports[block.fifo].name;
    else
      text += std::string(block.isWrite ? "write full" : "read empty") +
              " fifo '" + network.fifos[block.fifo].name;
    text += "' (" + std::to_string(block.fill) + "/" +
            std::to_string(block.depth) + ")";
  }
  if (result.deadlockEnds)
    text += ", but '" + network.processes[*result.deadlockEnds].name +
            "' has ended";
  return text;
}
