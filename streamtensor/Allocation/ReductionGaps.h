//===- ReductionGaps.h - Sizes that are to be tried one by one --*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network at smaller sizes is the one at the largest sizes with iterations
// deleted, if both ends of each FIFO lose the same tokens, no condition depends
// on a size, and pipelines stay in order (docs/certificates.md, "The
// reduction"). Of a size for which this is not shown, each value is a base
// point of the certificate.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_REDUCTIONGAPS_H
#define STREAMTENSOR_ALLOCATION_REDUCTIONGAPS_H

#include "streamtensor/Allocation/DepthCertificate.h"

#include <set>

namespace streamtensor {

/// The parameters of `network` for which the reduction is not shown when loops
/// have the parts `segments`.
std::set<std::string> findReductionGaps(const TimedNetwork &network,
                                        const std::vector<LoopParts> &segments);

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_REDUCTIONGAPS_H
