//===- matvec.cpp - Sample design: matrix times vector --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// result0[32] = arg1[32][8] x arg0[8]. The weights come as tokens of 16 rows
// of one column, packed in that order.
//
//===----------------------------------------------------------------------===//

#include "hls_math.h"
#include "hls_stream.h"
#include "hls_vector.h"
#include "st_dataflow.h"
#include "st_math.h"

typedef hls::vector<float, 16> f32x16;

static void load_arg0(const float *arg0, hls::stream<float> &out) {
load_arg0_loop0:
  for (int i0 = 0; i0 < 8; ++i0) {
#pragma HLS pipeline II = 1
    out.write(arg0[i0]);
  }
}

static void load_arg1(const f32x16 *arg1, hls::stream<f32x16> &out) {
load_arg1_loop0:
  for (int i0 = 0; i0 < 16; ++i0) {
#pragma HLS pipeline II = 1
    out.write(arg1[i0]);
  }
}

static void matmul_0(hls::stream<float> &x, hls::stream<f32x16> &w,
                     hls::stream<f32x16> &y) {
  float acc[2][16];
#pragma HLS array_partition variable = acc dim = 2 type = complete
matmul_0_init:
  for (int n = 0; n < 2; ++n) {
    for (int l = 0; l < 16; ++l) {
#pragma HLS unroll
      acc[n][l] = 0.0f;
    }
  }
matmul_0_k:
  for (int k = 0; k < 8; ++k) {
    const float xk = x.read();
  matmul_0_n:
    for (int n = 0; n < 2; ++n) {
#pragma HLS pipeline II = 1
      const f32x16 wv = w.read();
      for (int l = 0; l < 16; ++l) {
#pragma HLS unroll
        const float product = xk * wv[l];
        acc[n][l] = acc[n][l] + product;
      }
    }
  }
matmul_0_drain:
  for (int n = 0; n < 2; ++n) {
    f32x16 token;
    for (int l = 0; l < 16; ++l) {
#pragma HLS unroll
      token[l] = acc[n][l];
    }
    y.write(token);
  }
}

static void store_result0(hls::stream<f32x16> &in, float *result0) {
store_result0_loop0:
  for (int i0 = 0; i0 < 2; ++i0) {
    const f32x16 token = in.read();
    for (int l = 0; l < 16; ++l) {
#pragma HLS unroll
      result0[i0 * 16 + l] = token[l];
    }
  }
}

static void group0(const float *arg0, const f32x16 *arg1, float *result0) {
#pragma HLS dataflow
  ST_FIFO(float, load_arg0_out, 2);
  ST_FIFO(f32x16, load_arg1_out, 4);
  ST_FIFO(f32x16, matmul_0_out, 2);
  ST_TASK(load_arg0, arg0, load_arg0_out);
  ST_TASK(load_arg1, arg1, load_arg1_out);
  ST_TASK(matmul_0, load_arg0_out, load_arg1_out, matmul_0_out);
  ST_TASK(store_result0, matmul_0_out, result0);
  ST_JOIN();
}

extern "C" void matvec(const float *arg0, const f32x16 *arg1, float *result0) {
#pragma HLS interface m_axi port = arg0 bundle = gmem0 offset = slave depth = 8
#pragma HLS interface m_axi port = arg1 bundle = gmem1 offset = slave depth = 16
#pragma HLS interface m_axi port = result0 bundle = gmem2 offset =             \
    slave depth = 32
#pragma HLS interface s_axilite port = return
  group0(arg0, arg1, result0);
}
