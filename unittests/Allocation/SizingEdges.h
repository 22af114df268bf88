//===- SizingEdges.h - Edges of sizing problems by hand ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_ALLOCATION_SIZINGEDGES_H
#define STREAMTENSOR_UNITTESTS_ALLOCATION_SIZINGEDGES_H

#include "streamtensor/Allocation/FifoSizingProblem.h"

#include <string>
#include <utility>

namespace streamtensor {

inline SizingEdge stream(std::string name, unsigned source, unsigned target,
                         int64_t tokens, PortProfile write, PortProfile read) {
  SizingEdge edge;
  edge.name = std::move(name);
  edge.source = source;
  edge.target = target;
  edge.tokens = tokens;
  edge.write = write;
  edge.read = read;
  return edge;
}

} // namespace streamtensor

#endif // STREAMTENSOR_UNITTESTS_ALLOCATION_SIZINGEDGES_H
