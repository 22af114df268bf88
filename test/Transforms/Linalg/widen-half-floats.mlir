// RUN: streamtensor-opt %s --st-widen-half-floats --canonicalize | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Each operation is computed in f32 and rounded by itself; values that are only
// moved, and comparisons, are not rounded. Constants of f32 take the place of
// those of bf16: 0.1 as a bf16 is 0.100097656 = 205 / 2048.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xbf16>)
// CHECK-DAG: %[[TENTH:.*]] = arith.constant 0.100097656 : f32
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[IN:.*]]: bf16, %{{.*}}: bf16):
// CHECK-NEXT: %[[A:.*]] = arith.extf %[[IN]] : bf16 to f32
// CHECK-NEXT: %[[EXP:.*]] = math.exp %[[A]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[EXP]] : f32 to bf16
// CHECK-NEXT: %[[B:.*]] = arith.extf %[[R]] : bf16 to f32
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[B]], %[[TENTH]] : f32
// CHECK-NEXT: %[[S:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK: %[[C:.*]] = arith.cmpf ogt, %{{.*}}, %[[TENTH]] : f32
// CHECK-NEXT: %[[RESULT:.*]] = arith.select %[[C]], %[[S]], %[[IN]] : bf16
// CHECK-NEXT: linalg.yield %[[RESULT]] : bf16
func.func @elementwise(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %tenth = arith.constant 1.000980e-01 : bf16
  %e = tensor.empty() : tensor<4x8xbf16>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xbf16>) outs(%e : tensor<4x8xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %0 = math.exp %in : bf16
    %1 = arith.addf %0, %tenth : bf16
    %2 = arith.cmpf ogt, %in, %tenth : bf16
    %3 = arith.select %2, %1, %in : bf16
    linalg.yield %3 : bf16
  } -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// The sum runs in f32 and is rounded once.
// CHECK-LABEL: func.func @sum
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[WIDE:.*]] = linalg.generic
// CHECK-SAME: outs(%[[FILL]] : tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f16, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[A:.*]] = arith.extf %[[IN]] : f16 to f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[OUT]] : f32
// CHECK-NEXT: linalg.yield %[[S]] : f32
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[WIDE]] : tensor<4xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @sum(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  %zero = arith.constant 0.000000e+00 : f16
  %e = tensor.empty() : tensor<4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<4xf16>) -> tensor<4xf16>
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf16>) outs(%f : tensor<4xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = arith.addf %in, %out : f16
    linalg.yield %0 : f16
  } -> tensor<4xf16>
  return %y : tensor<4xf16>
}
