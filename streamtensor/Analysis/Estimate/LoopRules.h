//===- LoopRules.h - Figures of pipelined loops -----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules by which paths, distances and accesses become cycles and units,
// without IR. LoopEstimate applies them to loops of phase `hls`, LoopProfile to
// loops of which only the operators are known. docs/estimates.md has sources
// and accuracy.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPRULES_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPRULES_H

#include <cstdint>

namespace streamtensor {

/// Cycles of a pipeline that are no operators: entry, exit and their registers.
inline constexpr int64_t kPipelineOverhead = 3;
/// Cycles to read a word of an array in memory (published: 1 to 2).
inline constexpr int64_t kArrayReadCycles = 2;
/// Cycles of an address with a stride that is no power of two: its multiply-add
/// takes 4, of which what else comes first hides a part (published: 0 to 4).
inline constexpr int64_t kAddressCycles = 2;

/// The initiation interval that a path of `latency` cycles from one update of a
/// cell to the next forces, when the updates are `distance` iterations apart.
/// In an array (distance above 1) reading the cell takes one more cycle.
int64_t recurrenceInterval(int64_t latency, int64_t distance);

/// Cycles of the adders on a path that is carried over `distance` iterations of
/// `interval` cycles, `path` when nothing limits them: synthesis merges stages
/// (and misses its clock) rather than to raise the interval, until the path and
/// the read of the cell fit.
int64_t carriedPath(int64_t path, int64_t distance, int64_t interval);

/// Units that compute `uses` operations every `interval` cycles.
int64_t unitsFor(int64_t uses, int64_t interval);

/// Cycles that an iteration is longer because its operations share units: the
/// last one of `uses` begins so much later than the first.
int64_t sharingCycles(int64_t uses, int64_t interval);

/// What of `sharing` remains under a recurrence whose path has `carried`
/// adders: a single adder comes after all else; along a chain of three the
/// operands are needed one after the other anyway; longer ones hide half of it
/// (published depths of sums with distance 1).
int64_t visibleSharing(int64_t sharing, int64_t carried);

/// Depth of a pipeline with a longest path of `path` cycles of operators
/// (OperatorInfo::pathCycles) and reads, whose operations wait `sharing` cycles
/// for their units.
int64_t pipelineDepth(int64_t path, int64_t sharing);

/// Levels of adders from the products to the cell when synthesis balances the
/// sum of `addends` products and an accumulator, which it may where unsafe
/// floating-point optimizations are allowed. The accumulator comes out of an
/// array, too late for the first level; without a free slot behind it, it gets
/// a level of its own.
int64_t balancedLevels(int64_t addends);

/// Adders of such a sum that the accumulator passes through when it is carried
/// from one iteration to the next.
int64_t carriedLevels(int64_t addends);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPRULES_H
