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

#include "streamtensor/Support/GenericPoint.h"

#include "streamtensor/Support/TokenLoops.h"

#include <algorithm>
#include <cassert>
#include <numeric>

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

TokenOrder outerPart(const Cut &cut) {
  return sliceLoops(cut.order, 0, cut.outer,
                    std::vector<int64_t>(cut.order.rank(), 1));
}

TokenOrder innerPart(const Cut &cut) {
  return sliceLoops(cut.order, cut.outer, cut.order.numLoops(),
                    cut.order.element);
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

/// Rows that a ring must hold: before window i is drained, whole fills have
/// brought in all of it, and nothing before row i x step is needed any more.
int64_t ringRows(const SlidingWindow &window, int64_t extent) {
  int64_t most = 0;
  // What the last fill brings in too much repeats with this period.
  const int64_t period =
      window.fillRows / std::gcd(window.step, window.fillRows);
  for (int64_t i = 0; i < std::min(window.trips, period); ++i) {
    const int64_t needed = i * window.step + window.rows;
    const int64_t fills = (needed + window.fillRows - 1) / window.fillRows;
    most = std::max(most, std::min(fills * window.fillRows, extent) -
                              i * window.step);
  }
  return most;
}

/// The window that the outermost loop inside the cut of `destination` moves, if
/// the outermost loop of `source` walks over the same rows one after the other.
std::optional<SlidingWindow> slidingWindow(const Cut &source,
                                           const Cut &destination) {
  const TokenOrder src = innerPart(source), dst = innerPart(destination);
  if (src.numLoops() == 0 || dst.numLoops() == 0)
    return std::nullopt;
  const int dim = dst.loopDims().front();
  if (dim < 0 || src.loopDims().front() != dim)
    return std::nullopt;
  const TokenOrder fill = sliceLoops(src, 1, src.numLoops(), src.element),
                   drain = sliceLoops(dst, 1, dst.numLoops(), dst.element);
  const std::vector<int64_t> shape = src.dataExtents();
  std::vector<int64_t> rows = fill.dataExtents(), window = drain.dataExtents();
  const SlidingWindow result{static_cast<unsigned>(dim), dst.trips.front(),
                             dst.steps.front(), window[dim], src.steps.front()};
  // Only where positions pass more than once: interleaved segments of an exact
  // cover reach into each other, too, but are no windows.
  int64_t positions = dst.elementShape()[dim];
  for (unsigned l : dst.map[dim])
    positions *= dst.trips[l];
  if (positions == shape[dim])
    return std::nullopt;
  // Each fill brings whole rows, next to those before; the windows reach into
  // each other (a dilated one has holes, which its neighbours need).
  if (rows[dim] != result.fillRows || result.rows <= result.step ||
      !footprints(fill)[dim].repeats.empty())
    return std::nullopt;
  rows[dim] = window[dim] = shape[dim];
  if (rows != shape || window != shape || dst.dataExtents() != shape)
    return std::nullopt;
  return result;
}

/// The shape of the ring for `window` inside the cut.
std::vector<int64_t> ringShape(const Cut &cut, const SlidingWindow &window) {
  std::vector<int64_t> shape = innerPart(cut).dataExtents();
  shape[window.dim] = ringRows(window, shape[window.dim]);
  return shape;
}

/// How both sides are cut, and the window that moves inside.
struct Choice {
  int64_t segments = 1;
  std::optional<SlidingWindow> window;
};

/// The choice with the smallest allocation; among equals a ping-pong with the
/// most segments.
Choice choose(const TokenOrder &source, const TokenOrder &destination) {
  const TokenOrder src = source.normalForm(), dst = destination.normalForm();
  const std::vector<int64_t> counts = segmentCounts(src),
                             others = segmentCounts(dst);
  Choice best;
  int64_t bestElements = product(source.dataExtents());
  for (int64_t count : counts) {
    if (!std::binary_search(others.begin(), others.end(), count))
      continue;
    const std::optional<Cut> cut = cutInto(src, count);
    const std::optional<Cut> other = cutInto(dst, count);
    assert(cut && other && "segment counts come from these loops");
    if (outerPart(*cut).normalForm() != outerPart(*other).normalForm())
      continue;
    if (std::optional<SlidingWindow> window = slidingWindow(*cut, *other)) {
      const int64_t elements = product(ringShape(*cut, *window));
      if (elements < bestElements) {
        best = {count, window};
        bestElements = elements;
      }
    }
    if (count == 1 || !isLegal(*cut, *other))
      continue;
    const int64_t elements = 2 * product(innerPart(*cut).dataExtents());
    if (elements <= bestElements) {
      best = {count, std::nullopt};
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
  if (plan.kind == ConverterPlan::Kind::LineBuffer) {
    const SlidingWindow &window = *plan.window;
    return "windows of " + std::to_string(window.rows) + " rows of dimension " +
           std::to_string(window.dim) + " move by " +
           std::to_string(window.step) + ", the source brings " +
           std::to_string(window.fillRows) +
           " at a time: " + shapeString(plan.bufferShape) + " of " +
           shapeString(source.dataExtents()) +
           " is held in a ring (line buffer)";
  }
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
                       const Cut &sourceCut, const Cut &destinationCut,
                       const std::optional<SlidingWindow> &window = {}) {
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
  if (window) {
    plan.kind = ConverterPlan::Kind::LineBuffer;
    plan.window = window;
    plan.bufferShape = ringShape(sourceCut, *window);
    plan.fill = sliceLoops(plan.fill, 1, plan.fill.numLoops(), source.element);
    plan.drain =
        sliceLoops(plan.drain, 1, plan.drain.numLoops(), destination.element);
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
  const Choice choice = choose(source, destination);
  if (choice.window) // the window is one loop of the normal forms
    return makePlan(
        source, destination, *cutInto(source.normalForm(), choice.segments),
        *cutInto(destination.normalForm(), choice.segments), choice.window);
  return makePlan(source, destination, cutSpelled(source, choice.segments),
                  cutSpelled(destination, choice.segments));
}

int64_t SymbolicConverterPlan::allocatedElements() const {
  if (kind == ConverterPlan::Kind::None)
    return 0;
  int64_t elements = pingPong ? 2 : 1;
  for (int64_t size : bufferShape)
    elements *= size;
  return elements;
}

std::optional<SymbolicConverterPlan>
streamtensor::inferConverter(const SymbolicOrder &source,
                             const SymbolicOrder &destination,
                             std::string &error, ConverterAlgorithm algorithm) {
  const GenericPoint point({source, destination});
  const std::optional<ConverterPlan> plan = inferConverter(
      point.lower(source), point.lower(destination), error, algorithm);
  if (!plan) {
    error = point.raise(error);
    return std::nullopt;
  }
  const std::optional<SymbolicOrder> fill = point.raise(plan->fill);
  const std::optional<SymbolicOrder> drain = point.raise(plan->drain);
  bool constantSteps = fill && drain;
  SymbolicConverterPlan result;
  for (const SharedLoop &loop : plan->shared)
    if (const std::optional<TripCount> trip = point.raise(loop.trip))
      result.shared.push_back(*trip);
    else
      constantSteps = false;
  if (!point.isStatic() && plan->kind == ConverterPlan::Kind::LineBuffer) {
    error = "the windows of " + destination.str() +
            " need a line buffer, which has no run-time size: give the tensor "
            "a fixed one";
    return std::nullopt;
  }
  if (!constantSteps) {
    error = "no converter with constant steps leads from " + source.str() +
            " to " + destination.str() + " for all run-time sizes";
    return std::nullopt;
  }
  result.kind = plan->kind;
  result.pingPong = plan->pingPong();
  for (int64_t size : plan->bufferShape)
    result.bufferShape.push_back(point.largest(size));
  result.fill = *fill;
  result.drain = *drain;
  result.reason = point.raise(plan->reason);
  return result;
}
