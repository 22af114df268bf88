// RUN: streamtensor-opt %s --st-extract-windows | FileCheck %s

#image = affine_map<(f, y, x, c, i, j) -> (c, y * 2 + i, x + j * 3)>
#filter = affine_map<(f, y, x, c, i, j) -> (f, c, i, j)>
#out = affine_map<(f, y, x, c, i, j) -> (f, y, x)>

// The windows are named by the loops that the map of the image uses, in loop
// order: y x c i j.
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d0 * 2 + d3, d1 + d4 * 3)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d2, d3, d4, d5)>
// CHECK-LABEL: func.func @convolution
// CHECK: %[[W:.*]] = linalg.generic {indexing_maps = [#[[WINDOW]], #[[ALL]]]
// CHECK-SAME: ins(%arg0 : tensor<3x9x12xf32>) outs(%{{.*}} : tensor<4x6x3x3x3xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[READ]],
// CHECK-SAME: ins(%[[W]], %arg1
func.func @convolution(%x: tensor<3x9x12xf32>, %w: tensor<5x3x3x3xf32>) -> tensor<5x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4x6xf32>) -> tensor<5x4x6xf32>
  %r = linalg.generic {indexing_maps = [#image, #filter, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<3x9x12xf32>, tensor<5x3x3x3xf32>) outs(%f : tensor<5x4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<5x4x6xf32>
  return %r : tensor<5x4x6xf32>
}

// The window of a pooling has sizes, but nobody reads it: the windows of the image
// name its loops, and it goes.
// CHECK-LABEL: func.func @pooling
// CHECK: %[[W:.*]] = linalg.generic
// CHECK-SAME: ins(%arg0 : tensor<8x8xf32>) outs(%{{.*}} : tensor<4x4x2x2xf32>)
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[W]] : tensor<4x4x2x2xf32>)
func.func @pooling(%x: tensor<8x8xf32>) -> tensor<4x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %k = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(y, x, i, j) -> (y * 2 + i, x * 2 + j)>, affine_map<(y, x, i, j) -> (i, j)>, affine_map<(y, x, i, j) -> (y, x)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %k : tensor<8x8xf32>, tensor<2x2xf32>) outs(%f : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.maximumf %acc, %a : f32
    linalg.yield %m : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// Projected permutations stay as they are.
// CHECK-LABEL: func.func @product
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @product(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<3x4xf32>, tensor<4x5xf32>) outs(%f : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
