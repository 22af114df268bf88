//===- ConnectivityTest.cpp - Memory ports to channels --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of the assignment of ports to memory channels.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Connectivity/Connectivity.h"

#include "gtest/gtest.h"

using namespace streamtensor;

namespace {

TEST(ConnectivityTest, LargestFirstToTheEmptiestChannel) {
  std::vector<MemoryPort> ports = {{"a", "gmem0", 10},
                                   {"b", "gmem1", 30},
                                   {"c", "gmem2", 20},
                                   {"d", "gmem3", 5}};
  std::string error;
  ASSERT_TRUE(assignChannels(ports, 2, 100, error)) << error;
  // b (30) to 0; c (20) to 1; a (10) to 1 (20 < 30); d (5) to 0 (30, 30:
  // lower).
  EXPECT_EQ(ports[0].channel, 1);
  EXPECT_EQ(ports[1].channel, 0);
  EXPECT_EQ(ports[2].channel, 1);
  EXPECT_EQ(ports[3].channel, 0);
}

TEST(ConnectivityTest, OneChannelForABundle) {
  std::vector<MemoryPort> ports = {
      {"a", "gmem0", 10}, {"b", "gmem1", 15}, {"c", "gmem0", 10}};
  std::string error;
  ASSERT_TRUE(assignChannels(ports, 32, 100, error)) << error;
  // gmem0 has 20 bytes and comes first.
  EXPECT_EQ(ports[0].channel, 0);
  EXPECT_EQ(ports[1].channel, 1);
  EXPECT_EQ(ports[2].channel, 0);
}

TEST(ConnectivityTest, MoreThanAChannel) {
  std::vector<MemoryPort> ports = {
      {"a", "gmem0", 10}, {"b", "gmem1", 250}, {"c", "gmem2", 60}};
  std::string error;
  ASSERT_TRUE(assignChannels(ports, 4, 100, error)) << error;
  // b has 84 bytes in each of channels 0 to 2; the others share channel 3.
  EXPECT_EQ(ports[1].channel, 0);
  EXPECT_EQ(ports[1].channels, 3);
  EXPECT_EQ(ports[2].channel, 3);
  EXPECT_EQ(ports[2].channels, 1);
  EXPECT_EQ(ports[0].channel, 3);
}

TEST(ConnectivityTest, MemoryThatDoesNotFit) {
  std::string error;
  std::vector<MemoryPort> huge = {{"a", "gmem0", 60}, {"b", "gmem0", 50}};
  EXPECT_FALSE(assignChannels(huge, 1, 100, error));
  EXPECT_EQ(error,
            "expected the arguments of bundle 'gmem0', 110 bytes, to fit "
            "2 of 1 memory channels of 100 bytes beside what is there "
            "already; use a smaller precision, a shorter maximal length "
            "or a target with more memory");
  std::vector<MemoryPort> many = {{"a", "gmem0", 150}, {"b", "gmem1", 30}};
  EXPECT_FALSE(assignChannels(many, 2, 100, error));
  EXPECT_EQ(error,
            "expected the arguments of bundle 'gmem1', 30 bytes, to fit 1 "
            "of 2 memory channels of 100 bytes beside what is there "
            "already; use a smaller precision, a shorter maximal length "
            "or a target with more memory");
}

TEST(ConnectivityTest, File) {
  std::vector<MemoryPort> ports = {
      {"a", "gmem0", 10, 3}, {"b", "gmem1", 10}, {"c", "gmem2", 10, 4, 2}};
  std::string text;
  llvm::raw_string_ostream os(text);
  writeConnectivity("layer", ports, "SLR0", 250, os);
  EXPECT_EQ(text, "# Written by streamtensor-compile: one instance of 'layer', "
                  "and the memory channel of each argument.\n"
                  "[connectivity]\nnk=layer:1:layer_1\nslr=layer_1:SLR0\n"
                  "sp=layer_1.a:HBM[3]\nsp=layer_1.c:HBM[4:5]\n\n[clock]"
                  "\ndefaultFreqHz=250000000\n");
}

} // namespace
