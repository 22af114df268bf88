//===- TimeBreakdown.cpp - Where the time goes ----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The critical chain of a simulated run.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimeBreakdown.h"

#include <algorithm>

using namespace streamtensor;

const char *streamtensor::timeKindName(TimeKind kind) {
  switch (kind) {
  case TimeKind::Compute:
    return "compute";
  case TimeKind::Converter:
    return "converter";
  case TimeKind::Memory:
    return "memory";
  case TimeKind::Fifo:
    return "fifo";
  case TimeKind::Launch:
    return "launch";
  }
  return "";
}

static TimeKind kindOf(const TimedProcess &process) {
  if (process.kind == "dma_in" || process.kind == "dma_out")
    return TimeKind::Memory;
  return process.kind == "converter" ? TimeKind::Converter : TimeKind::Compute;
}

namespace {

/// Follows the chain of one run. Time only goes down, so each process keeps how
/// far back it has been looked at.
class CriticalChain {
public:
  CriticalChain(const TimedNetwork &network, const Timeline &timeline);

  /// From the last end to cycle 0; gives up after \p mostFull waits for room.
  void follow(const TimedResult &result, int64_t mostFull);

  /// Cycles by process; those of it that it waited for memory; by FIFO, for
  /// tokens and room to pass from one end to the other.
  std::vector<int64_t> work, memory, passing;
  int64_t launch = 0;
  /// Waits for room, and by FIFO the cycles of the chain behind them.
  int64_t numFull = 0;
  std::vector<int64_t> behindFull;

private:
  struct Position {
    size_t waits, invocations;
  };
  /// Where the chain is: at real time `time` of `process`.
  bool step();
  void passFifo(const WaitSpan &wait);
  bool passStart(const BusySpan &invocation);
  /// Adds the cycles from \p to back to the present.
  void spend(std::vector<int64_t> &on, int64_t to);
  int64_t timeOf(unsigned other, int64_t invocation, bool isEnd) const;

  const TimedNetwork &network;
  const std::vector<Timeline::Track> &tracks;
  std::vector<Position> positions;
  /// By process: FIFOs that delay its start, arrays it reads, arrays it writes.
  std::vector<std::vector<unsigned>> startsBehind, endsBehind, endsBefore;
  unsigned process = 0;
  int64_t time = 0;
  /// The FIFO whose lack of room led here.
  std::optional<unsigned> full;
};

} // namespace

CriticalChain::CriticalChain(const TimedNetwork &network,
                             const Timeline &timeline)
    : work(network.processes.size()), memory(work),
      passing(network.fifos.size()), behindFull(passing), network(network),
      tracks(timeline.tracks()), startsBehind(network.processes.size()),
      endsBehind(startsBehind), endsBefore(startsBehind) {
  for (const Timeline::Track &track : tracks)
    positions.push_back({track.waits.size(), track.invocations.size()});
  for (const TimedFifo &fifo : network.fifos)
    if (!fifo.isFeedback() && fifo.writer != fifo.reader)
      startsBehind[fifo.reader].push_back(fifo.writer);
  for (const PingPong &array : network.pingPongs) {
    endsBehind[array.reader].push_back(array.writer);
    endsBefore[array.writer].push_back(array.reader);
  }
}

void CriticalChain::spend(std::vector<int64_t> &on, int64_t to) {
  on[process] += time - to;
  if (full)
    behindFull[*full] += time - to;
  time = to;
}

int64_t CriticalChain::timeOf(unsigned other, int64_t invocation,
                              bool isEnd) const {
  if (invocation < 0 || invocation >= int64_t(tracks[other].invocations.size()))
    return -1;
  const BusySpan &span = tracks[other].invocations[invocation];
  return isEnd ? span.to : span.from;
}

