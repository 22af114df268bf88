//===- RunCommand.h - The command streamtensor-run --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What streamtensor-run understands and does.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_RUNCOMMAND_H
#define STREAMTENSOR_RUNTIME_RUNCOMMAND_H

namespace streamtensor::runtime {

/// What `--help` prints.
extern const char *const kRunUsage;

/// Runs what the command line asks for. Throws Error, and UsageError for one
/// that is wrong.
void runCommand(int argc, char **argv);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_RUNCOMMAND_H
