//===- Validation.cpp - run every phase -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs data through the phases of one compile: every phase after the imported
// text by our interpreter. What is expected comes from a file, or from the
// imported text, run by an independent tool.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/DesignWriter.h"

#include "streamtensor/Sim/ValidatePhases.h"

using namespace mlir;
using namespace streamtensor;

bool streamtensor::validateDesign(
    const std::vector<std::pair<std::string, ModuleOp>> &phases,
    const std::string &function, uint64_t seed, const std::string &data,
    llvm::raw_ostream &errs, std::optional<llvm::json::Value> &report) {
  if (phases.empty() || phases.front().first != "linalg") {
    errs
        << "error: --validate compares with the imported Linalg text; it can't "
           "be combined with --compile-from\n";
    return false;
  }
  ValidateOptions options;
  options.function = function;
  options.seed = seed;
  options.data = data;
  std::vector<PhaseModule> later;
  for (const auto &[name, module] : llvm::drop_begin(phases))
    later.push_back({name, module});
  ValidationReport validation;
  LogicalResult valid =
      validatePhases(later, phases.front().second, options, errs, &validation);
  report = validation.toJson();
  return succeeded(valid);
}
