//===- MakeDevice.cpp - Devices by their names ----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place that knows whether this build has XRT.
//
//===----------------------------------------------------------------------===//

#include "runtime/MakeDevice.h"

#include "runtime/Error.h"
#include "runtime/SimulatedDevice.h"
#ifdef STREAMTENSOR_HAS_XRT
#include "runtime/XrtDevice.h"
#endif

#include <iostream>

using namespace streamtensor;
using namespace streamtensor::runtime;

std::unique_ptr<Device> runtime::makeDevice(const CommandLine &line,
                                            const std::string &program) {
  const auto progress = [program](const std::string &what) {
    std::cerr << program << ": " << what << std::endl;
  };
  const std::string name =
      line.has("device") ? line.required("device") : "csim";
  if (name != "csim" && name != "xrt")
    throw UsageError("expected the device csim or xrt but got '" + name + "'");
  if (name == "csim") {
    if (line.has("xclbin"))
      throw UsageError("expected '--device xrt' with '--xclbin'");
    return makeSimulatedDevice(progress);
  }
#ifdef STREAMTENSOR_HAS_XRT
  XrtOptions options = XrtOptions::fromEnvironment();
  options.xclbin = line.optional("xclbin");
  return makeXrtDevice(options, progress);
#else
  throw Error("this build has no XRT, so it cannot use a board; install "
              "Debian's libxrt-dev or set XILINX_XRT, and build again");
#endif
}
