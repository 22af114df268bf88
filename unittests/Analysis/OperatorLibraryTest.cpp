//===- OperatorLibraryTest.cpp - Facts about operators --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file of operators: what stands in it, and what is refused.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/OperatorLibrary.h"

#include "gtest/gtest.h"

using namespace streamtensor;

namespace {

/// Latency, DSP, LUT and FF of published reports (Stream-HLS, FPGA '25).
TEST(OperatorLibraryTest, PublishedFigures) {
  struct Row {
    const char *name;
    int64_t latency, dsp, lut, ff;
  };
  for (const Row &row :
       {Row{"fmul", 3, 3, 78, 143}, Row{"fadd", 6, 2, 198, 318},
        Row{"fadd_fabric", 4, 0, 338, 243}, Row{"fexp", 13, 7, 748, 316},
        Row{"frecip", 13, 8, 115, 286}, Row{"dmul", 7, 8, 127, 388}}) {
    const OperatorInfo &info = OperatorLibrary::standard().get(row.name);
    EXPECT_EQ(info.latency, row.latency) << row.name;
    EXPECT_EQ(info.dsp, row.dsp) << row.name;
    EXPECT_EQ(info.lut, row.lut) << row.name;
    EXPECT_EQ(info.ff, row.ff) << row.name;
    EXPECT_TRUE(info.published) << row.name;
    EXPECT_DOUBLE_EQ(info.clockNs, 3.33);
  }
}

/// Reports show 0 LUT for dividers and comparisons; nothing is free here but
/// what fits into a DSP block.
TEST(OperatorLibraryTest, NothingIsFree) {
  for (const OperatorInfo &info : OperatorLibrary::standard().operators()) {
    EXPECT_GT(info.lut + info.dsp, 0) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
  }
}

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_FALSE(OperatorLibrary::parse(text, error));
  return error;
}

TEST(OperatorLibraryTest, Refuses) {
  const std::string add = R"({"name": "add", "latency": 1, "dsp": 0, "lut": 2,
    "ff": 3, "clock_ns": 3.33, "origin": "ours", "source": "s")";
  std::string error;
  EXPECT_TRUE(OperatorLibrary::parse("{\"operators\": [" + add + "}]}", error));
  EXPECT_EQ(errorOf("[]"), "expected an object");
  EXPECT_EQ(errorOf("{}"), "file.operators: expected this key but got none");
  EXPECT_EQ(errorOf("{\"operators\": [1]}"),
            "file.operators: expected objects");
  EXPECT_EQ(errorOf("{\"operators\": [" + add + ", \"area\": 1}]}"),
            "add.area: expected no such key");
  EXPECT_EQ(errorOf("{\"operators\": [" + add + "}, " + add + "}]}"),
            "add.name: expected each operator once");
  EXPECT_EQ(errorOf(R"({"operators": [{"name": "add", "latency": -1}]})"),
            "add.latency: expected an integer of at least 0");
  EXPECT_NE(errorOf("{").find("Expected"), std::string::npos);
}

} // namespace
