// What a design's interface and report cannot say. Text of phase hls, as hand-written
// text or another compiler may give it.
// RUN: rm -rf %t && mkdir %t
// RUN: streamtensor-opt %s --st-write-design=output-dir=%t --split-input-file --verify-diagnostics -o /dev/null

// expected-error @below {{expected 'hls.direction' of argument 1 to be "in" or "out"}}
func.func private @copy(%m: memref<4xf32> {hls.direction = "in", hls.name = "m"}, %s: !stream.stream<f32, 2> {hls.direction = "both", hls.name = "out"}) attributes {hls.task, kind = "dma_in"} {
  return
}
func.func private @group0(%m: memref<4xf32> {hls.direction = "in", hls.name = "x"}) attributes {hls.dataflow} {
  %s = stream.stream "s" tokens 4 : !stream.stream<f32, 2>
  hls.task @copy(%m, %s) : memref<4xf32>, !stream.stream<f32, 2>
  hls.join
  return
}
func.func @f(%x: memref<4xf32> {dataflow.role = "input", hls.name = "x", hls.interface = #hls.interface<bundle = "gmem0", depth = 4, burst = 64>}) attributes {hls.top} {
  call @group0(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func private @copy(%m: memref<4xf32> {hls.direction = "in", hls.name = "m"}, %s: !stream.stream<f32, 2> {hls.direction = "out", hls.name = "out"}) attributes {hls.task, kind = "dma_in"} {
  return
}
func.func private @group0(%m: memref<4xf32> {hls.direction = "in", hls.name = "x"}) attributes {hls.dataflow} {
  // expected-error @below {{expected the number of tokens of stream 's'}}
  %s = stream.stream "s" : !stream.stream<f32, 2>
  hls.task @copy(%m, %s) : memref<4xf32>, !stream.stream<f32, 2>
  hls.join
  return
}
func.func @f(%x: memref<4xf32> {dataflow.role = "input", hls.name = "x", hls.interface = #hls.interface<bundle = "gmem0", depth = 4, burst = 64>}) attributes {hls.top} {
  call @group0(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func private @copy(%m: memref<4xf32> {hls.direction = "in", hls.name = "m"}, %s: !stream.stream<f32, 2> {hls.direction = "out", hls.name = "out"}) attributes {hls.task, kind = "dma_in"} {
  return
}
func.func private @group0(%m: memref<4xf32> {hls.direction = "in", hls.name = "x"}) attributes {hls.dataflow} {
  %s = stream.stream "s" tokens 4 : !stream.stream<f32, 2>
  // expected-error @below {{expected each stream name once in a design but got 's' again}}
  %t = stream.stream "s" tokens 4 : !stream.stream<f32, 2>
  hls.task @copy(%m, %s) : memref<4xf32>, !stream.stream<f32, 2>
  hls.join
  return
}
func.func @f(%x: memref<4xf32> {dataflow.role = "input", hls.name = "x", hls.interface = #hls.interface<bundle = "gmem0", depth = 4, burst = 64>}) attributes {hls.top} {
  call @group0(%x) : (memref<4xf32>) -> ()
  return
}

// -----

// Nothing but streams and memory of the group reaches a task.
func.func private @copy(%m: memref<4xf32> {hls.direction = "in", hls.name = "m"}, %s: !stream.stream<f32, 2> {hls.direction = "out", hls.name = "out"}) attributes {hls.task, kind = "dma_in"} {
  return
}
func.func private @group0(%m: memref<4xf32> {hls.direction = "in", hls.name = "x"}) attributes {hls.dataflow} {
  %s = stream.stream "s" tokens 4 : !stream.stream<f32, 2>
  %b = stream.buffer "b" : memref<4xf32>
  // expected-error @below {{expected streams and arguments of 'group0' as operands}}
  hls.task @copy(%b, %s) : memref<4xf32>, !stream.stream<f32, 2>
  hls.join
  return
}
func.func @f(%x: memref<4xf32> {dataflow.role = "input", hls.name = "x", hls.interface = #hls.interface<bundle = "gmem0", depth = 4, burst = 64>}) attributes {hls.top} {
  call @group0(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func private @copy(%m: memref<4xf32> {hls.direction = "in", hls.name = "m"}, %s: !stream.stream<f32, 2> {hls.direction = "out", hls.name = "out"}) attributes {hls.task, kind = "dma_in"} {
  return
}
func.func private @group0(%m: memref<4xf32> {hls.direction = "in", hls.name = "x"}) attributes {hls.dataflow} {
  %s = stream.stream "s" tokens 4 : !stream.stream<f32, 2>
  hls.task @copy(%m, %s) : memref<4xf32>, !stream.stream<f32, 2>
  hls.join
  return
}
// expected-error @below {{expected 'dataflow.role' on argument 'x'}}
func.func @f(%x: memref<4xf32> {hls.name = "x", hls.interface = #hls.interface<bundle = "gmem0", depth = 4, burst = 64>}) attributes {hls.top} {
  call @group0(%x) : (memref<4xf32>) -> ()
  return
}

// -----

// A transposed view of memory has no file form.
func.func private @copy(%m: memref<4xf32> {hls.direction = "in", hls.name = "m"}, %s: !stream.stream<f32, 2> {hls.direction = "out", hls.name = "out"}) attributes {hls.task, kind = "dma_in"} {
  return
}
func.func private @group0(%m: memref<4x4xf32, strided<[1, 4]>> {hls.direction = "in", hls.name = "x"}) attributes {hls.dataflow} {
  hls.join
  return
}
// expected-error @below {{expected argument 'x' to have row-major strides but got 'memref<4x4xf32, strided<[1, 4]>>'}}
func.func @f(%x: memref<4x4xf32, strided<[1, 4]>> {dataflow.role = "input", hls.name = "x", hls.interface = #hls.interface<bundle = "gmem0", depth = 4, burst = 64>}) attributes {hls.top} {
  call @group0(%x) : (memref<4x4xf32, strided<[1, 4]>>) -> ()
  return
}

// -----

func.func private @copy(%m: memref<4xf32> {hls.direction = "in", hls.name = "m"}, %s: !stream.stream<f32, 2> {hls.direction = "out", hls.name = "out"}) attributes {hls.task, kind = "dma_in"} {
  return
}
func.func private @group0(%m: memref<4xi4> {hls.direction = "in", hls.name = "x"}) attributes {hls.dataflow} {
  hls.join
  return
}
// expected-error @below {{expected argument 'x' to have an element type with a file form but got 'i4'}}
func.func @f(%x: memref<4xi4> {dataflow.role = "input", hls.name = "x", hls.interface = #hls.interface<bundle = "gmem0", depth = 4, burst = 64>}) attributes {hls.top} {
  call @group0(%x) : (memref<4xi4>) -> ()
  return
}
