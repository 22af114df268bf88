// RUN: streamtensor-opt %s --st-order-loops --split-input-file | FileCheck %s

// Result (d2, d0): loop d2 becomes the first, d0 the second, the reduction d1
// the last. x(d0, d1) is then (d1, d2), w(d1, d2) is (d2, d0).
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @transposed_product
// CHECK: linalg.generic
// CHECK-SAME: indexing_maps = [#[[X]], #[[W]], #[[Y]]]
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
func.func @transposed_product(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<6x4xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<6x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x4xf32>) -> tensor<6x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d0)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<6x4xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// -----

// The loop that `linalg.index` names moves with the others.
// CHECK-LABEL: func.func @index
// CHECK: linalg.generic
// CHECK: linalg.index 1 : index
func.func @index(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<8x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 0 : index
    %0 = arith.cmpi slt, %row, %c2 : index
    %1 = arith.select %0, %in, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @in_order
// CHECK: iterator_types = ["parallel", "reduction"]
func.func @in_order(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Indices of three loops in another order stay indices: nothing is computed.
// CHECK-LABEL: func.func @three_indices
// CHECK: linalg.generic
// CHECK-NOT: affine.apply
// CHECK-DAG: linalg.index 0
// CHECK-DAG: linalg.index 1
// CHECK-NOT: affine.apply
// CHECK: return
func.func @three_indices(%x: tensor<7x3x5xf32>) -> tensor<5x3x7xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<5x3x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d1, d0)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<7x3x5xf32>) outs(%e : tensor<5x3x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 1 : index
    %column = linalg.index 2 : index
    %0 = arith.cmpi sle, %column, %row : index
    %1 = arith.select %0, %in, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<5x3x7xf32>
  return %y : tensor<5x3x7xf32>
}
