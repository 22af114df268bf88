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
