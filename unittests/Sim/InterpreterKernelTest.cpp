//===- InterpreterKernelTest.cpp - Streams inside and between kernels -----===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forks, reassociations, casts, branches around writes, strided memory and
// workspaces.
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestUtils.h"

using namespace streamtensor;

namespace {

TEST_F(InterpreterTest, forkReassociateCast) {
  // One itensor of 8 elements in tokens of 4 leaves as tokens of 8, as 2x2
  // tokens of a 4x2 tensor, under another spelling, and as it is.
  HostTensor x = counting({8});
  std::vector<HostTensor> results = run(R"mlir(
!V4 = !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
!V8 = !itensor.itensor<8xf32, [] * [], () -> (0)>
!V2 = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>
!T = !itensor.itensor<2x2xf32, [2] * [2], (d0) -> (d0, 0)>
!S = !itensor.itensor<4xf32, [1, 2] * [8, 4], (d0, d1) -> (d0 + d1)>
func.func @f(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4x2xf32>, tensor<8xf32>, tensor<8xf32>) {
  %r:5 = dataflow.kernel "k" (%x: !V4 = %arg0 : tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4x2xf32>, tensor<8xf32>, tensor<8xf32>) {
    %c:4 = itensor.fork %x times 4 : !V4
    %w = itensor.reassociate %c#0 : !V4 to !V8
    %n = itensor.reassociate %c#1 : !V4 to !V2
    %t = itensor.reassociate %c#2 : !V4 to !T
    %s = itensor.cast %c#3 : !V4 to !S
    dataflow.yield %w, %n, %t, %s, %x : !V8, !V2, !T, !S, !V4
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<8xf32>, tensor<8xf32>, tensor<4x2xf32>, tensor<8xf32>, tensor<8xf32>
}
)mlir",
                                        {x});
  ASSERT_EQ(results.size(), 5u) << error;
  for (const HostTensor &result : results)
    EXPECT_EQ(floats(result), floats(x));
  EXPECT_EQ(results[2].shape, (std::vector<int64_t>{4, 2}));
}

TEST_F(InterpreterTest, converterReorders) {
  // 4x4 in 2x2 tiles by columns of tiles, to rows: the tensor is the same, the
  // tokens are not.
  HostTensor x = counting({4, 4});
  Recording recording;
  std::vector<HostTensor> results = run(R"mlir(
!T = !itensor.itensor<2x2xf32, [2, 2] * [2, 2], (d0, d1) -> (d1, d0)>
!R = !itensor.itensor<1x4xf32, [4] * [1], (d0) -> (d0, 0)>
func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = dataflow.kernel "k" (%x: !T = %arg0 : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %c = itensor.converter %x : !T to !R
    dataflow.yield %c : !R
  }
  return %r : tensor<4x4xf32>
}
)mlir",
                                        {x}, &recording);
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(floats(results[0]), floats(x));
  ASSERT_EQ(recording.fifos.size(), 2u);
  auto tokens = [](const TokenRecord &record) {
    std::vector<float> values(record.data.size() / sizeof(float));
    std::memcpy(values.data(), record.data.data(), record.data.size());
    return values;
  };
  EXPECT_EQ(tokens(recording.fifos[0]),
            (std::vector<float>{1, 2, 5, 6, 9, 10, 13, 14, 3, 4, 7, 8, 11, 12,
                                15, 16}));
  EXPECT_EQ(tokens(recording.fifos[1]), floats(x));
  EXPECT_EQ(recording.fifos[1].kind, "converter");
}

