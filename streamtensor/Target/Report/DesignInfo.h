//===- DesignInfo.h - Facts of a finished design ----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What interface.json, report.json and the connectivity file say about a
// design, gathered from its module of phase `hls`.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_DESIGNINFO_H
#define STREAMTENSOR_TARGET_REPORT_DESIGNINFO_H

#include "streamtensor/Analysis/Estimate/TaskEstimate.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Support/SymbolicOrder.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

/// An argument of the top function.
struct ArgumentInfo {
  std::string name;     ///< as users call it: "arg0"
  std::string variable; ///< its name in C++
  std::string role; ///< input, weight, cache, mask, position, output, workspace
  std::string dtype;          ///< as in safetensors: "F32"
  std::vector<int64_t> shape; ///< the largest, where `dims` is not empty
  /// The sizes as expressions of run-time parameters ("past + seq"); empty for
  /// an argument whose sizes are constants.
  std::vector<std::string> dims;
  /// Shape of the memory behind it; at least `shape`.
  std::vector<int64_t> bufferShape;
  int64_t bytes = 0; ///< of the memory
  /// Order of the tokens in memory, over `packedShape`.
  std::optional<TokenOrder> packing;
  std::vector<int64_t> packedShape;
  std::string file; ///< relative to the design; empty when it has none
  /// The value of a constant of the program, which the design's file holds.
  mlir::DenseElementsAttr value;
  std::string bundle;
  int64_t portBits = 0;
  int64_t burstBeats = 0;
  int64_t channel = -1; ///< memory channel, -1 when the linker chooses
  int64_t channels = 1; ///< how many neighbours of it the memory spans
};

/// A FIFO between two tasks. Numbers of one run are those at the largest sizes.
struct FifoInfo {
  std::string name, group, producer, consumer, reason;
  int64_t depth = 0;
  int64_t crossing = 0; ///< register stages between dies
  /// What it is built of; what synthesis chooses by itself when nothing is
  /// said.
  std::optional<MemoryKind> memory;
  int64_t tokens = 0; ///< in one run
  int64_t tokenBits = 0;
  /// Values of the model, the last of which (in the model's order) it carries;
  /// empty where that is not known.
  std::vector<std::string> values;
  /// Of a FIFO with values: the order of its tokens and the type of elements.
  SymbolicOrder order;
  std::string dtype;

  int64_t bits() const { return depth * tokenBits; }
  MemoryKind kind() const {
    return memory.value_or(fifoKind(depth, tokenBits));
  }
  /// Estimated.
  ResourceUse resources() const {
    return estimateFifo(depth, tokenBits, kind());
  }
};

/// A process.
struct TaskInfo {
  std::string name, kind, group, source, argument;
  std::string die;            ///< empty when it was not assigned to one
  std::string scheduleReason; ///< empty when its schedule is the usual one
  int64_t macs = 0;           ///< in one run
  TaskEstimate estimate;
  /// The FIFO whose tokens count the multiply-accumulates, empty for none.
  std::string macsFifo;
  int64_t macsPerToken = 0;
  std::vector<std::string> inputs, outputs; ///< names of FIFOs
};

/// A task between memory and a FIFO.
struct DmaInfo {
  std::string name, direction, argument, fifo;
  int64_t bytesPerToken = 0;
  int64_t bytes = 0; ///< in one run
  /// Tokens of `fifo` that did not come from memory but from this FIFO; empty:
  /// none.
  std::string exceptFifo;
  int64_t exceptBytesPerToken = 0;
};

/// An array inside a task.
struct BufferInfo {
  std::string name, task, taskKind, memory, reason;
  std::vector<int64_t> shape;
  int64_t bytes = 0; ///< as allocated: both halves of a ping-pong buffer
  int64_t sharedLoops = 0;
  bool pingPong = false;
};

/// Whether an operation was fused with another one that it reads from.
struct FusionInfo {
  std::string op, producer; ///< no producer: it reads arguments only
  bool fused = false;
  std::string reason;
};

/// A design.
struct DesignInfo {
  std::string function;
  /// Values behind the memory arguments of the top function, in its order.
  std::vector<dataflow::ParameterRange> parameters;
  std::vector<ArgumentInfo> arguments;
  std::vector<std::string> groups;
  std::vector<FifoInfo> fifos;
  std::vector<TaskInfo> tasks;
  std::vector<DmaInfo> dma;
  std::vector<BufferInfo> buffers;
  std::vector<FusionInfo> fusion;

  /// The argument, or null.
  const ArgumentInfo *findArgument(llvm::StringRef name) const;
  const TaskInfo *findTask(llvm::StringRef name) const;

  /// The buffers of memory ports, by bundle; estimated.
  std::vector<std::pair<std::string, ResourceUse>> ports() const;
  /// Tasks, FIFOs and ports; estimated.
  ResourceUse resources() const;
};

/// Gathers the facts of `module` (phase `hls`). Fails on what an earlier phase
/// should have set.
mlir::FailureOr<DesignInfo> collectDesign(mlir::ModuleOp module);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_REPORT_DESIGNINFO_H
