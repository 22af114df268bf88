//===- IdentifiersTest.cpp - Names that C++ and HLS tools accept ----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of identifiers of the hls dialect.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/HLS/IR/Identifiers.h"

#include "gtest/gtest.h"

using namespace streamtensor::hls;

namespace {

TEST(IdentifiersTest, WhatIsAccepted) {
  for (const char *name : {"x", "matmul_0", "Layer", "l00_q_proj"})
    EXPECT_TRUE(isIdentifier(name)) << name;
  for (const char *name : {"", "0x", "_x", "a__b", "a.b", "while", "double",
                           "exp", "hls", "my_fifo", "FifoTask", "main"})
    EXPECT_FALSE(isIdentifier(name)) << name;
}

TEST(IdentifiersTest, NearestName) {
  EXPECT_EQ(makeIdentifier("matmul_0"), "matmul_0");
  EXPECT_EQ(makeIdentifier("self_attn.q-proj"), "self_attn_q_proj");
  EXPECT_EQ(makeIdentifier("0"), "v0");
  EXPECT_EQ(makeIdentifier("__x"), "x");
  EXPECT_EQ(makeIdentifier(""), "v");
  EXPECT_EQ(makeIdentifier("while"), "while_");
  EXPECT_EQ(makeIdentifier("fifo_in"), "queue_in");
  EXPECT_EQ(makeIdentifier("größe"), "gr_e");
}

TEST(IdentifiersTest, EveryResultIsAccepted) {
  for (const char *name : {"fiFIFOfo", "fifofifo", "..", "9fifo", "int", "exp",
                           "a  b", "x__", "st", "unsigned"})
    EXPECT_TRUE(isIdentifier(makeIdentifier(name)))
        << name << " becomes " << makeIdentifier(name);
}

TEST(IdentifiersTest, Unique) {
  UniqueIdentifiers names;
  EXPECT_EQ(names.get("x"), "x");
  EXPECT_EQ(names.get("x"), "x_1");
  EXPECT_EQ(names.get("x_1"), "x_1_1");
  EXPECT_EQ(names.get("int"), "int_");
  EXPECT_EQ(names.get("int"), "int_1");
  names.release("x");
  EXPECT_EQ(names.get("x"), "x");
}

} // namespace
