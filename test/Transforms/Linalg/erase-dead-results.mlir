// RUN: streamtensor-opt %s --st-erase-dead-results | FileCheck %s

// The index half of softmax's maximum is unused.
// CHECK-LABEL: func.func @max_without_index
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK: %[[M:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[IN]], %[[OUT]] : f32
// CHECK-NEXT: linalg.yield %[[MAX]] : f32
// CHECK: return %[[M]] : tensor<4xf32>
func.func @max_without_index(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %ei = tensor.empty() : tensor<4xi64>
  %ef = tensor.empty() : tensor<4xf32>
  %fi = linalg.fill ins(%c0 : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %ff = linalg.fill ins(%low : f32) outs(%ef : tensor<4xf32>) -> tensor<4xf32>
  %m:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%ff, %fi : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %out: f32, %index: i64):
    %i = linalg.index 1 : index
    %ii = arith.index_cast %i : index to i64
    %max = arith.maximumf %in, %out : f32
    %greater = arith.cmpf ogt, %in, %out : f32
    %argmax = arith.select %greater, %ii, %index : i64
    linalg.yield %max, %argmax : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %m#0 : tensor<4xf32>
}

// An operand given twice is read once.
// CHECK-LABEL: func.func @square
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<8xf32>) outs
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.mulf %[[IN]], %[[IN]] : f32
func.func @square(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @reciprocal
// CHECK-NOT: cf.assert
// CHECK: arith.divf
func.func @reciprocal(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %ok = arith.cmpf une, %in, %zero : f32
    cf.assert %ok, "unimplemented: tensor with zero element"
    %0 = arith.divf %one, %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
