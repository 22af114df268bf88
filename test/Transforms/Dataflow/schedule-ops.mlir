// RUN: streamtensor-opt %s --st-schedule-ops | FileCheck %s
// RUN: streamtensor-opt %s --st-schedule-ops="max-lanes=4 max-rows=2" | FileCheck %s --check-prefix=SMALL
// RUN: streamtensor-opt %s --st-schedule-ops="max-accumulator-bytes=512" | FileCheck %s --check-prefix=FITS
// RUN: streamtensor-opt %s --st-schedule-ops="max-accumulator-bytes=511" | FileCheck %s --check-prefix=ROWS
// RUN: streamtensor-opt %s --st-schedule-ops="max-accumulator-bytes=64" | FileCheck %s --check-prefix=COLUMNS
// RUN: streamtensor-opt %s --st-schedule-ops="max-accumulator-bytes=11" | FileCheck %s --check-prefix=LANES
// RUN: streamtensor-opt %s --st-schedule-ops="max-accumulator-bytes=3" | FileCheck %s --check-prefix=LEAST

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#transpose = affine_map<(i, j) -> (j, i)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// k outside, the columns inside; 32 columns take 16 lanes, all 4 rows share a
// weight.
// CHECK-LABEL: func.func @matmul
// CHECK: #dataflow.schedule<order = [0, 2, 1], tile = [4, 16, 1], unroll = [1, 16, 1]>
// SMALL-LABEL: func.func @matmul
// SMALL: #dataflow.schedule<order = [0, 2, 1], tile = [2, 4, 1], unroll = [1, 4, 1]>
// The accumulator is 2 tiles of 4 x 16 floats, 512 bytes. Half of the rows: 256.
// FITS-LABEL: func.func @matmul
// FITS-NOT: schedule_reason
// FITS-LABEL: func.func @elementwise
// ROWS-LABEL: func.func @matmul
// ROWS: #dataflow.schedule<order = [0, 2, 1], tile = [2, 16, 1], unroll = [1, 16, 1]>
// ROWS-SAME: dataflow.schedule_reason = "an accumulator of 512 bytes exceeds the limit of 511: tile of dimension 0 4 -> 2, now 256 bytes"
// One row of 2 tiles takes 128 bytes; one tile, when the columns go outside, 64.
// COLUMNS-LABEL: func.func @matmul
// COLUMNS: #dataflow.schedule<order = [0, 1, 2], tile = [1, 16, 1], unroll = [1, 16, 1]>
// COLUMNS-SAME: dataflow.schedule_reason = "an accumulator of 512 bytes exceeds the limit of 64: tile of dimension 0 4 -> 1, loop order 0 2 1 -> 0 1 2, now 64 bytes"
// Two floats are the most that 11 bytes hold.
// LANES-LABEL: func.func @matmul
// LANES: #dataflow.schedule<order = [0, 1, 2], tile = [1, 2, 1], unroll = [1, 2, 1]>
// LANES-SAME: now 8 bytes"
// LEAST-LABEL: func.func @matmul
// LEAST: #dataflow.schedule<order = [0, 1, 2], tile = [1, 1, 1], unroll = [1, 1, 1]>
// LEAST-SAME: now 4 bytes"
func.func @matmul(%a: tensor<4x6xf32>, %b: tensor<6x32xf32>) -> tensor<4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x6xf32>, tensor<6x32xf32>) outs(%f : tensor<4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}

// 4 is the largest power of two that divides 20.
// CHECK-LABEL: func.func @elementwise
// CHECK: #dataflow.schedule<order = [0, 1], tile = [1, 4], unroll = [1, 4]>
func.func @elementwise(%a: tensor<3x20xf32>) -> tensor<3x20xf32> {
  %e = tensor.empty() : tensor<3x20xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<3x20xf32>) outs(%e : tensor<3x20xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = math.exp %x : f32
    linalg.yield %p : f32
  } -> tensor<3x20xf32>
  return %0 : tensor<3x20xf32>
}

// A sum over rows walks its input in memory order.
// CHECK-LABEL: func.func @sum
// CHECK: #dataflow.schedule<order = [0, 1],
func.func @sum(%a: tensor<3x64xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<3x64xf32>) outs(%f : tensor<3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.addf %acc, %x : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// What somebody wrote is kept.
// CHECK-LABEL: func.func @written
// CHECK: #dataflow.schedule<order = [1, 0], tile = [1, 2], unroll = [1, 1]>
func.func @written(%a: tensor<3x20xf32>) -> tensor<3x20xf32> {
  %e = tensor.empty() : tensor<3x20xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<3x20xf32>) outs(%e : tensor<3x20xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [1, 0], tile = [1, 2], unroll = [1, 1]>} {
  ^bb0(%x: f32, %o: f32):
    %p = math.exp %x : f32
    linalg.yield %p : f32
  } -> tensor<3x20xf32>
  return %0 : tensor<3x20xf32>
}

