// RUN: streamtensor-opt %s --st-repeat-layers | FileCheck %s
// RUN: streamtensor-opt %s --st-repeat-layers | \
// RUN:   streamtensor-opt --st-emit-hls-cpp -o /dev/null | FileCheck %s --check-prefix=CPP

// Memory has an outermost dimension over layers, but for the hidden state of
// the first one; the loads are told which.

// CHECK-LABEL: func.func private @load_arg0(
// CHECK-SAME: %[[MEMORY:[^:]+]]: memref<4x8xf32>
// CHECK-SAME: %[[FEEDBACK:[^:]+]]: !stream.stream<8xf32, 4> {hls.direction = "in", hls.name = "feedback"}
// CHECK-SAME: %[[LAYER:[^:]+]]: index {hls.name = "layer"}
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LAYER]], %{{.*}} : index
// CHECK: scf.if %[[FIRST]] {
// CHECK: memref.subview %[[MEMORY]]
// CHECK: } else {
// CHECK: stream.read %[[FEEDBACK]]
// CHECK: } {hls.boundary}

// CHECK-LABEL: func.func private @load_arg1(
// CHECK-SAME: %[[MEMORY:[^:]+]]: memref<3x1x8xf32>
// CHECK-SAME: %[[LAYER:[^:]+]]: index {hls.name = "layer"}
// CHECK: memref.subview %[[MEMORY]][%[[LAYER]], 0, 0] [1, 1, 8] [1, 1, 1]

// The FIFO at the end of a layer may be deeper than two, which the one behind
// the task that carries is.

// CHECK-LABEL: func.func private @store_result0(
// CHECK-SAME: !stream.stream<1x8xf32, 2>
// CHECK-SAME: memref<3x4x8xf32>

// CHECK-LABEL: func.func private @carry_result0(
// CHECK-SAME: %[[IN:[^:]+]]: !stream.stream<1x8xf32, 6>
// CHECK-SAME: %[[OUT:[^:]+]]: !stream.stream<1x8xf32, 2>
// CHECK-SAME: %[[NEXT:[^:]+]]: !stream.stream<8xf32, 4>
// CHECK: scf.if
// CHECK-NOT: %[[NEXT]]
// CHECK: } else {
// CHECK: stream.write %{{.*}}, %[[NEXT]]
// CHECK: } {hls.boundary}

// The body runs once per layer; what is carried stands in front of it.

// CHECK-LABEL: func.func private @group0(
// CHECK-SAME: index {dataflow.parameter = "layers", hls.name = "layers"}
// CHECK-SAME: attributes {hls.dataflow, hls.repeat = "layers", hls.trip_count = #hls.trip_count<min = 1, max = 3>}
// CHECK: stream.stream "result0_feedback" tokens 4 {{.*}}hls.feedback
// CHECK: %[[LAYER:.*]] = hls.iteration "layer"
// CHECK: hls.task @load_arg1(%{{.*}}, %{{.*}}, %[[LAYER]])

// CHECK-LABEL: func.func @layer(
// CHECK-SAME: memref<4x8xf32> {dataflow.dims = ["tokens max 4", ""]
// CHECK-SAME: memref<3x1x8xf32>
// CHECK-SAME: dataflow.packing = !itensor.itensor<1x8xf32, [3] * [1], (d0) -> (d0, 0)>
// CHECK-SAME: dataflow.shape = array<i64: 3, 8>
// CHECK-SAME: memref<3x4x8xf32> {dataflow.dims = ["layers max 3", "tokens max 4", ""]
// CHECK-SAME: dataflow.parameters = {layers = array<i64: 1, 3>, tokens = array<i64: 1, 4>}

// CPP: ST_FEEDBACK(f32x8, result0_feedback, 4);
// CPP: for (int {{layer.*}} = 0; {{layer.*}} < layers; ++{{layer.*}}) {
// CPP-NEXT: #pragma HLS dataflow
// CPP: ST_FIFO(f32x8, load_arg0_out, 2);
// CPP:      carry_result0,
// CPP-NEXT: add_0_out,
// CPP-NEXT: carry_result0_out0,
// CPP-NEXT: result0_feedback,
// CPP-NEXT: {{layer.*}},
// CPP-NEXT: layers,
// CPP-NEXT: tokens);
// CPP: ST_JOIN();
// CPP-NEXT: }

