//===- Steps.cpp - Programs as steps of counters --------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Flattening of programs, and the phases of a nest in which its accesses stay
// the same, so that many iterations can be counted at once.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Steps.h"

#include <algorithm>

using namespace streamtensor::certificate;

const char *streamtensor::certificate::spell(Order order) {
  return order == Order::Program ? "program" : "pipelined";
}

namespace {

class ProgramBuilder {
public:
  ProgramBuilder(const Network &network, const Values &values, Order order)
      : network(network), values(values), order(order) {}

  Program build(unsigned first, unsigned last);

private:
  using Guards = std::vector<std::pair<const Condition *, bool>>;

  void addSequence(const Sequence &sequence);
  void addLoop(const Loop &loop, int64_t cycles,
               const std::vector<const Sequence *> &bodies);
  void addNest(const Node &node);
  void addBranch(const Node &node);
  void collect(const Sequence &sequence, Guards &guards, Nest &nest);
  void groupByCycle(Nest &nest) const;
  static void findPhases(Nest &nest, Order order);
  int64_t tripOf(const Loop &loop) const;
  const Condition *bind(const Condition &condition);
  bool isLeftOut(const Node &access) const {
    return order == Order::Program && network.fifos[access.fifo].isControl;
  }
  Step &add(Step::Kind kind) {
    program.steps.emplace_back().kind = kind;
    return program.steps.back();
  }

  const Network &network;
  const Values &values;
  const Order order;
  Program program;
  unsigned level = 0;
};

} // namespace

int64_t ProgramBuilder::tripOf(const Loop &loop) const {
  const int64_t trip = loop.trip.evaluate(values);
  if (trip < 0 || trip > int64_t(1) << 42)
    throw Refusal("process '" + program.name +
                  "': expected trip counts from 0 to 2^42 but got " +
                  loop.trip.spelling() + " at " + spell(values));
  return trip;
}

const Condition *ProgramBuilder::bind(const Condition &condition) {
  program.conditions.push_back(
      std::make_unique<const Condition>(condition.substitute(values)));
  return program.conditions.back().get();
}

void ProgramBuilder::collect(const Sequence &sequence, Guards &guards,
                             Nest &nest) {
  for (const Node &node : sequence) {
    if (node.kind == Node::Kind::Access) {
      if (!isLeftOut(node))
        nest.accesses.push_back({{node.fifo, node.isRead},
                                 node.stage,
                                 node.stage / nest.ii,
                                 guards});
      nest.hasGuards |= !guards.empty();
      continue;
    }
    guards.emplace_back(bind(node.condition), true);
    collect(node.body, guards, nest);
    guards.back().second = false;
    collect(node.otherwise, guards, nest);
    guards.pop_back();
  }
}

void ProgramBuilder::groupByCycle(Nest &nest) const {
  std::map<int64_t, std::vector<unsigned>> groups;
  for (unsigned index = 0; index < nest.accesses.size(); ++index)
    groups[nest.accesses[index].stage % nest.ii].push_back(index);
  nest.startsAtOnce = !groups.empty() && groups.begin()->first == 0;
  for (auto &[cycle, group] : groups) {
    for (unsigned one : group)
      for (unsigned other : group) {
        const Nest::Access &a = nest.accesses[one], &b = nest.accesses[other];
        // Branches may exclude each other within one iteration; that is
        // checked when they happen.
        if (one < other && a.end == b.end && a.guards.empty() &&
            b.guards.empty() && std::abs(a.period - b.period) < nest.iterations)
          throw Refusal("process '" + program.name +
                        "': expected one access of an end of a fifo in a "
                        "cycle but got two of '" +
                        network.fifos[a.end.fifo].name + "'");
      }
    nest.groups.push_back(std::move(group));
  }
}

/// In program order each iteration makes all accesses.
void ProgramBuilder::findPhases(Nest &nest, Order order) {
  auto shiftOf = [&](const Nest::Access &access) {
    return order == Order::Program ? 0 : access.period;
  };
  std::set<int64_t> borders{0};
  for (const Nest::Access &access : nest.accesses) {
    borders.insert(shiftOf(access));
    borders.insert(shiftOf(access) + nest.iterations);
  }
  for (auto border = borders.begin(); std::next(border) != borders.end();
       ++border) {
    Nest::Phase phase{*border, *std::next(border), {}};
    for (const Nest::Access &access : nest.accesses) {
      const int64_t shift = shiftOf(access);
      if (shift > phase.begin || shift + nest.iterations <= phase.begin)
        continue;
      auto same = std::find_if(
          phase.ends.begin(), phase.ends.end(),
          [&](const EndCount &other) { return other.end == access.end; });
      if (same == phase.ends.end())
        phase.ends.push_back({access.end, 1});
      else
        ++same->count;
    }
    nest.phases.push_back(std::move(phase));
  }
}

