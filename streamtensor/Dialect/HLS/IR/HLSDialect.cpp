//===- HLSDialect.cpp - hls dialect -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration and verifiers of the hls dialect.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/HLS/IR/HLS.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor::hls;

#include "streamtensor/Dialect/HLS/IR/HLSDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "streamtensor/Dialect/HLS/IR/HLSAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "streamtensor/Dialect/HLS/IR/HLSOps.cpp.inc"

void HLSDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "streamtensor/Dialect/HLS/IR/HLSOps.cpp.inc"
      >();
}

void HLSDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "streamtensor/Dialect/HLS/IR/HLSAttrs.cpp.inc"
      >();
}

LogicalResult TaskOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      symbols.lookupNearestSymbolFrom(*this, getCalleeAttr()));
  if (!callee)
    return emitOpError() << "expected a function named '" << getCallee()
                         << "' but found none";
  if (TypeRange(callee.getArgumentTypes()) !=
      TypeRange(getOperands().getTypes()))
    return emitOpError() << "expected operands of types "
                         << callee.getArgumentTypes() << " but got "
                         << getOperands().getTypes();
  return success();
}
