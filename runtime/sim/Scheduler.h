//===- Scheduler.h - Cooperative processes and bounded FIFOs ----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a compiled kernel: every task is a process with a stack of its own, on
// one thread. A process runs until a FIFO blocks it, then the first process of
// the ready list goes on (round robin). A blocked process becomes ready again
// when the process at the other end of its FIFO stops and has left tokens or
// space. Nothing spins and nothing is locked.
//
// No ready process but unfinished ones is a deadlock, which is explained as the
// cycle of processes that wait for each other. Since the processes are
// deterministic and each FIFO has one writer and one reader, whether a design
// deadlocks does not depend on the order in which the processes run.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_SIM_SCHEDULER_H
#define STREAMTENSOR_RUNTIME_SIM_SCHEDULER_H

#include "runtime/include/st_sim.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace streamtensor::sim {

/// What went through the FIFOs of one name in one run.
struct FifoStatistics {
  /// The function that declares the FIFO, and its name there.
  std::string scope, name;
  /// Tokens written.
  uint64_t tokens = 0;
  /// Highest fill in tokens.
  uint64_t peak = 0;
  uint64_t depth = 0;
};

/// The tokens that were written to the FIFOs of one name in one run.
struct RecordedFifo {
  std::string name;
  uint64_t tokenBytes = 0;
  /// Token behind token, as they lie in memory.
  std::vector<char> bytes;
};

class Scheduler {
public:
  struct Impl;

  Scheduler();
  ~Scheduler();
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;

  /// The functions that a kernel calls; to be stored in its `st::sim::api`.
  static const st::sim::Api *api();

  /// Calls body(argument) as the process `name` and returns when it has
  /// returned. Throws runtime::Error on a deadlock, left-over tokens, a FIFO
  /// with more than two users, or an exception in a task; the scheduler can be
  /// used again afterwards. Calls cannot be nested on one thread.
  ///
  /// The tokens of the FIFOs `recorded` are kept. That costs a copy of each
  /// token of theirs, and the other ones nothing: what is in a ring is copied
  /// before its writer gets room to write over it.
  void run(const char *name, void (*body)(void *), void *argument,
           const std::vector<std::string> &recorded = {});

  /// Statistics of the last run, by order of first declaration.
  std::vector<FifoStatistics> fifoStatistics() const;

  /// What the last run has recorded, one per name in the order of the list,
  /// without tokens where no FIFO had the name. Can be taken once.
  std::vector<RecordedFifo> takeRecorded();

  /// What an access to `address` that failed was about: the name of the process
  /// that runs on this thread (null for none), and whether it has used up its
  /// stack. May be called in a signal handler.
  struct Fault {
    const char *process = nullptr;
    bool isStackOverflow = false;
  };
  static Fault describeFault(const void *address);

private:
  std::unique_ptr<Impl> impl;
};

} // namespace streamtensor::sim

#endif // STREAMTENSOR_RUNTIME_SIM_SCHEDULER_H
