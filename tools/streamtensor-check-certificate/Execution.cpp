//===- Execution.cpp - One execution at fixed values ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens are counted, not moved. A process goes on until it cannot; then it is
// asked again when the FIFO that it waits for has changed. Periods of a nest
// that make the same accesses are counted many at a time: as many as tokens and
// slots allow without any help from others, which is an execution like any
// other. Where both ends of a FIFO stand in runs of accesses to it and to
// nothing else, the shorter run passes at once, in turns of one token.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Execution.h"

#include <algorithm>

using namespace streamtensor::certificate;

namespace {

class Execution {
public:
  Execution(const Network &network, const Values &values, Order order,
            int64_t invocations)
      : network(network), values(values), order(order),
        invocations(invocations), programs(programsOf(network, values, order)),
        counters(network.fifos.size()), processes(programs.size()),
        programOf(network.processes.size()) {
    for (unsigned index = 0; index < programs.size(); ++index)
      for (unsigned i = programs[index].first; i <= programs[index].last; ++i)
        programOf[i] = index;
    for (unsigned fifo = 0; fifo < counters.size(); ++fifo) {
      const Fifo &from = network.fifos[fifo];
      const int64_t initial = initialTokensOf(network, fifo, values);
      counters[fifo] = {initial, from.depth - initial};
    }
    findStarts();
  }

  Outcome run();

private:
  static constexpr int64_t kMostSteps = int64_t(1) << 32;
  struct Counter {
    int64_t tokens = 0, slots = 0;
    int64_t written = 0, read = 0;
    int64_t available(bool isRead) const { return isRead ? tokens : slots; }
  };
  enum class State : uint8_t { Ready, Waits, Ended };
  struct Activity {
    State state = State::Ready;
    /// Invocations that have begun and ended.
    int64_t begun = 0, ended = 0;
    bool isInside = false;
    unsigned step = 0;
    int64_t iterations[kMaxLevels] = {};
    /// Accesses of the cycle so far.
    std::vector<End> pending;
    /// In a nest: the period (or iteration), the group (or access) in it, the
    /// phase.
    bool isInNest = false, isFirstGroup = false;
    int64_t period = 0;
    size_t group = 0, phase = 0;
    /// What it waits for; nothing where it waits to start.
    bool waitsForFifo = false;
    End waitsFor;
    /// How many accesses to `waitsFor` and nothing else come next.
    int64_t run = 0;
  };
  /// What must have happened before a process starts.
  struct Starts {
    std::vector<unsigned> afterStart, afterEnd, afterEndBeforeLast;
  };

  void findStarts();
  bool mayStart(unsigned index) const;
  void advance(unsigned index);
  bool goOn(unsigned index, Activity &self);
  bool runNest(unsigned index, Activity &self, const Nest &nest);
  bool runPhase(unsigned index, Activity &self, const Nest &nest);
  bool runGroup(unsigned index, Activity &self, const Nest &nest);
  bool runAccess(unsigned index, Activity &self, const Nest &nest);
  bool holds(Activity &self, const Nest &nest, const Nest::Access &access,
             int64_t iteration) const;
  bool fire(unsigned index, Activity &self, const std::vector<End> &ends);
  bool block(Activity &self, End end);
  void apply(End end, int64_t count);
  void passRun(Activity &self, End end, int64_t &length);
  void wake(unsigned index);
  void countStep() {
    if (++steps > kMostSteps)
      refuseSteps();
  }
  [[noreturn]] void refuseSteps() const {
    throw Refusal("expected an execution of fewer than 2^32 steps at " +
                  spell(values));
  }
  void wakeStarts();
  unsigned peerOf(End end) const {
    const Fifo &fifo = network.fifos[end.fifo];
    return programOf[end.isRead ? fifo.writer : fifo.reader];
  }
  std::string describeDeadlock() const;

  const Network &network;
  const Values &values;
  const Order order;
  const int64_t invocations;
  const std::vector<Program> programs;
  std::vector<Counter> counters;
  std::vector<Activity> processes;
  std::vector<unsigned> programOf;
  std::vector<Starts> starts;
  std::vector<unsigned> ready, waitToStart;
  int64_t steps = 0;
};

} // namespace

