//===- InterpreterTest.cpp - The interpreter on one design per phase ------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results of hand-written modules of every phase against plain loops.
//
//===----------------------------------------------------------------------===//

#include "InterpreterMatVec.h"
#include "InterpreterTestUtils.h"

using namespace streamtensor;

namespace {

class MatVecPhases : public InterpreterTest,
                     public ::testing::WithParamInterface<const std::string *> {
};

TEST_P(MatVecPhases, computesTheProduct) {
  HostTensor x = counting({6}), w = counting({8, 6}, -20);
  std::vector<float> expected(8, 0);
  for (int k = 0; k < 6; ++k)
    for (int n = 0; n < 8; ++n)
      expected[n] += x.floats()[k] * w.floats()[n * 6 + k];
  Recording recording;
  std::vector<HostTensor> results = run(*GetParam(), {x, w}, &recording);
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(results[0].shape, std::vector<int64_t>{8});
  EXPECT_EQ(floats(results[0]), expected);

  const TokenRecord *record = recording.findFifo("matvec_out");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->task, "matvec");
  EXPECT_EQ(record->kind, "compute");
  EXPECT_EQ(record->tokens, 2);
  ASSERT_EQ(record->data.size(), 8 * sizeof(float));
  EXPECT_EQ(std::memcmp(record->data.data(), expected.data(), 32), 0);
  ASSERT_EQ(record->inputs.size(), 2u);
  if (const TokenRecord *load = recording.findFifo("load_arg1_out")) {
    EXPECT_EQ(load->kind, "dma_in");
    EXPECT_EQ(load->tokens, 12);
    // Token 3 is (k, n) = (1, 1): column 1 of rows 4 to 7.
    float token[4];
    std::memcpy(token, load->data.data() + 3 * sizeof(token), sizeof(token));
    for (int row = 0; row < 4; ++row)
      EXPECT_EQ(token[row], w.floats()[(4 + row) * 6 + 1]);
  }
}

std::string
phaseName(const ::testing::TestParamInfo<const std::string *> &info) {
  static const char *names[] = {"dataflow", "materialized", "allocated",
                                "stream", "hls"};
  return names[info.index];
}

INSTANTIATE_TEST_SUITE_P(Interpreter, MatVecPhases,
                         ::testing::Values(&matvec::kDataflow,
                                           &matvec::kMaterialized,
                                           &matvec::kAllocated,
                                           &matvec::kStream, &matvec::kHLS),
                         phaseName);

//===----------------------------------------------------------------------===//
// Tensor operations
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, normalizedOperations) {
  // (x + bias) over the columns, reduced over rows by max, then reshaped, its
  // second half taken and put in front of the whole.
  std::vector<HostTensor> results = run(R"mlir(
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#col = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0)>
func.func @f(%x: tensor<3x4xf32>, %b: tensor<4xf32>) -> (tensor<6xf32>, tensor<3x4xf32>) {
  %cst = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<3x4xf32>, tensor<4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  %e4 = tensor.empty() : tensor<4xf32>
  %f4 = linalg.fill ins(%cst : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#col, #out], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<3x4xf32>) outs(%f4 : tensor<4xf32>) {
  ^bb0(%p: f32, %r: f32):
    %s = arith.maximumf %p, %r : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %m2 = tensor.expand_shape %m [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %h = tensor.extract_slice %m2[1, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
  %m1 = tensor.collapse_shape %m2 [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %c = tensor.concat dim(0) %h, %m1 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  return %c, %y : tensor<6xf32>, tensor<3x4xf32>
}
)mlir",
                                        {counting({3, 4}), counting({4}, 10)});
  ASSERT_EQ(results.size(), 2u) << error;
  // x = 1..12, b = 10..13: the last row is 9+10, 10+11, 11+12, 12+13.
  EXPECT_EQ(floats(results[0]), (std::vector<float>{23, 25, 19, 21, 23, 25}));
  EXPECT_EQ(floats(results[1]), (std::vector<float>{11, 13, 15, 17, 15, 17, 19,
                                                    21, 19, 21, 23, 25}));
}

TEST_F(InterpreterTest, tensorsAreValues) {
  // %a is used after it was inserted into: the insertion must work on a copy.
  std::vector<HostTensor> results = run(R"mlir(
func.func @f(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = tensor.insert_slice %x into %a[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  // Swaps its two values in each of two iterations, changing the first.
  %r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %a, %q = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensor.insert_slice %x into %p[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
    scf.yield %q, %s : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
)mlir",
                                        {counting({2}, 7)});
  ASSERT_EQ(results.size(), 2u) << error;
  EXPECT_EQ(floats(results[0]), (std::vector<float>{0, 0, 7, 8}));
  EXPECT_EQ(floats(results[1]), (std::vector<float>{0, 7, 7, 8}));
}

TEST_F(InterpreterTest, floatsAreRoundedAsFloats) {
  // 16777216 + 1 is 16777216 in float; in double the difference would be 1.
  std::vector<HostTensor> results = run(R"mlir(
#id = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<1xf32>) outs(%e : tensor<1xf32>) {
  ^bb0(%p: f32, %r: f32):
    %s = arith.addf %p, %one : f32
    %d = arith.subf %s, %p : f32
    linalg.yield %d : f32
  } -> tensor<1xf32>
  return %y : tensor<1xf32>
}
)mlir",
                                        {counting({1}, 16777216.0f)});
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(results[0].floats()[0], 0.0f);
}

TEST_F(InterpreterTest, integersWrap) {
  // (100 + 100) in i8 is -56; as unsigned 200; i1 sign-extends to -1.
  std::vector<HostTensor> results = run(R"mlir(
#id = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<1xi8>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xf32>) {
  %e = tensor.empty() : tensor<1xi32>
  %g = tensor.empty() : tensor<1xf32>
  %y:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<1xi8>) outs(%e, %e, %g : tensor<1xi32>, tensor<1xi32>, tensor<1xf32>) {
  ^bb0(%p: i8, %a: i32, %b: i32, %c: f32):
    %s = arith.addi %p, %p : i8
    %i = arith.extsi %s : i8 to i32
    %u = arith.extui %s : i8 to i32
    %t = arith.cmpi slt, %s, %p : i8
    %v = arith.extsi %t : i1 to i32
    %f = arith.sitofp %v : i32 to f32
    linalg.yield %i, %u, %f : i32, i32, f32
  } -> (tensor<1xi32>, tensor<1xi32>, tensor<1xf32>)
  return %y#0, %y#1, %y#2 : tensor<1xi32>, tensor<1xi32>, tensor<1xf32>
}
)mlir",
                                        {[] {
                                          HostTensor x({1}, ElementKind::I8);
                                          x.data[0] = 100;
                                          return x;
                                        }()});
  ASSERT_EQ(results.size(), 3u) << error;
  EXPECT_EQ(results[0].get(0).i, -56);
  EXPECT_EQ(results[1].get(0).i, 200);
  EXPECT_EQ(results[2].floats()[0], -1.0f);
}

