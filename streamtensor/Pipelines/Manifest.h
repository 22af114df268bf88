//===- Manifest.h - what the arguments are -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The manifest beside an imported module: the role of each argument, and the
// file that holds the weights.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_MANIFEST_H
#define STREAMTENSOR_PIPELINES_MANIFEST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

struct ManifestArgument {
  std::string name;
  /// weight, input, cache, mask or position.
  std::string role;
  std::vector<int64_t> shape;
  /// As in safetensors: F32, ...
  std::string dtype;
  /// Memory behind a cache, per dimension; empty: as large as `shape`.
  std::vector<int64_t> bufferShape;
};

/// The function is one layer, and its design runs up to `count` of them: the
/// attribute `dataflow.repeat`.
struct ManifestRepeat {
  std::string parameter;
  int64_t count = 0;
  std::string argument, result;
  std::vector<std::string> shared;
};

struct Manifest {
  std::string function;
  std::vector<ManifestArgument> arguments;
  /// The dtype of each result; empty when the manifest lists no results.
  std::vector<std::string> resultDtypes;
  /// Path of the safetensors file with the weights, resolved against the
  /// manifest; empty when the manifest names none.
  std::string weights;
  std::optional<ManifestRepeat> repeat;
};

/// Reads and checks a manifest (schema 1). Returns nothing, and the cause in
/// `error`, when the file is missing, malformed, or a key has the wrong type.
std::optional<Manifest> readManifest(const std::string &path,
                                     std::string &error);

/// Puts name and role (and buffer shape) on each argument of `function`, and on
/// arguments and results of unsigned integers their dtype; on the function what
/// is repeated.
/// Without a manifest every argument is a run-time input. Fails with an error
/// on the function when the manifest describes other arguments.
mlir::LogicalResult annotateArguments(mlir::func::FuncOp function,
                                      const Manifest *manifest);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_MANIFEST_H
