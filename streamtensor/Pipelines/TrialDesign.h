//===- TrialDesign.h - A design before it is decided ------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dies, depths and memories are decided in phase `allocated`, but what tasks
// take shows only in the loops that the next phases build. So a copy is lowered
// to its end, and this is the copy with what it was copied from.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_TRIALDESIGN_H
#define STREAMTENSOR_PIPELINES_TRIALDESIGN_H

#include "streamtensor/Allocation/ResourceCounts.h"
#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Target/Device/Device.h"
#include "streamtensor/Target/Report/DesignInfo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace streamtensor {

struct TrialDesign {
  mlir::ModuleOp original;                   ///< of phase allocated
  mlir::OwningOpRef<mlir::ModuleOp> lowered; ///< of phase hls
  DesignInfo design;                         ///< of `lowered`
  /// Behind each of `design.tasks` and `design.fifos`, by index: operations of
  /// `original`, and functions of `lowered`.
  llvm::SmallVector<dataflow::TaskOp> tasks;
  llvm::SmallVector<itensor::InstanceOp> fifos;
  llvm::SmallVector<mlir::func::FuncOp> functions;

  /// Takes over the depths that `original` has by now.
  void updateDepths();
};

/// Pairs `original` (phase allocated) with `lowered`, a copy of it in phase
/// hls. Fails, with an error, when they are not the same design.
mlir::FailureOr<TrialDesign>
makeTrialDesign(mlir::ModuleOp original,
                mlir::OwningOpRef<mlir::ModuleOp> lowered);

/// In the order of Resource; a BRAM36 is two BRAM18.
ResourceCounts countsOf(const ResourceUse &use);
ResourceCounts countsOf(const DeviceResources &resources);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_TRIALDESIGN_H
