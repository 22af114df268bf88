//===- InterpreterNetwork.h - Processes and FIFOs ---------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Kahn process network: cooperative processes that exchange tokens through
// FIFOs, on one thread. What the interpreter runs tasks on.
//
// Before FIFOs are allocated they are unbounded. Their processes then run with
// soft limits that grow only when nothing else can run, so that memory stays
// small (T. Parks, Bounded Scheduling of Process Networks, 1995). The order in
// which processes run does not change what they compute (G. Kahn, 1974).
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_INTERPRETERNETWORK_H
#define STREAMTENSOR_SIM_INTERPRETERNETWORK_H

#include "streamtensor/Sim/Interpreter.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace streamtensor::interp {

class Fifo;
class Machine;
class Network;

/// One cooperative process with a stack of its own.
class Process {
public:
  const std::string &getName() const { return name; }
  bool isFinished() const { return finished; }

private:
  friend class Fifo;
  friend class Machine;
  friend class Network;

  std::string name;
  std::function<void()> body;
  void *context = nullptr; // where to go on; null before the start
  char *stack = nullptr;
  bool finished = false;
  Fifo *waitsFor = nullptr; // null unless blocked
  bool waitsToWrite = false;
};

/// What a FIFO is, before any token.
struct FifoSpec {
  std::string name;
  size_t tokenBytes = 0;
  /// Capacity in tokens; 0 for unbounded.
  int64_t depth = 0;
  /// How many tokens must have passed at the end, if known.
  std::optional<int64_t> tokens;
};

/// A FIFO of equally sized tokens with one writer and one reader.
class Fifo {
public:
  Fifo(Machine &machine, FifoSpec spec);

  /// Appends the token at `token`; blocks the process while the FIFO is full.
  void write(const char *token);
  /// Removes the oldest token into `token`; blocks while the FIFO is empty.
  void read(char *token);

  const FifoSpec &getSpec() const { return spec; }
  /// Where the tokens are recorded, or null.
  TokenRecord *record = nullptr;
  size_t recordLimitBytes = 0;

private:
  friend class Network;

  void setCapacity(size_t tokens);
  /// "'x' (2/2)": name, fill and depth.
  std::string describe() const;

  Machine &machine;
  FifoSpec spec;
  size_t capacity = 0, head = 0, fill = 0;
  int64_t written = 0, taken = 0;
  std::vector<char> ring;
  Process *writer = nullptr, *reader = nullptr;
  Process *blockedWriter = nullptr, *blockedReader = nullptr;
};

/// Runs code that may fail at any depth, without exceptions.
class Machine {
public:
  ~Machine();
  /// Calls `main` on a stack of its own. Returns false, and the cause in
  /// `error`, when something called `fail`.
  bool run(llvm::function_ref<void()> main, std::string &error);
  /// Ends the run. What lies on the stacks of processes is abandoned.
  [[noreturn]] void fail(const std::string &message);
  /// The running process, or null in main.
  Process *getCurrent() const { return current; }
  /// "task 'x': " or "" in main.
  std::string where() const;

private:
  friend class Fifo;
  friend class Network;

  /// Leaves the running process until it is resumed.
  void suspend();
  void resume(Process &process);
  char *takeStack();

  Process *current = nullptr;
  Network *network = nullptr; // the one that runs
  void *root = nullptr;       // context of `run`'s caller
  void *scheduler = nullptr;  // context that resumed `current`
  std::string error;
  bool failed = false;
  std::vector<char *> stacks, freeStacks;
};

/// The processes and FIFOs of one kernel (or dataflow function).
class Network {
public:
  Network(Machine &machine, llvm::StringRef name)
      : machine(machine), name(name) {}

  Fifo &addFifo(FifoSpec spec);
  /// Adds a process that reads and writes exactly these FIFOs. Fails when one
  /// of them has a reader, or a writer, already.
  void addProcess(llvm::StringRef name, std::function<void()> body,
                  llvm::ArrayRef<Fifo *> reads, llvm::ArrayRef<Fifo *> writes);
  /// Runs all processes to their end. Fails with the cause when they cannot, or
  /// when tokens are left over or missing at the end.
  void run();

private:
  friend class Fifo;

  [[noreturn]] void failBlocked();
  /// The blocked processes of a dependence cycle, or an empty list.
  std::vector<Process *> findCycle() const;
  bool growOneFifo();
  void checkEnd();

  Machine &machine;
  std::string name;
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<std::unique_ptr<Fifo>> fifos;
  std::deque<Process *> ready;
};

} // namespace streamtensor::interp

#endif // STREAMTENSOR_SIM_INTERPRETERNETWORK_H