TEST_F(InterpreterTest, sliceWritesSomeTokens) {
  // Reads all 6 tokens, passes on numbers 2 to 4.
  std::vector<HostTensor> results = run(R"mlir(
!X = !itensor.itensor<1xf32, [6] * [1], (d0) -> (d0)>
!Y = !itensor.itensor<1xf32, [3] * [1], (d0) -> (d0)>
func.func @f(%arg0: tensor<6xf32>) -> tensor<3xf32> {
  %r = dataflow.kernel "k" (%x: !X = %arg0 : tensor<6xf32>) -> tensor<3xf32> {
    %e = itensor.empty : !Y
    %y = dataflow.task "slice_0" inits(%o = %e) : (!Y) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c5 = arith.constant 5 : index
      %c6 = arith.constant 6 : index
      %d = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %o) -> (!Y) {
        %n = tensor.empty() : tensor<1xf32>
        %t = itensor.read %x init(%n : tensor<1xf32>) : !X -> tensor<1xf32>
        %a = arith.cmpi sge, %i, %c2 : index
        %b = arith.cmpi slt, %i, %c5 : index
        %in = arith.andi %a, %b : i1
        %w = scf.if %in -> (!Y) {
          %q = itensor.write %t into %p : tensor<1xf32>, !Y
          scf.yield %q : !Y
        } else {
          scf.yield %p : !Y
        }
        scf.yield %w : !Y
      }
      dataflow.yield %d : !Y
    }
    dataflow.yield %y : !Y
  }
  return %r : tensor<3xf32>
}
)mlir",
                                        {counting({6})});
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(floats(results[0]), (std::vector<float>{3, 4, 5}));
}

TEST_F(InterpreterTest, tokensOfRankZero) {
  std::vector<HostTensor> results = run(R"mlir(
!Z = !itensor.itensor<f32, [] * [], () -> ()>
#id = affine_map<() -> ()>
func.func @f(%arg0: tensor<f32>) -> tensor<f32> {
  %r = dataflow.kernel "k" (%x: !Z = %arg0 : tensor<f32>) -> tensor<f32> {
    %e = itensor.empty : !Z
    %y = dataflow.task "double" inits(%o = %e) : (!Z) {
      %n = tensor.empty() : tensor<f32>
      %t = itensor.read %x init(%n : tensor<f32>) : !Z -> tensor<f32>
      %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = []} ins(%t : tensor<f32>) outs(%n : tensor<f32>) {
      ^bb0(%v: f32, %w: f32):
        %s = arith.addf %v, %v : f32
        linalg.yield %s : f32
      } -> tensor<f32>
      %q = itensor.write %u into %o : tensor<f32>, !Z
      dataflow.yield %q : !Z
    }
    dataflow.yield %y : !Z
  }
  return %r : tensor<f32>
}
)mlir",
                                        {counting({}, 21)});
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(floats(results[0]), std::vector<float>{42});
}

/// Copies an argument with strides into a workspace, and that, seen as another
/// shape, into the result.
const char *kTwoKernels = R"mlir(
!X = !itensor.itensor<2xf32, [3] * [2], (d0) -> (d0)>
!R = !itensor.itensor<1x2xf32, [3] * [1], (d0) -> (d0, 0)>
func.func @f(%cache: memref<3x2xf32, strided<[5, 1]>> {dataflow.name = "arg0", dataflow.role = "cache"},
             %result0: memref<6xf32> {dataflow.name = "result0", dataflow.role = "output"}) {
  %ws = memref.alloc() {hls.name = "workspace0"} : memref<3x2xf32>
  dataflow.kernel "first" (%m0: memref<3x2xf32, strided<[5, 1]>> = %cache : memref<3x2xf32, strided<[5, 1]>>, %m1: memref<3x2xf32> = %ws : memref<3x2xf32>) {
    %e = itensor.instance "load_arg0_out" depth 2 : !R
    %x = dataflow.task "load_arg0" inits(%o = %e) : (!R) attributes {kind = "dma_in", argument = "arg0"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %o) -> (!R) {
        %sv = memref.subview %m0[%i, 0] [1, 2] [1, 1] : memref<3x2xf32, strided<[5, 1]>> to memref<1x2xf32, strided<[5, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1x2xf32, strided<[5, 1], offset: ?>> to tensor<1x2xf32>
        %q = itensor.write %t into %p : tensor<1x2xf32>, !R
        scf.yield %q : !R
      }
      dataflow.yield %r : !R
    }
    dataflow.task "store_workspace0" attributes {kind = "dma_out", argument = "workspace0"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %n = tensor.empty() : tensor<1x2xf32>
        %t = itensor.read %x init(%n : tensor<1x2xf32>) : !R -> tensor<1x2xf32>
        %sv = memref.subview %m1[%i, 0] [1, 2] [1, 1] : memref<3x2xf32> to memref<1x2xf32, strided<[2, 1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<1x2xf32>, memref<1x2xf32, strided<[2, 1], offset: ?>>) -> ()
      }
    }
    dataflow.yield
  }
  %flat = memref.collapse_shape %ws [[0, 1]] : memref<3x2xf32> into memref<6xf32>
  dataflow.kernel "second" (%m0: memref<6xf32> = %flat : memref<6xf32>, %m1: memref<6xf32> = %result0 : memref<6xf32>) {
    %e = itensor.instance "load_workspace0_out" depth 1 : !X
    %x = dataflow.task "load_workspace0" inits(%o = %e) : (!X) attributes {kind = "dma_in", argument = "workspace0"} {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %r = scf.for %i = %c0 to %c6 step %c2 iter_args(%p = %o) -> (!X) {
        %sv = memref.subview %m0[%i] [2] [1] : memref<6xf32> to memref<2xf32, strided<[1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<2xf32, strided<[1], offset: ?>> to tensor<2xf32>
        %q = itensor.write %t into %p : tensor<2xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      scf.for %i = %c0 to %c6 step %c2 {
        %n = tensor.empty() : tensor<2xf32>
        %t = itensor.read %x init(%n : tensor<2xf32>) : !X -> tensor<2xf32>
        %sv = memref.subview %m1[%i] [2] [1] : memref<6xf32> to memref<2xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<2xf32>, memref<2xf32, strided<[1], offset: ?>>) -> ()
      }
    }
    dataflow.yield
  }
  return
}
)mlir";

