// RUN: streamtensor-opt %s --st-absorb-copies --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

// A transposed weight: (k, n) of the transpose is (n, k) of the weight.
// CHECK: #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @weight
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<6x8xf32>)
// CHECK: linalg.generic
// CHECK-SAME: indexing_maps = [#{{.*}}, #[[NK]], #{{.*}}]
// CHECK-SAME: ins(%[[X]], %[[W]] : tensor<4x8xf32>, tensor<6x8xf32>)
// CHECK-NOT: linalg.generic
func.func @weight(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %et = tensor.empty() : tensor<8x6xf32>
  %t = linalg.generic {indexing_maps = [#tr, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<6x8xf32>) outs(%et : tensor<8x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// The only reader of a product transposes it: the product writes transposed.
// CHECK: #[[NM:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func.func @transposed_result
// CHECK: %[[E:.*]] = tensor.empty() : tensor<6x4xf32>
// CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%[[E]] : tensor<6x4xf32>)
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK-SAME: indexing_maps = [#{{.*}}, #{{.*}}, #[[NM]]]
// CHECK-SAME: outs(%[[F]] : tensor<6x4xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]] : tensor<6x4xf32>
func.func @transposed_result(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<6x4xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x6xf32>
  %et = tensor.empty() : tensor<6x4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x6xf32>) outs(%et : tensor<6x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x4xf32>
  return %t : tensor<6x4xf32>
}

// -----

// Heads that share a key: the broadcast over d1 becomes a map without d1.
// CHECK: #[[SHARED:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @repeated_heads
// CHECK-SAME: (%[[Q:.*]]: tensor<2x3x8xf32>, %[[K:.*]]: tensor<2x8xf32>)
// CHECK: linalg.generic
// CHECK-SAME: indexing_maps = [#{{.*}}, #[[SHARED]], #{{.*}}]
// CHECK-SAME: ins(%[[Q]], %[[K]] : tensor<2x3x8xf32>, tensor<2x8xf32>)
// CHECK-NOT: linalg.generic
func.func @repeated_heads(%q: tensor<2x3x8xf32>, %k: tensor<2x8xf32>) -> tensor<2x3x8xf32> {
  %e = tensor.empty() : tensor<2x3x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x8xf32>) outs(%e : tensor<2x3x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x3x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q, %r : tensor<2x3x8xf32>, tensor<2x3x8xf32>) outs(%e : tensor<2x3x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// Summing a broadcast over its new dimension: without the copy nothing would
// say how often that loop runs, so the copy stays.
// CHECK-LABEL: func.func @sum_of_broadcast
// CHECK-COUNT-2: linalg.generic
func.func @sum_of_broadcast(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<8x3xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x3xf32>
  %es = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%es : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<8x3xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// (0 1 2) -> (1 2 0) is not its own inverse: element [a, b, c] of the result is
// [c, a, b] of the source.
// CHECK: #[[CYCLE:.*]] = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
// CHECK-LABEL: func.func @three_cycle
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK: linalg.generic
// CHECK-SAME: indexing_maps = [#[[CYCLE]], #{{.*}}]
// CHECK-SAME: ins(%[[X]] : tensor<2x3x4xf32>) outs(%{{.*}} : tensor<3x4x2xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.negf
// CHECK-NOT: linalg.generic
func.func @three_cycle(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %e = tensor.empty() : tensor<3x4x2xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<3x4x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x4x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : tensor<3x4x2xf32>) outs(%e : tensor<3x4x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<3x4x2xf32>
  return %y : tensor<3x4x2xf32>
}
