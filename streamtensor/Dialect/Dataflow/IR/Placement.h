//===- Placement.h - Dies and memories as attributes ------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a design lies on its device: decided in phase `allocated`, carried by
// tasks and FIFOs from there on, obeyed by everything after. The dialect
// verifies them. docs/dies.md says how they are chosen.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_DATAFLOW_IR_PLACEMENT_H
#define STREAMTENSOR_DIALECT_DATAFLOW_IR_PLACEMENT_H

#include "llvm/ADT/StringRef.h"

namespace streamtensor::dataflow {

/// On a task, and on its function in phase `hls`: the name of its die, as the
/// target calls it ("SLR1").
inline constexpr llvm::StringLiteral kDieAttr = "dataflow.die";

/// On the same: a dictionary from the names of its arrays to the kind of memory
/// that each is built of: "lutram", "bram" or "uram". Arrays of one name are
/// built alike; one that is missing is built as its size suggests.
inline constexpr llvm::StringLiteral kMemoriesAttr = "dataflow.memories";

/// On a FIFO (`itensor.instance`, `stream.stream`): what it is built of: "srl",
/// "lutram", "bram" or "uram".
inline constexpr llvm::StringLiteral kMemoryAttr = "dataflow.memory";

/// On a FIFO between two dies: its register stages, 1 to 64 (i64). Missing: 0.
inline constexpr llvm::StringLiteral kCrossingAttr = "dataflow.crossing";
inline constexpr int64_t kMostStages = 64;

} // namespace streamtensor::dataflow

#endif // STREAMTENSOR_DIALECT_DATAFLOW_IR_PLACEMENT_H
