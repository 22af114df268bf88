// Every operation of the itensor dialect is read, printed and read again; the
// examples of the operations' descriptions stand here.
// RUN: streamtensor-opt %s | streamtensor-opt | FileCheck %s
// RUN: streamtensor-opt %s --emit-bytecode | streamtensor-opt | FileCheck %s

// CHECK-LABEL: func.func @types
// Tiles of 4x2, tile columns outermost.
// CHECK-SAME: !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>
// Every pair of columns twice: d1 is a revisit.
// CHECK-SAME: !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>
// A dimension of two loops, one of one token, a token of all data, a scalar.
// CHECK-SAME: !itensor.itensor<1x4xi8, [2, 3] * [12, 4], (d0, d1) -> (0, d0 + d1)>
// CHECK-SAME: !itensor.itensor<8xf32, [] * [], () -> (0)>
// CHECK-SAME: !itensor.itensor<f32, [] * [], () -> ()>
func.func @types(
    %a: !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>,
    %b: !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>,
    %c: !itensor.itensor<1x4xi8, [2, 3] * [12, 4], (d0, d1) -> (0, d0 + d1)>,
    %d: !itensor.itensor<8xf32, [] * [], () -> (0)>,
    %e: !itensor.itensor<f32, [] * [], () -> ()>) {
  return
}

// CHECK-LABEL: func.func @windows
// The windows of 3x3 of an image; tokens of 3 rows that move by one.
// CHECK-SAME: !itensor.itensor<f32, [6, 8, 3, 3] * [1, 1, 1, 1], (d0, d1, d2, d3) -> (d0 + d2, d1 + d3), overlapping>
// CHECK-SAME: !itensor.itensor<3x1xf32, [6, 8] * [1, 1], (d0, d1) -> (d0, d1), overlapping>
func.func @windows(
    %a: !itensor.itensor<f32, [6, 8, 3, 3] * [1, 1, 1, 1], (d0, d1, d2, d3) -> (d0 + d2, d1 + d3), overlapping>,
    %b: !itensor.itensor<3x1xf32, [6, 8] * [1, 1], (d0, d1) -> (d0, d1), overlapping>) {
  return
}

// CHECK-LABEL: func.func @runtime
// The maximum stands at the first use; terms are sorted, constants last.
// CHECK-SAME: !itensor.itensor<f32, [seq max 256, 4] * [1, 1], (d0, d1) -> (d0, d1)>
// CHECK-SAME: !itensor.itensor<1x16xf32, [past max 255 + 1, 4] * [1, 16], (d0, d1) -> (d0, d1)>
// CHECK-SAME: !itensor.itensor<16xf32, [ceildiv(seq max 256, 16)] * [16], (d0) -> (d0)>
// CHECK-SAME: !itensor.itensor<f32, [past max 240 + seq max 16, past, 4] * [1, 1, 1], (d0, d1, d2) -> (d0, d2)>
// CHECK-SAME: !itensor.itensor<f32, [2 * seq max 8 + 3] * [1], (d0) -> (d0)>
func.func @runtime(
    %a: !itensor.itensor<f32, [seq max 256, 4] * [1, 1], (d0, d1) -> (d0, d1)>,
    %b: !itensor.itensor<1x16xf32, [past max 255 + 1, 4] * [1, 16], (d0, d1) -> (d0, d1)>,
    %c: !itensor.itensor<16xf32, [ceildiv(seq max 256, 16)] * [16], (d0) -> (d0)>,
    %d: !itensor.itensor<f32, [seq max 16 + past max 240, past, 4] * [1, 1, 1], (d0, d1, d2) -> (d0, d2)>,
    %e: !itensor.itensor<f32, [3 + seq max 8 + seq] * [1], (d0) -> (d0)>) {
  return
}

// An operand of run-time size has a dynamic dimension.
// CHECK-LABEL: func.func @runtime_boundary
func.func @runtime_boundary(%arg0: tensor<256x64xf32>) -> tensor<256x64xf32> {
  // CHECK: dataflow.kernel "k" (%{{.*}}: !itensor.itensor<1x16xf32, [past max 255 + 1, 4] * [1, 16], (d0, d1) -> (d0, d1)> = %{{.*}} : tensor<256x64xf32>) -> tensor<256x64xf32>
  %0 = dataflow.kernel "k" (%x : !itensor.itensor<1x16xf32, [past max 255 + 1, 4] * [1, 16], (d0, d1) -> (d0, d1)> = %arg0 : tensor<256x64xf32>) -> (tensor<256x64xf32>) {
    dataflow.yield %x : !itensor.itensor<1x16xf32, [past max 255 + 1, 4] * [1, 16], (d0, d1) -> (d0, d1)>
  }
  return %0 : tensor<256x64xf32>
}