/// Rule 4 of docs/process-networks.md. In program order nobody waits for a
/// start of another; arrays are handed over in both.
void Execution::findStarts() {
  starts.resize(programs.size());
  if (order == Order::Pipelined)
    for (const Fifo &fifo : network.fifos)
      if (!fifo.isFeedback() && fifo.writer != fifo.reader)
        starts[programOf[fifo.reader]].afterStart.push_back(
            programOf[fifo.writer]);
  for (const Array &array : network.arrays) {
    const unsigned writer = programOf[array.writer];
    const unsigned reader = programOf[array.reader];
    starts[reader].afterEnd.push_back(writer);
    starts[writer].afterEndBeforeLast.push_back(reader);
  }
}

bool Execution::mayStart(unsigned index) const {
  const int64_t invocation = processes[index].ended;
  const Starts &from = starts[index];
  auto all = [](const std::vector<unsigned> &list, auto holds) {
    return std::all_of(list.begin(), list.end(), holds);
  };
  if (network.isSerial && std::any_of(processes.begin(), processes.end(),
                                      [&](const Activity &other) {
                                        return other.ended < invocation;
                                      }))
    return false;
  return all(from.afterStart,
             [&](unsigned i) { return processes[i].begun > invocation; }) &&
         all(from.afterEnd,
             [&](unsigned i) { return processes[i].ended > invocation; }) &&
         all(from.afterEndBeforeLast,
             [&](unsigned i) { return processes[i].ended >= invocation - 1; });
}

void Execution::wake(unsigned index) {
  Activity &self = processes[index];
  if (self.state != State::Waits)
    return;
  self.state = State::Ready;
  ready.push_back(index);
}

void Execution::wakeStarts() {
  for (unsigned index : waitToStart)
    wake(index);
  waitToStart.clear();
}

void Execution::apply(End end, int64_t count) {
  Counter &counter = counters[end.fifo];
  const int64_t sign = end.isRead ? -count : count;
  counter.tokens += sign;
  counter.slots -= sign;
  (end.isRead ? counter.read : counter.written) += count;
  const unsigned peer = peerOf(end);
  const Activity &other = processes[peer];
  if (other.state == State::Waits && other.waitsForFifo &&
      other.waitsFor.fifo == end.fifo && other.waitsFor.isRead != end.isRead)
    wake(peer);
}

bool Execution::block(Activity &self, End end) {
  self.state = State::Waits;
  self.waitsForFifo = true;
  self.waitsFor = end;
  self.run = 0;
  return false;
}

/// All or nothing.
bool Execution::fire(unsigned index, Activity &self,
                     const std::vector<End> &ends) {
  for (size_t i = 0; i < ends.size(); ++i) {
    if (counters[ends[i].fifo].available(ends[i].isRead) == 0)
      return block(self, ends[i]);
    for (size_t j = 0; j < i; ++j)
      if (ends[i] == ends[j])
        throw Refusal("process '" + programs[index].name +
                      "': expected one access of an end of a fifo in a cycle "
                      "but got two of '" +
                      network.fifos[ends[i].fifo].name + "'");
  }
  for (End end : ends)
    apply(end, 1);
  return true;
}

/// The peer waits in a run at the other end: each token that one side moves
/// lets the other move one. Tokens in the FIFO stay as many as they are.
void Execution::passRun(Activity &self, End end, int64_t &length) {
  const unsigned peer = peerOf(end);
  Activity &other = processes[peer];
  if (&other == &self || other.state != State::Waits || other.run == 0 ||
      other.waitsFor.fifo != end.fifo || other.waitsFor.isRead == end.isRead)
    return;
  const int64_t count = std::min(length, other.run);
  counters[end.fifo].written += count;
  counters[end.fifo].read += count;
  self.period += count;
  other.period += count;
  length -= count;
  other.run -= count;
  if (other.run == 0)
    wake(peer);
}

