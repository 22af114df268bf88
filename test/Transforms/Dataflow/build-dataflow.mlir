// RUN: streamtensor-opt %s --st-build-dataflow | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>

// Loops m0 (2 x 2 rows), k (6), n0 (2 x 16 columns). The left operand changes
// last with k, so its type ends there; the weights are replayed for each m0: d0
// is a revisit. The accumulator is what lies inside k: 2 tiles of 2 rows of 16.
// CHECK-LABEL: func.func @matmul
// CHECK: dataflow.kernel {{.*}}(%[[X:.*]]: !itensor.itensor<2x1xf32, [2, 6] * [2, 1], (d0, d1) -> (d0, d1)> = %{{.*}} : tensor<4x6xf32>,
// CHECK-SAME: %[[W:.*]]: !itensor.itensor<1x16xf32, [2, 6, 2] * [1, 1, 16], (d0, d1, d2) -> (d1, d2)> = %{{.*}} : tensor<6x32xf32>) -> tensor<4x32xf32>
// 4 * 6 * 32 multiply-accumulates.
// CHECK: dataflow.task {{.*}} macs = 768 : i64
// CHECK: scf.for
// CHECK-NEXT: tensor.empty() {hls.name = "acc"} : tensor<2x2x16xf32>
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: scf.for
// CHECK: itensor.read %[[X]]
// CHECK-NEXT: scf.for
// CHECK: itensor.read %[[W]]
// CHECK: linalg.generic
// CHECK: hls.label = "reduce1"
// CHECK: itensor.write {{.*}} : tensor<1x16xf32>
// CHECK: hls.label = "drain
func.func @matmul(%a: tensor<4x6xf32>, %b: tensor<6x32xf32>) -> tensor<4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x6xf32>, tensor<6x32xf32>) outs(%f : tensor<4x32xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 2, 1], tile = [2, 16, 1], unroll = [1, 16, 1]>} {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}

// One read, one computation, one write per token, in memory order.
// CHECK-LABEL: func.func @elementwise
// CHECK: (%[[X:.*]]: !itensor.itensor<1x4xf32, [3, 5] * [1, 4], (d0, d1) -> (d0, d1)> =
// CHECK: itensor.read %[[X]]
// CHECK: math.exp
// CHECK: itensor.write
func.func @elementwise(%a: tensor<3x20xf32>) -> tensor<3x20xf32> {
  %e = tensor.empty() : tensor<3x20xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<3x20xf32>) outs(%e : tensor<3x20xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [1, 4], unroll = [1, 4]>} {
  ^bb0(%x: f32, %o: f32):
    %p = math.exp %x : f32
    linalg.yield %p : f32
  } -> tensor<3x20xf32>
  return %0 : tensor<3x20xf32>
}
