//===- ConverterInference.cpp - Buffers between two token orders ----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tries every common cut of two token orders and keeps the smallest buffer; the
// header explains why these are all.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/ConverterInference.h"

#include <algorithm>
#include <cassert>

using namespace streamtensor;

namespace {

int64_t product(const std::vector<int64_t> &values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

/// A token order cut after `outer` loops.
struct Cut {
  TokenOrder order;
  unsigned outer;
};

/// `order` with loop `loop` split into `head` outer iterations and the rest.
TokenOrder splitLoop(const TokenOrder &order, unsigned loop, int64_t head) {
  const int64_t tail = order.trips[loop] / head;
  const bool revisit = order.loopDims()[loop] < 0;
  TokenOrder result = order;
  result.trips[loop] = head;
  result.trips.insert(result.trips.begin() + loop + 1, tail);
  result.steps.insert(result.steps.begin() + loop + 1, order.steps[loop]);
  result.steps[loop] = revisit ? 1 : order.steps[loop] * tail;
  for (std::vector<unsigned> &loops : result.map) {
    std::vector<unsigned> renumbered;
    for (unsigned l : loops) {
      renumbered.push_back(l > loop ? l + 1 : l);
      if (l == loop)
        renumbered.push_back(loop + 1);
    }
    loops = std::move(renumbered);
  }
  return result;
}

/// Cuts the outermost loops of `order` that make `segments` iterations, as few
/// as possible; splits the last one where needed.
std::optional<Cut> cutInto(const TokenOrder &order, int64_t segments) {
  for (unsigned l = 0; segments > 1; ++l) {
    if (l == order.numLoops())
      return std::nullopt;
    if (segments % order.trips[l] == 0) {
      segments /= order.trips[l];
      if (segments == 1)
        return Cut{order, l + 1};
      continue;
    }
    if (order.trips[l] % segments != 0)
      return std::nullopt;
    return Cut{splitLoop(order, l, segments), l + 1};
  }
  return Cut{order, 0};
}

/// The loops [first, last) of `order` as an order of their own.
TokenOrder sliceLoops(const TokenOrder &order, unsigned first, unsigned last,
                      std::vector<int64_t> element) {
  TokenOrder result;
  result.element = std::move(element);
  result.trips.assign(order.trips.begin() + first, order.trips.begin() + last);
  result.steps.assign(order.steps.begin() + first, order.steps.begin() + last);
  for (const std::vector<unsigned> &loops : order.map) {
    result.map.emplace_back();
    for (unsigned l : loops)
      if (l >= first && l < last)
        result.map.back().push_back(l - first);
  }
  return result;
}

TokenOrder outerPart(const Cut &cut) {
  return sliceLoops(cut.order, 0, cut.outer,
                    std::vector<int64_t>(cut.order.rank(), 1));
}

TokenOrder innerPart(const Cut &cut) {
  return sliceLoops(cut.order, cut.outer, cut.order.numLoops(),
                    cut.order.element);
}

/// The loops `outer` around the loops `inner`.
TokenOrder concatLoops(const TokenOrder &outer, const TokenOrder &inner) {
  TokenOrder result = outer;
  result.element = inner.element;
  result.trips.insert(result.trips.end(), inner.trips.begin(),
                      inner.trips.end());
  result.steps.insert(result.steps.end(), inner.steps.begin(),
                      inner.steps.end());
  for (unsigned dim = 0; dim < inner.rank(); ++dim)
    for (unsigned l : inner.map[dim])
      result.map[dim].push_back(l + outer.numLoops());
  return result;
}

/// The set of positions that a segment touches along one data dimension: a run
/// of elements, repeated (trip, step) after (trip, step). Unique for the digit
/// sets of orders that cover without overlap; equal descriptions always mean
/// equal sets.
struct Footprint {
  int64_t run;
  std::vector<std::pair<int64_t, int64_t>> repeats;
  bool operator==(const Footprint &other) const {
    return run == other.run && repeats == other.repeats;
  }
};

std::vector<Footprint> footprints(const TokenOrder &order) {
  std::vector<Footprint> result;
  const std::vector<int64_t> element = order.elementShape();
  for (unsigned dim = 0; dim < order.rank(); ++dim) {
    std::vector<std::pair<int64_t, int64_t>> byStep;
    for (unsigned l : order.map[dim])
      if (order.trips[l] > 1)
        byStep.emplace_back(order.steps[l], order.trips[l]);
    std::sort(byStep.begin(), byStep.end());
    Footprint set{element[dim], {}};
    for (auto [step, trip] : byStep) {
      if (set.repeats.empty() && step <= set.run)
        set.run += (trip - 1) * step;
      else if (!set.repeats.empty() &&
               step == set.repeats.back().first * set.repeats.back().second)
        set.repeats.back().first *= trip;
      else
        set.repeats.emplace_back(trip, step);
    }
    result.push_back(std::move(set));
  }
  return result;
}

/// Every number of segments into which the loops of a normal form can be cut,
/// ascending.
std::vector<int64_t> segmentCounts(const TokenOrder &normalForm) {
  std::vector<int64_t> counts = {1};
  int64_t outer = 1;
  for (int64_t trip : normalForm.trips) {
    for (int64_t small = 1; small * small <= trip; ++small)
      if (trip % small == 0)
        for (int64_t divisor : {small, trip / small})
          counts.push_back(outer * divisor);
    outer *= trip;
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

/// Whether the cuts pair segments that touch the same data.
bool isLegal(const Cut &source, const Cut &destination) {
  return outerPart(source).normalForm() ==
             outerPart(destination).normalForm() &&
         footprints(innerPart(source)) == footprints(innerPart(destination));
}

/// The number of segments with the smallest allocation.
int64_t chooseSegments(const TokenOrder &source,
                       const TokenOrder &destination) {
  const TokenOrder src = source.normalForm(), dst = destination.normalForm();
  const std::vector<int64_t> counts = segmentCounts(src),
                             others = segmentCounts(dst);
  int64_t best = 1, bestElements = product(source.dataExtents());
  for (int64_t count : counts) {
    if (count == 1 || !std::binary_search(others.begin(), others.end(), count))
      continue;
    const std::optional<Cut> cut = cutInto(src, count);
    const std::optional<Cut> other = cutInto(dst, count);
    assert(cut && other && "segment counts come from these loops");
    if (!isLegal(*cut, *other))
      continue;
    const int64_t elements = 2 * product(innerPart(*cut).dataExtents());
    if (elements <= bestElements) {
      best = count;
      bestElements = elements;
    }
  }
  return best;
}

/// Algorithm 1: the number of outer loops that both sides share as spelled.
/// A dimension is shareable where the element sizes are equal and both maps are
/// one plain loop at the same position; shared loops must form a prefix, so the
/// highest ones are given up until they do.
unsigned paperSharedLoops(const TokenOrder &source,
                          const TokenOrder &destination) {
  const std::vector<int64_t> srcElement = source.elementShape(),
                             dstElement = destination.elementShape();
  std::vector<unsigned> loops;
  for (unsigned dim = 0; dim < source.rank(); ++dim) {
    if (srcElement[dim] != dstElement[dim] || source.map[dim].size() != 1 ||
        source.map[dim] != destination.map[dim])
      continue;
    const unsigned loop = source.map[dim].front();
    if (source.trips[loop] == destination.trips[loop] &&
        source.steps[loop] == destination.steps[loop])
      loops.push_back(loop);
  }
  std::sort(loops.begin(), loops.end());
  while (!loops.empty() && loops.back() >= loops.size())
    loops.pop_back();
  return static_cast<unsigned>(loops.size());
}

/// What a side does first inside the shared loops, for the reason.
std::string firstMove(const TokenOrder &inner) {
  const TokenOrder order = inner.normalForm();
  if (order.numLoops() == 0)
    return "passes one token of " + shapeString(order.element);
  const int dim = order.loopDims().front();
  if (dim < 0)
    return "replays everything " + std::to_string(order.trips.front()) +
           " times";
  return "walks dimension " + std::to_string(dim) + " in " +
         std::to_string(order.trips.front()) + " steps of " +
         std::to_string(order.steps.front());
}

std::string explain(const ConverterPlan &plan, const TokenOrder &source) {
  if (plan.kind == ConverterPlan::Kind::None)
    return "both sides pass the same tokens in the same order: no buffer";
  const std::string moves = "the source " + firstMove(plan.fill) +
                            ", the destination " + firstMove(plan.drain);
  std::string text;
  if (plan.segments == 1) {
    text = "no segment smaller than the tensor is worth two buffers: " + moves +
           "; the whole " + shapeString(plan.bufferShape) + " is held once";
  } else {
    text = std::to_string(plan.sharedLoops()) + " outer loop" +
           (plan.sharedLoops() == 1 ? "" : "s") + " of the source shared, " +
           std::to_string(plan.segments) + " segments";
    if (plan.sourceSplit || plan.destinationSplit)
      text += std::string(" (after splitting loops of the ") +
              (!plan.destinationSplit ? "source"
               : plan.sourceSplit     ? "source and the destination"
                                      : "destination") +
              ")";
    text += ": inside, " + moves + "; " + shapeString(plan.bufferShape) +
            " of " + shapeString(source.dataExtents()) +
            " is held twice (ping-pong)";
  }
  if (plan.kind == ConverterPlan::Kind::WidthAdapter)
    text += "; the element order is the same, so a width adapter would do";
  return text;
}

/// Completes a plan from the two cuts.
ConverterPlan makePlan(const TokenOrder &source, const TokenOrder &destination,
                       const Cut &sourceCut, const Cut &destinationCut) {
  ConverterPlan plan;
  plan.kind = sameSequence(source, destination) ? ConverterPlan::Kind::None
              : elementOrderEqual(source, destination)
                  ? ConverterPlan::Kind::WidthAdapter
                  : ConverterPlan::Kind::Converter;
  const TokenOrder outer = outerPart(sourceCut);
  plan.fill = innerPart(sourceCut);
  plan.drain = innerPart(destinationCut);
  plan.source = sourceCut.order;
  plan.destination = concatLoops(outer, plan.drain);
  plan.sourceSplit = plan.source != source;
  plan.destinationSplit = plan.destination != destination;
  plan.bufferShape = plan.fill.dataExtents();
  plan.segments = outer.numTokens();
  const std::vector<int> dims = outer.loopDims();
  for (unsigned l = 0; l < outer.numLoops(); ++l) {
    SharedLoop loop{outer.trips[l], std::vector<int64_t>(outer.rank(), 0)};
    if (dims[l] >= 0)
      loop.steps[dims[l]] = outer.steps[l];
    plan.shared.push_back(std::move(loop));
  }
  plan.reason = explain(plan, source);
  return plan;
}

/// Cuts the loops as spelled, or those of the normal form where the cut falls
/// inside spelled loops that cannot be split there (3 x 2 trips in halves).
Cut cutSpelled(const TokenOrder &order, int64_t segments) {
  if (std::optional<Cut> cut = cutInto(order, segments))
    return *cut;
  std::optional<Cut> cut = cutInto(order.normalForm(), segments);
  assert(cut && "segment counts come from the normal form");
  return *cut;
}

} // namespace

int64_t ConverterPlan::bufferElements() const { return product(bufferShape); }

int64_t ConverterPlan::allocatedElements() const {
  if (kind == Kind::None)
    return 0;
  return (pingPong() ? 2 : 1) * bufferElements();
}

std::optional<ConverterPlan>
streamtensor::inferConverter(const TokenOrder &source,
                             const TokenOrder &destination, std::string &error,
                             ConverterAlgorithm algorithm) {
  const std::vector<int64_t> srcShape = source.dataExtents(),
                             dstShape = destination.dataExtents();
  if (srcShape != dstShape) {
    error = "expected source and destination to stream one tensor shape but "
            "got '" +
            shapeString(srcShape) + "' and '" + shapeString(dstShape) + "'";
    return std::nullopt;
  }
  if (source.numTokens() == 0 || destination.numTokens() == 0)
    return makePlan(source, destination, {source, 0}, {destination, 0});
  if (algorithm == ConverterAlgorithm::Paper) {
    const unsigned loops = paperSharedLoops(source, destination);
    return makePlan(source, destination, {source, loops}, {destination, loops});
  }
  const int64_t segments = chooseSegments(source, destination);
  return makePlan(source, destination, cutSpelled(source, segments),
                  cutSpelled(destination, segments));
}
