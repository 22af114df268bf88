//===- TimedNetwork.h - Processes, FIFOs, memory, and time ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A design as processes that touch FIFOs and memory ports at known cycles of
// their own time. Without MLIR, so that tests can write networks by hand. The
// rules of time and the file are in docs/process-networks.md.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_NETWORK_TIMEDNETWORK_H
#define STREAMTENSOR_NETWORK_TIMEDNETWORK_H

#include "streamtensor/Network/AccessProgram.h"
#include "streamtensor/Support/TripCount.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace streamtensor {

/// What a process touches at one cycle.
enum class AccessKind : uint8_t { Read, Write, MemoryRead, MemoryWrite };

inline bool isFifo(AccessKind kind) {
  return kind == AccessKind::Read || kind == AccessKind::Write;
}

struct TimedNode;
/// One after the other in program order, and in time unless inside of one
/// pipeline.
using TimedSequence = std::vector<TimedNode>;

/// A part of a process's program. Cycles are of the process's own time, which
/// stands still while it waits.
struct TimedNode {
  enum class Kind : uint8_t {
    Access,   ///< touches a FIFO or a memory port; takes no time by itself
    Wait,     ///< `cycles` pass
    Loop,     ///< iterations one after the other
    Pipeline, ///< an iteration every `ii` cycles
    Branch    ///< on loops around it
  };
  Kind kind = Kind::Wait;

  AccessKind access = AccessKind::Read;
  /// Access: an index into TimedNetwork::fifos or MemoryModel::ports.
  unsigned target = 0;
  /// Access in a pipeline: cycles after its iteration began.
  int64_t stage = 0;
  /// Access of a memory port: how many beats, and how many lie one behind the
  /// other in memory before the address jumps (0: all of the process).
  int64_t beats = 1, contiguous = 0;
  /// Wait: how many. Loop: after each iteration.
  int64_t cycles = 0;
  /// Loop: one; Pipeline: those of the flattened nest, outermost first.
  std::vector<TripCount> trips;
  /// Pipeline: initiation interval and the cycles of one iteration. It takes
  /// ii * (iterations - 1) + depth cycles, none without iterations.
  int64_t ii = 1, depth = 1;
  /// Branch: over the loops around it and the network's parameters; loops of
  /// pipelines count, level 0 is the outermost.
  IndexExpr condition;
  /// Loop, Pipeline: the body. Branch: where the condition holds.
  TimedSequence body;
  /// Branch: where it does not.
  TimedSequence otherwise;
  /// Loop, Pipeline: for people.
  std::string label;
};

/// Short forms to write programs by hand.
TimedNode waitFor(int64_t cycles);
TimedNode timedRead(unsigned fifo, int64_t stage = 0);
TimedNode timedWrite(unsigned fifo, int64_t stage = 0);
TimedNode timedLoop(TripCount trip, TimedSequence body, int64_t overhead = 0);
TimedNode timedPipeline(std::vector<TripCount> trips, int64_t ii, int64_t depth,
                        TimedSequence body);

/// Accesses to one port at the cycles first + sum of i_l * step_l for
/// 0 <= i_l < count_l, outermost level first.
struct AccessPattern {
  int64_t first = 0;
  /// {step, count}
  std::vector<std::pair<int64_t, int64_t>> levels;
};

/// A pattern as parts whose nests ascend: each repetition of a level begins
/// behind all of the level inside.
struct SplitPattern {
  explicit SplitPattern(const AccessPattern &pattern);
  /// {step, count}: of the nest of each part, outermost first, and of the
  /// levels that are written out; counts from 2 on.
  std::vector<std::pair<int64_t, int64_t>> levels, parts;
  /// One count is 0.
  bool isEmpty = false;
};

/// All accesses of one kind to one port of a process that is given by cycles.
struct PortAccesses {
  AccessKind access = AccessKind::Read;
  unsigned target = 0;
  /// As in TimedNode.
  int64_t beats = 1, contiguous = 0;
  std::vector<AccessPattern> at;
};

struct TimedProcess {
  std::string name;
  /// compute, dma_in, dma_out, converter, fork, join; for people.
  std::string kind = "compute";
  /// Where it comes from in the model; for people.
  std::string source;
  /// The task of which this is a stage, or empty. Stages of one task follow
  /// each other in `processes`; each program has one outermost loop, over the
  /// segments, with the same trip count in all of them. In program order, as in
  /// the C simulation, the task is one process: in each segment the stages one
  /// after the other, without control FIFOs.
  std::string stageOf;
  /// Given by a program, or else by cycles and a latency.
  bool hasProgram = false;
  TimedSequence program;
  /// From start to end when nothing waits; of a program, its cycles.
  int64_t latency = 0;
  std::vector<PortAccesses> accesses;
};

