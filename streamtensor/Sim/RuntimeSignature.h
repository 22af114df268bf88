//===- RuntimeSignature.h - Functions of run-time size ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the attributes of a function (dialect dataflow, RuntimeSizes.h) say
// about the sizes of its inputs and results, in any phase.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_RUNTIMESIGNATURE_H
#define STREAMTENSOR_SIM_RUNTIMESIGNATURE_H

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Sim/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

#include <vector>

namespace streamtensor {

/// The inputs of a function on tensors.
struct RuntimeSignature {
  std::vector<dataflow::RuntimeShape> inputs;
  std::vector<dataflow::ParameterRange> parameters;
  /// The value of each parameter for which there is memory: its maximum in the
  /// sizes, and for one that no size uses the largest of its range.
  ParameterValues maxima;

  /// Fails, with the cause in `error`, when a dynamic size has no expression,
  /// or a parameter no range.
  static mlir::FailureOr<RuntimeSignature> of(mlir::func::FuncOp function,
                                              std::string &error);

  ParameterValues smallest() const;
  ParameterValues largest() const;
  std::vector<std::vector<int64_t>>
  shapesAt(const ParameterValues &values) const;
  /// The values at which the inputs have the shapes of `tensors`, all of which
  /// are compared.
  mlir::FailureOr<ParameterValues> solve(llvm::ArrayRef<HostTensor> tensors,
                                         std::string &error) const;
};

/// The shapes of the results of `function` in any phase (those that are memory
/// are arguments of role `output`) at these values; nothing where the memory is
/// packed.
mlir::FailureOr<std::vector<std::optional<std::vector<int64_t>>>>
getResultShapes(mlir::func::FuncOp function, const ParameterValues &values,
                std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_RUNTIMESIGNATURE_H
