// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: streamtensor-opt %t/design.mlir --st-stream-to-hls --st-write-design="output-dir=%t target=u280" -o /dev/null
// RUN: FileCheck %s --check-prefix=INTERFACE --input-file=%t/interface.json
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/report.json
// RUN: FileCheck %s --check-prefix=CFG --input-file=%t/connectivity.cfg
// RUN: not streamtensor-opt %t/dims.mlir --st-stream-to-hls --st-write-design="output-dir=%t" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DIMS
// RUN: streamtensor-opt %t/uncounted.mlir --st-stream-to-hls --st-write-design="output-dir=%t" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNCOUNTED

// DIMS: argument 'x': expected 'dataflow.dims' to be a list of 2 texts but got ["seq max 8"]

// INTERFACE:      "parameters": [
// INTERFACE-NEXT:   {
// INTERFACE-NEXT:     "name": "seq",
// INTERFACE-NEXT:     "min": 1,
// INTERFACE-NEXT:     "max": 8
// INTERFACE:      "shape": [8, 4],
// INTERFACE-NEXT: "dims": ["seq", "4"],
// INTERFACE-NEXT: "buffer_shape": [8, 4],
// 8 * 4 * 4 bytes
// INTERFACE-NEXT: "bytes": 128,
// A tensor of constant size.
// INTERFACE:      "shape": [16],
// INTERFACE-NEXT: "buffer_shape": [16],
// Tokens of the largest size.
// INTERFACE:      "name": "x_rows",
// INTERFACE:      "tokens": 8,
// 64 multiply-accumulates at the largest size, 8 for each of up to 8 tokens of
// x_rows. 16 tokens of w_all divide 64 as well, but come at every size.
// INTERFACE:      "name": "multiply",
// INTERFACE-NEXT: "kind": "compute",
// INTERFACE-NEXT: "group": "group0",
// INTERFACE-NEXT: "macs_fifo": "x_rows",
// INTERFACE-NEXT: "macs_per_token": 8

// REPORT: "name": "load_x",
// 8 tokens through a pipeline of depth 3: 7 + 3 - 1, + 2 for the function.
// REPORT: "latency_cycles": 11,

// Values are no ports to memory.
// CFG: sp=f_1.x:HBM
// CFG: sp=f_1.w:HBM
// CFG-NOT: seq

// UNCOUNTED: warning: {{.*}}expected a FIFO of task 'multiply' whose tokens are in proportion to its multiply-accumulates but got none; a run does not count them

//--- design.mlir
func.func @f(%x: memref<8x4xf32> {dataflow.name = "x", dataflow.role = "input", dataflow.dims = ["seq max 8", ""]},
             %w: memref<16xf32> {dataflow.name = "w", dataflow.role = "input"},
             %r: memref<1xf32> {dataflow.name = "result0", dataflow.role = "output"})
    attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  dataflow.kernel "group0" (%m0: memref<8x4xf32> = %x : memref<8x4xf32>,
                            %m1: memref<16xf32> = %w : memref<16xf32>,
                            %m2: memref<1xf32> = %r : memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %s0 = stream.stream "x_rows" tokens 8 : !stream.stream<1xf32, 2>
    %s1 = stream.stream "w_all" tokens 16 : !stream.stream<1xf32, 16>
    %s2 = stream.stream "sum" tokens 1 : !stream.stream<1xf32, 2>
    dataflow.task "load_x" attributes {kind = "dma_in", argument = "x"} {
      %n = dataflow.trip_count "seq max 8"
      scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %m0[%i, %c0] : memref<8x4xf32>
        %t = memref.alloc() : memref<1xf32>
        memref.store %v, %t[%c0] : memref<1xf32>
        stream.write %t, %s0 : memref<1xf32>, !stream.stream<1xf32, 2>
      }
    }
    dataflow.task "load_w" attributes {kind = "dma_in", argument = "w"} {
      scf.for %i = %c0 to %c16 step %c1 {
        %v = memref.load %m1[%i] : memref<16xf32>
        %t = memref.alloc() : memref<1xf32>
        memref.store %v, %t[%c0] : memref<1xf32>
        stream.write %t, %s1 : memref<1xf32>, !stream.stream<1xf32, 16>
      }
    }
    dataflow.task "multiply" attributes {kind = "compute", macs = 64 : i64} {
      %n = dataflow.trip_count "seq max 8"
      %acc = stream.buffer "acc" : memref<16xf32>
      scf.for %i = %c0 to %c16 step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.read %s1 into %t : !stream.stream<1xf32, 16>, memref<1xf32>
        %v = memref.load %t[%c0] : memref<1xf32>
        memref.store %v, %acc[%i] : memref<16xf32>
      }
      scf.for %i = %c0 to %n step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.read %s0 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
        scf.for %j = %c0 to %c8 step %c1 {
          %a = memref.load %t[%c0] : memref<1xf32>
          %b = memref.load %acc[%j] : memref<16xf32>
          %c = arith.mulf %a, %b : f32
          memref.store %c, %acc[%j] : memref<16xf32>
        }
      }
      %u = memref.alloc() : memref<1xf32>
      %v = memref.load %acc[%c0] : memref<16xf32>
      memref.store %v, %u[%c0] : memref<1xf32>
      stream.write %u, %s2 : memref<1xf32>, !stream.stream<1xf32, 2>
    }
    dataflow.task "store" attributes {kind = "dma_out", argument = "result0"} {
      %t = memref.alloc() : memref<1xf32>
      stream.read %s2 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
      %v = memref.load %t[%c0] : memref<1xf32>
      memref.store %v, %m2[%c0] : memref<1xf32>
    }
    dataflow.yield
  }
  return
}

//--- dims.mlir
// The sizes are those of the tensor that users know.
func.func @f(%x: memref<8xf32> {dataflow.name = "x", dataflow.role = "input", dataflow.tensor_shape = array<i64: 2, 4>, dataflow.dims = ["seq max 8"]})
    attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  return
}

//--- uncounted.mlir
func.func @f(%x: memref<8xf32> {dataflow.name = "x", dataflow.role = "input"})
    attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  dataflow.kernel "group0" (%m: memref<8xf32> = %x : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s0 = stream.stream "one" tokens 1 : !stream.stream<1xf32, 2>
    dataflow.task "load_x" attributes {kind = "dma_in", argument = "x"} {
      %t = memref.alloc() : memref<1xf32>
      %v = memref.load %m[%c0] : memref<8xf32>
      memref.store %v, %t[%c0] : memref<1xf32>
      stream.write %t, %s0 : memref<1xf32>, !stream.stream<1xf32, 2>
    }
    dataflow.task "multiply" attributes {kind = "compute", macs = 8 : i64} {
      %n = dataflow.trip_count "seq max 8"
      %t = memref.alloc() : memref<1xf32>
      stream.read %s0 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
      scf.for %i = %c0 to %n step %c1 {
        %a = memref.load %t[%c0] : memref<1xf32>
        %b = arith.mulf %a, %a : f32
        memref.store %b, %t[%c0] : memref<1xf32>
      }
    }
    dataflow.yield
  }
  return
}
