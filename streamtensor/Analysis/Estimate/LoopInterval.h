//===- LoopInterval.h - Initiation intervals --------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many cycles lie between two iterations of a pipelined loop at least.
// docs/estimates.md has the rules and their sources.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPINTERVAL_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPINTERVAL_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

namespace streamtensor {

/// What forces an initiation interval.
enum class IntervalCause {
  None,       ///< nothing: 1
  Requested,  ///< the directive asks for more than the others need
  Recurrence, ///< a value is needed by a later iteration
  FifoPort,   ///< one FIFO is accessed several times
  DevicePort, ///< device memory is accessed several times
  MemoryBank, ///< one bank of an array is accessed several times
  Synthesis,  ///< a synthesis report says so
};

/// "recurrence", "fifo port" ...
llvm::StringRef causeName(IntervalCause cause);

/// Cycles between two iterations that each kind of limit asks for; at least 1.
struct IntervalBounds {
  int64_t recurrence = 1, fifoPort = 1, devicePort = 1, memoryBank = 1;

  int64_t largest() const;
  IntervalCause cause() const;
};

/// Iterations of the pipelined `loop` (and of what encloses it) between two
/// updates of the cell at `indices`, at the least sizes; 0 when no iteration
/// comes back to it.
int64_t updateDistance(mlir::scf::ForOp loop, mlir::ValueRange indices);

/// Arrays of a caller behind the arguments of a stage.
using ArrayBinding = llvm::DenseMap<mlir::Value, mlir::Value>;

/// The bounds of a pipelined loop. `memoryBank` counts partitions and kinds of
/// memory as they stand on the arrays, which `arrays` finds where they are
/// arguments.
IntervalBounds intervalBounds(mlir::scf::ForOp loop,
                              const ArrayBinding &arrays = ArrayBinding());

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_LOOPINTERVAL_H
