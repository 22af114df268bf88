//===- TimedRepetition.cpp - Many repetitions at once ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares a simulation with what it was, and advances it by whole periods.
// docs/simulator-speed.md says why this is exact.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimedSimulation.h"

#include <algorithm>

using namespace streamtensor;

using Access = ProgramCursor::Access;

void TimedSimulation::lookForRepetition(unsigned index) {
  ProcessState &process = processes[index];
  const int64_t now = process.start + process.time + process.stalled;
  const uint32_t place = process.cursor.place();
  passed.clear();
  for (uint32_t loop : process.cursor.passedLoops())
    passed.push_back(process.anchors + 2 * loop + 1);
  process.cursor.forgetPassed();
  passed.push_back(process.anchors + 2 * place);
  steady.note(index, (uint64_t(now - process.lastSeen) << 20) + place);
  process.lastSeen = now;
  steady.look(
      passed,
      [&](SimulationMark &mark, const std::vector<uint32_t> &touched) {
        take(mark, touched);
      },
      [&](const SimulationMark &mark) { return jump(mark); });
}

void TimedSimulation::take(SimulationMark &mark,
                           const std::vector<uint32_t> &touched) const {
  mark.processes = touched;
  mark.ready = ready;
  mark.events = result.events;
  mark.states.resize(touched.size());
  mark.fifos.clear();
  mark.fifoResults.clear();
  size_t numPorts = 0;
  for (size_t i = 0; i < touched.size(); ++i) {
    const ProcessState &process = processes[touched[i]];
    ProcessMark &state = mark.states[i];
    process.cursor.mark(state.cursor);
    state.group = process.group;
    state.hasGroup = process.hasGroup;
    state.atEnd = process.atEnd;
    state.running = process.running;
    state.blocked = process.blocked;
    state.time = process.time;
    state.stalled = process.stalled;
    state.invocation = process.invocation;
    state.lastEvent = process.lastEvent;
    state.nextInjected = process.nextInjected;
    state.blockedOn = process.blockedOn;
    state.waitInput = result.processes[touched[i]].waitInput;
    state.waitOutput = result.processes[touched[i]].waitOutput;
    for (uint32_t fifo : fifosOf[touched[i]]) {
      // Once, where it belongs to two of them.
      const TimedFifo &info = network.fifos[fifo];
      const uint32_t other =
          info.writer == touched[i] ? info.reader : info.writer;
      if (other < touched[i] &&
          std::binary_search(touched.begin(), touched.end(), other))
        continue;
      if (mark.fifos.size() == mark.fifoStates.size())
        mark.fifoStates.emplace_back();
      fifos[fifo].mark(mark.fifoStates[mark.fifos.size()],
                       realTime(info.writer), realTime(info.reader));
      mark.fifos.push_back(fifo);
      mark.fifoResults.push_back(result.fifos[fifo]);
    }
    for (const MemoryClient *client : process.clients) {
      if (numPorts == mark.ports.size())
        mark.ports.emplace_back();
      client->port.mark(mark.ports[numPorts++]);
    }
  }
}

static bool isEqual(const Access &a, const Access &b) {
  return a.kind == b.kind && a.target == b.target && a.beats == b.beats;
}

/// How many cycles later a process stands where it stood; -1: elsewhere.
int64_t TimedSimulation::shiftOf(const ProcessMark &then,
                                 const ProcessState &now) const {
  if (now.hasGroup != then.hasGroup || now.atEnd != then.atEnd ||
      now.running != then.running || now.blocked != then.blocked ||
      now.invocation != then.invocation ||
      now.nextInjected != then.nextInjected ||
      !isEqual(now.blockedOn, then.blockedOn) ||
      !std::equal(now.group.begin(), now.group.end(), then.group.begin(),
                  then.group.end(), isEqual))
    return -1;
  const int64_t shift = now.time + now.stalled - then.time - then.stalled;
  if (now.time == then.time)
    return now.stalled == then.stalled ? 0 : -1;
  return now.lastEvent - then.lastEvent == shift ? shift : -1;
}

