//===- Interpreter.h - Functional execution of any phase --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A functional executor for modules of the phases normalized to hls: tensor
// operations in order, tasks as a Kahn process network. It knows no time.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_INTERPRETER_H
#define STREAMTENSOR_SIM_INTERPRETER_H

#include "streamtensor/Sim/HostTensor.h"
#include "streamtensor/Support/TripCount.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

/// The tokens that one task wrote into one FIFO.
struct TokenRecord {
  /// The FIFO: the name of its `itensor.instance` or `stream.stream`, before
  /// those exist the name of the task and "_out" (and the result's index when
  /// the task has several results).
  std::string fifo;
  /// The task that wrote, its kind, and the argument that a DMA reads.
  std::string task, kind, argument;
  ElementKind element = ElementKind::F32;
  int64_t tokenElements = 1;
  /// The itensor's order, at the values of the parameters; nothing once streams
  /// have replaced itensors.
  std::optional<TokenOrder> order;
  /// FIFOs that the task reads, by their names.
  std::vector<std::string> inputs;
  /// All tokens: their number, and an order-dependent hash of their bytes.
  int64_t tokens = 0;
  uint64_t hash = 0xcbf29ce484222325ull;
  /// The first tokens, one after the other, up to the limit of the options.
  std::vector<char> data;

  /// Appends one token.
  void add(const char *token, size_t bytes, size_t limitBytes);
  /// Number of tokens in `data`.
  int64_t numRecorded() const;
};

/// What an operation on tensors produced, under the name that
/// `--st-build-dataflow` will give to its task.
struct OperationRecord {
  std::string name;
  HostTensor value;
};

/// A DMA task that stores what it reads into an argument or a workspace.
struct StoreRecord {
  std::string task, argument, fifo;
};

/// Everything that was observed in one run.
struct Recording {
  /// In the order in which the FIFOs stand in the program.
  std::deque<TokenRecord> fifos;
  std::deque<OperationRecord> operations;
  std::deque<StoreRecord> stores;

  const TokenRecord *findFifo(llvm::StringRef name) const;
  const OperationRecord *findOperation(llvm::StringRef name) const;
};

struct InterpretOptions {
  /// Values of the run-time parameters (`dataflow.parameters`).
  ParameterValues parameters;
  /// Filled when set.
  Recording *recording = nullptr;
  /// How many bytes of tokens are kept per FIFO.
  size_t recordLimitBytes = size_t(64) << 20;
};

/// Runs `function` of `module` (empty: the function marked `hls.top`, or else
/// the only public one) and returns its results in order.
///
/// `inputs` are the function's inputs in order, row-major, in the shapes of the
/// original tensors. From `materialized` on, memref arguments of role `output`
/// are the results, those of role `workspace` are allocated here, and a packed
/// weight (`dataflow.packing`) is packed from its row-major input.
///
/// A tensor of run-time size is given, and returned, in the corner of a tensor
/// of its largest size; what lies outside is not specified. An argument that is
/// a parameter (`dataflow.parameter`) is no input: it comes from the options.
///
/// Errors (a wrong input, an operation that cannot be interpreted, an index out
/// of bounds, a deadlock, tokens left over or missing) are described in
/// `error`.
mlir::FailureOr<std::vector<HostTensor>>
interpret(mlir::ModuleOp module, llvm::StringRef function,
          llvm::ArrayRef<HostTensor> inputs, const InterpretOptions &options,
          std::string &error);

/// The shapes of the inputs that `interpret` takes, given how many there are.
mlir::FailureOr<std::vector<std::vector<int64_t>>>
getInputShapes(mlir::ModuleOp module, llvm::StringRef function,
               size_t numInputs, std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_INTERPRETER_H
