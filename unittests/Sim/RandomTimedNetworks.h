//===- RandomTimedNetworks.h - Networks with long runs ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random timed networks whose FIFOs move up to some hundred tokens, mostly at
// one rate, so that a simulator can pass many iterations at once.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_SIM_RANDOMTIMEDNETWORKS_H
#define STREAMTENSOR_UNITTESTS_SIM_RANDOMTIMEDNETWORKS_H

#include "unittests/Sim/NaiveTimedSimulator.h"

#include <random>

namespace streamtensor::test {

/// `process` as accesses by cycles. Odd and even accesses of a port become
/// patterns of their own where `interleave` says so.
inline TimedProcess byCycles(const TimedProcess &process, bool interleave) {
  const TimedTrace trace = writeOut(process, {});
  TimedProcess result;
  result.name = process.name;
  result.latency = trace.latency;
  auto portOf = [&](const TimedAccess &access) -> PortAccesses & {
    for (PortAccesses &port : result.accesses)
      if (port.access == access.kind && port.target == access.target)
        return port;
    PortAccesses &port = result.accesses.emplace_back();
    port.access = access.kind;
    port.target = access.target;
    port.beats = access.beats;
    port.contiguous = access.contiguous;
    return port;
  };
  for (const TimedAccess &access : trace.accesses)
    portOf(access).at.push_back({access.time, {}});
  for (PortAccesses &port : result.accesses) {
    std::vector<AccessPattern> patterns;
    std::vector<int64_t> times;
    for (const AccessPattern &pattern : port.at)
      times.push_back(pattern.first);
    const int64_t size = times.size();
    // A nest of two?
    for (int64_t n = 2; patterns.empty() && n < size; ++n) {
      if (size % n != 0)
        continue;
      const int64_t inner = times[1] - times[0], outer = times[n] - times[0];
      bool fits = true;
      for (int64_t i = 0; i < size; ++i)
        fits &= times[i] == times[0] + i / n * outer + i % n * inner;
      if (fits)
        patterns.push_back({times[0], {{outer, size / n}, {inner, n}}});
    }
    const int64_t parts = !patterns.empty() ? 0 : interleave ? 2 : 1;
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t i = part; i < size;) {
        int64_t end = i + parts;
        const int64_t step = end < size ? times[end] - times[i] : 1;
        while (end < size && times[end] - times[end - parts] == step)
          end += parts;
        patterns.push_back({times[i], {{step, (end - i) / parts}}});
        i = end;
      }
    port.at = std::move(patterns);
  }
  return result;
}

class RandomTimedNetworks {
public:
  explicit RandomTimedNetworks(unsigned seed) : engine(seed) {}