/// How many times more everything since `mark` happens again; 0: it does not,
/// or this is not known.
Repetition TimedSimulation::repeatsOf(const SimulationMark &mark) const {
  Repetition result;
  if (ready != mark.ready)
    return result;
  int64_t shift = 0, repeats = INT64_MAX;
  for (size_t i = 0; i < mark.processes.size(); ++i) {
    const ProcessState &now = processes[mark.processes[i]];
    const ProcessMark &then = mark.states[i];
    const int64_t moved = shiftOf(then, now);
    if (moved < 0 || (moved > 0 && shift > 0 && moved != shift))
      return result;
    shift = std::max(shift, moved);
    if (!now.running)
      continue;
    repeats = std::min(repeats, now.cursor.repeatsOf(then.cursor));
    // Not beyond an injected stall.
    if (moved > 0 && now.nextInjected < now.injected.size())
      repeats =
          std::min(repeats, (now.injected[now.nextInjected].at - 1 - now.time) /
                                (now.time - then.time));
    if (repeats <= 0)
      return result;
  }
  if (shift == 0)
    return result;
  for (size_t i = 0; i < mark.fifos.size(); ++i) {
    const TimedFifoState &now = fifos[mark.fifos[i]];
    if (now.isSame(mark.fifoStates[i]))
      continue;
    const TimedFifo &info = network.fifos[mark.fifos[i]];
    repeats = std::min(repeats, now.repeatsOf(mark.fifoStates[i], shift,
                                              realTime(info.writer),
                                              realTime(info.reader)));
    if (repeats <= 0)
      return result;
  }
  const int64_t events = this->result.events - mark.events;
  if (events > 0)
    repeats = std::min(repeats, (options.mostEvents - this->result.events -
                                 this->result.steps) /
                                    events);
  size_t place = 0;
  for (uint32_t index : mark.processes)
    for (const MemoryClient *client : processes[index].clients) {
      PortState &port = client->port;
      const PortState::Mark &then = mark.ports[place++];
      if (!port.isAlone())
        return result;
      if (port.isSame(then))
        continue;
      if (const int64_t most = port.repeatsOf(then, shift))
        repeats = std::min(repeats, most);
      else
        result.replayed.emplace_back(&port, place - 1);
    }
  result.periods = std::max<int64_t>(0, repeats);
  result.shift = shift;
  return result;
}

/// Advances those ports that have to be replayed; fewer periods if one of them
/// cannot follow.
/// Accesses of memory that are replayed in the time of a step.
static constexpr int64_t kPassesInAStep = 8;

void TimedSimulation::replayPorts(const SimulationMark &mark,
                                  Repetition &repetition) {
  std::vector<PortState::Mark> before(repetition.replayed.size());
  for (size_t i = 0; i < before.size(); ++i)
    repetition.replayed[i].first->mark(before[i]);
  for (size_t i = 0; i < before.size() && repetition.periods > 0;) {
    const auto &[port, place] = repetition.replayed[i];
    const int64_t done =
        port->replay(mark.ports[place], repetition.periods, repetition.shift);
    // Ports are not passed at once, so what this takes counts.
    result.steps += std::max<int64_t>(done, 0) *
                    (before[i].passes - mark.ports[place].passes) /
                    kPassesInAStep;
    if (done == repetition.periods) {
      ++i;
      continue;
    }
    // Once more from the start, not so far.
    repetition.periods = std::max<int64_t>(0, done);
    for (size_t j = 0; j <= i; ++j)
      repetition.replayed[j].first->restore(before[j]);
    i = 0;
  }
}

int64_t TimedSimulation::jump(const SimulationMark &mark) {
  Repetition repetition = repeatsOf(mark);
  if (repetition.periods > 0)
    replayPorts(mark, repetition);
  const int64_t periods = repetition.periods, shift = repetition.shift;
  if (periods == 0)
    return 0;
  for (size_t i = 0; i < mark.fifos.size(); ++i) {
    TimedFifoState &now = fifos[mark.fifos[i]];
    if (now.isSame(mark.fifoStates[i]))
      continue;
    const TimedFifo &info = network.fifos[mark.fifos[i]];
    now.repeat(mark.fifoStates[i], periods, shift, realTime(info.writer),
               realTime(info.reader));
    TimedFifoResult &total = result.fifos[mark.fifos[i]];
    const TimedFifoResult &then = mark.fifoResults[i];
    total.waitFull += periods * (total.waitFull - then.waitFull);
    total.waitEmpty += periods * (total.waitEmpty - then.waitEmpty);
  }
  size_t place = 0;
  for (size_t i = 0; i < mark.processes.size(); ++i) {
    const unsigned index = mark.processes[i];
    ProcessState &now = processes[index];
    const ProcessMark &then = mark.states[i];
    for (MemoryClient *client : now.clients) {
      const bool isReplayed =
          std::any_of(repetition.replayed.begin(), repetition.replayed.end(),
                      [&](const auto &other) { return other.second == place; });
      const PortState::Mark &before = mark.ports[place++];
      if (isReplayed)
        client->port.repeatHistory(before, periods, shift);
      else if (!client->port.isSame(before))
        client->port.repeat(before, periods, shift);
    }
    if (now.time == then.time)
      continue;
    now.cursor.repeat(then.cursor, periods);
    now.time += periods * (now.time - then.time);
    now.stalled += periods * (now.stalled - then.stalled);
    now.lastEvent += periods * shift;
    now.lastSeen += periods * shift;
    TimedProcessResult &total = result.processes[index];
    total.waitInput += periods * (total.waitInput - then.waitInput);
    total.waitOutput += periods * (total.waitOutput - then.waitOutput);
  }
  result.events += periods * (result.events - mark.events);
  ++result.jumps;
  return periods;
}
