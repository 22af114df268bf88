//===- InterpreterMatVec.h - One product in five phases ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y = W x with W 8x6, by hand in the phases dataflow to hls: the reduction
// outermost, 4 rows of W in a token, two accumulator tokens.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_SIM_INTERPRETERMATVEC_H
#define STREAMTENSOR_UNITTESTS_SIM_INTERPRETERMATVEC_H

#include <string>

namespace streamtensor::matvec {

inline const std::string kTypes = R"mlir(
!X = !itensor.itensor<1xf32, [6] * [1], (d0) -> (d0)>
!W = !itensor.itensor<4x1xf32, [6, 2] * [1, 4], (d0, d1) -> (d1, d0)>
!Y = !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
#xk = affine_map<(n, k) -> (k)>
#wk = affine_map<(n, k) -> (n, k)>
#yk = affine_map<(n, k) -> (n)>
)mlir";

/// The task, from `dataflow` to `allocated`: reads %x and %w, initialised with
/// %e.
inline const std::string kTask = R"mlir(
    %y = dataflow.task "matvec" inits(%o = %e) : (!Y) attributes {kind = "compute", macs = 48 : i64} {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %acc0 = tensor.empty() : tensor<2x4xf32>
      %acc1 = linalg.fill ins(%zero : f32) outs(%acc0 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %acc = scf.for %k = %c0 to %c6 step %c1 iter_args(%a = %acc1) -> (tensor<2x4xf32>) {
        %xi = tensor.empty() : tensor<1xf32>
        %xk = itensor.read %x init(%xi : tensor<1xf32>) : !X -> tensor<1xf32>
        %an = scf.for %n = %c0 to %c2 step %c1 iter_args(%b = %a) -> (tensor<2x4xf32>) {
          %wi = tensor.empty() : tensor<4x1xf32>
          %wv = itensor.read %w init(%wi : tensor<4x1xf32>) : !W -> tensor<4x1xf32>
          %t = tensor.extract_slice %b[%n, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
          %u = linalg.generic {indexing_maps = [#xk, #wk, #yk], iterator_types = ["parallel", "reduction"]}
              ins(%xk, %wv : tensor<1xf32>, tensor<4x1xf32>) outs(%t : tensor<4xf32>) {
          ^bb0(%p: f32, %q: f32, %r: f32):
            %m = arith.mulf %p, %q : f32
            %s = arith.addf %r, %m : f32
            linalg.yield %s : f32
          } -> tensor<4xf32>
          %v = tensor.insert_slice %u into %b[%n, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
          scf.yield %v : tensor<2x4xf32>
        } {hls.label = "n"}
        scf.yield %an : tensor<2x4xf32>
      } {hls.label = "k"}
      %d = scf.for %n = %c0 to %c2 step %c1 iter_args(%p = %o) -> (!Y) {
        %t = tensor.extract_slice %acc[%n, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
        %q = itensor.write %t into %p : tensor<4xf32>, !Y
        scf.yield %q : !Y
      }
      dataflow.yield %d : !Y
    }
)mlir";

inline const std::string kDataflow = kTypes + R"mlir(
func.func @f(%arg0: tensor<6xf32>, %arg1: tensor<8x6xf32>) -> tensor<8xf32> {
  %0 = dataflow.kernel "matvec" (%x: !X = %arg0 : tensor<6xf32>, %w: !W = %arg1 : tensor<8x6xf32>) -> tensor<8xf32> {
    %e = itensor.empty : !Y
)mlir" + kTask + R"mlir(
    dataflow.yield %y : !Y
  }
  return %0 : tensor<8xf32>
}
)mlir";

/// The bodies of the DMA tasks, from `materialized` on: %x and %w are written
/// with %ex and %ew, %y is read.
inline const std::string kDMAs = R"mlir(
    %x = dataflow.task "load_arg0" inits(%o = %ex) : (!X) attributes {kind = "dma_in", argument = "arg0"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %o) -> (!X) {
        %sv = memref.subview %m0[%i] [1] [1] : memref<6xf32> to memref<1xf32, strided<[1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1xf32, strided<[1], offset: ?>> to tensor<1xf32>
        %q = itensor.write %t into %p : tensor<1xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    %w = dataflow.task "load_arg1" inits(%o = %ew) : (!W) attributes {kind = "dma_in", argument = "arg1"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %o) -> (!W) {
        %s = scf.for %j = %c0 to %c2 step %c1 iter_args(%p2 = %p) -> (!W) {
          %sv = memref.subview %m1[%i, %j, 0, 0] [1, 1, 4, 1] [1, 1, 1, 1] : memref<6x2x4x1xf32> to memref<4x1xf32, strided<[1, 1], offset: ?>>
          %t = bufferization.to_tensor %sv restrict : memref<4x1xf32, strided<[1, 1], offset: ?>> to tensor<4x1xf32>
          %q = itensor.write %t into %p2 : tensor<4x1xf32>, !W
          scf.yield %q : !W
        }
        scf.yield %s : !W
      }
      dataflow.yield %r : !W
    }
)mlir";

inline const std::string kStore = R"mlir(
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %i0 = tensor.empty() : tensor<4xf32>
        %t = itensor.read %y init(%i0 : tensor<4xf32>) : !Y -> tensor<4xf32>
        %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
        %sv = memref.subview %m2[%at] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<4xf32>, memref<4xf32, strided<[1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
)mlir";

inline const std::string kArguments = R"mlir(
  %arg0: memref<6xf32> {dataflow.name = "arg0", dataflow.role = "input"},
  %arg1: memref<6x2x4x1xf32> {dataflow.name = "arg1", dataflow.role = "weight", dataflow.packing = !W, dataflow.shape = array<i64: 8, 6>},
  %result0: memref<8xf32> {dataflow.name = "result0", dataflow.role = "output"}
)mlir";

inline const std::string kKernel = R"mlir(
  dataflow.kernel "group0" (%m0: memref<6xf32> = %arg0 : memref<6xf32>, %m1: memref<6x2x4x1xf32> = %arg1 : memref<6x2x4x1xf32>, %m2: memref<8xf32> = %result0 : memref<8xf32>) {
)mlir";

inline const std::string kMaterialized = kTypes + "func.func @f(" + kArguments +
                                         ") {" + kKernel + R"mlir(
    %ex = itensor.empty : !X
    %ew = itensor.empty : !W
    %e = itensor.empty : !Y
)mlir" + kDMAs + kTask + kStore;

inline const std::string kAllocated = kTypes + "func.func @f(" + kArguments +
                                      ") {" + kKernel + R"mlir(
    %ex = itensor.instance "load_arg0_out" depth 2 because "a register on each side" {tokens = 6 : i64} : !X
    %ew = itensor.instance "load_arg1_out" depth 3 because "a burst" {tokens = 12 : i64} : !W
    %e = itensor.instance "matvec_out" depth 1 : !Y
)mlir" + kDMAs + kTask + kStore;

inline const std::string kStreamTypes = R"mlir(
!W = !itensor.itensor<4x1xf32, [6, 2] * [1, 4], (d0, d1) -> (d1, d0)>
!SX = !stream.stream<1xf32, 2>
!SW = !stream.stream<4x1xf32, 3>
!SY = !stream.stream<4xf32, 1>
)mlir";

