// A module of run-time sizes is compared with mlir-runner on its dynamic text at
// several lengths: the phases before there are kernels at the size for which
// there is memory, the others at the largest lengths, the smallest ones (an
// empty cache here), and a choice between. Rows of a cache and new rows,
// divided by the sum of their squares, times a weight.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: streamtensor-compile %t/in.mlir --target=u55c --output-dir=%t/out --validate 2> %t/log
// RUN: FileCheck %s --input-file=%t/log
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/out/report.json

// CHECK: reference with past = 9, seq = 6: 2 results by mlir-runner
// CHECK-NEXT: phase 'normalized' with past = 9, seq = 6: equal to the reference within
// CHECK-NEXT: phase 'scheduled' with past = 9, seq = 6: {{.*}} bit for bit equal to 'normalized'
// CHECK-NEXT: phase 'dataflow' with past = 9, seq = 6: {{.*}} bit for bit equal to 'scheduled'
// CHECK: phase 'hls' with past = 9, seq = 6: {{.*}} bit for bit equal to 'stream'
// CHECK-NEXT: reference with past = 0, seq = 1:
// CHECK-NEXT: phase 'dataflow' with past = 0, seq = 1: equal to the reference within
// CHECK: phase 'hls' with past = 0, seq = 1: {{.*}} bit for bit equal to 'stream'
// CHECK-NEXT: reference with past = [[#PAST:]], seq = [[#SEQ:]]:
// CHECK-NEXT: phase 'dataflow' with past = [[#PAST]], seq = [[#SEQ]]: equal to the reference within
// CHECK: phase 'hls' with past = [[#PAST]], seq = [[#SEQ]]: {{.*}} bit for bit equal to 'stream'
// CHECK-NOT: reference

// REPORT: "validation":
// REPORT: "parameters":
// REPORT-DAG: "past": 9
// REPORT-DAG: "seq": 6

//--- in.dims.json
{"dims": {"arg0.0": "seq", "arg1.0": "past"}, "min": {"seq": 1, "past": 0}, "max": {"seq": 6, "past": 9}}

//--- in.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
func.func @f(%x: tensor<?x24xf32>, %old: tensor<?x24xf32>, %w: tensor<24x32xf32>) -> (tensor<?x32xf32>, tensor<?x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %all = tensor.concat dim(0) %old, %x : (tensor<?x24xf32>, tensor<?x24xf32>) -> tensor<?x24xf32>
  %n = tensor.dim %all, %c0 : tensor<?x24xf32>
  %e1 = tensor.empty(%n) : tensor<?x1xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%all : tensor<?x24xf32>) outs(%s0 : tensor<?x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.mulf %in, %in : f32
    %0 = arith.addf %m, %out : f32
    linalg.yield %0 : f32
  } -> tensor<?x1xf32>
  %e = tensor.empty(%n) : tensor<?x24xf32>
  %y = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%all, %s : tensor<?x24xf32>, tensor<?x1xf32>) outs(%e : tensor<?x24xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.divf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<?x24xf32>
  %r = tensor.empty(%n) : tensor<?x32xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%r : tensor<?x32xf32>) -> tensor<?x32xf32>
  %z = linalg.matmul ins(%y, %w : tensor<?x24xf32>, tensor<24x32xf32>) outs(%r0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %z, %y : tensor<?x32xf32>, tensor<?x24xf32>
}
