//===- SymbolicOrderTest.cpp - Run-time orders at all their values --------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trip counts, normal form and comparison of orders with run-time parameters,
// each judged by enumerating the sequences at every value of the parameters.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/SymbolicOrder.h"

#include "RandomTokenOrders.h"

#include "gtest/gtest.h"

#include <functional>

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

const ParameterValues maxima = {{"past", 5}, {"seq", 7}};

TripCount parse(const std::string &text) {
  ParameterValues known = maxima;
  std::string error;
  const auto trip = TripCount::parse(text, known, error);
  EXPECT_TRUE(trip) << error;
  return trip.value_or(TripCount());
}

/// Calls `fn` for every combination of values.
void forAllValues(const std::function<void(const ParameterValues &)> &fn) {
  for (int64_t past = 0; past <= maxima.at("past"); ++past)
    for (int64_t seq = 0; seq <= maxima.at("seq"); ++seq)
      fn({{"past", past}, {"seq", seq}});
}

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

TEST(TripCount, SpellingAndValues) {
  struct Case {
    const char *text, *canonical;
    std::function<int64_t(int64_t, int64_t)> value;
  };
  const Case cases[] = {
      {"4", "4", [](auto, auto) { return 4; }},
      {"past + 1", "past + 1", [](auto p, auto) { return p + 1; }},
      {"1 + seq + past", "past + seq + 1",
       [](auto p, auto s) { return p + s + 1; }},
      {"ceildiv(seq, 16)", "ceildiv(seq, 16)",
       [](auto, auto s) { return ceilDivide(s, 16); }},
      {"ceildiv(4 * seq + 5, 16)", "ceildiv(seq + 2, 4)",
       [](auto, auto s) { return ceilDivide(4 * s + 5, 16); }},
      {"ceildiv(20 * seq + 37, 16)", "seq + ceildiv(seq + 2, 4) + 2",
       [](auto, auto s) { return ceilDivide(20 * s + 37, 16); }},
      {"ceildiv(ceildiv(seq, 2), 3)", "ceildiv(seq, 6)",
       [](auto, auto s) { return ceilDivide(ceilDivide(s, 2), 3); }},
      {"ceildiv(seq + 3, 1)", "seq + 3", [](auto, auto s) { return s + 3; }},
      {"5 + -1 * past", "-1 * past + 5", [](auto p, auto) { return 5 - p; }},
      {"2 * past + 3 * past", "5 * past", [](auto p, auto) { return 5 * p; }},
      {"past + -1 * past", "0", [](auto, auto) { return 0; }},
      {"ceildiv(seq + past, 4) + ceildiv(past + seq, 4)",
       "2 * ceildiv(past + seq, 4)",
       [](auto p, auto s) { return 2 * ceilDivide(p + s, 4); }},
  };
  for (const Case &c : cases) {
    const TripCount trip = parse(c.text);
    // The terms are sorted by spelling, so "ceildiv" comes before "past".
    EXPECT_EQ(trip, parse(c.canonical)) << c.text << " is " << trip.str();
    EXPECT_EQ(parse(trip.str()), trip);
    int64_t low = INT64_MAX, high = INT64_MIN;
    forAllValues([&](const ParameterValues &values) {
      const int64_t expected = c.value(values.at("past"), values.at("seq"));
      EXPECT_EQ(trip.evaluate(values), expected) << c.text;
      low = std::min(low, expected);
      high = std::max(high, expected);
    });
    EXPECT_LE(trip.lowest(maxima), low);
    EXPECT_GE(trip.highest(maxima), high);
  }
}

TEST(TripCount, Maxima) {
  ParameterValues known, seen;
  std::string error;
  const auto trip =
      TripCount::parse("past max 255 + ceildiv(seq max 16 + past, "
                       "4) + 1",
                       known, error);
  ASSERT_TRUE(trip) << error;
  EXPECT_EQ(known, (ParameterValues{{"past", 255}, {"seq", 16}}));
  EXPECT_EQ(trip->str(known, seen),
            "ceildiv(past max 255 + seq max 16, 4) + past + 1");
  EXPECT_EQ(trip->lowest(known), 1);
  EXPECT_EQ(trip->highest(known), 255 + 68 + 1); // ceil(271 / 4) = 68
  EXPECT_EQ(trip->lowest(known, {{"past", 3}}), 3 + 1 + 1); // ceil(3 / 4) = 1
  EXPECT_EQ(trip->highest(known, {{"past", 3}}), 255 + 68 + 1);
  const TripCount falling = TripCount::parameter("seq") * -2 + 40;
  EXPECT_EQ(falling.lowest(known, {{"seq", 2}}), 40 - 2 * 16);
  EXPECT_EQ(falling.highest(known, {{"seq", 2}}), 40 - 2 * 2);
}

