//===- matvec_rate.cpp - Speed of the C simulation ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures how many multiply-accumulates per second the C simulation of
// kernels/matvec.cpp reaches. Prints the best of many runs, because other load
// on the machine only ever makes a run slower.
//
//===----------------------------------------------------------------------===//

#include "runtime/sim/Scheduler.h"

#include "kernels/matvec.cpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

const st::sim::Api *st::sim::api = streamtensor::sim::Scheduler::api();

namespace {

constexpr int kRows = 576, kColumns = 1536, kRuns = 400;

struct Arguments {
  float *x, *w, *y;
};

void callKernel(void *argument) {
  const Arguments &arguments = *static_cast<Arguments *>(argument);
  matvec(arguments.x, reinterpret_cast<const f32x16 *>(arguments.w),
         arguments.y);
}

float *allocate(size_t count) {
  return static_cast<float *>(std::aligned_alloc(64, count * sizeof(float)));
}

} // namespace

int main() {
  Arguments arguments = {allocate(kRows), allocate(kRows * kColumns),
                         allocate(kColumns)};
  std::fill_n(arguments.x, kRows, 1.0f);
  std::fill_n(arguments.w, kRows * kColumns, 0.5f);
  streamtensor::sim::Scheduler scheduler;
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    scheduler.run("matvec", callKernel, &arguments);
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count());
  }
  // 576 times 1 * 0.5
  if (arguments.y[0] != 288.0f || arguments.y[kColumns - 1] != 288.0f) {
    std::fprintf(stderr, "expected 288 but got %g\n", arguments.y[0]);
    return 1;
  }
  std::printf("matvec 576x1536, weight FIFO depth %d: %.2f GMAC/s measured\n",
              MATVEC_DEPTH, double(kRows) * kColumns / best / 1e9);
  return 0;
}
