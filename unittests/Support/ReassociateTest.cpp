//===- ReassociateTest.cpp - Token orders across expand and collapse ------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expanding and collapsing random token orders, judged by the positions of
// every element before and after; refusals are judged by whether any loop nest
// fits the expected sequence.
//
//===----------------------------------------------------------------------===//

#include "RandomTokenOrders.h"

#include "gtest/gtest.h"

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

using Groups = std::vector<std::vector<unsigned>>;

/// A random expanded shape with its groups and the collapsed shape.
struct Reassociation {
  Groups groups;
  Shape expanded, collapsed;
};

Reassociation randomReassociation(Random &random) {
  Reassociation r;
  const int64_t rank = random.in(1, 2);
  for (int64_t dim = 0; dim < rank; ++dim) {
    r.groups.emplace_back();
    int64_t size = 1;
    const int64_t parts = random.in(1, 3);
    for (int64_t part = 0; part < parts; ++part) {
      r.groups.back().push_back(static_cast<unsigned>(r.expanded.size()));
      r.expanded.push_back(random.in(1, part == 0 ? 6 : 4));
      size *= r.expanded.back();
    }
    r.collapsed.push_back(size);
  }
  if (volume(r.collapsed) > 200)
    return randomReassociation(random);
  return r;
}

/// The same elements over the other shape: row-major linear index is kept by
/// both reshapes, since groups are consecutive.
Sequence reshape(const Sequence &positions, const Shape &from,
                 const Shape &to) {
  Sequence result;
  for (const Shape &position : positions)
    result.push_back(unflatten(flatten(position, from), to));
  return result;
}

/// Whether elements that pass in groups of `width` are tokens of one box shape
/// (row-major inside) whose offsets a loop nest can produce.
bool isExpressible(const Sequence &elements, size_t width) {
  Sequence offsets;
  Shape box;
  for (size_t start = 0; start < elements.size(); start += width) {
    const Shape &low = elements[start], &high = elements[start + width - 1];
    Shape size;
    for (size_t dim = 0; dim < low.size(); ++dim)
      size.push_back(high[dim] - low[dim] + 1);
    if (start == 0)
      box = size;
    if (size != box || volume(box) != static_cast<int64_t>(width))
      return false;
    for (size_t i = 0; i < width; ++i) {
      Shape position = unflatten(static_cast<int64_t>(i), box);
      for (size_t dim = 0; dim < low.size(); ++dim)
        position[dim] += low[dim];
      if (position != elements[start + i])
        return false;
    }
    offsets.push_back(low);
  }
  return fitLoops(offsets).has_value();
}

TEST(Reassociate, ExpandAgreesWithEnumeration) {
  Random random(11);
  int expressible = 0, refused = 0;
  for (int i = 0; i < 25000; ++i) {
    const Reassociation r = randomReassociation(random);
    TokenOrder order = randomOrderOver(random, r.collapsed, 1);
    if (random.chance(30)) // overlapping windows may appear
      order = perturb(random, order);
    std::string error, reason;
    if (!order.verify(error, /*allowOverlap=*/true) || order.numTokens() == 0 ||
        order.dataExtents() != r.collapsed)
      continue;
    const Sequence elements =
        reshape(enumerateElements(order), r.collapsed, r.expanded);
    const auto result = expandTokenOrder(order, r.groups, r.expanded, reason);
    ASSERT_EQ(result.has_value(),
              isExpressible(elements, volume(order.element)))
        << order.str() << " to " << shapeString(r.expanded) << ": " << reason;
    (result ? expressible : refused) += 1;
    if (!result) {
      ASSERT_NE(reason, "");
      continue;
    }
    ASSERT_TRUE(result->verify(error, true)) << error;
    ASSERT_EQ(enumerateElements(*result), elements) << order.str();
    ASSERT_EQ(volume(result->element), volume(order.element));
    ASSERT_EQ(*result, result->normalForm());
    // And back.
    const auto back = collapseTokenOrder(*result, r.groups, reason);
    ASSERT_TRUE(back) << reason;
    ASSERT_TRUE(sameSequence(*back, order)) << back->str();
  }
  EXPECT_GT(expressible, 8000);
  EXPECT_GT(refused, 2500);
}

