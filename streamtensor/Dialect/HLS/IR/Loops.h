//===- Loops.h - Trip counts of loops --------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How often a loop of phase `hls` runs.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_HLS_IR_LOOPS_H
#define STREAMTENSOR_DIALECT_HLS_IR_LOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace streamtensor::hls {

/// Least and largest number of iterations of a loop.
struct TripBounds {
  int64_t min, max;
};

/// Both are the trip count where the bounds of `loop` are constants, else what
/// `hls.trip_count` says; 1 for a loop without it.
TripBounds tripBounds(mlir::scf::ForOp loop);

} // namespace streamtensor::hls

#endif // STREAMTENSOR_DIALECT_HLS_IR_LOOPS_H