/// As many periods of the present phase as possible. Returns false where the
/// process waits; the period may have reached the phase's end.
bool Execution::runPhase(unsigned index, Activity &self, const Nest &nest) {
  const Nest::Phase &phase = nest.phases[self.phase];
  int64_t length = phase.end - self.period;
  const bool isRun = phase.ends.size() == 1 && phase.ends.front().count == 1;
  if (isRun) {
    passRun(self, phase.ends.front().end, length);
    if (length == 0)
      return true;
  }
  int64_t count = length;
  for (const EndCount &end : phase.ends)
    count = std::min(count, counters[end.end.fifo].available(end.end.isRead) /
                                end.count);
  for (const EndCount &end : phase.ends)
    if (count > 0)
      apply(end.end, count * end.count);
  self.period += count;
  if (count == length || !isRun)
    return true;
  block(self, phase.ends.front().end);
  self.run = length - count;
  return false;
}

bool Execution::holds(Activity &self, const Nest &nest,
                      const Nest::Access &access, int64_t iteration) const {
  for (size_t i = nest.trips.size(); i-- > 0;) {
    self.iterations[nest.level + i] = iteration % nest.trips[i];
    iteration /= nest.trips[i];
  }
  return std::all_of(
      access.guards.begin(), access.guards.end(), [&](const auto &guard) {
        return guard.first->holds(self.iterations) == guard.second;
      });
}

/// One group of one period, with what is pending.
bool Execution::runGroup(unsigned index, Activity &self, const Nest &nest) {
  std::vector<End> ends;
  // What was accessed before the nest shares its first cycle.
  if (self.isFirstGroup) {
    ends = self.pending;
    if (!ends.empty() && !nest.startsAtOnce) {
      if (!fire(index, self, ends))
        return false;
      self.pending.clear();
      ends.clear();
    }
  }
  for (unsigned number : nest.groups[self.group]) {
    const Nest::Access &access = nest.accesses[number];
    const int64_t iteration = self.period - access.period;
    if (iteration >= 0 && iteration < nest.iterations &&
        (access.guards.empty() || holds(self, nest, access, iteration)))
      ends.push_back(access.end);
  }
  if (!fire(index, self, ends))
    return false;
  self.pending.clear();
  self.isFirstGroup = false;
  if (++self.group == nest.groups.size()) {
    self.group = 0;
    ++self.period;
  }
  return true;
}

/// One access of one iteration, in program order.
bool Execution::runAccess(unsigned index, Activity &self, const Nest &nest) {
  const Nest::Access &access = nest.accesses[self.group];
  if (access.guards.empty() || holds(self, nest, access, self.period)) {
    if (counters[access.end.fifo].available(access.end.isRead) == 0)
      return block(self, access.end);
    apply(access.end, 1);
  }
  if (++self.group == nest.accesses.size()) {
    self.group = 0;
    ++self.period;
  }
  return true;
}

bool Execution::runNest(unsigned index, Activity &self, const Nest &nest) {
  if (!self.isInNest) {
    self.isInNest = true;
    self.isFirstGroup = order == Order::Pipelined && !self.pending.empty();
    self.period = 0;
    self.group = self.phase = 0;
  }
  for (;;) {
    countStep();
    while (self.period >= nest.phases[self.phase].end)
      if (++self.phase == nest.phases.size()) {
        self.isInNest = false;
        return true;
      }
    const bool isAligned = self.group == 0 && !self.isFirstGroup;
    if (isAligned && !nest.hasGuards) {
      const int64_t before = self.period;
      if (!runPhase(index, self, nest))
        return false;
      if (self.period > before)
        continue;
    }
    if (!(order == Order::Program ? runAccess(index, self, nest)
                                  : runGroup(index, self, nest)))
      return false;
  }
}

