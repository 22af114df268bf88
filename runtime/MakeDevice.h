//===- MakeDevice.h - Devices by their names --------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device that a command line names: `csim` or `xrt`.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_MAKEDEVICE_H
#define STREAMTENSOR_RUNTIME_MAKEDEVICE_H

#include "runtime/CommandLine.h"
#include "runtime/Device.h"

#include <memory>

namespace streamtensor::runtime {

/// Makes the device of the options `--device` (`csim` where it is missing) and
/// `--xclbin`. What takes long is said on stderr, after the name of the
/// `program`. Throws UsageError for another device and for an executable
/// without a board, and Error where there is no board or no XRT in this build.
std::unique_ptr<Device> makeDevice(const CommandLine &line,
                                   const std::string &program);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_MAKEDEVICE_H
