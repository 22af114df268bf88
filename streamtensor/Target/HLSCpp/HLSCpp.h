//===- HLSCpp.h - HLS C++ from phase hls ------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints a module of phase `hls` as C++ for Vitis HLS.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_HLSCPP_HLSCPP_H
#define STREAMTENSOR_TARGET_HLSCPP_HLSCPP_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace streamtensor {

/// Prints `module` (phase `hls`: task functions, dataflow functions, one top
/// function) as one C++ file. All names, pragmas and comments come from
/// attributes; printing decides nothing. Fails, with an error on the operation,
/// when an operation or a type has no form in C++; the text is incomplete then.
llvm::LogicalResult emitHLSCpp(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_HLSCPP_HLSCPP_H
