// RUN: rm -rf %t && mkdir %t
// RUN: streamtensor-opt %s --st-stream-to-hls --st-write-design="output-dir=%t target=u280" -o /dev/null
// RUN: FileCheck %s --check-prefix=INTERFACE --input-file=%t/interface.json
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/report.json
// RUN: FileCheck %s --check-prefix=CFG --input-file=%t/connectivity.cfg
// RUN: FileCheck %s --check-prefix=MAKE --input-file=%t/Makefile
// RUN: FileCheck %s --check-prefix=HOST --input-file=%t/host/main.cpp
// RUN: FileCheck %s --check-prefix=HEADER --input-file=%t/hls/include/st_dataflow.h
// The hash of the kernel in both files is that of sha256sum.
// RUN: sha256sum %t/hls/kernel.cpp > %t/sum && cat %t/sum %t/interface.json %t/report.json | FileCheck %s --check-prefix=HASH
// The same input gives the same bytes.
// RUN: rm -rf %t.again && mkdir %t.again
// RUN: streamtensor-opt %s --st-stream-to-hls --st-write-design="output-dir=%t.again target=u280" -o /dev/null
// RUN: diff %t.again/interface.json %t/interface.json && diff %t.again/report.json %t/report.json && diff %t.again/hls/kernel.cpp %t/hls/kernel.cpp && diff -r %t.again/host %t/host
// RUN: not streamtensor-opt %s --st-stream-to-hls --st-write-design="output-dir=%t target=u55" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not streamtensor-opt %s --st-stream-to-hls --st-write-design="output-dir=%t/missing" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DIRECTORY
// RUN: not streamtensor-opt %s --st-write-design="output-dir=%t" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PHASE

// HASH: [[SUM:[0-9a-f]+]] {{.*}}kernel.cpp
// HASH: "kernel_sha256": "[[SUM]]"
// HASH: "kernel_sha256": "[[SUM]]"

// TARGET: expected a target among u55c, u280, kv260, zcu104 but got 'u55'
// DIRECTORY: expected an existing directory but got '{{.*}}/missing'
// PHASE: expected a function marked 'hls.top' (phase hls)

// INTERFACE:      "schema": 1,
// INTERFACE-NEXT: "function": "f",
// INTERFACE-NEXT: "kernel": "hls/kernel.cpp",
// INTERFACE:      "name": "arg0",
// INTERFACE-NEXT: "role": "weight",
// INTERFACE-NEXT: "dtype": "F32",
// The argument is 2x6; it is packed as the 4x3 tensor that a reshape made of it.
// INTERFACE-NEXT: "shape": [2, 6],
// INTERFACE-NEXT: "buffer_shape": [2, 6],
// 12 * 4 bytes
// INTERFACE-NEXT: "bytes": 48,
// INTERFACE-NEXT: "packed_shape": [4, 3],
// INTERFACE-NEXT: "packing": {
// INTERFACE-NEXT:   "element": [4, 1],
// INTERFACE-NEXT:   "trips": [3],
// INTERFACE-NEXT:   "steps": [1],
// INTERFACE-NEXT:   "map": [
// INTERFACE-NEXT:     [],
// INTERFACE-NEXT:     [0]
// INTERFACE-NEXT:   ]
// INTERFACE-NEXT: },
// INTERFACE-NEXT: "file": "weights/arg0.bin"
// A cache: 3 rows of a memory of 5.
// INTERFACE:      "name": "arg1",
// INTERFACE-NEXT: "role": "cache",
// INTERFACE-NEXT: "dtype": "F32",
// INTERFACE-NEXT: "shape": [2, 3, 4],
// INTERFACE-NEXT: "buffer_shape": [2, 5, 4],
// 2 * 5 * 4 * 4 bytes
// INTERFACE-NEXT: "bytes": 160,
// INTERFACE-NEXT: "packing": null
// INTERFACE:      "groups": [
// INTERFACE-NEXT:   "group0"
// INTERFACE:      "fifos": [
// INTERFACE:        "name": "load_arg0_out",
// INTERFACE-NEXT:   "group": "group0",
// INTERFACE-NEXT:   "producer": "load_arg0",
// INTERFACE-NEXT:   "consumer": "scale",
// INTERFACE-NEXT:   "depth": 2,
// INTERFACE-NEXT:   "tokens": 3,
// INTERFACE-NEXT:   "token_bits": 128
// INTERFACE:      "tasks": [
// INTERFACE:        "name": "scale",
// INTERFACE-NEXT:   "kind": "compute",
// INTERFACE-NEXT:   "group": "group0",
// Of the two inputs with 3 and 6 tokens, 6 is the most that divides 12.
// INTERFACE-NEXT:   "macs_fifo": "load_arg1_out",
// INTERFACE-NEXT:   "macs_per_token": 2
// INTERFACE:      "dma": [
// INTERFACE:        "name": "load_arg1",
// INTERFACE-NEXT:   "direction": "in",
// INTERFACE-NEXT:   "argument": "arg1",
// INTERFACE-NEXT:   "fifo": "load_arg1_out",
// INTERFACE-NEXT:   "bytes_per_token": 16,
// 6 tokens * 16 bytes
// INTERFACE-NEXT:   "bytes": 96

