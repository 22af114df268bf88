//===- TimedSimulator.h - Cycles of a network -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a timed network by the rules of docs/process-networks.md.
//
// Every access has one time, whatever the order in which processes are
// simulated: a process is sequential in its own time, the n-th read of a FIFO
// waits for the n-th write, the (n + depth)-th write for the n-th read. So
// there is no clock that all processes share. A process runs on its own as far
// as the times that it waits for are known, and leaves the times of its own
// accesses in the FIFO for the other end (a Kahn process network of times).
// Only requests of memory ports compete; they are served when no process can go
// on without, the earliest first: nothing that happens later can be earlier.
//
// Times are kept as runs of equal distances. Where all streams of a region have
// one period, and the times that they wait for are runs too, many iterations
// are passed at once: the stalls are then the maximum of straight lines, and as
// long as one of these stays above the others, the results are runs again.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMEDSIMULATOR_H
#define STREAMTENSOR_SIM_TIMEDSIMULATOR_H

#include "streamtensor/Network/TimedNetwork.h"

#include <functional>

namespace streamtensor {

struct TimedProcessResult {
  /// Cycles in all invocations: its latency; waiting for an input; for an
  /// output. A cycle in which both lack counts as waiting for an input.
  int64_t busy = 0, waitInput = 0, waitOutput = 0;
  /// Of the first invocation's start and the last one's end; -1: never.
  int64_t start = -1, end = -1;
};

struct TimedFifoResult {
  int64_t tokens = 0, peak = 0, fill = 0;
  /// Cycles that its writer waited because it was full, its reader because it
  /// was empty, where it was the last thing that they waited for.
  int64_t waitFull = 0, waitEmpty = 0;
};

/// Bytes of one port in all invocations.
struct TimedPortResult {
  int64_t bytes = 0, bursts = 0;
};

/// A process that cannot go on: at a FIFO, or at a memory port (`isMemory`)
/// where the burst at the head is another's.
struct TimedBlock {
  unsigned process = 0;
  bool isWrite = false;
  /// An index into TimedNetwork::fifos, or into MemoryModel::ports.
  unsigned fifo = 0;
  /// Tokens in the FIFO; bursts in the port, and how many there can be.
  int64_t fill = 0, depth = 0;
  bool isMemory = false;
};

struct TimedResult {
  /// One less than the largest end. After a deadlock: than the last access.
  int64_t cycles = 0;
  /// Each waits for the next; the last for the first, or for a process that
  /// has ended (`deadlockEnds`). Empty: no deadlock.
  std::vector<TimedBlock> deadlock;
  std::optional<unsigned> deadlockEnds;
  std::vector<TimedProcessResult> processes;
  std::vector<TimedFifoResult> fifos;
  std::vector<TimedPortResult> ports;
  /// Reads and writes simulated, steps that it took, and how often many of them
  /// were passed at once because they repeat.
  int64_t events = 0, steps = 0, jumps = 0;
  /// It was given up after `TimedOptions::mostSteps`: only `steps` counts.
  bool isTruncated = false;
};

/// When a process was held up, for traces: it waited for `waited` of the cycles
/// [from, to), real time; for all of them, or for equal parts of many
/// iterations that were passed at once.
struct StallSpan {
  unsigned process;
  bool isWrite;
  /// Then `fifo` is a memory port.
  bool isMemory;
  unsigned fifo;
  int64_t from, to, waited;
};
/// An invocation of a process in real time.
struct BusySpan {
  unsigned process;
  int64_t invocation, from, to;
};

struct TimedOptions {
  /// Launches one behind the other, each of one invocation or as many as the
  /// network says; from 1 to `kMostInvocations`, so that the cycles of all of
  /// them cannot overflow.
  int64_t invocations = 1;
  static constexpr int64_t kMostInvocations = 1 << 12;
  ParameterValues values;
  /// In place of the network's; one per FIFO. Empty: the network's.
  std::vector<int64_t> depths;
  /// Every FIFO holds all its tokens.
  bool unbounded = false;
  /// Reads, writes and steps of the simulation after which it gives up.
  int64_t mostEvents = INT64_MAX;
  /// Steps, on which its time depends, after which it gives up without an
  /// error. The same network takes the same number everywhere.
  int64_t mostSteps = INT64_MAX;
  /// Called where a process waited or ended, in order per process.
  std::function<void(const StallSpan &)> onStall;
  std::function<void(const BusySpan &)> onInvocation;
};

/// Simulates a network that has passed its check. Returns nothing and sets
/// `error` when a process touches one end of a FIFO twice in one cycle, and
/// after too many events.
std::optional<TimedResult> simulateTimed(const TimedNetwork &network,
                                         const TimedOptions &options,
                                         std::string &error);

/// Tokens and beats of memory that one invocation moves, on which the time of a
/// simulation depends.
int64_t simulationWork(const TimedNetwork &network,
                       const ParameterValues &values);

/// The cycle of a deadlock for people, as TokenDeadlock::describe: long ones
/// are shortened to their first \p most - 1 processes and the last.
std::string describeDeadlock(const TimedNetwork &network,
                             const TimedResult &result, size_t most = 8);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMEDSIMULATOR_H
