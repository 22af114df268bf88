//===- NoClp.cpp - Delay programs where CLP is missing --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built instead of DelayClp.cpp: the built-in solver does all work.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DelayProgram.h"

using namespace streamtensor;

bool streamtensor::hasClp() { return false; }

std::optional<DelayCertificate> streamtensor::solveByClp(const DelayProgram &) {
  return std::nullopt;
}
