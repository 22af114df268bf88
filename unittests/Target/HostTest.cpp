//===- HostTest.cpp - Tests of the host program's text --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the sizes of run-time parameters are found. That the program compiles and
// computes is tested by integration_test/test_host_program.py.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Host/EmitHost.h"

#include <gtest/gtest.h>

using namespace streamtensor;

namespace {

/// An input of f32 with these largest sizes.
HostArgument input(const std::string &name, std::vector<int64_t> shape,
                   std::vector<std::string> dims) {
  HostArgument argument;
  argument.name = argument.variable = name;
  argument.role = "input";
  argument.dtype = "F32";
  argument.elementBytes = 4;
  argument.bytes = 4;
  for (int64_t size : shape)
    argument.bytes *= size;
  argument.shape = argument.bufferShape = std::move(shape);
  argument.dims = std::move(dims);
  return argument;
}

std::string emit(const HostDesign &design) {
  std::string text, error;
  llvm::raw_string_ostream os(text);
  EXPECT_TRUE(emitHost(design, os, error)) << error;
  return text;
}

std::string errorOf(const HostDesign &design) {
  std::string text, error;
  llvm::raw_string_ostream os(text);
  EXPECT_FALSE(emitHost(design, os, error));
  return error;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Host, SizesFollowFromDimensions) {
  // `rows` stands under a factor and beside a constant; `past` can be known
  // only after it.
  const std::string text =
      emit({"f",
            "5a",
            {input("arg0", {11, 8}, {"past + 2 * rows", "8"}),
             input("arg1", {9}, {"2 * rows + 1"})},
            {{"past", 1, 3}, {"rows", 1, 4}}});
  EXPECT_TRUE(contains(
      text, "checkSize(\"rows\", (arg1_data.shape[0] - (1)) / 2, 1, 4)"))
      << text;
  EXPECT_TRUE(contains(
      text, "checkSize(\"past\", arg0_data.shape[0] - (2 * n_rows), 1, 3)"))
      << text;
  // In the order in which they are found; passed on in that of the kernel.
  EXPECT_LT(text.find("n_rows ="), text.find("n_past ="));
  EXPECT_LT(text.find("set_arg(2, n_past)"), text.find("set_arg(3, n_rows)"));
  EXPECT_TRUE(
      contains(text, "checkShape(k_arg0, arg0_data, {n_past + 2 * n_rows, 8})"))
      << text;
}

TEST(Host, ASizeThatNoInputDecidesIsAnOption) {
  // A rounded size has many causes, and results are no inputs.
  HostArgument result = input("result0", {8}, {"n"});
  result.role = "output";
  const std::string text =
      emit({"f",
            "5a",
            {input("arg0", {2}, {"ceildiv(n, 4)"}), result},
            {{"n", 1, 8}}});
  EXPECT_TRUE(contains(text, "checkSize(\"n\", options.number(\"n\"), 1, 8)"))
      << text;
  EXPECT_TRUE(contains(text, "--n N  (a size that no input decides)")) << text;
  EXPECT_TRUE(contains(text, "\"timeout-ms\", \"n\"}")) << text;
  EXPECT_TRUE(contains(text, "{ceildiv(n_n, 4)}")) << text;
}

TEST(Host, TheExecutableMustBeOfTheKernel) {
  const std::string text = emit({"f", "5a", {input("x", {4}, {})}, {}});
  EXPECT_TRUE(contains(text, "directory + \"/f.xclbin\"), \"f\",\n"
                             "      \"5a\");"))
      << text;
}

TEST(Host, ArgumentsInOrderOfTheirRoles) {
  HostArgument weight = input("w", {4}, {});
  weight.role = "weight";
  weight.file = "weights/w.bin";
  HostArgument space = input("space", {4}, {});
  space.role = "workspace";
  const std::string text =
      emit({"f", "5a", {weight, input("x", {4}, {}), space}, {}});
  EXPECT_TRUE(contains(text, "readWeight(k_w, directory + \"/weights/w.bin\")"))
      << text;
  EXPECT_TRUE(contains(text, "upload(w_memory, w_data)")) << text;
  EXPECT_TRUE(contains(text, "upload(x_memory, toMemory(k_x, x_data))"))
      << text;
  EXPECT_FALSE(contains(text, "upload(space_memory")) << text;
  EXPECT_TRUE(contains(text, "allocate(device, kernel, 2, k_space)")) << text;
}

TEST(Host, RefusesWhatABoardCannotHold) {
  // 2^30 floats.
  EXPECT_EQ(errorOf({"f", "5a", {input("arg0", {1 << 30}, {})}, {}}),
            "expected an argument below 4 GB, the limit of a buffer of XRT, "
            "but 'arg0' has 4294967296 bytes; split the tensor in the model");
}

} // namespace
