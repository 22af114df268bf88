//===- Steps.h - Steps of the conversion to streams -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `--st-dataflow-to-stream`, in the order in which they run. Each
// reports its errors on the operation at fault.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_CONVERSION_DATAFLOWTOSTREAM_STEPS_H
#define STREAMTENSOR_CONVERSION_DATAFLOWTOSTREAM_STEPS_H

#include "streamtensor/Support/StreamLimits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <optional>

namespace streamtensor {

/// 1. Replaces `itensor.instance` by `stream.stream`, lets every read and write
/// refer to its stream (through `stream.to_itensor`), and drops itensors from
/// loops, conditionals and tasks. Checks that each stream has one writer and
/// one reader.
llvm::LogicalResult replaceITensorsByStreams(mlir::ModuleOp module);

/// 2. Gives every uninitialised tensor memory of its own: `stream.buffer` at
/// the start of the task for what outlives a token, `memref.alloc` in place for
/// a token.
llvm::LogicalResult makeBuffersExplicit(mlir::ModuleOp module);

/// 3. One-shot bufferization. Fails when a tensor larger than a token would
/// have to be copied.
llvm::LogicalResult bufferizeTasks(mlir::ModuleOp module);

/// What step 3 needs to know about upstream operations and ours.
void registerTaskBufferization(mlir::DialectRegistry &registry);

/// 4. Marks the arguments of functions that are accessed in whole tokens only
/// (`hls.packed`: elements of a token), each of which lies in memory as it is.
void widenPorts(mlir::ModuleOp module);

/// The argument of the function behind `memory`, an argument of a kernel or a
/// reshape outside of it; nothing for other memory.
std::optional<unsigned> functionArgument(mlir::Value memory);

/// 5. Turns Linalg operations, copies and accesses of partial buffers into
/// loops over scalars.
llvm::LogicalResult lowerTilesToLoops(mlir::ModuleOp module);

} // namespace streamtensor

#endif // STREAMTENSOR_CONVERSION_DATAFLOWTOSTREAM_STEPS_H
