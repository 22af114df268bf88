// One argument read by both operands of a product, in two orders, and again by
// the next product; the function has a name that C++ reserves. The expected
// values are those of mlir-runner on this text.
//
// RUN: rm -rf %t
// RUN: streamtensor-compile %s --target=u55c --output-dir=%t --validate 2> %t.log
// RUN: FileCheck %s --input-file=%t.log

// CHECK: reference: 1 results by mlir-runner
// CHECK: phase 'fused': equal to the reference within
// CHECK: phase 'materialized': equal to the reference within
// CHECK: phase 'hls': equal to the reference within

func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(j,k)>, affine_map<(i,j,k)->(i,j)>], iterator_types=["parallel","parallel","reduction"]} ins(%x, %x : tensor<8x4xf32>, tensor<8x4xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<8x8xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %f2 = linalg.fill ins(%c0 : f32) outs(%e2 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(k,j)>, affine_map<(i,j,k)->(i,j)>], iterator_types=["parallel","parallel","reduction"]} ins(%s, %x : tensor<8x8xf32>, tensor<8x4xf32>) outs(%f2 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
