// RUN: streamtensor-opt %s --st-split-sliced-generics --split-input-file | FileCheck %s

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#nk = affine_map<(d0, d1, d2) -> (d1, d2)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// Columns 0, 1 and 2..5 of a product with a bias: rows of the weight and parts
// of the bias; the input is read whole by both.
// CHECK-LABEL: func.func @two_parts
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<6x8xf32>, %[[B:.*]]: tensor<6xf32>)
// CHECK-DAG: %[[WA:.*]] = tensor.extract_slice %[[W]][0, 0] [2, 8] [1, 1] : tensor<6x8xf32> to tensor<2x8xf32>
// CHECK-DAG: %[[WB:.*]] = tensor.extract_slice %[[W]][2, 0] [4, 8] [1, 1] : tensor<6x8xf32> to tensor<4x8xf32>
// CHECK-DAG: %[[BA:.*]] = tensor.extract_slice %[[B]][0] [2] [1] : tensor<6xf32> to tensor<2xf32>
// CHECK-DAG: %[[BB:.*]] = tensor.extract_slice %[[B]][2] [4] [1] : tensor<6xf32> to tensor<4xf32>
// CHECK-DAG: %[[PA:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[WA]] : {{.*}}) outs(%{{.*}} : tensor<4x2xf32>)
// CHECK-DAG: %[[PB:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[WB]] : {{.*}}) outs(%{{.*}} : tensor<4x4xf32>)
// CHECK-DAG: %[[YA:.*]] = linalg.generic {{.*}} ins(%[[PA]], %[[BA]] : {{.*}}) outs(%{{.*}} : tensor<4x2xf32>)
// CHECK-DAG: %[[YB:.*]] = linalg.generic {{.*}} ins(%[[PB]], %[[BB]] : {{.*}}) outs(%{{.*}} : tensor<4x4xf32>)
// CHECK: return %[[YA]], %[[YB]]
func.func @two_parts(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %bias: tensor<6xf32>) -> (tensor<4x2xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<6x8xf32>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<4x6xf32>, tensor<6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<4x6xf32>
  %a = tensor.extract_slice %y[0, 0] [4, 2] [1, 1] : tensor<4x6xf32> to tensor<4x2xf32>
  %b = tensor.extract_slice %y[0, 2] [4, 4] [1, 1] : tensor<4x6xf32> to tensor<4x4xf32>
  return %a, %b : tensor<4x2xf32>, tensor<4x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Slices 0..3 and 2..5 share two elements, which would be computed twice; and
// halves that are also read as a whole stay together.
// CHECK-LABEL: func.func @overlap
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK-LABEL: func.func @also_whole
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func @overlap(%x: tensor<6xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %a = tensor.extract_slice %y[0] [4] [1] : tensor<6xf32> to tensor<4xf32>
  %b = tensor.extract_slice %y[2] [4] [1] : tensor<6xf32> to tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

func.func @also_whole(%x: tensor<6xf32>) -> (tensor<3xf32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %a = tensor.extract_slice %y[0] [3] [1] : tensor<6xf32> to tensor<3xf32>
  return %a, %y : tensor<3xf32>, tensor<6xf32>
}

// -----

// A body that counts elements would count from 0 in each part.
// CHECK-LABEL: func.func @counts
// CHECK: linalg.index
// CHECK: tensor.extract_slice
// CHECK-NOT: linalg.generic
func.func @counts(%x: tensor<6xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %0 = arith.cmpi slt, %i, %c4 : index
    %1 = arith.select %0, %in, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<6xf32>
  %a = tensor.extract_slice %y[3] [3] [1] : tensor<6xf32> to tensor<3xf32>
  return %a : tensor<3xf32>
}