module {
  func.func private @load_arg0(%arg0: memref<4x8xf32> {hls.direction = "in", hls.name = "arg0", hls.packed = 8 : i64}, %arg1: !stream.stream<1x8xf32, 2> {hls.direction = "out", hls.name = "out"}, %arg2: index {dataflow.parameter = "tokens", hls.name = "tokens"}) attributes {argument = "arg0", hls.task, kind = "dma_in"} {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    scf.for %arg3 = %c0 to %arg2 step %c1 {
      %subview = memref.subview %arg0[%arg3, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
      stream.write %subview, %arg1 : memref<1x8xf32, strided<[8, 1], offset: ?>>, !stream.stream<1x8xf32, 2>
    } {hls.label = "load", hls.pipeline = #hls.pipeline<ii = 1>, hls.trip_count = #hls.trip_count<min = 1, max = 4>}
    return
  }
  func.func private @load_arg1(%arg0: memref<1x8xf32> {hls.direction = "in", hls.name = "arg1", hls.packed = 8 : i64}, %arg1: !stream.stream<8xf32, 1> {hls.direction = "out", hls.name = "out"}) attributes {argument = "arg1", hls.task, kind = "dma_in"} {
    %subview = memref.subview %arg0[0, 0] [1, 8] [1, 1] : memref<1x8xf32> to memref<8xf32, strided<[1]>>
    stream.write %subview, %arg1 : memref<8xf32, strided<[1]>>, !stream.stream<8xf32, 1>
    return
  }
  func.func private @add_0(%arg0: !stream.stream<8xf32, 1> {hls.direction = "in", hls.name = "arg1"}, %arg1: !stream.stream<1x8xf32, 2> {hls.direction = "in", hls.name = "arg0"}, %arg2: !stream.stream<1x8xf32, 6> {hls.direction = "out", hls.name = "out"}, %arg3: index {dataflow.parameter = "tokens", hls.name = "tokens"}) attributes {hls.task, kind = "compute"} {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c0 = arith.constant 0 : index
    %alloc = memref.alloc() : memref<8xf32>
    stream.read %arg0 into %alloc : !stream.stream<8xf32, 1>, memref<8xf32>
    scf.for %arg4 = %c0 to %arg3 step %c1 {
      %alloc_0 = memref.alloc() : memref<1x8xf32>
      stream.read %arg1 into %alloc_0 : !stream.stream<1x8xf32, 2>, memref<1x8xf32>
      %alloc_1 = memref.alloc() : memref<1x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %0 = memref.load %alloc_0[%c0, %arg5] : memref<1x8xf32>
        %1 = memref.load %alloc[%arg5] : memref<8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %alloc_1[%c0, %arg5] : memref<1x8xf32>
      } {hls.unroll = #hls.unroll<factor = 0>}
      stream.write %alloc_1, %arg2 : memref<1x8xf32>, !stream.stream<1x8xf32, 6>
    } {hls.label = "loop0", hls.pipeline = #hls.pipeline<ii = 1>, hls.trip_count = #hls.trip_count<min = 1, max = 4>}
    return
  }
  func.func private @store_result0(%arg0: !stream.stream<1x8xf32, 6> {hls.direction = "in", hls.name = "in"}, %arg1: memref<4x8xf32> {hls.direction = "out", hls.name = "result0", hls.packed = 8 : i64}, %arg2: index {dataflow.parameter = "tokens", hls.name = "tokens"}) attributes {argument = "result0", hls.task, kind = "dma_out"} {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    scf.for %arg3 = %c0 to %arg2 step %c1 {
      %subview = memref.subview %arg1[%arg3, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
      stream.read %arg0 into %subview : !stream.stream<1x8xf32, 6>, memref<1x8xf32, strided<[8, 1], offset: ?>>
    } {hls.label = "store", hls.pipeline = #hls.pipeline<ii = 1>, hls.trip_count = #hls.trip_count<min = 1, max = 4>}
    return
  }
  func.func private @group0(%arg0: memref<4x8xf32> {hls.direction = "in", hls.name = "arg0", hls.packed = 8 : i64}, %arg1: memref<1x8xf32> {hls.direction = "in", hls.name = "arg1", hls.packed = 8 : i64}, %arg2: memref<4x8xf32> {hls.direction = "out", hls.name = "result0", hls.packed = 8 : i64}, %arg3: index {dataflow.parameter = "tokens", hls.name = "tokens"}) attributes {hls.dataflow} {
    %0 = stream.stream "load_arg0_out" tokens 4 {dataflow.memory = "srl"} : !stream.stream<1x8xf32, 2>
    %1 = stream.stream "load_arg1_out" tokens 1 {dataflow.memory = "srl"} : !stream.stream<8xf32, 1>
    %2 = stream.stream "add_0_out" tokens 4 {dataflow.memory = "srl"} : !stream.stream<1x8xf32, 6>
    hls.task @load_arg0(%arg0, %0, %arg3) : memref<4x8xf32>, !stream.stream<1x8xf32, 2>, index
    hls.task @load_arg1(%arg1, %1) : memref<1x8xf32>, !stream.stream<8xf32, 1>
    hls.task @add_0(%1, %0, %2, %arg3) : !stream.stream<8xf32, 1>, !stream.stream<1x8xf32, 2>, !stream.stream<1x8xf32, 6>, index
    hls.task @store_result0(%2, %arg2, %arg3) : !stream.stream<1x8xf32, 6>, memref<4x8xf32>, index
    hls.join
    return
  }
  func.func @layer(%arg0: memref<4x8xf32> {dataflow.dims = ["tokens max 4", ""], dataflow.name = "arg0", dataflow.role = "input", hls.direction = "in", hls.interface = #hls.interface<bundle = "gmem0", depth = 4, burst = 64>, hls.name = "arg0", hls.packed = 8 : i64}, %arg1: memref<1x8xf32> {dataflow.name = "arg1", dataflow.packing = !itensor.itensor<8xf32, [] * [], () -> (0)>, dataflow.role = "weight", dataflow.shape = array<i64: 8>, dataflow.tensor_shape = array<i64: 8>, dataflow.token_shape = array<i64: 8>, hls.direction = "in", hls.interface = #hls.interface<bundle = "gmem1", depth = 1, burst = 64>, hls.name = "arg1", hls.packed = 8 : i64}, %arg2: memref<4x8xf32> {dataflow.dims = ["tokens max 4", ""], dataflow.name = "result0", dataflow.role = "output", hls.direction = "out", hls.interface = #hls.interface<bundle = "gmem2", depth = 4, burst = 64>, hls.name = "result0", hls.packed = 8 : i64}, %arg3: index {dataflow.parameter = "tokens", hls.name = "tokens"}) attributes {dataflow.parameters = {tokens = array<i64: 1, 4>}, dataflow.repeat = {argument = "arg0", count = 3 : i64, parameter = "layers", result = "result0", shared = []}, hls.top} {
    call @group0(%arg0, %arg1, %arg2, %arg3) : (memref<4x8xf32>, memref<1x8xf32>, memref<4x8xf32>, index) -> ()
    return
  }
}

