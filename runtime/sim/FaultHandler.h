//===- FaultHandler.h - Crashes of a simulated kernel -----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a crash inside a simulated kernel into a message that names the
// process.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_SIM_FAULTHANDLER_H
#define STREAMTENSOR_RUNTIME_SIM_FAULTHANDLER_H

namespace streamtensor::sim {

/// Installs a handler for memory faults of this thread's simulations: it says
/// on stderr which process used up its stack or accessed memory that is not
/// its own, and ends the program with exit code 1. Other faults crash as
/// before. For programs, not for libraries.
void installFaultHandler();

} // namespace streamtensor::sim

#endif // STREAMTENSOR_RUNTIME_SIM_FAULTHANDLER_H
