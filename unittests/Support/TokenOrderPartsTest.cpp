//===- TokenOrderPartsTest.cpp - Parts of token orders by enumeration -----===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices and shares of random token orders, judged by picking the tokens out of
// the enumerated sequence; refusals by whether a loop nest fits what remains.
//
//===----------------------------------------------------------------------===//

#include "RandomTokenOrders.h"

#include "gtest/gtest.h"

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

TEST(TokenOrderParts, SliceAgreesWithEnumeration) {
  Random random(31);
  int slices = 0, cut = 0, shapeless = 0;
  for (int i = 0; i < 30000; ++i) {
    const Shape shape = randomShape(random, 3);
    if (shape.empty())
      continue;
    const TokenOrder order = randomOrderOver(random, shape, 1);
    const unsigned dim = static_cast<unsigned>(random.below(shape.size()));
    const int64_t low = random.below(shape[dim]),
                  size = random.in(1, shape[dim] - low);
    const int64_t element = fullElement(order)[dim];
    bool isCut = false;
    Sequence kept;
    for (Shape at : enumerate(order)) {
      const bool meets = at[dim] < low + size && at[dim] + element > low;
      isCut |= meets && (at[dim] < low || at[dim] + element > low + size);
      at[dim] -= low;
      if (meets)
        kept.push_back(at);
    }
    std::string reason;
    const auto slice = sliceTokenOrder(order, dim, low, size, reason);
    const bool fits = !isCut && fitLoops(kept).has_value();
    ASSERT_EQ(slice.has_value(), fits)
        << order.str() << ", dimension " << dim << " from " << low << " size "
        << size << ": " << reason;
    slices += fits;
    cut += isCut;
    shapeless += !isCut && !fits;
    if (!slice) {
      ASSERT_NE(reason, "");
      continue;
    }
    std::string error;
    Shape expected = shape;
    expected[dim] = size;
    ASSERT_TRUE(slice->verify(error)) << error;
    ASSERT_EQ(enumerate(*slice), kept) << order.str();
    ASSERT_EQ(slice->dataExtents(), expected);
    ASSERT_EQ(fullElement(*slice), fullElement(order));
  }
  EXPECT_GT(slices, 8000);
  EXPECT_GT(cut, 4000);
  EXPECT_GT(shapeless, 150);
}

TEST(TokenOrderParts, DealAgreesWithEnumeration) {
  Random random(32);
  int dealt = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const TokenOrder order = randomOrderOver(random, randomShape(random, 3), 1);
    const int64_t ways = random.in(1, 4);
    std::string reason;
    const auto share = dealTokenOrder(order, ways, reason);
    (share ? dealt : refused) += 1;
    if (!share) {
      ASSERT_NE(reason, "");
      continue;
    }
    std::string error;
    ASSERT_TRUE(share->verify(error)) << error;
    const Sequence all = enumerate(order), own = enumerate(*share);
    ASSERT_EQ(static_cast<int64_t>(all.size()),
              static_cast<int64_t>(own.size()) * ways);
    // Each stream walks its share in the same way: a token of one stream is
    // always as far from the same token of the first one.
    for (int64_t way = 0; way < ways; ++way)
      for (size_t t = 0; t < own.size(); ++t)
        for (size_t dim = 0; dim < order.map.size(); ++dim)
          ASSERT_EQ(all[t * ways + way][dim] - all[t * ways][dim],
                    all[way][dim] - all[0][dim]);
    // The share is the tensor without the positions of the other streams: the
    // rank of each offset among those that the first stream has.
    for (size_t dim = 0; dim < order.map.size(); ++dim) {
      std::vector<int64_t> places;
      for (size_t t = 0; t < own.size(); ++t)
        places.push_back(all[t * ways][dim]);
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
      for (size_t t = 0; t < own.size(); ++t) {
        const auto place =
            std::lower_bound(places.begin(), places.end(), all[t * ways][dim]);
        ASSERT_EQ(own[t][dim],
                  (place - places.begin()) * fullElement(order)[dim]);
      }
    }
  }
  EXPECT_GT(dealt, 6000);
  EXPECT_GT(refused, 4000);
}

TEST(TokenOrderParts, Examples) {
  std::string reason;
  // The cache and the new row: 256 rows of 64 in tokens of 16.
  const TokenOrder rows = TokenOrder::rowMajor({256, 64}, {1, 16});
  EXPECT_EQ(sliceTokenOrder(rows, 0, 0, 255, reason)->str(),
            "1x16, [255, 4] * [1, 16], (d0, d1) -> (d0, d1)");
  EXPECT_EQ(sliceTokenOrder(rows, 0, 255, 1, reason)->str(),
            "1x16, [4] * [16], (d0) -> (0, d0)");
  EXPECT_EQ(sliceTokenOrder(rows, 0, 256, 0, reason)->numTokens(), 0);
  // Two streams of every second token.
  EXPECT_EQ(dealTokenOrder(rows, 2, reason)->str(),
            "1x16, [256, 2] * [1, 16], (d0, d1) -> (d0, d1)");
  // A tile of rows is walked for each column: two tiles are no loop nest.
  const TokenOrder tiles{{1, 1}, {4, 8, 16}, {16, 1, 1}, {{0, 2}, {1}}};
  EXPECT_FALSE(sliceTokenOrder(tiles, 0, 0, 24, reason));
  EXPECT_EQ(reason, "[0, 24) of data dimension 0 is not made of whole "
                    "iterations of a loop (1x1, [4, 8, 16] * [16, 1, 1], (d0, "
                    "d1, d2) -> (d0 + d2, d1))");
  EXPECT_FALSE(sliceTokenOrder(rows, 1, 0, 24, reason));
  EXPECT_EQ(reason, "[0, 24) of data dimension 1 cuts through tokens of 16");
  EXPECT_FALSE(sliceTokenOrder(rows, 1, 32, 64, reason));
  EXPECT_EQ(reason, "[32, 96) of data dimension 1 leaves the extent of 64");
  EXPECT_FALSE(dealTokenOrder(rows, 3, reason));
  EXPECT_EQ(reason, "expected the innermost loop to make a multiple of 3 trips "
                    "but got 4");
  const TokenOrder replay{{4}, {3, 2}, {4, 1}, {{0}}};
  EXPECT_FALSE(dealTokenOrder(replay, 2, reason));
  EXPECT_EQ(reason, "the innermost loop is a revisit: every stream would carry "
                    "the same tokens");
}

} // namespace
