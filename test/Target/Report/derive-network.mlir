// Conditions around accesses in the timed network: on loops and run-time sizes. Those
// on data are not said, and too many sizes that decide are not certified.
// RUN: rm -rf %t && mkdir -p %t/whole && split-file %s %t
// RUN: streamtensor-compile %S/../Inputs/conditions.mlir --compile-from=allocated --output-dir=%t/whole 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: FileCheck %s --check-prefix=NETWORK --input-file=%t/whole/network.pn.json
// RUN: FileCheck %s --check-prefix=CERTIFICATE --input-file=%t/whole/certificate.json
// RUN: streamtensor-opt %t/data.mlir --st-stream-to-hls --st-write-design="output-dir=%t" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DATA
// RUN: not ls %t/network.pn.json
// RUN: streamtensor-opt %t/many.mlir --st-stream-to-hls --st-write-design="output-dir=%t" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY

// WHOLE-NOT: warning
// WHOLE: certificate: no deadlock at any size

// NETWORK: "parameters": [
// NETWORK-NEXT: {"name":"seq","min":1,"max":9}
// NETWORK: {"name":"last",{{.*}}{"pipeline":["seq"],{{.*}}{"if":"(i0 == (seq + -1))","then":[{"write":3,
// NETWORK: {"name":"blocks",{{.*}}{"if":"(((i0 * 4) + i1) < seq)","then":[{"read":2},{"write":4,

// Each of the nine lengths.
// CERTIFICATE: "base_points": [
// CERTIFICATE-COUNT-9: "seq":
// CERTIFICATE: "segments"

// DATA: warning: {{.*}}the condition around accesses of a fifo depends on more than loops and run-time sizes, which a timed network cannot say: the design has no certificate of its fifo depths and is not simulated in time

// MANY: warning: {{.*}}the design has no certificate of its fifo depths: run-time sizes decide about more than how often loops run, so that each of their values has to be looked at; expected at most 4096 combinations in a design of this many accesses but got those of 'seq' (1 to 5000); lower the largest sizes

//--- data.mlir
func.func @f(%x: memref<4xf32> {dataflow.name = "x", dataflow.role = "input"},
             %r: memref<4xf32> {dataflow.name = "result0", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%m0: memref<4xf32> = %x : memref<4xf32>,
                            %m1: memref<4xf32> = %r : memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %s0 = stream.stream "positive" tokens 4 : !stream.stream<1xf32, 4>
    dataflow.task "load_x" attributes {kind = "dma_in", argument = "x"} {
      scf.for %i = %c0 to %c4 step %c1 {
        %v = memref.load %m0[%i] : memref<4xf32>
        %t = memref.alloc() : memref<1xf32>
        memref.store %v, %t[%c0] : memref<1xf32>
        %is = arith.cmpf ogt, %v, %zero : f32
        scf.if %is {
          stream.write %t, %s0 : memref<1xf32>, !stream.stream<1xf32, 4>
        }
      }
    }
    dataflow.task "store" attributes {kind = "dma_out", argument = "result0"} {
      scf.for %i = %c0 to %c4 step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.read %s0 into %t : !stream.stream<1xf32, 4>, memref<1xf32>
        %v = memref.load %t[%c0] : memref<1xf32>
        memref.store %v, %m1[%i] : memref<4xf32>
      }
    }
    dataflow.yield
  }
  return
}

//--- many.mlir
func.func @f(%x: memref<5000xf32> {dataflow.name = "x", dataflow.role = "input", dataflow.dims = ["seq max 5000"]},
             %r: memref<1xf32> {dataflow.name = "result0", dataflow.role = "output"})
    attributes {dataflow.parameters = {seq = array<i64: 1, 5000>}} {
  dataflow.kernel "group0" (%m0: memref<5000xf32> = %x : memref<5000xf32>,
                            %m1: memref<1xf32> = %r : memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s0 = stream.stream "last" tokens 1 : !stream.stream<1xf32, 1>
    dataflow.task "load_x" attributes {kind = "dma_in", argument = "x"} {
      %n = dataflow.trip_count "seq max 5000"
      %end = arith.subi %n, %c1 : index
      scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %m0[%i] : memref<5000xf32>
        %t = memref.alloc() : memref<1xf32>
        memref.store %v, %t[%c0] : memref<1xf32>
        %is = arith.cmpi eq, %i, %end : index
        scf.if %is {
          stream.write %t, %s0 : memref<1xf32>, !stream.stream<1xf32, 1>
        }
      }
    }
    dataflow.task "store" attributes {kind = "dma_out", argument = "result0"} {
      %t = memref.alloc() : memref<1xf32>
      stream.read %s0 into %t : !stream.stream<1xf32, 1>, memref<1xf32>
      %v = memref.load %t[%c0] : memref<1xf32>
      memref.store %v, %m1[%c0] : memref<1xf32>
    }
    dataflow.yield
  }
  return
}
