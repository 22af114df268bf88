// Products of numbers that are quantized in groups: integers are summed within a
// group, then the sums are scaled and summed over the groups.
// RUN: streamtensor-opt %s --st-schedule-ops | FileCheck %s

#x = affine_map<(t, n, g, h, j) -> (t, g, h, j)>
#w = affine_map<(t, n, g, h, j) -> (n, g, j)>
#dot = affine_map<(t, n, g, h, j) -> (t, n, g)>
#groups = affine_map<(t, n, g) -> (t, n, g)>
#scales = affine_map<(t, n, g) -> (n, g)>
#y = affine_map<(t, n, g) -> (t, n)>
#id = affine_map<(t, g, h, j) -> (t, g, h, j)>

// The first product finishes 64 columns before it begins with the next ones: 64
// bytes are a token of 512 bits, both halves of a byte are multiplied at once.
// It has a token every 16 cycles, so 4 of its 64 lanes are summed in a cycle.
// The second product takes the groups as they come and keeps all of its sums.
// CHECK-LABEL: func.func @chain
// CHECK: #dataflow.schedule<order = [0, 1, 2, 4, 3], tile = [1, 64, 1, 2, 1], unroll = [1, 64, 1, 2, 1]>
// CHECK: #dataflow.schedule<order = [1, 2, 0], tile = [1, 64, 1], unroll = [1, 4, 1]>
// CHECK: #dataflow.schedule<order = [0, 2, 1, 4, 3], tile = [1, 64, 1, 2, 1], unroll = [1, 64, 1, 2, 1]>
// CHECK: #dataflow.schedule<order = [2, 1, 0], tile = [1, 64, 1], unroll = [1, 4, 1]>
func.func @chain(%x: tensor<1x4x2x16xi8>, %w1: tensor<128x4x16xi8>, %s1: tensor<128x4xf32>,
    %w2: tensor<192x4x16xi8>, %s2: tensor<192x4xf32>) -> tensor<1x192xf32> {
  %zero = arith.constant 0 : i32
  %fzero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %c4 = arith.constant 4 : i8
  %e1 = tensor.empty() : tensor<1x128x4xi32>
  %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<1x128x4xi32>) -> tensor<1x128x4xi32>
  %d1 = linalg.generic {indexing_maps = [#x, #w, #dot], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w1 : tensor<1x4x2x16xi8>, tensor<128x4x16xi8>) outs(%f1 : tensor<1x128x4xi32>) {
  ^bb0(%a: i8, %b: i8, %out: i32):
    %half = linalg.index 3 : index
    %is_low = arith.cmpi eq, %half, %first : index
    %shifted = arith.shrsi %b, %c4 : i8
    %part = arith.select %is_low, %b, %shifted : i8
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %part : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %2, %out : i32
    linalg.yield %3 : i32
  } -> tensor<1x128x4xi32>
  %e2 = tensor.empty() : tensor<1x128xf32>
  %f2 = linalg.fill ins(%fzero : f32) outs(%e2 : tensor<1x128xf32>) -> tensor<1x128xf32>
  %y1 = linalg.generic {indexing_maps = [#groups, #scales, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d1, %s1 : tensor<1x128x4xi32>, tensor<128x4xf32>) outs(%f2 : tensor<1x128xf32>) {
  ^bb0(%a: i32, %b: f32, %out: f32):
    %0 = arith.sitofp %a : i32 to f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<1x128xf32>
  %g = tensor.expand_shape %y1 [[0], [1, 2, 3]] output_shape [1, 4, 2, 16] : tensor<1x128xf32> into tensor<1x4x2x16xf32>
  %e3 = tensor.empty() : tensor<1x4x2x16xi8>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%g : tensor<1x4x2x16xf32>) outs(%e3 : tensor<1x4x2x16xi8>) {
  ^bb0(%a: f32, %out: i8):
    %0 = arith.fptosi %a : f32 to i8
    linalg.yield %0 : i8
  } -> tensor<1x4x2x16xi8>
  %e4 = tensor.empty() : tensor<1x192x4xi32>
  %f4 = linalg.fill ins(%zero : i32) outs(%e4 : tensor<1x192x4xi32>) -> tensor<1x192x4xi32>
  %d2 = linalg.generic {indexing_maps = [#x, #w, #dot], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%q, %w2 : tensor<1x4x2x16xi8>, tensor<192x4x16xi8>) outs(%f4 : tensor<1x192x4xi32>) {
  ^bb0(%a: i8, %b: i8, %out: i32):
    %half = linalg.index 3 : index
    %is_low = arith.cmpi eq, %half, %first : index
    %shifted = arith.shrsi %b, %c4 : i8
    %part = arith.select %is_low, %b, %shifted : i8
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %part : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %2, %out : i32
    linalg.yield %3 : i32
  } -> tensor<1x192x4xi32>
  %e5 = tensor.empty() : tensor<1x192xf32>
  %f5 = linalg.fill ins(%fzero : f32) outs(%e5 : tensor<1x192xf32>) -> tensor<1x192xf32>
  %y2 = linalg.generic {indexing_maps = [#groups, #scales, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d2, %s2 : tensor<1x192x4xi32>, tensor<192x4xf32>) outs(%f5 : tensor<1x192xf32>) {
  ^bb0(%a: i32, %b: f32, %out: f32):
    %0 = arith.sitofp %a : i32 to f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<1x192xf32>
  return %y2 : tensor<1x192xf32>
}
