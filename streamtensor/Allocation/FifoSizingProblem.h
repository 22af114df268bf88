//===- FifoSizingProblem.h - Depths from profiles ---------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How deep FIFOs must be so that nobody waits to write, by a linear model of
// when each task reads and writes: start times are chosen by a linear program,
// depths follow from them. The problem checks its input and judges any
// solution; solvers stand in files of their own. docs/fifo-sizing.md has the
// mathematics, and says what is proven and what is estimated.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_FIFOSIZINGPROBLEM_H
#define STREAMTENSOR_ALLOCATION_FIFOSIZINGPROBLEM_H

#include "streamtensor/Allocation/DelayProgram.h"
#include "streamtensor/Allocation/FifoStrategy.h"

namespace streamtensor {

/// When a task touches one end of an edge, in cycles of its own time: token k
/// of T passes at first + floor(k * (last - first) / (T - 1)). The initiation
/// interval is (last - first) / (T - 1), any fraction of at least 1.
struct PortProfile {
  int64_t first = 0, last = 0;
};

struct SizingTask {
  std::string name;
  /// From start to end when nothing waits, in cycles.
  int64_t latency = 0;
  /// The part between reading and writing of one iteration. It stays the same
  /// when the task is slowed down.
  int64_t pipelineDepth = 0;
};

/// A FIFO, or an array that is handed over whole.
struct SizingEdge {
  std::string name;
  unsigned source = 0, target = 0;
  /// An array: the target starts when the source has ended. It has no depth,
  /// and nothing below counts.
  bool isPingPong = false;
  /// In one execution, the same for writer and reader.
  int64_t tokens = 0;
  int64_t tokenBits = 32;
  /// Of the source and of the target. Without meaning when there are no tokens.
  PortProfile write, read;
  /// A depth that it has anyway, for instance for freedom of deadlock. More
  /// than all tokens counts as all tokens.
  int64_t minDepth = 1;
  /// A depth that it must not exceed.
  std::optional<int64_t> maxDepth;
  /// There before the first execution: an edge that closes a cycle.
  int64_t initialTokens = 0;
  /// Register stages, each a cycle in both directions (TimedFifo::crossing).
  int64_t crossing = 0;
};

/// How start times were found.
enum class SizingMethod {
  Clp,         ///< the optimum, by CLP
  Circulation, ///< the same optimum, by the built-in solver
  Earliest     ///< each task as early as possible: feasible, not optimal
};
std::string_view sizingMethodName(SizingMethod method);

struct FifoSizingSolution {
  /// One per task, in cycles.
  std::vector<int64_t> starts;
  /// In tokens, one per edge; 0 for ping-pong arrays.
  std::vector<int64_t> depths;
  /// Of all FIFOs: depth times bits of a token.
  double bits = 0;
  /// The value of the linear program, in bits.
  double objective = 0;
  SizingMethod method = SizingMethod::Earliest;
  /// That no start times have a smaller objective; absent where that is not
  /// claimed.
  std::optional<DelayCertificate> certificate;
};

class FifoSizingProblem {
public:
  std::vector<SizingTask> tasks;
  std::vector<SizingEdge> edges;
  /// Normal: each task at its own rate. Conservative: each as slow as the
  /// slowest. Min is not a question of rates and refused.
  FifoStrategy strategy = FifoStrategy::Normal;

  /// Appends a task or an edge and returns its index.
  unsigned addTask(std::string name, int64_t latency,
                   int64_t pipelineDepth = 0);
  unsigned addEdge(SizingEdge edge);

  /// Returns what is wrong, or nothing: indices, negative or huge numbers, more
  /// than one token per cycle, accesses after the end of a task, a cycle
  /// without initial tokens (which is named), maximal depths that no start
  /// times keep (whose edges are named). Everything below needs a problem that
  /// passed.
  std::optional<std::string> check() const;

  /// Returns what is wrong with a solution, or nothing. It must
  ///  - have start times at which every first token is there when it is read,
  ///    and at which the last task ends as early as it can;
  ///  - have the depths that follow from them;
  ///  - state its bits and its objective;
  ///  - be the optimum of the linear program if it has a certificate.
  std::optional<std::string> verify(const FifoSizingSolution &solution) const;

  /// The profile of an end of an edge under the strategy.
  PortProfile writeProfile(unsigned edge) const;
  PortProfile readProfile(unsigned edge) const;

  /// The start of the target less the start of the source is at least this;
  /// nothing where it does not matter.
  std::optional<int64_t> leastDelay(unsigned edge) const;
  /// The depth when the target starts `delay` cycles after the source.
  int64_t depthAt(unsigned edge, int64_t delay) const;
  /// The largest delay at which `depth` tokens are enough; nothing when any is.
  std::optional<int64_t> mostDelay(unsigned edge, int64_t depth) const;

  /// The linear program over start times. Node i is task i as it runs without
  /// waiting, node tasks + i its start in hardware, the last node time 0. Arc i
  /// belongs to edge i; arcs behind those keep maximal depths, the rules of
  /// starting, and let no task end later than the last one must.
  DelayProgram delayProgram() const;
  /// When tasks start in hardware at these start times: one cycle after the
  /// last source of a FIFO without initial tokens has started, and after the
  /// source of an array has ended.
  std::vector<int64_t> hardwareStarts(const std::vector<int64_t> &starts) const;
  /// When the last task ends if all start as early as they can.
  int64_t latestEnd() const;
  /// What a cycle of delay costs in bits is counted in parts of this many.
  static constexpr int64_t kPriceUnit = 1024;

  /// Depths, bits and objective at these start times.
  FifoSizingSolution solutionAt(std::vector<int64_t> starts) const;
  /// For people: why the edge is as deep as it is.
  std::string explain(unsigned edge, const FifoSizingSolution &solution) const;

private:
  std::optional<std::string> checkTasks() const;
  std::optional<std::string> checkEdge(const SizingEdge &edge) const;
  std::optional<std::string> findCycle() const;
  std::optional<std::string> findContradiction() const;
  DelayProgram dependences() const;
  std::vector<int64_t> startsAfter(const std::vector<int64_t> &starts) const;
  std::vector<int64_t> allNodes(const std::vector<int64_t> &starts) const;
  int64_t slowestWork() const;
  int64_t slowedLatency(unsigned task) const;
  PortProfile equalized(const SizingEdge &edge, PortProfile port) const;
  int64_t price(unsigned edge) const;
  int64_t tokensAhead(unsigned edge, int64_t delay) const;
};

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_FIFOSIZINGPROBLEM_H
