// Products over sizes that are known at run time: attention of two key heads, each for
// three query heads; `seq` new tokens, `past + seq` positions.
// RUN: streamtensor-opt %s --st-schedule-ops | FileCheck %s
// RUN: streamtensor-opt %s --st-schedule-ops --st-build-dataflow | FileCheck %s --check-prefix=ORDER

// Dimensions: key heads (2), query heads of each (3), tokens, positions, head
// size (32).
#q = affine_map<(h, g, t, p, d) -> (h, g, t, d)>
#k = affine_map<(h, g, t, p, d) -> (h, p, d)>
#s = affine_map<(h, g, t, p, d) -> (h, g, t, p)>
#pr = affine_map<(h, g, t, d, p) -> (h, g, t, p)>
#v = affine_map<(h, g, t, d, p) -> (h, p, d)>
#o = affine_map<(h, g, t, d, p) -> (h, g, t, d)>

// The columns of the scores have no known number: lanes are terms of the sum.
// Token and position stand outside, the heads inside the sum: 3 x 2 other sums
// lie between two updates of one. Both operands change with the innermost loop.
// CHECK-LABEL: func.func @attention
// CHECK: #dataflow.schedule<order = [2, 3, 4, 1, 0], tile = [1, 1, 1, 1, 16], unroll = [1, 1, 1, 1, 16]>
// ORDER-LABEL: func.func @attention
// Two tokens of 16 elements, three query heads, two key heads; both operands
// are read in the innermost loop. A score of each head leaves per position.
// ORDER: dataflow.task "scores_0"
// ORDER: %[[SEQ:.*]] = dataflow.trip_count "seq max 4"
// ORDER: %[[ALL:.*]] = dataflow.trip_count "past max 8 + seq max 4"
// ORDER: scf.for {{.*}} to %[[SEQ]] step
// ORDER-NEXT: scf.for {{.*}} to %[[ALL]] step
// ORDER: scf.for {{.*}} to %c2 step
// ORDER-NEXT: scf.for {{.*}} to %c3 step
// ORDER-NEXT: scf.for {{.*}} to %c2 step
// ORDER-NEXT: tensor.empty
// ORDER-NEXT: itensor.read
// ORDER-NEXT: tensor.empty
// ORDER-NEXT: itensor.read
// ORDER: itensor.write

// The sum of the values runs over all positions: a column of each head is
// finished with the last one.
// CHECK: #dataflow.schedule<order = [2, 4, 1, 3, 0], tile = [1, 1, 1, 16, 1], unroll = [1, 1, 1, 16, 1]>
func.func @attention(
    %q: tensor<2x3x4x32xf32> {dataflow.dims = ["", "", "seq max 4", ""]},
    %k: tensor<2x12x32xf32> {dataflow.dims = ["", "past max 8 + seq max 4", ""]},
    %v: tensor<2x12x32xf32> {dataflow.dims = ["", "past max 8 + seq max 4", ""]})
    -> (tensor<2x3x4x32xf32> {dataflow.dims = ["", "", "seq max 4", ""]})
    attributes {dataflow.parameters = {past = array<i64: 0, 8>, seq = array<i64: 1, 4>}} {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() {dataflow.dims = ["", "", "seq max 4", "past max 8 + seq"]} : tensor<2x3x4x12xf32>
  %f0 = linalg.fill {dataflow.dims = ["", "", "seq max 4", "past max 8 + seq"]} ins(%zero : f32) outs(%e0 : tensor<2x3x4x12xf32>) -> tensor<2x3x4x12xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x3x4x32xf32>, tensor<2x12x32xf32>) outs(%f0 : tensor<2x3x4x12xf32>)
      attrs = {dataflow.dims = ["", "", "seq max 4", "past max 8 + seq"], st.name = "scores"} {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %acc, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x3x4x12xf32>
  %e1 = tensor.empty() {dataflow.dims = ["", "", "seq max 4", ""]} : tensor<2x3x4x32xf32>
  %f1 = linalg.fill {dataflow.dims = ["", "", "seq max 4", ""]} ins(%zero : f32) outs(%e1 : tensor<2x3x4x32xf32>) -> tensor<2x3x4x32xf32>
  %o = linalg.generic {indexing_maps = [#pr, #v, #o],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%s, %v : tensor<2x3x4x12xf32>, tensor<2x12x32xf32>) outs(%f1 : tensor<2x3x4x32xf32>)
      attrs = {dataflow.dims = ["", "", "seq max 4", ""], st.name = "values"} {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %acc, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x3x4x32xf32>
  return %o : tensor<2x3x4x32xf32>
}

#row = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#out = affine_map<(t, n, k) -> (t, n)>

// Weights: only the rows have a size that is known at run time, which stand
// outside anyway.
// CHECK-LABEL: func.func @weights
// CHECK: #dataflow.schedule<order = [0, 2, 1], tile = [1, 16, 1], unroll = [1, 16, 1]>
func.func @weights(
    %x: tensor<4x8xf32> {dataflow.dims = ["seq max 4", ""]}, %w: tensor<32x8xf32>)
    -> (tensor<4x32xf32> {dataflow.dims = ["seq max 4", ""]})
    attributes {dataflow.parameters = {seq = array<i64: 1, 4>}} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() {dataflow.dims = ["seq max 4", ""]} : tensor<4x32xf32>
  %f = linalg.fill {dataflow.dims = ["seq max 4", ""]} ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  %0 = linalg.generic {indexing_maps = [#row, #w, #out],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<32x8xf32>) outs(%f : tensor<4x32xf32>)
      attrs = {dataflow.dims = ["seq max 4", ""]} {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %acc, %m : f32
    linalg.yield %n : f32
  } -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}
