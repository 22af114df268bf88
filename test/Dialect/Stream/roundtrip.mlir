// Every operation of the stream dialect is read, printed and read again; the
// examples of the operations' descriptions stand here.
// RUN: streamtensor-opt %s | streamtensor-opt | FileCheck %s
// RUN: streamtensor-opt %s --emit-bytecode | streamtensor-opt | FileCheck %s

// CHECK-LABEL: func.func @types
// CHECK-SAME: !stream.stream<16x1xf32, 32>
// CHECK-SAME: !stream.stream<f32, 2>
func.func @types(
    %wide: !stream.stream<16x1xf32, 32>,
    %scalar: !stream.stream<f32, 2>) {
  return
}

// CHECK-LABEL: func.func @fifo
func.func @fifo() {
  // CHECK: stream.stream "load_x_out" : !stream.stream<16xf32, 2>
  %s = stream.stream "load_x_out" : !stream.stream<16xf32, 2>
  // CHECK: stream.stream "y" tokens 36 because "two in flight" : !stream.stream<16xf32, 2>
  %t = stream.stream "y" tokens 36 because "two in flight" : !stream.stream<16xf32, 2>
  return
}

// CHECK-LABEL: func.func @tokens
func.func @tokens(%s: !stream.stream<f32, 2>, %t: !stream.stream<16xf32, 2>, %buf: memref<16xf32>) {
  // CHECK: %[[X:.*]] = stream.read %{{.*}} : !stream.stream<f32, 2> -> f32
  %x = stream.read %s : !stream.stream<f32, 2> -> f32
  // CHECK: stream.read %{{.*}} into %{{.*}} : !stream.stream<16xf32, 2>, memref<16xf32>
  stream.read %t into %buf : !stream.stream<16xf32, 2>, memref<16xf32>
  // CHECK: stream.write %[[X]], %{{.*}} : f32, !stream.stream<f32, 2>
  stream.write %x, %s : f32, !stream.stream<f32, 2>
  // CHECK: stream.write %{{.*}}, %{{.*}} : memref<16xf32>, !stream.stream<16xf32, 2>
  stream.write %buf, %t : memref<16xf32>, !stream.stream<16xf32, 2>
  return
}

// CHECK-LABEL: func.func @buffer
func.func @buffer() {
  // CHECK: stream.buffer "acc" : memref<36x16xf32>
  %b = stream.buffer "acc" : memref<36x16xf32>
  // CHECK: stream.buffer "tile" ping_pong : memref<8x2xf32>
  %c = stream.buffer "tile" ping_pong : memref<8x2xf32>
  return
}

// CHECK-LABEL: func.func @cast
func.func @cast(%s: !stream.stream<16xf32, 2>) {
  // CHECK: stream.cast %{{.*}} : !stream.stream<16xf32, 2> to !stream.stream<1x16xf32, 2>
  %t = stream.cast %s : !stream.stream<16xf32, 2> to !stream.stream<1x16xf32, 2>
  return
}

// CHECK-LABEL: func.func @bridges
func.func @bridges(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // CHECK: %[[S:.*]] = stream.from_itensor %{{.*}} : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> -> !stream.stream<f32, 2>
  %s = stream.from_itensor %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> -> !stream.stream<f32, 2>
  // CHECK: stream.to_itensor %[[S]] : !stream.stream<f32, 2> -> !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  %b = stream.to_itensor %s : !stream.stream<f32, 2> -> !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  return
}
