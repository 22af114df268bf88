//===- TokenOrderTest.cpp - Token orders against enumeration --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Coverage, normal form, comparison and element order of random small token
// orders, each judged by plain enumeration, and the messages of bad ones.
//
//===----------------------------------------------------------------------===//

#include "RandomTokenOrders.h"

#include "gtest/gtest.h"

#include <map>

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

/// The types of the paper's section on itensor, over an 8x8 tensor.
const TokenOrder paperB{{4, 2}, {4, 2}, {2, 4}, {{1}, {0}}};
const TokenOrder paperC{{4, 2}, {4, 2, 2}, {2, 1, 4}, {{2}, {0}}};

std::string verifyError(const TokenOrder &order, bool allowOverlap = false) {
  std::string error;
  return order.verify(error, allowOverlap) ? "" : error;
}

TEST(TokenOrder, PaperExampleSequences) {
  const Sequence b = {{0, 0}, {4, 0}, {0, 2}, {4, 2},
                      {0, 4}, {4, 4}, {0, 6}, {4, 6}};
  const Sequence cStart = {{0, 0}, {4, 0}, {0, 0}, {4, 0}, {0, 2}};
  Sequence seen;
  paperB.forEachToken([&](const Shape &offsets) { seen.push_back(offsets); });
  EXPECT_EQ(seen, b);
  for (size_t i = 0; i < cStart.size(); ++i)
    EXPECT_EQ(paperC.tokenOffsets(i), cStart[i]);
  EXPECT_EQ(paperB.numTokens(), 8);
  EXPECT_EQ(paperC.numTokens(), 16);
  EXPECT_EQ(paperB.tokenElements(), 8);
  EXPECT_EQ(paperC.dataExtents(), (Shape{8, 8}));
  EXPECT_EQ(paperC.str(),
            "4x2, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)");
  EXPECT_EQ(verifyError(paperB), "");
  EXPECT_EQ(verifyError(paperC), "");
}

TEST(TokenOrder, DegenerateOrders) {
  // A tensor of rank 0, one token.
  const TokenOrder scalar;
  EXPECT_EQ(verifyError(scalar), "");
  EXPECT_EQ(scalar.numTokens(), 1);
  EXPECT_EQ(scalar.tokenOffsets(0), Shape{});
  EXPECT_EQ(scalar.str(), "scalar, [] * [], () -> ()");
  // A whole 3x5 tensor as one token.
  const TokenOrder whole{{3, 5}, {}, {}, {{}, {}}};
  EXPECT_EQ(verifyError(whole), "");
  EXPECT_EQ(whole.numTokens(), 1);
  EXPECT_EQ(whole.dataExtents(), (Shape{3, 5}));
  EXPECT_EQ(whole.str(), "3x5, [] * [], () -> (0, 0)");
  // An empty cache: no rows of 64.
  const TokenOrder empty{{1, 16}, {0, 4}, {1, 16}, {{0}, {1}}};
  EXPECT_EQ(verifyError(empty), "");
  EXPECT_EQ(empty.numTokens(), 0);
  EXPECT_EQ(empty.dataExtents(), (Shape{0, 64}));
  EXPECT_TRUE(sameSequence(empty, empty));
  // Scalar spelling and all ones are one type.
  EXPECT_TRUE(sameSequence(TokenOrder{{}, {6}, {1}, {{0}, {}}},
                           TokenOrder{{1, 1}, {3, 2}, {2, 1}, {{0, 1}, {}}}));
}

TEST(TokenOrder, RowMajor) {
  const TokenOrder order = TokenOrder::rowMajor({4, 6}, {1, 3});
  EXPECT_EQ(
      enumerate(order),
      (Sequence{
          {0, 0}, {0, 3}, {1, 0}, {1, 3}, {2, 0}, {2, 3}, {3, 0}, {3, 3}}));
}

TEST(TokenOrder, StructuralErrors) {
  EXPECT_EQ(verifyError({{1}, {4, 4}, {1}, {{0}}}),
            "expected one step per trip count (2) but got 1");
  EXPECT_EQ(verifyError({{1, 1}, {4}, {1}, {{0}}}),
            "expected an element of rank 0 or 1 (the rank of the tensor) but "
            "got '1x1'");
  EXPECT_EQ(verifyError({{0}, {4}, {1}, {{0}}}),
            "expected element sizes of at least 1 but got '0'");
  EXPECT_EQ(verifyError({{1}, {4}, {1}, {{1}}}),
            "data dimension 0 uses loop d1 but there are only 1 loops");
  EXPECT_EQ(verifyError({{1, 1}, {4}, {1}, {{0}, {0}}}),
            "loop d0 is used twice, by data dimensions 0 and 1");
  EXPECT_EQ(verifyError({{1}, {-1}, {1}, {{0}}}),
            "expected a trip count of at least 0 for loop d0 but got -1");
  EXPECT_EQ(verifyError({{1}, {4}, {0}, {{0}}}),
            "expected a step of at least 1 for loop d0 but got 0");
  EXPECT_EQ(verifyError({{1}, {4, 2}, {1, 4}, {{0}}}),
            "expected step 1 for loop d1, which no data dimension uses, but "
            "got 4");
  EXPECT_EQ(
      verifyError({{1}, {int64_t(1) << 40, int64_t(1) << 40}, {1, 1}, {{}}}),
      "the number of streamed elements exceeds 64 bits");
  EXPECT_EQ(verifyError({{1}, {3}, {INT64_MAX / 2 + 1}, {{0}}}),
            "the extent of data dimension 0 exceeds 64 bits");
}

