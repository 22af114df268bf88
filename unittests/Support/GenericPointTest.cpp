//===- GenericPointTest.cpp - run-time trip counts as numbers -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converters between orders of run-time size, run for all small values of the
// parameters and compared with the enumerated sequence of the destination.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/GenericPoint.h"

#include "RandomTokenOrders.h"
#include "streamtensor/Support/ConverterInference.h"

#include "gtest/gtest.h"

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

const ParameterValues maxima{{"past", 4}, {"seq", 3}};

SymbolicOrder build(const Shape &element,
                    const std::vector<RuntimeLoop> &loops) {
  return makeOrder(element, loops, maxima);
}

TripCount randomCount(Random &random) {
  const TripCount past = TripCount::parameter("past"),
                  seq = TripCount::parameter("seq");
  const std::vector<TripCount> counts{
      past, seq, past + seq, past + 1, seq * 2, TripCount::ceilDiv(seq, 2)};
  return random.pick(counts);
}

/// Two orders over one tensor, some of whose dimensions have a run-time size.
struct Pair {
  SymbolicOrder source, destination;
};

Pair randomPair(Random &random) {
  const int rank = static_cast<int>(random.in(1, 3));
  std::vector<std::optional<TripCount>> sizes(rank);
  Shape shape;
  for (std::optional<TripCount> &size : sizes) {
    if (random.chance(50))
      size = randomCount(random);
    shape.push_back(size ? 1 : random.pick(Shape{1, 2, 3, 4, 6}));
  }
  auto loopsOver = [&](Shape &element) {
    const TokenOrder fixed = randomOrderOver(random, shape, 1);
    element = fullElement(fixed);
    std::vector<RuntimeLoop> loops;
    for (const Loop &loop : streamtensor::test::loopsOf(fixed))
      loops.push_back({loop.trip, loop.step, loop.dim});
    auto insert = [&](RuntimeLoop loop) {
      loops.insert(loops.begin() +
                       random.below(static_cast<int64_t>(loops.size()) + 1),
                   loop);
    };
    for (int dim = 0; dim < rank; ++dim)
      if (sizes[dim])
        insert({*sizes[dim], 1, dim});
    return loops;
  };
  Shape element, otherElement;
  const std::vector<RuntimeLoop> loops = loopsOver(element);
  std::vector<RuntimeLoop> others = loopsOver(otherElement);
  if (random.chance(70)) {
    // The outer loops of the source, then its other ones in another order.
    others = loops;
    otherElement = element;
    std::vector<RuntimeLoop> rest(
        others.begin() + random.below(static_cast<int64_t>(others.size()) + 1),
        others.end());
    others.resize(others.size() - rest.size());
    random.shuffle(rest);
    others.insert(others.end(), rest.begin(), rest.end());
  }
  if (random.chance(40))
    others.insert(
        others.begin() + random.below(static_cast<int64_t>(others.size()) + 1),
        {random.chance(50) ? randomCount(random) : TripCount(2), 1, -1});
  return {build(element, loops), build(otherElement, others)};
}

/// Runs the converter at `values`, as the compiler emits it.
void simulate(const Pair &pair, const SymbolicConverterPlan &plan,
              const ParameterValues &values) {
  const Sequence pulled = enumerateElements(pair.source.at(values)),
                 expected = enumerateElements(pair.destination.at(values)),
                 fill = enumerateElements(plan.fill.at(values)),
                 drain = enumerateElements(plan.drain.at(values));
  int64_t segments = 1;
  for (const TripCount &trip : plan.shared)
    segments *= trip.evaluate(values);
  ASSERT_EQ(segments * fill.size(), pulled.size());
  ASSERT_EQ(segments * drain.size(), expected.size());
  size_t read = 0, written = 0;
  for (int64_t segment = 0; segment < segments; ++segment) {
    // A fresh buffer: nothing survives from earlier segments.
    std::vector<Shape> buffer(volume(plan.bufferShape));
    for (const Shape &at : fill) {
      for (size_t dim = 0; dim < at.size(); ++dim)
        ASSERT_LT(at[dim], plan.bufferShape[dim]);
      buffer[flatten(at, plan.bufferShape)] = pulled[read++];
    }
    for (const Shape &at : drain)
      ASSERT_EQ(buffer[flatten(at, plan.bufferShape)], expected[written++]);
  }
}