/// Until the process waits (false) or the invocation ends (true).
bool Execution::goOn(unsigned index, Activity &self) {
  const Program &program = programs[index];
  for (;;) {
    const Step &step = program.steps[self.step];
    countStep();
    switch (step.kind) {
    case Step::Kind::Access:
      if (order == Order::Pipelined) {
        self.pending.push_back(step.end);
        if (self.pending.size() > 4096)
          throw Refusal("process '" + program.name +
                        "': expected fewer accesses in a cycle");
      } else {
        if (counters[step.end.fifo].available(step.end.isRead) == 0)
          return block(self, step.end);
        apply(step.end, 1);
      }
      break;
    case Step::Kind::Advance:
    case Step::Kind::End:
      if (!self.pending.empty() && !fire(index, self, self.pending))
        return false;
      self.pending.clear();
      if (step.kind == Step::Kind::End)
        return true;
      break;
    case Step::Kind::LoopBegin:
      self.iterations[step.level] = 0;
      break;
    case Step::Kind::LoopEnd:
      if (++self.iterations[step.level] < step.trips) {
        self.step = step.target;
        continue;
      }
      break;
    case Step::Kind::Branch:
      if (!step.condition->holds(self.iterations)) {
        self.step = step.target;
        continue;
      }
      break;
    case Step::Kind::Jump:
      self.step = step.target;
      continue;
    case Step::Kind::Nest:
      if (!runNest(index, self, program.nests[step.target]))
        return false;
      break;
    }
    ++self.step;
  }
}

void Execution::advance(unsigned index) {
  Activity &self = processes[index];
  self.waitsForFifo = false;
  self.run = 0;
  while (self.ended < invocations) {
    if (!self.isInside) {
      if (!mayStart(index)) {
        self.state = State::Waits;
        waitToStart.push_back(index);
        return;
      }
      self.isInside = true;
      self.step = 0;
      ++self.begun;
      wakeStarts();
    }
    if (!goOn(index, self))
      return;
    self.isInside = false;
    ++self.ended;
    wakeStarts();
  }
  self.state = State::Ended;
}

/// Whoever waits for a FIFO waits for the process at its other end; one that
/// waits to start, for one that has not started or ended.
std::string Execution::describeDeadlock() const {
  auto waiting = std::find_if(
      processes.begin(), processes.end(),
      [](const Activity &self) { return self.state == State::Waits; });
  unsigned at = waiting - processes.begin();
  for (unsigned index = 0; index < processes.size(); ++index)
    if (processes[index].state == State::Waits && processes[index].waitsForFifo)
      at = index;
  std::vector<bool> seen(processes.size());
  std::string text;
  for (int shown = 0; shown < 8 && !seen[at]; ++shown) {
    seen[at] = true;
    const Activity &self = processes[at];
    text += (text.empty() ? "'" : ", '") + programs[at].name + "' ";
    if (self.state == State::Ended)
      return text + "has ended";
    if (!self.waitsForFifo)
      return text + "waits to start";
    const End end = self.waitsFor;
    const Fifo &fifo = network.fifos[end.fifo];
    text += std::string("waits to ") + (end.isRead ? "read" : "write") + " '" +
            fifo.name + "' (" + std::to_string(counters[end.fifo].tokens) +
            "/" + std::to_string(fifo.depth) + ")";
    at = peerOf(end);
  }
  return text;
}

Outcome Execution::run() {
  for (unsigned index = programs.size(); index-- > 0;)
    ready.push_back(index);
  while (!ready.empty()) {
    const unsigned index = ready.back();
    ready.pop_back();
    advance(index);
  }
  Outcome outcome;
  if (std::any_of(processes.begin(), processes.end(), [](const Activity &self) {
        return self.state != State::Ended;
      })) {
    outcome.failure = "deadlock: " + describeDeadlock();
    return outcome;
  }
  for (unsigned fifo = 0; fifo < counters.size(); ++fifo) {
    const Counter &counter = counters[fifo];
    if (counter.written != counter.read) {
      outcome.failure = "fifo '" + network.fifos[fifo].name +
                        "': expected as many tokens read as written but got " +
                        std::to_string(counter.written) + " written and " +
                        std::to_string(counter.read) + " read";
      return outcome;
    }
    outcome.tokens.push_back(counter.written / invocations);
  }
  return outcome;
}

Outcome streamtensor::certificate::execute(const Network &network,
                                           const Values &values, Order order,
                                           int64_t invocations) {
  return Execution(network, values, order, invocations).run();
}
