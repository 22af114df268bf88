//===- streamtensor-check-certificate.cpp - Is it free of deadlock? -------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the certificate of a compiled design.
//
//===----------------------------------------------------------------------===//

#include "runtime/CommandLine.h"
#include "tools/streamtensor-check-certificate/Check.h"

#include <iostream>

static const char *const kUsage =
    "usage: streamtensor-check-certificate DIR\n"
    "       streamtensor-check-certificate --batch < FILE\n"
    "\n"
    "Verifies DIR/certificate.json: the FIFO depths of the design in DIR are\n"
    "free of deadlock for all values of its run-time parameters\n"
    "(docs/certificates.md). Exits with 1 when that cannot be verified.\n"
    "  --batch   reads directories from the lines of the input and prints one\n"
    "            line for each\n";

int main(int argc, char **argv) {
  using namespace streamtensor;
  return runtime::runProgram(argc, argv, kUsage, [&] {
    bool isBatch = false;
    for (int i = 1; i < argc; ++i)
      isBatch |= std::string(argv[i]) == "--batch";
    const runtime::CommandLine line(argc, argv, {}, isBatch ? 0 : 1, {"batch"});
    if (isBatch)
      certificate::checkMany(std::cin, std::cout);
    else
      std::cout << certificate::checkCertificate(line.positional(0)) << "\n";
  });
}
