//===- NaiveTimedSimulator.h - One cycle at a time --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle of the timed simulator: the rules of docs/process-networks.md as
// they stand there. Programs are written out access by access, there is one
// clock, and in each of its cycles every process goes on or stands still.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_SIM_NAIVETIMEDSIMULATOR_H
#define STREAMTENSOR_UNITTESTS_SIM_NAIVETIMEDSIMULATOR_H

#include "unittests/Sim/NaiveMemory.h"

namespace streamtensor::test {

struct TimedAccess {
  int64_t time;
  AccessKind kind;
  unsigned target;
  /// Of memory accesses.
  int64_t beats = 1, contiguous = 0;
};

/// The accesses of a process in the order of its own time.
struct TimedTrace {
  std::vector<TimedAccess> accesses;
  int64_t latency = 0;
};

inline void writeOut(const TimedSequence &sequence,
                     std::vector<int64_t> &inductions,
                     const ParameterValues &values, int64_t &time,
                     std::vector<TimedAccess> &accesses) {
  for (const TimedNode &node : sequence) {
    switch (node.kind) {
    case TimedNode::Kind::Wait:
      time += node.cycles;
      break;
    case TimedNode::Kind::Access:
      accesses.push_back({time + node.stage, node.access, node.target,
                          node.beats, node.contiguous});
      break;
    case TimedNode::Kind::Branch:
      writeOut(node.condition.evaluate(inductions.data()) ? node.body
                                                          : node.otherwise,
               inductions, values, time, accesses);
      break;
    case TimedNode::Kind::Loop: {
      const int64_t trip = node.trips.front().evaluate(values);
      for (int64_t i = 0; i < trip; ++i) {
        inductions.push_back(i);
        writeOut(node.body, inductions, values, time, accesses);
        inductions.pop_back();
        time += node.cycles;
      }
      break;
    }
    case TimedNode::Kind::Pipeline: {
      int64_t iterations = 1;
      for (const TripCount &trip : node.trips)
        iterations *= trip.evaluate(values);
      const size_t levels = inductions.size();
      for (int64_t i = 0; i < iterations; ++i) {
        inductions.resize(levels + node.trips.size());
        int64_t rest = i;
        for (size_t l = node.trips.size(); l-- > 0;) {
          const int64_t trip = node.trips[l].evaluate(values);
          inductions[levels + l] = rest % trip;
          rest /= trip;
        }
        int64_t begin = time + i * node.ii;
        writeOut(node.body, inductions, values, begin, accesses);
      }
      inductions.resize(levels);
      if (iterations > 0)
        time += node.ii * (iterations - 1) + node.depth;
      break;
    }
    }
  }
}

inline TimedTrace writeOut(const TimedProcess &process,
                           const ParameterValues &values) {
  TimedTrace trace;
  if (process.hasProgram) {
    std::vector<int64_t> inductions;
    writeOut(process.program, inductions, values, trace.latency,
             trace.accesses);
  } else {
    trace.latency = process.latency;
    for (const PortAccesses &port : process.accesses)
      for (const AccessPattern &pattern : port.at) {
        std::vector<int64_t> times{pattern.first};
        for (const auto &[step, count] : pattern.levels) {
          std::vector<int64_t> more;
          for (int64_t i = 0; i < count; ++i)
            for (int64_t time : times)
              more.push_back(time + i * step);
          times = std::move(more);
        }
        for (int64_t time : times)
          trace.accesses.push_back(
              {time, port.access, port.target, port.beats, port.contiguous});
      }
  }
  std::sort(trace.accesses.begin(), trace.accesses.end(),
            [](const TimedAccess &a, const TimedAccess &b) {
              return a.time < b.time;
            });
  return trace;
}

/// Where a network stands when nothing can go on.
struct NaiveTimedResult {
  struct Process {
    int64_t busy = 0, waitInput = 0, waitOutput = 0, start = -1, end = -1;
    bool done = false, running = false;
    /// Accesses that cannot happen.
    std::vector<TimedAccess> lacks;
  };
  struct Fifo {
    int64_t tokens = 0, peak = 0, fill = 0;
  };
  bool ended = true;
  int64_t cycles = 0, bytes = 0;
  std::vector<Process> processes;
  std::vector<Fifo> fifos;
  /// Of reads and writes of each port: whose burst passes next (-1: none), and
  /// how many there are.
  std::vector<std::pair<int, int64_t>> heads;
};

class NaiveTimedSimulator {
public:
  NaiveTimedSimulator(const TimedNetwork &network,
                      const ParameterValues &values)
      : network(network), memory(network), fifos(network.fifos.size()) {
    for (const TimedProcess &process : network.processes) {
      processes.emplace_back().trace = writeOut(process, values);
      addTraffic(processes.size() - 1);
    }
    for (size_t i = 0; i < fifos.size(); ++i)
      fifos[i].peak = network.fifos[i].initialTokens;
  }

