//===- NoCoin.cpp - Where the solvers of COIN-OR are missing --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built instead of DelayClp.cpp and IntegerCbc.cpp: the built-in solvers do all
// work.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DelayProgram.h"
#include "streamtensor/Allocation/IntegerProgram.h"

using namespace streamtensor;

bool streamtensor::hasClp() { return false; }

std::optional<DelayCertificate> streamtensor::solveByClp(const DelayProgram &) {
  return std::nullopt;
}

bool streamtensor::hasCbc() { return false; }

std::optional<IntegerResult>
streamtensor::solveByCbc(const IntegerProgram &, int64_t,
                         const std::vector<int64_t> &) {
  return std::nullopt;
}
