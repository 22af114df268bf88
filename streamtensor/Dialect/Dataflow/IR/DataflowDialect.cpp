//===- DataflowDialect.cpp - dataflow dialect -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the dataflow dialect and its attributes.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor::dataflow;

#include "streamtensor/Dialect/Dataflow/IR/DataflowDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "streamtensor/Dialect/Dataflow/IR/DataflowAttrs.cpp.inc"

void DataflowDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "streamtensor/Dialect/Dataflow/IR/DataflowOps.cpp.inc"
      >();
}

void DataflowDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "streamtensor/Dialect/Dataflow/IR/DataflowAttrs.cpp.inc"
      >();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> order,
                                   ArrayRef<int64_t> tile,
                                   ArrayRef<int64_t> unroll) {
  size_t rank = order.size();
  if (tile.size() != rank || unroll.size() != rank)
    return emitError() << "expected tile and unroll of rank " << rank
                       << " but got " << tile.size() << " and "
                       << unroll.size();
  SmallVector<bool> seen(rank, false);
  for (int64_t dim : order) {
    if (dim < 0 || dim >= static_cast<int64_t>(rank) || seen[dim])
      return emitError() << "expected order to be a permutation of 0.."
                         << rank - 1;
    seen[dim] = true;
  }
  for (size_t dim = 0; dim < rank; ++dim) {
    if (tile[dim] < 1 || unroll[dim] < 1)
      return emitError() << "expected positive tile and unroll factors";
    if (tile[dim] % unroll[dim] != 0)
      return emitError() << "expected unroll factor " << unroll[dim]
                         << " to divide tile " << tile[dim] << " of dimension "
                         << dim;
  }
  return success();
}
