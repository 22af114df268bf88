//===- RepeatLayers.h - Parts of --st-repeat-layers -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two parts of `--st-repeat-layers` that know nothing of each other: memory
// gets an outermost dimension over layers, and the hidden state a stream from
// the end of a layer to the begin of the next one.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_CONVERSION_STREAMTOHLS_REPEATLAYERS_H
#define STREAMTENSOR_CONVERSION_STREAMTOHLS_REPEATLAYERS_H

#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace streamtensor {

/// The C++ name of an argument; empty without one.
llvm::StringRef cppNameOf(mlir::func::FuncOp function, unsigned argument);

/// The name by which the model's side knows an argument of the top function.
llvm::StringRef hostNameOf(mlir::func::FuncOp top, unsigned argument);

/// Sets the type of `function` after types of its arguments have changed.
void updateType(mlir::func::FuncOp function);

/// Adds the argument `layer` to a task, in front of its run-time sizes, and
/// `layer` to its call.
mlir::BlockArgument addLayerArgument(mlir::func::FuncOp task, hls::TaskOp call,
                                     mlir::Value layer);

/// Gives argument `index` of the top function, and its views, an outermost
/// dimension of `count` layers; `parameter` is the run-time size that says how
/// many a launch runs. Fails on views other than reshapes.
llvm::LogicalResult stackArgument(mlir::func::FuncOp top,
                                  llvm::StringRef parameter, int64_t count,
                                  unsigned index);

/// Makes accesses of argument `index` of a task ones to layer `layer` of memory
/// of type `type`. Fails on uses other than loads, stores and subviews.
llvm::LogicalResult stackAccesses(mlir::func::FuncOp task, unsigned index,
                                  mlir::MemRefType type, mlir::Value layer);

/// A task that moves the hidden state between memory and a stream.
struct HiddenMover {
  hls::TaskOp call;
  mlir::func::FuncOp task;
  /// Arguments: the memory, the stream.
  unsigned memory = 0, stream = 0;

  stream::StreamType streamType() {
    return mlir::cast<stream::StreamType>(task.getArgument(stream).getType());
  }
};

/// Leads the hidden state from the task that stores it, at the end of a layer,
/// to the one that loads it, at the begin of the next. `layer` counts the runs
/// of `group`, up to `layers`. Fails where the two do not walk through memory
/// from its begin to its end.
llvm::LogicalResult connectFeedback(mlir::func::FuncOp group, HiddenMover load,
                                    HiddenMover store, mlir::Value layer,
                                    mlir::Value layers);

} // namespace streamtensor

#endif // STREAMTENSOR_CONVERSION_STREAMTOHLS_REPEATLAYERS_H
