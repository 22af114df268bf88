//===- streamtensor-runtime.cpp - Serves a language model -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a compiled language model, by C simulation or on a board, for another
// process, which talks to it over stdin and stdout (runtime/Protocol.h).
//
//===----------------------------------------------------------------------===//

#include "runtime/CommandLine.h"
#include "runtime/MakeDevice.h"
#include "runtime/Protocol.h"
#include "runtime/sim/FaultHandler.h"

#include <csignal>
#include <iostream>

using namespace streamtensor::runtime;

static const char *const kUsage =
    "usage: streamtensor-runtime DIR [--device csim|xrt] [--xclbin FILE]\n"
    "\n"
    "Serves the language model in DIR (made by streamtensor compile MODEL):\n"
    "reads requests from stdin and writes responses to stdout, each a line of\n"
    "JSON followed by the bytes of its tensors.\n"
    "A board of XRT runs DIR/model.xclbin, or FILE.\n"
    "STREAMTENSOR_CXX names the compiler of the simulation.\n";

int main(int argc, char **argv) {
  // A reader that has gone is an error of the write, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  streamtensor::sim::installFaultHandler();
  return runProgram(argc, argv, kUsage, [&] {
    const CommandLine line(argc, argv, {"device", "xclbin"}, 1);
    try {
      const std::unique_ptr<Device> device =
          makeDevice(line, "streamtensor-runtime");
      LanguageModel model(*device, line.positional(0));
      serve(model, stdin, stdout);
    } catch (const std::exception &error) {
      // Whoever waits for a response learns the cause.
      respondError(stdout, error.what());
      throw;
    }
  });
}
