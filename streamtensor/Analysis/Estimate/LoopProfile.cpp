//===- LoopProfile.cpp - Loops known by their operators -------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The longest path is guessed from the kinds of operators and the addends of a
// cell.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/LoopProfile.h"

#include "streamtensor/Analysis/Estimate/LoopRules.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

ProfileEstimate streamtensor::estimateProfile(const LoopProfile &profile) {
  const OperatorLibrary &library = OperatorLibrary::standard();
  const OperatorInfo &add = library.get("fadd");
  const OperatorInfo &shortAdd = library.get("fadd_fabric");
  int64_t cells = std::max<int64_t>(1, profile.cells);

  // Sums: levels of adders from products to cells, the short ones first.
  int64_t adds = 0, shortAdds = 0;
  for (const auto &[unit, count] : profile.operations) {
    adds += unit == &add || unit == &shortAdd ? count : 0;
    shortAdds += unit == &shortAdd ? count : 0;
  }
  int64_t addends = llvm::divideNearest(adds, cells);
  if (adds > 0)
    addends = std::max<int64_t>(1, addends);
  int64_t levels = profile.accumulates
                       ? balancedLevels(addends)
                       : llvm::Log2_64_Ceil(static_cast<uint64_t>(addends) + 1);
  int64_t shortLevels = std::min(
      levels, static_cast<int64_t>(llvm::divideNearest(shortAdds, cells)));

  ProfileEstimate estimate;
  int64_t recurrence = recurrenceInterval(
      carriedLevels(addends) * shortAdd.latency, profile.distance);
  estimate.interval = std::max({int64_t(1), recurrence, profile.portAccesses});

  // Where synthesis takes short adders, it has fitted the path by these.
  int64_t path = shortLevels > 0
                     ? (levels - shortLevels) * add.pathCycles() +
                           shortLevels * shortAdd.pathCycles()
                     : carriedPath(levels * add.pathCycles(), profile.distance,
                                   estimate.interval);
  bool hasAddresses = false;
  for (const auto &[unit, count] : profile.operations) {
    if (count > 0 && isAddress(*unit))
      hasAddresses = true;
    else if (count > 0 && unit != &add && unit != &shortAdd)
      path += unit->pathCycles();
  }
  path += profile.readsArrays ? kArrayReadCycles : 0;
  path += hasAddresses ? kAddressCycles : 0;

  int64_t sharing = 0;
  UnitSums sums;
  for (const auto &[unit, count] : profile.operations) {
    if (!isAddress(*unit))
      sharing = std::max(sharing, sharingCycles(count, estimate.interval));
    sums.add(*unit, count, isAddress(*unit) ? 1 : estimate.interval);
  }
  estimate.resources = sums.resources();
  if (recurrence > 1 && recurrence >= profile.portAccesses)
    sharing = visibleSharing(sharing, carriedLevels(addends));
  // A port that is accessed several times delays what needs the last access.
  sharing = std::max(sharing, profile.portAccesses - 1);
  estimate.depth = pipelineDepth(path, sharing);
  return estimate;
}
