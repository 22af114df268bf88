//===- SolveParametersTest.cpp - Parameters from sizes --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes are computed from known values, which must come back.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/SolveParameters.h"

#include "gtest/gtest.h"

using namespace streamtensor;

namespace {

TripCount parse(const std::string &text) {
  ParameterValues maxima{{"past", 256}, {"seq", 128}};
  std::string error;
  std::optional<TripCount> count = TripCount::parse(text, maxima, error);
  EXPECT_TRUE(count) << error;
  return count ? *count : TripCount();
}

using Sizes = std::vector<std::pair<TripCount, int64_t>>;

TEST(SolveParameters, valuesComeBack) {
  const std::vector<std::string> texts{"64", "past + seq", "ceildiv(seq, 16)",
                                       "2 * seq + 3"};
  for (int64_t past : {0, 1, 200})
    for (int64_t seq : {0, 1, 7, 128}) {
      const ParameterValues values{{"past", past}, {"seq", seq}};
      Sizes sizes;
      for (const std::string &text : texts)
        sizes.emplace_back(parse(text), parse(text).evaluate(values));
      std::string error;
      EXPECT_EQ(solveParameters(sizes, error), values) << error;
    }
}

TEST(SolveParameters, oneUnknown) {
  EXPECT_EQ(solveFor("seq", parse("past + 3 * seq + 1"), 20, {{"past", 4}}), 5);
  EXPECT_EQ(solveFor("seq", parse("2 * seq"), 7, {}), 3);
  EXPECT_EQ(solveFor("seq", parse("ceildiv(seq, 16)"), 2, {}), std::nullopt);
}

TEST(SolveParameters, noParameters) {
  std::string error;
  EXPECT_EQ(solveParameters({{parse("64"), 64}}, error), ParameterValues());
}

TEST(SolveParameters, notDetermined) {
  std::string error;
  EXPECT_FALSE(solveParameters({{parse("past + seq"), 5}}, error));
  EXPECT_EQ(error, "no size tells the value of 'past', 'seq'");
  EXPECT_FALSE(solveParameters({{parse("ceildiv(seq, 16)"), 2}}, error));
  EXPECT_EQ(error, "no size tells the value of 'seq'");
}

} // namespace