TEST(Reassociate, CollapseAgreesWithEnumeration) {
  Random random(12);
  int expressible = 0, refused = 0;
  for (int i = 0; i < 25000; ++i) {
    const Reassociation r = randomReassociation(random);
    const TokenOrder order = randomOrderOver(random, r.expanded, 1);
    const Sequence elements =
        reshape(enumerateElements(order), r.expanded, r.collapsed);
    std::string error, reason;
    const auto result = collapseTokenOrder(order, r.groups, reason);
    ASSERT_EQ(result.has_value(),
              isExpressible(elements, volume(order.element)))
        << order.str() << " to " << shapeString(r.collapsed) << ": " << reason;
    (result ? expressible : refused) += 1;
    if (!result) {
      ASSERT_NE(reason, "");
      continue;
    }
    ASSERT_TRUE(result->verify(error)) << error;
    ASSERT_EQ(enumerateElements(*result), elements) << order.str();
    const auto back = expandTokenOrder(*result, r.groups, r.expanded, reason);
    ASSERT_TRUE(back) << reason;
    ASSERT_TRUE(sameSequence(*back, order)) << back->str();
  }
  EXPECT_GT(expressible, 8000);
  EXPECT_GT(refused, 2500);
}

TEST(Reassociate, LinearOrderIsTheRowMajorPosition) {
  Random random(13);
  for (int i = 0; i < 10000; ++i) {
    TokenOrder order = randomOrder(random);
    std::string error;
    if (random.chance(20))
      order = perturb(random, order);
    if (!order.verify(error, /*allowOverlap=*/true))
      continue;
    const Shape shape = order.dataExtents();
    const TokenOrder linear = order.linearOrder();
    ASSERT_EQ(enumerate(linear),
              reshape(enumerateElements(order), shape, {volume(shape)}))
        << order.str();
    ASSERT_EQ(linear.element, Shape{1});
  }
}

TEST(Reassociate, FirstElementDifferenceAgreesWithEnumeration) {
  // Pairs over tensors of one number of elements: another shape, another token,
  // or a small change.
  Random random(14);
  int equal = 0, offset = 0, length = 0;
  for (int i = 0; i < 20000; ++i) {
    const Reassociation r = randomReassociation(random);
    const TokenOrder a = randomOrderOver(random, r.collapsed, 1);
    TokenOrder b = randomOrderOver(random, r.expanded, 1);
    std::string error, reason;
    if (random.chance(60)) {
      const auto expanded = expandTokenOrder(a, r.groups, r.expanded, reason);
      b = respell(random, expanded ? *expanded : a);
    }
    if (random.chance(50))
      b = perturb(random, b);
    if (!b.verify(error))
      continue;
    const Shape shapeA = a.dataExtents(), shapeB = b.dataExtents();
    const Sequence sa = enumerateElements(a), sb = enumerateElements(b);
    size_t first = 0;
    while (first < sa.size() && first < sb.size() &&
           flatten(sa[first], shapeA) == flatten(sb[first], shapeB))
      ++first;
    const bool same = first == sa.size() && first == sb.size();
    const auto difference = firstElementDifference(a, b);
    ASSERT_EQ(!difference, same) << a.str() << " | " << b.str();
    equal += same;
    if (same)
      continue;
    const bool ended = first == sa.size() || first == sb.size();
    (ended ? length : offset) += 1;
    ASSERT_EQ(difference->index, static_cast<int64_t>(first));
    ASSERT_EQ(difference->kind, ended ? TokenDifference::Kind::Length
                                      : TokenDifference::Kind::Offset);
    if (first < sa.size()) {
      ASSERT_EQ(difference->offsetsA, sa[first]);
    }
    if (first < sb.size()) {
      ASSERT_EQ(difference->offsetsB, sb[first]);
    }
  }
  EXPECT_GT(equal, 4000);
  EXPECT_GT(offset, 4000);
  EXPECT_GT(length, 200);
}

