//===- streamtensor-estimate.cpp - Estimates of loops and memories --------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of the estimator, applied to what a file says of loops and memories
// (ProfileJson.h): to compare them with synthesis reports.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/ProfileJson.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

static cl::OptionCategory category("streamtensor-estimate options");
static cl::opt<std::string> input(cl::Positional, cl::desc("IN.json"),
                                  cl::init("-"), cl::cat(category));

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "StreamTensor: estimates of loops and memories\n");
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (!file) {
    llvm::WithColor::error() << "cannot read '" << input
                             << "': " << file.getError().message() << "\n";
    return 1;
  }
  std::string error;
  auto result = streamtensor::estimateProfiles((*file)->getBuffer(), error);
  if (!result) {
    llvm::WithColor::error() << input << ": " << error << "\n";
    return 1;
  }
  llvm::outs() << *result << "\n";
  return 0;
}
