// RUN: streamtensor-opt %s --st-propagate-reshapes --split-input-file | FileCheck %s

// Splitting a product into 2 heads of 3 columns: the weight is seen as
// 2x3x8 and the product gets a head loop.
// CHECK-LABEL: func.func @split_heads
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<6x8xf32>)
// CHECK: %[[V:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into tensor<2x3x8xf32>
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%[[X]], %[[V]] : tensor<4x8xf32>, tensor<2x3x8xf32>)
// CHECK: return %[[Y]] : tensor<4x2x3xf32>
func.func @split_heads(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x2x3xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<6x8xf32>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x6xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  return %h : tensor<4x2x3xf32>
}

// -----

// A view that only adds a dimension of size one stays where it is.
// CHECK-LABEL: func.func @unit_dimension
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel"]
// CHECK: tensor.expand_shape
func.func @unit_dimension(%x: tensor<8xf32>) -> tensor<1x8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %r = tensor.expand_shape %y [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// -----

// Rotating halves: the concatenation is along the last dimension, the split of
// the first one moves above it and above the slices, and meets there.
// CHECK-LABEL: func.func @rotate_half
// CHECK-SAME: (%[[X:.*]]: tensor<6x8xf32>)
// CHECK: %[[V:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2]] output_shape [2, 3, 8]
// CHECK-DAG: %[[HIGH:.*]] = tensor.extract_slice %[[V]][0, 0, 4] [2, 3, 4] [1, 1, 1] : tensor<2x3x8xf32> to tensor<2x3x4xf32>
// CHECK-DAG: %[[LOW:.*]] = tensor.extract_slice %[[V]][0, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<2x3x8xf32> to tensor<2x3x4xf32>
// CHECK: %[[C:.*]] = tensor.concat dim(2) %[[HIGH]], %[[LOW]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
// CHECK: return %[[C]]
func.func @rotate_half(%x: tensor<6x8xf32>) -> tensor<2x3x8xf32> {
  %high = tensor.extract_slice %x[0, 4] [6, 4] [1, 1] : tensor<6x8xf32> to tensor<6x4xf32>
  %low = tensor.extract_slice %x[0, 0] [6, 4] [1, 1] : tensor<6x8xf32> to tensor<6x4xf32>
  %c = tensor.concat dim(1) %high, %low : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %r = tensor.expand_shape %c [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

// -----

// Splitting the dimension that is concatenated, or cut, is no view of the parts.
// CHECK-LABEL: func.func @split_of_the_cut_dimension
// CHECK: tensor.concat dim(0)
// CHECK: tensor.expand_shape
// CHECK: tensor.extract_slice
// CHECK: tensor.expand_shape
func.func @split_of_the_cut_dimension(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x2xf32>) {
  %c = tensor.concat dim(0) %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %r = tensor.expand_shape %c [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  %s = tensor.extract_slice %c[1] [4] [1] : tensor<6xf32> to tensor<4xf32>
  %t = tensor.expand_shape %s [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %r, %t : tensor<2x3xf32>, tensor<2x2xf32>
}

// -----

// Counting elements in the old dimension: position 3 d0 + d1.
// CHECK-LABEL: func.func @count
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-DAG: %[[I:.*]] = linalg.index 0 : index
// CHECK-DAG: %[[J:.*]] = linalg.index 1 : index
// CHECK-DAG: arith.muli %[[I]]
// CHECK: arith.addi
// CHECK-NOT: affine.apply
func.func @count() -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%e : tensor<6xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %0 = arith.index_cast %i : index to i64
    %1 = arith.sitofp %0 : i64 to f32
    linalg.yield %1 : f32
  } -> tensor<6xf32>
  %r = tensor.expand_shape %y [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