inline const std::string kStreams = R"mlir(
    %x = stream.stream "load_arg0_out" tokens 6 because "a register on each side" : !SX
    %w = stream.stream "load_arg1_out" tokens 12 : !SW
    %y = stream.stream "matvec_out" tokens 2 : !SY
)mlir";

/// The task bodies of `stream` and `hls`: %m0, %m1, %m2 memories, %x, %w, %y
/// streams.
inline const std::string kLoad0Body = R"mlir(
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      scf.for %i = %c0 to %c6 step %c1 {
        %t = memref.alloc() : memref<1xf32>
        %v = memref.load %m0[%i] : memref<6xf32>
        memref.store %v, %t[%c0] : memref<1xf32>
        stream.write %t, %x : memref<1xf32>, !SX
      }
)mlir";

inline const std::string kLoad1Body = R"mlir(
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      scf.for %i = %c0 to %c6 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          %t = memref.alloc() : memref<4x1xf32>
          scf.for %l = %c0 to %c4 step %c1 {
            %v = memref.load %m1[%i, %j, %l, %c0] : memref<6x2x4x1xf32>
            memref.store %v, %t[%l, %c0] : memref<4x1xf32>
          }
          stream.write %t, %w : memref<4x1xf32>, !SW
        }
      }
)mlir";

