//===- TestDeviceSimulated.cpp - Tests on the simulated device ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device of STRuntimeTests.
//
//===----------------------------------------------------------------------===//

#include "TestDevice.h"

#include "runtime/SimulatedDevice.h"

using namespace streamtensor::runtime;

std::unique_ptr<Device> test::makeTestDevice() { return makeSimulatedDevice(); }

void test::prepareForTestDevice(const std::filesystem::path &) {}

bool test::testDeviceCounts() { return true; }
