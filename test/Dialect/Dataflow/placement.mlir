// Dies, memories and register stages stand on tasks and FIFOs from phase
// allocated on, and every later phase keeps or obeys them.
// RUN: split-file %s %t
// RUN: streamtensor-opt %t/allocated.mlir | streamtensor-opt | FileCheck %s --check-prefix=ALLOCATED
// RUN: streamtensor-opt %t/allocated.mlir --st-dataflow-to-stream | FileCheck %s --check-prefix=STREAM
// RUN: streamtensor-opt %t/stream.mlir --st-stream-to-hls | FileCheck %s --check-prefix=HLS
// RUN: streamtensor-opt %t/stream.mlir --st-stream-to-hls --st-emit-hls-cpp -o /dev/null | FileCheck %s --check-prefix=CPP

// ALLOCATED: itensor.instance "load_out" depth 300 {dataflow.crossing = 4 : i64, dataflow.memory = "uram"}
// ALLOCATED: dataflow.task "last" attributes {dataflow.die = "SLR2", dataflow.memories = {ring = "lutram"}, kind = "dma_out"}

// STREAM: stream.stream "load_out" tokens 400 {dataflow.crossing = 4 : i64, dataflow.memory = "uram"} : !stream.stream<1xf32, 300>
// STREAM: dataflow.task "last" attributes {dataflow.die = "SLR2", dataflow.memories = {ring = "lutram"}, kind = "dma_out"}

// 400 words alone would be block memory, as the second array is.
// HLS: func.func private @last(
// HLS-SAME: dataflow.die = "SLR2"
// HLS: stream.buffer "ring" {hls.storage = #hls.storage<type = "ram_2p", impl = "lutram">}
// HLS: stream.buffer "other" {hls.storage = #hls.storage<type = "ram_2p", impl = "bram">}
// HLS: stream.stream "load_out" tokens 400 {dataflow.crossing = 4 : i64, dataflow.memory = "uram"}

// CPP: static void last(
// CPP: #pragma HLS bind_storage variable=ring type=ram_2p impl=lutram
// CPP: ST_FIFO(float, load_out, 300);
// CPP-NEXT: #pragma HLS bind_storage variable=load_out type=fifo impl=uram

//--- allocated.mlir
!A = !itensor.itensor<1xf32, [400] * [1], (d0) -> (d0)>
func.func @f(%x: memref<400xf32> {dataflow.name = "x", dataflow.role = "input"},
             %y: memref<400xf32> {dataflow.name = "y", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%mx: memref<400xf32> = %x : memref<400xf32>, %my: memref<400xf32> = %y : memref<400xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c400 = arith.constant 400 : index
    %e = itensor.instance "load_out" depth 300 {dataflow.crossing = 4 : i64, dataflow.memory = "uram"} : !A
    %s = dataflow.task "load" inits(%o = %e) : (!A) attributes {dataflow.die = "SLR0", kind = "dma_in"} {
      %l = scf.for %i = %c0 to %c400 step %c1 iter_args(%p = %o) -> (!A) {
        %v = memref.subview %mx[%i] [1] [1] : memref<400xf32> to memref<1xf32, strided<[1], offset: ?>>
        %t = bufferization.to_tensor %v restrict : memref<1xf32, strided<[1], offset: ?>> to tensor<1xf32>
        %q = itensor.write %t into %p : tensor<1xf32>, !A
        scf.yield %q : !A
      }
      dataflow.yield %l : !A
    }
    dataflow.task "last" attributes {dataflow.die = "SLR2", dataflow.memories = {ring = "lutram"}, kind = "dma_out"} {
      scf.for %i = %c0 to %c400 step %c1 {
        %n = tensor.empty() : tensor<1xf32>
        %t = itensor.read %s init(%n : tensor<1xf32>) : !A -> tensor<1xf32>
        %v = memref.subview %my[%i] [1] [1] : memref<400xf32> to memref<1xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %v : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

//--- stream.mlir
func.func @f(%x: memref<400xf32> {dataflow.name = "x", dataflow.role = "input"},
             %y: memref<400xf32> {dataflow.name = "y", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%mx: memref<400xf32> = %x : memref<400xf32>, %my: memref<400xf32> = %y : memref<400xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c400 = arith.constant 400 : index
    %s = stream.stream "load_out" tokens 400 {dataflow.crossing = 4 : i64, dataflow.memory = "uram"} : !stream.stream<f32, 300>
    dataflow.task "load" attributes {dataflow.die = "SLR0", kind = "dma_in"} {
      scf.for %i = %c0 to %c400 step %c1 {
        %v = memref.load %mx[%i] : memref<400xf32>
        stream.write %v, %s : f32, !stream.stream<f32, 300>
      }
      dataflow.yield
    }
    dataflow.task "last" attributes {dataflow.die = "SLR2", dataflow.memories = {ring = "lutram"}, kind = "dma_out"} {
      %ring = stream.buffer "ring" : memref<400xf32>
      %other = stream.buffer "other" : memref<400xf32>
      scf.for %i = %c0 to %c400 step %c1 {
        %v = stream.read %s : !stream.stream<f32, 300> -> f32
        memref.store %v, %ring[%i] : memref<400xf32>
        memref.store %v, %other[%i] : memref<400xf32>
      }
      scf.for %i = %c0 to %c400 step %c1 {
        %v = memref.load %ring[%i] : memref<400xf32>
        %w = memref.load %other[%i] : memref<400xf32>
        %z = arith.addf %v, %w : f32
        memref.store %z, %my[%i] : memref<400xf32>
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