  NaiveTimedResult run(int64_t numInvocations) {
    invocations = numInvocations;
    // Longer than any token, slot or beat is on its way.
    constexpr int64_t kPatience = 200;
    int64_t lastChange = network.launchCycles, lastEvent = 0;
    for (int64_t cycle = 0; cycle <= lastChange + kPatience; ++cycle) {
      for (unsigned i = 0; i < processes.size(); ++i)
        if (canStart(i, cycle)) {
          Process &process = processes[i];
          process.running = true;
          process.time = 0;
          process.next = process.injected = 0;
          process.accesses = process.trace.accesses;
          process.starts.push_back(cycle);
          memory.startProcess(i, cycle);
          lastChange = cycle;
        }
      if (memory.beginCycle(cycle))
        lastChange = cycle;
      for (unsigned i = 0; i < processes.size(); ++i)
        if (processes[i].running)
          step(i, cycle, lastChange, lastEvent);
    }
    NaiveTimedResult result;
    result.bytes = memory.bytes;
    for (unsigned i = 0; i < 2 * network.memory.ports.size(); ++i)
      result.heads.push_back(memory.head(i));
    result.cycles = std::max<int64_t>(0, lastEvent - 1);
    for (Process &process : processes) {
      NaiveTimedResult::Process &out = result.processes.emplace_back();
      out.busy = process.trace.latency * int64_t(process.ends.size());
      out.waitInput = process.waitInput;
      out.waitOutput = process.waitOutput;
      if (!process.ends.empty()) {
        out.start = process.starts.front();
        out.end = process.ends.back();
      }
      out.done = int64_t(process.ends.size()) == invocations;
      out.running = process.running;
      out.lacks = process.lacks;
      result.ended &= out.done;
    }
    for (size_t i = 0; i < fifos.size(); ++i)
      result.fifos.push_back({int64_t(fifos[i].writes.size()), fifos[i].peak,
                              network.fifos[i].initialTokens +
                                  int64_t(fifos[i].writes.size()) -
                                  int64_t(fifos[i].reads.size())});
    return result;
  }

private:
  struct Process {
    TimedTrace trace;
    std::vector<TimedAccess> accesses;
    bool running = false;
    /// Own time, the next access, and cycles of injected stalls served.
    int64_t time = 0;
    size_t next = 0;
    int64_t injected = 0;
    std::vector<int64_t> starts, ends;
    int64_t waitInput = 0, waitOutput = 0;
    /// Of the wait at hand.
    int64_t nowInput = 0, nowOutput = 0;
    std::vector<TimedAccess> lacks;
  };
  struct Fifo {
    std::vector<int64_t> writes, reads;
    int64_t peak = 0;
  };

  /// What a process moves through each port in an invocation.
  void addTraffic(unsigned process) {
    for (unsigned i = 0; i < 2 * network.memory.ports.size(); ++i) {
      int64_t beats = 0, contiguous = 0;
      for (const TimedAccess &access : processes[process].trace.accesses) {
        if (isFifo(access.kind) || access.target != i / 2 ||
            (access.kind == AccessKind::MemoryWrite) != (i % 2 != 0))
          continue;
        beats += access.beats;
        if (access.contiguous > 0)
          contiguous = contiguous > 0 ? std::min(contiguous, access.contiguous)
                                      : access.contiguous;
      }
      if (beats > 0)
        memory.addClient(process, i / 2, i % 2 != 0, beats, contiguous);
    }
  }

  /// Rules 4 and 5.
  bool canStart(unsigned index, int64_t cycle) const {
    const Process &process = processes[index];
    const int64_t m = process.ends.size();
    if (process.running || m == invocations)
      return false;
    // `times[which]` is before this cycle, and not closer than `gap`.
    auto passed = [&](const std::vector<int64_t> &times, int64_t which,
                      int64_t gap = 1) {
      return which < 0 ||
             (which < int64_t(times.size()) && times[which] + gap <= cycle);
    };
    if (m == 0 && cycle < network.launchCycles)
      return false;
    if (!passed(process.ends, m - 1))
      return false;
    if (network.serialInvocations)
      for (const Process &other : processes)
        if (!passed(other.ends, m - 1, 1 + network.launchCycles))
          return false;
    for (const TimedFifo &fifo : network.fifos)
      if (fifo.reader == index && fifo.writer != index &&
          fifo.initialTokens == 0 && !passed(processes[fifo.writer].starts, m))
        return false;
    for (const PingPong &array : network.pingPongs)
      if ((array.reader == index && !passed(processes[array.writer].ends, m)) ||
          (array.writer == index &&
           !passed(processes[array.reader].ends, m - 2)))
        return false;
    return true;
  }

