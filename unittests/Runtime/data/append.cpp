//===- append.cpp - Sample design: run-time sizes -------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// result0[past + seq, 2] = arg1[past, 2], then twice arg0[seq, 2]; memory for
// up to 3 and 4 rows. Tokens are single elements.
//
//===----------------------------------------------------------------------===//

#include "hls_math.h"
#include "hls_stream.h"
#include "hls_vector.h"
#include "st_dataflow.h"
#include "st_math.h"

static void load_arg0(const float *arg0, hls::stream<float> &out, int seq) {
load_arg0_loop0:
  for (int i0 = 0; i0 < seq; ++i0) {
#pragma HLS loop_tripcount min = 0 max = 4
    for (int i1 = 0; i1 < 2; ++i1) {
#pragma HLS pipeline II = 1
      out.write(arg0[i0 * 2 + i1]);
    }
  }
}

static void load_arg1(const float *arg1, hls::stream<float> &out, int past) {
load_arg1_loop0:
  for (int i0 = 0; i0 < past; ++i0) {
#pragma HLS loop_tripcount min = 1 max = 3
    for (int i1 = 0; i1 < 2; ++i1) {
#pragma HLS pipeline II = 1
      out.write(arg1[i0 * 2 + i1]);
    }
  }
}

static void append_0(hls::stream<float> &past_rows, hls::stream<float> &rows,
                     hls::stream<float> &out, int past, int seq) {
append_0_past:
  for (int i0 = 0; i0 < past * 2; ++i0) {
#pragma HLS pipeline II = 1
    out.write(past_rows.read());
  }
append_0_seq:
  for (int i0 = 0; i0 < seq * 2; ++i0) {
#pragma HLS pipeline II = 1
    out.write(rows.read() * 2.0f);
  }
}

static void store_result0(hls::stream<float> &in, float *result0, int past,
                          int seq) {
store_result0_loop0:
  for (int i0 = 0; i0 < past + seq; ++i0) {
    for (int i1 = 0; i1 < 2; ++i1) {
#pragma HLS pipeline II = 1
      result0[i0 * 2 + i1] = in.read();
    }
  }
}

static void group0(const float *arg0, const float *arg1, float *result0,
                   int past, int seq) {
#pragma HLS dataflow
  ST_FIFO(float, load_arg0_out, 2);
  ST_FIFO(float, load_arg1_out, 2);
  ST_FIFO(float, append_0_out, 2);
  ST_TASK(load_arg0, arg0, load_arg0_out, seq);
  ST_TASK(load_arg1, arg1, load_arg1_out, past);
  ST_TASK(append_0, load_arg1_out, load_arg0_out, append_0_out, past, seq);
  ST_TASK(store_result0, append_0_out, result0, past, seq);
  ST_JOIN();
}

extern "C" void append(const float *arg0, const float *arg1, float *result0,
                       int past, int seq) {
#pragma HLS interface m_axi port = arg0 bundle = gmem0 offset = slave depth = 8
#pragma HLS interface s_axilite port = arg0
#pragma HLS interface m_axi port = arg1 bundle = gmem1 offset = slave depth = 6
#pragma HLS interface s_axilite port = arg1
#pragma HLS interface m_axi port = result0 bundle = gmem2 offset =             \
    slave depth = 14
#pragma HLS interface s_axilite port = result0
#pragma HLS interface s_axilite port = past
#pragma HLS interface s_axilite port = seq
#pragma HLS interface s_axilite port = return
  group0(arg0, arg1, result0, past, seq);
}