struct TimedFifo {
  std::string name;
  /// Identical FIFOs that are accessed together.
  int64_t lanes = 1;
  /// Tokens, each of `widthBits` bits; `initialTokens` are there before the
  /// first invocation.
  int64_t depth = 2, widthBits = 32, initialTokens = 0;
  /// Register stages between writer and FIFO: a token is readable so many
  /// cycles later, a freed slot usable so many cycles later.
  int64_t crossing = 0;
  unsigned writer = 0, reader = 0;
  /// Between the halves of a ping-pong buffer; not a stream of the design.
  bool isControl = false;
  /// What an invocation writes is for the next one: before the first one there
  /// are as many tokens as an invocation reads, in place of `initialTokens`.
  bool isCarried = false;

  /// Whether there are tokens before the first invocation: such a FIFO delays
  /// no start.
  bool isFeedback() const { return initialTokens > 0 || isCarried; }
};

/// An array that its reader takes over when its writer has ended.
struct PingPong {
  std::string name;
  unsigned writer = 0, reader = 0;
};

/// Memory behind ports. docs/process-networks.md has the model.
struct TimedChannel {
  std::string name;
  /// Bytes per cycle at the efficiency given.
  double bytesPerCycle = 0;
  /// Cycles from a request to its first beat when nothing is in the way.
  int64_t latency = 0;
};
struct TimedPort {
  std::string name;
  unsigned channel = 0;
  int64_t beatBytes = 64, burstBeats = 64, outstanding = 16;
};
struct MemoryModel {
  /// Of the whole memory, used channels or not, at its peak; 0: unknown.
  double peakBytesPerCycle = 0;
  /// The part of their peak that the channels' `bytesPerCycle` are; 0: unknown.
  double efficiency = 0;
  std::vector<TimedChannel> channels;
  std::vector<TimedPort> ports;
};

/// A parameter that trip counts and conditions depend on.
struct NetworkParameter {
  std::string name;
  int64_t min = 0, max = 0;
};

/// The process stands still for `cycles` when its own time is `at`.
struct InjectedStall {
  unsigned process = 0;
  int64_t at = 0, cycles = 0;
};

struct TimedNetwork {
  std::string design;
  double clockNs = 0;
  std::vector<NetworkParameter> parameters;
  std::vector<TimedProcess> processes;
  std::vector<TimedFifo> fifos;
  std::vector<PingPong> pingPongs;
  MemoryModel memory;
  /// An invocation begins when the one before has ended.
  bool serialInvocations = false;
  /// The parameter that says how many invocations one launch makes; empty: one.
  std::string repeat;
  /// Cycles from a launch by the host to the start of the first process.
  int64_t launchCycles = 0;
  std::vector<InjectedStall> stalls;

  /// Returns what is wrong, or nothing: ends of FIFOs, tokens written unlike
  /// tokens read, negative times, cycles without initial tokens. Parameters
  /// that `values` lacks have their maximum.
  std::optional<std::string> check(const ParameterValues &values = {}) const;

  /// Invocations of one launch; `values` has all parameters.
  int64_t repetitions(const ParameterValues &values) const {
    return repeat.empty() ? 1 : values.at(repeat);
  }
  /// Tokens in `fifo` before the first invocation; `values` has all parameters.
  int64_t initialTokensOf(unsigned fifo, const ParameterValues &values) const;

  /// The largest value of each parameter.
  ParameterValues maxima() const;
  /// `values`, and the largest of each parameter that it lacks.
  ParameterValues complete(const ParameterValues &values) const;

  /// Gives the channels `efficiency` (from 0.01 to 1) in place of the one that
  /// they have. Returns what is wrong: without memory, or where the network
  /// does not know its own, nothing is changed.
  std::optional<std::string> setMemoryEfficiency(double efficiency);
};

/// The same nodes with conditions at `values` of all parameters, without
/// parameters in them. Trip counts stay as they are.
TimedSequence bindConditions(const TimedSequence &sequence,
                             const ParameterValues &values);

/// The accesses to FIFOs of each process in program order, without time, and
/// without memory. Processes given by cycles keep the order of their cycles.
ProcessNetwork programOrder(const TimedNetwork &network,
                            const ParameterValues &values);

/// The accesses to FIFOs of each process in the order of its own time: a
/// pipeline reads for later iterations before it writes for earlier ones, and
/// accesses of one cycle are one group. Stages and control FIFOs are as in
/// `network`. All processes must be given by programs. Whether this ends
/// decides whether the timed network ends, memory aside: when processes start,
/// and how long they take, delays accesses but prevents none.
ProcessNetwork pipelinedOrder(const TimedNetwork &network,
                              const ParameterValues &values);

} // namespace streamtensor

#endif // STREAMTENSOR_NETWORK_TIMEDNETWORK_H
