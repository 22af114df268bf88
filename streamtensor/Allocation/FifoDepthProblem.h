//===- FifoDepthProblem.h - How deep each FIFO must be ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which depths let a network of processes end when every access is made in
// program order. The problem checks its input and judges any solution; solvers
// stand in files of their own. docs/fifo-depths.md has the model and the
// proofs.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_FIFODEPTHPROBLEM_H
#define STREAMTENSOR_ALLOCATION_FIFODEPTHPROBLEM_H

#include "streamtensor/Network/AccessProgram.h"

namespace streamtensor {

/// Which full FIFOs of a cycle may grow; of these the smallest in bits does.
enum class GrowingFifo { Any, NextToReader, NextToFirstWriter };

struct FifoDepthSolution {
  /// In tokens, one per FIFO of the network.
  std::vector<int64_t> depths;
  /// Why, one per FIFO, for people.
  std::vector<std::string> reasons;
  /// What a solver let grow to get there.
  GrowingFifo choice = GrowingFifo::Any;
};

class FifoDepthProblem {
public:
  ProcessNetwork network;
  /// Per FIFO, in tokens: the depth that it has without need. At least 1.
  std::vector<int64_t> baseDepths;
  /// Per FIFO: what one token costs, in bits. At least 1.
  std::vector<int64_t> tokenBits;

  /// Appends a FIFO and returns its index.
  unsigned addFifo(std::string name, int64_t baseDepth = 2, int64_t bits = 32);
  unsigned addProcess(std::string name, AccessSequence program) {
    return network.addProcess(std::move(name), std::move(program));
  }

  /// The base depth, but no more than the tokens that pass, and at least 1.
  int64_t getLeastDepth(unsigned fifo) const;

  /// Connects the network; fails when it is malformed. Everything below needs a
  /// problem that passed.
  std::optional<NetworkIssue> check();

  /// Returns what is wrong with a solution, or nothing. It must
  ///  - lie between the least depth and the number of tokens of each FIFO;
  ///  - let the network end;
  ///  - be minimal: each FIFO above its least depth, made one token shallower
  ///    while the others stay, deadlocks.
  std::optional<std::string> verify(const FifoDepthSolution &solution) const;
};

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_FIFODEPTHPROBLEM_H
