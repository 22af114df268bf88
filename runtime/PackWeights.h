//===- PackWeights.h - Packs weights for a design ---------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Brings row-major weights from a safetensors file into the order in which a
// design streams them.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_PACKWEIGHTS_H
#define STREAMTENSOR_RUNTIME_PACKWEIGHTS_H

#include "runtime/DesignInterface.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace streamtensor::runtime {

struct PackOptions {
  /// Directory of the design.
  std::string design;
  /// Safetensors file with the weights.
  std::string weights;
  /// Argument of the design, name of the tensor.
  std::vector<std::pair<std::string, std::string>> names;
  /// Where the packed files go; made if missing.
  std::string outputDirectory;
};

/// Parses "arg0=tensor.a,arg1=tensor.b". Throws Error.
std::vector<std::pair<std::string, std::string>>
parseNames(const std::string &text);

/// Packs each named tensor into a file of `outputDirectory` and returns the
/// file names by argument: {"arg0": "tensor.a.<hash>.bin"}. The hash covers the
/// tensor's data and its order in memory, so equal contents share one file, and
/// a file that exists is not written again. Throws Error, which lists all names
/// and shapes that do not fit.
nlohmann::ordered_json packWeights(const PackOptions &options);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_PACKWEIGHTS_H
