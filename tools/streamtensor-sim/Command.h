//===- Command.h - What streamtensor-sim does -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One call of the command.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_SIM_COMMAND_H
#define STREAMTENSOR_TOOLS_SIM_COMMAND_H

#include "runtime/CommandLine.h"

namespace streamtensor {

/// Simulates the network of the command line and prints the result. Throws
/// runtime::Error for a network that is wrong, and after a deadlock, which is
/// printed first.
void simulateNetwork(const runtime::CommandLine &line);

} // namespace streamtensor

#endif // STREAMTENSOR_TOOLS_SIM_COMMAND_H
