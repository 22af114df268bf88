//===- Stream.h - stream dialect -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stream dialect: FIFOs with a depth, reads and writes of tokens.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_STREAM_IR_STREAM_H
#define STREAMTENSOR_DIALECT_STREAM_IR_STREAM_H

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "streamtensor/Dialect/Stream/IR/StreamDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "streamtensor/Dialect/Stream/IR/StreamTypes.h.inc"

#define GET_OP_CLASSES
#include "streamtensor/Dialect/Stream/IR/StreamOps.h.inc"

#endif // STREAMTENSOR_DIALECT_STREAM_IR_STREAM_H