TEST(GenericPoint, ConvertersHoldAtAllValues) {
  Random random(51);
  int found = 0, smaller = 0;
  const int pairs = 2000;
  for (int i = 0; i < pairs; ++i) {
    const Pair pair = randomPair(random);
    std::string error;
    for (ConverterAlgorithm algorithm :
         {ConverterAlgorithm::Default, ConverterAlgorithm::Paper}) {
      const std::optional<SymbolicConverterPlan> plan =
          inferConverter(pair.source, pair.destination, error, algorithm);
      // Only what would need steps of run-time size has none.
      if (!plan)
        continue;
      ++found;
      int64_t whole = 1;
      for (int64_t size : pair.source.largest().dataExtents())
        whole *= size;
      smaller += plan->allocatedElements() < whole;
      for (int64_t past = 0; past <= maxima.at("past"); ++past)
        for (int64_t seq = 0; seq <= maxima.at("seq"); ++seq) {
          simulate(pair, *plan, {{"past", past}, {"seq", seq}});
          ASSERT_FALSE(HasFatalFailure())
              << pair.source.str() << " to " << pair.destination.str()
              << " with past = " << past << ", seq = " << seq;
        }
    }
  }
  // The test must have tested something: most pairs have a converter, and many
  // of them hold less than the tensor.
  EXPECT_GT(found, pairs * 3 / 2);
  EXPECT_GT(smaller, pairs / 4);
}

TEST(GenericPoint, NumbersAndBack) {
  const TripCount seq = TripCount::parameter("seq"),
                  past = TripCount::parameter("past");
  const SymbolicOrder order = build(
      {1, 1}, {{seq * 2, 1, 0}, {past + seq, 1, 1}, {TripCount(7), 1, -1}});
  const GenericPoint point({order});
  EXPECT_FALSE(point.isStatic());
  EXPECT_EQ(point.raise(point.lower(order)), order);
  const int64_t rows = *point.lower(seq), columns = *point.lower(past + seq);
  EXPECT_EQ(point.raise(rows * 6), seq * 6);
  EXPECT_EQ(point.raise(12), TripCount(12));
  EXPECT_EQ(point.raise(rows * columns), std::nullopt);
  EXPECT_EQ(point.raise(rows * rows), std::nullopt);
  EXPECT_EQ(point.lower(past), std::nullopt);
  // 3 rows, 4 + 3 columns.
  EXPECT_EQ(point.largest(rows * columns * 5), 105);
  EXPECT_EQ(point.raise("holds " + std::to_string(rows * 2) + "x64"),
            "holds (2 * seq)x64");
}

TEST(GenericPoint, RevisitsOfTwoRunTimeCountsStayTwo) {
  const TripCount seq = TripCount::parameter("seq"),
                  past = TripCount::parameter("past");
  const SymbolicOrder order =
      build({4}, {{seq, 1, -1}, {past, 1, -1}, {TripCount(2), 4, 0}});
  const GenericPoint point({order});
  TokenOrder merged = point.lower(order);
  merged.trips = {merged.trips[0] * merged.trips[1] * 3, 2};
  merged.steps = {1, 4};
  merged.map = {{1}};
  const std::optional<SymbolicOrder> raised = point.raise(merged);
  ASSERT_TRUE(raised);
  for (int64_t value = 0; value < 3; ++value) {
    const ParameterValues values{{"past", value}, {"seq", 2}};
    EXPECT_EQ(raised->at(values).numTokens(), value * 2 * 3 * 2);
  }
  // A step of run-time size is none.
  merged.steps = {1, *point.lower(seq)};
  EXPECT_FALSE(point.raise(merged));
}

} // namespace
