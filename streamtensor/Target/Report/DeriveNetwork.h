//===- DeriveNetwork.h - The timed network of a design ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tasks, FIFOs and memory ports of phase `hls` as processes of a timed network:
// the loops are those that the emitter prints, the times those of the
// estimator.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_DERIVENETWORK_H
#define STREAMTENSOR_TARGET_REPORT_DERIVENETWORK_H

#include "streamtensor/Network/TimedNetwork.h"
#include "streamtensor/Target/Device/Device.h"
#include "streamtensor/Target/Report/DesignInfo.h"

namespace streamtensor {

/// Derives the network of `module` (phase hls), whose facts are `design` with
/// the channels of its arguments, on `device`.
///  - A task is a process; a converter with two halves is two, `NAME_fill` and
///    `NAME_drain`, with control FIFOs that hand the halves back and forth.
///  - A group of tasks begins when the one before it has ended, by a process
///    `GROUP_end` that takes no time.
///  - Arguments of one bundle share a port. On a device with HBM a channel has
///    its part of the peak bandwidth; elsewhere there is one channel.
///  - Conditions around accesses are on loops and run-time sizes.
/// Nothing, after a warning, where a condition around accesses depends on
/// anything else, or memory without a port is accessed: networks cannot say
/// that. Emits an error and fails for what is no phase hls.
mlir::FailureOr<std::optional<TimedNetwork>>
deriveNetwork(mlir::ModuleOp module, const DesignInfo &design,
              const DeviceInfo &device);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_REPORT_DERIVENETWORK_H