// REPORT:      "schema": 1,
// REPORT:      "target": {
// REPORT-NEXT:   "name": "u280",
// REPORT:      "fusion": {
// A buffer of 4 floats; FIFOs of 2 * 128, 2 * 128 and 3 * 128 bits:
// 32 + 32 + 48 = 112 bytes.
// REPORT:        "onchip_bytes": 16,
// REPORT-NEXT:   "fifo_bytes": 112
// REPORT-NEXT:   }
// REPORT-NEXT: ],
// REPORT-NEXT: "c_max_bytes": null,
// REPORT:      "tasks": [
// Three tokens through a pipeline of depth 3: 2 + 3 - 1, + 2 for the function.
// REPORT:        "name": "load_arg0",
// REPORT:        "ii": 1,
// REPORT-NEXT:   "depth": 3,
// REPORT-NEXT:   "latency_cycles": 6,
// The pipeline begins in the second state, its write is at stage 3 - 2.
// REPORT-NEXT:   "initial_delay": 2,
// REPORT-NEXT:   "origin": "estimated",
// REPORT:        "name": "scale",
// REPORT-NEXT:   "kind": "compute",
// REPORT-NEXT:   "group": "group0",
// REPORT-NEXT:   "source": "mul at model.py:9",
// REPORT-NEXT:   "macs": 12,
// Four multipliers of 3 DSP: 4 * 78 * 1.09 LUT, 4 * 143 * 1.28 flip-flops; the
// accumulator is four registers of 32 bits.
// REPORT:        "dsp": 12,
// REPORT-NEXT:   "lut": 340,
// REPORT-NEXT:   "ff": 860,
// REPORT-NEXT:   "bram18": 0,
// REPORT-NEXT:   "uram": 0,
// REPORT-NEXT:   "die": null
// REPORT:      "fifos": [
// REPORT:        "name": "load_arg0_out",
// REPORT-NEXT:   "producer": "load_arg0",
// REPORT-NEXT:   "consumer": "scale",
// REPORT-NEXT:   "token_bits": 128,
// REPORT-NEXT:   "tokens": 3,
// REPORT-NEXT:   "depth": 2,
// REPORT-NEXT:   "bits": 256,
// Two tokens are in shift registers: 18 + 128 LUTs.
// REPORT-NEXT:   "memory": "srl",
// REPORT-NEXT:   "crossing": 0,
// REPORT-NEXT:   "lut": 146,
// REPORT-NEXT:   "ff": 8,
// REPORT-NEXT:   "bram18": 0,
// REPORT-NEXT:   "uram": 0,
// REPORT-NEXT:   "peak": null,
// REPORT-NEXT:   "simulated_peak": 2,
// REPORT-NEXT:   "reason": "latency of scale"
// REPORT:      "buffers": [
// REPORT:        "name": "acc",
// REPORT-NEXT:   "task": "scale",
// REPORT-NEXT:   "buffer_shape": [
// REPORT-NEXT:     4
// REPORT-NEXT:   ],
// REPORT-NEXT:   "bytes": 16,
// REPORT-NEXT:   "memory": "registers"
// Only the accumulator: the FIFOs hold arguments and the result.
// REPORT:      "intermediate_fused_bytes": 16,
// REPORT-NEXT: "ratio": null,
// REPORT-NEXT: "onchip_total_bytes": 128,
// REPORT:      "label": "estimated"
// REPORT:      "dma": [
// REPORT:        "name": "load_arg0",
// REPORT-NEXT:   "direction": "in",
// REPORT-NEXT:   "argument": "arg0",
// REPORT-NEXT:   "bytes": 48,
// A token of 4 floats at a time.
// REPORT-NEXT:   "port_bits": 128,
// REPORT-NEXT:   "burst_beats": 64,
// The largest memory (arg1) gets channel 0, then result0 (96 bytes), then arg0.
// REPORT-NEXT:   "hbm_channels": [
// REPORT-NEXT:     2
// REPORT:      "resources": {
// REPORT-NEXT:   "dsp": {
// REPORT-NEXT:     "used": 12,
// REPORT-NEXT:     "available": 9024,
// REPORT-NEXT:     "percent": 0.13
// Ports of 128, 32 and 32 bits, 1024 words each: 4 * 2 + 1 * 2 + 1 * 2 blocks.
// REPORT:        "bram36": {
// REPORT-NEXT:     "used": 6,
// REPORT:      "deadlock_free": true,
// REPORT:      "simulation": {
// REPORT:        "deadlock": null,
// The sum of the DMAs: 48 + 96 + 96.
// REPORT-NEXT:   "hbm_bytes": 240,
// REPORT:        "label": "simulated",

