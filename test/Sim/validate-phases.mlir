// Every phase of a compile runs random data and is compared with mlir-runner on
// this text. Softmax over the last dimension, then a product with a weight.
//
// RUN: rm -rf %t
// RUN: streamtensor-compile %s --target=u55c --output-dir=%t --validate 2> %t.log
// RUN: FileCheck %s --input-file=%t.log

// CHECK: reference: 2 results by mlir-runner
// CHECK-NEXT: phase 'normalized': equal to the reference within
// CHECK-NEXT: phase 'scheduled': {{.*}} bit for bit equal to 'normalized'
// CHECK-NEXT: phase 'dataflow': {{.*}} bit for bit equal to 'scheduled'
// CHECK-NEXT: phase 'fused': {{.*}} bit for bit equal to 'dataflow'
// CHECK-NEXT: phase 'packed': {{.*}} bit for bit equal to 'fused'
// CHECK-NEXT: phase 'materialized': {{.*}} bit for bit equal to 'packed'
// CHECK-NEXT: phase 'vectorized': {{.*}} bit for bit equal to 'materialized'
// CHECK-NEXT: phase 'allocated': {{.*}} bit for bit equal to 'vectorized'
// Sums become trees of adders here.
// CHECK-NEXT: phase 'stream': equal to the reference within
// CHECK-NEXT: phase 'hls': {{.*}} bit for bit equal to 'stream'

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
func.func @f(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> (tensor<6x32xf32>, tensor<6x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e1 = tensor.empty() : tensor<6x1xf32>
  %e = tensor.empty() : tensor<6x24xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%e1 : tensor<6x1xf32>) -> tensor<6x1xf32>
  %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x24xf32>) outs(%m0 : tensor<6x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<6x1xf32>
  %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<6x24xf32>, tensor<6x1xf32>) outs(%e : tensor<6x24xf32>) {
  ^bb0(%in: f32, %max: f32, %out: f32):
    %0 = arith.subf %in, %max : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6x24xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x1xf32>) -> tensor<6x1xf32>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<6x24xf32>) outs(%s0 : tensor<6x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<6x1xf32>
  %y = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<6x24xf32>, tensor<6x1xf32>) outs(%e : tensor<6x24xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.divf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<6x24xf32>
  %r = tensor.empty() : tensor<6x32xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%r : tensor<6x32xf32>) -> tensor<6x32xf32>
  %z = linalg.matmul ins(%y, %w : tensor<6x24xf32>, tensor<24x32xf32>) outs(%r0 : tensor<6x32xf32>) -> tensor<6x32xf32>
  return %z, %y : tensor<6x32xf32>, tensor<6x24xf32>
}
