// RUN: streamtensor-opt %S/../Inputs/matvec.mlir --st-dataflow-to-stream --st-stream-to-hls --st-emit-hls-cpp -o /dev/null | FileCheck %s --check-prefix=MATVEC
// RUN: streamtensor-opt %S/../Inputs/tasks.mlir --st-dataflow-to-stream --st-stream-to-hls --st-split-converters --st-emit-hls-cpp -o /dev/null | FileCheck %s --check-prefix=TASKS
// RUN: streamtensor-opt %s --st-emit-hls-cpp -o /dev/null | FileCheck %s

// MATVEC:      #include "hls_math.h"
// MATVEC-NEXT: #include "hls_stream.h"
// MATVEC-NEXT: #include "hls_vector.h"
// MATVEC-NEXT: #include "st_dataflow.h"
// MATVEC-NEXT: #include "st_math.h"
// MATVEC-EMPTY:
// MATVEC-NEXT: typedef hls::vector<float, 16> f32x16;
// MATVEC-NOT:  double

// MATVEC:      // load_arg0: dma_in, reads arg0 (64 f32), out 64 x 32 bits
// MATVEC-NEXT: static void load_arg0(const float *arg0, hls::stream<float> &out) {
// MATVEC-NEXT: load_arg0_loop0:
// MATVEC-NEXT:   for (int i0 = 0; i0 < 64; ++i0) {
// MATVEC-NEXT: #pragma HLS pipeline II=1
// MATVEC-NEXT:     out.write(arg0[i0]);
// MATVEC-NEXT:   }
// MATVEC-NEXT: }

// MATVEC:      static void load_arg1(const f32x16 *arg1, hls::stream<f32x16> &out) {
// MATVEC-NEXT: load_arg1_loop0:
// MATVEC-NEXT:   for (int i0 = 0; i0 < 64; ++i0) {
// MATVEC-NEXT:   load_arg1_loop1:
// MATVEC-NEXT:     for (int i1 = 0; i1 < 6; ++i1) {
// MATVEC-NEXT: #pragma HLS pipeline II=1
// MATVEC-NEXT:       out.write(arg1[i0 * 6 + i1]);

// MATVEC:      // matmul_0: linalg.matmul at model.py:12 (self_attn.q_proj), in 64 x 32 bits, in 384 x 512 bits, out 6 x 512 bits, 6144 multiply-accumulates
// MATVEC-NEXT: static void matmul_0(
// MATVEC-NEXT:     hls::stream<float> &arg0,
// MATVEC-NEXT:     hls::stream<f32x16> &arg1,
// MATVEC-NEXT:     hls::stream<f32x16> &out) {
// MATVEC-NEXT:   float acc[6][16];
// MATVEC-NEXT: #pragma HLS array_partition variable=acc type=complete dim=2
// MATVEC-NEXT: #pragma HLS bind_storage variable=acc type=ram_2p impl=lutram
// MATVEC:      matmul_0_k:
// MATVEC-NEXT:   for (int k = 0; k < 64; ++k) {
// MATVEC-NEXT:     const float arg0_token = arg0.read();
// MATVEC-NEXT:   matmul_0_n:
// MATVEC-NEXT:     for (int n = 0; n < 6; ++n) {
// MATVEC-NEXT: #pragma HLS pipeline II=1
// MATVEC-NEXT:       const f32x16 arg1_token = arg1.read();
// MATVEC-NEXT:       for (int l = 0; l < 16; ++l) {
// MATVEC-NEXT: #pragma HLS unroll
// MATVEC-NEXT:         acc[n][l] = acc[n][l] + arg0_token * arg1_token[l];
// MATVEC-NEXT:       }

// MATVEC:      static void store_result0(hls::stream<f32x16> &in, f32x16 *result0) {
// MATVEC:          result0[i0] = in.read();

// MATVEC:      static void group0(const float *arg0, const f32x16 *arg1, f32x16 *result0) {
// MATVEC-NEXT: #pragma HLS dataflow
// MATVEC-NEXT:   ST_FIFO(float, load_arg0_out, 2); // minimum
// MATVEC-NEXT:   ST_FIFO(f32x16, load_arg1_out, 32); // start-up of matmul_0
// MATVEC-NEXT:   ST_FIFO(f32x16, matmul_0_out, 2);
// MATVEC-NEXT:   ST_TASK(load_arg0, arg0, load_arg0_out);
// MATVEC-NEXT:   ST_TASK(load_arg1, arg1, load_arg1_out);
// MATVEC-NEXT:   ST_TASK(matmul_0, load_arg0_out, load_arg1_out, matmul_0_out);
// MATVEC-NEXT:   ST_TASK(store_result0, matmul_0_out, result0);
// MATVEC-NEXT:   ST_JOIN();
// MATVEC-NEXT: }

