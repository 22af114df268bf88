//===- Process.h - State of one cooperative process -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the scheduler knows of a process. Internal to runtime/sim.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_SIM_PROCESS_H
#define STREAMTENSOR_RUNTIME_SIM_PROCESS_H

#include "runtime/include/st_sim.h"
#include "runtime/sim/StackPool.h"

#include <boost/context/detail/fcontext.hpp>
#include <string>
#include <vector>

namespace st::sim {

struct Process {
  enum class State { Ready, Running, Reading, Writing, Joining, Ended };

  boost::context::detail::fcontext_t context = nullptr;
  const char *name = "";
  State state = State::Ready;
  /// The FIFO that a Reading or Writing process waits for.
  Fifo *blockedOn = nullptr;
  Process *nextReady = nullptr;
  /// The process in whose body this one is a task; null for the root.
  Process *parent = nullptr;
  /// Tasks of the current body, until it has joined; how many have not ended.
  std::vector<Process *> children;
  size_t liveChildren = 0;
  /// FIFOs that the process has an end of.
  std::vector<Fifo *> fifos;
  /// FIFOs declared in the process's own body, by order of declaration.
  std::vector<Fifo *> declared;
  streamtensor::sim::StackPool::Stack stack;
  void (*entry)(void *) = nullptr;
  void *closure = nullptr;
};

inline size_t writtenBytes(const Fifo &fifo) {
  return fifo.writeBias + reinterpret_cast<uintptr_t>(fifo.writeCursor);
}
inline size_t readBytes(const Fifo &fifo) {
  return fifo.readBias + reinterpret_cast<uintptr_t>(fifo.readCursor);
}
inline size_t fillBytes(const Fifo &fifo) {
  return writtenBytes(fifo) - readBytes(fifo);
}
inline size_t capacityBytes(const Fifo &fifo) { return fifo.end - fifo.begin; }

} // namespace st::sim

namespace streamtensor::sim {

/// Says why no process can go on: the cycle of processes that wait for each
/// other, or the one that waits for a process that has ended. `root` is the
/// outermost process; some process below it must be blocked.
std::string explainDeadlock(const st::sim::Process &root);

/// Says which FIFOs of a body still hold tokens; empty when none does. Feedback
/// may, unless `atEnd`.
std::string explainLeftOver(const std::vector<st::sim::Fifo *> &declared,
                            bool atEnd);

} // namespace streamtensor::sim

#endif // STREAMTENSOR_RUNTIME_SIM_PROCESS_H