void ProgramBuilder::addNest(const Node &node) {
  Nest nest;
  nest.level = node.level;
  nest.ii = node.ii;
  nest.iterations = 1;
  for (const Loop &loop : node.loops) {
    nest.trips.push_back(tripOf(loop));
    if (__builtin_mul_overflow(nest.iterations, nest.trips.back(),
                               &nest.iterations) ||
        nest.iterations > int64_t(1) << 42)
      throw Refusal("process '" + program.name +
                    "': expected at most 2^42 iterations");
  }
  if (nest.iterations == 0)
    return;
  Guards guards;
  collect(node.body, guards, nest);
  if (!nest.accesses.empty()) {
    if (order == Order::Pipelined)
      groupByCycle(nest);
    findPhases(nest, order);
    add(Step::Kind::Nest).target = program.nests.size();
    program.nests.push_back(std::move(nest));
  }
  // A pipeline is deeper than its last stage.
  add(Step::Kind::Advance);
}

void ProgramBuilder::addLoop(const Loop &loop, int64_t cycles,
                             const std::vector<const Sequence *> &bodies) {
  const int64_t trips = tripOf(loop);
  if (trips == 0)
    return;
  if (level == kMaxLevels)
    throw Refusal("expected less nesting of loops");
  const size_t begin = program.steps.size();
  Step &first = add(Step::Kind::LoopBegin);
  first.level = level;
  ++level;
  for (const Sequence *body : bodies)
    addSequence(*body);
  --level;
  if (cycles > 0)
    add(Step::Kind::Advance);
  if (std::all_of(
          program.steps.begin() + begin + 1, program.steps.end(),
          [](const Step &step) { return step.kind == Step::Kind::Advance; })) {
    const bool passes = program.steps.size() > begin + 1;
    program.steps.resize(begin);
    if (passes)
      add(Step::Kind::Advance);
    return;
  }
  Step &last = add(Step::Kind::LoopEnd);
  last.level = level;
  last.trips = trips;
  last.target = begin + 1;
}

void ProgramBuilder::addBranch(const Node &node) {
  const size_t branch = program.steps.size();
  add(Step::Kind::Branch).condition = bind(node.condition);
  addSequence(node.body);
  if (!node.otherwise.empty()) {
    const size_t jump = program.steps.size();
    add(Step::Kind::Jump);
    program.steps[branch].target = program.steps.size();
    addSequence(node.otherwise);
    program.steps[jump].target = program.steps.size();
  } else {
    program.steps[branch].target = program.steps.size();
  }
}

void ProgramBuilder::addSequence(const Sequence &sequence) {
  for (const Node &node : sequence) {
    switch (node.kind) {
    case Node::Kind::Access:
      if (!isLeftOut(node))
        add(Step::Kind::Access).end = {node.fifo, node.isRead};
      break;
    case Node::Kind::Wait:
      if (node.cycles > 0)
        add(Step::Kind::Advance);
      break;
    case Node::Kind::Loop:
      addLoop(node.loops.front(), node.cycles, {&node.body});
      break;
    case Node::Kind::Pipeline:
      addNest(node);
      break;
    case Node::Kind::Branch:
      addBranch(node);
      break;
    }
  }
}

/// What stands before the segments belongs to the first stage, what stands
/// behind them to the last one; checked when the network was read.
Program ProgramBuilder::build(unsigned first, unsigned last) {
  const std::vector<Process> &processes = network.processes;
  program.first = first;
  program.last = last;
  program.name = first == last ? processes[first].name : processes[first].task;
  if (first == last) {
    addSequence(processes[first].program);
  } else {
    const Sequence &head = processes[first].program;
    const Sequence &tail = processes[last].program;
    const Loop &segments = head[segmentLoop(processes[first])].loops.front();
    std::vector<const Sequence *> bodies;
    for (unsigned index = first; index <= last; ++index) {
      const Process &stage = processes[index];
      const Node &loop = stage.program[segmentLoop(stage)];
      if (tripOf(loop.loops.front()) != tripOf(segments))
        throw Refusal("task '" + program.name +
                      "': expected as many segments in each stage at " +
                      spell(values));
      bodies.push_back(&loop.body);
    }
    addSequence(
        Sequence(head.begin(), head.begin() + segmentLoop(processes[first])));
    addLoop(segments, 0, bodies);
    addSequence(
        Sequence(tail.begin() + segmentLoop(processes[last]) + 1, tail.end()));
  }
  add(Step::Kind::End);
  return std::move(program);
}

std::vector<Program>
streamtensor::certificate::programsOf(const Network &network,
                                      const Values &values, Order order) {
  std::vector<Program> programs;
  for (unsigned first = 0; first < network.processes.size();) {
    const unsigned end =
        order == Order::Program ? endOfTask(network, first) : first + 1;
    programs.push_back(
        ProgramBuilder(network, values, order).build(first, end - 1));
    first = end;
  }
  return programs;
}
