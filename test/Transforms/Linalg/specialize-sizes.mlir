// Sizes of dynamic dimensions, and all that folds when they are known.
// RUN: streamtensor-opt %s --split-input-file --st-specialize-sizes=values=seq=8,past=3 | FileCheck %s

// What torch-mlir writes for a view of heads: a reshape to a computed shape.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: (%[[X:.*]]: tensor<1x8x6xf32>) -> tensor<1x8x2x3xf32>
// CHECK-NEXT: %[[Y:.*]] = tensor.expand_shape %[[X]] {{\[}}[0], [1], [2, 3]] output_shape [1, 8, 2, 3]
// CHECK-NEXT: return %[[Y]]
func.func @heads(%x: tensor<1x?x6xf32> {dataflow.dims = ["", "seq max 128", ""]}) -> tensor<1x?x2x3xf32> {
  %c1 = arith.constant 1 : index
  %c1_i64 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c0 = arith.constant 0 : i64
  %n = tensor.dim %x, %c1 : tensor<1x?x6xf32>
  %i = arith.index_cast %n : index to i64
  %ok = arith.cmpi sge, %i, %c0 : i64
  cf.assert %ok, "negative size"
  %shape = tensor.from_elements %c1_i64, %i, %c2, %c3 : tensor<4xi64>
  %y = tensor.reshape %x(%shape) : (tensor<1x?x6xf32>, tensor<4xi64>) -> tensor<1x?x2x3xf32>
  return %y : tensor<1x?x2x3xf32>
}

// -----

// A dimension that may have one element is read by index; here it has more.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[ROW]] : tensor<8xf32>)
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @broadcast(%x: tensor<1x?xf32> {dataflow.dims = ["", "seq max 128"]}) -> tensor<4x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<1x?xf32>
  %single = arith.cmpi eq, %n, %c1 : index
  %init = tensor.empty(%n) : tensor<4x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%init : tensor<4x?xf32>) {
  ^bb0(%out: f32):
    %j = linalg.index 1 : index
    %at = arith.select %single, %c0, %j : index
    %e = tensor.extract %x[%c0, %at] : tensor<1x?xf32>
    linalg.yield %e : f32
  } -> tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// -----

// CHECK-LABEL: func.func @append
// CHECK-SAME: (%[[A:.*]]: tensor<3x4xf32>, %[[B:.*]]: tensor<8x4xf32>) -> tensor<11x4xf32>
// CHECK-NEXT: %[[Y:.*]] = tensor.concat dim(0) %[[A]], %[[B]] : (tensor<3x4xf32>, tensor<8x4xf32>) -> tensor<11x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @append(%a: tensor<?x4xf32> {dataflow.dims = ["past max 256", ""]}, %b: tensor<?x4xf32> {dataflow.dims = ["seq max 128", ""]}) -> tensor<?x4xf32> {
  %y = tensor.concat dim(0) %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
