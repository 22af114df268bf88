//===- UnfusedMemoryTest.cpp ----------------------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What counts as an intermediate, with sums made by hand.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/UnfusedMemory.h"

#include "streamtensor/Dialect/RegisterDialects.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace streamtensor;

namespace {

constexpr llvm::StringLiteral kMaps = R"(
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
)";

int64_t count(const std::string &text) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(kMaps.str() + text, &context);
  EXPECT_TRUE(module) << "the text of the test does not parse";
  if (!module)
    return -1;
  return countUnfusedBytes(*module->getOps<func::FuncOp>().begin());
}

/// `%name = exp %of` on a tensor of `type`.
std::string exp(const std::string &name, const std::string &of,
                const std::string &type = "tensor<4x8xf32>",
                const std::string &element = "f32") {
  return "%" + name + "_e = tensor.empty() : " + type + "\n%" + name +
         " = linalg.generic {indexing_maps = [#id, #id], iterator_types = "
         "[\"parallel\", \"parallel\"]} ins(%" +
         of + " : " + type + ") outs(%" + name + "_e : " + type +
         ") {\n^bb0(%v: " + element + ", %o: " + element + "):\n%y = math.exp" +
         " %v : " + element + "\nlinalg.yield %y : " + element + "\n} -> " +
         type + "\n";
}

TEST(UnfusedMemoryTest, OnlyWhatIsNeitherArgumentNorResult) {
  // a is 4 * 8 floats, 128 bytes; b is the result.
  EXPECT_EQ(count("func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n" +
                  exp("a", "x") + exp("b", "a") +
                  "return %b : tensor<4x8xf32>\n}"),
            128);
  // Nothing is computed.
  EXPECT_EQ(count("func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
                  "return %x : tensor<4x8xf32>\n}"),
            0);
}

TEST(UnfusedMemoryTest, AtTheirOwnPrecision) {
  // 4 * 8 elements of 2 bytes.
  EXPECT_EQ(count("func.func @f(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {\n" +
                  exp("a", "x", "tensor<4x8xf16>", "f16") +
                  exp("b", "a", "tensor<4x8xf16>", "f16") +
                  "return %b : tensor<4x8xf16>\n}"),
            64);
}

TEST(UnfusedMemoryTest, EachTensorOnceAndNoViews) {
  // a (128 bytes) has two readers and a reshape, b (128 bytes) is cut, c is
  // returned reshaped: a and b count.
  EXPECT_EQ(
      count("func.func @f(%x: tensor<4x8xf32>) -> (tensor<32xf32>, "
            "tensor<2x8xf32>) {\n" +
            exp("a", "x") + exp("b", "a") +
            "%r = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into "
            "tensor<32xf32>\n"
            "%s = tensor.expand_shape %r [[0, 1]] output_shape [4, 8] : "
            "tensor<32xf32> into tensor<4x8xf32>\n" +
            exp("c", "s") +
            "%t = tensor.collapse_shape %c [[0, 1]] : tensor<4x8xf32> into "
            "tensor<32xf32>\n"
            "%u = tensor.extract_slice %b[0, 0] [2, 8] [1, 1] : "
            "tensor<4x8xf32> to tensor<2x8xf32>\n"
            "return %t, %u : tensor<32xf32>, tensor<2x8xf32>\n}"),
      256);
}

TEST(UnfusedMemoryTest, ReductionsWithoutTheirFill) {
  // The sums of 4 rows, 16 bytes; the fill that they start from is none.
  EXPECT_EQ(
      count("func.func @f(%x: tensor<4x8xf32>) -> tensor<4xf32> {\n"
            "%zero = arith.constant 0.0 : f32\n"
            "%e = tensor.empty() : tensor<4xf32>\n"
            "%f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> "
            "tensor<4xf32>\n"
            "%s = linalg.generic {indexing_maps = [#id, #row], iterator_types "
            "= [\"parallel\", \"reduction\"]} ins(%x : tensor<4x8xf32>) "
            "outs(%f : tensor<4xf32>) {\n^bb0(%a: f32, %o: f32):\n"
            "%y = arith.addf %o, %a : f32\nlinalg.yield %y : f32\n} -> "
            "tensor<4xf32>\n"
            "%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
            "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%s "
            ": tensor<4xf32>) outs(%e : tensor<4xf32>) {\n"
            "^bb0(%a: f32, %o: f32):\n%y = math.exp %a : f32\n"
            "linalg.yield %y : f32\n} -> tensor<4xf32>\n"
            "return %r : tensor<4xf32>\n}"),
      16);
}

TEST(UnfusedMemoryTest, ConcatenationsButNotCaches) {
  auto text = [](const std::string &role) {
    return "func.func @f(%p: tensor<3x8xf32>" + role +
           ", %x: tensor<4x8xf32>) -> tensor<7x8xf32> {\n" + exp("a", "x") +
           "%c = tensor.concat dim(0) %p, %a : (tensor<3x8xf32>, "
           "tensor<4x8xf32>) -> tensor<7x8xf32>\n" +
           exp("b", "c", "tensor<7x8xf32>") + "return %b : tensor<7x8xf32>\n}";
  };
  // a is 128 bytes, the 7 joined rows 224.
  EXPECT_EQ(count(text("")), 352);
  // The new rows go behind those of the cache.
  EXPECT_EQ(count(text(" {dataflow.role = \"cache\"}")), 128);
}

} // namespace
