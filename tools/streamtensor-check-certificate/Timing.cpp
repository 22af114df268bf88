//===- Timing.cpp - Whether deleting iterations keeps the order in time ---===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Condition (T) of docs/certificates.md for one process in pipelined order: if
// at v one kept access is not later than another, then neither is it at the
// base point M. In a sequence what comes first in the text is never later, so
// the only danger is two accesses that share a cycle at v and not at M, because
// something between them takes no time at v. Each node is summarized by whether
// it may touch a FIFO in its first and in its last cycle and whether it takes
// time; whatever varies with the parameters there is refused.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Reduction.h"

#include <algorithm>

using namespace streamtensor::certificate;

namespace {

/// An access in the first or last cycle: none; one that is the same at all
/// values; one that may be another access at other values.
enum class Touch : uint8_t { None, Same, Varying };

/// Whether a node takes time: never; always; by its place, the iteration
/// numbers of constant loops around and the parts of run-time ones; by the
/// values of the parameters.
enum class Time : uint8_t { None, Some, ByPlace, ByValues };

struct Summary {
  Touch first = Touch::None, last = Touch::None;
  Time time = Time::None;
};

class TimingCheck {
public:
  explicit TimingCheck(const Box &box) : box(box), fixed(box.fixed()) {}

  Summary summarize(const Sequence &sequence);

private:
  Summary summarize(const Node &node);
  Summary summarizeLoop(const Node &node);
  Summary summarizePipeline(const Node &node);
  /// How a loop's trip count depends on the values.
  struct Trip {
    bool isRunTime, isNeverZero, isZero;
    /// What is kept begins with iteration 0; is in one piece.
    bool isPrefix, isWindow;
  };
  Trip tripOf(const Loop &loop) const;

  const Box &box;
  Values fixed;
};

} // namespace

[[noreturn]] static void refuseSharedCycle() {
  throw Refusal("expected that cycles pass between accesses whose distance "
                "varies with the parameters, because they would happen "
                "together at some values only");
}

TimingCheck::Trip TimingCheck::tripOf(const Loop &loop) const {
  const Expression trip = loop.trip.substitute(fixed);
  // Monotone, so smallest in the lower corner.
  const int64_t least = trip.evaluate(box.low);
  Trip result{!trip.isConstant(), least > 0, trip.isConstant() && least == 0,
              true, true};
  const std::vector<Part> parts = loop.partsAt(fixed);
  const size_t last = parts.size() - 1;
  for (size_t index = 0; index <= last; ++index) {
    const Part &part = parts[index];
    if (part.count.isConstant())
      continue;
    result.isPrefix &= !part.keepsLast && index == last;
    result.isWindow &= index == (part.keepsLast ? 0 : last);
  }
  return result;
}

Summary TimingCheck::summarizeLoop(const Node &node) {
  const Trip trip = tripOf(node.loops.front());
  if (trip.isZero)
    return {};
  const Summary body = summarize(node.body);
  const bool passes = node.cycles > 0;
  const bool touches = body.first != Touch::None || body.last != Touch::None;
  // One iteration follows the other in the same cycle.
  if (!passes && body.first != Touch::None && body.last != Touch::None &&
      (!trip.isWindow || body.first == Touch::Varying ||
       body.last == Touch::Varying || body.time == Time::ByValues ||
       (trip.isRunTime && body.time == Time::ByPlace)))
    refuseSharedCycle();
  Summary result;
  if (passes || body.time == Time::Some)
    result.time = trip.isNeverZero ? Time::Some : Time::ByValues;
  else if (body.time == Time::None)
    result.time = Time::None;
  else
    result.time = trip.isRunTime ? Time::ByValues : body.time;
  result.first = body.first;
  if (!passes)
    result.last = body.last;
  // Accesses of later iterations may come first, of earlier ones last.
  const bool collapses = !passes && touches && body.time != Time::Some;
  if (collapses && body.time == Time::None)
    result.first = result.last = std::max(body.first, body.last);
  else if (collapses && body.time == Time::ByValues)
    result.first = result.last = Touch::Varying;
  else if (collapses)
    result.first = result.last =
        trip.isRunTime ? Touch::Varying : std::max(body.first, body.last);
  if (!trip.isPrefix && result.first != Touch::None)
    result.first = Touch::Varying;
  if (trip.isRunTime && result.last != Touch::None)
    result.last = Touch::Varying;
  return result;
}

