//===- streamtensor-compile.cpp - the compiler -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the Linalg text of a module to an accelerator: HLS C++, weights,
// connectivity, report.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/Compiler.h"
#include "streamtensor/Pipelines/Options.h"

#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  streamtensor::CompileRequest request;
  // Exit code 2: wrong usage.
  if (!streamtensor::parseCompileOptions(argc, argv, request, llvm::errs()))
    return 2;
  return streamtensor::compile(request, llvm::outs(), llvm::errs()) ? 0 : 1;
}