/// On to the other end of a FIFO.
void CriticalChain::passFifo(const WaitSpan &wait) {
  const TimedFifo &fifo = network.fifos[wait.target];
  // A wait for both lacks is one for input, whatever came last.
  const bool isWrite =
      fifo.writer == fifo.reader ? wait.isWrite : fifo.writer == process;
  const int64_t to = std::max<int64_t>(0, time - 1 - fifo.crossing);
  passing[wait.target] += time - to;
  if (isWrite) {
    full = wait.target;
    ++numFull;
  } else {
    full.reset();
  }
  if (full)
    behindFull[*full] += time - to;
  time = to;
  process = isWrite ? fifo.reader : fifo.writer;
}

/// On to what the start of an invocation waited for. False at the begin.
bool CriticalChain::passStart(const BusySpan &invocation) {
  const int64_t m = invocation.invocation;
  int64_t latest = -1;
  unsigned cause = 0;
  auto take = [&](unsigned other, int64_t at) {
    if (at > latest) {
      latest = at;
      cause = other;
    }
  };
  if (m > 0 && network.serialInvocations) {
    for (unsigned other = 0; other < tracks.size(); ++other)
      take(other, timeOf(other, m - 1, true));
    latest += network.launchCycles;
  } else {
    take(process, timeOf(process, m - 1, true));
  }
  const int64_t afterLaunch = m > 0 && network.serialInvocations ? latest : -1;
  for (unsigned other : startsBehind[process])
    take(other, timeOf(other, m, false));
  for (unsigned other : endsBehind[process])
    take(other, timeOf(other, m, true));
  for (unsigned other : endsBefore[process])
    take(other, timeOf(other, m - 2, true));
  if (latest < 0 || (m == 0 && latest < network.launchCycles)) {
    // Nobody: the first start of all.
    launch += time;
    time = 0;
    return false;
  }
  if (latest == afterLaunch) {
    launch += network.launchCycles;
    time -= network.launchCycles;
    latest -= network.launchCycles;
  }
  full.reset();
  spend(work, std::max<int64_t>(0, std::min(latest, time - 1)));
  process = cause;
  return true;
}

bool CriticalChain::step() {
  const Timeline::Track &track = tracks[process];
  Position &position = positions[process];
  while (position.waits > 0 && track.waits[position.waits - 1].from >= time)
    --position.waits;
  while (position.invocations > 1 &&
         track.invocations[position.invocations - 1].from > time)
    --position.invocations;
  if (position.invocations == 0)
    return false;
  const BusySpan &invocation = track.invocations[position.invocations - 1];
  if (position.waits > 0 &&
      track.waits[position.waits - 1].from >= invocation.from) {
    const WaitSpan &wait = track.waits[position.waits - 1];
    if (wait.to < time)
      spend(work, wait.to);
    if (wait.isMemory)
      spend(memory, wait.from);
    else
      passFifo(wait);
    return time > 0;
  }
  if (invocation.from < time)
    spend(work, invocation.from);
  return passStart(invocation) && time > 0;
}

