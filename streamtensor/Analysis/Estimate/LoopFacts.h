//===- LoopFacts.h - Iterations, lanes and what they touch ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How often loops of a task run in hardware, and which loops an index depends
// on. Shared by those who choose directives and those who estimate.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPFACTS_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPFACTS_H

#include "streamtensor/Analysis/LinearOffset.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace streamtensor {

/// The trip count; the largest, when it is known at run time only.
int64_t tripCount(mlir::scf::ForOp loop);

/// How many iterations of `loop` exist at once in hardware.
int64_t unrollFactor(mlir::scf::ForOp loop);

/// All iterations exist at once: no loop in hardware.
bool isFullyUnrolled(mlir::scf::ForOp loop);

/// How many of `trips` iterations of `loop` follow each other in hardware.
int64_t iterationsOf(mlir::scf::ForOp loop, int64_t trips);

/// Iterations of `loop` in hardware.
int64_t iterations(mlir::scf::ForOp loop);

/// The loops whose induction variables `indices` are computed from.
llvm::SmallPtrSet<mlir::Operation *, 4> loopsOf(mlir::ValueRange indices);

/// How many copies of `op` one iteration of `scope` holds: the product of the
/// unroll factors of the loops between them.
int64_t copiesInside(mlir::Operation *op, mlir::Operation *scope);

/// The pipelined loop that `loop` and the loops inside it are flattened into,
/// and these loops, outermost first; empty when `loop` runs its body step by
/// step. Loops are flattened when they hold nothing else that takes a cycle and
/// the bounds of all but the outermost are constants.
llvm::SmallVector<mlir::scf::ForOp> pipelinedNest(mlir::scf::ForOp loop);

/// Elements of memory that lie one behind the other.
struct ContiguousRun {
  int64_t elements;
  /// All loops around the access belong to it; else the next one further out
  /// jumps.
  bool isComplete;
};

/// The run of an access of `elements` elements at `offset`: the loops around
/// it, from the inside, as long as each steps over exactly what those inside of
/// it cover.
ContiguousRun contiguousRun(mlir::Operation *access, const LinearOffset &offset,
                            int64_t elements);

/// The stream behind casts.
mlir::Value streamOf(mlir::Value value);

/// The argument of the task that `value` is a view of when it is memory outside
/// of the design, else null.
mlir::Value deviceMemoryOf(mlir::Value value);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPFACTS_H
