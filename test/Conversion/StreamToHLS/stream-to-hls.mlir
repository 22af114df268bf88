// RUN: streamtensor-opt %s --st-stream-to-hls --split-input-file | FileCheck %s
// RUN: streamtensor-opt %s --st-stream-to-hls="max-bundles=2 burst-beats=16" --split-input-file | FileCheck %s --check-prefix=SHARED

// Tasks become functions that get what they use; memory between kernels becomes
// an argument; a name that C++ does not accept changes.

// CHECK-LABEL: func.func private @load_x(
// CHECK-SAME: %[[M:.*]]: memref<8xf32> {hls.direction = "in", hls.name = "arg0"},
// CHECK-SAME: %[[OUT:.*]]: !stream.stream<1xf32, 2> {hls.direction = "out", hls.name = "out"})
// CHECK-SAME: hls.comment = "load_x: dma_in, reads arg0 (8 f32), out 8 x 32 bits"
// CHECK-SAME: hls.task, kind = "dma_in"
// CHECK: memref.load %[[M]]
// CHECK: stream.write %{{.*}}, %[[OUT]]
// CHECK: {hls.label = "loop0", hls.pipeline = #hls.pipeline<ii = 1>}

// CHECK-LABEL: func.func private @while_(
// CHECK-SAME: hls.name = "in"
// CHECK-SAME: hls.name = "out"
// CHECK-SAME: hls.comment = "while_: relu at model.py:3, in 8 x 32 bits, out 8 x 32 bits"
// The constant of the kernel is copied into the task.
// CHECK: arith.constant 0.000000e+00 : f32
// CHECK: {hls.label = "i", hls.pipeline = #hls.pipeline<ii = 1>}

// CHECK-LABEL: func.func private @store_y(

// CHECK-LABEL: func.func private @group_0(
// CHECK-SAME: %[[A:.*]]: memref<8xf32> {hls.direction = "in", hls.name = "arg0"},
// CHECK-SAME: %[[W:.*]]: memref<8xf32> {hls.direction = "out", hls.name = "workspace0"})
// CHECK-SAME: attributes {hls.dataflow}
// CHECK-NEXT: %[[S0:.*]] = stream.stream "load_x_out" tokens 8
// CHECK-NEXT: %[[S1:.*]] = stream.stream "relu_out" tokens 8
// CHECK-NEXT: hls.task @load_x(%[[A]], %[[S0]])
// CHECK-NEXT: hls.task @while_(%[[S0]], %[[S1]])
// CHECK-NEXT: hls.task @store_y(%[[S1]], %[[W]])
// CHECK-NEXT: hls.join
// CHECK-NEXT: return

// A name that is taken gets a number; a reshaped workspace keeps its name.
// CHECK-LABEL: func.func private @load_x_1(
// CHECK-SAME: memref<2x4xf32> {hls.direction = "in", hls.name = "workspace0"}

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:.*]]: memref<8xf32> {dataflow.name = "arg0", dataflow.role = "input", hls.direction = "in", hls.interface = #hls.interface<bundle = "gmem0", depth = 8, burst = 64>, hls.name = "arg0"},
// CHECK-SAME: %[[Y:.*]]: memref<8xf32> {{{.*}}hls.direction = "out", hls.interface = #hls.interface<bundle = "gmem1", depth = 8, burst = 64>, hls.name = "result0"},
// CHECK-SAME: %[[WS:.*]]: memref<8xf32> {dataflow.name = "workspace0", dataflow.role = "workspace", hls.direction = "inout", hls.interface = #hls.interface<bundle = "gmem2", depth = 8, burst = 64>, hls.name = "workspace0"})
// CHECK-SAME: attributes {hls.top}
// CHECK: call @group_0(%[[X]], %[[WS]])
// CHECK: %[[VIEW:.*]] = memref.expand_shape %[[WS]]
// CHECK: call @group1(%[[VIEW]], %[[Y]])

// SHARED-LABEL: func.func @f(
// SHARED-SAME: #hls.interface<bundle = "gmem0", depth = 8, burst = 16>
// SHARED-SAME: #hls.interface<bundle = "gmem1", depth = 8, burst = 16>
// SHARED-SAME: #hls.interface<bundle = "gmem0", depth = 8, burst = 16>
func.func @f(%arg0: memref<8xf32> {dataflow.name = "arg0", dataflow.role = "input"},
             %result0: memref<8xf32> {dataflow.name = "result0", dataflow.role = "output"}) {
  %ws = memref.alloc() {hls.name = "workspace0"} : memref<8xf32>
  dataflow.kernel "group.0" (%m0: memref<8xf32> = %arg0 : memref<8xf32>, %m1: memref<8xf32> = %ws : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %s0 = stream.stream "load_x_out" tokens 8 : !stream.stream<1xf32, 2>
    dataflow.task "load_x" attributes {kind = "dma_in"} {
      scf.for %i = %c0 to %c8 step %c1 {
        %t = memref.alloc() : memref<1xf32>
        %v = memref.load %m0[%i] : memref<8xf32>
        memref.store %v, %t[%c0] : memref<1xf32>
        stream.write %t, %s0 : memref<1xf32>, !stream.stream<1xf32, 2>
      }
    }
    %s1 = stream.stream "relu_out" tokens 8 : !stream.stream<1xf32, 2>
    dataflow.task "while" attributes {kind = "compute", source = "relu at model.py:3"} {
      scf.for %i = %c0 to %c8 step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.read %s0 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
        %u = memref.alloc() : memref<1xf32>
        %v = memref.load %t[%c0] : memref<1xf32>
        %w = arith.maximumf %v, %zero : f32
        memref.store %w, %u[%c0] : memref<1xf32>
        stream.write %u, %s1 : memref<1xf32>, !stream.stream<1xf32, 2>
      } {hls.label = "i"}
    }
    dataflow.task "store_y" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c8 step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.read %s1 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
        %v = memref.load %t[%c0] : memref<1xf32>
        memref.store %v, %m1[%i] : memref<8xf32>
      }
    }
    dataflow.yield
  }
  %view = memref.expand_shape %ws [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  dataflow.kernel "group1" (%m0: memref<2x4xf32> = %view : memref<2x4xf32>, %m1: memref<8xf32> = %result0 : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %s0 = stream.stream "load_x_1_out" tokens 8 : !stream.stream<1xf32, 2>
    dataflow.task "load_x" attributes {kind = "dma_in"} {
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %c4 step %c1 {
          %t = memref.alloc() : memref<1xf32>
          %v = memref.load %m0[%i, %j] : memref<2x4xf32>
          memref.store %v, %t[%c0] : memref<1xf32>
          stream.write %t, %s0 : memref<1xf32>, !stream.stream<1xf32, 2>
        }
      }
    }
    dataflow.task "store_y" attributes {kind = "dma_out"} {
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.read %s0 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
        %v = memref.load %t[%c0] : memref<1xf32>
        memref.store %v, %m1[%i] : memref<8xf32>
      }
    }
    dataflow.yield
  }
  return
}

