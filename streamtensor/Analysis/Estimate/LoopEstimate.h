//===- LoopEstimate.h - Pipelined loops in time and area --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Initiation interval, depth and units of a pipelined loop of phase `hls`. A
// pipeline of n iterations takes interval * (n - 1) + depth cycles; streams and
// device memory are read at stage 0 of an iteration and written at stage
// depth - 2.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPESTIMATE_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPESTIMATE_H

#include "streamtensor/Analysis/Estimate/LoopInterval.h"
#include "streamtensor/Analysis/Estimate/OperatorLibrary.h"

#include "llvm/ADT/MapVector.h"

namespace streamtensor {

/// How often each unit's operation is computed at once.
using OperatorUses = llvm::MapVector<const OperatorInfo *, int64_t>;

/// A pipelined loop with the loops around it that are flattened into it.
struct LoopEstimate {
  /// Outermost first; the last one carries `hls.pipeline`.
  llvm::SmallVector<mlir::scf::ForOp> nest;
  int64_t requested = 1; ///< by the directive
  int64_t interval = 1;  ///< achieved: what is requested, or a larger bound
  IntervalCause cause = IntervalCause::None; ///< of `interval`
  IntervalBounds bounds;
  int64_t depth = 2; ///< cycles of one iteration
  OperatorUses uses; ///< of one iteration

  mlir::scf::ForOp loop() const { return nest.back(); }
  /// Cycles after the begin of an iteration.
  int64_t readStage() const { return 0; }
  int64_t writeStage() const { return depth < 2 ? 0 : depth - 2; }
  /// Iterations at the largest sizes.
  int64_t iterations() const;
  /// Cycles of all iterations, 0 when there is none.
  int64_t cycles() const;
};

/// Estimates the pipelined loop that `nest` is flattened into (pipelinedNest).
/// `arrays` are those behind the arguments of a stage. Interval and depth of a
/// synthesis report (`hls.csynth`) count instead of estimates.
LoopEstimate estimateLoop(llvm::ArrayRef<mlir::scf::ForOp> nest,
                          const ArrayBinding &arrays = ArrayBinding());

/// What the cycles and units of an operation depend on beside itself.
struct PathContext {
  /// The pipeline in which sums that come back to their cell take the adder in
  /// fabric, or null.
  mlir::Operation *carriedLoop = nullptr;
  /// Arrays behind the arguments of a stage, or null.
  const ArrayBinding *arrays = nullptr;
};

/// Counts the units that one execution of `scope` needs at once into `uses`;
/// lanes share the units of addresses.
void countOperators(mlir::Operation *scope, OperatorUses &uses,
                    const PathContext &context = {});

/// When the last result of one execution of `block` is there, in cycles.
/// `ready` holds when values, and the contents of arrays, are there; missing
/// ones are there at 0.
int64_t pathCycles(mlir::Block &block,
                   llvm::DenseMap<mlir::Value, int64_t> &ready,
                   const PathContext &context = {});

/// Cycles of one operation on a path; 0 for what is combinational.
int64_t pathCycles(mlir::Operation *op, const PathContext &context = {});

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPESTIMATE_H
