//===- Widths.h - How many bits a value needs -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Found by the ranges of integers in phase `normalized`, obeyed by what stores
// them in phase `hls`.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_DATAFLOW_IR_WIDTHS_H
#define STREAMTENSOR_DIALECT_DATAFLOW_IR_WIDTHS_H

#include "llvm/ADT/StringRef.h"

namespace streamtensor::dataflow {

/// On a reduction of integers, on the task that computes it, and on that one's
/// function: bits of the least signed type that holds its result and all of its
/// partial sums (i64). Missing: all bits of its type.
inline constexpr llvm::StringLiteral kBitsAttr = "dataflow.bits";

} // namespace streamtensor::dataflow

#endif // STREAMTENSOR_DIALECT_DATAFLOW_IR_WIDTHS_H
