//===- OperatorLibrary.h - Units that compute operations --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What synthesis builds for an operation: latency and area of a unit. The facts
// are data, operators.json of this folder, each with its source: "published"
// where synthesis reports show it, "ours" with the derivation where they do
// not. The file is compiled into the library.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_OPERATORLIBRARY_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_OPERATORLIBRARY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

/// One unit of an operator.
struct OperatorInfo {
  std::string name; ///< the key: "fmul"
  /// Cycles from operands to result; 0 is combinational.
  int64_t latency = 0;
  int64_t dsp = 0, lut = 0, ff = 0;
  double clockNs = 0;     ///< the target clock that latency and area are for
  bool published = false; ///< shown by synthesis reports; else derived by us
  std::string source;

  /// Cycles that the operator adds to a path of a pipeline: its latency and the
  /// register in front of it. Combinational operators add none.
  int64_t pathCycles() const { return latency == 0 ? 0 : latency + 1; }
};

/// All operators.
class OperatorLibrary {
public:
  /// The operators of operators.json.
  static const OperatorLibrary &standard();

  /// Reads a description. Nothing, and the cause in `error`, for malformed
  /// JSON, a missing or unknown key, a wrong type, or a name that stands twice.
  static std::optional<OperatorLibrary> parse(llvm::StringRef json,
                                              std::string &error);

  /// The operator, or null.
  const OperatorInfo *find(llvm::StringRef name) const;
  /// The operator, which must exist.
  const OperatorInfo &get(llvm::StringRef name) const;

  const std::vector<OperatorInfo> &operators() const { return infos; }

private:
  std::vector<OperatorInfo> infos;
};

/// The unit of the standard library that computes `op`, or null when `op` needs
/// none (a constant, a cast, a move of data). Adders of floats have two forms:
/// that in fabric for sums carried from one iteration to the next.
const OperatorInfo *operatorOf(mlir::Operation *op, bool carried = false);

/// Whether `unit` computes addresses, which lanes share.
bool isAddress(const OperatorInfo &unit);

/// The fewest cycles from operands to result on a path that is carried from one
/// iteration to the next: there synthesis takes the shorter adder.
int64_t carriedLatency(mlir::Operation *op);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_OPERATORLIBRARY_H