namespace {
struct Stages {
  int64_t least = INT64_MAX, most = -1;
};
} // namespace

static void collectStages(const Sequence &sequence, Stages &stages) {
  for (const Node &node : sequence) {
    if (node.kind == Node::Kind::Access) {
      stages.least = std::min(stages.least, node.stage);
      stages.most = std::max(stages.most, node.stage);
    }
    collectStages(node.body, stages);
    collectStages(node.otherwise, stages);
  }
}

/// Iteration i is at i * ii. What is kept keeps its distances where it is one
/// piece of the flattened nest, and its order where iterations do not
/// overlap.
Summary TimingCheck::summarizePipeline(const Node &node) {
  Summary result;
  result.time = Time::Some;
  bool isPrefix = true, isWindow = true;
  for (size_t index = 0; index < node.loops.size(); ++index) {
    const Trip trip = tripOf(node.loops[index]);
    if (trip.isZero)
      return {};
    if (!trip.isNeverZero)
      result.time = Time::ByValues;
    isPrefix &= trip.isPrefix;
    isWindow &= index == 0 ? trip.isWindow : !trip.isRunTime;
  }
  Stages stages;
  collectStages(node.body, stages);
  if (stages.most < 0)
    return result;
  if (!isWindow && stages.most - stages.least >= node.ii)
    throw Refusal("expected a pipeline of which one piece is kept, or whose "
                  "iterations do not overlap in their accesses");
  if (stages.least == 0)
    result.first = isPrefix ? Touch::Same : Touch::Varying;
  return result;
}

Summary TimingCheck::summarize(const Node &node) {
  switch (node.kind) {
  case Node::Kind::Access:
    return {Touch::Same, Touch::Same, Time::None};
  case Node::Kind::Wait:
    return {Touch::None, Touch::None,
            node.cycles > 0 ? Time::Some : Time::None};
  case Node::Kind::Loop:
    return summarizeLoop(node);
  case Node::Kind::Pipeline:
    return summarizePipeline(node);
  case Node::Kind::Branch:
    break;
  }
  const Summary one = summarize(node.body), other = summarize(node.otherwise);
  Summary result;
  result.first = std::max(one.first, other.first);
  result.last = std::max(one.last, other.last);
  if (one.time == other.time)
    result.time = one.time;
  else if (one.time == Time::ByValues || other.time == Time::ByValues)
    result.time = Time::ByValues;
  else
    result.time = Time::ByPlace;
  return result;
}

Summary TimingCheck::summarize(const Sequence &sequence) {
  Summary result;
  // What may share a cycle with the next node: an access, and whether it does
  // so at some values only.
  Touch open = Touch::None;
  // Whether the next node may begin in the first cycle of the sequence.
  bool isFirst = true, varies = false;
  for (const Node &node : sequence) {
    const Summary next = summarize(node);
    if (open != Touch::None && next.first != Touch::None &&
        (open == Touch::Varying || next.first == Touch::Varying))
      refuseSharedCycle();
    if (isFirst && next.first != Touch::None)
      result.first =
          std::max(result.first, varies ? Touch::Varying : next.first);
    if (next.time == Time::Some) {
      open = Touch::None;
      isFirst = false;
    } else if (next.time == Time::ByValues) {
      // At some values what was before ends in the same cycle.
      if (open != Touch::None)
        open = Touch::Varying;
      varies = true;
    }
    if (result.time == Time::None || next.time == Time::Some)
      result.time = next.time;
    else if (result.time == Time::ByPlace && next.time == Time::ByValues)
      result.time = Time::ByValues;
    open = std::max(open, next.last);
  }
  result.last = open;
  return result;
}

std::optional<std::string>
streamtensor::certificate::findTimingFlaw(const Process &process,
                                          const Box &box) {
  try {
    TimingCheck(box).summarize(process.program);
  } catch (const Refusal &refusal) {
    return refusal.what();
  }
  return std::nullopt;
}
