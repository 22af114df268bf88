//===- layer.cpp - Sample design: layer of any length
//-------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer that can be computed by hand, for 1 or 2 tokens of 4 values and 0 to
// 5 past rows. With s = the sum over the past rows p of mask[p] * (sum of
// keys[.][p][.] + 100 * sum of values[.][p][.]):
//
//   result0[t][j] = hidden[t][j] * weight[j] + s
//   result1[h][t][d] = hidden[t][2 h + d]
//   result2[h][t][d] = 2 * hidden[t][2 h + d]
//
// The caches lie in memory of 6 rows: [2 heads][6][2].
//
//===----------------------------------------------------------------------===//

#include "hls_math.h"
#include "hls_stream.h"
#include "hls_vector.h"
#include "st_dataflow.h"
#include "st_math.h"

static void load_state(const float *hidden, hls::stream<float> &out,
                       hls::stream<float> &copy, int tokens) {
  for (int i0 = 0; i0 < tokens * 4; ++i0) {
#pragma HLS pipeline II = 1
    const float value = hidden[i0];
    out.write(value);
    copy.write(value);
  }
}

static void load_weight(const float *weight, hls::stream<float> &out,
                        int tokens) {
  for (int t = 0; t < tokens; ++t) {
    for (int j = 0; j < 4; ++j) {
#pragma HLS pipeline II = 1
      out.write(weight[j]);
    }
  }
}

static void load_cache(const float *cache, hls::stream<float> &out, int past) {
  for (int p = 0; p < past; ++p) {
    for (int h = 0; h < 2; ++h) {
      for (int d = 0; d < 2; ++d) {
#pragma HLS pipeline II = 1
        out.write(cache[h * 12 + p * 2 + d]);
      }
    }
  }
}

static void load_mask(const float *mask, hls::stream<float> &out, int past) {
  for (int p = 0; p < past; ++p) {
#pragma HLS pipeline II = 1
    out.write(mask[p]);
  }
}

static void attend(hls::stream<float> &keys, hls::stream<float> &values,
                   hls::stream<float> &mask, hls::stream<float> &sum,
                   int past) {
  float total = 0.0f;
  for (int p = 0; p < past; ++p) {
    float row = 0.0f;
    for (int i = 0; i < 4; ++i) {
      row += keys.read();
      row += 100.0f * values.read();
    }
    total += mask.read() * row;
  }
  sum.write(total);
}

static void combine(hls::stream<float> &state, hls::stream<float> &weight,
                    hls::stream<float> &sum, hls::stream<float> &out,
                    int tokens) {
  const float total = sum.read();
  for (int i = 0; i < tokens * 4; ++i) {
#pragma HLS pipeline II = 1
    out.write(state.read() * weight.read() + total);
  }
}

static void store_state(hls::stream<float> &in, float *result0, int tokens) {
  for (int i0 = 0; i0 < tokens * 4; ++i0) {
#pragma HLS pipeline II = 1
    result0[i0] = in.read();
  }
}

static void store_rows(hls::stream<float> &in, float *result1, float *result2,
                       int tokens) {
  for (int t = 0; t < tokens; ++t) {
    for (int h = 0; h < 2; ++h) {
      for (int d = 0; d < 2; ++d) {
#pragma HLS pipeline II = 1
        const float value = in.read();
        result1[h * 4 + t * 2 + d] = value;
        result2[h * 4 + t * 2 + d] = 2.0f * value;
      }
    }
  }
}

static void group0(const float *arg0, const float *arg1, const float *arg2,
                   const float *arg3, const float *arg4, float *result0,
                   float *result1, float *result2, int past, int tokens) {
#pragma HLS dataflow
  ST_FIFO(float, state, 8);
  ST_FIFO(float, rows, 2);
  ST_FIFO(float, weight, 2);
  ST_FIFO(float, keys, 2);
  ST_FIFO(float, values, 2);
  ST_FIFO(float, mask, 2);
  ST_FIFO(float, sum, 1);
  ST_FIFO(float, out, 2);
  ST_TASK(load_state, arg0, state, rows, tokens);
  ST_TASK(load_weight, arg1, weight, tokens);
  ST_TASK(load_cache, arg2, keys, past);
  ST_TASK(load_cache, arg3, values, past);
  ST_TASK(load_mask, arg4, mask, past);
  ST_TASK(attend, keys, values, mask, sum, past);
  ST_TASK(combine, state, weight, sum, out, tokens);
  ST_TASK(store_state, out, result0, tokens);
  ST_TASK(store_rows, rows, result1, result2, tokens);
  ST_JOIN();
}

extern "C" void layer(const float *arg0, const float *arg1, const float *arg2,
                      const float *arg3, const float *arg4, float *result0,
                      float *result1, float *result2, int past, int tokens) {
  group0(arg0, arg1, arg2, arg3, arg4, result0, result1, result2, past, tokens);
}
