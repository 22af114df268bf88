//===- streamtensor-run.cpp - Runs one design -----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a compiled design once by C simulation.
//
//===----------------------------------------------------------------------===//

#include "runtime/CommandLine.h"
#include "runtime/RunDesign.h"
#include "runtime/SimulatedDevice.h"
#include "runtime/sim/FaultHandler.h"

#include <iostream>

using namespace streamtensor::runtime;

static const char *const kUsage =
    "usage: streamtensor-run DIR --inputs IN.safetensors --outputs "
    "OUT.safetensors [--json FILE]\n"
    "\n"
    "Runs the design in DIR (an output directory of streamtensor-compile) "
    "once\n"
    "by C simulation, which is built on first use and kept in DIR/csim.\n"
    "  --inputs FILE   one tensor per argument: arg0, arg1, ...\n"
    "  --outputs FILE  where to write the results: result0, result1, ...\n"
    "  --json FILE     where to write counts of FIFOs, DMAs and MACs\n"
    "STREAMTENSOR_CXX names the compiler of the simulation.\n";

int main(int argc, char **argv) {
  streamtensor::sim::installFaultHandler();
  return runProgram(argc, argv, kUsage, [&] {
    const CommandLine line(argc, argv, {"inputs", "outputs", "json"}, 1);
    const RunOptions options = {line.positional(0), line.required("inputs"),
                                line.required("outputs"),
                                line.optional("json")};
    const std::unique_ptr<Device> device =
        makeSimulatedDevice([](const std::string &what) {
          std::cerr << "streamtensor-run: " << what << std::endl;
        });
    runDesign(*device, options);
  });
}
