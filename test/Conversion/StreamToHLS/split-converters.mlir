// RUN: streamtensor-opt %s --st-split-converters | FileCheck %s

// CHECK-LABEL: func.func private @convert_fill(
// CHECK-SAME: %[[IN:.*]]: !stream.stream<4xf32, 2> {hls.direction = "in", hls.name = "in"},
// CHECK-SAME: %[[B:.*]]: memref<4xf32> {hls.array, hls.direction = "out", hls.name = "buffer"})
// CHECK-SAME: attributes {hls.stage}
// CHECK: stream.read %[[IN]]
// CHECK: memref.store %{{.*}}, %[[B]]
// CHECK-LABEL: func.func private @convert_drain(
// CHECK-SAME: %[[B:.*]]: memref<4xf32> {hls.array, hls.direction = "in", hls.name = "buffer"},
// CHECK-SAME: %[[OUT:.*]]: !stream.stream<1xf32, 2>
// CHECK: memref.load %[[B]]
// CHECK: stream.write %{{.*}}, %[[OUT]]

// CHECK-LABEL: func.func private @convert(
// CHECK-SAME: %[[IN:.*]]: !stream.stream<4xf32, 2> {{.*}}, %[[OUT:.*]]: !stream.stream<1xf32, 2>
// CHECK: scf.for
// CHECK-NEXT: %[[B:.*]] = stream.buffer "buffer" ping_pong {hls.partition
// CHECK-NEXT: func.call @convert_fill(%[[IN]], %[[B]])
// CHECK-NEXT: func.call @convert_drain(%[[B]], %[[OUT]])
// CHECK-NEXT: } {hls.dataflow, hls.label = "segment"}
func.func private @convert(%in: !stream.stream<4xf32, 2> {hls.name = "in", hls.direction = "in"},
                           %out: !stream.stream<1xf32, 2> {hls.name = "out", hls.direction = "out"}) attributes {hls.task, kind = "converter"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %buffer = stream.buffer "buffer" ping_pong {hls.partition = [#hls.partition<kind = "complete", factor = 0, dim = 1>]} : memref<4xf32>
  scf.for %s = %c0 to %c8 step %c1 {
    %t = memref.alloc() : memref<4xf32>
    stream.read %in into %t : !stream.stream<4xf32, 2>, memref<4xf32>
    scf.for %l = %c0 to %c4 step %c1 {
      %v = memref.load %t[%l] : memref<4xf32>
      memref.store %v, %buffer[%l] : memref<4xf32>
    } {hls.unroll = #hls.unroll<factor = 0>}
    scf.for %i = %c0 to %c4 step %c1 {
      %u = memref.alloc() : memref<1xf32>
      %v = memref.load %buffer[%i] : memref<4xf32>
      memref.store %v, %u[%c0] : memref<1xf32>
      stream.write %u, %out : memref<1xf32>, !stream.stream<1xf32, 2>
    } {hls.label = "drain", hls.pipeline = #hls.pipeline<ii = 1>}
  } {hls.label = "segment"}
  return
}

// Without segments there is one half only, filled before it is drained.
// CHECK-LABEL: func.func private @once(
// CHECK-NOT: func.call
func.func private @once(%in: !stream.stream<1xf32, 2> {hls.name = "in", hls.direction = "in"},
                        %out: !stream.stream<1xf32, 2> {hls.name = "out", hls.direction = "out"}) attributes {hls.task, kind = "converter"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %buffer = stream.buffer "buffer" ping_pong : memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %t = memref.alloc() : memref<1xf32>
    stream.read %in into %t : !stream.stream<1xf32, 2>, memref<1xf32>
    %v = memref.load %t[%c0] : memref<1xf32>
    memref.store %v, %buffer[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %u = memref.alloc() : memref<1xf32>
    %v = memref.load %buffer[%i] : memref<4xf32>
    memref.store %v, %u[%c0] : memref<1xf32>
    stream.write %u, %out : memref<1xf32>, !stream.stream<1xf32, 2>
  }
  return
}

// Segments in two nested loops, which do not become one when both sizes are
// known at run time only: filled, then drained.
// CHECK-LABEL: func.func private @nested(
// CHECK-NOT: func.call
// CHECK-NOT: hls.dataflow
// CHECK: return
func.func private @nested(%in: !stream.stream<1xf32, 2> {hls.name = "in", hls.direction = "in"},
                          %out: !stream.stream<1xf32, 2> {hls.name = "out", hls.direction = "out"},
                          %rows: index {hls.name = "rows"}, %past: index {hls.name = "past"}) attributes {hls.task, kind = "converter"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %buffer = stream.buffer "buffer" ping_pong : memref<4xf32>
  scf.for %r = %c0 to %rows step %c1 {
    scf.for %p = %c0 to %past step %c1 {
      scf.for %i = %c0 to %c4 step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.read %in into %t : !stream.stream<1xf32, 2>, memref<1xf32>
        %v = memref.load %t[%c0] : memref<1xf32>
        memref.store %v, %buffer[%i] : memref<4xf32>
      }
      scf.for %i = %c0 to %c4 step %c1 {
        %u = memref.alloc() : memref<1xf32>
        %v = memref.load %buffer[%i] : memref<4xf32>
        memref.store %v, %u[%c0] : memref<1xf32>
        stream.write %u, %out : memref<1xf32>, !stream.stream<1xf32, 2>
      }
    }
  }
  return
}
