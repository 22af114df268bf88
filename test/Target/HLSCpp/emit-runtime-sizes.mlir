// RUN: streamtensor-opt %s --st-stream-to-hls --st-split-converters --st-emit-hls-cpp -o /dev/null | FileCheck %s
// RUN: streamtensor-opt %s --st-stream-to-hls --st-split-converters --st-emit-hls-cpp="output=%t.cpp" -o /dev/null
// RUN: %host_cxx -std=c++14 -fsyntax-only -Wall -Wextra -Werror -Wno-unknown-pragmas -Wno-unused-label %sim_includes %t.cpp

// Counts are computed once, in front of the loops; divisions round up.
// CHECK:      static void load_x(const float *x, hls::stream<float> &out, int seq) {
// CHECK-NEXT: load_x_i:
// CHECK-NEXT:   for (int i = 0; i < (seq + 3) / 4; ++i) {
// CHECK-NEXT: #pragma HLS pipeline II=1
// CHECK-NEXT: #pragma HLS loop_tripcount min=1 max=2
// CHECK-NEXT:     out.write(x[i]);

// Both halves of a converter get the count that they run to.
// CHECK:      static void convert_fill(hls::stream<float> &in, float buffer[12], int trips) {
// CHECK:        for (int i0 = 0; i0 < trips; ++i0) {
// CHECK:      #pragma HLS loop_tripcount min=1 max=12
// CHECK:      static void convert_drain(
// CHECK:        for (int i0 = 0; i0 < trips; ++i0) {
// CHECK:      static void convert(hls::stream<float> &in, hls::stream<float> &out, int past, int seq) {
// CHECK-NEXT:   const int trips = past + seq;
// CHECK-NEXT: convert_segment:
// CHECK-NEXT:   for (int i0 = 0; i0 < 2; ++i0) {
// CHECK-NEXT: #pragma HLS dataflow
// CHECK-NEXT:     float buffer[12];
// CHECK:          convert_fill(in, buffer, trips);
// CHECK-NEXT:     convert_drain(buffer, out, trips);

// CHECK:      static void group0(const float *x, int past, int seq) {
// CHECK:        ST_TASK(load_x, x, a, seq);
// CHECK-NEXT:   ST_TASK(convert, a, b, past, seq);
// CHECK:      extern "C" void f(const float *x, int past, int seq) {
// CHECK:      #pragma HLS interface s_axilite port=x
// CHECK-NEXT: #pragma HLS interface s_axilite port=past
// CHECK-NEXT: #pragma HLS interface s_axilite port=seq
// CHECK-NEXT: #pragma HLS interface s_axilite port=return
// CHECK-NEXT:   group0(x, past, seq);
func.func @f(%x: memref<8xf32> {dataflow.name = "x", dataflow.role = "input"})
    attributes {dataflow.parameters = {past = array<i64: 0, 4>, seq = array<i64: 1, 8>}} {
  dataflow.kernel "group0" (%m: memref<8xf32> = %x : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %s0 = stream.stream "a" tokens 8 : !stream.stream<1xf32, 2>
    %s1 = stream.stream "b" tokens 8 : !stream.stream<1xf32, 2>
    dataflow.task "load_x" attributes {kind = "dma_in"} {
      %n = dataflow.trip_count "ceildiv(seq max 8, 4)"
      scf.for %i = %c0 to %n step %c1 {
        %t = memref.alloc() : memref<1xf32>
        %v = memref.load %m[%i] : memref<8xf32>
        memref.store %v, %t[%c0] : memref<1xf32>
        stream.write %t, %s0 : memref<1xf32>, !stream.stream<1xf32, 2>
      } {hls.label = "i"}
    }
    dataflow.task "convert" attributes {kind = "converter"} {
      %n = dataflow.trip_count "past max 4 + seq max 8"
      %buffer = stream.buffer "buffer" ping_pong : memref<12xf32>
      scf.for %s = %c0 to %c2 step %c1 {
        scf.for %i = %c0 to %n step %c1 {
          %t = memref.alloc() : memref<1xf32>
          stream.read %s0 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
          %v = memref.load %t[%c0] : memref<1xf32>
          memref.store %v, %buffer[%i] : memref<12xf32>
        }
        scf.for %i = %c0 to %n step %c1 {
          %t = memref.alloc() : memref<1xf32>
          %v = memref.load %buffer[%i] : memref<12xf32>
          memref.store %v, %t[%c0] : memref<1xf32>
          stream.write %t, %s1 : memref<1xf32>, !stream.stream<1xf32, 2>
        }
      } {hls.label = "segment"}
    }
    dataflow.task "drop" attributes {kind = "dma_out"} {
      %t = memref.alloc() : memref<1xf32>
      stream.read %s1 into %t : !stream.stream<1xf32, 2>, memref<1xf32>
    }
    dataflow.yield
  }
  return
}