  int64_t in(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  bool oneIn(int64_t n) { return in(1, n) == 1; }
  int64_t oneOf(std::initializer_list<int64_t> values) {
    return values.begin()[in(0, int64_t(values.size()) - 1)];
  }

  /// With memory, some processes read and write ports that they share.
  TimedNetwork make(bool withMemory = false) {
    return make(withMemory, oneOf({24, 60, 120, 240, 480}), 8);
  }
  /// With at most `base` tokens per FIFO, and so many FIFOs.
  TimedNetwork make(bool withMemory, int64_t base, unsigned mostFifos) {
    TimedNetwork network;
    const unsigned numProcesses = in(2, 6);
    commonInterval = oneIn(4) ? 0 : in(1, 4);
    // Most networks have little that makes them stop early.
    isCalm = !oneIn(4);
    std::vector<std::vector<End>> ends(numProcesses);
    const unsigned numFifos = in(1, mostFifos);
    for (unsigned i = 0; i < numFifos; ++i) {
      TimedFifo fifo;
      fifo.name = "f" + std::to_string(i);
      fifo.writer = in(0, numProcesses - 2);
      fifo.reader = in(fifo.writer + 1, numProcesses - 1);
      const int64_t tokens =
          isCalm && !oneIn(6) ? base : base / oneOf({1, 1, 1, 1, 2, 4, 12});
      fifo.depth =
          isCalm && !oneIn(3)
              ? oneOf({8, 16, 40, tokens, tokens + 3})
              : oneOf({1, 2, 3, 4, 8, 16, std::max<int64_t>(tokens / 2, 1)});
      if (oneIn(isCalm ? 15 : 6)) {
        // Backwards, or to itself.
        std::swap(fifo.writer, fifo.reader);
        if (oneIn(4))
          fifo.writer = fifo.reader;
        fifo.initialTokens = isCalm ? fifo.depth : in(1, fifo.depth);
      } else if (oneIn(10)) {
        fifo.initialTokens = in(1, fifo.depth);
      }
      if (oneIn(5))
        fifo.crossing = in(1, 5);
      ends[fifo.writer].push_back({AccessKind::Write, i, tokens});
      ends[fifo.reader].push_back({AccessKind::Read, i, tokens});
      network.fifos.push_back(fifo);
    }
    if (withMemory)
      addMemory(network.memory, base, ends);
    for (unsigned i = 0; i < numProcesses; ++i)
      network.processes.push_back(
          makeProcess("p" + std::to_string(i), ends[i]));
    while (oneIn(5)) {
      const unsigned writer = in(0, numProcesses - 2);
      network.pingPongs.push_back(
          {"a", writer, unsigned(in(writer + 1, numProcesses - 1))});
    }
    while (oneIn(4))
      network.stalls.push_back(
          {unsigned(in(0, numProcesses - 1)), in(0, 2 * base), in(0, 40)});
    network.serialInvocations = oneIn(6);
    if (oneIn(5))
      network.launchCycles = in(1, 50);
    return network;
  }

private:
  /// What a process, or a part of it, does at one end of a FIFO, or with one
  /// port.
  struct End {
    AccessKind kind;
    unsigned fifo;
    int64_t tokens;
    int64_t beats = 1, contiguous = 0;
  };

  void addMemory(MemoryModel &memory, int64_t base,
                 std::vector<std::vector<End>> &ends) {
    const unsigned numChannels = in(1, 2), numPorts = in(1, 3);
    for (unsigned i = 0; i < numChannels; ++i) {
      TimedChannel &channel = memory.channels.emplace_back();
      channel.name = "c" + std::to_string(i);
      channel.bytesPerCycle = double(oneOf({16, 64, 128, 299, 1000, 64})) /
                              double(oneOf({1, 1, 7}));
      channel.latency = oneOf({0, 1, 20, 60});
    }
    for (unsigned i = 0; i < numPorts; ++i) {
      TimedPort &port = memory.ports.emplace_back();
      port.name = "m" + std::to_string(i);
      port.channel = in(0, numChannels - 1);
      port.beatBytes = oneOf({8, 64, 64});
      port.burstBeats = oneOf({1, 3, 16, 64});
      port.outstanding = oneOf({1, 2, 4, 16});
      // Mostly one process in each direction.
      const bool isShared = oneIn(3);
      for (AccessKind kind : {AccessKind::MemoryRead, AccessKind::MemoryWrite})
        for (unsigned process = in(0, ends.size() - 1);
             process < ends.size() && !oneIn(5); ++process) {
          ends[process].push_back({kind, i, base / oneOf({1, 1, 2}),
                                   oneOf({1, 1, 1, 2, 5}),
                                   oneIn(2) ? 0 : in(1, 40)});
          if (!isShared)
            break;
        }
    }
  }

  TimedProcess makeProcess(std::string name, const std::vector<End> &ends) {
    TimedProcess process;
    process.name = std::move(name);
    process.hasProgram = true;
    const unsigned numPhases = isCalm && !oneIn(6) ? 1 : in(1, 3);
    std::vector<std::vector<End>> phases(numPhases);
    for (const End &end : ends) {
      if ((isCalm || oneIn(2)) && end.tokens % (2 * numPhases) == 0) {
        for (std::vector<End> &phase : phases)
          phase.push_back({end.kind, end.fifo, end.tokens / numPhases,
                           end.beats, end.contiguous});
      } else {
        phases[in(0, numPhases - 1)].push_back(end);
      }
    }
    for (const std::vector<End> &phase : phases) {
      if (oneIn(3))
        process.program.push_back(waitFor(in(0, 9)));
      addPhase(phase, process.program);
    }
    if (oneIn(3))
      return byCycles(process, oneIn(3));
    return process;
  }

  void addPhase(const std::vector<End> &ends, TimedSequence &program) {
    int64_t iterations = 1;
    for (const End &end : ends)
      iterations = std::max(iterations, end.tokens);
    if (oneIn(5))
      iterations *= 2;
    if (oneIn(8)) {
      const unsigned level = 0;
      TimedSequence body =
          makeBody(ends, iterations, IndexExpr::induction(level), level, 0, 0);
      for (size_t i = body.size(); i > 1; --i)
        std::swap(body[i - 1], body[in(0, i - 1)]);
      body.insert(body.begin() + in(0, body.size()), waitFor(in(0, 3)));
      program.push_back(timedLoop(iterations, std::move(body), in(1, 3)));
      return;
    }
    const int64_t interval = commonInterval ? commonInterval : in(1, 4);
    const int64_t depth = oneOf({1, 2, 3, 8, 20});
    // One loop, a nest of two, or a loop around a pipeline.
    const int64_t inner = oneIn(2) ? oneOf({2, 3, 4, 6}) : 1;
    if (inner == 1 || iterations % inner != 0) {
      program.push_back(timedPipeline(
          {iterations}, interval, depth,
          makeBody(ends, iterations, IndexExpr::induction(0), 0, 0, depth)));
      return;
    }
    const int64_t outer = iterations / inner;
    if (oneIn(3)) {
      // The outer loop is the short one, so that pipelines are long.
      const IndexExpr flat =
          IndexExpr::induction(0) * outer + IndexExpr::induction(1);
      program.push_back(timedLoop(
          inner,
          {timedPipeline({outer}, interval, depth,
                         makeBody(ends, iterations, flat, 1, outer, depth))},
          in(0, 2)));
      return;
    }
    const IndexExpr flat =
        IndexExpr::induction(0) * inner + IndexExpr::induction(1);
    program.push_back(
        timedPipeline({outer, inner}, interval, depth,
                      makeBody(ends, iterations, flat, 1, inner, depth)));
  }

  /// Accesses under conditions on the iteration `flat`, whose innermost loop is
  /// at `level` and makes `inner` iterations (0: is the only one).
  TimedSequence makeBody(const std::vector<End> &ends, int64_t iterations,
                         const IndexExpr &flat, unsigned level, int64_t inner,
                         int64_t depth) {
    TimedSequence body;
    for (const End &end : ends) {
      const int64_t stage = depth > 0 ? in(0, depth - 1) : 0;
      TimedNode access = timedRead(end.fifo, stage);
      access.access = end.kind;
      access.beats = end.beats;
      access.contiguous = end.contiguous;
      if (end.tokens == iterations) {
        body.push_back(std::move(access));
        continue;
      }
      TimedNode node;
      node.kind = TimedNode::Kind::Branch;
      const int64_t every = iterations / end.tokens;
      const bool divides = iterations % end.tokens == 0;
      if (inner > 0 && end.tokens % (iterations / inner) == 0 && oneIn(2)) {
        node.condition =
            IndexExpr::induction(level) < end.tokens / (iterations / inner);
      } else if (inner > 0 && end.tokens % inner == 0 && oneIn(2)) {
        node.condition = IndexExpr::induction(level - 1) < end.tokens / inner;
      } else if (divides && oneIn(2)) {
        node.condition =
            IndexExpr::binary(IndexExpr::Op::Mod, flat,
                              IndexExpr::constant(every)) == in(0, every - 1);
      } else if (oneIn(2)) {
        node.condition = flat < end.tokens;
      } else {
        node.condition = flat < iterations - end.tokens;
        node.otherwise.push_back(std::move(access));
        body.push_back(std::move(node));
        continue;
      }
      node.body.push_back(std::move(access));
      body.push_back(std::move(node));
    }
    return body;
  }

  std::mt19937 engine;
  /// The initiation interval of all pipelines; 0: each has its own.
  int64_t commonInterval = 0;
  bool isCalm = true;
};

} // namespace streamtensor::test

#endif // STREAMTENSOR_UNITTESTS_SIM_RANDOMTIMEDNETWORKS_H
