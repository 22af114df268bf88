//===- PipelinedOrder.cpp - Accesses in the order of a process's time -----===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline of n iterations with initiation interval ii: an access at stage s
// happens s / ii slots of ii cycles after its iteration began, in phase s % ii
// of the slot. So slot j holds the accesses of iterations j, j - 1, ...: first
// only the early stages, then all, at last only the late ones. Between the
// slots at which an access begins or ends nothing changes: each such range is a
// loop.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/TimedNetwork.h"

#include <algorithm>
#include <map>
#include <set>

using namespace streamtensor;

using Kind = TimedNode::Kind;
using Op = IndexExpr::Op;

namespace {

/// An access of a pipeline, or a branch with accesses of one stage.
struct StagedNode {
  int64_t stage;
  const TimedNode *node;
};

class OrderBuilder {
public:
  explicit OrderBuilder(const ParameterValues &values) : values(values) {}

  AccessSequence build(const TimedSequence &sequence);

private:
  AccessSequence buildPipeline(const TimedNode &pipeline);
  AccessSequence buildRange(const TimedNode &pipeline, int64_t first,
                            int64_t last, int64_t iterations);
  AccessSequence guarded(const TimedSequence &body, int64_t stage,
                         const std::vector<IndexExpr> &levels);

  const ParameterValues &values;
  /// What stands for each loop around, outermost first; and how many loops of
  /// the result these are.
  std::vector<IndexExpr> around;
  unsigned depth = 0;
};

} // namespace

static AccessNode accessOf(const TimedNode &node) {
  return node.access == AccessKind::Read ? read(node.target)
                                         : write(node.target);
}

static void collectStages(const TimedSequence &body,
                          std::set<int64_t> &stages) {
  for (const TimedNode &node : body) {
    if (node.kind == Kind::Access && isFifo(node.access))
      stages.insert(node.stage);
    collectStages(node.body, stages);
    collectStages(node.otherwise, stages);
  }
}

/// The accesses of `body` at one stage; conditions are on `levels`.
AccessSequence OrderBuilder::guarded(const TimedSequence &body, int64_t stage,
                                     const std::vector<IndexExpr> &levels) {
  AccessSequence result;
  for (const TimedNode &node : body) {
    if (node.kind == Kind::Access) {
      if (isFifo(node.access) && node.stage == stage)
        result.push_back(accessOf(node));
      continue;
    }
    AccessSequence taken = guarded(node.body, stage, levels);
    AccessSequence other = guarded(node.otherwise, stage, levels);
    if (!taken.empty() || !other.empty())
      result.push_back(branch(node.condition.bind(values).substitute(levels),
                              std::move(taken), std::move(other)));
  }
  return result;
}

/// Accesses that are all without condition, as one group; with conditions, a
/// group for each outcome.
static AccessSequence grouped(AccessSequence accesses) {
  const auto condition = std::find_if(
      accesses.begin(), accesses.end(), [](const AccessNode &node) {
        return node.kind == AccessNode::Kind::Branch;
      });
  if (condition == accesses.end()) {
    if (accesses.empty())
      return {};
    return {together(std::move(accesses))};
  }
  auto with = [&](const AccessSequence &part) {
    AccessSequence all(accesses.begin(), condition);
    all.insert(all.end(), part.begin(), part.end());
    all.insert(all.end(), condition + 1, accesses.end());
    return grouped(std::move(all));
  };
  return {branch(condition->condition, with(condition->body),
                 with(condition->otherwise))};
}

/// Slots first, ..., last - 1, in which the same accesses happen.
AccessSequence OrderBuilder::buildRange(const TimedNode &pipeline,
                                        int64_t first, int64_t last,
                                        int64_t iterations) {
  std::set<int64_t> stages;
  collectStages(pipeline.body, stages);
  // By phase: what happens together.
  std::map<int64_t, AccessSequence> phases;
  const IndexExpr slot = IndexExpr::induction(depth);
  for (int64_t stage : stages) {
    const int64_t shift = stage / pipeline.ii;
    if (first < shift || first >= shift + iterations)
      continue;
    std::vector<IndexExpr> levels = around;
    int64_t inner = iterations;
    for (const TripCount &trip : pipeline.trips) {
      const int64_t count = trip.evaluate(values);
      inner /= count;
      IndexExpr index = slot + IndexExpr::constant(first - shift);
      if (inner > 1)
        index =
            IndexExpr::binary(Op::FloorDiv, index, IndexExpr::constant(inner));
      levels.push_back(
          IndexExpr::binary(Op::Mod, index, IndexExpr::constant(count)));
    }
    AccessSequence &phase = phases[stage % pipeline.ii];
    for (AccessNode &node : guarded(pipeline.body, stage, levels))
      phase.push_back(std::move(node));
  }
  AccessSequence body;
  for (auto &[phase, accesses] : phases)
    for (AccessNode &node : grouped(std::move(accesses)))
      body.push_back(std::move(node));
  if (body.empty())
    return {};
  return {loop(last - first, std::move(body))};
}

AccessSequence OrderBuilder::buildPipeline(const TimedNode &pipeline) {
  int64_t iterations = 1;
  for (const TripCount &trip : pipeline.trips)
    iterations *= std::max<int64_t>(0, trip.evaluate(values));
  if (iterations == 0)
    return {};
  std::set<int64_t> stages, borders;
  collectStages(pipeline.body, stages);
  for (int64_t stage : stages) {
    borders.insert(stage / pipeline.ii);
    borders.insert(stage / pipeline.ii + iterations);
  }
  AccessSequence result;
  for (auto border = borders.begin(); border != borders.end(); ++border) {
    const auto next = std::next(border);
    if (next == borders.end())
      break;
    for (AccessNode &node : buildRange(pipeline, *border, *next, iterations))
      result.push_back(std::move(node));
  }
  return result;
}

AccessSequence OrderBuilder::build(const TimedSequence &sequence) {
  AccessSequence result, now;
  auto flush = [&] {
    for (AccessNode &node : grouped(std::move(now)))
      result.push_back(std::move(node));
    now.clear();
  };
  for (const TimedNode &node : sequence) {
    if (node.kind == Kind::Access) {
      if (isFifo(node.access))
        now.push_back(accessOf(node));
      continue;
    }
    // What follows happens later, or is a part of its own.
    if (node.kind != Kind::Wait || node.cycles > 0)
      flush();
    if (node.kind == Kind::Pipeline) {
      for (AccessNode &inner : buildPipeline(node))
        result.push_back(std::move(inner));
    } else if (node.kind == Kind::Loop) {
      around.push_back(IndexExpr::induction(depth++));
      AccessSequence body = build(node.body);
      around.pop_back();
      --depth;
      result.push_back(
          loop(std::max<int64_t>(0, node.trips.front().evaluate(values)),
               std::move(body)));
    } else if (node.kind == Kind::Branch) {
      result.push_back(branch(node.condition.bind(values).substitute(around),
                              build(node.body), build(node.otherwise)));
    }
  }
  flush();
  return result;
}

ProcessNetwork streamtensor::pipelinedOrder(const TimedNetwork &network,
                                            const ParameterValues &values) {
  const ParameterValues all = network.complete(values);
  ProcessNetwork result;
  for (unsigned fifo = 0; fifo < network.fifos.size(); ++fifo) {
    const unsigned index = result.addFifo(network.fifos[fifo].name);
    result.fifos[index].initialTokens = network.initialTokensOf(fifo, all);
  }
  for (const TimedProcess &process : network.processes)
    result.addProcess(process.name, OrderBuilder(all).build(process.program));
  return result;
}
