//===- SizeFifos.h - Depths of FIFOs by time --------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The second half of phase `allocated`. Whether a FIFO costs time shows only in
// the design's loops, which the next phases build; so a copy of the module is
// lowered to its end, its timed network is sized, and the depths go back to
// where FIFOs are declared.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_SIZEFIFOS_H
#define STREAMTENSOR_PIPELINES_SIZEFIFOS_H

#include "streamtensor/Allocation/FifoStrategy.h"
#include "streamtensor/Allocation/SizeNetwork.h"
#include "streamtensor/Target/Device/Device.h"

#include "mlir/IR/BuiltinOps.h"

namespace streamtensor {

/// Deepens FIFOs of `module` (phase allocated, with depths that let it end in
/// program order) so that it also ends, and is not held up, when its pipelines
/// overlap iterations and stall as a whole. `lowered` is a copy of it in phase
/// hls. `strategy` Min shrinks them too, to the smallest depths that cost no
/// time. Emits an error and fails where no depths let it end.
mlir::FailureOr<NetworkDepths> sizeFifos(mlir::ModuleOp module,
                                         mlir::ModuleOp lowered,
                                         const DeviceInfo &device,
                                         FifoStrategy strategy);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_SIZEFIFOS_H
