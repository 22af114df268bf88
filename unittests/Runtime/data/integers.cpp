//===- integers.cpp - Sample design: 4-bit weights ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// result0[16] = arg1[16][16] x arg0[16] with 8-bit activations, 4-bit weights
// (the low half of each byte) and 24-bit accumulators; result1 is the sum
// shifted right by 3 and wrapped to 8 bits.
//
//===----------------------------------------------------------------------===//

#include "ap_int.h"
#include "hls_math.h"
#include "hls_stream.h"
#include "hls_vector.h"
#include "st_dataflow.h"
#include "st_math.h"

typedef hls::vector<signed char, 16> i8x16;

static void load_arg0(const signed char *arg0, hls::stream<ap_int<8>> &out) {
load_arg0_loop0:
  for (int i0 = 0; i0 < 16; ++i0) {
#pragma HLS pipeline II = 1
    const ap_int<8> value = arg0[i0];
    out.write(value);
  }
}

static void load_arg1(const i8x16 *arg1, hls::stream<i8x16> &out) {
load_arg1_loop0:
  for (int i0 = 0; i0 < 16; ++i0) {
#pragma HLS pipeline II = 1
    out.write(arg1[i0]);
  }
}

static void matmul_0(hls::stream<ap_int<8>> &x, hls::stream<i8x16> &w,
                     hls::stream<ap_int<24>> &y) {
  ap_int<24> acc[16];
#pragma HLS array_partition variable = acc type = complete
matmul_0_init:
  for (int l = 0; l < 16; ++l) {
    acc[l] = 0;
  }
matmul_0_k:
  for (int k = 0; k < 16; ++k) {
#pragma HLS pipeline II = 1
    const ap_int<8> xk = x.read();
    const i8x16 wk = w.read();
    for (int l = 0; l < 16; ++l) {
#pragma HLS unroll
      const ap_int<4> weight = wk[l];
      acc[l] += xk * weight;
    }
  }
matmul_0_drain:
  for (int l = 0; l < 16; ++l) {
    y.write(acc[l]);
  }
}

static void store(hls::stream<ap_int<24>> &in, int *result0,
                  signed char *result1) {
store_loop0:
  for (int i0 = 0; i0 < 16; ++i0) {
    const ap_int<24> sum = in.read();
    const ap_int<8> narrow = sum >> 3;
    result0[i0] = sum.to_int();
    result1[i0] = static_cast<signed char>(narrow.to_int());
  }
}

static void group0(const signed char *arg0, const i8x16 *arg1, int *result0,
                   signed char *result1) {
#pragma HLS dataflow
  ST_FIFO(ap_int<8>, load_arg0_out, 2);
  ST_FIFO(i8x16, load_arg1_out, 4);
  ST_FIFO(ap_int<24>, matmul_0_out, 2);
  ST_TASK(load_arg0, arg0, load_arg0_out);
  ST_TASK(load_arg1, arg1, load_arg1_out);
  ST_TASK(matmul_0, load_arg0_out, load_arg1_out, matmul_0_out);
  ST_TASK(store, matmul_0_out, result0, result1);
  ST_JOIN();
}

extern "C" void integers(const signed char *arg0, const i8x16 *arg1,
                         int *result0, signed char *result1) {
  group0(arg0, arg1, result0, result1);
}