TEST(TokenOrder, CoverageErrors) {
  EXPECT_EQ(verifyError({{4}, {3}, {3}, {{0}}}),
            "data dimension 0 is overlapped: expected step 4 for loop d0 (the "
            "element size) but got 3");
  EXPECT_EQ(verifyError({{4}, {2, 3}, {16, 4}, {{0, 1}}}),
            "data dimension 0 is covered with gaps: expected step 12 for loop "
            "d0 (what loop d1 and those inside it cover) but got 16");
  // A 3-wide window over 6 positions.
  const TokenOrder window{{3}, {4}, {1}, {{0}}};
  EXPECT_NE(verifyError(window), "");
  EXPECT_EQ(verifyError(window, /*allowOverlap=*/true), "");
  EXPECT_EQ(window.dataExtents(), Shape{6});
  // Overlap does not excuse gaps.
  EXPECT_NE(verifyError({{3}, {4}, {4}, {{0}}}, /*allowOverlap=*/true), "");
}

/// How often each position of the spanned box passes.
std::map<Shape, int64_t> countPositions(const TokenOrder &order, Shape &box) {
  std::map<Shape, int64_t> counts;
  box.assign(order.map.size(), 0);
  for (const Shape &position : enumerateElements(order)) {
    ++counts[position];
    for (size_t dim = 0; dim < box.size(); ++dim)
      box[dim] = std::max(box[dim], position[dim] + 1);
  }
  return counts;
}

TEST(TokenOrder, CoverageAgreesWithEnumeration) {
  Random random(1);
  int exact = 0, overlapping = 0, gaps = 0;
  for (int i = 0; i < 20000; ++i) {
    TokenOrder order = randomOrder(random);
    const bool perturbed = random.chance(60);
    if (perturbed)
      order = perturb(random, order);
    if (order.numTokens() == 0)
      continue;
    Shape box;
    const std::map<Shape, int64_t> counts = countPositions(order, box);
    const bool full = static_cast<int64_t>(counts.size()) == volume(box);
    int64_t revisits = 1;
    for (const Loop &loop : loopsOf(order))
      revisits *= loop.dim < 0 ? loop.trip : 1;
    const bool once =
        std::all_of(counts.begin(), counts.end(),
                    [&](const auto &c) { return c.second == revisits; });
    ASSERT_EQ(verifyError(order) == "", full && once) << order.str();
    ASSERT_EQ(verifyError(order, true) == "", full) << order.str();
    ASSERT_EQ(order.dataExtents(), box) << order.str();
    (!full ? gaps : once ? exact : overlapping) += 1;
    if (!perturbed) {
      ASSERT_TRUE(full && once) << order.str();
    }
  }
  // The generator reaches every verdict.
  EXPECT_GT(exact, 8000);
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(gaps, 1000);
}

TEST(TokenOrder, AccessorsAgreeWithEnumeration) {
  Random random(2);
  for (int i = 0; i < 5000; ++i) {
    const TokenOrder order = randomOrder(random);
    const Sequence expected = enumerate(order);
    ASSERT_EQ(order.numTokens(), static_cast<int64_t>(expected.size()));
    Sequence visited, indexed;
    order.forEachToken([&](const Shape &at) { visited.push_back(at); });
    for (int64_t t = 0; t < order.numTokens(); ++t)
      indexed.push_back(order.tokenOffsets(t));
    ASSERT_EQ(visited, expected) << order.str();
    ASSERT_EQ(indexed, expected) << order.str();
  }
}

/// A pair of orders that is often equal, often nearly so. Some overlap.
std::pair<TokenOrder, TokenOrder> randomPair(Random &random) {
  TokenOrder a = randomOrder(random), b = a;
  if (random.chance(15))
    a = b = perturb(random, a);
  switch (random.below(4)) {
  case 0:
    b = perturb(random, a);
    break;
  case 1:
    b = respell(random, perturb(random, a));
    break;
  case 2:
    b = respell(random, a);
    break;
  default:
    if (a.numTokens() > 0 && volume(a.dataExtents()) <= 200)
      b = randomOrderOver(random, a.dataExtents(), 2);
    break;
  }
  return {a, b};
}

TEST(TokenOrder, NormalFormIsTheFittedLoopNest) {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    TokenOrder order = randomPair(random).second;
    const Sequence sequence = enumerate(order);
    const TokenOrder normal = order.normalForm();
    ASSERT_EQ(normal, normal.normalForm());
    ASSERT_EQ(enumerate(normal), sequence) << order.str();
    if (sequence.empty()) {
      ASSERT_EQ(normal.trips, Shape{0});
      continue;
    }
    const auto loops = fitLoops(sequence);
    ASSERT_TRUE(loops) << order.str();
    ASSERT_EQ(normal, makeOrder(fullElement(order), *loops)) << order.str();
  }
}