void CriticalChain::follow(const TimedResult &result, int64_t mostFull) {
  for (unsigned i = 0; i < result.processes.size(); ++i)
    if (result.processes[i].end > time) {
      time = result.processes[i].end;
      process = i;
    }
  while (numFull < mostFull && step()) {
  }
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

int64_t TimeBreakdown::of(TimeKind kind) const {
  int64_t cycles = 0;
  for (const TimeShare &share : shares)
    if (share.kind == kind)
      cycles += share.cycles;
  return cycles;
}

static void addShares(const TimedNetwork &network, const CriticalChain &chain,
                      std::vector<TimeShare> &shares) {
  auto add = [&](TimeKind kind, const std::string &by,
                 const std::string &source, int64_t cycles) {
    if (cycles > 0)
      shares.push_back({kind, by, source, cycles});
  };
  for (size_t i = 0; i < network.processes.size(); ++i) {
    const TimedProcess &process = network.processes[i];
    const TimeKind kind = kindOf(process);
    if (kind == TimeKind::Memory) {
      add(kind, process.name, process.source, chain.work[i] + chain.memory[i]);
    } else {
      add(kind, process.name, process.source, chain.work[i]);
      add(TimeKind::Memory, process.name, process.source, chain.memory[i]);
    }
  }
  for (size_t i = 0; i < network.fifos.size(); ++i)
    add(TimeKind::Fifo, network.fifos[i].name,
        network.processes[network.fifos[i].writer].source, chain.passing[i]);
  add(TimeKind::Launch, "host", "", chain.launch);
}

/// Adds to the share of \p fifo, or makes one.
static void addLoss(const TimedNetwork &network, unsigned fifo, int64_t cycles,
                    std::vector<TimeShare> &shares) {
  const std::string &name = network.fifos[fifo].name;
  for (TimeShare &share : shares)
    if (share.kind == TimeKind::Fifo && share.by == name) {
      share.cycles += cycles;
      return;
    }
  shares.push_back({TimeKind::Fifo, name,
                    network.processes[network.fifos[fifo].writer].source,
                    cycles});
}

static void findBottleneck(TimeBreakdown &breakdown) {
  TimeKind kind = TimeKind::Compute;
  if (double(breakdown.lostToFifos) >
      TimeBreakdown::kFifoBounds * double(breakdown.total))
    kind = TimeKind::Fifo;
  else
    for (TimeKind other : {TimeKind::Converter, TimeKind::Memory,
                           TimeKind::Fifo, TimeKind::Launch})
      if (breakdown.of(other) > breakdown.of(kind))
        kind = other;
  for (const TimeShare &share : breakdown.shares)
    if (share.kind == kind) {
      breakdown.bottleneck = share;
      return;
    }
}

std::optional<ExplainedRun>
streamtensor::simulateUnexplained(const TimedNetwork &network,
                                  const TimedOptions &options,
                                  std::string &error) {
  std::optional<TimedResult> result = simulateTimed(network, options, error);
  if (!result)
    return std::nullopt;
  return ExplainedRun{std::move(*result), Timeline(network), {}};
}

std::optional<ExplainedRun>
streamtensor::explainTime(const TimedNetwork &network,
                          const TimedOptions &options, std::string &error) {
  // Enough to know that and where room lacks.
  constexpr int64_t kMostFull = 1 << 20;
  const int64_t repetitions =
      network.repetitions(network.complete(options.values));
  Timeline timeline(network, repetitions);
  TimedOptions observed = options;
  timeline.observe(observed);
  std::optional<TimedResult> result = simulateTimed(network, observed, error);
  if (!result)
    return std::nullopt;
  ExplainedRun run{std::move(*result), std::move(timeline), {}};
  if (!run.result.deadlock.empty())
    return run;
  TimeBreakdown &breakdown = run.breakdown;
  for (const TimedProcessResult &process : run.result.processes)
    breakdown.total = std::max(breakdown.total, process.end);
  CriticalChain chain(network, run.timeline);
  chain.follow(run.result, kMostFull);
  if (chain.numFull == 0) {
    addShares(network, chain, breakdown.shares);
  } else {
    Timeline freeTimeline(network, repetitions);
    observed.unbounded = true;
    freeTimeline.observe(observed);
    std::optional<TimedResult> freed = simulateTimed(network, observed, error);
    if (!freed)
      return std::nullopt;
    CriticalChain freeChain(network, freeTimeline);
    freeChain.follow(*freed, INT64_MAX);
    addShares(network, freeChain, breakdown.shares);
    // Requests of memory in another order may even take longer.
    breakdown.lostToFifos =
        std::max<int64_t>(0, run.result.cycles - freed->cycles);
    const size_t worst =
        std::max_element(chain.behindFull.begin(), chain.behindFull.end()) -
        chain.behindFull.begin();
    if (breakdown.lostToFifos > 0)
      addLoss(network, worst, breakdown.lostToFifos, breakdown.shares);
    else
      breakdown.total = std::max<int64_t>(1, freed->cycles + 1);
  }
  std::stable_sort(breakdown.shares.begin(), breakdown.shares.end(),
                   [](const TimeShare &a, const TimeShare &b) {
                     return a.cycles > b.cycles;
                   });
  findBottleneck(breakdown);
  return run;
}
