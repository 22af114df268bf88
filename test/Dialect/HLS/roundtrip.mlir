// Every operation and attribute of the hls dialect is read, printed and read
// again; the examples of their descriptions stand here.
// RUN: streamtensor-opt %s | streamtensor-opt | FileCheck %s
// RUN: streamtensor-opt %s --emit-bytecode | streamtensor-opt | FileCheck %s

func.func private @load_arg0(memref<8xf32>, !stream.stream<f32, 2>)

// CHECK-LABEL: func.func @group0
func.func @group0(%m: memref<8xf32>) {
  %s = stream.stream "load_arg0_out" : !stream.stream<f32, 2>
  // CHECK: hls.task @load_arg0(%{{.*}}, %{{.*}}) : memref<8xf32>, !stream.stream<f32, 2>
  hls.task @load_arg0(%m, %s) : memref<8xf32>, !stream.stream<f32, 2>
  // CHECK: hls.iteration "layer"
  %layer = hls.iteration "layer"
  // CHECK-NEXT: hls.join
  hls.join
  return
}

// CHECK-LABEL: func.func @directives
// CHECK-SAME: #hls.interface<bundle = "gmem0", depth = 576, burst = 64>
func.func @directives(%m: memref<576xf32> {
    hls.interface = #hls.interface<bundle = "gmem0", depth = 576, burst = 64>},
    %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 36 : index
  // CHECK: memref.alloc()
  // CHECK-SAME: #hls.partition<kind = "cyclic", factor = 16, dim = 2>
  // CHECK-SAME: #hls.storage<type = "ram_2p", impl = "bram">
  %acc = memref.alloc() {
      hls.partition = #hls.partition<kind = "cyclic", factor = 16, dim = 2>,
      hls.storage = #hls.storage<type = "ram_2p", impl = "bram">} : memref<36x16xf32>
  scf.for %i = %zero to %end step %one {
    scf.for %j = %zero to %end step %one {
    // CHECK: } {hls.unroll = #hls.unroll<factor = 0>}
    } {hls.unroll = #hls.unroll<factor = 0>}
  // CHECK: } {hls.pipeline = #hls.pipeline<ii = 1>}
  } {hls.pipeline = #hls.pipeline<ii = 1>}
  scf.for %i = %zero to %n step %one {
  // CHECK: } {hls.trip_count = #hls.trip_count<min = 1, max = 128>}
  } {hls.trip_count = #hls.trip_count<min = 1, max = 128>}
  return
}
