//===- TokenSimulator.cpp - Does a network end with these depths? ---------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program is compiled to a flat array of instructions. A process is a
// position in it and its loop counters: no recursion, nothing allocated while
// running. Blocked processes are woken by the other end of their FIFO, so
// nothing is polled.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TokenSimulator.h"

#include <algorithm>
#include <cassert>

using namespace streamtensor;

/// Loops that one step of a process is known for.
static constexpr size_t kMostPassed = 4;

//===----------------------------------------------------------------------===//
// TokenDeadlock
//===----------------------------------------------------------------------===//

bool TokenDeadlock::isArtificial() const {
  return !ended &&
         std::any_of(cycle.begin(), cycle.end(),
                     [](const BlockedProcess &p) { return p.isWrite; });
}

std::string TokenDeadlock::describe(const ProcessNetwork &network,
                                    size_t most) const {
  assert(most >= 2 && "expected room for both ends of a cycle");
  std::string text;
  const size_t skipped = cycle.size() > most ? cycle.size() - most : 0;
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (i > 0)
      text += ", ";
    if (skipped && i == most - 1) {
      text += std::to_string(skipped) + " more, ";
      i += skipped;
    }
    const BlockedProcess &blocked = cycle[i];
    text += "'" + network.processes[blocked.process].name + "' waits to " +
            (blocked.isWrite ? "write full" : "read empty") + " fifo '" +
            network.fifos[blocked.fifo].name + "' (" +
            std::to_string(blocked.fill) + "/" + std::to_string(blocked.depth) +
            ")";
  }
  if (ended)
    text += ", but '" + network.processes[*ended].name + "' has ended";
  return text;
}