// MATVEC:      extern "C" void layer(const float *arg0, const f32x16 *arg1, f32x16 *result0) {
// MATVEC-NEXT: #pragma HLS interface m_axi port=arg0 bundle=gmem0 offset=slave depth=64 max_read_burst_length=64
// MATVEC-NEXT: #pragma HLS interface s_axilite port=arg0
// 64 * 96 / 16 tokens
// MATVEC-NEXT: #pragma HLS interface m_axi port=arg1 bundle=gmem1 offset=slave depth=384 max_read_burst_length=64
// MATVEC-NEXT: #pragma HLS interface s_axilite port=arg1
// MATVEC-NEXT: #pragma HLS interface m_axi port=result0 bundle=gmem2 offset=slave depth=6 max_write_burst_length=64
// MATVEC-NEXT: #pragma HLS interface s_axilite port=result0
// MATVEC-NEXT: #pragma HLS interface s_axilite port=return
// MATVEC-NEXT:   group0(arg0, arg1, result0);
// MATVEC-NEXT: }

// TASKS-LABEL: static void fork_0(
// TASKS:       const f32x16 token = in.read();
// TASKS-NEXT:  out0.write(token);
// TASKS-NEXT:  out1.write(token);
// TASKS-LABEL: static void relu_scale_0(
// TASKS:       result[l] = st::max(token[l], 0.0f) * 0.5f;
// TASKS-LABEL: static void row_sum_0(
// TASKS-NEXT:  float acc;
// TASKS:       acc = 0.0f;
// A sum carried from token to token.
// TASKS:       #pragma HLS pipeline II=4
// TASKS:       float partial[16];
// TASKS-NEXT:  #pragma HLS array_partition variable=partial type=complete dim=0
// TASKS:       partial[l] = token[l];
// TASKS:       for (int l = 0; l < 8; ++l) {
// TASKS-NEXT:  #pragma HLS unroll
// TASKS-NEXT:  partial[l] = partial[l] + partial[l + 8];
// TASKS:       partial[0] = partial[0] + partial[1];
// TASKS-NEXT:  acc = acc + partial[0];
// TASKS-LABEL: static void slice_0(
// TASKS:       if (i0 >= 4 && i0 < 12) {
// TASKS-NEXT:    out.write(token);
// TASKS-NEXT:  }
// Lanes that lie in different rows of memory take a cycle each.
// TASKS-LABEL: static void store_result1(
// TASKS:       #pragma HLS pipeline II=8
// TASKS:       result1[l * 8 + i0] = token[l];

// Every kind of expression, and names that C++ does not accept as they are.