// -----

// Initiation intervals. A float sum needs 4 cycles from one iteration to the
// next (5 with the read of an array), so a sum over d cells needs ceil(5 / d);
// a maximum needs 1. Lanes are banks; the kind of memory follows from the words
// of a bank: 2 here, so LUTRAM.

// CHECK-LABEL: func.func private @sums(
// CHECK: stream.buffer "one" : memref<1xf32>
// CHECK: stream.buffer "two" {hls.partition = [#hls.partition<kind = "complete", factor = 0, dim = 2>], hls.storage = #hls.storage<type = "ram_2p", impl = "lutram">} : memref<2x4xf32>
// CHECK: stream.buffer "wide" {hls.partition = [#hls.partition<kind = "cyclic", factor = 4, dim = 1>], hls.storage = #hls.storage<type = "ram_2p", impl = "bram">} : memref<1024xf32>
// One cell: 4.
// CHECK: {hls.label = "sum", hls.pipeline = #hls.pipeline<ii = 4>}
// CHECK: {hls.label = "max", hls.pipeline = #hls.pipeline<ii = 1>}
// Two cells in turn: ceil(5 / 2) = 3.
// CHECK: {hls.label = "inner", hls.pipeline = #hls.pipeline<ii = 3>}
// CHECK: {hls.label = "outer"}
// Each cell once: nothing is carried.
// CHECK: {hls.label = "all", hls.pipeline = #hls.pipeline<ii = 1>, hls.unroll = #hls.unroll<factor = 4>}
func.func @g(%arg0: memref<8xf32> {dataflow.name = "arg0", dataflow.role = "input"}) {
  dataflow.kernel "group0" (%m0: memref<8xf32> = %arg0 : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c1024 = arith.constant 1024 : index
    %x = arith.constant 1.0 : f32
    dataflow.task "sums" attributes {kind = "compute"} {
      %one = stream.buffer "one" : memref<1xf32>
      %two = stream.buffer "two" : memref<2x4xf32>
      %wide = stream.buffer "wide" : memref<1024xf32>
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %one[%c0] : memref<1xf32>
        %s = arith.addf %v, %x : f32
        memref.store %s, %one[%c0] : memref<1xf32>
      } {hls.label = "sum"}
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %one[%c0] : memref<1xf32>
        %s = arith.maximumf %v, %x : f32
        memref.store %s, %one[%c0] : memref<1xf32>
      } {hls.label = "max"}
      scf.for %i = %c0 to %c8 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          scf.for %l = %c0 to %c4 step %c1 {
            %v = memref.load %two[%j, %l] : memref<2x4xf32>
            %s = arith.addf %v, %x : f32
            memref.store %s, %two[%j, %l] : memref<2x4xf32>
          } {hls.unroll = #hls.unroll<factor = 0>}
        } {hls.label = "inner"}
      } {hls.label = "outer"}
      scf.for %i = %c0 to %c1024 step %c1 {
        %v = memref.load %wide[%i] : memref<1024xf32>
        %s = arith.addf %v, %x : f32
        memref.store %s, %wide[%i] : memref<1024xf32>
      } {hls.label = "all", hls.unroll = #hls.unroll<factor = 4>}
    }
    dataflow.yield
  }
  return
}
