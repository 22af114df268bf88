//===- Reduction.h - From base points to all values ----------- -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the end of a network at one base point proves its end at all smaller
// values in a box. docs/certificates.md has the theorem and its proof.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_REDUCTION_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_REDUCTION_H

#include "tools/streamtensor-check-certificate/Network.h"

#include <optional>

namespace streamtensor::certificate {

/// All values from `low` to `high`, parameter by parameter.
struct Box {
  Values low, high;
  /// The parameters that have one value.
  Values fixed() const;
};

/// `past 0..256, seq 1..128`.
std::string spell(const Box &box);

/// Why the end of `network` at `box.high` does not prove its end in the whole
/// box; nothing where it does.
std::optional<std::string> findFlaw(const Network &network, const Box &box);

/// Refuses a condition whose outcome is not the same for all iterations of a
/// part of a loop and at all values.
[[noreturn]] void refuseCondition(const Condition &condition);

/// Whether accesses that happen at different times at `box.high` could share a
/// cycle at other values, or change their order. Part of findFlaw.
std::optional<std::string> findTimingFlaw(const Process &process,
                                          const Box &box);

/// The boxes below each of `points` in which its end proves all others, and
/// why larger ones do not.
struct Cover {
  std::vector<Box> boxes;
  std::string reason;
};
Cover coverOf(const Network &network, const std::vector<Values> &points);

/// Values of the parameters that are in no box; nothing where all are.
std::optional<Values> findUncovered(const std::vector<Parameter> &parameters,
                                    const std::vector<Box> &boxes);

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_REDUCTION_H
