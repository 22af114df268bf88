//===- StreamTasks.h - DMA and converter tasks -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders of the tasks that move data without computing: DMAs, converters,
// forks.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_MEMORY_STREAMTASKS_H
#define STREAMTENSOR_TRANSFORMS_MEMORY_STREAMTASKS_H

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Support/ConverterInference.h"

#include "mlir/IR/Builders.h"

namespace streamtensor {

/// A task that loads `memory` in the order of `stream` and returns the stream.
/// With `packing`, `memory` holds the tokens of one pass in the order of
/// `stream`: its shape is the number of tokens, then the token's shape.
mlir::Value buildLoad(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::StringRef name, mlir::StringRef argument,
                      mlir::Value memory, itensor::ITensorType stream,
                      itensor::ITensorType packing);

/// A task that stores the stream `source` into `memory`.
void buildStore(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::StringRef name, mlir::StringRef argument,
                mlir::Value source, mlir::Value memory);

/// A task that converts `source` to `result` as `plan` says.
dataflow::TaskOp buildConverter(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::StringRef name, mlir::Value source,
                                itensor::ITensorType result,
                                const SymbolicConverterPlan &plan);

/// A task that copies every token of `source` to `copies` results; with 0 it
/// only drains the stream.
dataflow::TaskOp buildFork(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::StringRef name, mlir::Value source,
                           unsigned copies);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_MEMORY_STREAMTASKS_H
