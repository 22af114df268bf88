// RUN: streamtensor-opt %s --st-schedule-ops | FileCheck %s --check-prefix=SCHEDULE
// RUN: streamtensor-opt %s --st-schedule-ops --st-build-dataflow | FileCheck %s

#windows = affine_map<(y, x, c, i, j) -> (c, y + i, x + j)>
#identity = affine_map<(y, x, c, i, j) -> (y, x, c, i, j)>
#read = affine_map<(f, y, x, c, i, j) -> (y, x, c, i, j)>
#filter = affine_map<(f, y, x, c, i, j) -> (f, c, i, j)>
#out = affine_map<(f, y, x, c, i, j) -> (f, y, x)>

// Positions outside, the reduction inside, filters innermost; the windows come in
// that order, and the padding in the order of the rows that they need, element by
// element.
// SCHEDULE-LABEL: func.func @convolution
// SCHEDULE: tensor.pad
// SCHEDULE: {dataflow.schedule = #dataflow.schedule<order = [1, 0, 2], tile = [1, 1, 1], unroll = [1, 1, 1]>}
// SCHEDULE: #dataflow.schedule<order = [0, 2, 3, 4, 1], tile = [1, 8, 1, 1, 1], unroll = [1, 8, 1, 1, 1]>
// SCHEDULE: #dataflow.schedule<order = [1, 2, 3, 4, 5, 0], tile = [1, 1, 8, 1, 1, 1], unroll = [1, 1, 8, 1, 1, 1]>

// The line buffer holds the 3 rows of a window, of all 2 channels and 10 columns.
// CHECK-LABEL: func.func @convolution
// CHECK: dataflow.task "pad_0"
// CHECK: %[[I:.*]] = scf.if
// CHECK: itensor.read
// CHECK: else
// CHECK: linalg.fill
// CHECK: dataflow.task "generic_0"
// CHECK: tensor.empty() {hls.name = "lines"} : tensor<2x3x10xf32>
// CHECK: scf.for %[[ROW:[a-z0-9]+]] =
// CHECK: affine.apply {{.*}}(%[[ROW]])
// CHECK: tensor.insert_slice
// CHECK: arith.cmpi sge, %[[ROW]]
// CHECK: scf.if
// CHECK: tensor.extract_slice
// CHECK-SAME: tensor<2x3x10xf32> to tensor<8xf32>
func.func @convolution(%image: tensor<2x8x8xf32>, %w: tensor<5x2x3x3xf32>) -> tensor<5x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %image low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<2x8x8xf32> to tensor<2x10x10xf32>
  %ew = tensor.empty() : tensor<8x8x2x3x3xf32>
  %v = linalg.generic {indexing_maps = [#windows, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%p : tensor<2x10x10xf32>) outs(%ew : tensor<8x8x2x3x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8x8x2x3x3xf32>
  %e = tensor.empty() : tensor<5x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x8x8xf32>) -> tensor<5x8x8xf32>
  %r = linalg.generic {indexing_maps = [#read, #filter, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%v, %w : tensor<8x8x2x3x3xf32>, tensor<5x2x3x3xf32>) outs(%f : tensor<5x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<5x8x8xf32>
  return %r : tensor<5x8x8xf32>
}
