//===- ReferenceTest.cpp - Execution by MLIR's own tools ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference run against plain loops, and the random inputs it is given.
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestUtils.h"

#include "streamtensor/Sim/RandomInputs.h"
#include "streamtensor/Sim/Reference.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace streamtensor;

namespace {

class ReferenceTest : public InterpreterTest {
protected:
  std::vector<HostTensor> runRef(llvm::StringRef text,
                                 llvm::ArrayRef<HostTensor> inputs) {
    module = parse(text);
    error.clear();
    auto results = runReference(*module, "f", inputs, error);
    return succeeded(results) ? *results : std::vector<HostTensor>();
  }
};

TEST_F(ReferenceTest, matmulTanhAndConcat) {
  HostTensor a = counting({3, 4}), b = counting({4, 2}, -5);
  std::vector<HostTensor> results = runRef(R"mlir(
#id = affine_map<(d0, d1) -> (d0, d1)>
ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @f(%a: tensor<3x4xf32> {dataflow.role = "input"}, %b: tensor<4x2xf32>) -> (tensor<3x2xf32>, tensor<6x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 0.01 : f32
  %c2 = arith.constant 2 : i64
  %e = tensor.empty() : tensor<3x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %m = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x2xf32>) outs(%i : tensor<3x2xf32>) -> tensor<3x2xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], st.name = "tanh"}
      ins(%m : tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%p: f32, %r: f32):
    %s = arith.mulf %p, %small : f32
    %u = math.tanh %s : f32
    %w = math.fpowi %u, %c2 : f32, i64
    linalg.yield %w : f32
  } -> tensor<3x2xf32>
  %c = tensor.concat dim(0) %m, %m : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<6x2xf32>
  return %t, %c : tensor<3x2xf32>, tensor<6x2xf32>
}
)mlir",
                                           {a, b});
  ASSERT_EQ(results.size(), 2u) << error;
  for (int m = 0; m < 3; ++m)
    for (int n = 0; n < 2; ++n) {
      float sum = 0; // of small integers: exact
      for (int k = 0; k < 4; ++k)
        sum += a.floats()[m * 4 + k] * b.floats()[k * 2 + n];
      EXPECT_EQ(results[1].floats()[m * 2 + n], sum);
      EXPECT_EQ(results[1].floats()[(3 + m) * 2 + n], sum);
      double expected = std::pow(std::tanh(0.01 * sum), 2);
      EXPECT_NEAR(results[0].floats()[m * 2 + n], expected, 1e-6);
    }
}

TEST_F(ReferenceTest, integersAreExact) {
  HostTensor x({3}, ElementKind::I8);
  x.data = {100, -7, 3};
  std::vector<HostTensor> results = runRef(R"mlir(
#id = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<3xi8>) -> (tensor<3xi32>, tensor<3xi1>) {
  %e = tensor.empty() : tensor<3xi32>
  %g = tensor.empty() : tensor<3xi1>
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<3xi8>) outs(%e, %g : tensor<3xi32>, tensor<3xi1>) {
  ^bb0(%p: i8, %r: i32, %q: i1):
    %w = arith.extsi %p : i8 to i32
    %s = arith.muli %w, %w : i32
    %l = arith.cmpi slt, %w, %s : i32
    %n = arith.cmpi slt, %p, %p : i8
    %o = arith.ori %l, %n : i1
    linalg.yield %s, %o : i32, i1
  } -> (tensor<3xi32>, tensor<3xi1>)
  return %y#0, %y#1 : tensor<3xi32>, tensor<3xi1>
}
)mlir",
                                           {x});
  ASSERT_EQ(results.size(), 2u) << error;
  EXPECT_EQ(results[0].get(0).i, 10000);
  EXPECT_EQ(results[0].get(1).i, 49);
  EXPECT_EQ(results[0].get(2).i, 9);
  EXPECT_EQ(results[1].data, (std::vector<char>{1, 1, 1}));
}

