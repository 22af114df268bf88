//===- DecisiveValues.h - Values that decide about branches -----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network of which a smaller size only deletes iterations of loops ends at
// all sizes where it ends at the largest one (docs/certificates.md). Where a
// size decides about branches too, this does not hold, and each of its values
// has to be looked at.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_NETWORK_DECISIVEVALUES_H
#define STREAMTENSOR_NETWORK_DECISIVEVALUES_H

#include "streamtensor/Network/TimedNetwork.h"

#include <set>

namespace streamtensor {

/// Beyond so many values, or so many accesses at all of them together, a
/// network is not looked at.
inline constexpr int64_t kMostDecisiveValues = 4096;
inline constexpr int64_t kMostDecisiveWork = int64_t(1) << 28;

/// The parameters on which branches depend: those in conditions, and those in
/// the trip counts of loops whose iteration numbers stand in conditions.
std::set<std::string> decidingParameters(const TimedNetwork &network);

/// All combinations of the values of the parameters `names`, with the largest
/// of the other parameters; the largest first, and alone without names. Returns
/// nothing and sets `error`, which says which parameters are to have how many
/// values, where these are too many.
std::optional<std::vector<ParameterValues>>
decisiveValues(const TimedNetwork &network, const std::set<std::string> &names,
               std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_NETWORK_DECISIVEVALUES_H
