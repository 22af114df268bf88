//===- PackingTest.cpp - Packed tensors against enumeration ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packing and unpacking of random orders, element sizes, strides and paddings,
// judged by enumerating the elements that a stream passes.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/Packing.h"

#include "RandomTokenOrders.h"

#include "gtest/gtest.h"

#include <cstring>
#include <numeric>

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

TEST(Packing, ColumnTokensOfAMatrix) {
  // 4x3, tokens of two rows: for each column, rows 0-1 then rows 2-3.
  //   0  1  2
  //   3  4  5
  //   6  7  8
  //   9 10 11
  const TokenOrder order{{2, 1}, {3, 2}, {1, 2}, {{1}, {0}}};
  std::vector<int32_t> matrix(12), packed(12), back(12);
  std::iota(matrix.begin(), matrix.end(), 0);
  std::string error;
  EXPECT_EQ(packedBytes(order, 4), 48);
  ASSERT_TRUE(
      packTensor(order, 4, {{4, 3}}, matrix.data(), packed.data(), error));
  EXPECT_EQ(packed,
            (std::vector<int32_t>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  ASSERT_TRUE(
      unpackTensor(order, 4, {{4, 3}}, packed.data(), back.data(), error));
  EXPECT_EQ(back, matrix);
}

TEST(Packing, PaddingIsZero) {
  // 3 columns in tokens of 2: the fourth column is zero.
  const TokenOrder order{{1, 2}, {2, 2}, {1, 2}, {{0}, {1}}};
  const std::vector<int8_t> matrix = {1, 2, 3, 4, 5, 6};
  std::vector<int8_t> packed(8, 99), back(6);
  std::string error;
  ASSERT_TRUE(
      packTensor(order, 1, {{2, 3}}, matrix.data(), packed.data(), error));
  EXPECT_EQ(packed, (std::vector<int8_t>{1, 2, 3, 0, 4, 5, 6, 0}));
  ASSERT_TRUE(
      unpackTensor(order, 1, {{2, 3}}, packed.data(), back.data(), error));
  EXPECT_EQ(back, matrix);
}

TEST(Packing, Errors) {
  const TokenOrder order = TokenOrder::rowMajor({2, 4});
  char byte = 0;
  std::string error;
  EXPECT_FALSE(packTensor(order, 1, {{8}}, &byte, &byte, error));
  EXPECT_EQ(error, "expected a tensor of rank 2 for packing but got shape '8' "
                   "with 0 strides");
  EXPECT_FALSE(packTensor(order, 1, {{3, 4}}, &byte, &byte, error));
  EXPECT_EQ(error,
            "expected a tensor of at most '2x4' for packing but got '3x4'");
  EXPECT_FALSE(unpackTensor(order, 1, {{2, 4}, {1}}, &byte, &byte, error));
  EXPECT_FALSE(packTensor(order, 0, {{2, 4}}, &byte, &byte, error));
  EXPECT_EQ(error, "expected elements of at least 1 byte but got 0");
}

TEST(Packing, AgreesWithEnumeration) {
  Random random(31);
  static const std::vector<int64_t> elementSizes = {1, 2, 3, 4, 8, 16};
  for (int i = 0; i < 20000; ++i) {
    const TokenOrder order = randomOrder(random);
    const size_t bytes = random.pick(elementSizes);
    TensorLayout layout{order.dataExtents()};
    // Every third tensor is smaller than its order, every third a view.
    if (random.chance(33))
      for (int64_t &size : layout.shape)
        size -= random.below(std::max<int64_t>(size / 2, 1));
    int64_t elements = volume(layout.shape);
    if (random.chance(33)) {
      elements = 1;
      layout.strides.resize(layout.shape.size());
      for (size_t dim = layout.shape.size(); dim-- > 0;) {
        layout.strides[dim] = elements * random.in(1, 2);
        elements = layout.strides[dim] * layout.shape[dim];
      }
    }
    SCOPED_TRACE(order.str() + " of " + shapeString(layout.shape));
    std::vector<char> tensor(elements * bytes);
    for (char &c : tensor)
      c = static_cast<char>(random.below(256));

    const auto addressOf = [&](const Shape &position) {
      int64_t index = 0;
      for (size_t dim = 0; dim < position.size(); ++dim) {
        if (position[dim] >= layout.shape[dim])
          return int64_t(-1);
        index = layout.strides.empty()
                    ? index * layout.shape[dim] + position[dim]
                    : index + position[dim] * layout.strides[dim];
      }
      return index;
    };
    std::vector<char> expected, packed(packedBytes(order, bytes), 7);
    std::vector<char> expectedBack(tensor.size(), 9);
    for (const Shape &position : enumerateElements(order)) {
      const int64_t index = addressOf(position);
      const std::vector<char> zeros(bytes);
      const char *from = index < 0 ? zeros.data() : &tensor[index * bytes];
      expected.insert(expected.end(), from, from + bytes);
      if (index >= 0)
        std::copy(from, from + bytes, &expectedBack[index * bytes]);
    }
    std::string error;
    ASSERT_TRUE(
        packTensor(order, bytes, layout, tensor.data(), packed.data(), error))
        << error;
    ASSERT_EQ(packed, expected);
    if (expected.empty())
      continue;
    std::vector<char> back(tensor.size(), 9);
    ASSERT_TRUE(
        unpackTensor(order, bytes, layout, packed.data(), back.data(), error))
        << error;
    ASSERT_EQ(back, expectedBack);
  }
}

/// Sizes beyond one cache block, with remainders on both sides.
TEST(Packing, BlocksAndRemainders) {
  for (size_t bytes : {1, 2, 4, 8}) {
    const int64_t rows = 130, columns = 77;
    // Column by column: a transpose.
    const TokenOrder order{{}, {columns, rows}, {1, 1}, {{1}, {0}}};
    std::vector<char> tensor(rows * columns * bytes), packed(tensor.size()),
        back(tensor.size());
    for (size_t i = 0; i < tensor.size(); ++i)
      tensor[i] = static_cast<char>(i * 31 % 251);
    std::string error;
    ASSERT_TRUE(packTensor(order, bytes, {{rows, columns}}, tensor.data(),
                           packed.data(), error));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        ASSERT_EQ(std::memcmp(&tensor[(r * columns + c) * bytes],
                              &packed[(c * rows + r) * bytes], bytes),
                  0);
    ASSERT_TRUE(unpackTensor(order, bytes, {{rows, columns}}, packed.data(),
                             back.data(), error));
    ASSERT_EQ(back, tensor);
  }
}

} // namespace
