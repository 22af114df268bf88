//===- Network.h - The network of a design -------------------- -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the checker knows of network.pn.json: programs of accesses, FIFOs,
// parameters. Time is kept as far as it decides which accesses of a process
// happen together.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_NETWORK_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_NETWORK_H

#include "tools/streamtensor-check-certificate/Expression.h"

namespace streamtensor::certificate {

struct Parameter {
  std::string name;
  int64_t min = 0, max = 0;
};

/// Iterations of a loop of which a run at smaller values keeps the first ones,
/// or the last ones.
struct Part {
  Expression count;
  bool keepsLast = false;
};

/// A loop: how often, and in which parts it is shortened.
struct Loop {
  Expression trip;
  /// Their counts sum to `trip`.
  std::vector<Part> parts;

  /// The parts when the parameters in `fixed` have these values: one where the
  /// trip count then is constant, because nothing is shortened.
  std::vector<Part> partsAt(const Values &fixed) const;
};

struct Node;
using Sequence = std::vector<Node>;

struct Node {
  enum class Kind : uint8_t { Access, Wait, Loop, Pipeline, Branch };
  Kind kind = Kind::Wait;
  /// Access of a FIFO.
  unsigned fifo = 0;
  bool isRead = false;
  /// Access in a pipeline: cycles after its iteration began.
  int64_t stage = 0;
  /// Wait: how many. Loop: after each iteration.
  int64_t cycles = 0;
  /// Loop: one. Pipeline: of the nest, outermost first.
  std::vector<Loop> loops;
  /// Loop, Pipeline: how many loops are around it.
  unsigned level = 0;
  int64_t ii = 1, depth = 1;
  Condition condition;
  /// Loop, Pipeline: the body. Branch: where the condition holds.
  Sequence body;
  /// Branch: where it does not.
  Sequence otherwise;
};

struct Process {
  std::string name;
  /// The task of which it is a stage, or empty.
  std::string task;
  Sequence program;
};

struct Fifo {
  std::string name;
  int64_t depth = 0, initialTokens = 0;
  unsigned writer = 0, reader = 0;
  bool isControl = false;
  /// Before the first invocation there are as many tokens as one reads, in
  /// place of `initialTokens`.
  bool isCarried = false;

  bool isFeedback() const { return initialTokens > 0 || isCarried; }
};

/// An array that its reader takes over when its writer has ended.
struct Array {
  unsigned writer = 0, reader = 0;
};

struct Network {
  std::vector<Parameter> parameters;
  std::vector<Process> processes;
  std::vector<Fifo> fifos;
  std::vector<Array> arrays;
  bool isSerial = false;

  Values minima() const;
  Values maxima() const;
  std::set<std::string> parameterNames() const;
  unsigned findProcess(const std::string &name, const std::string &place) const;
};

/// No deeper nest of loops.
constexpr unsigned kMaxLevels = 64;

/// Reads and checks the structure: each FIFO has one writer and one reader, and
/// stages of a task follow each other.
Network readNetwork(const Json &document, const std::string &path);

/// The parameters of a file, in its order.
std::vector<Parameter> readParameters(const Json &list,
                                      const std::string &place);

/// The loops of a program, numbered in the order of its text, outer ones before
/// those inside; each loop of a pipeline's nest counts.
std::vector<Loop *> loopsOf(Sequence &program);

/// The index of the loop over the segments in the program of a stage.
size_t segmentLoop(const Process &stage);

/// Where the stages of the task of process `first` end: the index of the next
/// process. A process that is no stage is alone.
size_t endOfTask(const Network &network, size_t first);

/// The conditions of `sequence` at these values of parameters.
void bindConditions(Sequence &sequence, const Values &values);

/// Tokens in `fifo` before the first invocation at these values.
int64_t initialTokensOf(const Network &network, unsigned fifo,
                        const Values &values);

/// Whether `sequence` touches a FIFO.
bool hasAccess(const Sequence &sequence);

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_NETWORK_H