// Types of run-time size that carry the same tokens for every value.
// CHECK-LABEL: func.func @runtime_changes
func.func @runtime_changes(
    %a: !itensor.itensor<f32, [seq max 256, 4] * [4, 1], (d0, d1) -> (d0 + d1)>,
    %cache: !itensor.itensor<1x16xf32, [past max 255, 4] * [1, 16], (d0, d1) -> (d0, d1)>,
    %row: !itensor.itensor<1x16xf32, [4] * [16], (d0) -> (0, d0)>) {
  // CHECK: itensor.cast
  %0 = itensor.cast %a : !itensor.itensor<f32, [seq max 256, 4] * [4, 1], (d0, d1) -> (d0 + d1)>
      to !itensor.itensor<f32, [4 * seq max 256] * [1], (d0) -> (d0)>
  // CHECK: itensor.reassociate
  %1 = itensor.reassociate %a : !itensor.itensor<f32, [seq max 256, 4] * [4, 1], (d0, d1) -> (d0 + d1)>
      to !itensor.itensor<1x2xf32, [seq max 256, 2] * [1, 2], (d0, d1) -> (d0, d1)>
  // The cache and the new row; the cache may be empty.
  // CHECK: itensor.concat
  %2 = itensor.concat %cache, %row dim 0 : !itensor.itensor<1x16xf32, [past max 255, 4] * [1, 16], (d0, d1) -> (d0, d1)>, !itensor.itensor<1x16xf32, [4] * [16], (d0) -> (0, d0)>
      to !itensor.itensor<1x16xf32, [past max 255 + 1, 4] * [1, 16], (d0, d1) -> (d0, d1)>
  return
}

// CHECK-LABEL: func.func @fifos
func.func @fifos() {
  // CHECK: itensor.empty : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>
  %e = itensor.empty : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>
  // CHECK: itensor.instance "load_x_out" depth 2 : !itensor.itensor<16xf32,
  %s = itensor.instance "load_x_out" depth 2 : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>
  // CHECK: itensor.instance "y" depth 64 because "all tokens" : !itensor.itensor<16xf32,
  %t = itensor.instance "y" depth 64 because "all tokens" : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>
  return
}

// CHECK-LABEL: func.func @tokens
func.func @tokens(
    %src: !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>,
    %xs: !itensor.itensor<f32, [64] * [1], (d0) -> (d0)>,
    %dst: !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>,
    %one: !itensor.itensor<f32, [] * [], () -> ()>,
    %buf: tensor<16xf32>, %scalar: tensor<f32>)
    -> !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)> {
  // CHECK: %[[W:.*]] = itensor.read %{{.*}} init(%{{.*}} : tensor<16xf32>) : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)> -> tensor<16xf32>
  %w = itensor.read %src init(%buf : tensor<16xf32>) : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)> -> tensor<16xf32>
  // CHECK: itensor.read %{{.*}} : !itensor.itensor<f32, [64] * [1], (d0) -> (d0)> -> f32
  %x = itensor.read %xs : !itensor.itensor<f32, [64] * [1], (d0) -> (d0)> -> f32
  // Data of rank 0 is read as a tensor of rank 0.
  // CHECK: itensor.read {{.*}} -> tensor<f32>
  %r = itensor.read %one init(%scalar : tensor<f32>) : !itensor.itensor<f32, [] * [], () -> ()> -> tensor<f32>
  // CHECK: %[[T:.*]] = itensor.write %[[W]] into %{{.*}} : tensor<16xf32>, !itensor.itensor<16xf32,
  %t = itensor.write %w into %dst : tensor<16xf32>, !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>
  // CHECK: return %[[T]]
  return %t : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>
}

// CHECK-LABEL: func.func @cast
func.func @cast(%a: !itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)>) {
  // CHECK: itensor.cast %{{.*}} : !itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)> to !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  %r = itensor.cast %a : !itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)>
                      to !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  return
}