TEST(TripCount, Refusals) {
  const auto error = [](const std::string &text) {
    ParameterValues known;
    std::string error;
    EXPECT_FALSE(TripCount::parse(text, known, error)) << text;
    return error;
  };
  EXPECT_EQ(error("seq"), "parameter 'seq' needs its maximum at its first use: "
                          "write 'seq max N'");
  EXPECT_EQ(error("seq max 4 + seq max 5"),
            "parameter 'seq' has two maxima, 4 and 5");
  EXPECT_EQ(error("seq max 4 * 2"),
            "expected the end in trip count 'seq max 4 * 2' but got '* 2'");
  EXPECT_EQ(error("ceildiv(seq max 4, 0)"),
            "expected a divisor of at least 1 in trip count "
            "'ceildiv(seq max 4, 0)' but got ')'");
  EXPECT_EQ(error("1000000000"), "expected an integer below 10^9 in trip count "
                                 "'1000000000' but got '1000000000'");
  EXPECT_EQ(error("+ 1"), "expected a parameter, ceildiv or an integer in trip "
                          "count '+ 1' but got '+ 1'");
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

SymbolicOrder build(const Shape &element,
                    const std::vector<RuntimeLoop> &loops) {
  return makeOrder(element, loops, maxima);
}

std::vector<RuntimeLoop> loopsOf(const SymbolicOrder &order) {
  std::vector<RuntimeLoop> loops;
  for (unsigned l = 0; l < order.numLoops(); ++l)
    loops.push_back({order.trips[l], order.steps[l], -1});
  for (unsigned dim = 0; dim < order.rank(); ++dim)
    for (unsigned l : order.map[dim])
      loops[l].dim = static_cast<int>(dim);
  return loops;
}

const std::vector<std::string> expressions = {"past",
                                              "seq",
                                              "past + 1",
                                              "2 * past",
                                              "4 * seq",
                                              "ceildiv(seq, 2)",
                                              "past + seq",
                                              "ceildiv(past + 1, 3)",
                                              "-1 * past + 5",
                                              "2 * ceildiv(seq, 4)",
                                              "2 * past + 2",
                                              "ceildiv(seq, 7)",
                                              "ceildiv(past, 16)",
                                              "ceildiv(3 * seq + 1, 2)"};

/// A random order of which the outermost digits and revisits may run as often
/// as parameters say.
SymbolicOrder randomSymbolic(Random &random) {
  Shape shape = randomShape(random, 2);
  while (volume(shape) > 12)
    shape = randomShape(random, 2);
  SymbolicOrder order(randomOrderOver(random, shape, 2));
  if (order.element.empty())
    order.element.assign(shape.size(), 1);
  std::vector<RuntimeLoop> loops = loopsOf(order);
  for (RuntimeLoop &loop : loops) {
    bool isTop = true;
    for (const RuntimeLoop &other : loops)
      isTop &= loop.dim < 0 || other.dim != loop.dim ||
               other.step <= loop.step || other.trip.isConstant(1);
    if (isTop && random.chance(60))
      loop.trip = parse(random.pick(expressions));
  }
  return build(order.element, loops);
}

/// The same sequences: loops split, one-trip loops added, neighbouring revisits
/// swapped.
SymbolicOrder respellSymbolic(Random &random, const SymbolicOrder &order) {
  std::vector<RuntimeLoop> result;
  for (const RuntimeLoop &loop : loopsOf(order)) {
    if (random.chance(15))
      result.push_back({1, 1, -1});
    const int64_t content = loop.trip.content();
    int64_t inner = random.in(1, 4);
    if (content > 1 && content % inner == 0 && random.chance(60)) {
      result.push_back({loop.trip.dividedBy(inner),
                        loop.dim < 0 ? 1 : loop.step * inner, loop.dim});
      result.push_back({inner, loop.step, loop.dim});
    } else {
      result.push_back(loop);
    }
  }
  for (size_t i = 1; i < result.size(); ++i)
    if (result[i].dim < 0 && result[i - 1].dim < 0 && random.chance(50))
      std::swap(result[i], result[i - 1]);
  return build(order.element, result);
}

SymbolicOrder perturbSymbolic(Random &random, const SymbolicOrder &order) {
  std::vector<RuntimeLoop> loops = loopsOf(order);
  if (loops.empty())
    return order;
  RuntimeLoop &loop = loops[random.below(loops.size())];
  switch (random.below(3)) {
  case 0:
    std::swap(loop, loops[random.below(loops.size())]);
    break;
  case 1:
    loop.trip = random.chance(30) ? TripCount(random.in(1, 4))
                                  : parse(random.pick(expressions));
    break;
  default:
    loops.erase(loops.begin() + random.below(loops.size()));
    break;
  }
  return build(order.element, loops);
}

TEST(SymbolicOrder, VerifyMeansCoveredAtAllValues) {
  Random random(41);
  int good = 0, refused = 0;
  for (int i = 0; i < 8000; ++i) {
    SymbolicOrder order = randomSymbolic(random);
    if (random.chance(70))
      order = perturbSymbolic(random, order);
    std::string error = "not touched";
    const bool holds = order.verify(error);
    bool covered = true;
    forAllValues([&](const ParameterValues &values) {
      std::string cause;
      covered &= order.at(values).verify(cause);
    });
    // Conservative where a loop of at most one trip is stepped over.
    if (holds) {
      ASSERT_TRUE(covered) << order.str();
    }
    refused += !holds;
    good += holds;
    if (!holds) {
      ASSERT_NE(error, "not touched");
      ASSERT_NE(error, "");
    }
  }
  EXPECT_GT(good, 4000);
  EXPECT_GT(refused, 400);
}

TEST(SymbolicOrder, NormalFormHasTheSameSequenceAtAllValues) {
  Random random(42);
  for (int i = 0; i < 2000; ++i) {
    const SymbolicOrder order = respellSymbolic(random, randomSymbolic(random));
    const SymbolicOrder normal = order.normalForm();
    ASSERT_EQ(normal, normal.normalForm()) << order.str();
    forAllValues([&](const ParameterValues &values) {
      if (volume(order.at(values).trips) <= 1000) {
        ASSERT_EQ(enumerate(normal.at(values)), enumerate(order.at(values)))
            << order.str() << " | " << normal.str();
      }
    });
    if (HasFatalFailure())
      return;
  }
}

TEST(SymbolicOrder, ComparisonAgreesWithEnumerationAtAllValues) {
  Random random(43);
  int equal = 0, different = 0, searched = 0;
  for (int i = 0; i < 2500; ++i) {
    const SymbolicOrder a = randomSymbolic(random);
    SymbolicOrder b = random.chance(50) ? perturbSymbolic(random, a) : a;
    b = respellSymbolic(random, b);
    bool same = true;
    ParameterValues first;
    forAllValues([&](const ParameterValues &values) {
      if (same && enumerate(a.at(values)) != enumerate(b.at(values)))
        same = false, first = values;
    });
    same &= fullElement(a.at(first.empty() ? maxima : first)) ==
            fullElement(b.at(first.empty() ? maxima : first));
    const auto difference = firstDifference(a, b);
    ASSERT_EQ(!difference, same)
        << a.str() << " | " << b.str() << " at " << valuesString(first);
    searched += same && !(a.normalForm() == b.normalForm());
    (same ? equal : different) += 1;
    if (same)
      continue;
    ASSERT_EQ(difference->reason, "");
    ParameterValues values = maxima;
    for (const auto &[name, value] : difference->values)
      values[name] = value;
    const auto expected = firstDifference(a.at(values), b.at(values));
    ASSERT_TRUE(expected) << a.str() << " | " << b.str();
    ASSERT_EQ(expected->index, difference->difference.index);
  }
  EXPECT_GT(equal, 1000);
  EXPECT_GT(different, 600);
  // The normal form decides nearly always; what is left are trip counts that
  // agree only because a parameter is small.
  EXPECT_LT(searched, equal / 20);
}

TEST(SymbolicOrder, ElementsAndShapesAgreeWithEnumerationAtAllValues) {
  Random random(44);
  int equal = 0, shapes = 0;
  for (int i = 0; i < 2000; ++i) {
    const SymbolicOrder a = randomSymbolic(random);
    SymbolicOrder b = random.chance(50) ? perturbSymbolic(random, a) : a;
    b = respellSymbolic(random, b);
    std::string error;
    if (!b.verify(error))
      continue;
    if (random.chance(30)) { // another rank: a dimension of one element
      b.element.insert(b.element.begin(), 1);
      b.map.insert(b.map.begin(), {{}});
    }
    bool same = true, sameShape = true;
    forAllValues([&](const ParameterValues &values) {
      const TokenOrder x = a.at(values), y = b.at(values);
      Sequence sx, sy;
      for (const Shape &at : enumerateElements(x))
        sx.push_back({flatten(at, x.dataExtents())});
      for (const Shape &at : enumerateElements(y))
        sy.push_back({flatten(at, y.dataExtents())});
      same &= sx == sy;
      sameShape &= x.dataExtents() == y.dataExtents();
    });
    ASSERT_EQ(!firstElementDifference(a, b), same)
        << a.str() << " | " << b.str();
    ASSERT_EQ(!firstShapeDifference(a, b), sameShape)
        << a.str() << " | " << b.str();
    equal += same;
    shapes += sameShape;
  }
  EXPECT_GT(equal, 600);
  EXPECT_GT(shapes, 600);
}

TEST(SymbolicOrder, Messages) {
  SymbolicOrder rows;
  rows.element = {1, 16};
  rows.maxima = {{"past", 255}};
  rows.trips = {TripCount::parameter("past") + 1, 4};
  rows.steps = {1, 16};
  rows.map = {{0}, {1}};
  std::string error;
  ASSERT_TRUE(rows.verify(error)) << error;
  EXPECT_EQ(rows.str(), "1x16, [past max 255 + 1, 4] * [1, 16], (d0, d1) -> "
                        "(d0, d1)");
  EXPECT_EQ(rows.largest(), TokenOrder::rowMajor({256, 64}, {1, 16}));
  SymbolicOrder columns = rows;
  std::swap(columns.trips[0], columns.trips[1]);
  std::swap(columns.steps[0], columns.steps[1]);
  std::swap(columns.map[0], columns.map[1]);
  EXPECT_EQ(
      firstDifference(rows, columns)->describe(),
      "with past = 255, token 1 is at (0, 16) in the source but at (1, 0) "
      "in the destination");
  SymbolicOrder longer = rows;
  longer.maxima = {{"past", 511}};
  EXPECT_EQ(
      firstDifference(rows, longer)->describe(),
      "parameter 'past' has a maximum of 255 on one side and of 511 on the "
      "other");
  SymbolicOrder inner = rows;
  inner.trips = {4, TripCount::parameter("past") + 1};
  inner.steps = {16, 1};
  inner.map = {{0, 1}, {}};
  EXPECT_FALSE(inner.verify(error));
  SymbolicOrder windows = inner; // steps of 16 over at most 256 rows
  EXPECT_FALSE(windows.verify(error, /*allowOverlap=*/true));
  EXPECT_EQ(error, "data dimension 0 is covered with gaps: expected step 1 for "
                   "loop d0 (the element size) but got 16 (with the fewest "
                   "trips)");
  SymbolicOrder negative = rows;
  negative.trips[0] = TripCount::parameter("past") + -1;
  EXPECT_FALSE(negative.verify(error));
  EXPECT_EQ(error,
            "expected a trip count of at least 0 for loop d0 but 'past + "
            "-1' can be as low as -1");
}

TEST(SymbolicOrder, LargeParametersNeedNoEnumeration) {
  // Two parameters of 131,072 values each; 2^34 combinations are not tried.
  const auto order = [](const std::string &first, const std::string &second) {
    SymbolicOrder result;
    std::string error;
    result.element = {1, 16};
    for (const std::string &text : {first, second}) {
      const auto trip = TripCount::parse(text, result.maxima, error);
      EXPECT_TRUE(trip) << error;
      result.trips.push_back(*trip);
    }
    result.steps = {16, 1};
    result.map = {{1}, {0}};
    return result;
  };
  const SymbolicOrder a = order("ceildiv(seq max 131072, 16)",
                                "past max 131072 + 1"),
                      b = order("ceildiv(seq max 131072 + 15, 16)",
                                "past max 131072 + 1");
  EXPECT_TRUE(sameSequence(a, a));
  const auto difference = firstDifference(a, b);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->reason, "");
}

} // namespace
