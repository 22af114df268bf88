//===- Steps.h - Programs as steps of counters ---------------- -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program of a process, or of all stages of a task, at fixed values of the
// parameters: a flat list of steps for the execution of either order.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_STEPS_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_STEPS_H

#include "tools/streamtensor-check-certificate/Network.h"

#include <memory>

namespace streamtensor::certificate {

enum class Order : uint8_t {
  /// One access after the other, as in C simulation; stages of a task are one
  /// process, without control FIFOs.
  Program,
  /// In own time: what a process accesses in one cycle happens at once.
  Pipelined
};

const char *spell(Order order);

/// One end of a FIFO.
struct End {
  unsigned fifo = 0;
  bool isRead = false;
};
inline bool operator==(const End &a, const End &b) {
  return a.fifo == b.fifo && a.isRead == b.isRead;
}

/// How often an end is accessed.
struct EndCount {
  End end;
  int64_t count = 1;
};

/// A flattened nest, iteration by iteration. In pipelined order its own time is
/// counted in periods of `ii` cycles; an access at stage q * ii + r happens in
/// group r of the periods from q to q + iterations - 1.
struct Nest {
  struct Access {
    End end;
    int64_t stage = 0, period = 0;
    /// All must hold (or not hold).
    std::vector<std::pair<const Condition *, bool>> guards;
  };
  unsigned level = 0;
  std::vector<int64_t> trips;
  int64_t iterations = 0, ii = 1;
  /// Program order: in the order of the text.
  std::vector<Access> accesses;
  bool hasGuards = false;
  /// Pipelined order: indices of accesses that share a cycle, by cycle within
  /// the period; whether the first group is at the begin of the nest.
  std::vector<std::vector<unsigned>> groups;
  bool startsAtOnce = false;
  /// Periods (in program order, iterations) from `begin` to `end` make the
  /// same accesses.
  struct Phase {
    int64_t begin = 0, end = 0;
    std::vector<EndCount> ends;
  };
  std::vector<Phase> phases;
};

struct Step {
  enum class Kind : uint8_t {
    Access,
    Advance,   ///< time passes
    LoopBegin, ///< `level`, `trips`; jumps to `target` without iterations
    LoopEnd,   ///< jumps to `target` for another iteration
    Branch,    ///< jumps to `target` where the condition does not hold
    Jump,
    Nest, ///< number `target` of the nests
    End
  };
  Kind kind = Kind::End;
  End end;
  unsigned level = 0, target = 0;
  int64_t trips = 0;
  const Condition *condition = nullptr;
};

/// What is executed as one.
struct Program {
  std::string name;
  /// The processes of the network that it stands for.
  unsigned first = 0, last = 0;
  std::vector<Step> steps;
  std::vector<Nest> nests;
  /// At the values of the parameters; steps and nests point to them.
  std::vector<std::unique_ptr<const Condition>> conditions;
};

/// The programs of a network, which must outlive them. Refuses negative trip
/// counts, and in pipelined order two accesses of one end in one cycle.
std::vector<Program> programsOf(const Network &network, const Values &values,
                                Order order);

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_STEPS_H
