//===- ITensor.h - itensor dialect ------------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The itensor dialect: tensors as ordered sequences of tokens (paper sections
// 2 and 3).
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_ITENSOR_IR_ITENSOR_H
#define STREAMTENSOR_DIALECT_ITENSOR_IR_ITENSOR_H

#include "streamtensor/Support/SymbolicOrder.h"
#include "streamtensor/Support/TokenOrder.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "streamtensor/Dialect/ITensor/IR/ITensorDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "streamtensor/Dialect/ITensor/IR/ITensorTypes.h.inc"

#define GET_OP_CLASSES
#include "streamtensor/Dialect/ITensor/IR/ITensorOps.h.inc"

namespace streamtensor::itensor {

/// Where the token sequences of two types part, in words, or nothing when they
/// are the same for all values of their parameters.
std::optional<std::string> describeDifference(ITensorType a, ITensorType b,
                                              llvm::StringRef nameA,
                                              llvm::StringRef nameB);

/// Both types carry the same tokens in the same order, for all values of their
/// parameters: itensor.cast may lead from one to the other.
bool isSameSequence(ITensorType a, ITensorType b);

} // namespace streamtensor::itensor

#endif // STREAMTENSOR_DIALECT_ITENSOR_IR_ITENSOR_H
