// RUN: streamtensor-opt %s --st-stream-to-hls | FileCheck %s

// CHECK-DAG: #[[ROUNDED:.*]] = affine_map<()[s0] -> (((s0 + 3) floordiv 4) * 2)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<()[s0, s1] -> (s0 + s1 + 1)>

// Run-time parameters become arguments behind all others, in the order of their
// names: all of them at the top and in groups, those that it needs in a task.

// The count of the kernel, which is hoisted out of the task, is copied into it.
// CHECK-LABEL: func.func private @load_x(
// CHECK-SAME: %[[SEQ:[^:]*]]: index {dataflow.parameter = "seq", hls.name = "seq"})
// CHECK-SAME: hls.comment = "load_x: dma_in, reads x (8 f32), out 8 x 32 bits, at the largest sizes"
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[SEQ]] step
// seq is 1 to 7, though there is memory for 8.
// CHECK: hls.trip_count = #hls.trip_count<min = 1, max = 7>

// A name that the task has already gets a number; a parameter keeps its own.
// CHECK-LABEL: func.func private @pad(
// CHECK-SAME: !stream.stream<1xf32, 2> {hls.direction = "in", hls.name = "in"}
// CHECK-SAME: %[[IN:[^:]*]]: index {dataflow.parameter = "in", hls.name = "in_1"}
// CHECK-SAME: %[[SEQ:[^:]*]]: index {dataflow.parameter = "seq", hls.name = "seq"})
// Rounded up: (seq + 3) / 4 of 1 to 2, doubled.
// CHECK: %[[N:.*]] = affine.apply #[[ROUNDED]]()[%[[SEQ]]] {hls.name = "trips"}
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]] step
// CHECK: hls.trip_count = #hls.trip_count<min = 2, max = 4>
// CHECK: %[[M:.*]] = affine.apply #[[SUM]]()[%[[IN]], %[[SEQ]]] {hls.name = "trips"}
// From 1 in steps of 2 to in + seq + 1, which is 2 to 11: 1 to 5 iterations.
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[M]] step
// CHECK: hls.trip_count = #hls.trip_count<min = 1, max = 5>

// CHECK-LABEL: func.func private @constant(
// CHECK-NOT: index {
// CHECK: return

// CHECK-LABEL: func.func private @group0(
// CHECK-SAME: memref<8xf32> {hls.direction = "in", hls.name = "x"}
// CHECK-SAME: %[[GIN:[^:]*]]: index {dataflow.parameter = "in", hls.name = "in"}
// CHECK-SAME: %[[GSEQ:[^:]*]]: index {dataflow.parameter = "seq", hls.name = "seq"})
// CHECK: hls.task @load_x(%{{.*}}, %{{.*}}, %[[GSEQ]])
// CHECK: hls.task @pad(%{{.*}}, %{{.*}}, %[[GIN]], %[[GSEQ]])
// CHECK: hls.task @constant(%{{[^,]*}}) :

// CHECK-LABEL: func.func @f(
// CHECK-SAME: hls.interface
// CHECK-SAME: %[[TIN:[^:]*]]: index {dataflow.parameter = "in", hls.name = "in"}
// CHECK-SAME: %[[TSEQ:[^:]*]]: index {dataflow.parameter = "seq", hls.name = "seq"})
// CHECK: call @group0(%{{.*}}, %[[TIN]], %[[TSEQ]])
func.func @f(%x: memref<8xf32> {dataflow.name = "x", dataflow.role = "input"})
    attributes {dataflow.parameters = {in = array<i64: 0, 3>, seq = array<i64: 1, 7>}} {
  dataflow.kernel "group0" (%m: memref<8xf32> = %x : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = dataflow.trip_count "seq max 8"
    %s0 = stream.stream "a" tokens 8 : !stream.stream<1xf32, 2>
    %s1 = stream.stream "b" tokens 12 : !stream.stream<1xf32, 2>
    dataflow.task "load_x" attributes {kind = "dma_in"} {
      scf.for %i = %c0 to %n step %c1 {
        %t = memref.alloc() : memref<1xf32>
        %v = memref.load %m[%i] : memref<8xf32>
        memref.store %v, %t[%c0] : memref<1xf32>
        stream.write %t, %s0 : memref<1xf32>, !stream.stream<1xf32, 2>
      }
    }
    dataflow.task "pad" attributes {kind = "compute"} {
      %rounded = dataflow.trip_count "2 * ceildiv(seq max 8, 4)"
      scf.for %i = %c0 to %rounded step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.read %s0 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
      }
      %sum = dataflow.trip_count "in max 3 + seq max 8 + 1"
      scf.for %i = %c1 to %sum step %c2 {
        %t = memref.alloc() : memref<1xf32>
        stream.write %t, %s1 : memref<1xf32>, !stream.stream<1xf32, 2>
      }
    }
    dataflow.task "constant" attributes {kind = "compute"} {
      %t = memref.alloc() : memref<1xf32>
      stream.read %s1 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
    }
    dataflow.yield
  }
  return
}

