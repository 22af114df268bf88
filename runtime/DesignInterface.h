//===- DesignInterface.h - What a host knows of a design --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// interface.json of a compiled design: its arguments in the order of the top
// function's parameters, its FIFOs, and the constants that turn counted tokens
// into multiply-accumulates and bytes of memory traffic.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_DESIGNINTERFACE_H
#define STREAMTENSOR_RUNTIME_DESIGNINTERFACE_H

#include "streamtensor/Support/Safetensors.h"
#include "streamtensor/Support/SymbolicOrder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace streamtensor::runtime {

enum class Role { Input, Weight, Cache, Mask, Position, Output, Workspace };

/// "input", "weight", ...
const char *roleName(Role role);

/// A size that is known at run time: an integer from `min` to `max`.
struct ParameterInfo {
  std::string name;
  int64_t min = 0, max = 0;
};

/// A pointer to device memory among the parameters of the top function.
struct ArgumentInfo {
  std::string name;
  Role role = Role::Input;
  DType dtype = DType::F32;
  /// The tensor that the function sees; the largest, where `sizes` is not
  /// empty.
  std::vector<int64_t> shape;
  /// The sizes at run time, expressions of the design's parameters; empty where
  /// all are constants.
  std::vector<TripCount> sizes;
  /// The memory it lies in, row-major: at least `shape` in every dimension.
  std::vector<int64_t> bufferShape;
  /// Size of the memory in bytes.
  uint64_t bytes = 0;
  /// The order in which packed memory holds the tensor, over `packedShape`
  /// (the same elements in another grouping); nothing where it is row-major.
  std::optional<TokenOrder> packing;
  std::vector<int64_t> packedShape;
  /// The packed file of a weight, absolute or relative to the caller's working
  /// directory; empty where the design was compiled without weights.
  std::string file;

  /// Read from outside on every run: neither a weight with a file, nor a
  /// workspace, nor an output.
  bool isRunTimeInput() const;
  /// The argument at one value of each parameter: `shape` is the tensor's,
  /// which lies in the corner of memory for the largest one.
  ArgumentInfo at(const ParameterValues &values) const;
  /// One of the tensors that are stacked along the outermost dimension.
  ArgumentInfo slot() const;
};

/// A tensor of the model that a FIFO carries.
struct FifoValue {
  /// Names of values in the model; it is the last of them, in the model's
  /// order.
  std::vector<std::string> names;
  DType dtype = DType::F32;
  /// The tokens of one pass of the dataflow body, over the design's parameters.
  SymbolicOrder order;
};

struct FifoInfo {
  std::string name, group, producer, consumer;
  uint64_t depth = 0;
  std::optional<FifoValue> value;
};

struct TaskInfo {
  std::string name, group;
  /// The FIFO whose tokens count the multiply-accumulates; empty for none.
  std::string macsFifo;
  uint64_t macsPerToken = 0;
};

struct DmaInfo {
  std::string name, direction, argument, fifo, group;
  uint64_t bytesPerToken = 0;
  /// Tokens of `fifo` that came out of this one instead of memory.
  std::string exceptFifo;
  uint64_t exceptBytesPerToken = 0;
};

struct DesignInterface {
  /// The directory of the design.
  std::string directory;
  std::string function;
  /// Path of kernel.cpp.
  std::string kernel;
  std::string kernelSha256;
  std::vector<ArgumentInfo> arguments;
  /// Integers that the top function takes behind its arguments.
  std::vector<ParameterInfo> parameters;
  std::vector<FifoInfo> fifos;
  std::vector<TaskInfo> tasks;
  std::vector<DmaInfo> dma;

  /// Reads and checks `directory`/interface.json. Throws Error.
  static DesignInterface read(const std::string &directory);

  /// The index of an argument; throws Error naming the design when there is
  /// none.
  size_t indexOf(const std::string &argument) const;
};

/// Number of elements of a shape.
uint64_t elementCount(const std::vector<int64_t> &shape);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_DESIGNINTERFACE_H
