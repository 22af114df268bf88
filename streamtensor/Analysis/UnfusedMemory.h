//===- UnfusedMemory.h - Memory of intermediates without fusion -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fusion saves is measured against a design with one kernel per operation:
// the memory that its intermediates would take.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_UNFUSEDMEMORY_H
#define STREAMTENSOR_ANALYSIS_UNFUSEDMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>

namespace streamtensor {

/// Bytes that a design with one kernel per operation of `function` (phase
/// `normalized`) writes to memory for intermediates, each tensor once:
///  - the result of every computation and concatenation counts;
///  - views do not (reshapes, slices, windows, which overlap), nor do paddings,
///    constants and fills;
///  - what the function returns does not, directly or reshaped;
///  - a concatenation with a cache (an argument of role `cache`) does not: a
///    design without fusion appends to the cache where it is.
int64_t countUnfusedBytes(mlir::func::FuncOp function);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_UNFUSEDMEMORY_H
