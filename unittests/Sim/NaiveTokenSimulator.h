//===- NaiveTokenSimulator.h - One access at a time -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle of the token simulator: programs are written out access by access,
// and processes take turns, one access each, until none can go on.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_SIM_NAIVETOKENSIMULATOR_H
#define STREAMTENSOR_UNITTESTS_SIM_NAIVETOKENSIMULATOR_H

#include "streamtensor/Network/AccessProgram.h"

#include <random>
#include <utility>

namespace streamtensor::test {

struct SingleAccess {
  unsigned fifo;
  bool isWrite;
  /// The next one happens together with it.
  bool withNext = false;
};

inline void writeOut(const AccessSequence &sequence,
                     std::vector<int64_t> &inductions,
                     std::vector<SingleAccess> &trace) {
  for (const AccessNode &node : sequence) {
    switch (node.kind) {
    case AccessNode::Kind::Read:
    case AccessNode::Kind::Write:
      for (int64_t i = 0; i < node.count; ++i)
        trace.push_back({node.fifo, node.kind == AccessNode::Kind::Write});
      break;
    case AccessNode::Kind::Group:
      for (const AccessNode &member : node.body)
        trace.push_back(
            {member.fifo, member.kind == AccessNode::Kind::Write, true});
      trace.back().withNext = false;
      break;
    case AccessNode::Kind::Loop:
      for (int64_t i = 0; i < node.count; ++i) {
        inductions.push_back(i);
        writeOut(node.body, inductions, trace);
        inductions.pop_back();
      }
      break;
    case AccessNode::Kind::Branch:
      writeOut(node.condition.evaluate(inductions.data()) ? node.body
                                                          : node.otherwise,
               inductions, trace);
      break;
    }
  }
}

inline std::vector<SingleAccess> writeOut(const AccessSequence &sequence) {
  std::vector<int64_t> inductions;
  std::vector<SingleAccess> trace;
  writeOut(sequence, inductions, trace);
  return trace;
}

/// Where a network stands when nothing can go on.
struct NaiveState {
  bool ended = true;
  /// Accesses made, per process.
  std::vector<size_t> positions;
  std::vector<int64_t> written, read;
};

class NaiveTokenSimulator {
public:
  explicit NaiveTokenSimulator(const ProcessNetwork &network)
      : network(network), numFifos(network.fifos.size()) {
    for (const AccessProcess &process : network.processes)
      traces.push_back(writeOut(process.program));
  }

  NaiveState run(const std::vector<int64_t> &depths) const {
    NaiveState state;
    state.positions.assign(traces.size(), 0);
    state.written.assign(numFifos, 0);
    // As if the initial tokens had been written before.
    for (const AccessFifo &fifo : network.fifos)
      state.read.push_back(-fifo.initialTokens);
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t process = 0; process < traces.size(); ++process) {
        size_t &position = state.positions[process];
        if (position == traces[process].size())
          continue;
        const size_t end = endOfGroup(process, position);
        bool lacks = false;
        for (size_t i = position; i < end; ++i)
          lacks |= isLacking(state, depths, traces[process][i]);
        if (lacks)
          continue;
        for (; position < end; ++position) {
          const SingleAccess &access = traces[process][position];
          ++(access.isWrite ? state.written : state.read)[access.fifo];
        }
        moved = true;
      }
    }
    for (size_t process = 0; process < traces.size(); ++process)
      state.ended &= state.positions[process] == traces[process].size();
    return state;
  }

  /// Behind the accesses that happen together with the one at `position`.
  size_t endOfGroup(size_t process, size_t position) const {
    while (traces[process][position].withNext)
      ++position;
    return position + 1;
  }

  static bool isLacking(const NaiveState &state,
                        const std::vector<int64_t> &depths,
                        const SingleAccess &access) {
    const int64_t fill = state.written[access.fifo] - state.read[access.fifo];
    return access.isWrite ? fill >= depths[access.fifo] : fill == 0;
  }

  const std::vector<SingleAccess> &getTrace(size_t process) const {
    return traces[process];
  }

private:
  const ProcessNetwork &network;
  size_t numFifos;
  std::vector<std::vector<SingleAccess>> traces;
};

/// A random network of up to 5 processes and 7 FIFOs with few tokens. Without
/// `feedback` FIFOs lead from lower to higher processes only, so that deep
/// enough FIFOs always let it end.
class RandomNetworks {
public:
  explicit RandomNetworks(unsigned seed) : engine(seed) {}

  int64_t in(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }

  ProcessNetwork make(bool feedback) {
    ProcessNetwork network;
    const unsigned numProcesses = in(2, 5);
    const unsigned numFifos = in(1, 7);
    const int64_t trip = in(1, 4);
    std::vector<std::vector<AccessNode>> perIteration(numProcesses);
    for (unsigned fifo = 0; fifo < numFifos; ++fifo) {
      network.addFifo("f" + std::to_string(fifo));
      unsigned writer = in(0, numProcesses - 2);
      unsigned reader = in(writer + 1, numProcesses - 1);
      if (feedback && in(0, 4) == 0)
        std::swap(writer, reader);
      const int64_t tokens = in(1, 3);
      perIteration[writer].push_back(write(fifo, tokens));
      perIteration[reader].push_back(read(fifo, tokens));
    }
    for (unsigned process = 0; process < numProcesses; ++process)
      network.addProcess("p" + std::to_string(process),
                         makeProgram(perIteration[process], trip));
    return network;
  }

