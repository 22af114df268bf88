//===- streamtensor-run.cpp - Runs one design -----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a compiled design once, by C simulation or on a board.
//
//===----------------------------------------------------------------------===//

#include "runtime/CommandLine.h"
#include "runtime/RunCommand.h"
#include "runtime/sim/FaultHandler.h"

using namespace streamtensor::runtime;

int main(int argc, char **argv) {
  streamtensor::sim::installFaultHandler();
  return runProgram(argc, argv, kRunUsage, [&] { runCommand(argc, argv); });
}
