//===- streamtensor-pack.cpp - Packs weights ------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Brings weights into the order in which a design streams them.
//
//===----------------------------------------------------------------------===//

#include "runtime/CommandLine.h"
#include "runtime/PackWeights.h"

#include <iostream>

using namespace streamtensor::runtime;

static const char *const kUsage =
    "usage: streamtensor-pack DIR --weights FILE.safetensors --names "
    "arg0=NAME,... --output-dir DIR\n"
    "\n"
    "Packs row-major weights for the design in DIR and prints, as JSON, the\n"
    "file of each argument, relative to the output directory.\n"
    "  --weights FILE     safetensors file with the weights\n"
    "  --names LIST       which tensor is which argument of the design\n"
    "  --output-dir DIR   where the files go; equal contents share one file\n";

int main(int argc, char **argv) {
  return runProgram(argc, argv, kUsage, [&] {
    const CommandLine line(argc, argv, {"weights", "names", "output-dir"}, 1);
    const PackOptions options = {line.positional(0), line.required("weights"),
                                 parseNames(line.required("names")),
                                 line.required("output-dir")};
    std::cout << packWeights(options).dump(2) << std::endl;
  });
}
