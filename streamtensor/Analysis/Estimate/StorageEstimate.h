//===- StorageEstimate.h - Blocks that memories need ------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Area of FIFOs, arrays and memory ports, honest about blocks.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_STORAGEESTIMATE_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_STORAGEESTIMATE_H

#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include <cstdint>

namespace streamtensor {

/// Blocks of an FPGA.
struct ResourceUse {
  int64_t dsp = 0, lut = 0, ff = 0, bram18 = 0, uram = 0;

  ResourceUse &operator+=(const ResourceUse &other);
};

/// A FIFO of `depth` tokens of `bits` bits. Block memories are counted by the
/// blocks that they need (synthesis reports one block for any depth).
ResourceUse estimateFifo(int64_t depth, int64_t bits);

/// The read or write buffer of an AXI port: 16 bursts in flight, each of
/// `burst` beats of `bits` bits.
ResourceUse estimatePort(int64_t bits, int64_t burst);

/// An array of a task, with its banks and both halves of a ping-pong buffer.
ResourceUse estimateBuffer(stream::BufferOp buffer);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_STORAGEESTIMATE_H
