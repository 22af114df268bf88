// RUN: streamtensor-opt %s --st-materialize-results --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @argument
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<4x8xf32>)
// CHECK: return %[[Y]] : tensor<4x8xf32>
func.func @argument(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

// -----

// A view of an argument is an argument; the copy has no unit dimension.
// CHECK-LABEL: func.func @view
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[S]] {{\[\[}}0, 1]] : tensor<1x8xf32> into tensor<8xf32>
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK-SAME: ins(%[[C]] : tensor<8xf32>)
// CHECK: %[[R:.*]] = tensor.expand_shape %[[Y]] {{\[\[}}0, 1]] output_shape [1, 8]
// CHECK: return %[[R]] : tensor<1x8xf32>
func.func @view(%x: tensor<4x8xf32>) -> tensor<1x8xf32> {
  %s = tensor.extract_slice %x[2, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
  return %s : tensor<1x8xf32>
}

// -----

// CHECK-LABEL: func.func @twice
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: %[[C:.*]] = linalg.generic
// CHECK-SAME: ins(%[[Y]] : tensor<8xf32>)
// CHECK: return %[[Y]], %[[C]]
func.func @twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y, %y : tensor<8xf32>, tensor<8xf32>
}

// -----

// Another shape of a result is the same result.
// CHECK-LABEL: func.func @two_shapes
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: %[[V:.*]] = tensor.expand_shape %[[Y]]
// CHECK: %[[C:.*]] = linalg.generic
// CHECK-SAME: ins(%[[V]] : tensor<2x4xf32>)
// CHECK: return %[[Y]], %[[C]]
func.func @two_shapes(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  return %y, %v : tensor<8xf32>, tensor<2x4xf32>
}

// -----

// A fill that is concatenated is data: a generic without inputs. The one that a
// sum starts from stays.
// CHECK-LABEL: func.func @zeros_as_data
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: %[[Z:.*]] = linalg.generic
// CHECK-SAME: outs(
// CHECK: linalg.yield
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[F]] : tensor<4xf32>)
// CHECK: tensor.concat dim(0) %{{.*}}, %[[Z]]
func.func @zeros_as_data(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %c = tensor.concat dim(0) %y, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

// A constant result: the splat yields its scalar, the list is copied.
// CHECK-LABEL: func.func @constants
// CHECK-NOT: dense<3.000000e+00>
// CHECK: %[[THREE:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: linalg.generic
// CHECK: linalg.yield %[[THREE]] : f32
// CHECK: %[[LIST:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[LIST]] : tensor<2xf32>)
func.func @constants() -> (tensor<2xf32>, tensor<2xf32>) {
  %s = arith.constant dense<3.000000e+00> : tensor<2xf32>
  %l = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  return %s, %l : tensor<2xf32>, tensor<2xf32>
}
