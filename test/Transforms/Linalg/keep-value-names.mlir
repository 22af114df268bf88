// RUN: streamtensor-opt %s --st-keep-value-names --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Softmax is several operations at one location; the last one has its value.
// CHECK-LABEL: func.func @softmax
// CHECK: linalg.fill {{.*}} loc("model.py":7:0)
// CHECK: math.exp
// CHECK: } -> tensor<4x8xf32> loc("model.py":7:0)
// CHECK: arith.addf
// CHECK: } -> tensor<4xf32> loc("model.py":7:0)
// CHECK: arith.divf
// CHECK: } -> tensor<4x8xf32> loc("%softmax"("model.py":7:0))
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %r = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32> loc("%softmax"("model.py":7:0))
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32> loc("%softmax"("model.py":7:0))
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<4xf32> loc("%softmax"("model.py":7:0))
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %v = arith.divf %in, %s : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32> loc("%softmax"("model.py":7:0))
  // The front end gives the return the location of the last operator.
  return %y : tensor<4x8xf32> loc("%softmax"("model.py":7:0))
}

// Another shape of a result is the same value. A slice that a rewrite has put
// before an operation, at its location, is another one.
// CHECK-LABEL: func.func @views
// CHECK: tensor.extract_slice {{.*}} loc(fused["model.py":8:0, "%other"("model.py":9:0)])
// CHECK: } -> tensor<4xf32> loc("%neg"("model.py":8:0))
// CHECK: tensor.expand_shape {{.*}} loc("%neg"("model.py":8:0))
// CHECK: } -> tensor<4xf32> loc(fused["%neg"("model.py":8:0), "%mul"("model.py":9:0)])
func.func @views(%x: tensor<8xf32>) -> (tensor<2x2xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %s = tensor.extract_slice %x[4] [4] [1] : tensor<8xf32> to tensor<4xf32> loc(fused["%neg"("model.py":8:0), "%other"("model.py":9:0)])
  %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.negf %in : f32
    linalg.yield %v : f32
  } -> tensor<4xf32> loc("%neg"("model.py":8:0))
  %y = tensor.expand_shape %n [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32> loc("%neg"("model.py":8:0))
  // The negation is part of this one, too.
  %m = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.negf %in : f32
    %v = arith.mulf %a, %a : f32
    linalg.yield %v : f32
  } -> tensor<4xf32> loc(fused["%neg"("model.py":8:0), "%mul"("model.py":9:0)])
  return %y, %m : tensor<2x2xf32>, tensor<4xf32>
}
