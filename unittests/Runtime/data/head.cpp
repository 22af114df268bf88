//===- head.cpp - Sample design: head -------------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Logits of a language model that can be computed by hand: result0[3] =
// arg1[3][4] x arg0[4].
//
//===----------------------------------------------------------------------===//

#include "hls_math.h"
#include "hls_stream.h"
#include "hls_vector.h"
#include "st_dataflow.h"
#include "st_math.h"

static void load_state(const float *arg0, hls::stream<float> &out) {
  for (int v = 0; v < 3; ++v) {
    for (int j = 0; j < 4; ++j) {
#pragma HLS pipeline II = 1
      out.write(arg0[j]);
    }
  }
}

static void load_weight(const float *arg1, hls::stream<float> &out) {
  for (int i0 = 0; i0 < 12; ++i0) {
#pragma HLS pipeline II = 1
    out.write(arg1[i0]);
  }
}

static void multiply(hls::stream<float> &state, hls::stream<float> &weight,
                     hls::stream<float> &out) {
  for (int v = 0; v < 3; ++v) {
    float sum = 0.0f;
    for (int j = 0; j < 4; ++j) {
#pragma HLS pipeline II = 1
      sum += state.read() * weight.read();
    }
    out.write(sum);
  }
}

static void store_logits(hls::stream<float> &in, float *result0) {
  for (int i0 = 0; i0 < 3; ++i0) {
#pragma HLS pipeline II = 1
    result0[i0] = in.read();
  }
}

static void group0(const float *arg0, const float *arg1, float *result0) {
#pragma HLS dataflow
  ST_FIFO(float, state, 2);
  ST_FIFO(float, weight, 2);
  ST_FIFO(float, out, 1);
  ST_TASK(load_state, arg0, state);
  ST_TASK(load_weight, arg1, weight);
  ST_TASK(multiply, state, weight, out);
  ST_TASK(store_logits, out, result0);
  ST_JOIN();
}

extern "C" void head(const float *arg0, const float *arg1, float *result0) {
  group0(arg0, arg1, result0);
}
