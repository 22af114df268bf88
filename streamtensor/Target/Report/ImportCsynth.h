//===- ImportCsynth.h - Figures of synthesis instead of estimates -*- C++
//-*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attaches what Vitis HLS reported of tasks and their loops to the module.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_IMPORTCSYNTH_H
#define STREAMTENSOR_TARGET_REPORT_IMPORTCSYNTH_H

#include "streamtensor/Target/Device/Device.h"

#include "mlir/IR/BuiltinOps.h"

namespace streamtensor {

/// Reads the reports at `path` (readCsynthReports) and sets `hls.csynth` on the
/// functions and loops of `module` (phase `hls`) that they are of; estimates
/// use it. Fails, with an error on the module, when a report cannot be read, is
/// for another part or clock than `device`, or does not match the design: a
/// module or loop that it does not have, another trip count, a task without
/// report in reports of a whole design.
llvm::LogicalResult importCsynth(mlir::ModuleOp module, llvm::StringRef path,
                                 const DeviceInfo &device);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_REPORT_IMPORTCSYNTH_H
