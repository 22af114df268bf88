//===- Execution.h - One execution at fixed values ------------ -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a network with bounded FIFOs ends. By confluence one execution
// decides (docs/certificates.md, section "One execution decides").
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_EXECUTION_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_EXECUTION_H

#include "tools/streamtensor-check-certificate/Steps.h"

#include <optional>

namespace streamtensor::certificate {

struct Outcome {
  /// Why it does not end; nothing where it does.
  std::optional<std::string> failure;
  /// Tokens that pass each FIFO in one invocation, where it ends.
  std::vector<int64_t> tokens;
};

/// Executes `invocations` of `network` at `values` with the depths that its
/// FIFOs have.
Outcome execute(const Network &network, const Values &values, Order order,
                int64_t invocations);

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_EXECUTION_H
