//===- SimulatedDevice.h - A device on the CPU ------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device for everybody without a board: buffers are host memory, a design
// runs as its C simulation.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_SIMULATEDDEVICE_H
#define STREAMTENSOR_RUNTIME_SIMULATEDDEVICE_H

#include "runtime/Device.h"

#include <functional>

namespace streamtensor::runtime {

/// `progress` is told in a few words what takes long (building a simulation);
/// it may be empty, and may be called from the thread that opens a design.
std::unique_ptr<Device>
makeSimulatedDevice(std::function<void(const std::string &)> progress = {});

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_SIMULATEDDEVICE_H
