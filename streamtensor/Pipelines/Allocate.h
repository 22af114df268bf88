//===- Allocate.h - Dies, depths and memories -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The second half of phase `allocated`, which needs the design's loops: a copy
// is lowered to its end, and what is decided goes back to the module.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_ALLOCATE_H
#define STREAMTENSOR_PIPELINES_ALLOCATE_H

#include "streamtensor/Allocation/FifoStrategy.h"
#include "streamtensor/Target/Device/Device.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace streamtensor {

/// What was decided, for the report.
struct AllocationSummary {
  /// Of the linear program; nothing where the design has no network.
  std::optional<double> lpSeconds;
  llvm::json::Object dies, memories;
  /// Steps other than FIFO depths, with wall-clock seconds.
  std::vector<std::pair<std::string, double>> seconds;
};

/// Makes a copy of the module in phase hls; null, after a message, on failure.
using LowerCopy = std::function<mlir::OwningOpRef<mlir::ModuleOp>()>;

/// Decides about `module` (phase allocated, FIFOs with depths that let it end
/// in program order): dies, then the depths of FIFOs, which depend on what
/// crosses dies, then memories, which depend on the depths. Emits an error and
/// fails where that is not possible; but where only the memories do not fit,
/// and `misfit` is given, it gets the message instead.
mlir::FailureOr<AllocationSummary>
allocateDesign(mlir::ModuleOp module, const DeviceInfo &device,
               FifoStrategy strategy, LowerCopy lowerCopy, std::string *misfit);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_ALLOCATE_H
