// RUN: streamtensor-opt %s --st-reduce-booleans | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// all = minimum of 0 and 1, from 1.
// CHECK-LABEL: func.func @all
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xi1>)
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ONE]] : f32)
// CHECK: %[[MIN:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<4x8xi1>) outs(%[[FILL]] : tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i1, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[V:.*]] = arith.select %[[IN]], %[[ONE]], %[[ZERO]] : f32
// CHECK-NEXT: arith.minimumf %[[V]], %[[OUT]] : f32
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[MIN]] : tensor<4xf32>)
// CHECK: arith.cmpf une, %{{.*}}, %[[ZERO]] : f32
func.func @all(%x: tensor<4x8xi1>) -> tensor<4xi1> {
  %true = arith.constant true
  %e = tensor.empty() : tensor<4xi1>
  %f = linalg.fill ins(%true : i1) outs(%e : tensor<4xi1>) -> tensor<4xi1>
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xi1>) outs(%f : tensor<4xi1>) {
  ^bb0(%in: i1, %out: i1):
    %0 = arith.andi %in, %out : i1
    linalg.yield %0 : i1
  } -> tensor<4xi1>
  return %y : tensor<4xi1>
}

// any = maximum, from 0; the element may be computed in the body.
// CHECK-LABEL: func.func @any
// CHECK: linalg.fill ins(%{{.*}} : f32)
// CHECK: linalg.generic
// CHECK: %[[C:.*]] = arith.cmpf ogt
// CHECK-NEXT: %[[V:.*]] = arith.select %[[C]]
// CHECK-NEXT: arith.maximumf %[[V]], %{{.*}} : f32
func.func @any(%x: tensor<4x8xf32>) -> tensor<4xi1> {
  %false = arith.constant false
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4xi1>
  %f = linalg.fill ins(%false : i1) outs(%e : tensor<4xi1>) -> tensor<4xi1>
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xi1>) {
  ^bb0(%in: f32, %out: i1):
    %c = arith.cmpf ogt, %in, %zero : f32
    %0 = arith.ori %c, %out : i1
    linalg.yield %0 : i1
  } -> tensor<4xi1>
  return %y : tensor<4xi1>
}