// A transposition of what another task writes follows it: no converter.
// CHECK-LABEL: func.func @transposed
// CHECK: math.exp
// CHECK: #dataflow.schedule<order = [1, 0], tile = [16, 1], unroll = [16, 1]>
func.func @transposed(%a: tensor<4x16xf32>) -> tensor<16x4xf32> {
  %e = tensor.empty() : tensor<4x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = math.exp %x : f32
    linalg.yield %p : f32
  } -> tensor<4x16xf32>
  %f = tensor.empty() : tensor<16x4xf32>
  %1 = linalg.generic {indexing_maps = [#transpose, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x16xf32>) outs(%f : tensor<16x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = math.sqrt %x : f32
    linalg.yield %p : f32
  } -> tensor<16x4xf32>
  return %1 : tensor<16x4xf32>
}

// Attention scores of 3 heads (h, m, n, k) from queries that come row by row: 16
// rows of all heads at a time, so that the converter holds 16 rows of the 64. The
// row maxima follow, with two loops over the rows.
#q = affine_map<(h, m, n, k) -> (m, h, k)>
#k = affine_map<(h, m, n, k) -> (h, n, k)>
#s = affine_map<(h, m, n, k) -> (h, m, n)>
#hmn = affine_map<(h, m, n) -> (h, m, n)>
#hm = affine_map<(h, m, n) -> (h, m)>
#mhk = affine_map<(m, h, k) -> (m, h, k)>
// CHECK-LABEL: func.func @scores
// CHECK: math.exp
// CHECK: #dataflow.schedule<order = [1, 0, 3, 2], tile = [1, 16, 16, 1], unroll = [1, 1, 16, 1]>
// CHECK: #dataflow.schedule<order = [1, 0, 1, 2], steps = [16, 1, 1, 16], tile = [1, 1, 16], unroll = [1, 1, 16]>
func.func @scores(%a: tensor<64x3x8xf32>, %b: tensor<3x48x8xf32>) -> tensor<3x64xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64x3x8xf32>
  %0 = linalg.generic {indexing_maps = [#mhk, #mhk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<64x3x8xf32>) outs(%e : tensor<64x3x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = math.exp %x : f32
    linalg.yield %p : f32
  } -> tensor<64x3x8xf32>
  %f = tensor.empty() : tensor<3x64x48xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<3x64x48xf32>) -> tensor<3x64x48xf32>
  %1 = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%0, %b : tensor<64x3x8xf32>, tensor<3x48x8xf32>) outs(%g : tensor<3x64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x64x48xf32>
  %h = tensor.empty() : tensor<3x64xf32>
  %i = linalg.fill ins(%low : f32) outs(%h : tensor<3x64xf32>) -> tensor<3x64xf32>
  %2 = linalg.generic {indexing_maps = [#hmn, #hm], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1 : tensor<3x64x48xf32>) outs(%i : tensor<3x64xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %m = arith.maximumf %x, %acc : f32
    linalg.yield %m : f32
  } -> tensor<3x64xf32>
  return %2 : tensor<3x64xf32>
}

// An operand that spans the rows and the lanes: 16 rows of 16 lanes would be
// 8192 bits of f32, and 16384 of i64, in one token of at most 4096. The rows
// give way.
#mng = affine_map<(m, n, g) -> (g, m, n)>
#ng = affine_map<(m, n, g) -> (n, g)>
#mn2 = affine_map<(m, n, g) -> (m, n)>
// CHECK-LABEL: func.func @wide_token
// CHECK: #dataflow.schedule<order = [1, 0, 2], tile = [8, 16, 1], unroll = [1, 16, 1]>
// CHECK: #dataflow.schedule<order = [1, 0, 2], tile = [4, 16, 1], unroll = [1, 16, 1]>
func.func @wide_token(%p: tensor<2x16x48xf32>, %q: tensor<2x16x48xi64>, %s: tensor<48x2xf32>) -> (tensor<16x48xf32>, tensor<16x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %0 = linalg.generic {indexing_maps = [#mng, #ng, #mn2], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %s : tensor<2x16x48xf32>, tensor<48x2xf32>) outs(%f : tensor<16x48xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %a = arith.mulf %x, %w : f32
    %b = arith.addf %a, %o : f32
    linalg.yield %b : f32
  } -> tensor<16x48xf32>
  %1 = linalg.generic {indexing_maps = [#mng, #ng, #mn2], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %s : tensor<2x16x48xi64>, tensor<48x2xf32>) outs(%f : tensor<16x48xf32>) {
  ^bb0(%i: i64, %w: f32, %o: f32):
    %x = arith.sitofp %i : i64 to f32
    %a = arith.mulf %x, %w : f32
    %b = arith.addf %a, %o : f32
    linalg.yield %b : f32
  } -> tensor<16x48xf32>
  return %0, %1 : tensor<16x48xf32>, tensor<16x48xf32>
}