// CHECK-LABEL: func.func @reassociate
func.func @reassociate(%a: !itensor.itensor<4xf32, [6] * [4], (d0) -> (d0)>) {
  // CHECK: itensor.reassociate %{{.*}} : !itensor.itensor<4xf32, [6] * [4], (d0) -> (d0)> to !itensor.itensor<1x4xf32, [3, 2] * [1, 4], (d0, d1) -> (d0, d1)>
  %r = itensor.reassociate %a : !itensor.itensor<4xf32, [6] * [4], (d0) -> (d0)>
                             to !itensor.itensor<1x4xf32, [3, 2] * [1, 4], (d0, d1) -> (d0, d1)>
  return
}

// CHECK-LABEL: func.func @converter
func.func @converter(%a: !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>) {
  // CHECK: itensor.converter %{{.*}} : !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)> to !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>
  %r = itensor.converter %a : !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>
                           to !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>
  return
}

// CHECK-LABEL: func.func @fork
func.func @fork(%s: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // CHECK: itensor.fork %{{.*}} times 2 : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  %a:2 = itensor.fork %s times 2 : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  return
}

// CHECK-LABEL: func.func @chunk
func.func @chunk(%s: !itensor.itensor<1x16xf32, [8, 4] * [1, 16], (d0, d1) -> (d0, d1)>) {
  // CHECK: itensor.chunk %{{.*}} dim 0 : !itensor.itensor<1x16xf32, [8, 4] * [1, 16], (d0, d1) -> (d0, d1)> to !itensor.itensor<1x16xf32, [7, 4] * [1, 16], (d0, d1) -> (d0, d1)>, !itensor.itensor<1x16xf32, [4] * [16], (d0) -> (0, d0)>
  %p:2 = itensor.chunk %s dim 0 : !itensor.itensor<1x16xf32, [8, 4] * [1, 16], (d0, d1) -> (d0, d1)>
      to !itensor.itensor<1x16xf32, [7, 4] * [1, 16], (d0, d1) -> (d0, d1)>, !itensor.itensor<1x16xf32, [4] * [16], (d0) -> (0, d0)>
  return
}

// A chunk of no rows is a stream without tokens.
// CHECK-LABEL: func.func @chunk_nothing
func.func @chunk_nothing(%s: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // CHECK: itensor.chunk
  %p:2 = itensor.chunk %s dim 0 : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
      to !itensor.itensor<f32, [0] * [1], (d0) -> (d0)>, !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  return
}

// CHECK-LABEL: func.func @concat
func.func @concat(%cache: !itensor.itensor<1x16xf32, [7, 4] * [1, 16], (d0, d1) -> (d0, d1)>,
                  %row: !itensor.itensor<1x16xf32, [4] * [16], (d0) -> (0, d0)>) {
  // CHECK: itensor.concat %{{.*}}, %{{.*}} dim 0 : !itensor.itensor<1x16xf32, [7, 4] * [1, 16], (d0, d1) -> (d0, d1)>, !itensor.itensor<1x16xf32, [4] * [16], (d0) -> (0, d0)> to !itensor.itensor<1x16xf32, [8, 4] * [1, 16], (d0, d1) -> (d0, d1)>
  %r = itensor.concat %cache, %row dim 0 : !itensor.itensor<1x16xf32, [7, 4] * [1, 16], (d0, d1) -> (d0, d1)>, !itensor.itensor<1x16xf32, [4] * [16], (d0) -> (0, d0)>
      to !itensor.itensor<1x16xf32, [8, 4] * [1, 16], (d0, d1) -> (d0, d1)>
  return
}

// CHECK-LABEL: func.func @join
func.func @join(%a: !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>, %b: !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>) {
  // Even and odd tokens: token 3 of the result is token 1 of %b.
  // CHECK: itensor.join %{{.*}}, %{{.*}} : !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>, !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)> to !itensor.itensor<4xf32, [16] * [4], (d0) -> (d0)>
  %r = itensor.join %a, %b : !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>, !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>
      to !itensor.itensor<4xf32, [16] * [4], (d0) -> (d0)>
  // First and second half, a token of each in turn.
  // CHECK: itensor.join {{.*}} to !itensor.itensor<4xf32, [8, 2] * [4, 32], (d0, d1) -> (d0 + d1)>
  %h = itensor.join %a, %b : !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>, !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>
      to !itensor.itensor<4xf32, [8, 2] * [4, 32], (d0, d1) -> (d0 + d1)>
  return
}
