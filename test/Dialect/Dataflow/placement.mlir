// Dies, memories and register stages stand on tasks and FIFOs from phase
// allocated on, and every later phase keeps or obeys them.
// RUN: streamtensor-opt %s | streamtensor-opt | FileCheck %s --check-prefix=ALLOCATED
// RUN: streamtensor-opt %s --st-dataflow-to-stream | FileCheck %s --check-prefix=STREAM
// RUN: streamtensor-opt %s --st-dataflow-to-stream --st-stream-to-hls | FileCheck %s --check-prefix=HLS
// RUN: streamtensor-opt %s --st-dataflow-to-stream --st-stream-to-hls --st-emit-hls-cpp -o /dev/null | FileCheck %s --check-prefix=CPP

!A = !itensor.itensor<f32, [400] * [1], (d0) -> (d0)>

// ALLOCATED: itensor.instance "load_out" depth 300 {dataflow.crossing = 4 : i64, dataflow.memory = "uram"}
// ALLOCATED: dataflow.task "last" attributes {dataflow.die = "SLR2", dataflow.memories = {ring = "lutram"}, kind = "dma_out"}

// STREAM: stream.stream "load_out" tokens 400 {dataflow.crossing = 4 : i64, dataflow.memory = "uram"} : !stream.stream<f32, 300>
// STREAM: dataflow.task "last" attributes {dataflow.die = "SLR2", dataflow.memories = {ring = "lutram"}, kind = "dma_out"}

// 400 words alone would be block memory.
// HLS: func.func private @last(
// HLS-SAME: dataflow.die = "SLR2"
// HLS: stream.buffer "ring" {hls.storage = #hls.storage<type = "ram_2p", impl = "lutram">}

// CPP: static void last(
// CPP: #pragma HLS bind_storage variable=ring type=ram_2p impl=lutram
// CPP: ST_FIFO(float, load_out, 300);
// CPP-NEXT: #pragma HLS bind_storage variable=load_out type=fifo impl=uram
func.func @f(%x: memref<400xf32> {dataflow.name = "x", dataflow.role = "input"},
             %y: memref<400xf32> {dataflow.name = "y", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%mx: memref<400xf32> = %x : memref<400xf32>, %my: memref<400xf32> = %y : memref<400xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c400 = arith.constant 400 : index
    %e = itensor.instance "load_out" depth 300 {dataflow.crossing = 4 : i64, dataflow.memory = "uram"} : !A
    %s = dataflow.task "load" inits(%o = %e) : (!A) attributes {dataflow.die = "SLR0", kind = "dma_in"} {
      %l = scf.for %i = %c0 to %c400 step %c1 iter_args(%p = %o) -> (!A) {
        %v = memref.load %mx[%i] : memref<400xf32>
        %q = itensor.write %v into %p : f32, !A
        scf.yield %q : !A
      }
      dataflow.yield %l : !A
    }
    dataflow.task "last" attributes {dataflow.die = "SLR2", dataflow.memories = {ring = "lutram"}, kind = "dma_out"} {
      %ring = stream.buffer "ring" : memref<400xf32>
      scf.for %i = %c0 to %c400 step %c1 {
        %v = itensor.read %s : !A -> f32
        memref.store %v, %ring[%i] : memref<400xf32>
      }
      scf.for %i = %c0 to %c400 step %c1 {
        %v = memref.load %ring[%i] : memref<400xf32>
        memref.store %v, %my[%i] : memref<400xf32>
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
