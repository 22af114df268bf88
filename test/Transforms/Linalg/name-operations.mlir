// RUN: streamtensor-opt %s --st-name-operations | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @products
// CHECK: st.name = "matmul"
// CHECK: st.name = "matvec"
// CHECK: st.name = "batch_matmul"
func.func @products(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %v: tensor<8xf32>, %a: tensor<2x4x8xf32>, %b: tensor<2x6x8xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<2x4x6xf32>) {
  %zero = arith.constant 0.000000e+00 : f32
  %e0 = tensor.empty() : tensor<4x6xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<6x8xf32>) outs(%f0 : tensor<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  %e1 = tensor.empty() : tensor<6xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6xf32>) -> tensor<6xf32>
  %1 = linalg.generic {indexing_maps = [#col, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%v, %w : tensor<8xf32>, tensor<6x8xf32>) outs(%f1 : tensor<6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  %e2 = tensor.empty() : tensor<2x4x6xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x4x8xf32>, tensor<2x6x8xf32>) outs(%f2 : tensor<2x4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x4x6xf32>
  return %0, %1, %2 : tensor<4x6xf32>, tensor<6xf32>, tensor<2x4x6xf32>
}

// CHECK-LABEL: func.func @reductions
// CHECK: st.name = "max"
// CHECK: st.name = "square_sum"
func.func @reductions(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.000000e+00 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f0 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f1 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = arith.mulf %in, %in : f32
    %s = arith.addf %p, %out : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @elementwise
// CHECK: st.name = "transpose"
// CHECK: st.name = "sigmoid_mul"
// CHECK: st.name = "add"
func.func @elementwise(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %one = arith.constant 1.000000e+00 : f32
  %et = tensor.empty() : tensor<8x4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#tr, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%et : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    %x0 = math.exp %n : f32
    %d = arith.addf %x0, %one : f32
    %s = arith.divf %one, %d : f32
    %y = arith.mulf %in, %s : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = arith.addf %in, %one : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  return %0, %1, %2 : tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