TEST_F(ReferenceTest, theInterpreterAgrees) {
  // The named operations of the imported text run in both.
  const char *text = R"mlir(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
func.func @f(%x: tensor<5x7xf32>, %w: tensor<3x7xf32>) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<7x3xf32>
  %t = linalg.transpose ins(%w : tensor<3x7xf32>) outs(%e : tensor<7x3xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<5x3xf32>
  %i = linalg.fill ins(%zero : f32) outs(%o : tensor<5x3xf32>) -> tensor<5x3xf32>
  %m = linalg.matmul ins(%x, %t : tensor<5x7xf32>, tensor<7x3xf32>) outs(%i : tensor<5x3xf32>) -> tensor<5x3xf32>
  %c = tensor.empty() : tensor<5x1xf32>
  %l = linalg.fill ins(%low : f32) outs(%c : tensor<5x1xf32>) -> tensor<5x1xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%m : tensor<5x3xf32>) outs(%l : tensor<5x1xf32>) {
  ^bb0(%p: f32, %r: f32):
    %s = arith.maximumf %p, %r : f32
    linalg.yield %s : f32
  } -> tensor<5x1xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %max : tensor<5x3xf32>, tensor<5x1xf32>) outs(%o : tensor<5x3xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %d = arith.subf %p, %q : f32
    %s = math.exp %d : f32
    linalg.yield %s : f32
  } -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
)mlir";
  module = parse(text);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
  auto inputs = makeRandomInputs(function, 7, error);
  ASSERT_TRUE(succeeded(inputs)) << error;
  std::vector<HostTensor> expected = runRef(text, *inputs),
                          actual = run(text, *inputs);
  ASSERT_EQ(expected.size(), 1u) << error;
  ASSERT_EQ(actual.size(), 1u) << error;
  EXPECT_EQ(actual[0].data, expected[0].data);
}

TEST_F(ReferenceTest, failuresNameTheTool) {
  // MLIR's own tools do not know our dialects.
  EXPECT_TRUE(runRef(R"mlir(
!X = !itensor.itensor<f32, [2] * [1], (d0) -> (d0)>
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %e = itensor.instance "x" depth 2 : !X
  return %x : tensor<2xf32>
}
)mlir",
                     {counting({2})})
                  .empty());
  EXPECT_NE(error.find("reference: 'mlir-opt' failed"), std::string::npos)
      << error;
  EXPECT_TRUE(runRef("func.func @f(%x: tensor<2xf32>) { return }", {}).empty());
  EXPECT_EQ(error, "reference: expected 1 inputs but got 0");
}

//===----------------------------------------------------------------------===//
// Random inputs
//===----------------------------------------------------------------------===//

TEST_F(ReferenceTest, randomInputsFollowRoles) {
  module = parse(R"mlir(
func.func @f(%m: tensor<1x1x4x6xf32> {dataflow.role = "mask"}, %b: tensor<4x6xi1> {dataflow.role = "mask"},
             %w: tensor<50x300xf32> {dataflow.role = "weight"}, %x: tensor<5000xf32> {dataflow.role = "input"},
             %q: tensor<1000xi8>) { return }
)mlir");
  auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
  auto inputs = makeRandomInputs(function, 1, error);
  ASSERT_TRUE(succeeded(inputs)) << error;
  const float lowest = std::numeric_limits<float>::lowest();
  int open = 0, closed = 0;
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 6; ++column) {
      float value = (*inputs)[0].floats()[row * 6 + column];
      ASSERT_TRUE(value == 0 || value == lowest);
      ++(value == 0 ? open : closed);
      // Causal: row r sees columns up to r + 2, and that one always.
      if (column > row + 2)
        EXPECT_EQ(value, lowest);
      if (column == row + 2) {
        EXPECT_EQ(value, 0);
        EXPECT_EQ((*inputs)[1].data[row * 6 + column], 1);
      }
    }
  EXPECT_GT(open, 4);
  EXPECT_GT(closed, 6);
  // Variances: 1/300 and 1, within 10 % at these sample sizes.
  auto variance = [](const HostTensor &tensor) {
    double sum = 0;
    for (float value : tensor.floats())
      sum += double(value) * value;
    return sum / tensor.numElements();
  };
  EXPECT_NEAR(variance((*inputs)[2]) * 300, 1, 0.1);
  EXPECT_NEAR(variance((*inputs)[3]), 1, 0.1);
  int8_t low = 127, high = -128;
  for (char value : (*inputs)[4].data) {
    low = std::min<int8_t>(low, value);
    high = std::max<int8_t>(high, value);
  }
  EXPECT_EQ(low, -8);
  EXPECT_EQ(high, 7);
  auto again = makeRandomInputs(function, 1, error),
       other = makeRandomInputs(function, 2, error);
  EXPECT_EQ((*again)[3].data, (*inputs)[3].data);
  EXPECT_NE((*other)[3].data, (*inputs)[3].data);
}

} // namespace
