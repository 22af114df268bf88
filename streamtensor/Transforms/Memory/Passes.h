//===- Passes.h - Memory passes -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes between the phases `fused` and `materialized`.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_MEMORY_PASSES_H
#define STREAMTENSOR_TRANSFORMS_MEMORY_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace streamtensor {

#define GEN_PASS_DECL
#include "streamtensor/Transforms/Memory/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "streamtensor/Transforms/Memory/Passes.h.inc"

/// Attributes of function arguments: what the argument is called and for,
/// in which order a weight is packed, over which tensor shape, how large the
/// memory behind it is (per dimension), and the value of a constant that became
/// an argument.
inline constexpr llvm::StringLiteral kArgumentNameAttr = "dataflow.name";
inline constexpr llvm::StringLiteral kArgumentRoleAttr = "dataflow.role";
/// Type of the elements in files where the type of the memory does not tell it:
/// "U8" for an i8.
inline constexpr llvm::StringLiteral kArgumentDtypeAttr = "dataflow.dtype";
inline constexpr llvm::StringLiteral kPackingAttr = "dataflow.packing";
inline constexpr llvm::StringLiteral kPackedShapeAttr = "dataflow.shape";
/// Shape of a token as the DMA of a packed weight reads it, and the shape of
/// the argument as the model has it.
inline constexpr llvm::StringLiteral kTokenShapeAttr = "dataflow.token_shape";
inline constexpr llvm::StringLiteral kTensorShapeAttr = "dataflow.tensor_shape";
inline constexpr llvm::StringLiteral kBufferShapeAttr = "dataflow.buffer_shape";
inline constexpr llvm::StringLiteral kConstantValueAttr = "dataflow.value";
/// The file that will hold a weight, relative to the design.
inline constexpr llvm::StringLiteral kWeightFileAttr = "dataflow.file";

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_MEMORY_PASSES_H
