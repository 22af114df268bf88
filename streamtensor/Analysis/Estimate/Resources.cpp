//===- Resources.cpp - Blocks of an FPGA ----------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of blocks.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/Resources.h"

#include "streamtensor/Analysis/Estimate/LoopRules.h"
#include "streamtensor/Analysis/Estimate/OperatorLibrary.h"

using namespace streamtensor;

ResourceUse &ResourceUse::operator+=(const ResourceUse &other) {
  dsp += other.dsp;
  lut += other.lut;
  ff += other.ff;
  bram18 += other.bram18;
  uram += other.uram;
  return *this;
}

ResourceUse ResourceUse::operator*(int64_t count) const {
  return {dsp * count, lut * count, ff * count, bram18 * count, uram * count};
}

bool ResourceUse::fitsIn(const ResourceUse &limit) const {
  return dsp <= limit.dsp && lut <= limit.lut && ff <= limit.ff &&
         bram18 <= limit.bram18 && uram <= limit.uram;
}

void UnitSums::add(const OperatorInfo &unit, int64_t uses, int64_t interval) {
  int64_t units = unitsFor(uses, interval);
  dsp += units * unit.dsp;
  lut += units * unit.lut;
  ff += units * unit.ff;
}

ResourceUse UnitSums::resources() const {
  ResourceUse use;
  use.dsp = dsp;
  use.lut = lut * 109 / 100;
  use.ff = ff * 128 / 100;
  return use;
}
