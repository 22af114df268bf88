// RUN: streamtensor-opt %s --st-normalize --split-input-file --mlir-print-local-scope | FileCheck %s

// RMSNorm as torch-mlir writes it: the square is summed where it is computed,
// the scalar chain of a row is one generic, the scaling another. The last unit
// dimension of the row tensors is gone.
// CHECK-LABEL: func.func @rms_norm
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<8xf32>)
// CHECK: %[[S:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) attrs = {st.name = "square_sum"}
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: ins(%[[S]] : tensor<4xf32>) outs(%{{.*}} : tensor<4xf32>) attrs = {st.name = "rsqrt"}
// CHECK: arith.divf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: math.rsqrt
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK-SAME: indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME: ins(%[[G]], %[[X]], %[[R]] : tensor<8xf32>, tensor<4x8xf32>, tensor<4xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @rms_norm(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %c2 = arith.constant 2 : i64
  %zero = arith.constant 0.000000e+00 : f32
  %n = arith.constant 8.000000e+00 : f32
  %eps = arith.constant 1.000000e-05 : f64
  %e = tensor.empty() : tensor<4x8xf32>
  %er = tensor.empty() : tensor<4x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<4x1xf32>) -> tensor<4x1xf32>
  %square = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.fpowi %in, %c2 : f32, i64
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%square : tensor<4x8xf32>) outs(%f : tensor<4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4x1xf32>
  %mean = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<4x1xf32>) outs(%er : tensor<4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    linalg.yield %0 : f32
  } -> tensor<4x1xf32>
  %shifted = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%mean : tensor<4x1xf32>) outs(%er : tensor<4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.truncf %eps : f64 to f32
    %1 = arith.addf %in, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x1xf32>
  %root = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%shifted : tensor<4x1xf32>) outs(%er : tensor<4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.rsqrt %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x1xf32>
  %scaled = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %root : tensor<4x8xf32>, tensor<4x1xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#col, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%g, %scaled : tensor<8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A query projection of 5 rows, split into 2 x 3 heads of 4 columns and
// transposed, against keys that 3 heads share: the product has a loop for the
// group and one for the head in it and reads the projection row by row; neither
// transpose, nor the repeated keys, nor a reshape of computed values is left.
// CHECK-LABEL: func.func @grouped_scores
// CHECK-SAME: (%[[X:.*]]: tensor<1x5x8xf32>, %[[W:.*]]: tensor<24x8xf32>, %[[K:.*]]: tensor<1x2x7x4xf32>)
// CHECK-DAG: %[[XC:.*]] = tensor.collapse_shape %[[X]]
// CHECK-DAG: %[[WE:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1, 2], [3]] output_shape [2, 3, 4, 8]
// CHECK: %[[Q:.*]] = linalg.generic
// CHECK-SAME: ins(%[[XC]], %[[WE]] : tensor<5x8xf32>, tensor<2x3x4x8xf32>)
// CHECK-SAME: st.name = "matmul"
// CHECK: %[[KC:.*]] = tensor.collapse_shape %[[K]] {{.*}} into tensor<2x7x4xf32>
// CHECK: %[[S:.*]] = linalg.generic
// CHECK-SAME: indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d2, d0, d1, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>]
// CHECK-SAME: ins(%[[Q]], %[[KC]] : tensor<5x2x3x4xf32>, tensor<2x7x4xf32>) outs(%{{.*}} : tensor<2x3x5x7xf32>)
// CHECK-SAME: st.name = "batch_matmul"
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @grouped_scores(%x: tensor<1x5x8xf32>, %w: tensor<24x8xf32>, %k: tensor<1x2x7x4xf32>) -> tensor<1x6x5x7xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %x2 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x5x8xf32> into tensor<5x8xf32>
  %ew = tensor.empty() : tensor<8x24xf32>
  %wt = linalg.transpose ins(%w : tensor<24x8xf32>) outs(%ew : tensor<8x24xf32>) permutation = [1, 0]
  %ep = tensor.empty() : tensor<5x24xf32>
  %fp = linalg.fill ins(%zero : f32) outs(%ep : tensor<5x24xf32>) -> tensor<5x24xf32>
  %p = linalg.matmul ins(%x2, %wt : tensor<5x8xf32>, tensor<8x24xf32>) outs(%fp : tensor<5x24xf32>) -> tensor<5x24xf32>
  %heads = tensor.expand_shape %p [[0, 1], [2, 3]] output_shape [1, 5, 6, 4] : tensor<5x24xf32> into tensor<1x5x6x4xf32>
  %eq = tensor.empty() : tensor<1x6x5x4xf32>
  %q = linalg.transpose ins(%heads : tensor<1x5x6x4xf32>) outs(%eq : tensor<1x6x5x4xf32>) permutation = [0, 2, 1, 3]
  %er = tensor.empty() : tensor<1x2x3x7x4xf32>
  %repeated = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<1x2x7x4xf32>) outs(%er : tensor<1x2x3x7x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2x3x7x4xf32>
  %keys = tensor.collapse_shape %repeated [[0, 1, 2], [3], [4]] : tensor<1x2x3x7x4xf32> into tensor<6x7x4xf32>
  %ek = tensor.empty() : tensor<6x4x7xf32>
  %kt = linalg.transpose ins(%keys : tensor<6x7x4xf32>) outs(%ek : tensor<6x4x7xf32>) permutation = [0, 2, 1]
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<1x6x5x4xf32> into tensor<6x5x4xf32>
  %es = tensor.empty() : tensor<6x5x7xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %s = linalg.batch_matmul ins(%q3, %kt : tensor<6x5x4xf32>, tensor<6x4x7xf32>) outs(%fs : tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %r = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [1, 6, 5, 7] : tensor<6x5x7xf32> into tensor<1x6x5x7xf32>
  return %r : tensor<1x6x5x7xf32>
}

// -----

// Every trip count is 1: rank 0, and the start value 0 is a scalar of the body.
// CHECK-LABEL: func.func @one_by_one
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = []
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: tensor.expand_shape %{{.*}} [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
func.func @one_by_one(%x: tensor<1x1xf32>, %w: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<1x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1xf32>) -> tensor<1x1xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x1xf32>, tensor<1x1xf32>) outs(%f : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
