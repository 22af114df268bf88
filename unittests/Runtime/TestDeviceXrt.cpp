//===- TestDeviceXrt.cpp - Tests on a simulated board ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device of STXrtTests, and the executable of a model, whose arguments all
// have banks of their own.
//
//===----------------------------------------------------------------------===//

#include "TestDevice.h"

#include "SampleDesigns.h"
#include "runtime/DesignInterface.h"
#include "runtime/XrtDevice.h"

using namespace streamtensor::runtime;

std::unique_ptr<Device> test::makeTestDevice() { return makeXrtDevice(); }

void test::prepareForTestDevice(const std::filesystem::path &model) {
  int bank = 0;
  std::string text = "streamtensor simulated xclbin\n";
  for (const char *design : {"layer", "head"}) {
    std::vector<int> banks;
    for (size_t i = 0;
         i < DesignInterface::read((model / design).string()).arguments.size();
         ++i)
      banks.push_back(bank++);
    makeBanks(model / design, banks);
    text += std::string("design ") + design + "\n";
  }
  writeFile(model / "model.xclbin", text);
}

bool test::testDeviceCounts() { return false; }
