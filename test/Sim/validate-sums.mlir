// What is validated as phase 'hls' has accumulators of the bits that they need.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: streamtensor-compile %s --target=u55c --output-dir=%t/design --dump-phases=%t/phases --validate 2> %t/log
// RUN: FileCheck %s --input-file=%t/log
// RUN: FileCheck %s --check-prefix=HLS --input-file=%t/phases/hls.mlir
// RUN: FileCheck %s --check-prefix=CODE --input-file=%t/design/hls/kernel.cpp

// CHECK: phase 'stream': equal to the reference within 0 of the tolerance
// CHECK-NEXT: phase 'hls': equal to the reference within 0 of the tolerance, bit for bit equal to 'stream'

// 64 numbers of i8: -64 * 128 = -2^13, 14 bits.
// HLS: stream.stream {{.*}}i14
// HLS-NOT: stream.stream {{.*}}i32, {{[0-9]+}}>
// CODE: st::sint<14> acc

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sum(%x: tensor<4x64xi8>) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x64xi8>) outs(%f : tensor<4xi32>) {
  ^bb0(%a: i8, %out: i32):
    %wide = arith.extsi %a : i8 to i32
    %sum = arith.addi %wide, %out : i32
    linalg.yield %sum : i32
  } -> tensor<4xi32>
  %ef = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4xi32>) outs(%ef : tensor<4xf32>) {
  ^bb0(%a: i32, %out: f32):
    %v = arith.sitofp %a : i32 to f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