  /// The same with loops of up to some hundred iterations, one or two deep,
  /// with conditions that repeat, and groups. Most networks have one common
  /// rhythm.
  ProcessNetwork makeLong(bool feedback) {
    ProcessNetwork network;
    const unsigned numProcesses = in(2, 6);
    const unsigned numFifos = in(1, 7);
    const int64_t outer = in(1, 24), inner = in(1, 24);
    std::vector<AccessSequence> perIteration(numProcesses);
    for (unsigned fifo = 0; fifo < numFifos; ++fifo) {
      network.addFifo("f" + std::to_string(fifo));
      unsigned writer = in(0, numProcesses - 2);
      unsigned reader = in(writer + 1, numProcesses - 1);
      if (feedback && in(0, 4) == 0) {
        std::swap(writer, reader);
        network.fifos[fifo].initialTokens = in(1, 3);
      }
      const int64_t tokens = in(0, 3) ? 1 : in(2, 4);
      perIteration[writer].push_back(write(fifo, tokens));
      perIteration[reader].push_back(read(fifo, tokens));
    }
    for (unsigned process = 0; process < numProcesses; ++process)
      network.addProcess("p" + std::to_string(process),
                         makeLongProgram(perIteration[process], outer, inner));
    return network;
  }

private:
  /// One of two bodies, as a condition on the iteration `flat` decides.
  AccessSequence decided(const AccessSequence &runs, const IndexExpr &flat,
                         int64_t iterations) {
    IndexExpr condition = flat < in(0, iterations);
    const IndexExpr every = IndexExpr::constant(in(2, 6));
    const IndexExpr some = IndexExpr::constant(in(1, 5));
    switch (in(0, 3)) {
    case 0:
      condition = IndexExpr::binary(IndexExpr::Op::Mod, flat * in(1, 3),
                                    every) < in(0, 5);
      break;
    case 1:
      condition = IndexExpr::binary(
                      IndexExpr::Op::Mod,
                      IndexExpr::binary(IndexExpr::Op::FloorDiv, flat, some),
                      every) == in(0, 2);
      break;
    case 2:
      condition =
          IndexExpr::binary(
              IndexExpr::Op::Mod,
              IndexExpr::binary(IndexExpr::Op::CeilDiv,
                                flat + IndexExpr::constant(in(0, 9)), some),
              every) >= in(0, 3);
      break;
    default:
      break;
    }
    return {branch(condition, makeBody(runs), makeBody(runs))};
  }

  AccessSequence makeLongProgram(const AccessSequence &runs, int64_t outer,
                                 int64_t inner) {
    const int64_t iterations = outer * inner;
    const IndexExpr first = IndexExpr::induction(0);
    switch (in(0, 6)) {
    case 0:
      return {loop(outer, {loop(inner, makeBody(runs))})};
    case 1:
      return {loop(iterations, makeBody(runs))};
    case 2:
      return {loop(iterations, decided(runs, first, iterations))};
    case 3:
      return {loop(
          outer,
          {loop(inner, decided(runs, first * inner + IndexExpr::induction(1),
                               iterations))})};
    case 4: { // together, as far as one token of each FIFO goes
      AccessSequence once, more;
      for (AccessNode run : runs) {
        const int64_t count = std::exchange(run.count, 1);
        once.push_back(run);
        run.count = count - 1;
        if (count > 1)
          more.push_back(run);
      }
      if (!once.empty())
        more.push_back(together(once));
      return {loop(iterations, more)};
    }
    case 5: { // one FIFO after the other in each outer iteration
      AccessSequence body;
      for (AccessNode run : runs) {
        run.count *= inner;
        body.push_back(run);
      }
      return {loop(outer, shuffled(body))};
    }
    default: { // two loops after each other
      const int64_t some = in(0, iterations);
      return {loop(some, makeBody(runs)),
              loop(iterations - some, makeBody(runs))};
    }
    }
  }

  AccessSequence shuffled(AccessSequence sequence) {
    for (size_t i = sequence.size(); i > 1; --i)
      std::swap(sequence[i - 1], sequence[in(0, i - 1)]);
    return sequence;
  }

  /// One body: runs split into single accesses or kept, or wrapped in loops.
  AccessSequence makeBody(const AccessSequence &runs) {
    AccessSequence parts;
    for (const AccessNode &run : runs) {
      AccessNode single = run;
      single.count = 1;
      switch (in(0, 2)) {
      case 0:
        parts.push_back(run);
        break;
      case 1:
        for (int64_t i = 0; i < run.count; ++i)
          parts.push_back(single);
        break;
      case 2:
        parts.push_back(loop(run.count, {single}));
        break;
      }
    }
    return shuffled(parts);
  }

  /// As many accesses as `trip` iterations of `runs`, in a random form.
  AccessSequence makeProgram(const AccessSequence &runs, int64_t trip) {
    switch (in(0, 3)) {
    case 0:
      return {loop(trip, makeBody(runs))};
    case 1: { // one FIFO after the other
      AccessSequence result;
      for (AccessNode run : runs) {
        run.count *= trip;
        result.push_back(run);
      }
      return shuffled(result);
    }
    case 2: // another order from some iteration on
      return {loop(trip, {branch(IndexExpr::induction(0) < in(0, trip),
                                 makeBody(runs), makeBody(runs))})};
    default: { // every iteration its own order
      AccessSequence result;
      for (int64_t i = 0; i < trip; ++i)
        for (AccessNode &node : makeBody(runs))
          result.push_back(node);
      return result;
    }
    }
  }

  std::mt19937 engine;
};

} // namespace streamtensor::test

#endif // STREAMTENSOR_UNITTESTS_SIM_NAIVETOKENSIMULATOR_H
