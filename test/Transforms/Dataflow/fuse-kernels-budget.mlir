// What one kernel needs alone, and what it can do about it.
// RUN: split-file %s %t
// RUN: streamtensor-opt %t/gram.mlir --st-schedule-ops --st-build-dataflow --st-fuse-kernels=onchip-budget-bytes=384 | FileCheck %s --check-prefix=ONCE
// RUN: streamtensor-opt %t/gram.mlir --st-schedule-ops --st-build-dataflow --st-fuse-kernels=onchip-budget-bytes=383 | FileCheck %s --check-prefix=TWICE
// RUN: streamtensor-opt %t/detour.mlir --st-schedule-ops --st-build-dataflow --st-fuse-kernels=onchip-budget-bytes=100 | FileCheck %s --check-prefix=DETOUR
// RUN: streamtensor-opt %t/given.mlir --st-schedule-ops --st-build-dataflow --st-fuse-kernels=onchip-budget-bytes=256 --verify-diagnostics -o /dev/null
// RUN: not streamtensor-opt %t/given.mlir --st-schedule-ops --st-build-dataflow --st-fuse-kernels=onchip-budget-bytes=255 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: not streamtensor-opt %t/given.mlir --st-schedule-ops --st-build-dataflow --st-fuse-kernels=onchip-budget-bytes=3 2>&1 | FileCheck %s --check-prefix=LEAST

//--- gram.mlir
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// x times its own transpose: 4 rows at a time against all of it, twice. One load
// serves both uses where a converter of 8 x 8 floats and the accumulator of 4 x 8,
// 256 + 128 bytes, have room; else memory is read twice.
// ONCE: dataflow.kernel "group0" (%{{[^:]*}}: {{[^=]*}} = %{{.*}} : tensor<8x8xf32>) -> tensor<8x8xf32>
// TWICE: dataflow.kernel "group0" (%{{[^:]*}}: {{[^=]*}} = %[[X:.*]] : tensor<8x8xf32>, %{{[^:]*}}: {{[^=]*}} = %[[X]] : tensor<8x8xf32>) -> tensor<8x8xf32>
// TWICE-NOT: itensor.converter
func.func @gram(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 2, 1], tile = [4, 8, 1], unroll = [1, 8, 1]>} {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

//--- detour.mlir
#id = affine_map<(i, j) -> (i, j)>
#transpose = affine_map<(i, j) -> (j, i)>

// To and from the second kernel it takes a converter of 8 x 8 floats, 256 bytes: it
// stays apart (with the sum it needs two, as both would share one load of the first
// result). The sum could follow the first kernel token by token, but waits for the
// second, which waits for the first.
// DETOUR: {fused = false, op = "generic_1", producer = "generic_0", reason = "one group would need 256 bytes on chip, more than the budget of 100"}
// DETOUR-SAME: {fused = false, op = "generic_2", producer = "generic_1", reason = "one group would need 512 bytes on chip, more than the budget of 100"}
// DETOUR-SAME: {fused = false, op = "generic_2", producer = "generic_0", reason = "the way over 'generic_1' leaves the group and comes back, so neither could run first"}
func.func @detour(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [1, 8], unroll = [1, 8]>} {
  ^bb0(%a: f32, %o: f32):
    %p = math.exp %a : f32
    linalg.yield %p : f32
  } -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#transpose, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [1, 8], unroll = [1, 8]>} {
  ^bb0(%a: f32, %o: f32):
    %p = math.sqrt %a : f32
    linalg.yield %p : f32
  } -> tensor<8x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #transpose, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [1, 8], unroll = [1, 8]>} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.addf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

//--- given.mlir
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// Somebody wants all 64 sums at once: 256 bytes.
// GIVEN: error: 'dataflow.kernel' op 'generic_0' needs 256 bytes on chip alone, more than the budget of 255; the smallest schedule needs 4, so remove the schedule that was given to it
// LEAST: error: 'dataflow.kernel' op 'generic_0' needs 256 bytes on chip alone, more than the budget of 3; the smallest schedule needs 4, so raise --onchip-budget-bytes to that
func.func @given(%x: tensor<8x64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%f : tensor<64xf32>) attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [1, 16], unroll = [1, 16]>} {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