// CFG: nk=f:1:f_1
// CFG-NEXT: sp=f_1.arg0:HBM[2]
// CFG-NEXT: sp=f_1.arg1:HBM[0]
// CFG-NEXT: sp=f_1.result0:HBM[1]
// CFG: defaultFreqHz=300000000

// MAKE: csim:
// MAKE: hls: f.xo
// MAKE: link: f.xclbin
// MAKE: $(VPP) -c -t hw --platform $(PLATFORM) -k f -Ihls/include hls/kernel.cpp -o $@
// MAKE: $(VPP) -l -t hw --platform $(PLATFORM) --config connectivity.cfg f.xo -o $@

// MAKE: host/host: host/main.cpp host/st_host.h
// MAKE: simulated.xclbin:

// The packed weight: 3 tokens of 4x1 over 4x3, which are the elements of 2x6.
// HOST:      const Layout k_arg0 = {
// HOST-NEXT:     "arg0", "F32",
// HOST-NEXT:     /*elementBytes=*/4,
// HOST-NEXT:     /*bytes=*/48,
// HOST-NEXT:     /*memory=*/{2, 6},
// HOST-NEXT:     /*isPacked=*/true,
// HOST-NEXT:     {/*element=*/{4, 1},
// HOST-NEXT:      /*trips=*/{3},
// HOST-NEXT:      /*steps=*/{1},
// HOST-NEXT:      /*map=*/{{[{][{][}], [{]0[}][}]}}},
// HOST-NEXT:     /*packedShape=*/{4, 3}};
// The cache lies in memory of 2x5x4.
// HOST:      const Layout k_arg1 = {
// HOST:          /*memory=*/{2, 5, 4},
// HOST:      checkShape(k_arg1, arg1_data, {2, 3, 4});
// HOST:      readWeight(k_arg0, directory + "/weights/arg0.bin");
// HOST:      xrt::bo result0_memory = allocate(device, kernel, 2, k_result0);
// HOST:      upload(arg0_memory, arg0_data);
// HOST-NEXT: upload(arg1_memory, toMemory(k_arg1, arg1_data));
// HOST:      run.set_arg(0, arg0_memory);
// HOST-NEXT: run.set_arg(1, arg1_memory);
// HOST-NEXT: run.set_arg(2, result0_memory);
// HOST-NEXT: const double seconds = launch(run, timeoutMs);
// HOST:      outputs["result0"] = fromMemory(k_result0, {2, 3, 4},

// HEADER: #define ST_TASK(function_, ...) function_(__VA_ARGS__)

