//===- TestDevice.h - The device that tests run on --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of what stands above a device run on each of them, in a program for
// each.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_RUNTIME_TESTDEVICE_H
#define STREAMTENSOR_UNITTESTS_RUNTIME_TESTDEVICE_H

#include "runtime/Device.h"

#include <filesystem>

namespace streamtensor::runtime::test {

std::unique_ptr<Device> makeTestDevice();

/// Adds to a model of makeModel what the device needs besides.
void prepareForTestDevice(const std::filesystem::path &model);

/// Whether a run on the device counts tokens.
bool testDeviceCounts();

} // namespace streamtensor::runtime::test

#endif // STREAMTENSOR_UNITTESTS_RUNTIME_TESTDEVICE_H
