//===- LoopProfileTest.cpp - Rules against published reports --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// data/loops.json: loops of 49 published designs (Stream-HLS, FPGA '25
// artifacts), each kind once with its count, and what Vitis HLS 2023.2 reported
// of it; written by benchmarks/estimator.py --extract.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/LoopRules.h"
#include "streamtensor/Analysis/Estimate/ProfileJson.h"

#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace streamtensor;

namespace {

TEST(LoopProfileTest, PublishedLoops) {
  auto file = llvm::MemoryBuffer::getFile(TEST_DATA_DIR "/loops.json");
  ASSERT_TRUE(file);
  auto parsed = llvm::json::parse((*file)->getBuffer());
  ASSERT_TRUE(static_cast<bool>(parsed));
  int64_t loops = 0, near = 0, intervals = 0, exact = 0, ones = 0, dsp = 0;
  for (const auto &value : *parsed->getAsObject()->getArray("loops")) {
    const llvm::json::Object &entry = *value.getAsObject();
    std::string error;
    std::optional<LoopProfile> profile =
        parseProfile(*entry.getObject("profile"), error);
    ASSERT_TRUE(profile) << error;
    ProfileEstimate estimate = estimateProfile(*profile);
    int64_t count = *entry.getInteger("count");
    loops += count;
    int64_t off = estimate.depth - *entry.getInteger("depth");
    near += off >= -5 && off <= 5 ? count : 0;
    dsp += estimate.resources.dsp == *entry.getInteger("dsp") ? count : 0;
    if (std::optional<int64_t> interval = entry.getInteger("interval")) {
      intervals += count;
      exact += estimate.interval == *interval ? count : 0;
      ones += *interval == 1 ? count : 0;
    }
  }
  EXPECT_EQ(loops, 230);
  EXPECT_GE(near * 100, loops * 90);
  EXPECT_GE(dsp * 100, loops * 80);
  // The rules are to be better than to say 1 of every loop.
  EXPECT_GT(exact, ones);
  EXPECT_GE(exact * 100, intervals * 90);
}

/// The tables of intervals and depths (docs/estimates.md).
TEST(LoopProfileTest, Rules) {
  // A sum of one product, carried from one iteration to the next: 4.
  EXPECT_EQ(recurrenceInterval(4, 1), 4);
  // 16 cells: 16 + 1 cycles in 16 iterations.
  EXPECT_EQ(recurrenceInterval(16, 16), 2);
  EXPECT_EQ(recurrenceInterval(4, 8), 1);
  EXPECT_EQ(recurrenceInterval(4, 0), 1);
  EXPECT_EQ(carriedLevels(1) * 4, 4);
  EXPECT_EQ(carriedLevels(2) * 4, 4);
  EXPECT_EQ(carriedLevels(4) * 4, 12);
  EXPECT_EQ(carriedLevels(8) * 4, 12);
  EXPECT_EQ(carriedLevels(10) * 4, 16);
  EXPECT_EQ(balancedLevels(0), 0);
  EXPECT_EQ(balancedLevels(1), 1);
  EXPECT_EQ(balancedLevels(10), 4);
  EXPECT_EQ(balancedLevels(15), 5);
  // 100 multiplications every 4 cycles: 25 units, the last starts 3 later.
  EXPECT_EQ(unitsFor(100, 4), 25);
  EXPECT_EQ(sharingCycles(100, 4), 3);
  EXPECT_EQ(sharingCycles(1, 4), 0);
  EXPECT_EQ(visibleSharing(3, 1), 3);
  EXPECT_EQ(visibleSharing(11, 3), 0);
  EXPECT_EQ(visibleSharing(15, 4), 8);
  EXPECT_EQ(pipelineDepth(4, 0), 7);
}

TEST(LoopProfileTest, Refuses) {
  auto errorOf = [](const std::string &text) {
    std::string error;
    EXPECT_FALSE(estimateProfiles(text, error));
    return error;
  };
  EXPECT_EQ(errorOf("[]"), "expected an object");
  EXPECT_EQ(errorOf(R"({"loops": []})"),
            "input.fifos: expected this key but got none");
  EXPECT_EQ(errorOf(R"({"loops": [], "fifos": [], "arrays": [], "x": 1})"),
            "input.x: expected no such key");
  EXPECT_EQ(errorOf(R"({"loops": [{"name": "l", "operations": {"frob": 1},
    "cells": 1, "accumulates": true, "distance": 0, "reads_arrays": false,
    "port_accesses": 1}], "fifos": [], "arrays": []})"),
            "l.operations: expected a known operator but got 'frob'");
  EXPECT_EQ(errorOf(R"({"loops": [], "fifos": [{"depth": "2", "bits": 1}],
    "arrays": []})"),
            "input.fifos.depth: expected an integer of at least 0");
}

} // namespace
