//===- Options.h - command line of the compiler -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line of streamtensor-compile.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_OPTIONS_H
#define STREAMTENSOR_PIPELINES_OPTIONS_H

#include "streamtensor/Pipelines/Compiler.h"

namespace streamtensor {

/// Fills `request` from the command line. Returns false, after a message on
/// `errs`, when an option is unknown, malformed or contradicts another.
bool parseCompileOptions(int argc, char **argv, CompileRequest &request,
                         llvm::raw_ostream &errs);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_OPTIONS_H