inline const std::string kMatVecBody = R"mlir(
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %acc = stream.buffer "acc" : memref<2x4xf32>
      scf.for %n = %c0 to %c2 step %c1 {
        scf.for %l = %c0 to %c4 step %c1 {
          memref.store %zero, %acc[%n, %l] : memref<2x4xf32>
        }
      }
      scf.for %k = %c0 to %c6 step %c1 {
        %xt = memref.alloc() : memref<1xf32>
        stream.read %x into %xt : !SX, memref<1xf32>
        scf.for %n = %c0 to %c2 step %c1 {
          %wt = memref.alloc() : memref<4x1xf32>
          stream.read %w into %wt : !SW, memref<4x1xf32>
          scf.for %l = %c0 to %c4 step %c1 {
            %a = memref.load %xt[%c0] : memref<1xf32>
            %b = memref.load %wt[%l, %c0] : memref<4x1xf32>
            %c = memref.load %acc[%n, %l] : memref<2x4xf32>
            %m = arith.mulf %a, %b : f32
            %s = arith.addf %c, %m : f32
            memref.store %s, %acc[%n, %l] : memref<2x4xf32>
          } {hls.unroll = #hls.unroll<factor = 0>}
        } {hls.pipeline = #hls.pipeline<ii = 1>}
      }
      scf.for %n = %c0 to %c2 step %c1 {
        %row = memref.subview %acc[%n, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1], offset: ?>>
        %t = memref.alloc() : memref<4xf32>
        memref.copy %row, %t : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
        stream.write %t, %y : memref<4xf32>, !SY
      }
)mlir";

inline const std::string kStoreBody = R"mlir(
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %t = memref.alloc() : memref<4xf32>
        stream.read %y into %t : !SY, memref<4xf32>
        scf.for %l = %c0 to %c4 step %c1 {
          %v = memref.load %t[%l] : memref<4xf32>
          %at = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%i, %l)
          memref.store %v, %m2[%at] : memref<8xf32>
        }
      }
)mlir";

inline const std::string kStream =
    kStreamTypes + "func.func @f(" + kArguments + ") {" + kKernel + kStreams +
    "dataflow.task \"load_arg0\" attributes {kind = \"dma_in\"} {" +
    kLoad0Body + "dataflow.yield }\n" +
    "dataflow.task \"load_arg1\" attributes {kind = \"dma_in\"} {" +
    kLoad1Body + "dataflow.yield }\n" +
    "dataflow.task \"matvec\" attributes {kind = \"compute\"} {" + kMatVecBody +
    "dataflow.yield }\n" +
    "dataflow.task \"store_result0\" attributes {kind = \"dma_out\"} {" +
    kStoreBody + "dataflow.yield }\n" + "dataflow.yield }\nreturn }\n";

inline const std::string kHLS =
    kStreamTypes +
    "func.func private @load_arg0(%m0: memref<6xf32>, %x: !SX) attributes "
    "{hls.task, kind = \"dma_in\"} {" +
    kLoad0Body +
    "return }\n"
    "func.func private @load_arg1(%m1: memref<6x2x4x1xf32>, %w: !SW) "
    "attributes {hls.task, kind = \"dma_in\"} {" +
    kLoad1Body +
    "return }\n"
    "func.func private @matvec(%x: !SX, %w: !SW, %y: !SY) attributes "
    "{hls.task, kind = \"compute\"} {" +
    kMatVecBody +
    "return }\n"
    "func.func private @store_result0(%y: !SY, %m2: memref<8xf32>) attributes "
    "{hls.task, kind = \"dma_out\"} {" +
    kStoreBody + "return }\n" + R"mlir(
func.func private @group0(%m0: memref<6xf32>, %m1: memref<6x2x4x1xf32>, %m2: memref<8xf32>) attributes {hls.dataflow} {
)mlir" +
    kStreams +
    R"mlir(
  hls.task @load_arg0(%m0, %x) : memref<6xf32>, !SX
  hls.task @load_arg1(%m1, %w) : memref<6x2x4x1xf32>, !SW
  hls.task @matvec(%x, %w, %y) : !SX, !SW, !SY
  hls.task @store_result0(%y, %m2) : !SY, memref<8xf32>
  hls.join
  return
}
func.func @f()mlir" +
    kArguments + R"mlir(,
  %workspace0: memref<8xf32> {dataflow.name = "workspace0", dataflow.role = "workspace"}) attributes {hls.top} {
  func.call @group0(%arg0, %arg1, %result0) : (memref<6xf32>, memref<6x2x4x1xf32>, memref<8xf32>) -> ()
  return
}
)mlir";

} // namespace streamtensor::matvec

#endif // STREAMTENSOR_UNITTESTS_SIM_INTERPRETERMATVEC_H
