// Kernel, task, yield and schedule are read, printed and read again; the
// examples of the operations' descriptions stand here.
// RUN: streamtensor-opt %s | streamtensor-opt | FileCheck %s
// RUN: streamtensor-opt %s --emit-bytecode | streamtensor-opt | FileCheck %s

// CHECK-LABEL: func.func @kernel
func.func @kernel(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = dataflow.kernel "relu" (%[[X:.*]]: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> = %{{.*}} : tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[E:.*]] = itensor.empty
  // CHECK-NEXT: %[[Y:.*]] = dataflow.task "relu" inits(%[[O:.*]] = %[[E]]) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // CHECK-NEXT: dataflow.yield %[[O]] :
  // CHECK: dataflow.yield %[[Y]] : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  %0 = dataflow.kernel "relu" (%x : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> = %arg0 : tensor<8xf32>) -> (tensor<8xf32>) {
    %e = itensor.empty : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    %y = dataflow.task "relu" inits(%o = %e) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
      dataflow.yield %o : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    }
    dataflow.yield %y : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  }
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @task
func.func @task(%e: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // CHECK: dataflow.task "copy" inits({{.*}}) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) attributes {kind = "compute"} {
  %y = dataflow.task "copy" inits(%o = %e) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) attributes {kind = "compute"} {
    dataflow.yield %o : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  }
  return
}

// Tasks inside a task are processes of their own.
// CHECK-LABEL: func.func @nested_task
func.func @nested_task(%e: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // CHECK: dataflow.task "outer" inits(%[[O:.*]] = %{{.*}}) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // CHECK: dataflow.task "first" inits({{.*}}) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // CHECK: %[[B:.*]] = dataflow.task "second" inits(%{{.*}} = %[[O]]) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // CHECK: dataflow.yield %[[B]]
  %z = dataflow.task "outer" inits(%o = %e) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
    %i = itensor.empty : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    %a = dataflow.task "first" inits(%p = %i) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
      dataflow.yield %p : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    }
    %b = dataflow.task "second" inits(%p = %o) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
      %x = itensor.read %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> -> f32
      %q = itensor.write %x into %p : f32, !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
      dataflow.yield %q : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    }
    dataflow.yield %b : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  }
  return
}

// Two tasks may start from one itensor.empty, which is no FIFO yet.
// CHECK-LABEL: func.func @one_empty
func.func @one_empty() {
  dataflow.kernel "k" () {
    %e = itensor.empty : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    // CHECK: dataflow.task "a"
    %a = dataflow.task "a" inits(%o = %e) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
      dataflow.yield %o : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    }
    // CHECK: dataflow.task "b"
    %b = dataflow.task "b" inits(%o = %e) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
      dataflow.yield %o : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    }
    dataflow.yield
  }
  return
}

// A task over streams has effects only: no inits, no results, and its yield may
// be left out.
// CHECK-LABEL: func.func @effects
func.func @effects(%m: memref<8xf32>) {
  // CHECK: dataflow.kernel "load" (%{{.*}}: memref<8xf32> = %{{.*}} : memref<8xf32>) {
  dataflow.kernel "load" (%x : memref<8xf32> = %m : memref<8xf32>) {
    %s = stream.stream "load_x_out" : !stream.stream<f32, 2>
    %zero = arith.constant 0 : index
    // CHECK: dataflow.task "load_x" attributes {kind = "dma_in"} {
    dataflow.task "load_x" attributes {kind = "dma_in"} {
      %v = memref.load %x[%zero] : memref<8xf32>
      // CHECK: stream.write
      stream.write %v, %s : f32, !stream.stream<f32, 2>
      // CHECK-NEXT: dataflow.yield
    }
    dataflow.yield
  }
  return
}

// CHECK-LABEL: func.func @schedule
func.func @schedule(%a: tensor<4x8xf32>, %b: tensor<8x32xf32>, %c: tensor<4x32xf32>) -> tensor<4x32xf32> {
  // k outermost, 16 columns a token, 16 multipliers.
  // CHECK: linalg.matmul {schedule = #dataflow.schedule<order = [0, 2, 1], tile = [1, 16, 1], unroll = [1, 16, 1]>}
  %0 = linalg.matmul {schedule = #dataflow.schedule<order = [0, 2, 1], tile = [1, 16, 1], unroll = [1, 16, 1]>}
      ins(%a, %b : tensor<4x8xf32>, tensor<8x32xf32>) outs(%c : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}

// Blocks: a dimension listed twice, with the step of every loop.
// CHECK-LABEL: func.func @blocks
func.func @blocks(%a: tensor<4x32x8xf32>) -> tensor<4x32x8xf32> {
  %e = tensor.empty() : tensor<4x32x8xf32>
  // CHECK: linalg.exp {schedule = #dataflow.schedule<order = [1, 0, 1, 2], steps = [16, 1, 1, 8], tile = [1, 1, 8], unroll = [1, 1, 8]>}
  %0 = linalg.exp {schedule = #dataflow.schedule<order = [1, 0, 1, 2], steps = [16, 1, 1, 8], tile = [1, 1, 8], unroll = [1, 1, 8]>}
      ins(%a : tensor<4x32x8xf32>) outs(%e : tensor<4x32x8xf32>) -> tensor<4x32x8xf32>
  return %0 : tensor<4x32x8xf32>
}

// CHECK-LABEL: @trip_count
func.func @trip_count() -> index {
  // CHECK: dataflow.trip_count "past max 255 + 1"
  %n = dataflow.trip_count "past max 255 + 1"
  return %n : index
}
