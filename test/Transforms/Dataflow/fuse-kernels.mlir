// RUN: streamtensor-opt %s --st-schedule-ops --st-build-dataflow --st-fuse-kernels | FileCheck %s --check-prefix=NONE
// RUN: streamtensor-opt %s --st-schedule-ops --st-build-dataflow --st-fuse-kernels=onchip-budget-bytes=255 | FileCheck %s --check-prefixes=ALL,LESS
// RUN: streamtensor-opt %s --st-schedule-ops --st-build-dataflow --st-fuse-kernels=onchip-budget-bytes=256 | FileCheck %s --check-prefixes=ALL,ENOUGH

#id = affine_map<(i, j) -> (i, j)>
#transpose = affine_map<(i, j) -> (j, i)>

// Both tasks walk rows: they connect directly and cost nothing.
// NONE-LABEL: func.func @chain
// NONE-SAME: {fused = false, op = "generic_1", producer = "generic_0", reason = "fusion is off (a budget of 0 bytes)"}]
// NONE-COUNT-2: dataflow.kernel
// ALL-LABEL: func.func @chain
// ALL: dataflow.kernel
// ALL: %[[A:.*]] = dataflow.task "generic_0"
// ALL-NOT: itensor.converter
// ALL: dataflow.task "generic_1"
// ALL: itensor.read %[[A]]
// ALL-NOT: dataflow.kernel
func.func @chain(%a: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<4x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = math.exp %x : f32
    linalg.yield %p : f32
  } -> tensor<4x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = math.sqrt %x : f32
    linalg.yield %p : f32
  } -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// The second task is told to walk columns. A transposition shares no loop, so the converter
// holds the tensor once: 4 * 16 floats, 256 bytes. One byte less, and the two
// kernels stay apart, with memory between them.
// ALL-LABEL: func.func @transposed
// LESS-SAME: dataflow.fusion = [{fused = false, op = "generic_0", reason = "it reads arguments and constants only"},
// LESS-SAME: {fused = false, op = "generic_1", producer = "generic_0", reason = "one group would need 256 bytes on chip, more than the budget of 255"}]
// ENOUGH-SAME: {fused = true, op = "generic_1", producer = "generic_0", reason = "their group needs 256 bytes on chip of the budget of 256"}]
// LESS-COUNT-2: dataflow.kernel
// ENOUGH: dataflow.kernel
// ENOUGH: %[[A:.*]] = dataflow.task "generic_0"
// ENOUGH: %[[C:.*]] = itensor.converter %[[A]]
// ENOUGH: dataflow.task "generic_1"
// ENOUGH: itensor.read %[[C]]
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
      ins(%0 : tensor<4x16xf32>) outs(%f : tensor<16x4xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [1, 4], unroll = [1, 4]>} {
  ^bb0(%x: f32, %o: f32):
    %p = math.sqrt %x : f32
    linalg.yield %p : f32
  } -> tensor<16x4xf32>
  return %1 : tensor<16x4xf32>
}
