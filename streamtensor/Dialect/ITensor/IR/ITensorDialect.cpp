//===- ITensorDialect.cpp - itensor dialect -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the itensor dialect.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

using namespace mlir;
using namespace streamtensor::itensor;

#include "streamtensor/Dialect/ITensor/IR/ITensorDialect.cpp.inc"

void ITensorDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "streamtensor/Dialect/ITensor/IR/ITensorOps.cpp.inc"
      >();
}
