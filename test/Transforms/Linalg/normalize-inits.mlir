// RUN: streamtensor-opt %s --st-normalize-inits | FileCheck %s

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A matmul into a tensor: 0 is neutral for the sum, the tensor is added after.
// CHECK-LABEL: func.func @matmul_into_tensor
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x6xf32>, %[[B:.*]]: tensor<4x6xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[P:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]], %[[W]] : {{.*}}) outs(%[[FILL]] : tensor<4x6xf32>)
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: ins(%[[P]], %[[B]] : tensor<4x6xf32>, tensor<4x6xf32>)
// CHECK: arith.addf
// CHECK: return %[[Y]]
func.func @matmul_into_tensor(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%b : tensor<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -inf (0xFF800000) is neutral for the maximum.
// CHECK-LABEL: func.func @max_into_tensor
// CHECK: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[LOW]] : f32)
// CHECK: linalg.generic
// CHECK: arith.maximumf
// CHECK: linalg.generic
// CHECK: arith.maximumf
func.func @max_into_tensor(%x: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A splat constant is a fill, of any value.
// CHECK-LABEL: func.func @sum_from_splat
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[TWO]] : f32)
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[FILL]] : tensor<4xf32>)
// CHECK-NOT: linalg.generic
func.func @sum_from_splat(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %b = arith.constant dense<2.000000e+00> : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Without a reduction the start value is an input, a scalar, or nothing.
// CHECK-LABEL: func.func @parallel_reads_init
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4x8xf32>)
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[B]] : tensor<4x8xf32>, tensor<4x8xf32>) outs(%[[E]] : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OLD:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.addf %[[IN]], %[[OLD]] : f32
func.func @parallel_reads_init(%x: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @parallel_reads_fill
// CHECK: %[[THREE:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[E]] : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.addf %[[IN]], %[[THREE]] : f32
func.func @parallel_reads_fill(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %three = arith.constant 3.000000e+00 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%three : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @parallel_ignores_init
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<4x8xf32>) outs(%[[E]] : tensor<4x8xf32>)
func.func @parallel_ignores_init(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