// CHECK-LABEL: static void expressions(
// CHECK-SAME: const float *x, float *y) {
func.func private @expressions(%x: memref<4x8xf32, strided<[16, 1]>> {hls.name = "x", hls.direction = "in"},
                               %y: memref<64xf32> {hls.name = "y", hls.direction = "out"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  // CHECK-NEXT: const float t = x[34];
  %a = memref.load %x[%c2, %c2] : memref<4x8xf32, strided<[16, 1]>>
  // CHECK-NEXT: const float t_1 = x[17];
  %b = memref.load %x[%c1, %c1] : memref<4x8xf32, strided<[16, 1]>>
  %tenth = arith.constant 0.1 : f32
  %minus = arith.constant -2.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %tiny = arith.constant 1.17549435E-38 : f32
  // CHECK-NEXT: y[0] = (t + t_1) * (t - t_1);
  %0 = arith.addf %a, %b : f32
  %1 = arith.subf %a, %b : f32
  %2 = arith.mulf %0, %1 : f32
  memref.store %2, %y[%c0] : memref<64xf32>
  // CHECK-NEXT: y[1] = t - (t_1 - 0.1f);
  %3 = arith.subf %b, %tenth : f32
  %4 = arith.subf %a, %3 : f32
  memref.store %4, %y[%c1] : memref<64xf32>
  // CHECK-NEXT: y[2] = st::max(hls::exp(-t), -INFINITY) / -2.0f;
  %5 = arith.negf %a : f32
  %6 = math.exp %5 : f32
  %7 = arith.maximumf %6, %inf : f32
  %8 = arith.divf %7, %minus : f32
  memref.store %8, %y[%c2] : memref<64xf32>
  // CHECK-NEXT: y[3] = t > t_1 ? hls::tanh(t) : hls::rsqrt(t_1 + 1.1754944e-38f);
  %9 = arith.cmpf ogt, %a, %b : f32
  %10 = math.tanh %a : f32
  %11 = arith.addf %b, %tiny : f32
  %12 = math.rsqrt %11 : f32
  %13 = arith.select %9, %10, %12 : f32
  memref.store %13, %y[%c3] : memref<64xf32>
  // Unordered comparisons are negations: true for NaN.
  // CHECK-NEXT: if (!(t >= t_1)) {
  %14 = arith.cmpf ult, %a, %b : f32
  scf.if %14 {
    // CHECK-NEXT: y[0] = hls::pow(t, 0.1f);
    %15 = math.powf %a, %tenth : f32
    memref.store %15, %y[%c0] : memref<64xf32>
  // CHECK-NEXT: } else {
  } else {
    // CHECK-NEXT: y[0] = static_cast<float>(t != t_1);
    %16 = arith.cmpf une, %a, %b : f32
    %17 = arith.uitofp %16 : i1 to f32
    memref.store %17, %y[%c0] : memref<64xf32>
  }
  // CHECK-NEXT: }
  // A value carried through a loop, and an address with a quotient.
  // CHECK-NEXT: float carried = t;
  // CHECK-NEXT: expressions_walk:
  // CHECK-NEXT: for (int i0 = 1; i0 < 3; i0 += 2) {
  %18 = scf.for %i = %c1 to %c3 step %c2 iter_args(%sum = %a) -> f32 {
    // CHECK-NEXT: carried = carried + x[i0 / 2 * 16 + i0 % 2 + 1];
    %19 = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%i)
    %20 = affine.apply affine_map<(d0) -> (d0 mod 2 + 1)>(%i)
    %21 = memref.load %x[%19, %20] : memref<4x8xf32, strided<[16, 1]>>
    %22 = arith.addf %sum, %21 : f32
    scf.yield %22 : f32
  // CHECK-NEXT: }
  } {hls.label = "walk"}
  // CHECK-NEXT: y[1] = carried;
  memref.store %18, %y[%c1] : memref<64xf32>
  return
}

// Constant tables are flat; dimensions of size one have no subscript; a read whose
// token nobody uses is a statement of its own.

memref.global "private" constant @values : memref<2x2xf32> = dense<[[0.5, 1.0], [1.5, 2.0]]>

// CHECK-LABEL: static void memory(
// CHECK-SAME: hls::stream<f32x4> &in, float *y) {
func.func private @memory(%in: !stream.stream<2x2xf32, 2> {hls.name = "in", hls.direction = "in"},
                          %y: memref<1xf32> {hls.name = "y", hls.direction = "out"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK-NEXT: static const float table[4] = {0.5f, 1.0f, 1.5f, 2.0f};
  %table = memref.get_global @values : memref<2x2xf32>
  // CHECK-NEXT: float buffer[2][8];
  // CHECK-NEXT: #pragma HLS array_partition variable=buffer type=cyclic factor=4 dim=2
  // CHECK-NEXT: #pragma HLS bind_storage variable=buffer type=ram_2p impl=lutram
  %buffer = stream.buffer "buffer" {hls.partition = [#hls.partition<kind = "cyclic", factor = 4, dim = 3>], hls.storage = #hls.storage<type = "ram_2p", impl = "lutram">} : memref<2x1x8xf32>
  // CHECK-NEXT: in.read();
  %dropped = memref.alloc() : memref<2x2xf32>
  stream.read %in into %dropped : !stream.stream<2x2xf32, 2>, memref<2x2xf32>
  // CHECK-NEXT: const f32x4 [[TOKEN:token[_0-9]*]] = in.read();
  %token = memref.alloc() : memref<2x2xf32>
  stream.read %in into %token : !stream.stream<2x2xf32, 2>, memref<2x2xf32>
  // CHECK-NEXT: buffer[1][2] = [[TOKEN]][3] * table[2];
  %a = memref.load %token[%c1, %c1] : memref<2x2xf32>
  %b = memref.load %table[%c1, %c0] : memref<2x2xf32>
  %c = arith.mulf %a, %b : f32
  memref.store %c, %buffer[%c1, %c0, %c2] : memref<2x1x8xf32>
  // The load stands before the write of the same array.
  // CHECK-NEXT: const float t = buffer[1][2];
  // CHECK-NEXT: buffer[1][2] = 2.0f;
  // CHECK-NEXT: y[0] = t;
  %old = memref.load %buffer[%c1, %c0, %c2] : memref<2x1x8xf32>
  %two = arith.constant 2.0 : f32
  memref.store %two, %buffer[%c1, %c0, %c2] : memref<2x1x8xf32>
  memref.store %old, %y[%c0] : memref<1xf32>
  return
}
