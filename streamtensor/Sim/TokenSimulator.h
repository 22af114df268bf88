//===- TokenSimulator.h - Does a network end with these depths? -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the access programs of a network with bounded FIFOs, in program order,
// without data and without time. Answers whether the network ends, and if not,
// which processes wait for each other.
//
// The network is a Kahn process network: each FIFO has one writer and one
// reader, accesses block, and nothing else is shared. So which accesses can be
// executed at all does not depend on the order in which processes run (the
// execution is confluent), and neither does the state of a deadlock. This gives
// the simulator its freedom:
//
//  - A process runs until it blocks and moves as many tokens at a time as a
//  FIFO
//    allows.
//  - When one side stands in a run of writes and the other in a run of reads,
//    both pass the shorter run at once, whatever the depth: they would do so
//    one token at a time, and no third process could tell.
//  - When everything that was touched in some steps stands as it stood before
//  them, but for the iteration of one loop in each process, these steps repeat,
//  and are repeated at once (SteadyStates.h, docs/simulator-speed.md).
//  - After a deadlock a FIFO may be made deeper and the run continued; the
//    result is that of a new run with the new depth.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TOKENSIMULATOR_H
#define STREAMTENSOR_SIM_TOKENSIMULATOR_H

#include "streamtensor/Network/AccessProgram.h"
#include "streamtensor/Sim/SteadyStates.h"

namespace streamtensor {

/// A process that waits at one end of a FIFO.
struct BlockedProcess {
  unsigned process = 0;
  /// Waits to write a full FIFO, or else to read an empty one.
  bool isWrite = false;
  unsigned fifo = 0;
  /// Tokens in the FIFO, and its capacity.
  int64_t fill = 0;
  int64_t depth = 0;
};

/// Why a network stands still.
struct TokenDeadlock {
  /// Each waits for the next, the last one for the first.
  std::vector<BlockedProcess> cycle;
  /// Instead of a cycle: the last one waits for this process, which has ended.
  std::optional<unsigned> ended;

  /// Whether deeper FIFOs could help: some process of the cycle waits to write.
  bool isArtificial() const;
  /// Long cycles are shortened to their first \p most - 1 processes and the
  /// last; `most` is at least 2.
  std::string describe(const ProcessNetwork &network, size_t most = 8) const;
  /// The same cycle, starting with the process that waits to write \p fifo; as
  /// it was when there is none.
  TokenDeadlock startingAt(unsigned fifo) const;
};

class TokenSimulator {
public:
  /// `network` must be connected; it is copied in compiled form.
  explicit TokenSimulator(const ProcessNetwork &network);

  /// Goes back to the start, with these depths in tokens, each at least 1.
  void reset(const std::vector<int64_t> &depths);

  /// Runs until all processes have ended (true) or none can go on (false).
  bool run();

  /// After `run` has returned false: the first cycle in order of processes.
  TokenDeadlock findDeadlock() const;

  /// Makes a FIFO deeper, after which `run` continues where it stopped.
  void setDepth(unsigned fifo, int64_t depth);
  int64_t getDepth(unsigned fifo) const { return channels[fifo].depth; }

  /// Tokens written to a FIFO since the start.
  int64_t getTokens(unsigned fifo) const { return channels[fifo].written; }
  /// The most tokens that a FIFO held in this run. Unlike everything else this
  /// depends on the order in which the processes happened to run.
  int64_t getPeak(unsigned fifo) const { return channels[fifo].peak; }
  /// Reads and writes executed since the start.
  int64_t getNumEvents() const;

private:
  enum class Op : uint8_t { Read, Write, Group, Loop, Next, Branch, Jump, End };
  struct Instruction {
    Op op;
    /// Loop, Next: the level of the loop.
    uint16_t level = 0;
    /// Read, Write: the FIFO. Next, Branch, Jump: where to go; Branch: the
    /// target is taken when the condition does not hold.
    uint32_t target = 0;
    /// Read, Write: length of the run. Next: the trip count. Branch: the
    /// condition, an index into `conditions`. Group: how many accesses from
    /// `target` on in `members`.
    int64_t count = 0;
    /// Next: after so many iterations the branches of the body decide again as
    /// they did; 0: nothing is known.
    int64_t period = 1;
  };
  enum class State : uint8_t { Ready, Blocked, Ended };
  struct Process {
    uint32_t start = 0;
    uint32_t position = 0;
    /// Where its induction variables begin in `inductions`.
    uint32_t inductions = 0;
    State state = State::Ready;
    /// Tokens left of the run at `position`; kFresh when it was not begun.
    int64_t remaining = kFresh;
    /// The FIFO of the run that was begun, or that a group waits for, or
    /// kNoFifo; and which end of it.
    uint32_t fifo = kNoFifo;
    bool isWrite = false;
  };
  struct Channel {
    int64_t written = 0;
    int64_t read = 0;
    int64_t depth = 1;
    int64_t peak = 0;
    int64_t initial = 0;
    uint32_t writer = 0;
    uint32_t reader = 0;
  };
  /// What concerns some processes, to be compared with what it is later.
  struct Snapshot {
    std::vector<uint32_t> processes, fifos, ready;
    std::vector<Process> states;
    std::vector<int64_t> inductions;
    std::vector<Channel> channels;
  };
  static constexpr int64_t kFresh = -1;
  static constexpr uint32_t kNoFifo = ~uint32_t(0);

  struct Member {
    uint32_t fifo;
    bool isWrite;
  };

  void compile(const AccessSequence &sequence, unsigned level,
               unsigned &numLevels);
  bool runGroup(Process &process, const Instruction &instruction);
  void runProcess(uint32_t index);
  int64_t meet(Channel &channel, uint32_t fifo, uint32_t other, int64_t wanted);
  void wake(uint32_t index, uint32_t fifo);
  void makeReady(uint32_t index);
  int64_t periodOfBody(size_t begin, unsigned level) const;
  unsigned numLevels(uint32_t process) const;
  void take(Snapshot &snapshot, const std::vector<uint32_t> &touched) const;
  int64_t repeatsOf(const Snapshot &snapshot, size_t place,
                    const int64_t *before) const;
  int64_t jump(const Snapshot &snapshot);

  std::vector<Instruction> code;
  std::vector<Member> members;
  std::vector<IndexExpr> conditions;
  std::vector<int64_t> inductions;
  std::vector<Process> processes;
  std::vector<Channel> channels;
  /// The FIFOs of each process.
  std::vector<std::vector<uint32_t>> fifosOf;
  /// Processes that can run, each at most once; the last is the next. So those
  /// that work hand in hand stay together, and what they do repeats.
  std::vector<uint32_t> ready;
  SteadyStates<Snapshot> steady;
  /// Scratch of `jump`, by FIFO.
  std::vector<bool> isAdvanced;
  /// Where the process at hand has gone on with a loop, at most some.
  std::vector<uint32_t> passed;
};

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TOKENSIMULATOR_H