TokenDeadlock TokenDeadlock::startingAt(unsigned fifo) const {
  TokenDeadlock result = *this;
  auto first = std::find_if(result.cycle.begin(), result.cycle.end(),
                            [&](const BlockedProcess &blocked) {
                              return blocked.isWrite && blocked.fifo == fifo;
                            });
  if (!ended && first != result.cycle.end())
    std::rotate(result.cycle.begin(), first, result.cycle.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

TokenSimulator::TokenSimulator(const ProcessNetwork &network) {
  for (const AccessProcess &source : network.processes) {
    Process process;
    process.start = code.size();
    process.inductions = inductions.size();
    unsigned numLevels = 0;
    compile(simplify(source.program), 0, numLevels);
    code.push_back({Op::End});
    inductions.resize(inductions.size() + numLevels);
    processes.push_back(process);
  }
  for (const AccessFifo &source : network.fifos) {
    Channel channel;
    channel.writer = source.writer;
    channel.reader = source.reader;
    channel.initial = source.initialTokens;
    channels.push_back(channel);
  }
  fifosOf.resize(processes.size());
  for (uint32_t fifo = 0; fifo < channels.size(); ++fifo) {
    fifosOf[channels[fifo].writer].push_back(fifo);
    if (channels[fifo].reader != channels[fifo].writer)
      fifosOf[channels[fifo].reader].push_back(fifo);
  }
  isAdvanced.resize(channels.size());
  ready.reserve(processes.size());
  passed.reserve(kMostPassed + 1);
  // For each place in the code: a process that waits there, and a loop.
  steady = SteadyStates<Snapshot>(2 * code.size());
  reset(std::vector<int64_t>(channels.size(), 1));
}

void TokenSimulator::compile(const AccessSequence &sequence, unsigned level,
                             unsigned &numLevels) {
  for (const AccessNode &node : sequence) {
    switch (node.kind) {
    case AccessNode::Kind::Read:
    case AccessNode::Kind::Write:
      code.push_back(
          {node.kind == AccessNode::Kind::Read ? Op::Read : Op::Write, 0,
           node.fifo, node.count});
      break;
    case AccessNode::Kind::Group:
      code.push_back({Op::Group, 0, static_cast<uint32_t>(members.size()),
                      static_cast<int64_t>(node.body.size())});
      for (const AccessNode &access : node.body)
        members.push_back(
            {access.fifo, access.kind == AccessNode::Kind::Write});
      break;
    case AccessNode::Kind::Loop: {
      numLevels = std::max(numLevels, level + 1);
      code.push_back({Op::Loop, static_cast<uint16_t>(level)});
      const uint32_t body = code.size();
      compile(node.body, level + 1, numLevels);
      code.push_back({Op::Next, static_cast<uint16_t>(level), body, node.count,
                      periodOfBody(body, level)});
      break;
    }
    case AccessNode::Kind::Branch: {
      const size_t test = code.size();
      code.push_back(
          {Op::Branch, 0, 0, static_cast<int64_t>(conditions.size())});
      conditions.push_back(node.condition);
      compile(node.body, level, numLevels);
      if (!node.otherwise.empty()) {
        const size_t jump = code.size();
        code.push_back({Op::Jump});
        code[test].target = code.size();
        compile(node.otherwise, level, numLevels);
        code[jump].target = code.size();
      } else {
        code[test].target = code.size();
      }
      break;
    }
    }
  }
}

void TokenSimulator::reset(const std::vector<int64_t> &depths) {
  assert(depths.size() == channels.size() && "expected one depth per fifo");
  for (size_t i = 0; i < channels.size(); ++i) {
    Channel &channel = channels[i];
    channel.written = 0;
    // As if the initial tokens had been written before.
    channel.read = -channel.initial;
    channel.peak = channel.initial;
    channel.depth = depths[i];
  }
  ready.clear();
  for (uint32_t i = processes.size(); i-- > 0;) {
    Process &process = processes[i];
    process.position = process.start;
    process.remaining = kFresh;
    process.fifo = kNoFifo;
    makeReady(i);
  }
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

void TokenSimulator::makeReady(uint32_t index) {
  processes[index].state = State::Ready;
  ready.push_back(index);
}

void TokenSimulator::wake(uint32_t index, uint32_t fifo) {
  const Process &process = processes[index];
  if (process.state == State::Blocked && process.fifo == fifo)
    makeReady(index);
}

/// Passes up to `wanted` tokens straight to or from process `other` when it has
/// begun a run at the other end of the FIFO. Returns how many.
int64_t TokenSimulator::meet(Channel &channel, uint32_t fifo, uint32_t other,
                             int64_t wanted) {
  Process &peer = processes[other];
  if (peer.fifo != fifo)
    return 0;
  const int64_t passed = std::min(wanted, peer.remaining);
  if (passed == 0)
    return 0;
  steady.note(other, 0);
  peer.remaining -= passed;
  channel.written += passed;
  channel.read += passed;
  channel.peak = std::max<int64_t>(channel.peak, 1);
  if (peer.remaining == 0)
    wake(other, fifo);
  return passed;
}

/// Makes all accesses of a group, or none: then the process waits for the first
/// one that cannot be made.
bool TokenSimulator::runGroup(Process &process,
                              const Instruction &instruction) {
  const Member *const begin = members.data() + instruction.target;
  const Member *const end = begin + instruction.count;
  for (const Member *member = begin; member != end; ++member) {
    const Channel &channel = channels[member->fifo];
    const int64_t fill = channel.written - channel.read;
    if (member->isWrite ? fill < channel.depth : fill > 0)
      continue;
    process.fifo = member->fifo;
    process.isWrite = member->isWrite;
    return false;
  }
  for (const Member *member = begin; member != end; ++member) {
    Channel &channel = channels[member->fifo];
    if (member->isWrite) {
      ++channel.written;
      channel.peak = std::max(channel.peak, channel.written - channel.read);
      wake(channel.reader, member->fifo);
    } else {
      ++channel.read;
      wake(channel.writer, member->fifo);
    }
  }
  return true;
}

void TokenSimulator::runProcess(uint32_t index) {
  Process &process = processes[index];
  uint32_t position = process.position;
  int64_t remaining =
      code[position].op == Op::Group ? kFresh : process.remaining;
  int64_t *const counters = inductions.data() + process.inductions;
  const Instruction *const program = code.data();
  process.fifo = kNoFifo;
  for (;;) {
    const Instruction &instruction = program[position];
    switch (instruction.op) {
    case Op::Read: {
      Channel &channel = channels[instruction.target];
      if (remaining == kFresh)
        remaining = instruction.count;
      const int64_t moved = std::min(remaining, channel.written - channel.read);
      channel.read += moved;
      remaining -= moved;
      if (moved)
        wake(channel.writer, instruction.target);
      if (remaining)
        remaining -=
            meet(channel, instruction.target, channel.writer, remaining);
      break;
    }
    case Op::Write: {
      Channel &channel = channels[instruction.target];
      if (remaining == kFresh)
        remaining = instruction.count;
      const int64_t fill = channel.written - channel.read;
      const int64_t moved = std::min(remaining, channel.depth - fill);
      channel.written += moved;
      channel.peak = std::max(channel.peak, fill + moved);
      remaining -= moved;
      if (moved)
        wake(channel.reader, instruction.target);
      if (remaining)
        remaining -=
            meet(channel, instruction.target, channel.reader, remaining);
      break;
    }
    case Op::Group:
      if (!runGroup(process, instruction)) {
        process.position = position;
        // Nobody may pass tokens to it one by one.
        process.remaining = 0;
        process.state = State::Blocked;
        return;
      }
      ++position;
      continue;
    case Op::Loop:
      counters[instruction.level] = 0;
      ++position;
      continue;
    case Op::Next:
      if (passed.size() < kMostPassed)
        passed.push_back(code.size() + position);
      position = ++counters[instruction.level] < instruction.count
                     ? instruction.target
                     : position + 1;
      continue;
    case Op::Branch:
      position = conditions[instruction.count].evaluate(counters)
                     ? position + 1
                     : instruction.target;
      continue;
    case Op::Jump:
      position = instruction.target;
      continue;
    case Op::End:
      process.position = position;
      process.state = State::Ended;
      return;
    }
    if (remaining) {
      process.position = position;
      process.remaining = remaining;
      process.fifo = instruction.target;
      process.isWrite = instruction.op == Op::Write;
      process.state = State::Blocked;
      return;
    }
    remaining = kFresh;
    ++position;
  }
}

bool TokenSimulator::run() {
  // What a FIFO lacked before may be there now.
  steady.clear();
  while (!ready.empty()) {
    const uint32_t index = ready.back();
    ready.pop_back();
    passed.clear();
    runProcess(index);
    const uint32_t position = processes[index].position;
    passed.push_back(position);
    steady.note(index, position);
    steady.look(
        passed,
        [&](Snapshot &snapshot, const std::vector<uint32_t> &touched) {
          take(snapshot, touched);
        },
        [&](const Snapshot &snapshot) { return jump(snapshot); });
  }
  return std::all_of(
      processes.begin(), processes.end(),
      [](const Process &process) { return process.state == State::Ended; });
}

//===----------------------------------------------------------------------===//
// Many repetitions at once
//===----------------------------------------------------------------------===//

/// The period of a loop at `level` whose body begins at `begin`, and ends where
/// the code ends so far.
int64_t TokenSimulator::periodOfBody(size_t begin, unsigned level) const {
  int64_t period = 1;
  for (size_t i = begin; i < code.size(); ++i)
    if (code[i].op == Op::Branch)
      period = commonPeriod(period, conditions[code[i].count].periodOf(level));
  return period;
}

unsigned TokenSimulator::numLevels(uint32_t process) const {
  const size_t end = process + 1 < processes.size()
                         ? processes[process + 1].inductions
                         : inductions.size();
  return end - processes[process].inductions;
}

void TokenSimulator::take(Snapshot &snapshot,
                          const std::vector<uint32_t> &touched) const {
  snapshot.processes = touched;
  snapshot.ready = ready;
  snapshot.fifos.clear();
  snapshot.states.clear();
  snapshot.inductions.clear();
  snapshot.channels.clear();
  for (uint32_t index : touched) {
    const Process &process = processes[index];
    snapshot.states.push_back(process);
    const auto begin = inductions.begin() + process.inductions;
    snapshot.inductions.insert(snapshot.inductions.end(), begin,
                               begin + numLevels(index));
    for (uint32_t fifo : fifosOf[index]) {
      snapshot.fifos.push_back(fifo);
      snapshot.channels.push_back(channels[fifo]);
    }
  }
}

/// How many times more one process can do what it has done since the snapshot,
/// in which it is at `place` with the loop counters `before`.
int64_t TokenSimulator::repeatsOf(const Snapshot &snapshot, size_t place,
                                  const int64_t *before) const {
  const uint32_t index = snapshot.processes[place];
  const Process &now = processes[index], &then = snapshot.states[place];
  if (now.position != then.position || now.state != then.state ||
      now.fifo != then.fifo || now.isWrite != then.isWrite)
    return 0;
  const int64_t *const counters = inductions.data() + now.inductions;
  std::optional<unsigned> changed;
  for (unsigned level = 0; level < numLevels(index); ++level) {
    if (counters[level] == before[level])
      continue;
    if (changed || counters[level] < before[level])
      return 0;
    changed = level;
  }
  if (!changed) {
    // Within one run, which may not end.
    if (now.remaining == then.remaining)
      return INT64_MAX;
    if (now.remaining <= 0 || then.remaining < now.remaining)
      return 0;
    return (now.remaining - 1) / (then.remaining - now.remaining);
  }
  if (now.remaining != then.remaining)
    return 0;
  // The end of the loop around the position.
  size_t end = now.position;
  while (code[end].op != Op::End &&
         !(code[end].op == Op::Next && code[end].level == *changed &&
           code[end].target <= now.position))
    ++end;
  const Instruction &next = code[end];
  const int64_t rise = counters[*changed] - before[*changed];
  if (next.op == Op::End || next.period == 0 || rise % next.period != 0 ||
      next.count > IndexExpr::kMostIterations)
    return 0;
  return (next.count - 1 - counters[*changed]) / rise;
}

int64_t TokenSimulator::jump(const Snapshot &snapshot) {
  if (ready != snapshot.ready)
    return 0;
  int64_t periods = INT64_MAX;
  size_t level = 0;
  for (size_t i = 0; i < snapshot.processes.size() && periods > 0; ++i) {
    periods = std::min(
        periods, repeatsOf(snapshot, i, snapshot.inductions.data() + level));
    level += numLevels(snapshot.processes[i]);
  }
  for (size_t i = 0; i < snapshot.fifos.size(); ++i) {
    const Channel &now = channels[snapshot.fifos[i]];
    const Channel &then = snapshot.channels[i];
    if (now.written - now.read != then.written - then.read)
      return 0;
  }
  // Nothing but idle steps would be repeated for ever.
  if (periods == 0 || periods == INT64_MAX)
    return 0;
  level = 0;
  for (size_t i = 0; i < snapshot.processes.size(); ++i) {
    Process &process = processes[snapshot.processes[i]];
    int64_t *const counters = inductions.data() + process.inductions;
    for (unsigned l = 0; l < numLevels(snapshot.processes[i]); ++l, ++level)
      counters[l] += periods * (counters[l] - snapshot.inductions[level]);
    process.remaining +=
        periods * (process.remaining - snapshot.states[i].remaining);
  }
  // A FIFO of two of the processes is there twice.
  for (size_t i = 0; i < snapshot.fifos.size(); ++i) {
    Channel &now = channels[snapshot.fifos[i]];
    const Channel &then = snapshot.channels[i];
    if (isAdvanced[snapshot.fifos[i]])
      continue;
    isAdvanced[snapshot.fifos[i]] = true;
    now.written += periods * (now.written - then.written);
    now.read += periods * (now.read - then.read);
  }
  for (uint32_t fifo : snapshot.fifos)
    isAdvanced[fifo] = false;
  return periods;
}

void TokenSimulator::setDepth(unsigned fifo, int64_t depth) {
  Channel &channel = channels[fifo];
  assert(depth >= channel.written - channel.read &&
         "expected a depth that holds the tokens in the fifo");
  channel.depth = depth;
  const Process &writer = processes[channel.writer];
  if (writer.fifo == fifo && writer.isWrite)
    wake(channel.writer, fifo);
}

int64_t TokenSimulator::getNumEvents() const {
  int64_t events = 0;
  for (const Channel &channel : channels)
    events += channel.written + channel.read + channel.initial;
  return events;
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

TokenDeadlock TokenSimulator::findDeadlock() const {
  // Every blocked process waits for exactly one other, so a walk along these
  // edges ends in a cycle or at a process that has ended.
  TokenDeadlock deadlock;
  std::vector<uint32_t> walkOf(processes.size(), 0);
  std::optional<TokenDeadlock> starved;
  for (uint32_t start = 0; start < processes.size(); ++start) {
    std::vector<BlockedProcess> walk;
    uint32_t at = start;
    while (processes[at].state == State::Blocked && walkOf[at] == 0) {
      walkOf[at] = start + 1;
      const Process &process = processes[at];
      const Channel &channel = channels[process.fifo];
      const bool isWrite = process.isWrite;
      walk.push_back({at, isWrite, process.fifo, channel.written - channel.read,
                      channel.depth});
      at = isWrite ? channel.reader : channel.writer;
    }
    if (walk.empty())
      continue;
    if (processes[at].state == State::Ended) {
      if (!starved)
        starved = TokenDeadlock{walk, at};
    } else if (walkOf[at] == start + 1) {
      walk.erase(walk.begin(), std::find_if(walk.begin(), walk.end(),
                                            [&](const BlockedProcess &blocked) {
                                              return blocked.process == at;
                                            }));
      return {walk, {}};
    }
  }
  return starved.value_or(TokenDeadlock{});
}
