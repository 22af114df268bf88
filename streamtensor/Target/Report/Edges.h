//===- Edges.h - How operations are connected -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The edges of a design between operations, arguments and results, without the
// tasks that only move data, and why each is what it is.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_EDGES_H
#define STREAMTENSOR_TARGET_REPORT_EDGES_H

#include "streamtensor/Target/Report/DesignInfo.h"

namespace streamtensor {

/// What lies between two operations.
struct EdgeInfo {
  enum class Kind {
    Fifo,      ///< tokens pass as they are
    Converter, ///< a buffer that reorders them
    Memory     ///< device memory
  };
  /// A task that computes, or an argument; a task, or a result.
  std::string producer, consumer;
  Kind kind;
  /// As allocated: of the FIFOs, of the converters, of the tensor in memory.
  int64_t bytes = 0;
  /// The tasks on the way, from the producer's side.
  std::vector<std::string> via;
  std::string reason;
};

/// "fifo", "converter" or "memory".
llvm::StringRef edgeKindName(EdgeInfo::Kind kind);

/// All edges, in the order of the consumers.
std::vector<EdgeInfo> collectEdges(const DesignInfo &design);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_REPORT_EDGES_H