TEST(Reassociate, HeadsOfAnAttention) {
  std::string reason;
  // 16 rows of 576 in 1x16 tokens become 16 x 9 heads x 64.
  const TokenOrder rows = TokenOrder::rowMajor({16, 576}, {1, 16});
  const auto heads = expandTokenOrder(rows, {{0}, {1, 2}}, {16, 9, 64}, reason);
  ASSERT_TRUE(heads) << reason;
  // 36 = 9 * 4 tokens a row; the row-major walk stays three loops.
  EXPECT_EQ(heads->str(), "1x1x16, [16, 9, 4] * [1, 1, 16], (d0, d1, d2) -> "
                          "(d0, d1, d2)");
  const auto back = collapseTokenOrder(*heads, {{0}, {1, 2}}, reason);
  ASSERT_TRUE(back) << reason;
  EXPECT_EQ(*back, rows.normalForm());
  EXPECT_EQ(heads->linearOrder(), rows.linearOrder());
}

TEST(Reassociate, Refusals) {
  std::string reason;
  const TokenOrder rows = TokenOrder::rowMajor({2, 12}, {1, 4});
  EXPECT_FALSE(expandTokenOrder(rows, {{0}, {1, 2}}, {2, 2, 6}, reason));
  EXPECT_EQ(reason, "a loop of 3 trips with step 4 crosses the boundary at 6 "
                    "between expanded dimensions 1 and 2 without meeting it");
  EXPECT_FALSE(expandTokenOrder(rows, {{0}, {1, 2}}, {2, 6, 3}, reason));
  EXPECT_EQ(reason, "expected the sizes of group 1 to multiply to 12 but got "
                    "18");
  EXPECT_FALSE(expandTokenOrder(rows, {{0, 1}}, {2, 12}, reason));
  EXPECT_EQ(reason, "expected one group per collapsed dimension (2) but got 1");
  EXPECT_FALSE(expandTokenOrder(rows, {{0}, {2, 1}}, {2, 3, 4}, reason));
  EXPECT_EQ(reason, "expected groups that list the expanded dimensions in "
                    "order but got dimension 2 at place 1");
  EXPECT_FALSE(expandTokenOrder(rows, {{0}, {1}}, {2, 3, 4}, reason));
  EXPECT_EQ(reason, "expected groups over 3 expanded dimensions but got 2");
  EXPECT_FALSE(expandTokenOrder(rows, {{0}, {1, 2, 3}}, {2, 2, 2, 3}, reason));
  EXPECT_EQ(reason, "a token of 4 elements is no box in the expanded "
                    "dimensions: it does not hold whole rows of dimension 3 "
                    "(3)");
  EXPECT_FALSE(collapseTokenOrder(TokenOrder::rowMajor({4, 6}, {2, 3}),
                                  {{0, 1}}, reason));
  EXPECT_EQ(reason, "a token of shape '2x3' is not contiguous once dimension 1 "
                    "(6) is collapsed with those before it");
}

TEST(Reassociate, RankZeroAndEmpty) {
  std::string reason;
  const auto expanded = expandTokenOrder(TokenOrder{}, {}, {1, 1}, reason);
  ASSERT_TRUE(expanded) << reason;
  EXPECT_EQ(expanded->numTokens(), 1);
  EXPECT_EQ(expanded->dataExtents(), (Shape{1, 1}));
  const auto collapsed =
      collapseTokenOrder(TokenOrder::rowMajor({1, 1}), {}, reason);
  ASSERT_TRUE(collapsed) << reason;
  EXPECT_EQ(*collapsed, TokenOrder{});
  EXPECT_FALSE(expandTokenOrder(TokenOrder{}, {}, {2}, reason));
  EXPECT_FALSE(collapseTokenOrder(TokenOrder::rowMajor({2}), {}, reason));
  // No rows yet: 0 x 64 as 0 x 4 x 16.
  const auto empty = expandTokenOrder(TokenOrder::rowMajor({0, 64}, {1, 16}),
                                      {{0}, {1, 2}}, {0, 4, 16}, reason);
  ASSERT_TRUE(empty) << reason;
  EXPECT_EQ(empty->dataExtents(), (Shape{0, 4, 16}));
  EXPECT_EQ(empty->elementShape(), (Shape{1, 1, 16}));
  EXPECT_EQ(empty->numTokens(), 0);
}

} // namespace
