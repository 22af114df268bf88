//===- TimedSimulation.h - The state of a timed simulation ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the timed simulator: TimedSimulator.cpp makes steps,
// TimedRepetition.cpp passes those that repeat.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMEDSIMULATION_H
#define STREAMTENSOR_SIM_TIMEDSIMULATION_H

#include "streamtensor/Sim/MemoryState.h"
#include "streamtensor/Sim/SteadyStates.h"
#include "streamtensor/Sim/TimedFifoState.h"
#include "streamtensor/Sim/TimedProgram.h"
#include "streamtensor/Sim/TimedSimulator.h"

#include <memory>

namespace streamtensor {

inline bool isInput(AccessKind kind) {
  return kind == AccessKind::Read || kind == AccessKind::MemoryRead;
}

struct ProcessState {
  using Access = ProgramCursor::Access;

  ProcessState(const TimedProgram &program, int64_t mostWork)
      : cursor(program, mostWork) {}

  ProgramCursor cursor;
  /// The accesses at hand, all at one own time; or the end of the program.
  std::vector<Access> group;
  bool hasGroup = false, atEnd = false;
  int64_t time = 0;
  /// Real time is start + own time + stalled.
  bool running = false, done = false;
  int64_t start = 0, stalled = 0;
  /// When it came to the group at hand.
  int64_t wanted = 0;
  int64_t invocation = 0;
  std::vector<int64_t> starts, ends;
  std::vector<InjectedStall> injected;
  size_t nextInjected = 0;
  /// Its traffic, one of each direction of a port that it uses.
  std::vector<MemoryClient *> clients;
  /// Where it is blocked.
  Access blockedOn = {};
  bool blocked = false, queued = false;
  /// Its last access or end; and where it was when it was looked at last.
  int64_t lastEvent = 0, lastSeen = 0;
  /// Where its places begin among those of all.
  uint32_t anchors = 0;
};

/// A process as it was.
struct ProcessMark {
  using Access = ProgramCursor::Access;

  ProgramCursor::Mark cursor;
  std::vector<Access> group;
  bool hasGroup = false, atEnd = false, running = false, blocked = false;
  int64_t time = 0, stalled = 0, invocation = 0, lastEvent = 0;
  size_t nextInjected = 0;
  Access blockedOn = {};
  int64_t waitInput = 0, waitOutput = 0;
};

/// What concerns some processes as it was.
struct SimulationMark {
  std::vector<uint32_t> processes, fifos, ready;
  std::vector<ProcessMark> states;
  std::vector<TimedFifoState::Mark> fifoStates;
  std::vector<TimedFifoResult> fifoResults;
  /// Of each client of each process.
  std::vector<PortState::Mark> ports;
  int64_t events = 0;
};

/// By how much a simulation is advanced.
struct Repetition {
  int64_t periods = 0;
  /// The length of one, in cycles.
  int64_t shift = 0;
  /// Ports that are not as they were, so that beats pass one after the other,
  /// and which mark of a snapshot is theirs.
  std::vector<std::pair<PortState *, size_t>> replayed;
};

/// An edge that a start waits for.
struct StartEdge {
  unsigned process;
  enum { Started, Ended, EndedTwoBefore } what;
};

class TimedSimulation {
public:
  using Access = ProgramCursor::Access;
  using Stream = ProgramCursor::Stream;

  TimedSimulation(const TimedNetwork &network, const TimedOptions &options);
  std::optional<TimedResult> run(std::string &error);

private:
  void createClients(const ParameterValues &values);
  void enqueue(unsigned process);
  bool isNeighbour(unsigned index, unsigned other) const;
  void runProcess(unsigned index);
  bool tryStart(unsigned index);
  void giveUp(const ProcessState &process);
  bool findDuplicate(const ProcessState &process, unsigned index);
  /// The earliest real time of the group at hand; nothing: unknown.
  std::optional<int64_t> waitFor(unsigned index, ProcessState &process,
                                 int64_t &inputs, int64_t &outputs,
                                 Access &last);
  void executeGroup(unsigned index, ProcessState &process);
  void endInvocation(unsigned index, ProcessState &process);
  bool runBatch(unsigned index, ProcessState &process);
  void addStall(unsigned index, ProcessState &process, int64_t cycles,
                bool isOutput, const Access &access, int64_t since = -1);
  bool serveMemory();
  void serveReady(PortState &port);
  MemoryClient *clientOf(const ProcessState &process, AccessKind kind,
                         unsigned port) const;
  unsigned startsBehind(unsigned index) const;
  void findDeadlock(TimedResult &result) const;

  int64_t available(const ProcessState &process, AccessKind kind,
                    unsigned target) const;
  int64_t availableAt(const ProcessState &process, AccessKind kind,
                      unsigned target) const;
  int64_t availableStep(const ProcessState &process, AccessKind kind,
                        unsigned target) const;
  void pass(unsigned index, ProcessState &process, AccessKind kind,
            unsigned target, int64_t first, int64_t step, int64_t count,
            int64_t wanted);

  void lookForRepetition(unsigned index);
  void take(SimulationMark &mark, const std::vector<uint32_t> &touched) const;
  int64_t shiftOf(const ProcessMark &then, const ProcessState &now) const;
  Repetition repeatsOf(const SimulationMark &mark) const;
  void replayPorts(const SimulationMark &mark, Repetition &repetition);
  int64_t realTime(unsigned process) const {
    const ProcessState &state = processes[process];
    return state.start + state.time + state.stalled;
  }
  int64_t jump(const SimulationMark &mark);

  const TimedNetwork &network;
  const TimedOptions &options;
  /// Of all launches.
  int64_t invocations = 1;
  std::vector<TimedProgram> programs;
  std::vector<ProcessState> processes;
  std::vector<TimedFifoState> fifos;
  std::vector<ChannelState> channels;
  /// Reads of port i at 2 * i, writes behind; null where there are none.
  std::vector<std::unique_ptr<PortState>> ports;
  std::vector<std::vector<StartEdge>> startsAfter;
  std::vector<std::vector<unsigned>> wakesOnStart, wakesOnEnd;
  /// The last is the next: so processes that work hand in hand stay together,
  /// and what they do repeats.
  std::vector<unsigned> ready;
  /// The FIFOs of each process, each at the first of its two.
  std::vector<std::vector<uint32_t>> fifosOf;
  SteadyStates<SimulationMark> steady;
  std::vector<uint32_t> passed;
  /// Serial invocations: how many processes have ended each, and when the last.
  std::vector<unsigned> endedOf;
  std::vector<int64_t> lastEndOf;
  TimedResult result;
  std::string error;
  /// Scratch of runBatch.
  struct Line {
    Stream *stream;
    int64_t alpha, beta;
    bool constant;
    unsigned phase;
  };
  std::vector<Line> lines;
};

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMEDSIMULATION_H