!P = !itensor.itensor<4x1xf32, [3] * [1], (d0) -> (0, d0)>
func.func @f(%arg0: memref<3x4x1xf32> {dataflow.name = "arg0", dataflow.role = "weight", dataflow.packing = !P, dataflow.shape = array<i64: 4, 3>, dataflow.tensor_shape = array<i64: 2, 6>, dataflow.file = "weights/arg0.bin"},
             %arg1: memref<2x3x4xf32, strided<[20, 4, 1]>> {dataflow.name = "arg1", dataflow.role = "cache"},
             %result0: memref<2x3x4xf32> {dataflow.name = "result0", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%m0: memref<3x4x1xf32> = %arg0 : memref<3x4x1xf32>,
                            %m1: memref<2x3x4xf32, strided<[20, 4, 1]>> = %arg1 : memref<2x3x4xf32, strided<[20, 4, 1]>>,
                            %m2: memref<2x3x4xf32> = %result0 : memref<2x3x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %s0 = stream.stream "load_arg0_out" tokens 3 because "latency of scale" : !stream.stream<4x1xf32, 2>
    dataflow.task "load_arg0" attributes {kind = "dma_in", argument = "arg0"} {
      scf.for %i = %c0 to %c3 step %c1 {
        %v = memref.subview %m0[%i, 0, 0] [1, 4, 1] [1, 1, 1] : memref<3x4x1xf32> to memref<4x1xf32, strided<[1, 1], offset: ?>>
        stream.write %v, %s0 : memref<4x1xf32, strided<[1, 1], offset: ?>>, !stream.stream<4x1xf32, 2>
      }
    }
    %s1 = stream.stream "load_arg1_out" tokens 6 : !stream.stream<4xf32, 2>
    dataflow.task "load_arg1" attributes {kind = "dma_in", argument = "arg1"} {
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %c3 step %c1 {
          %t = memref.alloc() : memref<4xf32>
          scf.for %l = %c0 to %c4 step %c1 {
            %v = memref.load %m1[%i, %j, %l] : memref<2x3x4xf32, strided<[20, 4, 1]>>
            memref.store %v, %t[%l] : memref<4xf32>
          } {hls.unroll = #hls.unroll<factor = 0>}
          stream.write %t, %s1 : memref<4xf32>, !stream.stream<4xf32, 2>
        }
      }
    }
    %s2 = stream.stream "scale_out" tokens 6 : !stream.stream<4xf32, 3>
    dataflow.task "scale" attributes {kind = "compute", macs = 12 : i64, source = "mul at model.py:9"} {
      %acc = stream.buffer "acc" : memref<4xf32>
      scf.for %i = %c0 to %c3 step %c1 {
        %w = memref.alloc() : memref<4x1xf32>
        stream.read %s0 into %w : !stream.stream<4x1xf32, 2>, memref<4x1xf32>
        scf.for %j = %c0 to %c2 step %c1 {
          %t = memref.alloc() : memref<4xf32>
          stream.read %s1 into %t : !stream.stream<4xf32, 2>, memref<4xf32>
          scf.for %l = %c0 to %c4 step %c1 {
            %x = memref.load %t[%l] : memref<4xf32>
            memref.store %x, %acc[%l] : memref<4xf32>
          }
          %u = memref.alloc() : memref<4xf32>
          scf.for %l = %c0 to %c4 step %c1 {
            %x = memref.load %acc[%l] : memref<4xf32>
            %y = memref.load %w[%l, %c0] : memref<4x1xf32>
            %z = arith.mulf %x, %y : f32
            memref.store %z, %u[%l] : memref<4xf32>
          } {hls.unroll = #hls.unroll<factor = 0>}
          stream.write %u, %s2 : memref<4xf32>, !stream.stream<4xf32, 3>
        }
      }
    }
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %c3 step %c1 {
          %t = memref.alloc() : memref<4xf32>
          stream.read %s2 into %t : !stream.stream<4xf32, 3>, memref<4xf32>
          scf.for %l = %c0 to %c4 step %c1 {
            %v = memref.load %t[%l] : memref<4xf32>
            memref.store %v, %m2[%i, %j, %l] : memref<2x3x4xf32>
          } {hls.unroll = #hls.unroll<factor = 0>}
        }
      }
    }
    dataflow.yield
  }
  return
}
