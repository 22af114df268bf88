//===- LinearOffset.h - offsets as sums of multiples ------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a token lies in memory, as a constant and multiples of the variables of
// the loops around it.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_LINEAROFFSET_H
#define STREAMTENSOR_ANALYSIS_LINEAROFFSET_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>
#include <utility>

namespace streamtensor {

/// A constant plus the sum of value x factor over `terms`.
struct LinearOffset {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> terms;

  /// Whether `number` divides the constant and all factors.
  bool isMultipleOf(int64_t number) const;
};

/// The element of the memory behind `view` at which its tile begins; nothing
/// when strides are not constant or an offset is no such sum.
std::optional<LinearOffset> offsetOf(mlir::memref::SubViewOp view);

/// The same for the element of memory of type `type` at `indices`.
std::optional<LinearOffset> offsetOf(mlir::MemRefType type,
                                     mlir::ValueRange indices);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_LINEAROFFSET_H
