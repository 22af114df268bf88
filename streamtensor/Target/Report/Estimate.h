//===- Estimate.h - Time and area of tasks ----------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What synthesis will make of a task function, estimated. Operators, depths and
// storage follow published synthesis reports at 3.33 ns on UltraScale+
// (Stream-HLS, FPGA '25 artifacts); where those say nothing, a figure is ours
// and marked so at its place.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_ESTIMATE_H
#define STREAMTENSOR_TARGET_REPORT_ESTIMATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>

namespace streamtensor {

/// Blocks of an FPGA.
struct ResourceUse {
  int64_t dsp = 0, lut = 0, ff = 0, bram18 = 0, uram = 0;

  ResourceUse &operator+=(const ResourceUse &other);
};

/// One run of a task, in cycles, as if its streams never blocked.
struct TaskEstimate {
  int64_t interval = 1;     ///< largest initiation interval of its pipelines
  int64_t depth = 0;        ///< stages of its deepest pipeline
  int64_t latency = 0;      ///< from start to end
  int64_t initialDelay = 0; ///< from start to the first token written
  ResourceUse resources;
};

/// Estimates a function marked `hls.task`, its stages included.
TaskEstimate estimateTask(mlir::func::FuncOp task);

/// A FIFO of `depth` tokens of `bits` bits. Block memories are counted by the
/// blocks that they need (synthesis reports one block for any depth).
ResourceUse estimateFifo(int64_t depth, int64_t bits);

/// The read or write buffer of an AXI port: 16 bursts in flight, each of
/// `burst` beats of `bits` bits.
ResourceUse estimatePort(int64_t bits, int64_t burst);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_REPORT_ESTIMATE_H
