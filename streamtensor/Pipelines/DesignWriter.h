//===- DesignWriter.h - the output directory -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the output directory of a compile: code, weights, reports.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_DESIGNWRITER_H
#define STREAMTENSOR_PIPELINES_DESIGNWRITER_H

#include "streamtensor/Target/Report/WriteDesign.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <utility>
#include <vector>

namespace streamtensor {

struct DesignRequest {
  std::string outputDir;
  /// Safetensors file with the weights, row-major, keys arg0...; may be empty.
  std::string weights;
  /// Target, and what the report says besides the facts of the design.
  DesignOptions report;
  /// Say for every FIFO and converter why it is what it is.
  bool explain = false;
};

/// Writes the design of `module` (phase hls): built in a temporary directory
/// beside `outputDir`, which replaces it when everything is written. Then a
/// summary of one screen goes to `out`; errors go to `errs`.
bool writeDesignDirectory(mlir::ModuleOp module, const DesignRequest &request,
                          llvm::raw_ostream &out, llvm::raw_ostream &errs);

/// Runs data through every phase and compares; says on `errs` which phase, task
/// and token differ first. `data` is a file of inputs and expected results;
/// empty: random inputs from `seed` and the results of an independent tool.
/// What was found, when it could be compared at all, goes to `report`.
bool validateDesign(
    const std::vector<std::pair<std::string, mlir::ModuleOp>> &phases,
    const std::string &function, uint64_t seed, const std::string &data,
    llvm::raw_ostream &errs, std::optional<llvm::json::Value> &report);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_DESIGNWRITER_H
