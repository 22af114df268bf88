//===- AccessProgram.h - FIFO accesses of processes -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reads and writes of FIFOs that a process makes, in program order, as a
// tree of loops and branches; and a network of such processes. Everything else
// that a process computes is left out: which accesses follow each other never
// depends on data. Without MLIR, so that tests can write networks by hand.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_NETWORK_ACCESSPROGRAM_H
#define STREAMTENSOR_NETWORK_ACCESSPROGRAM_H

#include "streamtensor/Network/IndexExpr.h"

#include <optional>

namespace streamtensor {

struct AccessNode;
/// Executed one after the other.
using AccessSequence = std::vector<AccessNode>;

/// A run of accesses, a loop, a branch, or a group of single accesses that
/// happen together or not at all.
struct AccessNode {
  enum class Kind : uint8_t { Read, Write, Loop, Branch, Group };
  Kind kind = Kind::Loop;
  /// Read, Write: the FIFO, an index into ProcessNetwork::fifos.
  unsigned fifo = 0;
  /// Read, Write: how many tokens in a row. Loop: the trip count. Not negative.
  int64_t count = 1;
  /// Branch: over the loops around it, level 0 outermost.
  IndexExpr condition;
  /// Loop: the body. Branch: where the condition holds. Group: reads and writes
  /// of one token each, at most one at each end of a FIFO.
  AccessSequence body;
  /// Branch: where the condition does not hold.
  AccessSequence otherwise;

  bool isAccess() const { return kind == Kind::Read || kind == Kind::Write; }
};

/// Short forms to write programs by hand.
AccessNode read(unsigned fifo, int64_t count = 1);
AccessNode write(unsigned fifo, int64_t count = 1);
AccessNode loop(int64_t trip, AccessSequence body);
AccessNode branch(IndexExpr condition, AccessSequence body,
                  AccessSequence otherwise = {});
AccessNode together(AccessSequence accesses);

/// The same accesses in the same order with fewer nodes: loops around one run
/// become a longer run, perfectly nested loops one loop, neighbouring runs on
/// one FIFO one run; what is never executed disappears. Loops around a branch
/// keep their level, because conditions name loops by level.
AccessSequence simplify(const AccessSequence &sequence);

/// The accesses to one FIFO.
struct AccessCount {
  int64_t reads = 0;
  int64_t writes = 0;
};
/// Counts the accesses to each of `numFifos` FIFOs. Loops are multiplied out;
/// only loops whose induction variable decides a branch are enumerated.
std::vector<AccessCount> countAccesses(const AccessSequence &sequence,
                                       size_t numFifos);

/// A process: its accesses in program order, then its end.
struct AccessProcess {
  std::string name;
  AccessSequence program;
};

/// A FIFO with one writer and one reader.
struct AccessFifo {
  std::string name;
  /// In the FIFO before the first run.
  int64_t initialTokens = 0;
  /// Filled by ProcessNetwork::connect: indices into `processes`, and the
  /// number of tokens that pass in one run.
  unsigned writer = 0;
  unsigned reader = 0;
  int64_t tokens = 0;
};

/// What is wrong with a network, with the processes it concerns.
struct NetworkIssue {
  std::string message;
  std::optional<unsigned> process;
  std::optional<unsigned> other;
};

/// Processes that run concurrently and communicate through FIFOs only (a Kahn
/// process network).
struct ProcessNetwork {
  std::vector<AccessProcess> processes;
  std::vector<AccessFifo> fifos;

  /// Appends one and returns its index.
  unsigned addFifo(std::string name);
  unsigned addProcess(std::string name, AccessSequence program);

  /// Finds writer, reader and tokens of every FIFO. Fails when a FIFO does not
  /// have exactly one writer and one reader, when both do not agree on the
  /// number of tokens, or when a program is malformed.
  std::optional<NetworkIssue> connect();
};

/// All accesses of each process written out, a process on a line: its name,
/// then `r FIFO COUNT` and `w FIFO COUNT`, equal neighbours as one, separated
/// by tabs. For comparison with what a simulation of the code records.
std::string writeOut(const ProcessNetwork &network);

/// For people, on one line: `loop 4 { read x * 8; write y }`. The network gives
/// the names.
std::string toString(const AccessSequence &sequence,
                     const ProcessNetwork &network);

} // namespace streamtensor

#endif // STREAMTENSOR_NETWORK_ACCESSPROGRAM_H
