// Ports as wide as the tokens that lie in memory as they are.
// RUN: split-file %s %t
// RUN: streamtensor-compile %t/rows.mlir --compile-to=stream | FileCheck %t/rows.mlir
// RUN: streamtensor-compile %t/rows.mlir --output-dir=%t/design --validate 2>&1 | FileCheck %t/rows.mlir --check-prefix=VALID
// RUN: FileCheck %t/rows.mlir --check-prefix=TEXT --input-file=%t/design/hls/kernel.cpp
// RUN: streamtensor-compile %t/columns.mlir --compile-to=stream | FileCheck %t/columns.mlir
// RUN: streamtensor-compile %t/two.mlir --compile-to=stream --onchip-budget-bytes=0 | FileCheck %t/two.mlir

//--- rows.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// Sixteen neighbours at a time, there and back; 30 columns give tokens of two.
// CHECK: func.func @rows
// CHECK-SAME: memref<4x32xf32> {{{[^}]*}}hls.packed = 16 : i64
// CHECK-SAME: memref<4x30xf32> {{{[^}]*}}hls.packed = 2 : i64
// CHECK-SAME: memref<4x32xf32> {{{[^}]*}}hls.packed = 16 : i64
// CHECK-SAME: memref<4x30xf32> {{{[^}]*}}hls.packed = 2 : i64
// CHECK: %[[VIEW:.*]] = memref.subview
// CHECK: stream.write %[[VIEW]]
// VALID: phase 'hls': equal to the reference
// TEXT: out.write(arg0[i0 * 2 + i1]);
// TEXT: result0[i0 * 2 + i1] = in.read();
func.func @rows(%a: tensor<4x32xf32>, %b: tensor<4x30xf32>) -> (tensor<4x32xf32>, tensor<4x30xf32>) {
  %e = tensor.empty() : tensor<4x32xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x32xf32>) outs(%e : tensor<4x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4x32xf32>
  %f = tensor.empty() : tensor<4x30xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<4x30xf32>) outs(%f : tensor<4x30xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4x30xf32>
  return %x, %y : tensor<4x32xf32>, tensor<4x30xf32>
}

//--- columns.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// Sixteen rows of a column lie apart: the port of the first argument stays
// narrow.
// CHECK: func.func @columns
// CHECK-NOT: hls.packed
// CHECK-SAME: memref<32x4xf32> {{{[^}]*}}hls.packed = 4 : i64
// CHECK-SAME: memref<32x4xf32> {{{[^}]*}}hls.packed = 4 : i64
func.func @columns(%a: tensor<4x32xf32>, %b: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %e = tensor.empty() : tensor<32x4xf32>
  %x = linalg.generic {indexing_maps = [#transposed, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<4x32xf32>, tensor<32x4xf32>) outs(%e : tensor<32x4xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<32x4xf32>
  return %x : tensor<32x4xf32>
}

//--- two.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// Two kernels that take tokens of different widths share no port width: the
// first operand is read in rows of 16 and in columns.
// CHECK: func.func @two(%{{[a-z0-9]+}}: memref<4x32xf32> {
// CHECK-NOT: hls.packed
// CHECK-SAME: memref<32x4xf32> {{{[^}]*}}hls.packed = 4 : i64
func.func @two(%a: tensor<4x32xf32>, %b: tensor<32x4xf32>) -> (tensor<4x32xf32>, tensor<32x4xf32>) {
  %e = tensor.empty() : tensor<4x32xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x32xf32>) outs(%e : tensor<4x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4x32xf32>
  %f = tensor.empty() : tensor<32x4xf32>
  %y = linalg.generic {indexing_maps = [#transposed, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<4x32xf32>, tensor<32x4xf32>) outs(%f : tensor<32x4xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<32x4xf32>
  return %x, %y : tensor<4x32xf32>, tensor<32x4xf32>
}