TEST(TokenOrder, ComparisonAgreesWithEnumeration) {
  Random random(4);
  int equal = 0, offset = 0, length = 0;
  for (int i = 0; i < 30000; ++i) {
    const auto [a, b] = randomPair(random);
    if (a.map.size() != b.map.size())
      continue;
    const Sequence sa = enumerate(a), sb = enumerate(b);
    const bool same = fullElement(a) == fullElement(b) && sa == sb;
    ASSERT_EQ(sameSequence(a, b), same) << a.str() << " | " << b.str();
    const auto difference = firstDifference(a, b);
    ASSERT_EQ(!difference, same) << a.str() << " | " << b.str();
    equal += same;
    if (!difference)
      continue;
    if (fullElement(a) != fullElement(b)) {
      ASSERT_EQ(difference->kind, TokenDifference::Kind::Element);
      continue;
    }
    size_t first = 0;
    while (first < sa.size() && first < sb.size() && sa[first] == sb[first])
      ++first;
    ASSERT_EQ(difference->index, static_cast<int64_t>(first))
        << a.str() << " | " << b.str();
    ASSERT_EQ(difference->offsetsA,
              first < sa.size() ? std::optional(sa[first]) : std::nullopt);
    ASSERT_EQ(difference->offsetsB,
              first < sb.size() ? std::optional(sb[first]) : std::nullopt);
    const bool ended = first == sa.size() || first == sb.size();
    ASSERT_EQ(difference->kind, ended ? TokenDifference::Kind::Length
                                      : TokenDifference::Kind::Offset);
    (ended ? length : offset) += 1;
  }
  EXPECT_GT(equal, 6000);
  EXPECT_GT(offset, 3000);
  EXPECT_GT(length, 300);
}

TEST(TokenOrder, DifferenceMessages) {
  const auto message = [](const TokenOrder &a, const TokenOrder &b) {
    return firstDifference(a, b)->describe(a, b);
  };
  EXPECT_EQ(message(paperB, paperC),
            "token 2 is at (0, 2) in the source but at (0, 0) in the "
            "destination");
  EXPECT_EQ(message({{4}, {2}, {4}, {{0}}}, {{4}, {3}, {4}, {{0}}}),
            "the source has 2 tokens but the destination has 3");
  EXPECT_EQ(message({{4}, {2}, {4}, {{0}}}, {{2}, {4}, {2}, {{0}}}),
            "the source has tokens of shape '4' but the destination of shape "
            "'2'");
  EXPECT_EQ(message({{4}, {2}, {4}, {{0}}}, paperB),
            "the source streams a tensor of rank 1 but the destination one of "
            "rank 2");
}

TEST(TokenOrder, DifferenceNeedsNoEnumeration) {
  // 2^60 tokens: only the loops may be looked at.
  const int64_t big = int64_t(1) << 30;
  const TokenOrder a{{1, 1}, {big, big}, {1, 1}, {{0}, {1}}};
  const TokenOrder b{{1, 1}, {big, big}, {1, 1}, {{1}, {0}}};
  EXPECT_EQ(firstDifference(a, b)->index, 1);
  const TokenOrder c{{1, 1}, {2, big, big / 2}, {big / 2, 1, 1}, {{1}, {0, 2}}};
  EXPECT_EQ(firstDifference(a, c)->index, big / 2);
}

TEST(TokenOrder, ElementOrderAgreesWithEnumeration) {
  Random random(5);
  int equal = 0, widths = 0;
  for (int i = 0; i < 20000; ++i) {
    auto [a, b] = randomPair(random);
    if (random.chance(60)) {
      // Move the innermost trips of the last dimension into the token.
      std::vector<Loop> loops = loopsOf(a);
      Shape element = fullElement(a);
      if (!loops.empty() && loops.back().dim >= 0 && loops.back().trip > 0 &&
          loops.back().step == element[loops.back().dim]) {
        element[loops.back().dim] *= loops.back().trip;
        loops.pop_back();
      }
      b = makeOrder(element, loops);
    }
    if (a.map.size() != b.map.size())
      continue;
    const bool same = enumerateElements(a) == enumerateElements(b);
    ASSERT_EQ(elementOrderEqual(a, b), same) << a.str() << " | " << b.str();
    equal += same;
    widths += same && fullElement(a) != fullElement(b);
  }
  EXPECT_GT(equal, 5000);
  EXPECT_GT(widths, 1000);
}

TEST(TokenOrder, WidthAdapterExamples) {
  const TokenOrder scalars = TokenOrder::rowMajor({8, 64});
  EXPECT_TRUE(
      elementOrderEqual(TokenOrder::rowMajor({8, 64}, {1, 16}), scalars));
  EXPECT_TRUE(
      elementOrderEqual(TokenOrder::rowMajor({8, 64}, {2, 64}), scalars));
  // A 2x16 token holds two rows: another element order.
  EXPECT_FALSE(
      elementOrderEqual(TokenOrder::rowMajor({8, 64}, {2, 16}), scalars));
}

} // namespace
