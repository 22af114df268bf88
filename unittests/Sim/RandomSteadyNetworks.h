//===- RandomSteadyNetworks.h - Networks that repeat themselves -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random chains of the processes that compiled designs are made of: loads,
// forks, products that wait for a token in each step, converters in two halves,
// stores. Most FIFOs are shallow, and everything moves row by row, block by
// block, step by step, so that a simulator can pass whole rows at once.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_SIM_RANDOMSTEADYNETWORKS_H
#define STREAMTENSOR_UNITTESTS_SIM_RANDOMSTEADYNETWORKS_H

#include "unittests/Sim/NaiveTimedSimulator.h"

#include <random>

namespace streamtensor::test {

class RandomSteadyNetworks {
public:
  explicit RandomSteadyNetworks(unsigned seed) : engine(seed) {}

  int64_t in(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  bool oneIn(int64_t n) { return in(1, n) == 1; }
  int64_t oneOf(std::initializer_list<int64_t> values) {
    return values.begin()[in(0, int64_t(values.size()) - 1)];
  }

  TimedNetwork make() {
    network = TimedNetwork();
    rows = oneOf({1, 2, 5, 9, 16, 30});
    blocks = oneOf({1, 2, 4, 7});
    steps = oneOf({2, 3, 6, 12, 20});
    const unsigned numChains = oneIn(3) ? 2 : 1;
    for (unsigned chain = 0; chain < numChains; ++chain)
      addChain();
    while (oneIn(6))
      network.stalls.push_back({unsigned(in(0, network.processes.size() - 1)),
                                in(0, rows * blocks * steps), in(0, 40)});
    network.serialInvocations = oneIn(6);
    if (oneIn(5))
      network.launchCycles = in(1, 50);
    return std::move(network);
  }

private:
  /// Tokens move once per step, or once per block.
  enum class Rate { Step, Block };

  unsigned addProcess(TimedSequence program) {
    TimedProcess &process = network.processes.emplace_back();
    process.name = "p" + std::to_string(network.processes.size() - 1);
    process.hasProgram = true;
    process.program = std::move(program);
    return network.processes.size() - 1;
  }
  unsigned next() const { return network.processes.size(); }

  /// A FIFO that the next process writes; its reader is set later.
  unsigned addFifo(int64_t most) {
    TimedFifo &fifo = network.fifos.emplace_back();
    fifo.name = "f" + std::to_string(network.fifos.size() - 1);
    fifo.writer = next();
    fifo.depth = oneIn(4) ? oneOf({1, 8, 32, most, 2 * most, 1000})
                          : oneOf({1, 2, 2, 2, 3, 4});
    if (oneIn(12))
      fifo.crossing = in(1, 4);
    return network.fifos.size() - 1;
  }

  /// Some cycles between two parts.
  TimedNode pause() { return waitFor(in(1, 3)); }

  /// `body` in each step; by rows, blocks and steps, or as one flat loop.
  TimedSequence eachStep(TimedSequence body, int64_t interval, int64_t depth) {
    switch (in(0, 3)) {
    case 0:
      return {timedPipeline({rows, blocks, steps}, interval, depth, body)};
    case 1:
      return {timedPipeline({rows * blocks * steps}, interval, depth, body)};
    case 2:
      return {timedLoop(
          rows,
          {timedPipeline({blocks, steps}, interval, depth, body), pause()}, 1)};
    default:
      return {timedLoop(
          rows,
          {pause(),
           timedLoop(blocks, {timedPipeline({steps}, interval, depth, body)},
                     in(1, 2))},
          1)};
    }
  }
  /// `body` in each block.
  TimedSequence eachBlock(TimedSequence body) {
    if (oneIn(2))
      return {timedLoop(rows * blocks, std::move(body), in(1, 2))};
    return {timedLoop(rows, {timedLoop(blocks, std::move(body), in(1, 2))},
                      in(0, 2))};
  }

  TimedNode memoryAccess(AccessKind kind, unsigned port, int64_t beats,
                         int64_t contiguous, int64_t stage) {
    TimedNode node = timedRead(port, stage);
    node.access = kind;
    node.beats = beats;
    node.contiguous = contiguous;
    return node;
  }

  /// Mostly a port and a channel for each use.
  unsigned addPort() {
    MemoryModel &memory = network.memory;
    if (!memory.ports.empty() && oneIn(8))
      return in(0, memory.ports.size() - 1);
    if (memory.channels.empty() || !oneIn(8)) {
      TimedChannel &channel = memory.channels.emplace_back();
      channel.name = "c" + std::to_string(memory.channels.size() - 1);
      channel.bytesPerCycle =
          double(oneOf({16, 64, 128, 310, 1000})) / double(oneOf({1, 1, 7}));
      channel.latency = oneOf({0, 1, 20, 64});
    }
    TimedPort &port = memory.ports.emplace_back();
    port.name = "m" + std::to_string(memory.ports.size() - 1);
    port.channel = memory.channels.size() - 1;
    port.beatBytes = oneOf({4, 8, 64});
    port.burstBeats = oneOf({1, 4, 16, 64});
    port.outstanding = oneOf({1, 2, 4, 16});
    return memory.ports.size() - 1;
  }

  void addChain() {
    Rate rate = oneIn(4) ? Rate::Block : Rate::Step;
    unsigned from = addSource(rate);
    /// A second way around some processes.
    std::optional<unsigned> branch;
    Rate branchRate = rate;
    for (int64_t i = in(1, 5); i > 0; --i) {
      const int64_t kind = in(0, 7);
      if (kind == 0 && !branch) {
        branchRate = rate;
        branch = addFork(from, rate);
      } else if (kind == 1 && branch && branchRate == rate) {
        from = addJoin(from, *branch, rate);
        branch.reset();
      } else if (kind <= 3) {
        from = addConverter(from, rate);
      } else {
        from = addStage(from, rate);
      }
    }
    if (branch)
      addSink(*branch, branchRate);
    addSink(from, rate);
  }

  int64_t most() const { return blocks * steps; }

  unsigned addSource(Rate rate) {
    const unsigned to = addFifo(most());
    TimedSequence body;
    int64_t interval = in(1, 4), stage = in(0, 3);
    if (!oneIn(4)) {
      const int64_t beats = oneOf({1, 1, 4, 16});
      const int64_t contiguous = oneOf({0, 1, 6, blocks * steps * beats});
      body.push_back(memoryAccess(AccessKind::MemoryRead, addPort(), beats,
                                  contiguous, 0));
      interval = beats;
      stage = beats;
    }
    body.push_back(timedWrite(to, stage));
    if (rate == Rate::Step)
      addProcess(eachStep(std::move(body), interval, stage + 1));
    else
      addProcess({timedPipeline({rows, blocks}, interval, stage + 1,
                                std::move(body))});
    return to;
  }

  void read(unsigned fifo) { network.fifos[fifo].reader = next(); }

  void addSink(unsigned from, Rate rate) {
    read(from);
    TimedSequence body{timedRead(from)};
    if (oneIn(2))
      body.push_back(memoryAccess(AccessKind::MemoryWrite, addPort(), 1,
                                  oneOf({0, 0, 6, steps}), 1));
    const int64_t interval = in(1, 4);
    if (rate == Rate::Step)
      addProcess(eachStep(std::move(body), interval, 2));
    else
      addProcess({timedPipeline({rows, blocks}, interval, 2, std::move(body))});
  }

  unsigned addFork(unsigned &from, Rate rate) {
    read(from);
    const unsigned a = addFifo(most()), b = addFifo(most());
    TimedSequence body{timedRead(from), timedWrite(a, 1), timedWrite(b, 1)};
    if (rate == Rate::Step)
      addProcess(eachStep(std::move(body), in(1, 2), 3));
    else
      addProcess({timedPipeline({rows, blocks}, 1, 3, std::move(body))});
    from = a;
    return b;
  }

  unsigned addJoin(unsigned a, unsigned b, Rate rate) {
    read(a);
    read(b);
    const unsigned to = addFifo(most());
    TimedSequence body{timedRead(a), timedRead(b, in(0, 2)), timedWrite(to, 5)};
    if (rate == Rate::Step)
      addProcess(eachStep(std::move(body), in(1, 3), 6));
    else
      addProcess({timedPipeline({rows, blocks}, 1, 6, std::move(body))});
    return to;
  }

  /// A buffer in two halves that are handed back and forth.
  unsigned addConverter(unsigned from, Rate &rate) {
    read(from);
    const unsigned full = addFifo(2), free = addFifo(2);
    network.fifos[full].depth = network.fifos[free].depth = 2;
    network.fifos[full].crossing = network.fifos[free].crossing = 0;
    network.fifos[free].initialTokens = 2;
    const int64_t fill = rate == Rate::Step ? steps : 1;
    addProcess(eachBlock({timedRead(free), waitFor(1),
                          timedPipeline({fill}, in(1, 2), 3, {timedRead(from)}),
                          timedWrite(full)}));
    network.fifos[free].reader = network.fifos[full].writer = next() - 1;
    network.fifos[free].writer = network.fifos[full].reader = next();
    const Rate out = oneIn(3) ? Rate::Block : Rate::Step;
    const unsigned to = addFifo(most());
    const int64_t drain = out == Rate::Step ? steps : 1;
    addProcess(
        eachBlock({timedRead(full), waitFor(1),
                   timedPipeline({drain}, in(1, 2), 5, {timedWrite(to, 3)}),
                   timedWrite(free)}));
    rate = out;
    return to;
  }

  unsigned addStage(unsigned from, Rate &rate) {
    read(from);
    const unsigned to = addFifo(most());
    const int64_t interval = in(1, 4);
    const int64_t stage = oneOf({0, 1, 6, 20});
    if (rate == Rate::Block) {
      if (oneIn(2)) { // one token for all steps of a block
        rate = Rate::Step;
        addProcess(eachBlock({timedRead(from), waitFor(1),
                              timedPipeline({steps}, interval, stage + 1,
                                            {timedWrite(to, stage)})}));
      } else {
        addProcess(eachBlock({timedRead(from), pause(), timedWrite(to)}));
      }
      return to;
    }
    switch (in(0, 4)) {
    case 0: // a sum
      rate = Rate::Block;
      addProcess(eachBlock(
          {waitFor(1),
           timedPipeline({steps}, interval, stage + 1, {timedRead(from)}),
           waitFor(1), timedWrite(to)}));
      break;
    case 1: { // some of each block, by a condition on the iteration
      const int64_t period = oneOf({2, 3, steps});
      const int64_t taken = in(1, period);
      if (steps % period != 0)
        return addPlain(from, to, interval, stage);
      TimedNode node;
      node.kind = TimedNode::Kind::Branch;
      // One of each block is left.
      node.condition =
          IndexExpr::binary(IndexExpr::Op::Mod, IndexExpr::induction(0),
                            IndexExpr::constant(steps)) == (taken - 1) % steps;
      node.body.push_back(timedWrite(to, stage));
      rate = Rate::Block;
      addProcess({timedPipeline({rows * blocks * steps}, interval, stage + 1,
                                {timedRead(from), node})});
      break;
    }
    case 2: { // odd rows in another way
      TimedNode node;
      node.kind = TimedNode::Kind::Branch;
      node.condition =
          IndexExpr::binary(IndexExpr::Op::Mod, IndexExpr::induction(0),
                            IndexExpr::constant(in(1, 4))) == 0;
      node.body = {timedPipeline({blocks, steps}, interval, stage + 1,
                                 {timedRead(from), timedWrite(to, stage)})};
      node.otherwise = {timedPipeline({blocks, steps}, in(1, 4), stage + 1,
                                      {timedRead(from), timedWrite(to, stage)}),
                        pause()};
      addProcess({timedLoop(rows, {node}, 1)});
      break;
    }
    case 3: // step by step, without overlap
      addProcess(eachBlock(
          {timedLoop(steps, {timedRead(from), pause(), timedWrite(to)}, 1)}));
      break;
    default:
      return addPlain(from, to, interval, stage);
    }
    return to;
  }

  unsigned addPlain(unsigned from, unsigned to, int64_t interval,
                    int64_t stage) {
    addProcess(eachStep({timedRead(from), timedWrite(to, stage)}, interval,
                        stage + 1));
    return to;
  }

  std::mt19937 engine;
  TimedNetwork network;
  int64_t rows = 1, blocks = 1, steps = 1;
};

} // namespace streamtensor::test

#endif // STREAMTENSOR_UNITTESTS_SIM_RANDOMSTEADYNETWORKS_H