TEST_F(InterpreterTest, integersOfAnyWidthWrapAtIt) {
  // Thirteen bits hold -4096 to 4095; 4096 and -4097 come round.
  std::vector<HostTensor> results =
      run(R"mlir(
#id = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  %narrow = tensor.empty() : tensor<4xi13>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xi32>) outs(%narrow : tensor<4xi13>) {
  ^bb0(%p: i32, %o: i13):
    %t = arith.trunci %p : i32 to i13
    linalg.yield %t : i13
  } -> tensor<4xi13>
  %wide = tensor.empty() : tensor<4xi32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%n : tensor<4xi13>) outs(%wide : tensor<4xi32>) {
  ^bb0(%p: i13, %o: i32):
    %t = arith.extsi %p : i13 to i32
    linalg.yield %t : i32
  } -> tensor<4xi32>
  return %w : tensor<4xi32>
}
)mlir",
          {[] {
            HostTensor x({4}, ElementKind::I32);
            int64_t index = 0;
            for (int value : {4095, 4096, -4096, -4097}) {
              Scalar scalar;
              scalar.i = value;
              x.set(index++, scalar);
            }
            return x;
          }()});
  ASSERT_EQ(results.size(), 1u) << error;
  const int expected[] = {4095, -4096, -4096, 4095};
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(results[0].get(i).i, expected[i]) << i;
}

TEST_F(InterpreterTest, refusesWhatItDoesNotKnow) {
  EXPECT_TRUE(run(R"mlir(
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = tensor.generate {
  ^bb0(%i: index):
    %v = tensor.extract %x[%i] : tensor<2xf32>
    tensor.yield %v : f32
  } : tensor<2xf32>
  return %p : tensor<2xf32>
}
)mlir",
                  {counting({2})})
                  .empty());
  EXPECT_NE(error.find("cannot interpret 'tensor.generate'"), std::string::npos)
      << error;
}

TEST_F(InterpreterTest, checksInputs) {
  EXPECT_TRUE(run(matvec::kMaterialized, {counting({6})}).empty());
  EXPECT_EQ(error, "expected 2 inputs but got 1");
  EXPECT_TRUE(
      run(matvec::kMaterialized, {counting({6}), counting({6, 8})}).empty());
  EXPECT_EQ(error, "expected argument 'arg1' to be a tensor 8x6 F32 but got a "
                   "tensor 6x8 F32");
}

TEST_F(InterpreterTest, checksBounds) {
  std::string text = matvec::kMaterialized;
  size_t at = text.find("(d0 * 4)");
  text.replace(at, 8, "(d0 * 5)");
  EXPECT_TRUE(run(text, {counting({6}), counting({8, 6})}).empty());
  EXPECT_NE(error.find("task 'store_result0': 'memref.subview'"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("expected an index of 0 to 4 in dimension 0 but got 5"),
            std::string::npos)
      << error;
}

} // namespace

// Expected values by hand: the source at (1, 2) of a 4x5 tensor of sevens.
TEST_F(InterpreterTest, pads) {
  std::vector<HostTensor> results = run(R"mlir(
func.func @f(%x: tensor<2x2xf32>) -> tensor<4x5xf32> {
  %c7 = arith.constant 7.0 : f32
  %p = tensor.pad %x low[1, 2] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c7 : f32
  } : tensor<2x2xf32> to tensor<4x5xf32>
  return %p : tensor<4x5xf32>
}
)mlir",
                                        {counting({2, 2})});
  ASSERT_EQ(results.size(), 1u) << error;
  std::vector<float> expected(20, 7.0f);
  HostTensor x = counting({2, 2});
  expected[7] = x.floats()[0];
  expected[8] = x.floats()[1];
  expected[12] = x.floats()[2];
  expected[13] = x.floats()[3];
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(results[0].floats()[i], expected[i]) << i;
}
