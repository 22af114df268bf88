//===- Explain.cpp - Why a simulated run cannot go on ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Deadlocks and left-over tokens in words. Every blocked process waits for
// exactly one other (the one at the other end of its FIFO), a joining one for
// its tasks; following these edges ends in a cycle or at an ended process.
//
//===----------------------------------------------------------------------===//

#include "runtime/sim/Process.h"

#include <algorithm>

using namespace streamtensor::sim;
using st::sim::Fifo;
using st::sim::Process;
using State = Process::State;

namespace {

bool isBlocked(const Process &process) {
  return process.state == State::Reading || process.state == State::Writing;
}

const Process *otherUser(const Fifo &fifo, const Process &process) {
  return fifo.users[0] == &process ? fifo.users[1] : fifo.users[0];
}

std::string tokens(size_t bytes, const Fifo &fifo) {
  return std::to_string(bytes / fifo.tokenBytes);
}

std::string describeWait(const Process &process) {
  std::string text = std::string("process '") + process.name + "' waits ";
  if (process.state == State::Joining)
    return text + "for its tasks";
  const Fifo &fifo = *process.blockedOn;
  text += process.state == State::Reading ? "to read empty fifo '"
                                          : "to write full fifo '";
  return text + fifo.name + "' (" + tokens(fillBytes(fifo), fifo) + "/" +
         std::to_string(fifo.depth) + ")";
}

/// Depth-first search for a cycle along "waits for".
class CycleSearch {
public:
  bool visit(const Process &process) {
    const auto seen = std::find(trail.begin(), trail.end(), &process);
    if (seen != trail.end()) {
      trail.erase(trail.begin(), seen);
      return true;
    }
    if (std::find(done.begin(), done.end(), &process) != done.end())
      return false;
    trail.push_back(&process);
    if (isBlocked(process)) {
      const Process *other = otherUser(*process.blockedOn, process);
      if (other && other->state != State::Ended && visit(*other))
        return true;
    } else {
      for (const Process *child : process.children)
        if (child->state != State::Ended && visit(*child))
          return true;
    }
    trail.pop_back();
    done.push_back(&process);
    return false;
  }

  /// The cycle when `visit` has returned true.
  std::vector<const Process *> trail;

private:
  std::vector<const Process *> done;
};

/// All blocked processes below `process`, outermost bodies first.
void collectBlocked(const Process &process,
                    std::vector<const Process *> &blocked) {
  if (isBlocked(process))
    blocked.push_back(&process);
  for (const Process *child : process.children)
    if (child->state != State::Ended)
      collectBlocked(*child, blocked);
}

/// The hint that fits the FIFOs of a cycle.
std::string adviceFor(const std::vector<const Process *> &cycle) {
  for (const Process *process : cycle)
    if (process->state == State::Writing)
      return "; make a full fifo of this cycle deeper, or let its tokens pass "
             "in another order";
  return "; a cycle of empty fifos can only start with initial tokens";
}

} // namespace

std::string streamtensor::sim::explainDeadlock(const Process &root) {
  std::vector<const Process *> blocked;
  collectBlocked(root, blocked);
  for (const Process *start : blocked) {
    CycleSearch search;
    if (!search.visit(*start))
      continue;
    std::string text = "deadlock of " + std::to_string(search.trail.size()) +
                       " processes that wait for each other: ";
    for (size_t i = 0; i < search.trail.size(); ++i)
      text += (i ? ", " : "") + describeWait(*search.trail[i]);
    return text + adviceFor(search.trail);
  }
  // Without a cycle, somebody waits for a process that has ended.
  for (const Process *process : blocked) {
    const Fifo &fifo = *process->blockedOn;
    const Process *other = otherUser(fifo, *process);
    if (other && other->state != State::Ended)
      continue;
    const bool isReader = process->state == State::Reading;
    std::string text = "deadlock: " + describeWait(*process);
    if (!other)
      return text + ", but nobody " + (isReader ? "writes" : "reads") + " it";
    return text + ", but its " + (isReader ? "writer" : "reader") + " '" +
           other->name + "' has ended after " +
           tokens(isReader ? writtenBytes(fifo) : readBytes(fifo), fifo) +
           " tokens";
  }
  return "deadlock: no process can run";
}

std::string
streamtensor::sim::explainLeftOver(const std::vector<Fifo *> &declared,
                                   bool atEnd) {
  std::string text;
  for (const Fifo *fifo : declared) {
    const size_t fill = fillBytes(*fifo);
    if (!fill || (fifo->isFeedback && !atEnd))
      continue;
    text +=
        std::string(text.empty() ? "" : "; ") + "fifo '" + fifo->name +
        "' of '" + fifo->scope + "' has " + tokens(fill, *fifo) +
        (fill == fifo->tokenBytes ? " left-over token" : " left-over tokens") +
        ": expected as many read as written but got " +
        tokens(writtenBytes(*fifo), *fifo) + " written";
    if (fifo->writer)
      text += std::string(" by '") + fifo->writer->name + "'";
    text += " and " + tokens(readBytes(*fifo), *fifo) + " read";
    if (fifo->reader)
      text += std::string(" by '") + fifo->reader->name + "'";
  }
  return text;
}