TEST_F(InterpreterTest, stridedCacheAndWorkspace) {
  Recording recording;
  std::vector<HostTensor> results =
      run(kTwoKernels, {counting({3, 2})}, &recording);
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(floats(results[0]), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(recording.stores.size(), 2u);
  EXPECT_EQ(recording.stores[0].argument, "workspace0");
  EXPECT_EQ(recording.stores[0].fifo, "load_arg0_out");
  EXPECT_EQ(recording.findFifo("load_workspace0_out")->argument, "workspace0");
}

TEST_F(InterpreterTest, uninitialisedMemoryShows) {
  // What the second kernel loads was never stored.
  std::string text = kTwoKernels;
  size_t at = text.find("%flat = memref.collapse_shape %ws");
  text.insert(at, "%other = memref.alloc() : memref<3x2xf32>\n");
  text.replace(text.find("collapse_shape %ws"), 18, "collapse_shape %other");
  std::vector<HostTensor> results = run(text, {counting({3, 2})});
  ASSERT_EQ(results.size(), 1u) << error;
  for (float value : results[0].floats())
    EXPECT_NE(value, value); // NaN
}

TEST_F(InterpreterTest, streamCastMovesNothing) {
  std::vector<HostTensor> results = run(R"mlir(
!A = !stream.stream<4xf32, 2>
!B = !stream.stream<2x2xf32, 2>
func.func private @load(%m: memref<8xf32>, %s: !A) attributes {hls.task, kind = "dma_in"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c4 {
    %v = memref.subview %m[%i] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
    %t = memref.alloc() : memref<4xf32>
    memref.copy %v, %t : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
    stream.write %t, %s : memref<4xf32>, !A
  }
  return
}
func.func private @store(%s: !B, %m: memref<4x2xf32>) attributes {hls.task, kind = "dma_out"} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c2 {
    %t = memref.alloc() : memref<2x2xf32>
    stream.read %s into %t : !B, memref<2x2xf32>
    %v = memref.subview %m[%i, 0] [2, 2] [1, 1] : memref<4x2xf32> to memref<2x2xf32, strided<[2, 1], offset: ?>>
    memref.copy %t, %v : memref<2x2xf32> to memref<2x2xf32, strided<[2, 1], offset: ?>>
  }
  return
}
func.func @f(%x: memref<8xf32> {dataflow.role = "input"}, %y: memref<4x2xf32> {dataflow.role = "output"}) attributes {hls.top} {
  %a = stream.stream "load_out" : !A
  %b = stream.cast %a : !A to !B
  hls.task @load(%x, %a) : memref<8xf32>, !A
  hls.task @store(%b, %y) : !B, memref<4x2xf32>
  hls.join
  return
}
)mlir",
                                        {counting({8})});
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(floats(results[0]), floats(counting({8})));
}

} // namespace
