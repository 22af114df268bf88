//===- Design.h - The other files of a design ----------------- -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The FIFOs that the kernel declares and what interface.json says.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_DESIGN_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_DESIGN_H

#include "tools/streamtensor-check-certificate/Network.h"

namespace streamtensor::certificate {

using Depths = std::map<std::string, int64_t>;

/// The depths in `macro(type, name, depth)` of a kernel. Refuses what could
/// make the text mean something else: directives besides #include and #pragma,
/// and streams declared in another way.
Depths fifosOfKernel(const std::string &text, const std::string &macro);

struct Interface {
  std::string kernelHash;
  std::vector<Parameter> parameters;
  Depths depths;
};

Interface readInterface(const Json &document);

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_DESIGN_H
