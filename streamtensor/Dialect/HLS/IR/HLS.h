//===- HLS.h - hls dialect -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The hls dialect: pragmas as attributes, and the calls of a dataflow region.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_HLS_IR_HLS_H
#define STREAMTENSOR_DIALECT_HLS_IR_HLS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "streamtensor/Dialect/HLS/IR/HLSDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "streamtensor/Dialect/HLS/IR/HLSAttrs.h.inc"

#define GET_OP_CLASSES
#include "streamtensor/Dialect/HLS/IR/HLSOps.h.inc"

namespace streamtensor::hls {
/// On scf.for: a pipelined loop, an unrolled loop, the bounds of a run-time
/// trip count (also on a repeated dataflow function), its C++ label (a string).
inline constexpr llvm::StringLiteral kPipelineAttr = "hls.pipeline";
inline constexpr llvm::StringLiteral kUnrollAttr = "hls.unroll";
inline constexpr llvm::StringLiteral kTripCountAttr = "hls.trip_count";
inline constexpr llvm::StringLiteral kLabelAttr = "hls.label";
/// On pipelined loops and functions: what synthesis reported of them, a
/// dictionary (`ii`, `depth`; `latency`, `dsp`, `lut`, `ff`, `bram18`, `uram`).
inline constexpr llvm::StringLiteral kCsynthAttr = "hls.csynth";
/// On allocations: an array of #hls.partition, the memory, the C++ name.
inline constexpr llvm::StringLiteral kPartitionAttr = "hls.partition";
inline constexpr llvm::StringLiteral kStorageAttr = "hls.storage";
inline constexpr llvm::StringLiteral kNameAttr = "hls.name";
/// On arguments of functions: "in" when the function only reads it, "out" when
/// it only writes it, "inout" (memory between groups) for both.
inline constexpr llvm::StringLiteral kDirectionAttr = "hls.direction";
/// On memory arguments: elements of one vector, the unit of access (a packed
/// argument; its innermost dimensions hold one vector).
inline constexpr llvm::StringLiteral kPackedAttr = "hls.packed";
/// On functions: what stands in the comment above it.
inline constexpr llvm::StringLiteral kCommentAttr = "hls.comment";
/// On arguments of the top function.
inline constexpr llvm::StringLiteral kInterfaceAttr = "hls.interface";
/// On memory arguments: an array of the caller, not device memory.
inline constexpr llvm::StringLiteral kArrayAttr = "hls.array";
/// On functions: one task, a dataflow region (also on a loop whose body is
/// one), a part of a task, the top function.
inline constexpr llvm::StringLiteral kTaskAttr = "hls.task";
inline constexpr llvm::StringLiteral kDataflowAttr = "hls.dataflow";
inline constexpr llvm::StringLiteral kStageAttr = "hls.stage";
inline constexpr llvm::StringLiteral kTopAttr = "hls.top";
/// On a dataflow function: the name of the run-time parameter that says how
/// often its body runs, one run after the other; they overlap.
inline constexpr llvm::StringLiteral kRepeatAttr = "hls.repeat";
/// On a stream of a repeated dataflow function: what one run writes, the next
/// one reads.
inline constexpr llvm::StringLiteral kFeedbackAttr = "hls.feedback";
/// On scf.if in a task of one: holds in the first or in the last run only.
inline constexpr llvm::StringLiteral kBoundaryAttr = "hls.boundary";
} // namespace streamtensor::hls

#endif // STREAMTENSOR_DIALECT_HLS_IR_HLS_H