  /// Rule 3.
  bool canHappen(unsigned process, const TimedAccess &access,
                 int64_t cycle) const {
    if (!isFifo(access.kind))
      return access.beats == 1 &&
             memory.canPass(process, access.target,
                            access.kind == AccessKind::MemoryWrite, cycle);
    const TimedFifo &fifo = network.fifos[access.target];
    const Fifo &state = fifos[access.target];
    const int64_t delay = 1 + fifo.crossing;
    // Tokens and slots that were left by then.
    if (access.kind == AccessKind::Read)
      return fifo.initialTokens + countUntil(state.writes, cycle - delay) >
             int64_t(state.reads.size());
    return fifo.depth - fifo.initialTokens +
               countUntil(state.reads, cycle - delay) >
           int64_t(state.writes.size());
  }

  static int64_t countUntil(const std::vector<int64_t> &times, int64_t last) {
    return std::upper_bound(times.begin(), times.end(), last) - times.begin();
  }

  void step(unsigned index, int64_t cycle, int64_t &lastChange,
            int64_t &lastEvent) {
    Process &process = processes[index];
    int64_t injected = 0;
    for (const InjectedStall &stall : network.stalls)
      if (stall.process == index && stall.at <= process.time)
        injected += stall.cycles;
    if (process.injected < injected) {
      ++process.injected;
      lastChange = cycle;
      return;
    }
    // With the beats that have not passed yet.
    std::vector<TimedAccess> &accesses = process.accesses;
    size_t last = process.next;
    while (last < accesses.size() && accesses[last].time == process.time)
      ++last;
    process.lacks.clear();
    bool lacksInput = false;
    for (size_t i = process.next; i < last; ++i)
      if (!canHappen(index, accesses[i], cycle)) {
        process.lacks.push_back(accesses[i]);
        lacksInput |= accesses[i].kind == AccessKind::Read ||
                      accesses[i].kind == AccessKind::MemoryRead;
      }
    // All beats of an access but the last pass as they come.
    for (size_t i = process.next; i < last; ++i) {
      const bool isWrite = accesses[i].kind == AccessKind::MemoryWrite;
      if (accesses[i].beats > 1 &&
          memory.canPass(index, accesses[i].target, isWrite, cycle)) {
        memory.pass(accesses[i].target, isWrite, cycle);
        --accesses[i].beats;
        lastChange = cycle;
      }
    }
    if (process.lacks.empty() && last == process.next &&
        process.time == process.trace.latency &&
        !memory.isDrained(index, cycle))
      process.lacks.push_back({process.time, AccessKind::MemoryWrite, 0});
    if (!process.lacks.empty()) {
      ++(lacksInput ? process.nowInput : process.nowOutput);
      return;
    }
    process.waitInput += process.nowInput;
    process.waitOutput += process.nowOutput;
    process.nowInput = process.nowOutput = 0;
    for (; process.next < last; ++process.next) {
      const TimedAccess &access = accesses[process.next];
      if (!isFifo(access.kind)) {
        memory.pass(access.target, access.kind == AccessKind::MemoryWrite,
                    cycle);
        lastEvent = std::max(lastEvent, cycle);
        continue;
      }
      Fifo &fifo = fifos[access.target];
      lastEvent = std::max(lastEvent, cycle);
      if (access.kind == AccessKind::Read) {
        fifo.reads.push_back(cycle);
        continue;
      }
      fifo.writes.push_back(cycle);
      // Rule 8.
      const TimedFifo &declared = network.fifos[access.target];
      const int64_t free =
          countUntil(fifo.reads, cycle - 1 - declared.crossing);
      fifo.peak = std::max(fifo.peak, declared.initialTokens +
                                          int64_t(fifo.writes.size()) - free);
    }
    lastChange = cycle;
    // The end follows on the last access, when all writes are in memory.
    if (process.time == process.trace.latency &&
        memory.isDrained(index, cycle)) {
      process.ends.push_back(cycle);
      process.running = false;
      lastEvent = std::max(lastEvent, cycle);
    } else if (process.time < process.trace.latency) {
      ++process.time;
    }
  }

  const TimedNetwork &network;
  NaiveMemory memory;
  int64_t invocations = 1;
  std::vector<Process> processes;
  std::vector<Fifo> fifos;
};

} // namespace streamtensor::test

#endif // STREAMTENSOR_UNITTESTS_SIM_NAIVETIMEDSIMULATOR_H
