// RUN: streamtensor-opt %s --st-drop-unit-dims --split-input-file | FileCheck %s

// A broadcast by a constant map result becomes a projected permutation.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[R:.*]]: tensor<4x1xf32>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[R]] {{\[\[}}0, 1]] : tensor<4x1xf32> into tensor<4xf32>
// CHECK: linalg.generic
// CHECK-SAME: indexing_maps = [#[[ID]], #[[ROW]], #[[ID]]]
// CHECK-SAME: ins(%[[X]], %[[C]] : tensor<4x8xf32>, tensor<4xf32>)
func.func @broadcast(%x: tensor<4x8xf32>, %r: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<4x8xf32>, tensor<4x1xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A loop with one iteration vanishes: one row of a matmul is a matvec.
// CHECK-LABEL: func.func @one_row
// CHECK-SAME: (%[[X:.*]]: tensor<1x8xf32>, %[[W:.*]]: tensor<8x6xf32>)
// CHECK: %[[V:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1]] : tensor<1x8xf32> into tensor<8xf32>
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: ins(%[[V]], %[[W]] : tensor<8xf32>, tensor<8x6xf32>) outs(%{{.*}} : tensor<6xf32>)
// CHECK: %[[R:.*]] = tensor.expand_shape %[[Y]] {{\[\[}}0, 1]] output_shape [1, 6] : tensor<6xf32> into tensor<1x6xf32>
// CHECK: return %[[R]]
func.func @one_row(%x: tensor<1x8xf32>, %w: tensor<8x6xf32>) -> tensor<1x6xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<1x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x6xf32>) -> tensor<1x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x8xf32>, tensor<8x6xf32>) outs(%f : tensor<1x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x6xf32>
  return %y : tensor<1x6xf32>
}

// -----

// A concatenation keeps its own dimension, also where a part has size one.
// CHECK-LABEL: func.func @concat
// CHECK-SAME: (%[[A:.*]]: tensor<1x2x9x1x8xf32>, %[[B:.*]]: tensor<1x2x1x1x8xf32>)
// CHECK-DAG: %[[CA:.*]] = tensor.collapse_shape %[[A]] {{\[\[}}0, 1], [2], [3, 4]] : tensor<1x2x9x1x8xf32> into tensor<2x9x8xf32>
// CHECK-DAG: %[[CB:.*]] = tensor.collapse_shape %[[B]] {{\[\[}}0, 1], [2], [3, 4]] : tensor<1x2x1x1x8xf32> into tensor<2x1x8xf32>
// CHECK: %[[C:.*]] = tensor.concat dim(1) %[[CA]], %[[CB]] : (tensor<2x9x8xf32>, tensor<2x1x8xf32>) -> tensor<2x10x8xf32>
// CHECK: tensor.expand_shape %[[C]] {{\[\[}}0, 1], [2], [3, 4]] output_shape [1, 2, 10, 1, 8]
func.func @concat(%a: tensor<1x2x9x1x8xf32>, %b: tensor<1x2x1x1x8xf32>) -> tensor<1x2x10x1x8xf32> {
  %c = tensor.concat dim(2) %a, %b : (tensor<1x2x9x1x8xf32>, tensor<1x2x1x1x8xf32>) -> tensor<1x2x10x1x8xf32>
  return %c : tensor<1x2x10x1x8xf32>
}

// -----

// A slice that drops a dimension keeps the rank, then collapses.
// CHECK-LABEL: func.func @slice
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x3x8xf32>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2], [3]] : tensor<1x4x3x8xf32> into tensor<4x3x8xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[C]][0, 2, 4] [4, 1, 4] [1, 1, 1] : tensor<4x3x8xf32> to tensor<4x1x4xf32>
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[S]] {{\[\[}}0], [1, 2]] : tensor<4x1x4xf32> into tensor<4x4xf32>
// CHECK: return %[[R]] : tensor<4x4xf32>
func.func @slice(%x: tensor<1x4x3x8xf32>) -> tensor<4x4xf32> {
  %s = tensor.extract_slice %x[0, 0, 2, 4] [1, 4, 1, 4] [1, 1, 1, 1] : tensor<1x4x3x8xf32> to tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// -----

// Only dimensions of size one: rank 0.
// CHECK-LABEL: func.func @scalar_slice
// CHECK-SAME: (%[[X:.*]]: tensor<1x5xf32>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1]] : tensor<1x5xf32> into tensor<5xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[C]][3] [1] [1] : tensor<5xf32> to tensor<1xf32>
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, 1]
func.func @scalar_slice(%x: tensor<1x5xf32>) -> tensor<1x1xf32> {
  %s = tensor.extract_slice %x[0, 3] [1, 1] [1, 1] : tensor<1x5xf32> to tensor<1x1xf32>
  return %s : tensor<1x1xf32>
}

// -----

// One window of three in five columns, and one of two in four rows: the loops over
// positions go, and with them what lies behind the first window.
// CHECK-LABEL: func.func @one_window
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[W:.*]]: tensor<2x3xf32>)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][0, 0] [2, 3] [1, 1] : tensor<4x5xf32> to tensor<2x3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[KEPT:.*]], #[[KEPT]], #{{.*}}], iterator_types = ["reduction", "reduction"]}
// CHECK-SAME: ins(%[[S]], %[[W]] : tensor<2x3xf32>, tensor<2x3xf32>)
#image = affine_map<(y, x, i, j) -> (y * 4 + i, x + j)>
#filter = affine_map<(y, x, i, j) -> (i, j)>
#out = affine_map<(y, x, i, j) -> (y, x)>
func.func @one_window(%x: tensor<4x5xf32>, %w: tensor<2x3xf32>) -> tensor<1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1xf32>) -> tensor<1x1xf32>
  %0 = linalg.generic {indexing_maps = [#image, #filter, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<4x5xf32>, tensor<2x3xf32>) outs(%f : tensor<1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
