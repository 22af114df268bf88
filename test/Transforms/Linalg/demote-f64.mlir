// RUN: streamtensor-opt %s --st-demote-f64 --split-input-file --verify-diagnostics | FileCheck %s

// 1e-05 in f64 is not an f32; the nearest one prints as 9.99999974E-6.
// CHECK-LABEL: func.func @scalars
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-DAG: %[[EPS:.*]] = arith.constant 9.99999974E-6 : f32
// CHECK: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[IN]], %[[EPS]] : f32
// CHECK-NEXT: linalg.yield %[[SUM]] : f32
// CHECK-NOT: f64
// expected-remark @below {{computes 1 operations in f32 that the model has in f64}}
func.func @scalars(%x: tensor<4xf32>) -> tensor<4xf32> {
  %eps = arith.constant 1.000000e-05 : f64
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.extf %in : f32 to f64
    %1 = arith.addf %0, %eps : f64
    %2 = arith.truncf %1 : f64 to f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// 0.1 in f64 rounds up to the f32 0.100000001; a splat and a list alike.
// CHECK-LABEL: func.func @tensors
// CHECK: arith.constant dense<1.000000e-01> : tensor<2xf32>
// CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: linalg.add ins(%{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xf32>) outs(%{{.*}} : tensor<2xf32>)
// CHECK-NOT: f64
// expected-remark @below {{computes 2 operations in f32 that the model has in f64}}
func.func @tensors() -> tensor<2xf32> {
  %a = arith.constant dense<1.000000e-01> : tensor<2xf64>
  %b = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>
  %e = tensor.empty() : tensor<2xf64>
  %s = linalg.add ins(%a, %b : tensor<2xf64>, tensor<2xf64>) outs(%e : tensor<2xf64>) -> tensor<2xf64>
  %r = tensor.empty() : tensor<2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<2xf64>) outs(%r : tensor<2xf32>) {
  ^bb0(%in: f64, %out: f32):
    %0 = arith.truncf %in : f64 to f32
    linalg.yield %0 : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A function without f64 stays as it is, without a remark.
// CHECK-LABEL: func.func @nothing
// CHECK: arith.constant 2 : i64
func.func @nothing(%x: tensor<4xf32>) -> (tensor<4xf32>, i64) {
  %c = arith.constant 2 : i64
  return %x, %c : tensor<4xf32>, i64
}
